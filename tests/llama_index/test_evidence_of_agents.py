"""Outputs of an agent's tools that are evidence."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent
from llama_index.core.base.llms.types import ToolCallBlock
from llama_index.core.llms import ChatMessage, MessageRole
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.tools import FunctionTool, QueryEngineTool
from support.llama_apps import PASSAGE, Model, Verdicts, an_index

from jury_adapters import ConfigurationError, Judgment, Status, grounding_screen
from jury_adapters.checks import NamesAndNumbers, SentenceSupport
from jury_adapters.llama_index import (
    JuryEvaluator,
    JuryFaithfulnessEvaluator,
    JurySpanHandler,
    judge_runs,
    to_case,
)
from jury_adapters.llama_index.responses import contexts_of

pytestmark = [
    pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning"),
    pytest.mark.filterwarnings("ignore:is_running called from within a step:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:WorkflowHandler.cancel:DeprecationWarning"),
]
PAGE, INVENTED = "The bridge opened in 1994.", "It opened in 1987."


def fetch(page: str) -> str:
    """Fetch a page."""
    return PAGE


def think(thought: str) -> str:
    """Think."""
    return f"noted: {thought}"


def scripted(*lines: Any) -> MockFunctionCallingLLM:
    """A model that calls tools and answers by script, counted by what its conversation has."""

    def say(messages: Sequence[ChatMessage], **kwargs: object) -> ChatMessage:
        done = sum(message.role == MessageRole.TOOL for message in messages)
        line = lines[min(done, len(lines) - 1)]
        if isinstance(line, str):
            return ChatMessage(role="assistant", content=line)
        tool, arguments = line
        call = ToolCallBlock(tool_call_id=str(done), tool_name=tool, tool_kwargs=arguments)
        return ChatMessage(role="assistant", blocks=[call])

    return MockFunctionCallingLLM(response_generator=say, is_chat_model=True)


def team() -> AgentWorkflow:
    """Two agents: the first thinks and hands over with an invented reason, the second looks it up and invents."""
    handing = (("think", {"thought": "1987"}), ("handoff", {"to_agent": "writer", "reason": "it says 1987"}))
    script = (*handing, ("fetch", {"page": "2"}), INVENTED)
    model = scripted(*script)
    tools = [FunctionTool.from_defaults(fetch), FunctionTool.from_defaults(think)]
    agents = [
        FunctionAgent(name=name, description=name, tools=tools, llm=model, streaming=False, can_handoff_to=more)
        for name, more in (("planner", ["writer"]), ("writer", []))
    ]
    return AgentWorkflow(agents=agents, root_agent="planner")


def ran(workflow: Any) -> Any:
    async def main() -> Any:
        return await workflow.run(user_msg="When?", memory=ChatMemoryBuffer.from_defaults(llm=Model()))

    return asyncio.run(main())


def test_handoffs_and_thoughts_are_steps_and_no_evidence():
    verdicts = Verdicts()
    with judge_runs(grounding_screen(), on_verdict=verdicts):
        output = ran(team())
    case = verdicts.case
    assert [step.tool for step in case.trajectory] == ["think", "handoff", "fetch"]
    assert "1987" in str(case.trajectory[1].output)
    assert case.contexts == contexts_of(output) == (PAGE,)
    assert verdicts[0].judgment.status == "FAIL"
    assert JuryEvaluator(grounding_screen()).evaluate_response(query="When?", response=output).passing is False


@pytest.mark.parametrize(("given", "wanted"), [
    (None, (PAGE,)), (["fetch"], (PAGE,)), (["think"], ("noted: 1987",)), ([], ()),
    (lambda step: step.tool != "fetch", ()),
])  # fmt: skip
def test_every_adapter_takes_the_tools_that_are_evidence(given, wanted):
    cases: list[Any] = []

    def juror(case: Any) -> bool:
        cases.append(case)
        return True

    with judge_runs(juror, evidence_tools=given):
        output = ran(team())
    handler = JurySpanHandler(juror, evidence_tools=given)
    handler.close()
    JuryEvaluator(juror, evidence_tools=given).evaluate_response(query="When?", response=output)
    JuryFaithfulnessEvaluator(jury=juror, evidence_tools=given).evaluate_response(query="When?", response=output)
    assert len(cases) == 3
    assert {case.contexts for case in cases} == {wanted}
    assert contexts_of(output, evidence_tools=given) == wanted


def look_up(text: str) -> str:
    """Look up a sentence in the guide."""
    return f"{text} It is painted red."


CLAIM = "The bridge of the old town opened in 1987."
LEFT_OUT = "the contexts are without the text (…) that the model itself wrote in its call of 'look_up'"


def agent_that_looks_up(claim: str) -> Any:
    model = scripted(("look_up", {"text": claim}), CLAIM)
    return ran(FunctionAgent(tools=[FunctionTool.from_defaults(look_up)], llm=model, streaming=False))


@pytest.mark.parametrize("jury", [
    NamesAndNumbers(),
    SentenceSupport(threshold=0.6),
    lambda case: Judgment(Status.FAIL, reasoning="the contexts do not say so"),
    lambda case: Judgment(Status.ABSTAIN, reasoning="unsure"),
])  # fmt: skip
def test_the_feedback_says_that_a_text_of_the_call_is_left_out_of_the_contexts(jury):
    response = agent_that_looks_up(CLAIM)
    result = JuryEvaluator(jury).evaluate_response("When did it open?", response)
    assert result.contexts == ["… It is painted red."]
    assert result.feedback.count(LEFT_OUT) == 1
    assert result.invalid_reason is None or LEFT_OUT in result.invalid_reason
    named = JuryEvaluator(jury, evidence_tools=["look_up"]).evaluate_response("When did it open?", response)
    assert "left" not in named.feedback
    assert "without the text" not in named.feedback


def test_a_pass_and_whole_outputs_have_no_note_on_texts_that_are_left_out():
    passed = JuryEvaluator(lambda case: True).evaluate_response("When?", agent_that_looks_up(CLAIM))
    assert passed.passing
    assert LEFT_OUT not in passed.feedback
    failed = JuryEvaluator(NamesAndNumbers()).evaluate_response("When?", agent_that_looks_up("old bridges"))
    assert failed.passing is False
    assert "without the text" not in failed.feedback


def test_nodes_of_a_tool_count_where_the_tool_does():
    library = QueryEngineTool.from_defaults(an_index().as_query_engine(llm=Model()), name="library", description="-")
    agent = FunctionAgent(tools=[library], llm=scripted(("library", {"input": "capital?"}), "Paris."), streaming=False)
    output = ran(agent)
    assert contexts_of(output) == contexts_of(output, evidence_tools=["library"]) == (PASSAGE,)
    assert contexts_of(output, evidence_tools=lambda step: "year: 2025" in step.output) == (PASSAGE,)
    assert contexts_of(output, evidence_tools=["other"]) == ()


@pytest.mark.parametrize("make", [
    JurySpanHandler, judge_runs, JuryEvaluator, lambda jury, **options: JuryFaithfulnessEvaluator(jury=jury, **options),
    lambda jury, **options: contexts_of("", **options), lambda jury, **options: to_case("", **options),
])  # fmt: skip
def test_every_adapter_refuses_what_is_neither_names_nor_a_predicate(make):
    with pytest.raises(ConfigurationError, match=r"evidence_tools=\['fetch'\]"):
        make(lambda case: True, evidence_tools="fetch")


def test_a_predicate_that_raises_is_an_invalid_result():
    def breaks(step: Any) -> bool:
        raise KeyError("no such tool")

    verdicts = Verdicts()
    with judge_runs(lambda case: True, on_verdict=verdicts, evidence_tools=breaks):
        output = ran(team())
    assert verdicts[0].judgment.status == "ERROR"
    result = JuryEvaluator(lambda case: True, evidence_tools=breaks).evaluate_response(query="?", response=output)
    assert result.invalid_result
