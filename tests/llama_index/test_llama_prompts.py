"""The rubrics of the critics inside an evaluator, as prompts of LlamaIndex."""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from llama_index.core import PromptTemplate, Settings
from llama_index.core.prompts import ChatPromptTemplate
from llama_index.core.query_engine import RetryQueryEngine
from support.canned import an_index, said, three_words

from jury_adapters import CascadedJury, ConfigurationError, Critic, Ensemble, Rubric, Tier, Usage
from jury_adapters.decision import DecisionCritic
from jury_adapters.llama_index import (
    JuryCorrectnessEvaluator,
    JuryEvaluator,
    JuryFaithfulnessEvaluator,
    JuryPairwiseEvaluator,
)
from jury_adapters.models.base import Answer, Question
from jury_adapters.testing import ScriptedModel, a_case
from jury_adapters.voting import all_of

ANN = "Ann left in 2018."
ITEM: dict[str, Any] = {"query": "When did Ann leave?", "response": ANN, "contexts": [ANN]}


@pytest.fixture(autouse=True)
def no_settings() -> Iterator[None]:
    Settings._llm = None
    yield
    Settings._llm = None


def test_prompts_are_shown_and_changed_for_the_whole_panel() -> None:
    models = [ScriptedModel([said("YES")], model=name) for name in ("one", "two")]
    evaluator = JuryFaithfulnessEvaluator(llms=models)
    prompts = evaluator.get_prompts()
    assert set(prompts) == {"faithfulness_system_prompt", "faithfulness_criteria", "faithfulness_user_prompt"}
    assert prompts["faithfulness_user_prompt"].template_vars == ["question", "contexts", "answer"]
    before = evaluator.jury
    evaluator.update_prompts({
        "faithfulness_system_prompt": PromptTemplate("You are {who}.", who="strict"),
        "faithfulness_criteria": "Is every number right?",
        "faithfulness_user_prompt": PromptTemplate("{ctx}\n{answer}", template_var_mappings={"contexts": "ctx"}),
    })  # fmt: skip
    assert evaluator.evaluate(**ITEM).passing is True
    for model in models:
        prompt = model.calls[-1].prompt
        assert "You are strict." in prompt.system
        assert "Is every number right?" in prompt.system
        assert "When did Ann leave?" not in prompt.turns[-1].text
    before.judge(a_case())
    assert "You are strict." not in models[0].calls[-1].prompt.system
    assert evaluator.get_prompts()["faithfulness_criteria"].get_template() == "Is every number right?"


@pytest.mark.parametrize(
    ("prompts", "says"),
    [
        ({"faithfulness_user_prompt": "{query_str} {context_str}"}, "query_str"),
        ({"faithfulness_system_prompt": "{answer}"}, "answer"),
        ({"faithfulness_user_prompt": "nothing of the case"}, "shows nothing of the case"),
        ({"eval_template": "x"}, "unknown prompt 'eval_template'"),
        ({"a:b": "x"}, "unknown prompt"),
        ({"faithfulness_user_prompt": 5}, "give a text or a PromptTemplate"),
        ({"faithfulness_user_prompt": ChatPromptTemplate([])}, "give a text or a PromptTemplate"),
    ],
)
def test_wrong_prompts_change_nothing(prompts: dict[str, Any], says: str) -> None:
    evaluator = JuryFaithfulnessEvaluator(llm=ScriptedModel([said("YES")]))
    before = evaluator.jury
    with pytest.raises(ConfigurationError, match=says):
        evaluator.update_prompts(prompts)
    assert evaluator.jury is before


def test_prompts_reach_critics_anywhere_in_a_jury() -> None:
    model = ScriptedModel(lambda prompt: said("safe" if "safe" in prompt.system.lower() else "YES"))
    mine = Rubric(name="my rubric:1", criteria="OLD CRITERIA")
    critic = Critic(model, mine, name="deep", samples=2).with_timeout(30)
    twin = Critic(model, mine.model_copy(update={"criteria": "OTHER"}), name="twin")
    early = Ensemble([critic, lambda case: True], schedule="early_stop")
    jury = CascadedJury([
        Tier("screen", early, "reject_on_any_fail"),
        Tier("both", all_of(critic, twin), "reject_on_any_fail"),
        Tier("last", Critic(model, "safety", name="safe"), "final"),
    ])  # fmt: skip
    evaluator = JuryEvaluator(jury)
    assert {"my_rubric_1_criteria", "my_rubric_1-2_criteria", "safety_criteria"} <= set(evaluator.get_prompts())
    evaluator.update_prompts({"my_rubric_1_criteria": "NEW CRITERIA"})
    assert evaluator.evaluate(**ITEM).passing is True
    asked = "\n".join(call.prompt.system for call in model.calls)
    assert "OLD CRITERIA" not in asked
    assert "NEW CRITERIA" in asked
    assert "OTHER" in asked
    assert isinstance(evaluator.jury, CascadedJury)
    assert evaluator.jury.tiers[2].judge is jury.tiers[2].judge


