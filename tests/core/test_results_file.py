"""The file of results, as it is written and read."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from jury_adapters import (
    CascadedJury,
    Case,
    Ensemble,
    InputError,
    Judgment,
    Scorecard,
    Tier,
    Verdict,
    judge,
)
from jury_adapters.calibration import Votes
from jury_adapters.core.jury import Jury
from jury_adapters.core.opinions import opinions_of
from jury_adapters.core.results_file import (
    Result,
    cases_named_in,
    is_result,
    judgments_of_each_kind,
    may_have_juries_inside,
    read_results,
)
from jury_adapters.core.row_files import read_rows

VERDICT = Ensemble([lambda case: True, lambda case: False], name="two").judge("?")


def written(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    results = [
        Result(VERDICT, 1, line=3, item_id="x", key="k", cases="cases.json.gz", unmet=("agreement is 0, below 1",)),
        Result(Judgment("PASS"), 2, line=4, cases="cases.jsonl", unmet=()),
        Result(Judgment("FAIL"), 3),
    ]
    path = written(tmp_path / "r.jsonl", *(result.to_row() for result in results))
    assert list(read_results(path)) == results
    assert [result.unit for result in results] == ["item", "line", "line"]
    assert is_result(next(iter(read_rows(path))))


def test_values_of_the_wrong_kind_are_left_out(tmp_path: Path) -> None:
    row = {"line": "3", "item_id": 7, "key": [1], "cases": {"a": 1}, "unmet": 5, "verdict": {"status": "PASS"}}
    path = written(tmp_path / "r.jsonl", row)
    assert list(read_results(path)) == [Result(Judgment("PASS"), 1, item_id="7")]
    assert cases_named_in(path) is None


@pytest.mark.parametrize("row", [{}, {"verdict": "PASS"}, {"verdict": {"status": "MAYBE"}}, 5])
def test_a_line_that_is_not_a_result_is_named(tmp_path: Path, row: object) -> None:
    path = written(tmp_path / "r.jsonl", {"verdict": {"status": "PASS"}}, row)
    with pytest.raises(InputError, match=r"r\.jsonl, line 2: "):
        list(read_results(path))


def test_recorded_votes_are_not_results(tmp_path: Path) -> None:
    path = written(tmp_path / "votes.jsonl", {"item_id": "x", "votes": {"a": "PASS"}, "verdict": "old"})
    assert not is_result(next(iter(read_rows(path))))
    assert not is_result(None)


def test_a_file_may_claim_two_orders_without_having_them(tmp_path: Path) -> None:
    claimed = Verdict(
        "PASS", critic="p", judgments=[Judgment("PASS", critic="a")], metadata={"position_consistent": True}
    )
    votes = Votes.from_results(written(tmp_path / "r.jsonl", *(Result(claimed).to_row() for _ in range(2))))
    assert (votes.jurors, votes.orders) == (("p",), None)


def test_one_judgment_of_each_kind_names_all_jurors(tmp_path: Path) -> None:
    """The opinions of the others have the same paths, whatever their status and their reasons."""
    verdicts = [jury.judge(case) for jury in every_kind_of_jury() for case in ({"answer": "yes"}, {"answer": "no"})]
    path = written(tmp_path / "r.jsonl", *(Result(one).to_row() for one in verdicts * 20))
    kinds = list(judgments_of_each_kind(path))
    assert {path for one in kinds for path, _ in opinions_of(one)} == {
        path for one in verdicts for path, _ in opinions_of(one)
    }
    assert len(kinds) <= len(verdicts) < 20 * len(verdicts)


@pytest.mark.parametrize(
    "verdict", [3, {"critic": []}, {"judgments": 3}, {"judgments": [3]}, {"tiers": [{}]}, {"kind": {}}]
)
def test_a_line_without_a_judgment_is_named_whatever_its_kind(tmp_path: Path, verdict: object) -> None:
    path = written(tmp_path / "r.jsonl", {"verdict": {"status": "PASS"}}, {"verdict": verdict})
    with pytest.raises(InputError, match="line 2"):
        list(judgments_of_each_kind(path))


def every_kind_of_jury() -> Iterator[Jury]:
    @judge
    def strict(case: Case) -> bool:
        return case.answer == "yes"

    @judge
    def mild(case: Case) -> bool:
        return True

    yield Ensemble([strict, mild])
    yield Ensemble([Ensemble([strict, mild], name="inner"), mild])
    yield Scorecard({"strict": strict, "mild": mild})
    yield CascadedJury([Tier("first", Ensemble([strict, mild]), "escalate_on_split"), Tier("last", mild)])


def test_a_failed_vote_is_a_kind_of_its_own_because_it_is_no_opinion(tmp_path: Path) -> None:
    votes = [Judgment("FAIL", critic="a", metadata={"run_error": "down"}), Judgment("PASS", critic="a")]
    verdicts = [Verdict("PASS", judgments=[Verdict("PASS", critic="inner", judgments=[vote])]) for vote in votes]
    kinds = list(judgments_of_each_kind(written(tmp_path / "r.jsonl", *(Result(one).to_row() for one in verdicts))))
    assert {path for one in kinds for path, _ in opinions_of(one)} == {("inner", "a")}


@pytest.mark.parametrize("ending", [".jsonl", ".jsonl.gz"])
def test_juries_inside_are_found_without_parsing(tmp_path: Path, ending: str) -> None:
    panel, *others = [jury.judge(answer="yes") for jury in every_kind_of_jury()]
    flat = [Result(panel).to_row(), Result(Judgment("PASS", reasoning='"tiers" and "judgments"')).to_row()]
    assert not may_have_juries_inside(stored(tmp_path / f"flat{ending}", *flat))
    for place, one in enumerate(others):
        rows = [*flat, Result(one).to_row()]
        found = may_have_juries_inside(stored(tmp_path / f"{place}{ending}", *rows))
        assert found == (place != 1)  # the criteria of a scorecard are single judges
    assert may_have_juries_inside(tmp_path / "r.json")


def stored(path: Path, *rows: object) -> Path:
    text = "".join(json.dumps(row) + "\n" for row in rows).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    path.with_name("r.json").write_text(json.dumps(list(rows)))
    return path
