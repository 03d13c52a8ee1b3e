"""Evaluators of openevals and agentevals that compare JSON values or conversations, judged without an option."""

import warnings
from functools import partial

import pytest

with warnings.catch_warnings():  # what these import is their own affair
    warnings.simplefilter("ignore")
    from agentevals.graph_trajectory.strict import graph_trajectory_strict_match
    from agentevals.trajectory.match import create_async_trajectory_match_evaluator, create_trajectory_match_evaluator
    from agentevals.trajectory.unordered import trajectory_unordered_match
    from openevals.exact import exact_match
    from openevals.json import create_async_json_match_evaluator, create_json_match_evaluator
    from openevals.trajectory import create_trajectory_match_evaluator as create_trajectory_match_of_openevals

from jury_adapters import Case, ConfigurationError, Step
from jury_adapters.langchain import from_evaluator

WEATHER = Case(
    question="Weather in Paris?", answer="18 degrees.", reference="18 degrees.",
    trajectory=[Step(tool="weather", arguments={"city": "Paris"}, output="18")],
    metadata={"expected_calls": [{"tool": "weather", "arguments": {"city": "Paris"}}]},
)  # fmt: skip
MATCHERS = {
    "agentevals": create_trajectory_match_evaluator(trajectory_match_mode="unordered"),
    "agentevals, asynchronous": create_async_trajectory_match_evaluator(trajectory_match_mode="unordered"),
    "agentevals, old": trajectory_unordered_match,
    "openevals": create_trajectory_match_of_openevals(trajectory_match_mode="unordered"),
    "partial": partial(create_trajectory_match_evaluator(trajectory_match_mode="unordered")),
}


@pytest.mark.filterwarnings("ignore:trajectory_unordered_match:DeprecationWarning")
@pytest.mark.parametrize("matcher", MATCHERS.values(), ids=MATCHERS)
def test_a_matcher_of_trajectories_gets_conversations(matcher):
    judge = from_evaluator(matcher)
    assert judge.judge(WEATHER).passed
    other = {"expected_calls": [{"tool": "clock", "arguments": {"city": "Paris"}}]}
    assert judge.judge(WEATHER.model_copy(update={"metadata": other})).passed is False


def test_other_evaluators_get_texts_unless_the_option_says_otherwise():
    assert from_evaluator(exact_match).judge(WEATHER).passed
    assert from_evaluator(exact_match, trajectory=True).judge(WEATHER).passed is False
    matcher = MATCHERS["agentevals"]
    texts = from_evaluator(matcher, arguments=lambda case: {"outputs": [], "reference_outputs": []})
    assert texts.judge(WEATHER).passed
    assert from_evaluator(matcher, trajectory=False).judge(WEATHER).status == "ERROR"


def test_a_matcher_of_graph_trajectories_needs_its_arguments():
    with pytest.raises(ConfigurationError, match=r"compares graph trajectories.*give arguments="):
        from_evaluator(graph_trajectory_strict_match)
    thread = {"results": [{}], "steps": [["a", "b"]]}
    judge = from_evaluator(
        graph_trajectory_strict_match, arguments=lambda case: {"outputs": thread, "reference_outputs": thread}
    )
    assert judge.judge(answer="x").passed


@pytest.mark.parametrize("make", [create_json_match_evaluator, create_async_json_match_evaluator])
class TestJsonMatch:
    def test_it_gets_the_values_of_json_texts(self, make):
        judge = from_evaluator(make(aggregator="average"), calls=0)
        same = judge.judge(answer='{"b": 2, "a": 1}', reference='{"a": 1, "b": 2}')
        half = judge.judge(answer='{"a": 1, "b": 3}', reference='{"a": 1, "b": 2}')
        lists = judge.judge(answer='[{"a": 1}]', reference='[{"a": 1}]')
        assert [(one.status, one.score) for one in (same, half, lists)] == [("PASS", 1.0), ("PASS", 0.5), ("PASS", 1.0)]

    @pytest.mark.parametrize("answer", ["five", "5", "null", "[1]", '[{"a": 1}]', '{"a": 1', "", "[" * 100_000])
    def test_an_answer_that_is_no_object_fails(self, make, answer):
        judgment = from_evaluator(make(aggregator="all")).judge(answer=answer, reference='{"a": 1}')
        assert (judgment.status, judgment.score) == ("FAIL", 0.0)
        assert judgment.reasoning == "the answer is not JSON text of an object, as the reference is"

    def test_a_reference_that_is_no_object_or_missing_is_an_abstention(self, make):
        judge = from_evaluator(make(aggregator="all"))
        judgment = judge.judge(answer='{"a": 1}', reference="one")
        assert judgment.status == "ABSTAIN"
        assert "the reference is not JSON text" in judgment.reasoning
        assert "arguments=" in judgment.reasoning
        missing = judge.judge(answer='{"a": 1}')
        assert (missing.status, "reference_outputs" in missing.reasoning) == ("ABSTAIN", True)