def test_another_user_prompt_asks_no_more_of_an_item_than_the_old_one() -> None:
    evaluator = JuryFaithfulnessEvaluator(llm=ScriptedModel([said("YES")]))
    evaluator.update_prompts({"faithfulness_user_prompt": "{question} {contexts} {answer} {reference}"})
    assert evaluator.evaluate(**{**ITEM, "query": None}, reference="x").passing is True
    assert evaluator.evaluate(**{**ITEM, "contexts": []}, reference="x").invalid_result is True
    assert "no reference" in (evaluator.evaluate(**ITEM).invalid_reason or "")


def test_prompts_of_both_ways_to_measure_correctness() -> None:
    model = ScriptedModel([said("YES")])
    evaluator = JuryCorrectnessEvaluator(llm=model, graded=False)
    evaluator.update_prompts({"correctness_criteria": "WITH", "correctness_without_reference_criteria": "WITHOUT"})
    evaluator.evaluate(**ITEM)
    evaluator.evaluate(**ITEM, reference="x")
    assert ["WITHOUT" in call.prompt.system for call in model.calls] == [True, False]
    assert "WITH" in model.calls[1].prompt.system


@pytest.mark.parametrize("swap", [True, False])
def test_prompts_of_a_comparison(swap: bool) -> None:
    model = ScriptedModel([said("A")])
    evaluator = JuryPairwiseEvaluator(llm=model, swap=swap)
    evaluator.update_prompts({"pairwise_criteria": "Which is KINDER?"})
    evaluator.evaluate(query="q", response="a", second_response="b")
    assert len(model.calls) == 1 + swap
    assert all("Which is KINDER?" in call.prompt.system for call in model.calls)


def test_prompts_through_a_retry_engine() -> None:
    Settings.llm = three_words()
    evaluator = JuryFaithfulnessEvaluator(llm=ScriptedModel([said("YES")]))
    engine = RetryQueryEngine(an_index().as_query_engine(), evaluator)
    assert "evaluator:faithfulness_criteria" in engine.get_prompts()
    evaluator.update_prompts({"faithfulness_criteria": PromptTemplate("NEW")})
    assert engine.get_prompts()["evaluator:faithfulness_criteria"].get_template() == "NEW"


def test_a_jury_that_cannot_be_copied_says_so() -> None:
    import threading

    class Locked(Ensemble):
        lock = None

    jury = Locked([Critic(ScriptedModel([said("YES")]), "safety", name="c")])
    jury.lock = threading.Lock()
    with pytest.raises(ConfigurationError, match="cannot be built anew"):
        JuryEvaluator(jury).update_prompts({"safety_criteria": "x"})


class Decider:
    """A decision model that always answers with the first choice."""

    name, model = "test:decider", "decider"

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def decide(self, text: str, questions: Sequence[Question]) -> tuple[list[Answer], Usage]:
        self.asked += [question.text for question in questions]
        return [Answer({"YES": 0.9, "NO": 0.05, "UNSURE": 0.05}) for _ in questions], Usage(10, 1, calls=1)


def test_prompts_of_a_critic_that_decides() -> None:
    model = Decider()
    evaluator = JuryEvaluator(DecisionCritic(model, ["faithfulness", "answer_relevance"], name="guard"))
    assert {name for name in evaluator.get_prompts() if name.endswith("criteria")} == {
        "faithfulness_criteria", "answer_relevance_criteria",
    }  # fmt: skip
    evaluator.update_prompts({"faithfulness_criteria": "Is every number right?"})
    assert evaluator.evaluate(**ITEM).passing is True
    assert "Is every number right?" in model.asked[0]
    assert len(model.asked) == 2


@pytest.mark.parametrize(
    ("text", "mappings", "values", "shown"),
    [
        ("Q {answer} A {question}", {"question": "answer", "answer": "question"}, {}, "Q {question} A {answer}"),
        ("{ctx} {answer}", {"contexts": "ctx"}, {"contexts": "No page."}, "No page. {answer}"),
        ("{note} {answer}", {}, {"note": "Look."}, "Look. {answer}"),
    ],
)
def test_names_and_values_of_a_template_are_put_in_at_one_go(
    text: str, mappings: dict[str, str], values: dict[str, str], shown: str
) -> None:
    evaluator = JuryFaithfulnessEvaluator(llm=ScriptedModel([said("YES")]))
    template = PromptTemplate(text, template_var_mappings=mappings, **values)
    evaluator.update_prompts({"faithfulness_user_prompt": template})
    assert evaluator.get_prompts()["faithfulness_user_prompt"].get_template() == shown


def test_a_critic_class_of_the_users_own_keeps_what_it_is() -> None:
    class Mine(Critic):
        def __init__(self, model: ScriptedModel, team: str) -> None:
            super().__init__(model, "faithfulness", name="mine")
            self.team = team

    evaluator = JuryEvaluator(Mine(ScriptedModel([said("YES")]), team="search"))
    evaluator.update_prompts({"faithfulness_criteria": "NEW"})
    assert isinstance(evaluator.jury, Mine)
    assert (evaluator.jury.team, evaluator.jury.rubric.criteria) == ("search", "NEW")
