"""A FAIL that only broken jurors caused counts as an outage in every jury around it, too."""

from itertools import product

import pytest
from support.plain_judges import breaks, fails, passes

from jury_adapters import CascadedJury, Case, Ensemble, Judgment, Scorecard, Tier, Verdict, abstain, judge
from jury_adapters.report.summary import Summary
from jury_adapters.voting import all_of, any_of  # fmt: skip

CASE = Case(answer="x")


OUTAGE = Ensemble([passes, breaks, breaks], name="outage")  # FAIL by two jurors that broke
AROUND = {
    "a panel": Ensemble([OUTAGE]),
    "a panel of panels": Ensemble([Ensemble([OUTAGE]), Ensemble([OUTAGE])]),
    "a unanimous panel": Ensemble([OUTAGE, passes, passes], voting="unanimous"),
    "a panel of scores": Ensemble([OUTAGE, lambda case: 0.9, lambda case: 0.2], voting="average"),
    "errors are left out": Ensemble([OUTAGE, passes], errors="ignore"),
    "a cascade": CascadedJury([Tier("last", OUTAGE)]),
    "a screening tier": CascadedJury(
        [Tier("screen", Ensemble([OUTAGE, passes]), "reject_on_any_fail"), Tier("last", passes)]
    ),
    "a tier that agrees": CascadedJury([Tier("first", Ensemble([OUTAGE]), "escalate_on_split"), Tier("last", passes)]),
    "a scorecard": Scorecard({"a": OUTAGE, "b": passes}),
    "a scorecard with weights": Scorecard({"a": OUTAGE, "b": passes}, weights={"a": 1, "b": 1}, threshold=0.8),
    "all_of": all_of(passes, OUTAGE),
    "any_of": any_of(OUTAGE, fails),
}


@pytest.mark.parametrize("jury", AROUND.values(), ids=AROUND)
def test_the_verdict_around_says_so(jury):
    verdict = jury.judge(CASE)
    for found in (verdict, Verdict.from_json(verdict.to_json())):
        assert (found.status, found.failed_by_errors) == ("FAIL", True)
        assert "errors_decided" in found.review_reasons
    summary = Summary()
    summary.add(CASE, verdict, "1")
    assert (summary.decided, summary.failed_by_errors) == (0, 1)


VOTED_DOWN = {
    "a panel": Ensemble([OUTAGE, fails, fails]),
    "a screening tier": CascadedJury(
        [Tier("screen", Ensemble([OUTAGE, fails]), "reject_on_any_fail"), Tier("last", passes)]
    ),
    "a scorecard": Scorecard({"a": OUTAGE, "b": fails}),
    "a scorecard with weights": Scorecard({"a": OUTAGE, "b": fails}, weights={"a": 1, "b": 9}, threshold=0.8),
    "all_of": all_of(fails, OUTAGE),
}


@pytest.mark.parametrize("jury", VOTED_DOWN.values(), ids=VOTED_DOWN)
def test_a_fail_that_other_jurors_voted_for_is_a_fail(jury):
    verdict = jury.judge(CASE)
    assert (verdict.status, verdict.failed_by_errors) == ("FAIL", False)


def test_a_low_weighted_mean_is_no_outage():
    low = Scorecard({"a": lambda case: 0.6, "b": lambda case: 0.7}, weights={"a": 1, "b": 1}, threshold=0.9)
    verdict = low.judge(CASE)
    assert (verdict.status, verdict.tally.errors_decided, verdict.review_reasons) == ("FAIL", False, ())


SAID = {
    "P": passes,
    "F": fails,
    "A": judge(name="unsure")(lambda case: abstain("unclear")),
    "O": OUTAGE,
}


@pytest.mark.corpus
@pytest.mark.parametrize("voting", ["majority", "unanimous", "average", "k_veto"])
@pytest.mark.parametrize("errors", [None, "ignore", "propagate"])
def test_such_a_member_counts_like_a_juror_that_broke(voting, errors):
    """Errors decided exactly if some votes of the members that broke would have given another verdict."""
    for votes in product("PFAO", repeat=3):
        found = Ensemble([SAID[vote] for vote in votes], voting=voting, errors=errors).judge(CASE)
        possible = {
            Ensemble([fails], voting=voting).aggregate([SAID[vote].judge(CASE) for vote in mended]).status
            for mended in product(*("PFA" if vote == "O" else vote for vote in votes))
        }
        assert found.tally.errors_decided == ("O" in votes and possible != {found.status}), votes


@pytest.mark.parametrize("errors", [None, "fail"])
def test_a_lone_fail_beside_a_broken_majority_is_as_undecided_as_a_lone_pass(errors):
    """The mean of the rows that are left would be 0.0 if only the FAIL counted."""
    for vote in (passes, fails):
        verdict = Ensemble([vote, breaks, breaks], errors=errors).judge(CASE)
        assert (verdict.status, verdict.failed_by_errors) == ("FAIL", True)
    for voting, decided in (("majority", False), ("unanimous", True), ("k_veto", True)):
        verdict = Ensemble([fails, breaks, passes], voting=voting, errors=errors).judge(CASE)
        assert (verdict.status, verdict.failed_by_errors) == ("FAIL", not decided)


@pytest.mark.slow
def test_early_stopping_says_so_wherever_the_whole_panel_does():
    said = SAID | {"E": breaks}
    for votes in product("PFAE", repeat=4):
        panel = [said[vote] for vote in votes]
        early = Ensemble(panel, schedule="early_stop").judge(CASE)
        full = Ensemble(panel).judge(CASE)
        assert early.status is full.status
        assert early.tally.errors_decided or not full.tally.errors_decided, votes


def test_a_function_that_votes_is_called_once():
    called = []

    def rule(judgments):
        called.append(len(judgments))
        return False

    verdict = Ensemble([OUTAGE, passes], voting=rule).judge(CASE)
    assert (called, verdict.status, verdict.tally.errors_decided) == ([2], "FAIL", False)


def test_a_judgment_without_votes_is_not_such_a_fail():
    assert not Judgment("FAIL").failed_by_errors
