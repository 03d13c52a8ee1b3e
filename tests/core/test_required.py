"""Required jurors: without the vote of one of them the verdict is ABSTAIN, or FAIL if it broke and errors count so."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import examples

from jury_adapters import Case, ConfigurationError, Ensemble, Judgment, Status, abstain, judge
from jury_adapters.core.judgment import broken

P, F, A, E = Status.PASS, Status.FAIL, Status.ABSTAIN, Status.ERROR
SAID = {P: Judgment(P), F: Judgment(F), A: abstain("unclear"), E: broken("down")}
CASE = Case(answer="x")


def named(name, function=lambda case: True, cost=0.0):
    juror = judge(cost=cost)(function)
    return juror.named(name)


def jury(statuses, **options):
    return Ensemble([lambda case, s=status: SAID[s] for status in statuses], **options)


@pytest.mark.corpus
@pytest.mark.parametrize("errors", [None, "fail", "abstain", "ignore", "propagate"])
@pytest.mark.parametrize("voting", ["majority", "unanimous", "average", "median"])
def test_a_verdict_without_a_required_vote_never_passes(errors, voting):
    for statuses in product([P, F, A, E], repeat=3):
        plain = jury(statuses, voting=voting, errors=errors).judge(CASE)
        found = jury(statuses, voting=voting, errors=errors, required=[0]).judge(CASE)
        if statuses[0] in (P, F) or plain.status is E:
            wanted = plain.status
        elif statuses[0] is E and errors in (None, "fail"):
            wanted = F
        else:
            wanted = A
        assert found.status is wanted, statuses
        assert statuses[0] in (P, F) or found.status is not P, statuses


def test_the_reason_names_the_juror():
    jury_ = Ensemble([named("a"), named("b"), named("c", lambda case: abstain("no contexts"))], required=[2])
    verdict = jury_.judge(CASE)
    assert verdict.status is A
    assert verdict.reasoning == "a required juror did not vote: c abstained (no contexts)"
    assert (verdict.confidence, verdict.score, len(verdict.judgments)) == (None, None, 3)


@pytest.mark.parametrize("voting", ["majority", "average"])
def test_a_required_juror_that_broke_makes_a_fail_that_is_counted_apart(voting):
    jury_ = Ensemble([named("r", lambda case: 1 / 0), named("a"), named("b")], voting=voting, required=["r"])
    verdict = jury_.judge(CASE)
    assert verdict.reasoning == "a required juror did not vote: r broke (ZeroDivisionError: division by zero)"
    assert (verdict.status, verdict.score, verdict.label, verdict.confidence) == (F, None, None, None)
    assert (verdict.failed_by_errors, verdict.review_reasons) == (True, ("errors_decided",))


def test_an_outage_is_no_abstention_because_another_required_juror_abstained():
    jury_ = Ensemble(
        [named("r", lambda case: 1 / 0), named("s", lambda case: abstain("unclear")), named("a")], required=[0, 1]
    )
    verdict = jury_.judge(CASE)
    assert (verdict.status, verdict.failed_by_errors) == (F, True)
    assert "r broke" in verdict.reasoning
    assert "s abstained (unclear)" in verdict.reasoning


def test_a_fail_that_the_other_jurors_voted_for_stays_theirs():
    verdict = jury([E, F, F], required=[0]).judge(CASE)
    assert (verdict.status, verdict.failed_by_errors) == (F, False)


def test_a_vote_on_labels_without_a_required_juror_is_an_abstention():
    labels = [lambda case: Judgment(None, label="odd"), lambda case: Judgment(None, label="odd"), lambda case: 1 / 0]
    verdict = Ensemble(labels, required=[2]).judge(CASE)
    assert (verdict.status, verdict.label, verdict.tally.errors_decided) == (A, None, True)


def test_a_label_that_does_not_vote_is_no_vote():
    jury_ = Ensemble([lambda case: True, lambda case: Judgment(None, label="odd")], on="status", required=[1])
    assert jury_.judge(CASE).status is A


@pytest.mark.slow
@given(
    st.lists(st.sampled_from([P, F, A, E]), min_size=2, max_size=5),
    st.sets(st.integers(0, 1), min_size=1),
    st.sampled_from(["majority", "unanimous", "average", "quorum", "median"]),
    st.sampled_from([None, "fail", "abstain", "ignore"]),
)
@examples(200)
def test_early_stopping_gives_the_same_verdict(statuses, required, voting, errors):
    options = {"voting": voting, "errors": errors, "required": sorted(required)}
    full, early = (jury(statuses, schedule=s, **options).judge(CASE) for s in ("parallel", "early_stop"))
    assert (early.status, early.label) == (full.status, full.label)


def test_early_stopping_asks_required_jurors_first():
    asked = []

    def juror(name, cost):
        return named(name, lambda case: asked.append(name) or True, cost)

    jurors = [juror("cheap", 1), juror("cheaper", 0.5), juror("dear", 9)]
    verdict = Ensemble(jurors, schedule="early_stop", on="status", required=["dear"]).judge(CASE)
    assert verdict.passed
    assert (asked[0], verdict.skipped) == ("dear", ("cheap",))


def test_votes_from_elsewhere_need_the_required_juror_by_name():
    votes = [Judgment(P, critic="a"), Judgment(P, critic="b")]
    assert Ensemble([named("b"), named("a"), named("c")], required=["b"]).aggregate(votes).passed
    assert Ensemble([named("b"), named("c")], required=["c"]).aggregate(votes).status is A


@pytest.mark.parametrize(
    ("required", "message"),
    [(["x"], "unknown juror in required 'x'"), ("a", "write required="), ([7], "unknown"), ([True], "unknown")],
)
def test_a_juror_that_is_not_there_is_refused(required, message):
    with pytest.raises(ConfigurationError, match=message):
        Ensemble([named("a"), named("b")], required=required)


def test_the_jury_names_its_required_jurors():
    jury_ = Ensemble([named("a"), named("b")], required=[1])
    assert jury_.required == ("b",)
    assert "required=['b']" in repr(jury_)
