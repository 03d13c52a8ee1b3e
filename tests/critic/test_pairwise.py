"""Pairwise judgments in both orders, over real HTTP."""

import json

import pytest
from support.vendor import Act, error

from jury_adapters import (
    CascadedJury,
    ConfigurationError,
    Critic,
    Ensemble,
    Judge,
    Labels,
    PairwiseCritic,
    Rubric,
    Status,
    Tier,
    panel,
)
from jury_adapters.core.judgment import Judgment
from jury_adapters.decision import DecisionCritic
from jury_adapters.judges import llm
from jury_adapters.models.limits import Limits
from jury_adapters.testing import ScriptedModel, a_case, no_waiting

CANDIDATES = ("first answer", "second answer")


def pairwise(server, **options):
    swap = options.pop("swap", True)
    return llm.pairwise("judge-model", base_url=server.openai, limits=Limits(attempts=1), swap=swap, **options)


def case(**fields):
    return a_case(candidates=CANDIDATES, **fields)


def reply(answer, confidence=0.9):
    return json.dumps({"reasoning": f"{answer} it is", "answer": answer, "confidence": confidence})


def in_order(first, second):
    """A plan: what to say when the first candidate stands first, and when the second does."""

    def plan(ask):
        text = ask.text
        return Act(text=first if text.index("first answer") < text.index("second answer") else second)

    return plan


@pytest.mark.parametrize(("first", "second", "label"), [("A", "B", "A"), ("B", "A", "B"), ("tie", "tie", "tie")])
def test_what_both_orders_say_stands(server, first, second, label):
    server.plan = in_order(reply(first, 0.9), reply(second, 0.7))
    verdict = pairwise(server).judge(case())
    assert len(server.asks) == 2
    assert (verdict.status, verdict.label, verdict.score) == (None, label, None)
    assert verdict.confidence == pytest.approx(0.8)
    assert verdict.metadata["position_consistent"] is True
    assert [judgment.label for judgment in verdict.judgments] == [label, label]
    assert list(verdict.by_name) == ["A first", "B first"]
    assert verdict.by_name["B first"].reasoning == f"{second} it is"
    assert verdict.by_name["B first"].metadata["shown_order"] == ("B", "A")
    assert verdict.agreement == 1.0
    assert verdict.usage.calls == 2
    assert verdict.critic == "pairwise"


@pytest.mark.parametrize(("first", "second"), [("A", "A"), ("B", "B"), ("A", "tie"), ("tie", "B")])
def test_a_preference_that_turns_with_the_order_is_none(server, first, second):
    server.plan = in_order(reply(first), reply(second))
    verdict = pairwise(server).judge(case())
    assert (verdict.status, verdict.label, verdict.confidence) == (None, "tie", None)
    assert verdict.metadata["position_consistent"] is False
    assert "the order decided" in verdict.reasoning
    assert verdict.disagreement


def test_one_order_is_enough_when_asked_for(server):
    server.plan = in_order(reply("A"), reply("A"))
    verdict = pairwise(server, swap=False).judge(case())
    assert len(server.asks) == 1
    assert (verdict.label, verdict.confidence, verdict.reasoning) == ("A", 0.9, "A it is")
    assert verdict.metadata["position_consistent"] is None


def test_the_requests_differ_in_nothing_but_the_order(server):
    pairwise(server).judge(case())
    one, two = (ask.body["messages"] for ask in server.asks)
    assert one[0] == two[0]
    assert sorted(one[1]["content"].split()) != one[1]["content"].split()
    texts = [messages[1]["content"] for messages in (one, two)]
    assert {text.index("first answer") < text.index("second answer") for text in texts} == {True, False}


@pytest.mark.parametrize("candidates", [(), ("only one",), ("a", "b", "c")])
def test_without_two_candidates_nobody_is_asked(server, candidates):
    verdict = pairwise(server).judge(question="q", candidates=candidates)
    assert verdict.status is Status.ABSTAIN
    assert "two candidates" in verdict.reasoning
    assert server.asks == []


def test_without_a_question_nobody_is_asked(server):
    verdict = pairwise(server).judge(candidates=CANDIDATES)
    assert (verdict.status, verdict.label) == (Status.ABSTAIN, None)
    assert "no question" in verdict.reasoning
    assert server.asks == []


