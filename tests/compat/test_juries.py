"""Juries by the names people know."""

import pytest

from jury_adapters import ConfigurationError, Ensemble, Status
from jury_adapters.checks import always_fail, always_pass
from jury_adapters.compat.juries import Juries


def test_judges_become_a_jury_and_keep_or_get_their_names():
    jury = Juries.from_judges("majority", always_pass(name="a"), always_pass(name="a"), lambda case: False)
    verdict = jury.judge(answer="x")
    assert verdict.status is Status.PASS
    assert list(verdict.by_name) == ["a", "a-2", "Judge#3"]


def test_juries_of_juries_keep_their_votes():
    yes = Juries.from_judges("majority", always_pass(), always_pass(), always_fail())
    no = Juries.from_judges("unanimous", always_pass(), always_fail())
    assert Juries.combine(yes, no).judge(answer="x").status is Status.FAIL  # a tie
    verdict = Juries.all_of("majority", yes, no, yes).judge(answer="x")
    assert (verdict.status, [len(one.judgments) for one in verdict.judgments]) == (Status.PASS, [3, 2, 3])


@pytest.mark.parametrize("make", [Juries.from_judges, Juries.all_of])
def test_the_strategy_comes_first(make):
    with pytest.raises(ConfigurationError, match="the voting strategy comes first"):
        make(Ensemble([always_pass()]), Ensemble([always_pass()]))
