"""Ensembles: what each rule makes of votes, of broken jurors, of labels and of scores; names, samples and usage."""

from itertools import product
from typing import ClassVar

import pytest
from fact_tables import each_row
from hypothesis import given, settings
from hypothesis import strategies as st
from jurors import FAIL, PASS, Says, jurors_of, labelled, sure, votes_of

from jury_adapters import (
    CascadedJury,
    Check,
    ConfigurationError,
    Ensemble,
    Judgment,
    Scorecard,
    Status,
    Tier,
    Usage,
    abstain,
    all_of,
    any_of,
    judge,
)
from jury_adapters.core.context import context
from jury_adapters.voting import Majority, Outcome, Quorum, Rule


def verdict_of(votes, **options):
    return Ensemble(jurors_of(votes), **options).judge("?")


VOTES = [  # votes; options; status; confidence: the share of the weight for the outcome; whether a tie was broken
    ("P", {}, "PASS", 1, False),
    ("PPF", {}, "PASS", 2 / 3, False),
    ("PFF", {}, "FAIL", 2 / 3, False),
    ("P--", {}, "PASS", 1, False),
    ("--", {}, "ABSTAIN", None, False),
    ("PF", {}, "FAIL", 1 / 2, True),
    ("FP-", {}, "FAIL", 1 / 2, True),
    ("PF", {"tie": "pass"}, "PASS", 1 / 2, True),
    ("PF", {"tie": "abstain"}, "ABSTAIN", None, True),
    ("PF", {"tie": "first"}, "PASS", 1 / 2, True),
    ("FP", {"tie": "first"}, "FAIL", 1 / 2, True),
    ("FP", {"tie": "abstain", "priority": ("LATER", "PASS", "FAIL")}, "PASS", 1 / 2, True),
    ("PFF", {"priority": ("PASS",)}, "FAIL", 2 / 3, False),
    ("PFF", {"weights": [2, 1, 0.5]}, "PASS", 2 / 3.5, False),
    ("PFF", {"weights": {"j0": 3}}, "PASS", 3 / 5, False),
    ("PFF", {"weights": [2, 1, 1]}, "FAIL", 1 / 2, True),
    ("PPF", {"weights": [0.1, 0.2, 0.3]}, "FAIL", 1 / 2, True),  # 0.1 + 0.2 is more than 0.3 only in floating point
    ("P-", {"weights": [0, 1]}, "ABSTAIN", None, False),
    ("PPF", {"min_share": "2/3"}, "PASS", 2 / 3, False),
    ("PPF", {"min_share": 0.67}, "PASS", 2 / 3, False),
    ("PPF", {"min_share": 0.68}, "ABSTAIN", None, False),
    ("PF", {"min_share": 0.5}, "FAIL", 1 / 2, True),
    ("PF", {"min_share": 0.51}, "ABSTAIN", None, False),
    ("P-", {"min_votes": 2}, "ABSTAIN", None, False),
    ("PP-", {"min_votes": 2}, "PASS", 1, False),
    ("-PP", {"required": ["j0"]}, "ABSTAIN", None, False),
    ("FPP", {"required": ["j0", "j1"]}, "PASS", 2 / 3, False),
    ("-PP", {"required": "j1"}, "PASS", 1, False),
    ("PPP", {"voting": "unanimous"}, "PASS", 1, False),
    ("PP-", {"voting": "consensus"}, "PASS", 1, False),
    ("PPF", {"voting": "unanimous"}, "FAIL", 1 / 3, False),
    ("PPF", {"voting": "unanimous", "on_split": "abstain"}, "ABSTAIN", None, False),
    ("PPF", {"voting": "veto"}, "FAIL", 1 / 3, False),
    ("PPP", {"voting": "veto"}, "PASS", 1, False),
    ("PPF", {"voting": "k_veto", "k": 2}, "PASS", 2 / 3, False),
    ("PFF", {"voting": "veto", "k": 2}, "FAIL", 2 / 3, False),
    ("PPF", {"voting": "quorum", "quorum": "2/3"}, "PASS", 2 / 3, False),
    ("PFF", {"voting": "quorum"}, "FAIL", 2 / 3, False),
    ("PF", {"voting": "quorum"}, "PASS", 1 / 2, False),
    ("PPF", {"voting": Quorum(quorum=1)}, "FAIL", 1 / 3, False),
    ("PPF", {"voting": Majority(tie="pass")}, "PASS", 2 / 3, False),
    ("P-", {"voting": "bayes", "reliabilities": [(0.9, 0.8), (0.6, 0.6)]}, "PASS", 0.9 / 1.1, False),
    ("FP", {"voting": "bayes", "reliabilities": [(0.9, 0.8), (0.6, 0.6)]}, "FAIL", 1 - 0.06 / 0.38, False),
    ("P", {"voting": "bayes", "reliabilities": [(0.6, 0.6)], "prior": 0.25}, "FAIL", 2 / 3, False),
    ("P", {"voting": "bayes", "reliabilities": [(0.6, 0.6)], "threshold": 0.61}, "FAIL", 0.4, False),
]
BROKEN = [  # a broken juror is a missing vote: the outcome stands, with the confidence among all, or it is an ERROR
    ("PP!", {}, "PASS", 2 / 3, False),
    ("PPP!", {}, "PASS", 3 / 4, False),
    ("FF!", {}, "FAIL", 2 / 3, False),
    ("F!", {}, "FAIL", 1 / 2, False),  # one more PASS makes a tie, which is FAIL
    ("PP!", {"weights": [2, 1, 1]}, "PASS", 3 / 4, False),
    ("P!-", {"weights": [2, 1, 1]}, "PASS", 2 / 3, False),
    ("PP!!", {"tie": "pass"}, "PASS", 1 / 2, False),
    ("-!", {"min_votes": 2}, "ABSTAIN", None, False),
    ("-P!", {"required": ["j0"]}, "ABSTAIN", None, False),
    ("FP!", {"voting": "veto"}, "FAIL", 1 / 3, False),
    ("PP!", {"voting": "veto", "k": 2}, "PASS", 2 / 3, False),
    ("FF!", {"voting": "veto", "k": 2}, "FAIL", 2 / 3, False),
    ("PF!", {"voting": "unanimous"}, "FAIL", 1 / 3, False),
    ("F!!", {"voting": "unanimous"}, "FAIL", 1 / 3, False),
    ("PF!", {"voting": "unanimous", "on_split": "abstain"}, "ABSTAIN", None, False),
    ("PP!", {"voting": "quorum", "quorum": "2/3"}, "PASS", 2 / 3, False),
    ("FF!", {"voting": "quorum", "quorum": "2/3"}, "FAIL", 2 / 3, False),
    ("PP!", {"voting": "average"}, "PASS", 5 / 9, False),
    ("PP!", {"voting": "median"}, "PASS", 2 / 3, False),
    ("PP!", {"voting": "bayes", "reliabilities": [(0.9, 0.9)] * 3}, "PASS", 0.9, False),
    *(
        (votes, options, "ERROR", None, False)
        for votes, options in (
            ("P!", {}),
            ("F!!", {}),
            ("PP!!", {}),
            ("-!", {}),
            ("!!!", {}),
            ("F!", {"tie": "pass"}),
            ("P!", {"min_votes": 2}),
            ("!PP", {"required": ["j0"]}),
            ("PP!", {"weights": [1, 1, 2]}),
            ("PPP!", {"min_share": "4/5"}),
            ("PP!", {"voting": "veto"}),
            ("PF!", {"voting": "veto", "k": 2}),
            ("PP!", {"voting": "unanimous"}),
            ("F!", {"voting": "unanimous", "on_split": "abstain"}),
            ("PF!", {"voting": "quorum", "quorum": "2/3"}),
            ("P!", {"voting": "average", "threshold": 0.6}),
            ("F!", {"voting": "median"}),
            ("P!", {"voting": "bayes", "reliabilities": [(0.9, 0.9)] * 2, "prior": 0.4}),
            ("PPP!", {"voting": lambda votes: "PASS"}),
        )
    ),
]
POLICIES = [  # broken jurors as FAIL, or as no vote
    ("PP!", {"errors": "fail"}, "PASS", 2 / 3, False),
    ("P!", {"errors": "fail"}, "FAIL", 1 / 2, True),
    ("!!", {"errors": "fail"}, "FAIL", 1, False),
    ("P!", {"errors": "fail", "required": ["j1"]}, "FAIL", 1 / 2, True),
    ("P!", {"errors": "fail", "voting": "average", "threshold": 0.6}, "FAIL", 1 / 2, False),
    ("PP!", {"errors": "fail", "voting": "veto"}, "FAIL", 1 / 3, False),
    *(
        (votes, {"errors": policy, **options}, status, confidence, tied)
        for policy in ("abstain", "ignore")
        for votes, options, status, confidence, tied in (
            ("P!", {}, "PASS", 1, False),
            ("PF!", {}, "FAIL", 1 / 2, True),
            ("!!", {}, "ABSTAIN", None, False),
            ("PP!", {"required": ["j2"]}, "ABSTAIN", None, False),
            ("PP!", {"min_votes": 3}, "ABSTAIN", None, False),
            ("PP!", {"voting": "unanimous"}, "PASS", 1, False),
        )
    ),
]


