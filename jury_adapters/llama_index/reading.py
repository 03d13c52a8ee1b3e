"""Queries and responses of LlamaIndex as runs: the question, the text, the passages, and the calls of tools."""

import asyncio
import inspect
import re
import threading
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from typing import Any

from llama_index.core.agent.workflow import AgentOutput
from llama_index.core.base.response.schema import (
    AsyncStreamingResponse,
    PydanticResponse,
    Response,
    StreamingResponse,
)
from llama_index.core.chat_engine.types import AgentChatResponse, StreamingAgentChatResponse
from llama_index.core.llms import ChatMessage, ChatResponse
from llama_index.core.schema import BaseNode, NodeWithScore
from llama_index.core.tools import ToolOutput
from llama_index.core.workflow import StopEvent
from pydantic_core import to_json

from jury_adapters.core import loop
from jury_adapters.core.case import Step
from jury_adapters.core.values import InputError, error_text
from jury_adapters.inputs.messages import field_of, first_of, role_of, text_of
from jury_adapters.inputs.run import Run

# What a model wrote: as the output of a tool, it counts by the nodes behind it.
_ANSWERS = (
    Response,
    StreamingResponse,
    AsyncStreamingResponse,
    PydanticResponse,
    AgentChatResponse,
    StreamingAgentChatResponse,
    AgentOutput,
    ChatResponse,
    ChatMessage,
)
# SubQuestionQueryEngine, MultiStepQueryEngine and RecursiveRetriever write the answers of engines into nodes.
_PARTIAL_ANSWER = re.compile(r"(?s)(Sub question|Query): .*?\nResponse: |\nQuestion: .*?\nAnswer: ")
_ROLE = re.compile(r"(?m)^(user|assistant|system|tool): ")


def run_of(query: Any, response: Any, **facts: Any) -> Run:
    """Return the run of a query and its response, as the evaluators and the span handler read them.

    ``default_case(run_of(query, response))`` is the case. Contexts are the source nodes of the response, with the
    metadata that the writer saw, and what the tools of an agent found; what a model wrote is none. A response does not
    tell who wrote a node: that an engine behind a retriever wrote it is known by its form alone, and not if it has the
    form of a page.

    Args:
        query: the question: a text, a ``QueryBundle``, a message, or a mapping with ``question`` and ``messages``.
        response: what a query engine, a chat engine, an agent, a workflow or a retriever returned.
        **facts: further fields of the :class:`Run`.

    Raises:
        InputError: the response is a stream that was not read.

    >>> from llama_index.core.base.response.schema import Response
    >>> run_of("When?", Response("In 2018.")).outputs
    {'answer': 'In 2018.'}
    """
    response = _result_of(response)
    nodes, steps = retrieved(nodes_of(response)), [*steps_of(response)]
    return Run(inputs=_text_of_query(query), outputs=_outputs(response), documents=nodes, steps=steps, **facts)


def _outputs(response: Any) -> Any:
    """Return the answer by name; what is none of LlamaIndex's responses is returned as it is."""
    if isinstance(response, StopEvent):
        return _fields(response)
    if not isinstance(response, _ANSWERS):
        return {"answer": response} if isinstance(response, str) else response
    if unread(response) or getattr(response, "is_done", True) is False:
        raise InputError("the answer is a stream that was not read; evaluators read it")
    return {"answer": _answer_in(response)}


def _answer_in(response: Any) -> str | None:
    """Return what the user gets as text, so that what a model wrote into a field named "contexts" is no evidence."""
    said = first_of(response, "structured_response", "response_txt", "response", "message")
    if isinstance(response, ChatMessage) or isinstance(said, ChatMessage):
        return text_of(said or response) or ""
    return said if isinstance(said, str | None) else to_json(said, fallback=str).decode()


def unread(response: Any) -> str:
    """Return the name of the field with a stream that the reader drives and has not read; empty if there is none."""
    names = (
        ("chat_stream", "achat_stream")  # those of other chats are driven by a writer
        if isinstance(response, StreamingAgentChatResponse) and not (response.is_writing_to_memory or response.is_done)
        else ("response_gen",)
        if isinstance(response, StreamingResponse | AsyncStreamingResponse) and response.response_txt is None
        else ()
    )
    return next((name for name in names if getattr(response, name) is not None), "")


def _fields(event: Any) -> dict[str, Any]:
    """Return the fields of an event of a workflow, declared and set."""
    return {name: getattr(event, name, None) for name in (*type(event).model_fields, *event.keys())}


def _result_of(response: Any) -> Any:
    """Return the result of a plain stop event; an event with fields of its own is returned as it is."""
    return response.result if type(response) is StopEvent and response.result is not None else response


def _text_of_query(query: Any) -> Any:
    return text_of(query) if isinstance(query, ChatMessage) else getattr(query, "query_str", query)


