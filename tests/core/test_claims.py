"""Claims of several jurors: which match, and how they are combined."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_adapters import CascadedJury, ConfigurationError, Ensemble, Judge, Judgment, Tier
from jury_adapters.core.claims import combine_claims, supported_share
from jury_adapters.core.combinators import all_of
from jury_adapters.results import Claim
from tests.support.examples import examples


def matches(one, two):
    return len(combine_claims([("a", [Claim(one, "supported")]), ("b", [Claim(two, "supported")])])) == 1


def juror(name, *claims, status="PASS"):
    return Judge.from_function(lambda case: Judgment(status, claims=claims), name=name)


@pytest.mark.parametrize(
    ("one", "two", "same"),
    [
        ("The ticket costs 12 euros", "the TICKET costs 12 euros.", True),
        ("The ticket costs 12 euros", "A ticket costs 12 euros", True),
        ("The ticket costs 12 euros", "The ticket costs 15 euros", False),
        ("The ticket costs 12.5 euros", "The ticket costs 12 5 euros", False),
        ("The museum opens at nine", "The museum does not open at nine", False),
        ("It doesn't open on Sundays", "It doesn\u2019t open on Sundays", True),
        ("It is never open on Sundays", "It is open on Sundays", False),
        ("The museum opens at nine", "Rain fell all week in Madrid", False),
        ("博物館は九時に開く", "博物館は九時に開く", True),
        ("博物館は九時に開く", "博物館は十時に開く", False),
        ("", "", False),
        ("...", "...", False),
    ],
)
def test_which_claims_match(one, two, same):
    assert matches(one, two) is same
    assert matches(two, one) is same


def test_the_most_similar_claims_are_paired_one_to_one():
    first = [Claim("The old museum opens at nine", "supported"), Claim("The new museum opens at nine", "supported")]
    second = [Claim("The new museum opens at nine", "unsupported"), Claim("The museum opens at nine", "supported")]
    old, new = combine_claims([("a", first), ("b", second)])
    assert dict(new.votes) == {"a": "supported", "b": "unsupported"}
    assert dict(old.votes) == {"a": "supported", "b": "supported"}


@pytest.mark.parametrize(
    ("votes", "verdict"),
    [
        (["supported", "supported", "unsupported"], "supported"),
        (["unsupported", "supported", "unsupported"], "unsupported"),
        (["supported", "unsupported"], "unclear"),
        (["unclear", "unclear", "unsupported"], "unsupported"),
        (["unclear", "unclear"], "unclear"),
    ],
)
def test_the_majority_of_those_that_decide_decides(votes, verdict):
    given = [(f"j{at}", [Claim("it rains", vote, evidence=f"q{at}", passage=at + 1)]) for at, vote in enumerate(votes)]
    (claim,) = combine_claims(given)
    assert claim.verdict == verdict
    if verdict in votes:
        at = votes.index(verdict)
        assert (claim.evidence, claim.passage) == (f"q{at}", at + 1)
    else:
        assert (claim.evidence, claim.passage, claim.reasoning) == ("", None, "the votes are tied")


CLAIM = st.builds(
    Claim,
    st.lists(st.sampled_from(["the", "museum", "opens", "at", "9", "10", "not"]), max_size=5).map(" ".join),
    st.sampled_from(["supported", "unsupported", "unclear"]),
)


@pytest.mark.slow
@examples(100)
@given(st.lists(st.lists(CLAIM, max_size=6), max_size=4))
def test_each_claim_of_each_juror_is_in_exactly_one_group(lists):
    given_claims = [(f"j{at}", claims) for at, claims in enumerate(lists)]
    combined = combine_claims(given_claims)
    assert combined == combine_claims(given_claims)
    assert sum(len(claim.votes) for claim in combined) == sum(map(len, lists))
    for name, claims in given_claims:
        votes = sorted(claim.votes[name] for claim in combined if name in claim.votes)
        assert votes == sorted(claim.verdict for claim in claims)
    share = supported_share(combined)
    assert share is None or 0 <= share <= 1


class TestJuries:
    def test_a_jury_without_claims_has_none(self):
        verdict = Ensemble([lambda case: True]).judge(answer="a")
        assert (verdict.claims, verdict.claim_share) == ((), None)
        assert "claims" not in verdict.to_dict()

    def test_nested_juries_and_cascades_keep_them(self):
        inner = Ensemble([juror("a", Claim("it rains", "supported")), juror("b", Claim("it rains", "supported"))])
        outer = Ensemble({"inner": inner, "c": juror("c", Claim("it rains", "unsupported"))}).judge(answer="a")
        assert dict(outer.claims[0].votes) == {"inner": "supported", "c": "unsupported"}
        assert CascadedJury([Tier("t", inner)]).judge(answer="a").claims == inner.judge(answer="a").claims
        assert len(all_of(juror("a", Claim("it rains", "supported"))).judge(answer="a").claims) == 1

    def test_the_status_is_that_of_the_vote(self):
        jurors = [
            juror("a", Claim("it rains", "supported")),
            juror("b", Claim("it snows", "unsupported"), status="FAIL"),
        ]
        verdict = Ensemble(jurors, voting="unanimous").judge(answer="a")
        assert (verdict.status, verdict.score) == ("FAIL", 0.5)


@pytest.mark.parametrize(
    "fields",
    [
        {"text": 1}, {"verdict": "true"}, {"verdict": None}, {"evidence": None}, {"passage": 0}, {"passage": True},
        {"passage": "1"}, {"votes": {"a": "yes"}},
    ],
)  # fmt: skip
def test_wrong_fields_are_refused(fields):
    with pytest.raises(ConfigurationError):
        Claim(**{"text": "t", "verdict": "supported"} | fields)