@pytest.mark.parametrize("table", [VOTES, BROKEN, POLICIES], ids=["votes", "broken", "policies"])
def test_votes_have_an_outcome(table: list) -> None:
    for votes, options, status, confidence, tied in table:
        verdict = verdict_of(votes, **options)
        assert (verdict.status, verdict.tied) == (status, tied), (votes, options)
        assert verdict.confidence == (confidence if confidence is None else pytest.approx(confidence)), (votes, options)
        assert verdict.reasoning or callable(options["voting"])
        assert verdict.judgments == tuple(
            one.model_copy(update={"critic": f"j{place}", "elapsed_s": verdict.judgments[place].elapsed_s})
            for place, one in enumerate(votes_of(votes))
        )


WRAPPED = [
    lambda one: one,
    lambda one: Says(PASS) & one,
    lambda one: one | Says(FAIL),
    lambda one: CascadedJury([Tier("screen", Says(PASS), "reject_on_any_fail"), Tier("last", one)]),
    lambda one: Scorecard({"a": one, "b": Says(PASS)}),
]


@each_row("cause", ["refused", "filtered", "truncated", "unfinished", "parse_fail"])
def test_a_juror_that_is_silenced_is_a_missing_vote_and_one_that_abstains_is_none(cause: str) -> None:
    silenced, good = Says(abstain("no answer", metadata={"cause": cause})), Says(PASS)
    for voting, wrap in product(("unanimous", "veto", "majority"), WRAPPED):
        assert Ensemble([good, wrap(silenced)], voting=voting).judge("?").status is Status.ERROR
        assert Ensemble([good, wrap(silenced)], voting=voting, errors="fail").judge("?").status is Status.FAIL
        assert Ensemble([good, wrap(Says(abstain("none")))], voting=voting).judge("?").status is Status.PASS
    screen = Tier("screen", Ensemble([good, good & silenced]), "reject_on_any_fail", if_broken="reject")
    verdict = CascadedJury([screen, Tier("last", good)]).judge("?")
    assert (verdict.status, verdict.stopped_at) == (Status.FAIL, "screen")
    assert Ensemble([good, good, silenced]).judge("?").reasoning == "2 of 2 voted PASS; 1 gave no answer"


