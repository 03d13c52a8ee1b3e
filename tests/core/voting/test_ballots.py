import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_adapters import ConfigurationError, Ensemble, Judgment, Status
from jury_adapters.checks import always_fail, always_pass
from jury_adapters.core.voting.rules.first_disagreement import FirstDisagreement
from jury_adapters.core.voting.rules.majority import Majority
from jury_adapters.core.voting.rules.unanimous import Unanimous
from jury_adapters.core.voting.rules.weighted import Weighted

PASS = Judgment(Status.PASS)
FAIL = Judgment(Status.FAIL)
ABSTAIN = Judgment(Status.ABSTAIN, reasoning="cannot say")
ERROR = Judgment(Status.ERROR, error="boom")
BALLOT_STRATEGIES = [Majority, Weighted, Unanimous, FirstDisagreement]


def labels(text, **fields):
    return [Judgment(None, label=label, **fields) for label in text]


def of(text):
    return [{"P": PASS, "F": FAIL, "A": ABSTAIN, "E": ERROR}[letter] for letter in text]


@pytest.mark.parametrize(
    ("votes", "status", "confidence"),
    [("P", "PASS", 1.0), ("PPF", "PASS", 2 / 3), ("PFF", "FAIL", 2 / 3), ("PAA", "PASS", 1.0), ("PPE", "PASS", 2 / 3)],
)
def test_majority_passes_when_passes_outnumber_fails(votes, status, confidence):
    result = Majority().tally(of(votes))
    assert (result.status, result.confidence) == (status, pytest.approx(confidence))
    assert not result.tally.tied
    assert result.label is None


@pytest.mark.parametrize(
    ("options", "status"),
    [
        ({}, "FAIL"),
        ({"tie": "fail"}, "FAIL"),
        ({"tie": "pass"}, "PASS"),
        ({"tie": "abstain"}, "ABSTAIN"),
        ({"tie": "first"}, "FAIL"),
        ({"tie": "fail", "priority": ["PASS"]}, "PASS"),
        ({"tie": "pass", "priority": ["never cast", "FAIL"]}, "FAIL"),
    ],
)
@pytest.mark.parametrize("strategy", [Majority, Weighted])
def test_a_tie_of_statuses_is_settled_by_priority_then_by_the_tie_rule_and_said(strategy, options, status):
    result = strategy(**options).tally([ABSTAIN, FAIL, PASS])
    assert (result.status, result.tally.tied, result.confidence) == (status, True, 0.5)
    assert "tie" in result.reasoning


@pytest.mark.parametrize(
    ("votes", "options", "label"),
    [
        ("KKR", {}, "K"),
        ("RKKR", {}, "R"),
        ("RKKR", {"priority": ["K"]}, "K"),
        ("XYYZZ", {"priority": ["X", "Z", "Y"]}, "Z"),
        ("ZYYZX", {"tie": "first"}, "Z"),
    ],
)
def test_labels_are_won_by_the_most_frequent_then_by_priority_then_by_the_first_cast(votes, options, label):
    result = Majority(**options).tally(labels(votes))
    assert (result.label, result.status) == (label, None)
    assert result.tally.tied is (sorted(votes) != sorted("KKR"))


@pytest.mark.parametrize(("tie", "status"), [("fail", "FAIL"), ("pass", "PASS"), ("abstain", "ABSTAIN")])
def test_a_tie_of_labels_may_come_to_a_status_without_a_label(tie, status):
    result = Majority(tie=tie, default_label="?").tally(labels("KR"))
    assert (result.status, result.tally.tied) == (status, True)
    assert result.label == ("?" if tie == "abstain" else None)


def test_the_status_of_a_label_comes_with_the_label():
    good, bad = Judgment(Status.PASS, label="good"), Judgment(Status.FAIL, label="bad")
    result = Majority(on="label").tally([bad, good, good])
    assert (result.label, result.status) == ("good", Status.PASS)


def test_a_judgment_without_a_label_votes_its_status_among_labels():
    result = Majority(on="label").tally([PASS, PASS, *labels("K")])
    assert (result.label, result.status) == ("PASS", Status.PASS)
    assert result.tally.ballots == ("PASS", "PASS", "K")


@pytest.mark.parametrize("strategy", BALLOT_STRATEGIES)
def test_auto_votes_on_statuses_unless_a_label_has_none(strategy):
    good, fine = Judgment(Status.PASS, label="good"), Judgment(Status.PASS, label="fine")
    assert strategy().tally([good, fine]).tally.on == "status"
    assert strategy().tally([good, fine]).status is Status.PASS
    assert strategy().tally([good, *labels("K")]).tally.on == "label"
    assert strategy(on="label").tally([good, good]).label == "good"