def retrieved(nodes: Iterable[Any], answers: Iterable[Any] | None = None, found: Iterable[Any] = ()) -> list[Any]:
    """Return the nodes without those into which LlamaIndex wrote the answer of an engine.

    Args:
        nodes: nodes.
        answers: the responses of the engines that were asked before. If they are not known, a node is told by its form:
            it belongs to no document, and has the metadata of a response, or none and the words that LlamaIndex puts
            around an answer.
        found: nodes that were found before.
    """
    told = None if answers is None else tuple(filter(None, ((_answer_in(one) or "").strip() for one in answers)))
    known = {one.node_id for one in found}
    return [one for one in nodes if one.node_id in known or not _holds_answer(getattr(one, "node", one), told)]


def _holds_answer(node: Any, told: tuple[str, ...] | None) -> bool:
    text: str = node.get_content()
    return (
        text.rstrip().endswith(told)
        if told is not None
        else not node.relationships
        and all(isinstance(one, Mapping) for one in node.metadata.values())
        and bool(node.metadata or _PARTIAL_ANSWER.match(text))
    )


def nodes_of(response: Any) -> list[Any]:
    """Return the nodes that a retriever or a tool returned, or those behind an answer; empty if there are none."""
    response = _result_of(response)
    if not isinstance(response, (*_ANSWERS, list, tuple)):
        return []
    told = response if isinstance(response, list | tuple) else getattr(response, "source_nodes", None)
    found = [one for one in told or () if isinstance(one, BaseNode | NodeWithScore)]
    calls = (*(getattr(response, "tool_calls", None) or ()), *(getattr(response, "sources", None) or ()))
    outputs = (getattr(one, "tool_output", one) for one in calls)
    inside = [node for one in outputs if isinstance(one, ToolOutput) for node in nodes_of(one.raw_output)]
    return found or inside or nodes_of(getattr(response, "raw", None))  # of a tool that answers for its agent


def steps_of(response: Any) -> Iterator[Step]:
    """Yield the calls of tools that an agent tells; those of an agent inside a tool come first."""
    response = _result_of(response)
    for call in response.tool_calls if isinstance(response, AgentOutput) else ():
        output = getattr(call, "tool_output", None)
        yield from steps_of(getattr(output, "raw_output", None))
        yield step_of(call.tool_name, call.tool_kwargs, output)


def step_of(tool: str, arguments: Any, result: Any, error: BaseException | None = None, *, wrote: bool = False) -> Step:
    """Return the call of a tool. Its output is no evidence if a model wrote it, or if the nodes behind it count.

    Args:
        tool: the name of the tool.
        arguments: the arguments of the call.
        result: what it returned.
        error: what it raised.
        wrote: whether a model was asked inside.
    """
    said = result.content if isinstance(result, ToolOutput) else result
    raw = result.raw_output if isinstance(result, ToolOutput) else result
    if error is not None or getattr(result, "is_error", False):
        return Step(tool=tool, arguments=arguments, error=str(said or (error and error_text(error)) or "it failed"))
    return Step(
        tool=tool,
        arguments=arguments,
        output=None if said is None else str(said),
        echo=wrote or isinstance(raw, _ANSWERS) or bool(nodes_of(raw)),
    )


def asked_in(kind: str, arguments: Mapping[str, Any]) -> Any:
    """Return what a run was asked, by the arguments of the method that starts it.

    Args:
        kind: ``query``, ``chat``, ``agent``, ``workflow``, ``retriever`` or ``tool``.
        arguments: the arguments by name.
    """
    if kind in ("query", "retriever"):
        return _text_of_query(arguments.get("str_or_query_bundle"))
    if kind == "chat":
        return {"question": arguments.get("message"), "messages": [*(arguments.get("chat_history") or ())]}
    if kind == "tool":
        named = {name: one for name, one in arguments.items() if name != "kwargs" and (one or name != "args")}
        # Without the context of the workflow.
        return {
            name: one
            for name, one in {**named, **arguments.get("kwargs", {})}.items()
            if type(one).__name__ != "Context"
        }
    given = arguments.get("kwargs") if (start := arguments.get("start_event")) is None else _fields(start)
    fields = {name: one for name, one in (given or {}).items() if one is not None}
    if kind == "workflow":
        return fields
    messages = {"messages": [*(fields.get("chat_history") or ())]}
    return {"question": _text_of_query(fields["user_msg"]), **messages} if "user_msg" in fields else messages


class Withheld(dict[str, Any]):
    """Facts of a guard about an answer that it withheld.

    LlamaIndex passes the metadata of a response on, and puts that of documents beside it, but as plain mappings.
    """


def is_blocked(response: Any) -> bool:
    """Whether a response is the refusal of a guard."""
    return isinstance(field_of(field_of(_result_of(response), "metadata"), "jury"), Withheld)