def test_one_order_without_an_opinion_is_no_opinion(server):
    server.plan = in_order(reply("A"), "who knows")
    verdict = pairwise(server).judge(case())
    assert (verdict.status, verdict.label, verdict.error) == (Status.ABSTAIN, None, "parse_fail")
    assert verdict.by_name["A first"].label == "A"
    assert "B first" in verdict.reasoning


def test_one_order_that_breaks_breaks_the_verdict(server):
    broken = error(400, "no")
    first = in_order("first", "second")
    server.plan = lambda ask: broken if first(ask).text == "second" else Act(text=reply("A"))
    with no_waiting():
        verdict = pairwise(server).judge(case())
    assert verdict.status is Status.ERROR
    assert verdict.error.startswith("refused_request")
    assert verdict.by_name["A first"].label == "A"


def test_a_store_keeps_both_orders_apart(server, tmp_path):
    server.plan = in_order(reply("A"), reply("B"))
    for _ in range(2):
        assert pairwise(server, store=tmp_path / "runs.db").judge(case()).label == "A"
    assert len(server.asks) == 2


def test_a_decision_critic_is_swapped_too_with_its_probabilities(server):
    asked = PairwiseCritic(
        DecisionCritic("openai:decider", "pairwise", name="better", api_key="k", base_url=server.openai)
    )
    verdict = asked.judge(question="q", candidates=["x TRUTH=B", "y"])  # the model says B whatever the order
    assert verdict.label == "tie"
    first, second = verdict.judgments
    assert first.probabilities["B"] == second.probabilities["A"] == pytest.approx(0.9)


def test_any_judge_that_names_a_letter_will_do():
    def longer(case):
        a, b = map(len, case.candidates)
        return Judgment(None, label="A" if a > b else "B" if b > a else "tie")

    judge = Ensemble([longer, longer, longer], on="label", name="length")
    verdict = PairwiseCritic(judge).judge(question="q", candidates=["short", "much longer"])
    assert (verdict.label, verdict.metadata["position_consistent"], verdict.critic) == ("B", True, "length")
    assert verdict.judgments[0].by_name.keys() == {"longer", "longer-2", "longer-3"}


def test_a_judge_of_another_kind_is_told_so():
    verdict = PairwiseCritic(Ensemble([lambda case: True])).judge(question="q", candidates=["a", "b"])
    assert (verdict.status, verdict.error) == (Status.ERROR, "no_label")
    assert verdict.metadata["position_consistent"] is None  # still one juror, not two


@pytest.mark.parametrize("label", ["first", "a", "1", "B wins", "TIE"])
@pytest.mark.parametrize("swap", [True, False])
def test_other_labels_are_an_error_and_never_a_preference_for_a_place(label, swap):
    def first_place(case):  # the same place in both orders
        return Judgment(None, label=label)

    verdict = PairwiseCritic(Judge.from_function(first_place), swap=swap).judge(question="q", candidates=["one", "two"])
    assert (verdict.status, verdict.label, verdict.error) == (Status.ERROR, None, "no_label")
    assert f"answered {label!r}" in verdict.reasoning


def test_a_label_in_one_order_alone_is_not_taken_for_a_position_bias():
    answers = iter(("A", "neither"))
    judge = Judge.from_function(lambda case: Judgment(None, label=next(answers)), name="odd")
    verdict = PairwiseCritic(judge).judge(question="q", candidates=["one", "two"])
    assert (verdict.status, verdict.error) == (Status.ERROR, "no_label")


def faithful(name):
    return Critic(ScriptedModel(["YES"]), "faithfulness", name=name)


@pytest.mark.parametrize(
    "jury",
    [
        Ensemble([faithful("one"), faithful("two")]),
        Ensemble([Ensemble([faithful("one"), faithful("two")]), faithful("three")]),
        faithful("one").with_fallbacks([faithful("two")]),
        CascadedJury([Tier("first", faithful("one"))]),
        panel("faithfulness", ScriptedModel(["YES"]), ScriptedModel(["YES"])),
    ],
    ids=["ensemble", "inside another", "fallbacks", "cascade", "panel"],
)
def test_a_jury_of_critics_with_other_labels_is_refused(jury):
    with pytest.raises(ConfigurationError, match=r"labels A, B and tie, not .*YES.*'faithfulness'.*rubric='pairwise'"):
        PairwiseCritic(jury)


