"""The ready-made judges that ask a model, over real HTTP."""

import json

import pytest
from support.vendor import Act, error

from jury_adapters import Case, ConfigurationError, Status, rag_jury
from jury_adapters.judges import llm
from jury_adapters.models.limits import Limits
from jury_adapters.testing import ScriptedModel, a_case, no_waiting

SINGLE = {
    "faithfulness": (llm.faithfulness, {"answer", "contexts"}),
    "context_relevance": (llm.context_relevance, {"question", "contexts"}),
    "answer_relevance": (llm.answer_relevance, {"question", "answer"}),
    "hallucination": (llm.hallucination, {"answer", "contexts"}),
    "safety": (llm.safety, {"answer"}),
    "conciseness": (llm.conciseness, {"answer"}),
    "trajectory": (llm.trajectory, {"trajectory"}),
}
OPTIONS = {"limits": Limits(attempts=1)}


def criteria(model, **options):
    return llm.custom(model, "The answer names its source.", **options)


def by_reference(model, **options):
    return llm.correctness(model, reference=True, **options)


def by_knowledge(model, **options):
    return llm.correctness(model, reference=False, **options)


MADE = {
    **SINGLE,
    "custom": (criteria, {"answer"}),
    "correctness": (by_reference, {"answer", "reference"}),
    "correctness without reference": (by_knowledge, {"question", "answer"}),
    "correctness by case": (llm.correctness, {"question", "answer"}),
    "pairwise": (llm.pairwise, {"question", "candidates"}),
}
FULL = {
    "question": "q?", "answer": "an answer", "contexts": ("c",), "reference": "r", "candidates": ("a", "b"),
    "trajectory": ({"tool": "search", "output": "found"},),
}  # fmt: skip


def made(make, server, **options):
    return make("judge-model", base_url=server.openai, **OPTIONS, **options)


@pytest.mark.parametrize(("make", "needs"), MADE.values(), ids=MADE)
def test_each_abstains_unasked_when_what_it_needs_is_missing(server, make, needs):
    judge = made(make, server)
    for missing in needs:
        case = Case(**{name: value for name, value in FULL.items() if name != missing})
        if missing == "question":
            case = case.model_copy(update={"reference": None})
        judgment = judge.judge(case)
        assert judgment.status is Status.ABSTAIN, missing
        assert judgment.usage.calls == 0
        assert judge.estimate(case).calls == 0
    assert server.asks == []


@pytest.mark.parametrize(("make", "needs"), MADE.values(), ids=MADE)
def test_each_asks_when_what_it_needs_is_there(server, make, needs):
    judgment = made(make, server).judge(Case(**{name: FULL[name] for name in needs} | {"question": "q?"}))
    assert judgment.valid
    assert judgment.usage.calls == len(server.asks) == (2 if make is llm.pairwise else 1)


@pytest.mark.parametrize(("name", "make"), [(name, make) for name, (make, _) in SINGLE.items()])
def test_the_names_and_options(server, name, make):
    assert made(make, server).name == name
    critic = made(make, server, name="mine", samples=3, threshold=0.7, max_tokens=50)
    assert (critic.name, critic.samples, critic.threshold, critic.max_tokens) == ("mine", 3, 0.7, 50)
    assert critic.rubric.name == name


def test_hallucination_judges_claim_by_claim(server):
    claims = [
        {"claim": "Paris is the capital", "evidence": "Paris is the capital", "verdict": "supported"},
        {"claim": "it has a beach", "evidence": "", "verdict": "unsupported"},
    ]
    reply = {"reasoning": "no beach", "claims": claims, "answer": "hallucinated", "confidence": 0.9}
    server.plan = lambda ask: Act(text=json.dumps(reply))
    judgment = made(llm.hallucination, server).judge(a_case())
    assert (judgment.status, judgment.label) == (Status.FAIL, "hallucinated")
    assert [(finding.name, finding.passed, finding.evidence) for finding in judgment.findings] == [
        ("Paris is the capital", True, "Paris is the capital"),
        ("it has a beach", False, ""),
    ]


