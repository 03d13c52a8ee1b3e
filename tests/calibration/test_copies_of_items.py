"""Copies of an item count once: in votes, calibrations and suggestions, with one label."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from jury_adapters import CascadedJury, Case, Ensemble, Tier
from jury_adapters.calibration import (
    Guarantee,
    Votes,
    agreement_report,
    calibrate,
    fit_reliabilities,
    suggest,
    true_pass_rate,
)
from jury_adapters.calibration.gold import gold_of
from jury_adapters.core.duplicates import ContradictingLabels
from jury_adapters.core.errors import InputError
from jury_adapters.core.function_judge import FunctionJudge
from jury_adapters.core.judgment import Judgment, Status


def juror(name: str, every: int) -> FunctionJudge:
    """Juror that is wrong about every case whose number is a multiple of ``every``."""

    def judge(case: Case) -> Judgment:
        number = int(str(case.answer))
        right = (number % 3 > 0) is (number % every > 0)
        return Judgment(Status.PASS if right else Status.FAIL, confidence=0.6 + number % 4 / 10)

    return FunctionJudge(judge, name=name)


def jury() -> CascadedJury:
    return CascadedJury([
        Tier("first", Ensemble([juror("a", 17), juror("b", 13)]), "escalate_on_split"),
        Tier("last", juror("c", 19)),
    ])  # fmt: skip


def labelled(ids: bool = True) -> list[Case]:
    return [
        Case(answer=f"{i}", metadata={"gold": "PASS" if i % 3 else "FAIL", **({"item_id": f"i{i}"} if ids else {})})
        for i in range(1, 91)
    ]


@pytest.mark.parametrize("ids", [True, False])
def test_a_guarantee_of_five_copies_of_each_case_is_that_of_one(ids: bool) -> None:
    cases = labelled(ids)
    once = calibrate(jury(), cases, agreement=0.8).guarantee
    five = calibrate(jury(), cases * 5, agreement=0.8).guarantee
    assert (once.n, once.merged, five.merged) == (90, 0, 360)
    assert replace(five, merged=0) == once
    assert "360 labelled cases repeat an item and were merged" in str(five)
    assert "merged" not in str(once)
    assert Guarantee.from_dict(five.to_dict()) == five
    assert "merged" not in once.to_dict()


def test_five_copies_draw_the_same_case_of_each_group() -> None:
    cases = [case.model_copy(update={"metadata": {**case.metadata, "doc": i // 2}})
             for i, case in enumerate(labelled())]  # fmt: skip
    once = calibrate(jury(), cases, agreement=0.75, groups="doc").guarantee
    five = calibrate(jury(), cases * 5, agreement=0.75, groups="doc").guarantee
    assert once.n == 45
    assert replace(five, merged=0) == once


def test_cases_that_only_look_alike_are_not_merged() -> None:
    same = [Case(answer="1", metadata={"gold": "PASS", "item_id": f"{i}"}) for i in range(40)]
    nothing = [Case(metadata={"gold": "PASS"}) for _ in range(40)]
    passes = FunctionJudge(lambda case: True, name="passes")
    for cases in (same, nothing):
        guarantee = calibrate(Ensemble([passes]), cases, agreement=0.9).guarantee
        assert (guarantee.n, guarantee.merged) == (40, 0)


def test_two_labels_of_one_item_are_refused() -> None:
    cases = labelled()
    other = cases[3].model_copy(update={"metadata": {**cases[3].metadata, "gold": "FAIL"}})
    for build in (calibrate, lambda jury, cases: suggest([juror("a", 17)], cases)):
        with pytest.raises(ContradictingLabels, match=r"item 'i4' has the labels PASS \(row 4\) and FAIL \(row 91\)"):
            build(jury(), [*cases, other])


def test_suggestions_of_copies_are_those_of_the_cases() -> None:
    jurors = [juror("a", 17), juror("b", 13)]
    once, five = suggest(jurors, labelled()), suggest(jurors, labelled() * 5)
    assert str(five) == f"{once}\n360 labelled cases repeat an item and were merged with its first labelled case: an " \
        "item counts once."  # fmt: skip


def figures(votes: Votes) -> dict[str, Any]:
    found = agreement_report(votes, draws=100).to_dict()
    against = found["label_comparison"]
    if isinstance(against, dict):
        against.pop("merged")
    return {name: value for name, value in found.items() if name != "merged"}


@pytest.mark.parametrize("ids", [True, False])
def test_votes_of_copies_are_those_of_the_items(ids: bool) -> None:
    panel = Ensemble([juror("a", 17), juror("b", 13), juror("c", 19)])
    cases = labelled(ids)
    gold = [str(case.metadata["gold"]) if i % 2 else None for i, case in enumerate(cases)]
    judged = list(panel.judge_many(cases))
    if ids:
        once, five = Votes.from_verdicts(judged, gold=gold), Votes.from_verdicts(judged * 5, gold=gold * 5)
        assert (once.merged, five.merged) == (0, 360)
        assert figures(once) == figures(five)
        assert true_pass_rate(once) == true_pass_rate(five)
        assert str(fit_reliabilities(once)) == str(fit_reliabilities(five))
    else:  # a verdict alone does not say what was judged
        assert Votes.from_verdicts(judged * 2).merged == 0


def test_a_report_says_that_its_figures_are_those_of_the_distinct_items() -> None:
    rows = [["PASS"], ["FAIL"]]
    told = str(agreement_report(Votes.from_rows(rows * 3, items=["a", "b"] * 3), draws=100))
    assert "4 rows repeat an item and were merged with its first row: an item counts once. The figures are " in told
    assert "give the rows ids of their own, and name what repeats as the group (--group question)" in told
    assert "distinct items" not in str(agreement_report(Votes.from_rows(rows), draws=100))


def test_rows_without_ids_are_items_of_their_own() -> None:
    rows = [["PASS", "FAIL"], ["PASS", "FAIL"]]
    assert (len(Votes.from_rows(rows).items), Votes.from_rows(rows).merged) == (2, 0)
    named = Votes.from_rows(rows, items=["a", "a"], gold=[None, "PASS"])
    assert (named.items, named.merged, named.gold.tolist()) == (("a",), 1, [1])
    assert np.array_equal(named.codes, [[1, 0]])
    with pytest.raises(InputError, match="row 2: item_id 'a' is in row 1 too, with other votes"):
        Votes.from_rows([["PASS"], ["FAIL"]], items=["a", "a"])
    with pytest.raises(InputError, match=r"item 'a' has the labels PASS \(row 1\) and FAIL \(row 2\)"):
        Votes.from_rows([["PASS"], ["PASS"]], items=["a", "a"], gold=["PASS", "FAIL"])


def test_recorded_rows_of_one_id_must_say_the_same() -> None:
    row: dict[str, Any] = {"item_id": "a", "answer": "x", "votes": {"j": "PASS"}, "gold": "PASS"}
    assert Votes.from_recorded([row, row, {**row, "gold": None}]).merged == 2
    with pytest.raises(InputError, match="row 2: item_id 'a' is in row 1 too, with other content"):
        Votes.from_recorded([row, {**row, "answer": "y"}])
    with pytest.raises(InputError, match="row 2: item_id 'a' is in row 1 too, with other votes"):
        Votes.from_recorded([row, {**row, "votes": {"k": "PASS"}}])
    with pytest.raises(InputError, match=r"item 'a' has the labels PASS \(row 1, row 2\) and FAIL \(row 3\)"):
        Votes.from_recorded([row, row, {**row, "gold": "FAIL"}])


def test_other_items_with_several_labels_are_counted():
    rows = [{"id": n, "answer": "Yes.", "gold": label} for n in range(3) for label in ("PASS", "FAIL")]
    with pytest.raises(ContradictingLabels, match=r"FAIL \(row 2\), and 2 other items have several too; an item"):
        gold_of(rows)