def test_a_jury_in_which_one_judge_may_prefer_is_taken():
    better = Critic(ScriptedModel(["A"]), "pairwise", name="better")
    screened = CascadedJury([Tier("safe", faithful("safe"), "reject_on_any_fail"), Tier("better", better)])
    assert PairwiseCritic(screened).members
    assert PairwiseCritic(Ensemble([faithful("one"), lambda case: "A"])).members


def test_a_rubric_of_ones_own_with_the_three_labels_will_do():
    own = Rubric(name="own", user_prompt="{candidate_a} {candidate_b}", answers=Labels.of(neutral=["A", "B", "tie"]))
    assert PairwiseCritic(Critic(ScriptedModel(["A"]), own, name="x"), name="mine").name == "mine"


def test_it_counts_and_estimates_both_orders():
    asked = llm.pairwise(ScriptedModel([reply("A")]))
    once = llm.pairwise(ScriptedModel([reply("A")]), swap=False)
    assert (asked.size, once.size) == (2, 1)
    assert asked.estimate(case()).calls == 2
    assert asked.estimate(case()).input_tokens == 2 * once.estimate(case()).input_tokens
    assert not asked.inline


def test_equal_candidates_are_a_tie_and_nothing_is_asked():
    asked = []
    critic = PairwiseCritic(Judge.from_function(lambda case: asked.append(case) or Judgment(None, label="A"), name="a"))
    verdict = critic.judge(question="When?", candidates=["Same.", " Same.\n"])
    assert (verdict.label, verdict.status, verdict.error, asked) == ("tie", None, None, [])
    assert not verdict.needs_review
    assert "the same text" in verdict.reasoning
    assert critic.judge(question="When?", candidates=["Same.", "Other."]).label == "tie"
    assert len(asked) == 2


def prefers(candidate, name):
    def judge(case):
        return Judgment(None, label="A" if case.candidates[0] == candidate else "B")

    return Judge.from_function(judge, name=name)


FIRST, SECOND = (prefers(candidate, f"for the {candidate}") for candidate in CANDIDATES)


@pytest.mark.parametrize("jurors", [(FIRST, SECOND), (SECOND, FIRST)])
@pytest.mark.parametrize("options", [{}, {"schedule": "early_stop"}, {"voting": "weighted"}])
def test_pairwise_critics_whose_vote_is_tied_prefer_neither(jurors, options):
    jury = Ensemble([PairwiseCritic(juror) for juror in jurors], **options)
    for asked in (jury, Ensemble([jury, PairwiseCritic(jurors[1])])):
        verdict = asked.judge(case())
        assert (verdict.status, verdict.label, verdict.tally.tied) == (None, "tie", True)
        assert verdict.reasoning.endswith("neither is better")


@pytest.mark.parametrize(
    ("options", "label"), [({"tie": "first"}, "A"), ({"priority": ["B"]}, "B"), ({"tie": "abstain"}, None)]
)
def test_a_rule_for_ties_that_was_given_decides_between_pairwise_critics(options, label):
    jury = Ensemble([PairwiseCritic(FIRST), PairwiseCritic(SECOND)], **options)
    assert jury.judge(case()).label == label


@pytest.mark.parametrize("swap", [True, False])
def test_a_jury_whose_vote_is_tied_prefers_neither(swap):
    verdict = PairwiseCritic(Ensemble([FIRST, SECOND], name="two"), swap=swap).judge(case())
    assert (verdict.status, verdict.label) == (None, "tie")
    assert {judgment.label for judgment in verdict.judgments} == {"tie"}
    assert verdict.metadata["position_consistent"] is (True if swap else None)


def says(label):
    return Judge.from_function(lambda case: Judgment(None, label=label), name=label)


def breaks(case):
    raise ConnectionError("no line")


def test_a_comparison_that_breaks_is_one_juror_and_the_others_decide():
    broken = PairwiseCritic(Judge.from_function(breaks))
    other = broken.named("other").with_fallbacks([PairwiseCritic(Judge.from_function(breaks, name="its fallback"))])
    verdict = Ensemble([PairwiseCritic(says("tie")), broken, other]).judge(case())
    assert (verdict.status, verdict.label, verdict.tally.errors) == (None, "tie", 2)


def test_a_comparison_by_a_whole_jury_that_breaks_is_no_dissent():
    jury = PairwiseCritic(Ensemble([breaks, breaks], errors="propagate"))
    assert Ensemble([PairwiseCritic(Ensemble([says("tie")])), jury]).judge(case()).status is Status.ERROR