def test_a_sentence_is_enough(server):
    judgment = made(criteria, server).judge(question="q?", answer="TRUTH=NO")
    assert judgment.status is Status.FAIL
    assert "The answer names its source." in server.asks[0].body["messages"][0]["content"]
    assert made(criteria, server, name="sourced").name == "sourced"


class TestCorrectness:
    def test_the_case_decides_which_rubric(self, server):
        judge = made(llm.correctness, server)
        by_reference = judge.judge(question="q?", answer="a", reference="the reference text")
        by_knowledge = judge.judge(question="q?", answer="a")
        blank = judge.judge(question="q?", answer="b", reference="  ")
        assert by_reference.metadata["rubric"] == "correctness"
        assert by_knowledge.metadata["rubric"] == blank.metadata["rubric"] == "correctness_without_reference"
        assert by_reference.critic == by_knowledge.critic == "correctness"
        assert ["the reference text" in ask.text for ask in server.asks] == [True, False, False]

    def test_without_the_reference_is_not_shown(self, server):
        made(by_knowledge, server).judge(question="q?", answer="a", reference="the reference text")
        assert "the reference text" not in server.asks[0].text

    def test_a_case_with_a_reference_is_estimated_as_one_call(self):
        judge, known, unknown = llm.correctness(ScriptedModel(["YES"])), a_case(reference="Paris"), a_case()
        assert [row.name for row in judge.estimate_cost([known]).rows] == ["correctness"]
        assert [judge.estimate_cost(cases).calls for cases in ([known], [unknown], [known, unknown])] == [1, 1, 2]

    def test_it_counts_as_one_judge(self):
        judge = llm.correctness(ScriptedModel(["YES"]), samples=2, name="right")
        assert (judge.name, judge.size, len(judge.members)) == ("right", 2, 2)
        assert judge.estimate(Case(question="q", answer="a")).calls == 2
        assert judge.members[0].model is judge.members[1].model
        assert judge.fingerprint == llm.correctness(ScriptedModel(["YES"]), samples=2).fingerprint


