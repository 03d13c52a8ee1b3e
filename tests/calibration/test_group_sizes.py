"""A guarantee from groups of unequal size says when it does not hold for the cases of the large ones."""

from __future__ import annotations

import pytest

from jury_adapters import Ensemble, judge
from jury_adapters.calibration import calibrate
from jury_adapters.checks import NotEmpty
from jury_adapters.core.cascade import CascadedJury, Tier


@judge(name="lenient")
def lenient(case):
    return True


def conversations(turns_of_long: int, wrong_of_long: int) -> list[dict[str, object]]:
    """Return 60 conversations of one turn, all judged rightly, and 40 long ones, of which some are judged wrongly."""
    rows: list[dict[str, object]] = [turn(f"short {n}", 0, "pass") for n in range(60)]
    for n in range(40):
        gold = "fail" if n < wrong_of_long else "pass"
        rows += [turn(f"long {n}", at, gold) for at in range(turns_of_long)]
    return rows


def turn(conversation: str, at: int, gold: str) -> dict[str, object]:
    return {"question": f"{conversation}, turn {at}?", "answer": "Yes.", "gold": gold, "talk": conversation}


def test_errors_in_large_groups_are_named_where_they_exceed_the_guarantee(caplog: pytest.LogCaptureFixture) -> None:
    rows = conversations(turns_of_long=12, wrong_of_long=5)
    guarantee = calibrate(Ensemble([lenient]), rows, agreement=0.88, groups="talk").guarantee
    assert (guarantee.n, guarantee.errors) == (100, 5)
    wrong = 12 * 5 / (60 + 12 * 40)  # 11.1 % of all turns
    assert wrong < 0.12
    assert "counts each group once" not in caplog.text
    calibrate(Ensemble([lenient]), rows, agreement=0.89, groups="talk")
    assert "counts each group once" in caplog.text
    assert f"{100 * wrong:.1f} %" in caplog.text


def test_groups_of_equal_size_and_cases_without_groups_get_no_warning(caplog: pytest.LogCaptureFixture) -> None:
    calibrate(Ensemble([lenient]), conversations(1, 5), agreement=0.89, groups="talk")
    calibrate(Ensemble([lenient]), conversations(1, 5), agreement=0.89)
    assert "group" not in caplog.text


def test_groups_that_screening_decides_do_not_shift_the_sizes_of_the_others(caplog: pytest.LogCaptureFixture) -> None:
    screened = [{**turn(f"empty {n}", 0, "fail"), "answer": ""} for n in range(7)]
    jury = CascadedJury(
        [Tier("checks", Ensemble([NotEmpty()]), "reject_on_any_fail"), Tier("all", Ensemble([lenient]))]
    )
    calibrate(jury, [*screened, *conversations(12, 5)], agreement=0.89, groups="talk")
    assert "11.1 %" in caplog.text