def test_an_error_names_a_broken_juror_and_how_many_broke() -> None:
    verdict = Ensemble({"a": lambda case: True, "b": Says(KeyError("b")), "c": Says(OSError("c"))}).judge("?")
    assert verdict.error == "b: KeyError: 'b'"
    assert verdict.reasoning.startswith("2 of 3 jurors gave no answer")
    assert verdict.review_reasons == ("error",)


REASONS = [
    ("PPF", {}, "2 of 3 voted PASS"),
    ("PF", {}, "tie of FAIL, PASS counts as FAIL"),
    ("PPF", {"min_share": 0.8}, "no vote has a share of 0.8"),
    ("-P", {"min_votes": 2}, "1 voted, and at least 2 must"),
    ("P-", {"required": ["j1"]}, "required juror did not vote: number 2"),
    ("PPF", {"voting": "unanimous"}, "1 FAIL, 2 PASS"),
    ("PPF", {"voting": "veto"}, "1 of 3 object"),
    ("PPF", {"voting": "quorum", "quorum": "2/3"}, "2 of 3 pass; the quorum of 2/3 is met"),
    ("PFF", {"voting": "quorum", "quorum": "2/3"}, "not met"),
    ("PF", {"voting": "average"}, "average 0.500 reaches 0.5"),
    ("FF", {"voting": "median"}, "median 0.000 is below 0.5"),
    ("P", {"voting": "bayes", "reliabilities": [(0.9, 0.9)]}, "posterior of PASS is 0.900 after 1 votes"),
]


