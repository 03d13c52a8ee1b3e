"""Feedback quotes the error of a juror once, and not at all to the model that wrote the answer."""

import pytest

from jury_adapters import CascadedJury, Ensemble, Scorecard, Tier, judge
from jury_adapters.core.feedback import feedback_of
from jury_adapters.llama_index.results import feedback_of as of_llama_index


def down(name):
    """Return a judge whose error names it."""

    @judge(name=name)
    def broken(case):
        raise ConnectionError(f"{name} hung up")

    return broken


@judge
def good(case):
    return True, "well supported"


@judge
def bad(case):
    return False, "wrong year"


@judge
def silent(case):
    return None, "no contexts"


JURIES_THAT_BREAK = {
    "alone": Ensemble([down("a")]),
    "both": Ensemble([down("a"), down("b")]),
    "a tie": Ensemble([good, down("a")]),
    "in a screen": CascadedJury([Tier("x", Ensemble([down("a"), bad]), "reject_on_any_fail"), Tier("y", good)]),
    "in the last tier": CascadedJury(
        [Tier("x", Ensemble([silent]), "escalate_on_split"), Tier("y", Ensemble([down("b"), down("a")]))]
    ),
    "by itself": down("a"),
    "a criterion": Scorecard({"years": Ensemble([good, down("a")]), "tone": down("b")}),
    "the only criterion": Scorecard({"tone": down("a")}),
}


@pytest.mark.parametrize("jury", JURIES_THAT_BREAK.values(), ids=JURIES_THAT_BREAK)
def test_feedback_quotes_each_error_once_or_not_at_all(jury):
    verdict = jury.judge(answer="a")
    for name in "ab":
        assert feedback_of(verdict).count(f"{name} hung up") <= 1
        assert f"{name} hung up" not in feedback_of(verdict, errors=False)
        assert f"{name} hung up" not in of_llama_index(verdict, errors=False)
        assert of_llama_index(verdict).count(f"{name} hung up") <= 1
    assert "hung up" in feedback_of(verdict)
