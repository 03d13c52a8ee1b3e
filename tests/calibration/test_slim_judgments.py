"""Votes read from a results file, whose judgments are kept without texts: the same as from the whole verdicts."""

import json
from random import Random

import pytest

from jury_adapters import CascadedJury, Case, Ensemble, Judgment, Scorecard, Tier
from jury_adapters.calibration import Votes
from jury_adapters.calibration.slim_judgments import SlimJudgments
from jury_adapters.core.function_judge import FunctionJudge
from jury_adapters.core.results_file import Result
from jury_adapters.core.tally import Tally
from jury_adapters.core.verdict import Verdict
from jury_adapters.statistics import full_report


def juror(name, *, pass_rate=0.6, metadata=None):
    draw = Random(name)

    def judge(case):
        said = draw.choices(("PASS", "FAIL", "ABSTAIN"), (pass_rate, 0.9 - pass_rate, 0.1))[0]
        stated = {} if said == "ABSTAIN" else {"score": draw.choice((0.2, 0.7)), "confidence": round(draw.random(), 1)}
        return Judgment(
            said, reasoning=f"as it is said {draw.random()}", model=f"{name}-1", metadata=metadata, **stated
        )

    return FunctionJudge(judge, name=name)


def panel(*names):
    return Ensemble([juror(name) for name in names])


JURIES = {
    "panel": panel("a", "b", "c"),
    "ratings": Ensemble([juror("a", metadata={"rating": 3}), juror("b", metadata={"rating": "4"})]),
    "samples": Ensemble([juror("a").with_samples(3), juror("b")]),
    "nested": Ensemble([panel("a", "b"), juror("c")]),
    "cascade": CascadedJury(
        [
            Tier("screen", juror("s", pass_rate=0.8), "reject_on_any_fail"),
            Tier("small", panel("a", "b"), "escalate_on_split"),
            Tier("large", panel("c", "d")),
        ]
    ),
    "scorecard": Scorecard({"short": juror("a"), "true": juror("b")}),
}


@pytest.fixture(params=JURIES)
def verdicts(request):
    draw = Random(1)
    cases = [
        Case(query="q", response=f"answer {at}", metadata={
            "item_id": f"i{at}", "gold": draw.choice(("PASS", "FAIL")), "document": at // 3, "generator": "gpt-4o",
        })
        for at in range(60)
    ]  # fmt: skip
    return list(JURIES[request.param].judge_many(cases))


@pytest.mark.corpus
@pytest.mark.parametrize("group", ["", "document"])
@pytest.mark.parametrize("on", [None, "status"])
def test_votes_of_a_results_file_are_those_of_its_verdicts(verdicts, group, on, tmp_path):
    results = tmp_path / "results.jsonl"
    rows = [Result(verdict, line=at, item_id=verdict.case_id).to_row() for at, verdict in enumerate(verdicts, start=1)]
    results.write_text("".join(json.dumps(row) + "\n" for row in rows))
    read, whole = Votes.from_results(results, group=group, on=on), Votes.from_verdicts(verdicts, group=group, on=on)
    assert read.selected == whole.selected
    assert read.models == whole.models
    said, expected = (full_report(votes, draws=100).to_dict() for votes in (read, whole))
    assert said == expected


def test_equal_judgments_are_one_object_without_texts():
    slim = SlimJudgments()
    judgments = [
        Judgment("PASS", critic="a", reasoning=f"reason {at}", metadata={"rating": 3} if at > 1 else None)
        for at in range(4)
    ]
    first, second, *rated = map(slim.of, judgments)
    assert first is second
    assert (first.status, first.critic, first.reasoning) == ("PASS", "a", "")
    assert [one.metadata for one in rated] == [{"rating": 3}] * 2
    assert slim.mapping({"a": 1}) is slim.mapping({"a": 1})


def test_ballots_that_cannot_be_hashed_are_kept():
    verdict = Verdict("PASS", judgments=[Judgment("PASS", critic="a")], tally=Tally(ballots=([1],)))
    assert SlimJudgments().of(verdict).tally.ballots == ([1],)