@each_row(("votes", "options", "part"), REASONS)
def test_the_reasoning_carries_the_numbers(votes: str, options: dict, part: str) -> None:
    assert part in verdict_of(votes, **options).reasoning


SHARES = [  # passed, of, quorum, met
    (2, 3, "2/3", True),
    (2, 3, 0.67, True),
    (2, 3, 0.66, True),
    (2, 3, 0.667, True),
    (2, 3, 0.7, False),
    (2, 3, 0.68, False),
    (1, 3, 0.34, False),
    (1, 3, 0.33, True),
    (18, 19, 0.95, True),
    (18, 19, "19/20", False),
    (1, 3, "1/3", True),
    (6, 13, 0.5, False),
    (1, 2, 0.5, True),
    (3, 5, 0.6, True),
    (99, 200, 0.5, False),
    (0, 3, 0, True),
    (3, 3, 1, True),
    (2, 3, 1.0, False),
]


def test_shares_are_exact_and_two_decimals_are_rounded() -> None:
    for passed, of, share, met in SHARES:
        votes = [PASS] * passed + [FAIL] * (of - passed)
        assert Ensemble(map(Says, votes), voting="quorum", quorum=share).judge("?").passed is met, (passed, of, share)
        if 2 * passed > of:
            by_share = Ensemble(map(Says, votes), min_share=share).judge("?")
            assert by_share.status == ("PASS" if met else "ABSTAIN"), (passed, of, share)


SCORES = [  # scores of jurors with the pass mark; options; score; status
    ((0.7, 0.7, 0.7), 0.7, {"voting": "average"}, 0.7, "PASS"),
    ((0.7, 0.7, 0.69), 0.7, {"voting": "average"}, 2.09 / 3, "FAIL"),
    ((0.9, 0.1), 0.5, {"voting": "average"}, 0.5, "PASS"),
    ((0.9, 0.1), 0.5, {"voting": "average", "threshold": 0.51}, 0.5, "FAIL"),
    ((0.9, 0.1), 0.5, {"voting": "average", "weights": [1, 3]}, 0.3, "FAIL"),
    ((0.2, 0.9, 0.8), 0.5, {"voting": "median"}, 0.8, "PASS"),
    ((0.2, 0.9), 0.6, {"voting": "median"}, 0.55, "FAIL"),
    ((0.2, 0.9, 0.8), 0.5, {"voting": "median", "weights": [9, 1, 1]}, 0.8, "PASS"),
    ((0.6, 0.8), 0.7, {"voting": "quorum"}, None, "PASS"),
    ((0.6, 0.8), 0.5, {"voting": "quorum", "threshold": 0.7}, None, "PASS"),
    ((0.1 + 0.2, 0.3), 0.5, {"voting": "quorum", "threshold": 0.3, "quorum": 1}, None, "PASS"),
    ((0.3, 0.3), 0.5, {"voting": "quorum", "threshold": 0.1 + 0.2, "quorum": 1}, None, "PASS"),
    ((0.3,), 0.5, {"voting": "quorum", "threshold": 0.0}, None, "PASS"),
    ((True, 0.4), 0.5, {"voting": "average"}, 0.7, "PASS"),
    ((False, 0.4), 0.5, {"voting": "average"}, 0.2, "FAIL"),
]


@each_row(("scores", "mark", "options", "score", "status"), SCORES)
def test_scores_have_a_middle(scores: tuple, mark: float, options: dict, score: float | None, status: str) -> None:
    jurors = [judge(lambda case, one=one: one, threshold=mark) for one in scores]
    verdict = Ensemble(jurors, **options).judge("?")
    assert verdict.status == status
    assert verdict.score == (score if score is None else pytest.approx(score))


