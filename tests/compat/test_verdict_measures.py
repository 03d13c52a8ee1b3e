"""Measures of other packages, of our verdicts."""

import pytest

from jury_adapters import CascadedJury, Ensemble, Judgment, Tier, Verdict, judge
from jury_adapters.compat.verdict_measures import agreement_pct, avg_confidence, consensus, sub_verdicts


def jury(*statuses, **options):
    return Ensemble(
        [
            judge(name=f"j{i}")(lambda case, s=s: Judgment(s, reasoning="r", error="e"))
            for i, s in enumerate(statuses, 1)
        ],
        **options,
    )


def labels(*words, **options):
    return Ensemble(
        [judge(name=w + str(i))(lambda c, w=w: Judgment(None, label=w)) for i, w in enumerate(words)], **options
    )


@pytest.mark.parametrize(
    ("verdict", "voted", "share"),
    [
        (jury("PASS", "PASS", "FAIL").judge("q"), "PASS", 2 / 3),
        (jury("PASS", "FAIL", "FAIL", "ABSTAIN").judge("q"), "FAIL", 2 / 3),
        (jury("ABSTAIN", "ABSTAIN").judge("q"), None, 0.0),
        (jury("ERROR", "ERROR", errors="propagate").judge("q"), None, 0.0),
        (labels("A", "B", "A", "A").judge("q"), "A", 0.75),
        (labels("A", "B", voting="unanimous", default_label="none").judge("q"), "none", 0.0),
    ],
    ids=["passes", "fails", "abstains", "errors", "labels", "default label"],
)
def test_consensus_is_what_was_voted_and_agreement_pct_its_share_of_the_votes(verdict, voted, share):
    assert consensus(verdict) == voted
    assert agreement_pct(verdict) == pytest.approx(share)


def test_the_mean_confidence_is_of_the_valid_jurors_that_gave_one():
    judgments = [
        Judgment("PASS", confidence=0.9),
        Judgment("FAIL", confidence=0.5),
        Judgment("PASS"),
        Judgment("ABSTAIN", reasoning="cannot say", confidence=0.1),
        Judgment("ERROR", error="broken", confidence=0.2),
    ]
    assert avg_confidence(Verdict("PASS", judgments=judgments)) == pytest.approx(0.7)
    assert avg_confidence(Verdict("PASS")) == 0.0
    assert avg_confidence(Verdict("PASS", judgments=[Judgment("PASS")])) == 0.0


def test_nested_results_are_those_of_tiers_or_of_jurors_that_are_juries():
    nested = Ensemble([jury("PASS", "FAIL", name="a"), judge(name="b")(lambda case: True)]).judge("q")
    assert [one.critic for one in sub_verdicts(nested)] == ["a"]
    tiers = CascadedJury([Tier("first", jury("PASS", "FAIL"), "escalate_on_split"), Tier("last", jury("PASS"))])
    assert [str(one.status) for one in sub_verdicts(tiers.judge("q"))] == ["FAIL", "PASS"]
    assert sub_verdicts(jury("PASS").judge("q")) == ()