class TestRagJury:
    def jury(self, server, *models, **options):
        return rag_jury(*(models or ("one", "two")), base_url=server.openai, **OPTIONS, **options)

    def test_the_tiers(self, server):
        jury = self.jury(server)
        assert [(tier.name, str(tier.policy)) for tier in jury.tiers] == [
            ("answered", "reject_on_any_fail"),
            ("flags", "reject_on_any_fail"),
            ("relevance", "reject_on_any_fail"),
            ("criteria", "final"),
        ]
        criteria = jury.tiers[-1].judge
        assert criteria.names == ("faithfulness", "hallucination", "answer_relevance")
        assert criteria.members[0].names == ("faithfulness one", "faithfulness two")
        assert {panel.strategy.name for panel in criteria.members} == {"unanimous"}
        assert [tier.name for tier in self.jury(server, screen=False, verbatim=True).tiers] == [
            "answered", "verbatim", "relevance", "criteria",
        ]  # fmt: skip

    def test_a_good_answer_is_passed_by_all(self, server):
        verdict = self.jury(server).judge(a_case(answer="The capital of France is Paris."))
        assert (verdict.status, verdict.stopped_at, verdict.critic) == (Status.PASS, "criteria", "rag_jury")
        assert verdict.usage.calls == len(server.asks) == 7
        assert [ask.body["model"] for ask in server.asks].count("one") == 4

    @pytest.mark.parametrize(
        ("fields", "tier"),
        [({"answer": " "}, "answered"), ({"answer": None}, "answered"), ({"answer": "Rome, since 1871."}, "flags")],
    )
    def test_what_needs_no_model_asks_none(self, server, fields, tier):
        verdict = self.jury(server).judge(a_case(**fields))
        assert (verdict.status, verdict.stopped_at, server.asks) == (Status.FAIL, tier, [])

    def test_a_verbatim_answer_is_accepted_only_when_asked_for(self, server):
        verbatim = a_case(contexts=("Paris is the capital of France, on the Seine.",))
        assert self.jury(server, verbatim=True).judge(verbatim).stopped_at == "verbatim"
        assert server.asks == []
        assert self.jury(server).judge(verbatim).stopped_at == "criteria"

    def test_irrelevant_contexts_are_rejected_after_one_call(self, server):
        verdict = self.jury(server).judge(
            a_case(question="What is TRUTH=NO?", contexts=["Paris is old."], answer="Old.")
        )
        assert (verdict.status, verdict.stopped_at, len(server.asks)) == (Status.FAIL, "relevance", 1)

    def test_one_dissenter_fails_the_answer(self, server):
        reply = {"reasoning": "r", "claims": [], "answer": "hallucinated", "confidence": 0.9}
        dissents = Act(text=json.dumps(reply))
        server.plan = lambda ask: dissents if ask.body["model"] == "two" and "claims" in str(ask.schema) else Act()
        verdict = self.jury(server).judge(a_case())
        assert (verdict.status, verdict.stopped_at, verdict.tally.passed) == (Status.FAIL, "criteria", 2)
        assert verdict.by_name["hallucination"].by_name["hallucination two"].label == "hallucinated"
        assert self.jury(server, "one", "two", "three", voting="majority").judge(a_case()).passed

    def test_without_contexts_it_abstains_and_only_relevance_is_asked(self, server):
        verdict = self.jury(server).judge(question="q?", answer="an answer")
        assert (verdict.status, verdict.stopped_at, len(server.asks)) == (Status.ABSTAIN, "criteria", 2)
        assert verdict.by_name["answer_relevance"].passed

    def test_a_broken_relevance_tier_does_not_stop_the_panel(self, server):
        server.plan = lambda ask: error(400) if "Answer to judge" not in ask.text else Act()
        with no_waiting():
            verdict = self.jury(server).judge(a_case())
        assert verdict.failed_tiers == ("relevance",)
        assert verdict.passed

    @pytest.mark.parametrize(
        ("errors", "status"),
        [(None, "FAIL"), ("fail", "FAIL"), ("ignore", "PASS"), ("abstain", "PASS"), ("propagate", "ERROR")],
    )
    def test_errors_says_what_a_model_that_breaks_counts_as_in_the_vote_on_a_criterion(self, server, errors, status):
        server.plan = lambda ask: error(400) if ask.body["model"] == "two" else Act()
        with no_waiting():
            verdict = self.jury(server, errors=errors).judge(a_case())
        assert (verdict.status, verdict.stopped_at) == (status, "criteria")
        assert {panel.status for panel in verdict.by_name.values()} == {status}

    @pytest.mark.parametrize(("errors", "status"), [(None, "ERROR"), ("ignore", "ABSTAIN"), ("fail", "FAIL")])
    def test_a_criterion_without_any_vote_follows_the_rule_of_the_scorecard(self, server, errors, status):
        server.plan = lambda ask: error(400) if "claims" in str(ask.schema) else Act()
        with no_waiting():
            verdict = self.jury(server, errors=errors).judge(a_case())
        assert (verdict.status, verdict.by_name["hallucination"].status) == (status, status)

    def test_an_unknown_way_to_count_errors_is_refused(self, server):
        with pytest.raises(ConfigurationError, match="errors"):
            self.jury(server, errors="shrug")

    def test_an_early_stopping_panel_stops_at_the_first_dissent(self, server):
        verdict = self.jury(server, schedule="early_stop", screen=False).judge(a_case(answer="TRUTH=NO"))
        assert verdict.status is Status.FAIL
        assert len(server.asks) < 7

    def test_objects_are_resolved_once(self):
        jury = rag_jury(ScriptedModel(["YES"]))
        panels = jury.tiers[-1].judge.members
        critics = [jury.tiers[-2].judge, *(critic for panel in panels for critic in panel.members)]
        assert len({id(critic.model) for critic in critics}) == 1

    def test_it_needs_a_model(self):
        with pytest.raises(ConfigurationError, match="rag_jury needs a model"):
            rag_jury()