CONFIDENT = [  # confidences of PASS, of FAIL; weights; status
    ((0.4, 0.4), (0.9,), None, "FAIL"),
    ((0.5, 0.5), (0.9,), None, "PASS"),
    ((0.5, 0.4), (0.9,), None, "FAIL"),  # a tie
    ((None,), (0.9,), None, "PASS"),  # none is full confidence
    ((0.4,), (0.9,), [3, 1], "PASS"),
    ((0.0,), (), None, "ABSTAIN"),
]


@each_row(("passed", "failed", "weights", "status"), CONFIDENT)
def test_votes_may_count_by_confidence(passed: tuple, failed: tuple, weights: list | None, status: str) -> None:
    votes = [sure(one, "PASS") for one in passed] + [sure(one, "FAIL") for one in failed]
    for options in ({"voting": "weighted"}, {"use_confidence": True}):
        assert Ensemble(map(Says, votes), weights=weights, **options).judge("?").status == status
    plain = Ensemble(map(Says, votes), voting="weighted", use_confidence=False).judge("?")
    assert plain.status == ("PASS" if len(passed) > len(failed) else "FAIL")


KINDS = {"A": "LABEL", "B": "LABEL", "tie": "LABEL", "good": "PASS", "fine": "PASS", "bad": "FAIL", "N/A": "ABSTAIN"}
LABELS = [  # what the jurors say; the labels that are declared; options; status; label
    ("A A B", "A B", {}, "LABEL", "A"),
    ("A B", "A B", {}, "LABEL", "A"),
    ("B A", "A B", {}, "LABEL", "B"),
    ("B A", "A B", {"priority": ("A",)}, "LABEL", "A"),
    ("A B", "A B", {"tie": "abstain"}, "ABSTAIN", None),
    ("A B", "A B", {"tie": "fail"}, "FAIL", None),
    ("A B", "A B tie", {"tie": "tie"}, "LABEL", "tie"),
    ("A B", "A B N/A", {"tie": "N/A"}, "ABSTAIN", None),
    ("A N/A B N/A B", "A B N/A", {}, "LABEL", "B"),
    ("A B B", "A B", {"min_share": 0.7}, "ABSTAIN", None),
    ("good good A", "good A", {}, "PASS", "good"),
    ("good fine bad bad", "good fine bad", {}, "FAIL", None),
    ("good fine bad bad", "good fine bad", {"on": "label"}, "FAIL", "bad"),
    ("good fine bad bad A", "good fine bad A", {}, "FAIL", "bad"),
    ("good fine bad bad A", "good fine bad A", {"on": "status"}, "FAIL", None),
    ("A A good", "A good", {"on": "status"}, "PASS", None),
    ("A A", "A", {"on": "status"}, "ABSTAIN", None),
    ("A A bad", "A bad", {"voting": "veto"}, "FAIL", None),
    ("A A", "A", {"voting": "unanimous"}, "LABEL", "A"),
    ("A B", "A B", {"voting": "unanimous"}, "FAIL", None),
    ("A B", "A B", {"voting": "unanimous", "on_split": "SPLIT"}, "LABEL", "SPLIT"),
    ("A B", "A B tie", {"voting": "unanimous", "on_split": "tie"}, "LABEL", "tie"),
    ("good bad", "good bad", {"voting": "unanimous", "on_split": "SPLIT"}, "LABEL", "SPLIT"),
    ("A A C", "A B", {}, "LABEL", "A"),  # a label that is not declared is an ERROR, and so a missing vote
    ("A C C", "A B", {}, "ERROR", None),
]


@each_row(("said", "declared", "options", "status", "label"), LABELS)
def test_labels_are_counted(said: str, declared: str, options: dict, status: str, label: str | None) -> None:
    labels = {one: KINDS[one].lower() for one in declared.split()}
    jurors = [judge(lambda case, one=one: one, labels=labels) for one in said.split()]
    verdict = Ensemble(jurors, **options).judge("?")
    assert (verdict.status, verdict.label) == (status, label)


