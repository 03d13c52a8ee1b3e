"""Comments of evaluation rows: each reason once, and none that only looks like a part of another one."""

import pytest

from jury_adapters import CascadedJury, Critic, Ensemble, ModelError, Scorecard, Tier, judge
from jury_adapters.checks import Contains, NotEmpty
from jury_adapters.langchain import JuryEvaluator
from jury_adapters.testing import ScriptedModel

YEAR = Contains(["2018"], name="year")


def comment_on(jury, answer="In 2019."):
    return JuryEvaluator(jury)(inputs={"question": "When?"}, outputs={"answer": answer})["comment"]


@pytest.mark.parametrize(("jury", "comment"), [
    (YEAR, "missing: '2018'"),
    (Ensemble([YEAR]), "missing: '2018'"),
    (CascadedJury([Tier("only", YEAR)]), "decided at only: missing: '2018'"),
    (CascadedJury([Tier("screen", Ensemble([YEAR, NotEmpty()]), "reject_on_any_fail"), Tier("last", NotEmpty())]),
     "rejected at screen: missing: '2018'"),
    (Scorecard({"a": YEAR, "b": NotEmpty()}), "FAIL: a (missing: '2018'); PASS: b"),
    (Ensemble([YEAR, NotEmpty(), Contains(["May"], name="month")]),
     "2 of 3 voted FAIL\nmissing: '2018'; missing: 'May'; NotEmpty voted PASS"),
])  # fmt: skip
def test_a_comment_gives_each_reason_once(jury, comment):
    assert comment_on(jury) == comment


def test_a_reason_that_is_a_part_of_another_one_is_kept():
    long = judge(name="long")(lambda case: (False, "the answer is late and wrong"))
    short = judge(name="short")(lambda case: (False, "late"))
    jury = CascadedJury([Tier("last", Ensemble([long, short, NotEmpty()]))])
    assert "late" in comment_on(jury).replace("the answer is late and wrong", "")


def lost(name, error):
    @judge(name=name)
    def broken(case):
        raise ConnectionError(error)

    return broken


EAST, WEST = lost("east", "no route to east"), lost("west", "no route to west")


@pytest.mark.parametrize("jury", [
    Ensemble([EAST, WEST]),
    Ensemble([EAST, NotEmpty()]),
    Ensemble([EAST, WEST, NotEmpty()], voting="unanimous"),
    Ensemble([EAST, YEAR], errors="ignore"),
    CascadedJury([Tier("only", Ensemble([EAST, WEST]))]),
    Scorecard({"there": Ensemble([EAST, WEST]), "filled": NotEmpty()}),
    Scorecard({"there": EAST, "filled": NotEmpty()}),
    EAST,
])  # fmt: skip
def test_the_error_of_each_juror_is_in_a_comment_once(jury):
    comment = comment_on(jury)
    errors = ["no route to east", *(["no route to west"] if "west" in comment else [])]
    assert [comment.count(error) for error in errors] == [1] * len(errors)
    assert "the judge broke;" not in comment


@pytest.mark.parametrize("others", [[], [NotEmpty(), NotEmpty()]])
def test_a_juror_that_took_too_long_is_explained_once(others):
    down = ScriptedModel([ModelError("the harbour does not answer", "connection", retry_after=60)] * 9)
    comment = comment_on(Ensemble([Critic(down, "safety").with_timeout(0.1), *others]))
    assert comment.count("no judgment within 0.1 s; last error: connection: the harbour does not answer") == 1
