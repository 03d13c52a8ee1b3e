"""PairwiseCritic asks in both orders (trap 13), and RecordedCritic repeats recorded votes."""

import re

import pytest
from critic_support import ONCE, Memory, critic, down, says
from fact_tables import each_row

from jury_adapters import Case, ConfigurationError, Ensemble, Judgment, Status, abstain, judge
from jury_adapters.critic.critic import Critic
from jury_adapters.critic.pairwise import PairwiseCritic
from jury_adapters.critic.recorded import RecordedCritic
from jury_adapters.testing import ScriptedModel

CASE = Case(question="q", candidates=["first answer", "second answer"])


def in_order(first, second):
    """A model that says one thing when the first candidate is shown first, and another when the second is."""

    def reply(prompt):
        text = prompt.turns[0].text
        return first if text.index("first answer") < text.index("second answer") else second

    return Critic(ScriptedModel(reply), "pairwise", name="better", limits=ONCE)


def says_always(label, **more):
    return judge(lambda case: Judgment(status="LABEL", label=label, **more), name=label, labels=["A", "B", "tie"])


def prefers(candidate):
    return judge(lambda case: "A" if case.candidates[0] == candidate else "B", name=candidate, labels=["A", "B", "tie"])


FIRST, SECOND = map(prefers, CASE.candidates)


@each_row(
    ("first", "second", "label", "consistent"),
    [
        ("A", "B", "A", True), ("B", "A", "B", True), ("tie", "tie", "tie", True),
        ("A", "A", "tie", False), ("B", "B", "tie", False), ("A", "tie", "tie", False), ("tie", "B", "tie", False),
    ],
)  # fmt: skip
def test_only_a_preference_that_both_orders_share_counts(first, second, label, consistent):
    asked = in_order(says(first, confidence=0.9), says(second, confidence=0.7))
    verdict = PairwiseCritic(asked).judge(CASE)
    assert (verdict.status, verdict.label, verdict.critic) == (Status.LABEL, label, "better")
    assert verdict.metadata["position_consistent"] is consistent
    assert verdict.confidence == (pytest.approx(0.8) if consistent else None)
    assert list(verdict.by_name) == ["A first", "B first"]
    assert verdict.by_name["B first"].label == {"A": "B", "B": "A", "tie": "tie"}[second]
    assert (verdict.usage.calls, verdict.agreement) == (2, 1.0 if consistent else 0.0)
    assert ("the position decided" in verdict.reasoning) is not consistent


def test_the_requests_differ_in_nothing_but_the_order():
    asked = in_order(says("A"), says("B"))
    PairwiseCritic(asked).judge(CASE)
    one, two = asked.model.prompts
    assert one.system == two.system
    plain = [re.sub(r"-[0-9a-f]{12}>", ">", prompt.turns[0].text) for prompt in (one, two)]
    turned = (
        plain[1].replace("second answer", "?").replace("first answer", "second answer").replace("?", "first answer")
    )
    assert plain[0] == turned


@pytest.mark.parametrize("candidates", [(), ("one",), ("a", "b", "c")])
def test_without_two_candidates_nothing_is_asked(candidates):
    asked = in_order(says("A"), says("B"))
    pairwise = PairwiseCritic(asked)
    case = Case(question="q", candidates=candidates)
    verdict = pairwise.judge(case)
    assert (verdict.status, asked.model.prompts, pairwise.estimate(case).calls) == (Status.ABSTAIN, [], 0)
    assert "it takes two" in verdict.reasoning


def test_equal_candidates_are_a_tie_and_nothing_is_asked():
    asked = in_order(says("A"), says("B"))
    verdict = PairwiseCritic(asked).judge(question="q", candidates=["Same.", " Same.\n"])
    assert (verdict.label, asked.model.prompts) == ("tie", [])


@pytest.mark.parametrize(
    ("second", "status", "said"),
    [("who knows", "ABSTAIN", "B first: the reply could not be read"), (down(), "ERROR", "B first: ModelError")],
)
def test_one_order_without_an_answer_is_no_answer(second, status, said):
    verdict = PairwiseCritic(in_order(says("A"), second)).judge(CASE)
    assert (verdict.status, verdict.label) == (status, None)
    assert verdict.reasoning.startswith(said)
    assert verdict.by_name["A first"].label == "A"