OWN_LABELS = [
    ({}, "A good", {"A": "LABEL", "good": "PASS"}),
    ({}, "good bad", {}),
    ({"on": "label"}, "good bad", {"good": "PASS", "bad": "FAIL"}),
    ({"on": "status"}, "A", {}),
    ({"voting": "veto"}, "A", {}),
    ({"voting": "unanimous"}, "A", {"A": "LABEL"}),
    ({"voting": "unanimous", "on_split": "SPLIT"}, "good", {"SPLIT": "LABEL"}),
    ({"voting": "unanimous", "on_split": "SPLIT"}, "A", {"A": "LABEL", "SPLIT": "LABEL"}),
    ({"voting": "unanimous", "on_split": "good"}, "A good", {"A": "LABEL", "good": "PASS"}),
    ({"voting": lambda votes: "PASS"}, "A", None),
]


@each_row(("options", "declared", "own"), OWN_LABELS)
def test_a_jury_declares_the_labels_of_its_verdicts(options: dict, declared: str, own: dict | None) -> None:
    jury = Ensemble([judge(lambda case: True, labels={one: KINDS[one].lower() for one in declared.split()})], **options)
    assert jury.labels == own


def test_juries_of_juries_count_the_labels_of_their_members() -> None:
    split = Ensemble(jurors_of("PF"), voting="unanimous", on_split="SPLIT")
    verdict = Ensemble([split, split, Says(PASS)]).judge("?")
    assert (verdict.status, verdict.label, verdict.confidence) == ("LABEL", "SPLIT", pytest.approx(2 / 3))


def test_one_label_with_two_meanings_is_refused_where_labels_are_counted() -> None:
    good, bad = Says(labelled("OK", "PASS"), labels={"OK": "PASS"}), Says(labelled("OK", "FAIL"), labels={"OK": "FAIL"})
    neutral = Says(labelled("A"), labels={"A": "LABEL"})
    assert Ensemble([good, bad, bad]).judge("?").status == "FAIL"
    both = CascadedJury([Tier("first", good, "escalate_below"), Tier("last", bad)])
    for options in (
        {"judges": [good, bad, neutral]}, {"judges": [good, bad], "on": "label"}, {"judges": [both, neutral]},
    ):  # fmt: skip
        with pytest.raises(ConfigurationError, match="meanings"):
            Ensemble(**options)


CUSTOM = [
    (lambda votes: True, ("PASS", None, None)),
    (lambda votes: sum(one.weight * one.score for one in votes) / 9, ("FAIL", None, pytest.approx(3 / 9))),
    (lambda votes: ("ABSTAIN", "too few"), ("ABSTAIN", None, None)),
    (lambda votes: "SPLIT", ("LABEL", "SPLIT", None)),
    (lambda votes: Judgment(status="FAIL", label="bad", score=0.1), ("FAIL", "bad", 0.1)),
    (lambda votes: None, ("ERROR", None, None)),
    (lambda votes: 2.0, ("ERROR", None, None)),
    (lambda votes: votes[9], ("ERROR", None, None)),
    (lambda votes: ("ERROR", "the scale is down"), ("ERROR", None, None)),
]


@each_row(("rule", "found"), CUSTOM)
def test_a_function_of_the_votes_is_a_rule(rule: object, found: tuple) -> None:
    verdict = verdict_of("P-PF", voting=rule, weights=[1, 1, 2, 1])
    assert ((verdict.status.value, verdict.label, verdict.score), len(verdict.judgments)) == (found, 4)


class FirstLabel(Rule):
    on_labels: ClassVar[bool] = True
    rule: str = "first"

    def count(self, votes):
        return Outcome("LABEL", "the first", label=votes[0].ballot)


def test_a_rule_may_give_its_status_as_a_text() -> None:
    rude = judge(lambda case: "RUDE", labels={"RUDE": "fail"})
    assert Ensemble([rude], voting=FirstLabel(), on="label").judge("?").status is Status.FAIL


