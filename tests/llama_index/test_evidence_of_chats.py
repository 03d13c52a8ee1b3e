"""Evidence behind the answer of a chat engine: passages, and never the answer itself."""

import asyncio

import pytest
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.response.schema import Response
from llama_index.core.chat_engine import CondensePlusContextChatEngine, CondenseQuestionChatEngine, ContextChatEngine
from llama_index.core.llms import MockLLM
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.query_engine import CustomQueryEngine, RetrieverQueryEngine
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.core.tools import ToolOutput

from jury_adapters import Status, grounding_screen
from jury_adapters.checks import NamesAndNumbers
from jury_adapters.llama_index import (
    JuryEvaluator,
    JuryFaithfulnessEvaluator,
    JuryGuardQueryEngine,
    ato_case,
    judge_runs,
    to_case,
)


class Pages(BaseRetriever):
    def __init__(self, *texts):
        super().__init__()
        self._texts = texts

    def _retrieve(self, query_bundle):
        return [NodeWithScore(node=TextNode(text=text), score=0.5) for text in self._texts]


class Inventor(CustomQueryEngine):
    """An engine that answers without any passage."""

    text: str = "The tower has 1,665 steps."

    def custom_query(self, query_str):
        return Response(self.text)


def engine_over(*texts, streaming=False):
    return RetrieverQueryEngine.from_args(Pages(*texts), llm=MockLLM(max_tokens=3), streaming=streaming)


def memory():
    return ChatMemoryBuffer.from_defaults(llm=MockLLM())


def condensed(engine):
    return CondenseQuestionChatEngine.from_defaults(query_engine=engine, llm=MockLLM(max_tokens=3), memory=memory())


def context_chat(*texts):
    return ContextChatEngine.from_defaults(retriever=Pages(*texts), llm=MockLLM(max_tokens=3), memory=memory())


def condensed_context_chat(*texts):
    return CondensePlusContextChatEngine.from_defaults(Pages(*texts), llm=MockLLM(max_tokens=3), memory=memory())


def watched(ask):
    judged = []
    with judge_runs(grounding_screen(), on_verdict=judged.append):
        ask()
    return judged


@pytest.mark.parametrize("engine", [Inventor(), engine_over()], ids=["invents", "finds nothing"])
def test_an_engines_answer_that_a_chat_passes_on_is_not_evidence_for_itself(engine):
    answer = condensed(engine).chat("How many steps has the tower?")
    assert to_case(answer).contexts == asyncio.run(ato_case(answer)).contexts == ()
    result = JuryFaithfulnessEvaluator(jury=grounding_screen()).evaluate_response("How many steps?", answer)
    assert (result.passing, result.invalid_reason) == (None, "abstained: no contexts to compare with")
    [judged] = watched(lambda: condensed(engine).chat("How many steps has the tower?"))
    assert (judged.judgment.status, judged.case.contexts) == (Status.ABSTAIN, ())


def test_the_passages_behind_the_answer_that_a_chat_passes_on_are_evidence():
    answer = condensed(engine_over("The tower has 674 steps.")).chat("How many steps?")
    assert to_case(answer).contexts == ("The tower has 674 steps.",)


@pytest.mark.parametrize("chat", [context_chat, condensed_context_chat])
@pytest.mark.parametrize("method", ["chat", "stream_chat"])
def test_a_chat_whose_retriever_finds_nothing_has_no_contexts(chat, method):
    def ask():
        said = getattr(chat(), method)("How many steps?")
        return said if method == "chat" else (said, list(said.response_gen))[0]

    assert to_case(ask()).contexts == ()
    [judged] = watched(ask)
    assert (judged.judgment.status, judged.case.contexts) == (Status.ABSTAIN, ())
    assert to_case(chat("674 steps.").chat("How many?")).contexts == ("674 steps.",)


def test_other_tools_of_a_chat_are_evidence_also_for_an_answer_that_repeats_them():
    from llama_index.core.chat_engine.types import AgentChatResponse

    counted = ToolOutput(content="674 steps", tool_name="count", raw_input={}, raw_output="674 steps")
    assert to_case(AgentChatResponse("674 steps", sources=[counted])).contexts == ("674 steps",)
    computed = ToolOutput(content="674", tool_name="sums", raw_input={}, raw_output=Response("674"))
    assert to_case(AgentChatResponse("It has 674.", sources=[computed])).contexts == ("674",)


@pytest.mark.parametrize("streaming", [False, True])
def test_a_refusal_that_a_chat_passes_on_is_marked_as_one(streaming):
    guard = JuryGuardQueryEngine(engine_over("674 steps.", streaming=streaming), lambda case: False, max_retries=0)
    chat = condensed(guard)
    answer = chat.stream_chat("How many?") if streaming else chat.chat("How many?")
    result = JuryEvaluator(lambda case: True).evaluate_response("How many?", answer)
    assert result.metadata == {"guard": "blocked"}
    assert result.response.startswith("[No answer")


def test_an_answer_of_an_unguarded_chat_is_not_marked():
    answer = condensed(engine_over("674 steps.")).chat("How many?")
    assert JuryEvaluator(NamesAndNumbers()).evaluate_response("How many?", answer).metadata == {}
