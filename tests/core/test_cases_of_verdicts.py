"""Verdicts name their case: its id and its metadata, and `judge_pairs` yields the case itself."""

import asyncio
import json

import pytest
from typer.testing import CliRunner

from jury_adapters import CascadedJury, Case, Ensemble, Judgment, Scorecard, Tier, Verdict, judge
from jury_adapters.checks import NotEmpty
from jury_adapters.cli.app import app
from jury_adapters.core.background.judge_queue import JudgeQueue
from jury_adapters.core.results_file import read_results
from jury_adapters.core.runs import Run
from jury_adapters.report import Report

ROWS = [
    {"id": 7, "question": "What is it?", "answer": "A ferry.", "meta": {"group": "a"}},
    {"answer": "", "split": "test"},
]


def jury():
    return CascadedJury([Tier("only", Ensemble([NotEmpty(), lambda case: True]))], name="jury")


def test_a_verdict_carries_the_id_and_the_metadata_of_its_case():
    case = Case.from_row(ROWS[0])
    verdict = jury().judge(case)
    assert (verdict.case_id, verdict.case_metadata) == ("7", case.metadata)
    assert verdict.case_metadata["meta"]["group"] == "a"
    assert jury().judge(answer="Yes.").case_id is None
    inner = verdict.tiers[0].judgment
    assert isinstance(inner, Verdict)
    assert (inner.case_id, inner.case_metadata) == (None, {})


def test_a_verdict_that_a_function_judge_asks_for_names_its_case_too():
    found = []

    @judge
    def asks_a_jury(case):
        found.append(jury().judge(case))
        return found[-1].passed

    asks_a_jury.judge(answer="Yes.", metadata={"id": 3})
    assert found[0].case_id == "3"


def test_the_case_of_a_verdict_survives_json_and_is_no_part_of_its_canonical_form():
    one, other = (jury().judge(answer="Yes.", metadata={"id": number, "note": ["n"]}) for number in (1, 2))
    assert Verdict.from_json(one.to_json()) == one
    assert Verdict.from_json(one.to_json()).case_metadata == one.case_metadata
    assert one != other
    assert one.canonical_json() == other.canonical_json()


def test_a_file_of_results_holds_the_case_of_each_verdict(tmp_path):
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    arguments = ["judge", tmp_path / "cases.jsonl", "--out", tmp_path / "results.jsonl"]
    assert CliRunner().invoke(app, [str(one) for one in arguments], catch_exceptions=False).exit_code in (0, 1)
    first, second = (result.judgment for result in read_results(tmp_path / "results.jsonl"))
    assert (first.case_id, first.case_metadata["meta"]["group"]) == ("7", "a")
    assert (second.case_id, second.case_metadata) == (None, {"split": "test"})


@pytest.mark.parametrize("ordered", [True, False])
def test_judge_pairs_yields_each_case_with_its_verdict(ordered):
    slow = judge(lambda case: asyncio.sleep(0.2 if case.answer == "slow" else 0, result=True))
    cases = [{"answer": "slow", "metadata": {"id": 1}}, {"answer": "quick", "metadata": {"id": 2}}, 5]
    pairs = list(Ensemble([slow]).judge_pairs(cases, ordered=ordered))
    names = [None if case is None else case.answer for case, _ in pairs]
    assert sorted(map(str, names)) == ["None", "quick", "slow"]
    assert names == ["slow", "quick", None] or not ordered
    for case, verdict in pairs:
        if case is None:
            assert verdict.status == "ERROR"
        else:
            assert verdict.case_id == case.item_id


BAD_ROWS = [
    ({"id": "r1", "answer": 5}, "r1"),
    ({"item_id": 7, "anwser": "x"}, "7"),
    ({"Item ID": 7, "anwser": "x"}, "7"),
    ({"id": 1, "item_id": 2, "anwser": "x"}, "2"),
    ({"metadata": {"id": "r2"}, "anwser": "x"}, "r2"),
    ({"id": float("nan"), "anwser": "x"}, None),
    ({"anwser": "x"}, None),
    (5, None),
]
JURIES = [
    Ensemble([NotEmpty()]),
    jury(),
    Scorecard({"full": NotEmpty()}),
    Ensemble([lambda case: asyncio.sleep(0, result=True)]),
]


async def collected(rows):
    return [one async for one in rows]


@pytest.mark.parametrize("panel", JURIES)
def test_a_row_that_is_no_case_gets_a_verdict_of_the_jury_with_its_id(panel):
    rows = [row for row, _ in BAD_ROWS]
    found = list(panel.judge_many(rows))
    assert [verdict.case_id for verdict in found] == [item for _, item in BAD_ROWS]
    for verdict in found:
        assert isinstance(verdict, Verdict)
        assert (verdict.status, verdict.judgments, verdict.review_reasons) == ("ERROR", (), ("error",))
        assert verdict.reasoning.startswith("this row is not a case: ")
        assert Verdict.from_json(verdict.to_json()) == verdict
    assert asyncio.run(collected(panel.ajudge_many(rows))) == found
    assert [verdict for _, verdict in panel.judge_pairs(rows)] == found
    assert [verdict for _, verdict in asyncio.run(collected(panel.ajudge_pairs(rows)))] == found


def test_a_row_that_is_no_case_gets_a_plain_judgment_of_a_judge_that_is_no_jury():
    (found,) = NotEmpty().judge_many([5])
    assert (type(found), found.status) == (Judgment, "ERROR")


def test_a_report_counts_a_row_that_is_no_case_as_an_error_under_its_id():
    given = [{"answer": "Yes.", "metadata": {"id": "good"}}, {"id": "bad", "anwser": "x"}]
    for results in (jury().judge_many(given), jury().judge_pairs(given)):
        rows = Report.from_results(results).to_rows()
        assert [(row["item_id"], row["status"]) for row in rows] == [("good", "PASS"), ("bad", "ERROR")]


def test_a_run_that_cannot_be_read_gets_a_verdict_of_the_jury():
    heard = []
    with JudgeQueue(jury(), on_verdict=heard.append) as queue:
        queue.put(lambda: 1 / 0, run=Run("1"))
    (judged,) = heard
    assert isinstance(judged.judgment, Verdict)
    assert (judged.case, judged.judgment.status, judged.judgment.case_id) == (None, "ERROR", None)


def test_ajudge_pairs_does_the_same():
    async def judged():
        return [pair async for pair in jury().ajudge_pairs([{"answer": "Yes.", "metadata": {"id": 4}}])]

    ((case, verdict),) = asyncio.run(judged())
    assert (case.answer, verdict.case_id, verdict.passed) == ("Yes.", "4", True)


def test_a_judge_that_is_no_jury_yields_pairs_too():
    ((case, judgment),) = NotEmpty().judge_pairs([{"answer": "Yes."}])
    assert (case.answer, judgment) == ("Yes.", judgment)
    assert type(judgment) is Judgment


def test_a_report_of_pairs_keeps_the_texts_and_one_of_verdicts_the_ids():
    cases = [Case.from_row(row) for row in ROWS]
    row = Report.from_results(jury().judge_pairs(cases)).to_rows()[0]
    assert (row["question"], row["answer"], row["item_id"]) == ("What is it?", "A ferry.", "7")
    alone = Report.from_results(jury().judge_many(cases)).to_rows()
    assert [(row["where"], row["answer"]) for row in alone] == [("7", None), ("case 2", None)]