@each_row("name", ["average", "median", "scorecard", "cascade", "all_of", "worst"])
def test_a_verdict_is_not_read_by_the_name_of_a_function_that_counted(name: str) -> None:
    def worst(votes):
        return all(one.ballot == "PASS" for one in votes)

    worst.__name__ = name
    jurors = [Says(Judgment(status=status, score=score)) for status, score in (("PASS", 0.6), ("FAIL", 0.4))]
    verdict = Ensemble(jurors, voting=worst).judge("?")
    assert (verdict.agreement, verdict.review_reasons, verdict.tiers) == (0.0, ("low_agreement",), {})
    assert verdict.voting.split()[-1] == name


def test_a_function_of_the_votes_sees_each_vote_that_was_cast() -> None:
    seen = []
    jurors = [Says(sure(0.4, "PASS")), Says(Judgment(status="FAIL", score=0.2)), *jurors_of("-P")]
    Ensemble(jurors, voting=lambda votes: seen.extend(votes) or True, weights=[1, 2, 3, 4]).judge("?")
    assert [tuple(vote) for vote in seen] == [
        (0, "PASS", 1.0, 0.4, 1.0), (1, "FAIL", 0.2, 1.0, 2.0), (3, "PASS", 1.0, 1.0, 4.0),
    ]  # fmt: skip


def test_a_verdict_carries_judgments_weights_names_and_usage() -> None:
    paid = [Judgment(status="PASS", usage=Usage(calls=1, cost_usd=0.5)), Judgment(status="FAIL", usage=Usage(calls=2))]
    jury = Ensemble([Says(one, "critic") for one in paid], weights=[3, 1], name="panel")
    verdict = jury.judge("?")
    assert ((verdict.critic, verdict.voting, verdict.weights, verdict.skipped), [*verdict.by_name], verdict.usage) == (
        ("panel", "majority", (3.0, 1.0), ()),
        ["critic", "critic-2"],
        Usage(calls=3, cost_usd=0.5),
    )
    assert ((jury.size, jury.cost), Ensemble([jury, jury]).size) == ((2, 0), 4)


def test_judgments_may_be_counted_without_asking() -> None:
    jury = Ensemble(jurors_of("PPP"))
    assert jury.verdict([PASS, PASS, FAIL]).status == "PASS"
    early = jury.verdict([PASS, None, PASS])
    assert (early.status, early.skipped, early.weights) == ("PASS", ("j1",), (1.0, 1.0))
    for votes in ([PASS, PASS], [PASS, None, FAIL]):
        with pytest.raises(ConfigurationError):
            jury.verdict(votes)


# A rule on scores takes the jurors' pass mark, so a jury of one juror with a score must say what the juror says.
MARKED = {
    "average": lambda: Ensemble([lambda case: 0.6], voting="average", threshold=0.8),
    "average from 0": lambda: Ensemble([lambda case: 0.3], voting="average", threshold=0.0),
    "median": lambda: Ensemble([judge(lambda case: 0.6, threshold=0.8)], voting="median"),
    "quorum": lambda: Ensemble(jurors_of("PPF"), voting="quorum", quorum=1),
    "quorum of scores": lambda: Ensemble(
        [lambda case: 0.9, lambda case: 0.9, lambda case: 0.7], voting="quorum", threshold=0.8
    ),
    "bayes": lambda: Ensemble(jurors_of("P"), voting="bayes", reliabilities=[(0.6, 0.6)], threshold=0.8),
    "majority": lambda: Ensemble(jurors_of("PPF")),
    "scorecard": lambda: Scorecard(dict(enumerate(jurors_of("PPF")))),
    "scorecard of one": lambda: Scorecard(dict(enumerate(jurors_of("PFF"))), pass_when="any"),
    "weighted scorecard": lambda: Scorecard({"a": lambda case: 0.6}, weights={"a": 1}, threshold=0.8),
    "all_of": lambda: all_of(judge(lambda case: 0.6, threshold=0.7)),
    "any_of": lambda: any_of(judge(lambda case: 0.4, threshold=0.3)),
    "fallbacks": lambda: judge(lambda case: 0.6, threshold=0.7).with_fallbacks(judge(lambda case: 1, threshold=0.7)),
    "cascade": lambda: CascadedJury([Tier("final", judge(lambda case: 0.6, threshold=0.7))]),
    "cascade of different marks": lambda: CascadedJury(
        [Tier("first", judge(lambda case: 0.6, threshold=0.7), "reject_on_any_fail"), Tier("last", Says(PASS))]
    ),
}