def test_a_vote_on_statuses_leaves_out_labels_without_one_and_says_so():
    result = Majority(on="status").tally([PASS, *labels("KK")])
    assert (result.status, result.tally.eligible, result.tally.ignored) == (Status.PASS, 1, 2)


def test_errors_are_ignored_among_labels_by_default_and_vote_error_label_when_they_count_as_fail():
    votes = [*labels("K"), ERROR, ERROR]
    assert (Majority().tally(votes).label, Majority().tally(votes).tally.ignored) == ("K", 2)
    counted = Majority(on="label", errors="fail", error_label="BROKEN").tally(votes)
    assert (counted.label, counted.tally.eligible, counted.tally.errors) == ("BROKEN", 3, 2)
    assert counted.tally.ballots == ("K", None, None)


@pytest.mark.parametrize("strategy", BALLOT_STRATEGIES)
def test_an_error_that_cannot_count_as_a_label_is_left_out_and_said_to_be(strategy):
    """With ``on="auto"``, only the judgments show whether labels vote."""
    result = strategy(errors="fail").tally([*labels("KK"), ERROR])
    assert (result.label, result.tally.on, result.tally.eligible) == ("K", "label", 2)
    assert (result.tally.errors, result.tally.ignored, result.tally.ballots[2]) == (1, 1, None)
    assert "1 error is left out: among labels errors='fail' needs error_label=" in result.reasoning
    counted = strategy(errors="fail", error_label="K").tally([*labels("KK"), ERROR])
    assert (counted.tally.eligible, counted.tally.ignored) == (3, 0)
    assert "left out" not in counted.reasoning
    assert "left out" not in strategy().tally([*labels("K"), ERROR]).reasoning


@pytest.mark.parametrize("strategy", BALLOT_STRATEGIES)
def test_errors_as_fails_among_labels_need_an_error_label(strategy):
    with pytest.raises(ConfigurationError, match=r"needs error_label=.* or choose errors='ignore'"):
        strategy(on="label", errors="fail")


@pytest.mark.parametrize("strategy", BALLOT_STRATEGIES)
def test_on_takes_auto_status_or_label(strategy):
    with pytest.raises(ConfigurationError, match=r"unknown on= 'labels'\. Did you mean 'label'\?"):
        strategy(on="labels")


@pytest.mark.parametrize("strategy", [Majority, Weighted])
def test_unusable_tie_rules_are_refused(strategy):
    with pytest.raises(ConfigurationError, match=r"unknown tie= 'last'.*abstain, fail, first, pass"):
        strategy(tie="last")
    with pytest.raises(ConfigurationError, match=r"priority is a list of labels: \['KEEP'\]"):
        strategy(priority="KEEP")


@pytest.mark.parametrize(
    ("votes", "share", "label"),
    [
        ("KKR", "2/3", "K"),
        ("KKR", 0.67, "K"),
        ("KKR", 0.7, "?"),
        ("KR", "1/2", "K"),
        ("KRX", "2/3", "?"),
        ("K", 1, "K"),
        ("KR", 1, "?"),
    ],
)
def test_min_share_is_the_share_of_eligible_votes_the_winner_needs(votes, share, label):
    result = Majority(min_share=share, default_label="?").tally([ABSTAIN, *labels(votes)])
    assert result.label == label
    assert (result.status is Status.ABSTAIN) == (label == "?")


def test_an_impossible_min_share_is_refused():
    with pytest.raises(ConfigurationError, match="min_share must lie from 0 to 1"):
        Majority(min_share=67)


@pytest.mark.parametrize("strategy", BALLOT_STRATEGIES)
def test_the_fallback_is_the_label_when_nobody_is_eligible(strategy):
    result = strategy(on="label", default_label="NO_DATA").tally([ABSTAIN, ERROR])
    assert (result.status, result.label, result.confidence) == (Status.ABSTAIN, "NO_DATA", None)
    assert strategy().tally([]).status is Status.ABSTAIN


def test_each_juror_of_a_majority_has_one_vote_whatever_it_weighs():
    result = Majority().tally([PASS, FAIL, FAIL], [100, 1, 1])
    assert (result.status, result.confidence) == (Status.FAIL, pytest.approx(2 / 102))


