"""Comments of evaluation rows: each reason once, and none that only looks like a part of another one."""

import pytest

from jury_adapters import CascadedJury, Ensemble, Scorecard, Tier, judge
from jury_adapters.checks import Contains, NotEmpty
from jury_adapters.langchain import JuryEvaluator

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
