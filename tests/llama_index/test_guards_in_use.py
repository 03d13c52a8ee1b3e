"""A guard in use: a jury that is down, and refusals among the answers that a batch evaluates."""

import asyncio
import logging

import pytest
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.response.schema import PydanticResponse, Response
from llama_index.core.evaluation import BatchEvalRunner
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import CustomQueryEngine, RetrieverQueryEngine
from pydantic import BaseModel

from jury_adapters import (
    CascadedJury,
    ConfigurationError,
    Critic,
    Ensemble,
    PairwiseCritic,
    Report,
    Scorecard,
    Tier,
    judge,
)
from jury_adapters.checks import NotEmpty, RefusalCheck
from jury_adapters.llama_index import (
    JuryCorrectnessEvaluator,
    JuryEvaluator,
    JuryFaithfulnessEvaluator,
    JuryGuardQueryEngine,
    JuryPairwiseEvaluator,
)
from jury_adapters.testing import ScriptedModel


class City(BaseModel):
    name: str = "Paris"


class Engine(CustomQueryEngine):
    typed: bool = False

    def custom_query(self, query_str: str) -> object:
        return PydanticResponse(City()) if self.typed else Response("Paris.")


class NoNodes(BaseRetriever):
    def _retrieve(self, query_bundle):
        return []


def passes(case):
    return True


def down(case):
    raise ConnectionError("no line")


@pytest.mark.parametrize(
    ("jury", "outcomes"),
    [
        (Ensemble([passes, down]), {None: "blocked 2", "allow": "unjudged 1", "block": "blocked 1"}),
        (Ensemble([down, down]), {None: "unjudged 1", "allow": "unjudged 1", "block": "blocked 1"}),
        (lambda case: None, {None: "unjudged 1", "allow": "unjudged 1", "block": "blocked 1"}),
        (lambda case: False, {None: "blocked 2", "allow": "blocked 2", "block": "blocked 2"}),
    ],
    ids=["one down", "both down", "abstains", "a fault"],
)
def test_what_a_user_gets_from_a_guard_whose_jury_cannot_decide(jury, outcomes, caplog):
    caplog.set_level(logging.ERROR)
    for on_undecided, wanted in outcomes.items():
        record = JuryGuardQueryEngine(Engine(), jury, on_undecided=on_undecided).query("q").metadata["jury"]
        assert f"{record['outcome']} {record['attempts']}" == wanted, on_undecided


def test_a_blocked_typed_response_is_a_text():
    refused = JuryGuardQueryEngine(Engine(typed=True), lambda case: False, refusal="No.").query("q")
    assert (type(refused), refused.response) == (Response, "No.")
    passed = JuryGuardQueryEngine(Engine(typed=True), passes).query("q")
    assert isinstance(passed, PydanticResponse)


@pytest.mark.filterwarnings("ignore:asyncio_module:DeprecationWarning")
def test_a_batch_marks_refusals_of_a_guarded_engine():
    guarded = JuryGuardQueryEngine(Engine(), lambda case: "bad" not in case.question, refusal="No.")
    results = BatchEvalRunner({"any": JuryEvaluator(passes)}).evaluate_queries(guarded, ["good?", "bad?"])
    assert [(one.response, one.metadata["guard"]) for one in results["any"]] == [
        ("Paris.", "passed"),
        ("No.", "blocked"),
    ]
    answers = [one for one in results["any"] if one.metadata["guard"] != "blocked"]
    assert [entry.case.question for entry in Report.from_results(answers).entries] == ["good?"]
    assert JuryEvaluator(passes).evaluate_response("q", Engine().query("q")).metadata == {}


YES = ScriptedModel("Answer: YES")


@pytest.mark.parametrize(
    ("jury", "missing"),
    [
        (Critic(YES, "correctness"), "reference"),
        (Critic(ScriptedModel("A"), "pairwise"), "candidates"),
        (PairwiseCritic(judge(passes)), "candidates"),
        (JuryPairwiseEvaluator(YES), "candidates"),
        (JuryCorrectnessEvaluator(YES, reference_required=True), "reference"),
        (Ensemble([Critic(YES, "correctness", name=name) for name in "ab"]), "reference"),
        (CascadedJury([Tier("right", Ensemble([Critic(YES, "correctness")]))]), "reference"),
    ],
)
def test_a_jury_that_can_judge_no_answer_is_refused_and_lets_none_through(jury, missing):
    with pytest.raises(ConfigurationError, match=f"needs {missing}, which an answer to a query does not come with"):
        JuryGuardQueryEngine(Engine(), jury)


@pytest.mark.parametrize(
    "jury",
    [
        JuryCorrectnessEvaluator(YES, graded=False),
        Scorecard({"grounded": passes, "named": NotEmpty()}),
        Ensemble([passes, Critic(YES, "correctness")]),
    ],
)
def test_a_jury_of_which_one_judge_can_judge_an_answer_is_taken(jury):
    assert JuryGuardQueryEngine(Engine(), jury).query("Which capital?").metadata["jury"]["outcome"] == "passed"


def test_a_field_map_may_give_a_guard_what_its_judge_needs():
    guarded = JuryGuardQueryEngine(Engine(), Critic(YES, "correctness"), field_map={"reference": "inputs.query"})
    assert guarded.query("Paris.").metadata["jury"]["outcome"] == "passed"


def refuses(case):
    return False


@pytest.mark.parametrize("ask", [lambda guard: guard.query("q"), lambda guard: asyncio.run(guard.aquery("q"))])
def test_the_refusal_of_a_guard_inside_the_engine_is_not_judged(ask):
    inner = JuryGuardQueryEngine(Engine(), refuses, refusal="No.", max_retries=0)
    seen = []
    guarded = JuryGuardQueryEngine(inner, lambda case: seen.append(case) or True, refusal="Never.")
    answer = ask(guarded)
    assert (str(answer), answer.metadata["jury"]["outcome"], seen) == ("No.", "blocked", [])
    assert JuryEvaluator(passes).evaluate_response("q", answer).metadata == {"guard": "blocked"}


@pytest.mark.parametrize(("on_fail", "text", "outcome"), [("block", "Never.", "blocked"), ("best", "Paris.", "best")])
def test_a_refusal_inside_the_engine_ends_the_retries_of_the_guard_around_it(on_fail, text, outcome):
    inner = JuryGuardQueryEngine(Engine(), lambda case: "An earlier answer" not in case.question, max_retries=0)
    guarded = JuryGuardQueryEngine(inner, refuses, refusal="Never.", on_fail=on_fail, max_retries=5)
    answer = guarded.query("q")
    assert (str(answer), answer.metadata["jury"]["outcome"]) == (text, outcome)
    assert answer.metadata["jury"]["attempts"] == 1


def test_an_engine_that_finds_no_node_is_refused_by_the_check_for_refusals():
    empty = RetrieverQueryEngine.from_args(NoNodes(), llm=MockLLM())
    assert str(empty.query("q")) == "Empty Response"
    guarded = JuryGuardQueryEngine(empty, Ensemble([NotEmpty(), RefusalCheck()], voting="unanimous"), max_retries=0)
    assert guarded.query("q").metadata["jury"]["outcome"] == "blocked"
    faithful = JuryFaithfulnessEvaluator(ScriptedModel("Answer: YES")).evaluate_response("q", empty.query("q"))
    assert (faithful.passing, faithful.invalid_result) == (None, True)
    assert "no contexts" in faithful.invalid_reason