@pytest.mark.parametrize("votes", ["P", "PP", "PAP"])
def test_unanimous_passes_when_all_who_vote_pass(votes):
    result = Unanimous().tally(of(votes))
    assert (result.status, result.confidence) == (Status.PASS, 1.0)
    assert result.reasoning == {"P": "1 of 1 voted PASS", "PP": "all 2 agree"}.get(votes, "all 2 that voted agree")


@pytest.mark.parametrize("votes", ["PPF", "PE"])
def test_a_split_fails_or_abstains(votes):
    assert Unanimous().tally(of(votes)).status is Status.FAIL
    split = Unanimous(on_split="abstain", default_label="SPLIT").tally(of(votes))
    assert (split.status, split.label) == (Status.ABSTAIN, "SPLIT")


def test_all_fails_are_a_fail_and_no_split():
    assert Unanimous(on_split="abstain").tally(of("FFA")).status is Status.FAIL


def test_split_labels_are_no_fail():
    result = Unanimous(default_label="MIXED").tally(labels("KKR"))
    assert (result.status, result.label) == (Status.ABSTAIN, "MIXED")
    assert result.reasoning == "split: 2 K, 1 R"
    assert Unanimous().tally(labels("KK")).label == "K"


def test_on_split_is_fail_or_abstain():
    with pytest.raises(ConfigurationError, match=r"unknown on_split= 'pass'.*abstain, fail"):
        Unanimous(on_split="pass")


def test_the_largest_weight_times_confidence_wins():
    votes = [*labels("KK", confidence=0.4), *labels("R", confidence=0.9)]
    result = Weighted().tally(votes)
    assert (result.label, result.confidence) == ("R", pytest.approx(0.9 / 1.7))
    assert Weighted(use_confidence=False).tally(votes).label == "K"
    assert Weighted().tally(votes, [3, 1, 1]).label == "K"


def test_a_juror_without_a_confidence_counts_in_full():
    assert Weighted().tally([PASS, Judgment(Status.FAIL, confidence=0.9)]).status is Status.PASS


def test_sums_of_tenths_are_a_tie_and_not_a_rounding_error():
    thirds = [Judgment(Status.PASS, confidence=0.1)] * 3
    result = Weighted(tie="pass").tally([*thirds, Judgment(Status.FAIL, confidence=0.3)])
    assert result.status is Status.PASS


def test_a_weighted_vote_without_any_weight_left_abstains():
    assert Weighted().tally([ABSTAIN, PASS], [1.0, 0.0]).status is Status.ABSTAIN


def test_zero_confidence_everywhere_is_a_tie():
    result = Weighted().tally([Judgment(Status.PASS, confidence=0.0), Judgment(Status.FAIL, confidence=0.0)])
    assert (result.status, result.tally.tied, result.confidence) == (Status.FAIL, True, 0.0)


def test_the_first_disagreement_is_named():
    votes = [Judgment(None, label=label, critic=name) for name, label in (("a", "K"), ("b", "K"), ("c", "R"))]
    result = FirstDisagreement().tally(votes)
    assert (result.status, result.label) == (None, "DISAGREE")
    assert "c is the first to disagree: R, not K" in result.reasoning
    assert FirstDisagreement().tally(votes[:2]).label == "K"


def test_agreeing_statuses_keep_their_status():
    assert FirstDisagreement().tally(of("PAP")).status is Status.PASS
    assert FirstDisagreement().tally(of("PF")).label == "DISAGREE"


@given(st.lists(st.sampled_from("KRX"), min_size=1, max_size=9))
def test_the_winner_has_at_least_as_many_votes_as_anyone_and_its_share_is_the_confidence(votes):
    result = Majority().tally(labels(votes))
    assert votes.count(result.label) == max(votes.count(label) for label in votes)
    assert result.confidence == pytest.approx(votes.count(result.label) / len(votes))
    assert result.tally.ballots == tuple(votes)


@given(st.lists(st.sampled_from("KRX"), min_size=1, max_size=9))
def test_all_weights_alike_and_no_confidence_make_weighted_a_majority(votes):
    one, other = Weighted().tally(labels(votes)), Majority().tally(labels(votes))
    assert (one.label, one.tally.tied) == (other.label, other.tally.tied)


def test_the_label_of_a_disagreement_can_be_named():
    jury = Ensemble([always_pass(), always_fail()], voting="first_disagreement", disagree_label="SPLIT")
    assert (jury.judge("q").status, jury.judge("q").label) == (None, "SPLIT")
    assert Ensemble([always_pass(), always_fail()], voting="first_disagreement").judge("q").label == "DISAGREE"
    assert Ensemble([always_pass()] * 2, voting="first_disagreement", disagree_label="SPLIT").judge("q").passed
    for wrong in ("", " ", 3):
        with pytest.raises(ConfigurationError, match="disagree_label is a label"):
            Ensemble([always_pass()], voting="first_disagreement", disagree_label=wrong)
    with pytest.raises(ConfigurationError, match="first_disagreement has a disagree_label"):
        Ensemble([always_pass()], voting="first_disagreement", disagree_label=None)