def test_without_a_question_nothing_is_asked():
    asked = in_order(says("A"), says("B"))
    verdict = PairwiseCritic(asked).judge(candidates=CASE.candidates)
    assert (verdict.status, asked.model.prompts) == (Status.ABSTAIN, [])
    assert "no question" in verdict.reasoning


def test_a_store_keeps_both_orders_apart():
    store, asked = Memory(), in_order(says("A"), says("B"))
    for _ in range(2):
        (verdict,) = PairwiseCritic(asked).judge_many([CASE], store=store)
        assert verdict.label == "A"
    assert (len(asked.model.prompts), len(store.rows)) == (2, 2)


@pytest.mark.parametrize("other", ["faithfulness", "coherence"])
def test_a_judge_of_other_labels_is_refused(other):
    for one in (critic("x", rubric=other), Ensemble([critic("x", rubric=other)]), lambda case: "A"):
        with pytest.raises(ConfigurationError, match="a judge of pairs has the labels A, B and tie, not"):
            PairwiseCritic(one)


@each_row("label", ["first", "a", "TIE", "1"])
def test_another_label_is_an_error_and_never_a_preference_for_a_place(label):
    verdict = PairwiseCritic(judge(lambda case: label, labels=None)).judge(CASE)
    assert (verdict.status, verdict.label) == (Status.ERROR, None)
    assert repr(label) in verdict.error
    answers = iter(("A", label))
    verdict = PairwiseCritic(judge(lambda case: next(answers), labels=None)).judge(CASE)
    assert verdict.status is Status.ERROR
    assert PairwiseCritic(judge(lambda case: True, labels=None)).judge(CASE).status is Status.ERROR


def test_any_judge_with_these_labels_will_do():
    longer = judge(
        lambda case: "A" if len(case.candidates[0]) > len(case.candidates[1]) else "B", labels=["A", "B", "tie"]
    )
    verdict = PairwiseCritic(Ensemble([longer] * 3, name="length")).judge(CASE)
    assert (verdict.label, verdict.critic) == ("B", "length")
    assert len(verdict.judgments[0].judgments) == 3


@pytest.mark.parametrize("options", [{}, {"tie": "first"}, {"priority": ["A", "B"]}])
def test_a_jury_whose_vote_is_tied_prefers_neither(options):
    """Trap 13: a rule for ties that names the first juror must not turn into a preference."""
    verdict = PairwiseCritic(Ensemble([FIRST, SECOND], **options)).judge(CASE)
    assert verdict.label == "tie"
    assert {one.label for one in verdict.judgments} <= {"tie", None}


def test_comparisons_vote_in_a_jury_and_a_broken_one_is_a_missing_vote():
    jury = Ensemble(
        [PairwiseCritic(FIRST), PairwiseCritic(prefers("first answer"), name="again"), PairwiseCritic(SECOND)]
    )
    assert (jury.judge(CASE).label, jury.size) == ("A", 6)

    def breaks(case):
        raise ConnectionError("no line")

    broken = PairwiseCritic(judge(breaks, labels=["A", "B", "tie"]))
    verdict = Ensemble([PairwiseCritic(says_always("tie")), PairwiseCritic(says_always("tie")), broken]).judge(CASE)
    assert verdict.label == "tie"
    refused = PairwiseCritic(judge(lambda case: abstain("no", metadata={"cause": "refused"}), labels=["A", "B", "tie"]))
    assert Ensemble([PairwiseCritic(FIRST), refused, refused]).judge(CASE).status is Status.ERROR


def test_it_counts_and_estimates_both_orders():
    asked = Critic(ScriptedModel([says("A")], usd_per_token=0.001), "pairwise")
    pairwise = PairwiseCritic(asked)
    assert (pairwise.size, pairwise.cost) == (2, 2 * asked.cost)
    assert pairwise.estimate(CASE).calls == 2
    assert pairwise.fingerprint == PairwiseCritic(asked).fingerprint != PairwiseCritic(FIRST).fingerprint