@each_row("name", MARKED)
def test_a_jury_passes_from_its_pass_mark(name: str) -> None:
    member = MARKED[name]()
    said = member.judge("?")
    assert said.decided
    assert said.score is None or said.passed is (said.score >= member.pass_mark)
    assert Ensemble([member], voting="average").judge("?").status == said.status


class Recorder(Check):
    """Juror that notes the number of the sample under which it was asked."""

    def __init__(self, name, log):
        self.name, self._log = name, log

    def check(self, case):
        self._log.append((self.fingerprint, context().sample))
        return self.name != "c"


TREES = st.recursive(
    st.sampled_from("abc"),
    lambda inner: st.tuples(st.sampled_from([0, 2]), st.lists(inner, min_size=1, max_size=3)),
    max_leaves=8,
)


@settings(max_examples=50, deadline=None)
@given(st.lists(TREES, min_size=1, max_size=4), st.sampled_from(["parallel", "sequential", "early_stop"]))
def test_one_judge_twice_is_two_samples_at_any_depth(trees: list, schedule: str) -> None:
    log: list = []
    judges = {name: Recorder(name, log) for name in "abc"}

    def built(tree):
        if isinstance(tree, str):
            return judges[tree]
        samples, members = tree
        jury = Ensemble(map(built, members), schedule=schedule)
        return jury.with_samples(samples) if samples else jury

    jury = Ensemble(map(built, trees), schedule=schedule)
    jury.judge("?")
    assert len(log) == len({*log}) <= jury.size
    assert max(sample for _, sample in log) < jury.size


def test_samples_count_from_that_of_the_caller_and_only_for_a_judge_that_is_there_before() -> None:
    log: list = []
    a, b, twin = Recorder("a", log), Recorder("b", log), Recorder("a", log)
    Ensemble({"x": a, "y": b, "z": twin}).judge("?")
    assert log == [(a.fingerprint, 0), (b.fingerprint, 0), (a.fingerprint, 1)]
    log.clear()
    assert (a.with_samples(3).judge("?").voting, [sample for _, sample in log]) == ("majority", [0, 1, 2])


def test_no_juror_is_asked_for_a_sample_of_another_juror_whatever_its_kind() -> None:
    log: list = []
    a, b = Recorder("a", log), Recorder("b", log)
    cascade = CascadedJury([Tier("first", a, "escalate_below"), Tier("last", Ensemble([a, b]))])
    Ensemble([cascade, a, Scorecard({"x": a}), a & b, a.with_fallbacks(b), b], schedule="sequential").judge("?")
    names = {a.fingerprint: "a", b.fingerprint: "b"}
    # The tiers of a cascade share a sample, so what the first tier said is not paid again in the last.
    assert [f"{names[one]}{sample}" for one, sample in log] == ["a0", "a0", "b0", "a3", "a4", "a5", "b5", "a7", "b9"]


def test_jurors_that_say_the_same_status_in_different_words_agree() -> None:
    rated = judge(lambda case: "good", labels={"good": "pass"})
    verdict = Ensemble([rated, Says(PASS)]).judge("?")
    assert (verdict.status, verdict.confidence, verdict.agreement) == ("PASS", 1.0, 1.0)
    assert not verdict.needs_review


def test_the_schedules_give_one_verdict() -> None:
    for votes in product("PF-!", repeat=3):
        found = {
            (verdict.status, verdict.label, verdict.confidence)
            for schedule in ("parallel", "sequential")
            for verdict in [verdict_of("".join(votes), schedule=schedule)]
        }
        assert len(found) == 1


def test_a_vote_of_a_judge_of_labels_and_a_broken_one_says_which_label() -> None:
    jurors = [Says(labelled("A"), labels={"A": Status.LABEL})] * 2
    verdict = Ensemble([*jurors, Says(OSError("down"))]).judge("?")
    assert (verdict.status, verdict.label, verdict.confidence) == ("LABEL", "A", pytest.approx(2 / 3))