def earlier_in(arguments: Mapping[str, Any], asked: str) -> list[Any]:
    """Return the conversation before a question, as a model was given it in a call; without system prompts.

    Args:
        arguments: the arguments of a method of the model.
        asked: the question.
    """
    values, templates = arguments.get("prompt_args"), getattr(arguments.get("prompt"), "message_templates", None)
    messages = arguments.get("messages")
    found: Sequence[Any] = ()
    if templates and text_of(templates[-1]) == "{query_str}":  # for a model that gets one text
        found = templates[:-1]
    elif (
        isinstance(values, Mapping) and values.get("question") == asked and isinstance(values.get("chat_history"), str)
    ):
        parts = _ROLE.split(values["chat_history"])  # a question that is to be condensed
        found = [*zip(parts[1::2], map(str.strip, parts[2::2]), strict=True)]
    elif isinstance(messages, list | tuple):
        places = [
            place
            for place, one in enumerate(messages)
            if role_of(one) == "user" and text_of(one).rstrip().endswith(asked.rstrip())
        ]
        found = messages[: places[-1]] if places else ()
    return [one for one in found if role_of(one) not in (None, "system")]


async def complete(response: Any, waiting: asyncio.AbstractEventLoop | None = None) -> Any:
    """Return a response after its stream, if it is one, was read; the application can still read it.

    Args:
        response: the response.
        waiting: a loop that waits for this call, and goes on only after it.

    Raises:
        InputError: the stream was read before by somebody else, or nobody writes it.
        Exception: what the stream raised, which the reader of the application gets too.
    """
    if unread(response) or isinstance(response, AsyncStreamingResponse):
        async with vars(response).setdefault("_jury_lock", asyncio.Lock()):  # evaluators share a response in a batch
            await _read(response)
    elif isinstance(response, StreamingAgentChatResponse):
        while not response.is_done and response.exception is None:
            if not _is_written(response, waiting) and not response.is_done:
                raise InputError("nobody writes this chat stream while it is judged; use aevaluate_response")
            await asyncio.sleep(0.005)
        if response.exception is not None:
            raise response.exception
        # Before LlamaIndex 0.14.24 the reader puts the text together, of what waits in one of two queues.
        response.response = (
            response.response
            or "".join(
                [response.unformatted_response, *response.queue.queue, *getattr(response.aqueue, "_queue", ())]
            ).strip()
        )
    return response


async def _read(response: Any) -> None:
    if isinstance(response, AsyncStreamingResponse) and response._lock.locked():
        raise InputError("the stream of this answer is being read; evaluate it before, or read it to its end")
    if not (name := unread(response)):
        return
    stream: Any = getattr(response, name)
    tokens: list[Any] = []
    if (inspect.isgenerator(stream) and inspect.getgeneratorstate(stream) != inspect.GEN_CREATED) or (
        inspect.isasyncgen(stream) and stream.ag_frame is None
    ):
        raise InputError("the stream of this answer was read before, and its text is gone; evaluate it first")
    try:
        if hasattr(stream, "__aiter__"):
            async for token in stream:
                tokens.append(token)  # noqa: PERF401 - what came before an error is kept
        else:
            await loop.in_thread(tokens.extend, stream)
    except Exception as error:
        setattr(response, name, again(tokens, hasattr(stream, "__aiter__"), error))
        raise
    setattr(response, name, again(tokens, hasattr(stream, "__aiter__")))
    if isinstance(response, StreamingAgentChatResponse):
        response.response, response.is_done = joined(tokens), True
    else:
        response.response_txt = joined(tokens)


def _is_written(response: StreamingAgentChatResponse, waiting: asyncio.AbstractEventLoop | None) -> bool:
    """Whether a task or a thread goes on writing the answer of a chat engine."""
    task = response.awrite_response_to_history_task
    if task is not None:
        return not task.done() and task.get_loop() is not waiting and task.get_loop().is_running()
    # LlamaIndex names the thread since 0.14.17.
    unnamed = threading.current_thread() if response.chat_stream or response.achat_stream else None
    thread = getattr(response, "write_response_to_history_thread", unnamed)
    return thread is not None and thread.is_alive()


def joined(tokens: Sequence[Any]) -> Any:
    """Return the text of a stream; structured outputs stream ever more complete objects."""
    texts = [one.delta or "" if isinstance(one, ChatResponse) else one for one in tokens]
    text = "".join(texts) if all(isinstance(one, str) for one in texts) else texts[-1]
    return text.strip() if tokens and isinstance(tokens[0], ChatResponse) else text


def again(tokens: Sequence[Any], is_async: bool, error: Exception | None = None) -> Any:
    """Return tokens as a stream, which ends with an error if one is given."""
    return _aagain(tokens, error) if is_async else _again(tokens, error)


def _again(tokens: Iterable[Any], error: Exception | None) -> Iterator[Any]:
    yield from tokens
    if error is not None:
        raise error


async def _aagain(tokens: Iterable[Any], error: Exception | None) -> AsyncIterator[Any]:
    for token in _again(tokens, error):
        yield token
