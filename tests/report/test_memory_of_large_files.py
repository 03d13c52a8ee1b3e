"""Commands on results files keep little of each row in memory."""

import json
import tracemalloc

import pytest

from jury_adapters import Case, Ensemble, Judgment
from jury_adapters.calibration import Votes
from jury_adapters.cli.replayed_cases import cases_with_votes
from jury_adapters.cli.streams import Messages
from jury_adapters.core.function_judge import FunctionJudge
from jury_adapters.report import Report, spooled_cases
from jury_adapters.report.summary import Summary

FEW, MANY = 200, 1_000
LONG = "the third sentence of the second passage says so, " * 10


def juror(name):
    def judge(case):
        at = case.metadata["at"]
        said = ("PASS", "FAIL", "PASS", "ABSTAIN")[(at + len(name)) % 4]
        confidence = None if said == "ABSTAIN" else at % 997 / 1000
        return Judgment(said, confidence=confidence, reasoning=f"{at}: {LONG}", model=f"{name}-1")

    return FunctionJudge(judge, name=name)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    jury = Ensemble([juror("a"), juror("bb"), juror("ccc")], name="three")
    verdicts = [
        jury.judge(Case(answer=f"{at}", metadata={"at": at, "gold": "PASS" if at % 3 else "FAIL"})).to_dict()
        for at in range(40)
    ]
    for rows in (FEW, MANY):
        with (folder / f"{rows}.jsonl").open("w") as file:
            for at in range(rows):
                verdict = {**verdicts[at % 40], "case_id": f"q{at}"}
                verdict["judgments"] = [{**one, "confidence": at / rows} for one in verdict["judgments"]]
                row = {"line": at + 1, "item_id": f"q{at}", "key": f"{at:032x}", "cases": "", "verdict": verdict}
                file.write(json.dumps(row) + "\n")
    return folder


def page(path):
    """Prepare the page and its votes; the bootstrap of so many draws takes a constant amount, and long."""
    report = Report.read(path, prepare_page=True)
    assert report._prepared.votes._items.votes(None)[0]
    report._prepared.cases.close()


def summary(path):
    assert Report.read(path).figures.summary.decided


def agreement(path):
    assert len(Votes.from_results(path).jurors) == 3


def comparison(path):
    """Compare a run with itself, so that no changed cases are kept."""
    assert Report.read(path).compare(Report.read(path)).paired


def replay(path):
    counted = Summary()
    for name, _, case in cases_with_votes(path, None, None, Messages(), None):
        counted.add(case, Judgment("PASS"), name)


def peak(work, path):
    tracemalloc.start()
    try:
        work(path)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.slow
@pytest.mark.corpus
@pytest.mark.parametrize(
    ("work", "bytes_per_row"), [(summary, 250), (replay, 200), (agreement, 700), (page, 600), (comparison, 600)]
)
def test_a_row_takes_little_memory(work, bytes_per_row, files, monkeypatch):
    monkeypatch.setattr(spooled_cases, "_IN_MEMORY", 1 << 10)  # a limit that files of this size do not reach
    work(files / f"{FEW}.jsonl")  # loads what is loaded once
    small, large = (peak(work, files / f"{rows}.jsonl") for rows in (FEW, MANY))
    assert (large - small) / (MANY - FEW) < bytes_per_row
