"""The claims of docs/concepts/which_jury.md about four juries that ask that nothing is wrong."""

from itertools import combinations_with_replacement

import pytest
from derived_texts import MIXED, mixed_outcomes

from jury_adapters import CascadedJury, Ensemble, Scorecard, Status, Tier

MIXES = [mix for count in (1, 2, 3) for mix in combinations_with_replacement(Status, count)]


@pytest.mark.parametrize("name", MIXED)
@pytest.mark.parametrize("mix", MIXES, ids=" ".join)
def test_one_judge_more_that_says_the_same_changes_nothing(name, mix):
    assert set(mixed_outcomes(name, mix)) == set(mixed_outcomes(name, list(dict.fromkeys(mix))))


@pytest.mark.parametrize("name", MIXED)
def test_only_all_of_keeps_the_order(name):
    assert any(len(mixed_outcomes(name, mix)) > 1 for mix in MIXES) == (name == "`all_of`")


def test_a_majority_passes_an_answer_that_is_relevant_concise_and_invented():
    criteria = {"faithful": lambda case: False, "relevant": lambda case: True, "concise": lambda case: True}
    assert Ensemble(criteria.values()).judge(answer="x").passed
    assert Scorecard(criteria).judge(answer="x").status is Status.FAIL


def test_a_reject_tier_may_reject_where_a_judge_breaks():
    tiers = [
        Tier("screen", lambda case: 1 / 0, "reject_on_any_fail", if_broken="reject"),
        Tier("last", lambda case: True),
    ]
    assert CascadedJury(tiers).judge(answer="x").status is Status.FAIL