RECORDED = RecordedCritic("gpt-4o", labels={"valid": "pass", "invalid": "fail", "tie": "abstain", "odd": "label"})


VOTES = [
    ("valid", ("PASS", "valid", None)), ("invalid", ("FAIL", "invalid", None)), ("tie", ("ABSTAIN", None, None)),
    ("odd", ("LABEL", "odd", None)), (True, ("PASS", None, None)), (False, ("FAIL", None, None)),
    (0.8, ("PASS", None, 0.8)), (0.2, ("FAIL", None, 0.2)), ("PASS", ("PASS", None, None)),
    ({"label": "valid", "score": 0.9}, ("PASS", "valid", 0.9)), ({"score": 0.3}, ("FAIL", None, 0.3)),
    ({"label": True}, ("PASS", None, None)), ({"label": "FAIL"}, ("FAIL", None, None)),
    ({"label": "tie", "reasoning": "same"}, ("ABSTAIN", None, None)),
    ({"status": "FAIL", "label": "invalid", "score": 0.1}, ("FAIL", "invalid", 0.1)),
    ({"status": "ABSTAIN", "reasoning": "r"}, ("ABSTAIN", None, None)),
    (None, ("ABSTAIN", None, None)), ("unknown", ("ERROR", None, None)), ({"label": "unknown"}, ("ERROR", None, None)),
    ({}, ("ERROR", None, None)), ({"label": "valid", "score": 7}, ("ERROR", None, None)), ([], ("ERROR", None, None)),
    ({"status": "GOOD"}, ("ERROR", None, None)), (float("nan"), ("ERROR", None, None)), (2, ("ERROR", None, None)),
]  # fmt: skip


def test_a_recorded_vote_is_repeated():
    for vote, outcome in VOTES:
        judgment = RECORDED.judge(answer="a", metadata={"votes": {"gpt-4o": vote}})
        assert (judgment.status, judgment.label, judgment.score) == outcome
        assert judgment.usage.calls == 0


def test_what_is_not_recorded_abstains_and_says_so():
    for metadata in (
        {},
        {"votes": {}},
        {"votes": {"other": "valid"}},
        {"votes": None},
        {"votes": "valid"},
        {"votes": []},
    ):
        judgment = RECORDED.judge(answer="a", metadata=metadata)
        assert (judgment.status, judgment.metadata["cause"]) == (Status.ABSTAIN, "not_recorded")
        assert judgment.reasoning.startswith("not recorded")


def test_details_of_a_vote_are_kept_and_labels_are_neutral_by_default():
    vote = {"label": "B", "confidence": 0.7, "reasoning": "shorter", "model": "gpt-4o-2024", "ignored": 1}
    judgment = RecordedCritic("x").judge(answer="a", metadata={"votes": {"x": vote}})
    assert (judgment.status, judgment.label, judgment.confidence) == ("LABEL", "B", 0.7)
    assert (judgment.reasoning, judgment.model) == ("shorter", "gpt-4o-2024")
    assert RecordedCritic("x").judge(answer="a", metadata={"votes": {"x": {"label": "PASS"}}}).status is Status.PASS
    assert (
        RecordedCritic("x", labels={"1": "pass", "2": "fail"}).judge(metadata={"votes": {"x": 2}}).status is Status.FAIL
    )
    with pytest.raises(ConfigurationError):
        RecordedCritic("x", labels={"valid": "good"})
    renamed = RecordedCritic("x").named("y").judge(answer="a", metadata={"votes": {"x": "B"}})
    assert (renamed.label, renamed.critic) == ("B", "y")


def test_recorded_votes_are_jurors():
    jury = Ensemble([RecordedCritic(name, labels=["A", "B"]) for name in ("one", "two", "three")], min_votes=2)
    votes = {"one": "A", "two": {"label": "B"}, "three": "A"}
    assert jury.judge(question="q", metadata={"votes": votes}).label == "A"
    assert jury.judge(question="q", metadata={"votes": {"one": "A"}}).status is Status.ABSTAIN