LABELLED = {"disagree_label": "SPLIT", "default_label": "NONE"}


@pytest.mark.parametrize(("rule", "votes", "label"), [
    (Majority(**LABELLED), "PF", "SPLIT"),
    (Majority(**LABELLED), "PFA", "SPLIT"),
    (Majority(**LABELLED, min_share="2/3"), "PPFF", "SPLIT"),
    (Majority(**LABELLED, min_share="2/3"), "PPPFF", "SPLIT"),
    (Majority(**LABELLED, min_share="2/3", tie="fail"), "PPPFF", "SPLIT"),
    (Majority(**LABELLED, on="label"), "abab", "SPLIT"),
    (Majority(**LABELLED, on="label", min_share="2/3"), "aab" "c", "SPLIT"),
    (Majority(**LABELLED, on="label", priority=("c",)), "ab", "SPLIT"),
    (Weighted(**LABELLED), "PF", "SPLIT"),
    (Weighted(**LABELLED, on="label"), "ab", "SPLIT"),
    (Unanimous(**LABELLED), "PF", "SPLIT"),
    (Unanimous(**LABELLED, on_split="abstain"), "PPF", "SPLIT"),
    (Unanimous(**LABELLED, on="label"), "aab", "SPLIT"),
    *[(rule(**LABELLED), "AA", "NONE") for rule in (Majority, Weighted, Unanimous)],
    *[(rule(**LABELLED, min_votes=3), "PFA", "NONE") for rule in (Majority, Weighted, Unanimous)],
    *[(rule(**LABELLED, on="label", min_votes=3), "abA", "NONE") for rule in (Majority, Weighted, Unanimous)],
    (Majority(default_label="NONE", tie="abstain"), "PF", "NONE"),
    (Majority(disagree_label="SPLIT", min_votes=2), "PA", None),
    (Unanimous(default_label="NONE", on_split="abstain"), "PF", "NONE"),
])  # fmt: skip
def test_a_disagreement_has_its_label_and_too_few_votes_have_the_fallback(rule, votes, label):
    cast = of(votes) if votes.isupper() else [ABSTAIN if vote == "A" else Judgment(None, label=vote) for vote in votes]
    result = rule.tally(cast)
    assert (result.status, result.label) == (Status.ABSTAIN, label)


@pytest.mark.parametrize(("rule", "votes", "status"), [
    (Majority(**LABELLED), "PPF", Status.PASS), (Majority(**LABELLED), "FFP", Status.FAIL),
    (Majority(**LABELLED, tie="pass"), "PF", Status.PASS), (Majority(**LABELLED, tie="fail"), "PF", Status.FAIL),
    (Majority(**LABELLED, tie="first"), "PF", Status.PASS),
    (Majority(**LABELLED, priority=["FAIL"]), "PF", Status.FAIL),
    (Unanimous(**LABELLED), "PPA", Status.PASS), (Unanimous(**LABELLED, on_split="fail"), "PPF", Status.FAIL),
])  # fmt: skip
def test_where_a_ballot_wins_or_a_tie_is_decided_there_is_no_label_of_a_disagreement(rule, votes, status):
    assert (rule.tally(of(votes)).status, rule.tally(of(votes)).label) == (status, None)


@pytest.mark.parametrize("rule", [Majority, Unanimous, Weighted])
@pytest.mark.parametrize("wrong", ["", " ", 3])
def test_the_label_of_a_disagreement_is_a_text(rule, wrong):
    with pytest.raises(ConfigurationError, match="disagree_label is a label"):
        rule(disagree_label=wrong)


@pytest.mark.parametrize(("tie", "status", "confidence"), [("fail", Status.FAIL, 0.25), ("pass", Status.PASS, 0.75)])
def test_the_confidence_of_a_tie_is_the_weight_of_the_votes_for_its_status(tie, status, confidence):
    said = [Judgment(Status.PASS), Judgment(Status.FAIL)]
    result = Majority(tie=tie).tally(said, weights=[3, 1])
    assert (result.status, result.confidence) == (status, pytest.approx(confidence))
    by_priority = Majority(priority=["FAIL"]).tally(said, weights=[3, 1])
    assert by_priority.confidence == pytest.approx(0.25)
