"""The fingerprint that binds a guarantee to a jury: anything that changes the judgments of a jury changes it."""

import pytest

from jury_adapters import CascadedJury, Ensemble
from jury_adapters.calibration.fingerprint import identity_of
from jury_adapters.calibration.guarantee import fingerprint_of
from jury_adapters.checks import Command, NotEmpty, ToolCalls, ValidJSON
from jury_adapters.core.cascade import Tier
from jury_adapters.core.judge import Judge


def screened(if_broken: str) -> CascadedJury:
    return CascadedJury(
        [Tier("screen", NotEmpty(), "reject_on_any_fail", if_broken=if_broken), Tier("last", NotEmpty())]
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (ValidJSON(schema={"required": ["city"]}), ValidJSON(schema={"required": ["town"]})),
        (ToolCalls(["search"]), ToolCalls(["delete"])),
        (ToolCalls([("search", {"q": "x"})]), ToolCalls([("search", {"q": "y"})])),
        (ToolCalls(["search"], overrides={"search": "ignore"}), ToolCalls(["search"])),
        (screened("reject"), screened("escalate")),
    ],
    ids=["schema", "tool", "arguments", "comparison", "broken judge"],
)
def test_judges_that_judge_by_something_else_are_others(one: Judge, other: Judge) -> None:
    assert identity_of(one) != identity_of(other)
    prints = [fingerprint_of(CascadedJury([Tier("only", Ensemble([judge]))])) for judge in (one, other, one)]
    assert prints[0] == prints[2] != prints[1]


def test_prices_limits_and_variables_change_nothing() -> None:
    """Among variables there may be a key, of which not even a hash belongs into a file."""
    assert identity_of(NotEmpty().with_timeout(3)) == identity_of(NotEmpty())
    assert identity_of(Command(["true"], env={"TOKEN": "secret"})) == identity_of(Command(["true"]))
