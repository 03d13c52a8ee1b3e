"""Reading of LlamaIndex answers: the text, the contexts that the writer saw, and the steps of an agent.

Every response class of an engine, a chat engine or an agent can be read, and reading consumes nothing: the tokens
of a stream that was read for a judge are still available to the user, in order.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from llama_index.core.base.response.schema import AsyncStreamingResponse, PydanticResponse, StreamingResponse
from llama_index.core.chat_engine.types import StreamingAgentChatResponse
from llama_index.core.llms import ChatMessage, ChatResponse, CompletionResponse
from llama_index.core.schema import BaseNode, MetadataMode, NodeWithScore
from llama_index.core.tools import ToolOutput
from llama_index.core.workflow import StopEvent
from pydantic import BaseModel

from jury_adapters.core import event_loop
from jury_adapters.core.case_parts import Step
from jury_adapters.core.errors import InputError
from jury_adapters.core.evidence import Evidence, EvidenceTools
from jury_adapters.core.loose_values import texts_of
from jury_adapters.core.message_texts import refusal_in
from jury_adapters.core.values import freeze
from jury_adapters.llama_index.partial_answers import EMPTY_RESPONSE, without_partial_answers
from jury_adapters.llama_index.passed_on import passed_on
from jury_adapters.llama_index.replayable_streams import AsyncReplayableStream, ReplayableStream
from jury_adapters.llama_index.workflow_results import answer_in, fields_of, passages_in


def text_of(response: object) -> str | None:
    """Return the text of an answer; a stream is read to its end and restored.

    Args:
        response: a ``Response``, ``StreamingResponse``, ``AsyncStreamingResponse``, ``PydanticResponse`` (its JSON),
            ``AgentChatResponse``, ``StreamingAgentChatResponse``, ``AgentOutput``, the ``StopEvent`` of a workflow or
            a mapping that is its result, a message, a tool's output, a text, or None.

    Returns:
        The text, or None if there is none. In asynchronous code use :func:`atext_of`, which does not block.

    Raises:
        InputError: the object cannot be read as an answer, or the stream had been read before and its text is gone.
        Exception: any exception that the stream itself raises.

    >>> text_of("Paris.")
    'Paris.'
    """
    if isinstance(response, str):
        return response
    if isinstance(response, StreamingResponse):
        return _streamed(response)
    if isinstance(response, AsyncStreamingResponse):
        if isinstance(response.response_gen, AsyncReplayableStream) and response.response_gen.complete:
            return "".join(response.response_gen.everything())
        return event_loop.run(_astreamed, response)
    if isinstance(response, StreamingAgentChatResponse):
        return _chatted(response)
    return _plain_text(response)


async def atext_of(response: object) -> str | None:
    """Return the text of an answer without blocking the event loop; see :func:`text_of`.

    A synchronous stream is read in a thread, since its tokens arrive over the network one by one.
    """
    if isinstance(response, str):
        return response
    if isinstance(response, StreamingResponse):
        if _at_hand(response):
            return _streamed(response)
        return await asyncio.to_thread(_streamed, response)
    if isinstance(response, AsyncStreamingResponse):
        return await _astreamed(response)
    if isinstance(response, StreamingAgentChatResponse):
        return await _achatted(response)
    return _plain_text(response)


def contexts_of(response: object, *, evidence_tools: EvidenceTools | Evidence = None) -> tuple[str, ...]:
    """Return the passages behind an answer, with the metadata that its writer saw (``MetadataMode.LLM``).

    They are the source nodes of the answer, or the field of a workflow's result with a name of the contexts, such as
    ``contexts`` or ``documents``. Without either, they are taken from the tools whose output is evidence: the source
    nodes of a tool's answer, or the text that it returned if it has none. Each node counts once. Answers to parts of
    the question, which the model of an engine wrote, do not count if there are other nodes; the answer of an engine
    that a chat engine passes on as its own never does.

    Args:
        response: as for :func:`text_of`.
        evidence_tools: the tools whose outputs are evidence: names, or a predicate of a step; see
            :class:`jury_adapters.core.evidence.Evidence`.

    Raises:
        ConfigurationError: ``evidence_tools`` is neither names nor a predicate.
        Exception: any exception that the predicate raises.
    """
    evidence = Evidence.of(evidence_tools)
    found = node_texts(listed(response, "source_nodes")) or _texts(passages_of(response))
    if found:
        return found
    texts: list[str] = []
    for output, step_of in tool_outputs(response):
        step = step_of()
        retrieved = node_texts(nodes_of(output))
        if not retrieved:
            texts += [] if _has_nothing(output) or passed_on(response, output) else evidence.contexts([step])
        elif evidence.accepts(step.model_copy(update={"output": "\n\n".join(retrieved)})):
            texts += retrieved
    if evidence.names:
        evidence.warn(steps_of(response))
    return tuple(dict.fromkeys(texts))


def steps_of(response: object) -> tuple[Step, ...]:
    """Return the tool calls behind the answer of an agent or a chat engine, in order; none for other answers."""
    return tuple(_step(*call) for call in _calls(response))


def passages_of(response: object) -> Sequence[object]:
    """Return the field of a workflow's result with a name of the contexts."""
    return listed(response, "passages_given") if fields_of(response) is None else passages_in(response)


def tool_outputs(response: object) -> Iterator[tuple[ToolOutput, Callable[[], Step]]]:
    """Yield the output of each tool call that did not fail, and a function that returns its step."""
    for call in _calls(response):
        output = call[2]
        if output is not None and not output.is_error:
            yield output, partial(_step, *call)


def nodes_of(output: ToolOutput) -> Sequence[object]:
    """Return the nodes that a tool retrieved, or those behind its answer."""
    if isinstance(output.raw_output, list | tuple):  # a retriever's nodes
        return output.raw_output
    return listed(output.raw_output, "source_nodes")


def _has_nothing(output: ToolOutput) -> bool:
    """Whether a tool found nothing: its text is then the notation of an empty list, or that of an engine for it."""
    found = output.raw_output
    if isinstance(found, list | tuple):
        return not found
    return hasattr(found, "source_nodes") and output.content == EMPTY_RESPONSE


def listed(response: object, name: str) -> list[Any]:
    """Return a list in an attribute of a response; for a stop event or a mapping, also one in its answer.

    PydanticResponse has the fields of its model as attributes, which are not evidence.
    """
    if isinstance(response, PydanticResponse) and name != "source_nodes":
        return []
    found = getattr(response, name, None)
    if isinstance(response, StopEvent | Mapping) and not found:
        inner = answer_in(response)
        return [] if isinstance(inner, Mapping) else listed(inner, name)
    return list(found) if isinstance(found, list | tuple) else []


def node_texts(nodes: Iterable[object]) -> tuple[str, ...]:
    """Return the texts of nodes with the metadata that a writer sees; each node once, other objects not at all.

    Answers to parts of the question are left out; see :func:`.partial_answers.without_partial_answers`.
    """
    texts: dict[str, str] = {}
    for node in without_partial_answers(nodes):
        inner = node.node if isinstance(node, NodeWithScore) else node
        if isinstance(inner, BaseNode):
            text = inner.get_content(metadata_mode=MetadataMode.LLM)
            if text.strip():
                texts.setdefault(inner.node_id, text)
    return tuple(texts.values())


def retrieved_texts(nodes: Iterable[object]) -> tuple[str, ...]:
    """Return the text of each retrieved node, also an empty one, so that they are in the order of the nodes' ids."""
    inner = (node.node if isinstance(node, NodeWithScore) else node for node in nodes)
    return tuple(node.get_content(metadata_mode=MetadataMode.LLM) for node in inner if isinstance(node, BaseNode))


def _texts(passages: Sequence[object]) -> tuple[str, ...]:
    """Return the texts of passages; for nodes, the texts that a writer sees."""
    found: list[str] = []
    for one in without_partial_answers(passages):
        found += node_texts([one]) if isinstance(one, BaseNode | NodeWithScore) else texts_of(one)
    return tuple(dict.fromkeys(found))


def _at_hand(response: StreamingResponse) -> bool:
    stream = response.response_gen
    return (
        response.response_txt is not None
        or stream is None
        or (isinstance(stream, ReplayableStream) and stream.complete)
    )


def _streamed(response: StreamingResponse) -> str | None:
    stream: Any = response.response_gen  # declared as a generator, but None in answers that are built by hand
    if not isinstance(stream, ReplayableStream):
        if response.response_txt is not None or stream is None:
            return response.response_txt
        if inspect.isgenerator(stream) and inspect.getgeneratorstate(stream) != inspect.GEN_CREATED:
            raise InputError(_GONE)
        response.response_gen = stream = ReplayableStream(stream)
    return "".join(stream.everything())


async def _astreamed(response: AsyncStreamingResponse) -> str | None:
    stream: Any = response.response_gen
    if not isinstance(stream, AsyncReplayableStream):
        if response._lock.locked():  # a reader is active, and `response_txt` is incomplete
            raise InputError("the stream of this answer is being read; evaluate before it is read, or after")
        if response.response_txt is not None or stream is None:
            return response.response_txt
        if inspect.isasyncgen(stream) and stream.ag_frame is None:
            raise InputError(_GONE)
        response.response_gen = stream = AsyncReplayableStream(stream)
    return "".join(await stream.read())


def _chatted(response: StreamingAgentChatResponse) -> str | None:
    """Return the text of a chat answer as its own writer collects it; the queue that the user reads is not touched."""
    writer = _task(response)
    if writer is not None and not writer.done():
        loop = writer.get_loop()
        if loop is _running_loop() or not loop.is_running():
            raise InputError("the answer is written by an event loop that waits for this call; use aevaluate_response")
        asyncio.run_coroutine_threadsafe(_ended(writer), loop).result()
    _wait_for_thread(response)
    if response.is_writing_to_memory or response.chat_stream is None:
        return _written(response)
    if not isinstance(response.chat_stream, ReplayableStream):
        response.chat_stream = ReplayableStream(response.chat_stream)
    return _deltas(response.chat_stream.everything())


async def _achatted(response: StreamingAgentChatResponse) -> str | None:
    writer = _task(response)
    if writer is not None and not writer.done() and writer.get_loop() is asyncio.get_running_loop():
        await _ended(writer)
    elif writer is None and not _names_its_writer(response) and response.achat_stream is not None:
        while response.is_writing_to_memory and not response.is_done and response.exception is None:
            await asyncio.sleep(0.002)
    if response.is_writing_to_memory or response.achat_stream is None:
        return await asyncio.to_thread(_chatted, response) if _pending(response) else _chatted(response)
    if not isinstance(response.achat_stream, AsyncReplayableStream):
        response.achat_stream = AsyncReplayableStream(response.achat_stream)
    return _deltas(await response.achat_stream.read())


def _pending(response: StreamingAgentChatResponse) -> bool:
    """Whether reading the answer can take time."""
    writer = _task(response)
    if writer is not None:
        return not writer.done()
    stream = response.chat_stream
    return not response.is_done and not (isinstance(stream, ReplayableStream) and stream.complete)


def _task(response: StreamingAgentChatResponse) -> asyncio.Task[Any] | None:
    return getattr(response, "awrite_response_to_history_task", None)


def _wait_for_thread(response: StreamingAgentChatResponse) -> None:
    """Wait for the thread that writes the answer."""
    if _names_its_writer(response):
        if response.write_response_to_history_thread is not None:
            response.write_response_to_history_thread.join()
    elif response.is_writing_to_memory and response.chat_stream is not None:
        while not response.is_done and response.exception is None:
            time.sleep(0.002)


def _names_its_writer(response: StreamingAgentChatResponse) -> bool:
    """Whether the answer names its writer; LlamaIndex 0.13 starts a thread or a task, and does not always record it."""
    return hasattr(response, "write_response_to_history_thread")


async def _ended(writer: asyncio.Task[Any]) -> None:
    await asyncio.wait((writer,))  # unlike `await writer`, this neither raises the writer's error nor cancels it


def _written(response: StreamingAgentChatResponse) -> str | None:
    if response.exception is not None:
        raise response.exception
    if not response.is_done and not response.response:
        raise InputError("no task writes the answer of this chat stream; read it first, or use aevaluate_response")
    if response.response:
        return response.response
    # The text that the user has read, and the part that is still queued, which stays in the queue.
    queue: Any = response.queue if response.aqueue is None else response.aqueue
    waiting: Any = getattr(queue, "queue", None) or getattr(queue, "_queue", ())
    return (response.unformatted_response + "".join(delta or "" for delta in waiting)).strip() or None


def _deltas(chunks: Iterable[ChatResponse]) -> str | None:
    return "".join(chunk.delta or "" for chunk in chunks).strip() or None


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _plain_text(response: object) -> str | None:
    response = answer_in(response)
    if response is None or isinstance(response, str):
        return response
    if isinstance(response, bool | int | float):
        return str(response)
    if isinstance(response, PydanticResponse):
        return None if response.response is None else response.response.model_dump_json()
    if isinstance(response, ChatResponse):
        response = response.message
    if isinstance(response, ChatMessage):
        return response.content or refusal_in(response) or response.content
    if isinstance(response, ToolOutput):
        return response.content
    if isinstance(response, CompletionResponse):
        return response.text
    if hasattr(response, "response"):  # Response, AgentChatResponse, AgentOutput
        text = _plain_text(response.response)
        structured = getattr(response, "structured_response", None)
        return text or (json.dumps(freeze(structured), ensure_ascii=False) if structured else text)
    if isinstance(response, BaseModel):
        return response.model_dump_json()
    if isinstance(response, Mapping | list | tuple):
        return json.dumps(freeze(response), ensure_ascii=False)
    raise InputError(f"cannot read an answer from {type(response).__name__}; give a text or a response of LlamaIndex")


def _calls(response: object) -> list[tuple[str, Mapping[str, Any], ToolOutput | None]]:
    """Return name, arguments and output of each tool call of an agent or of a chat engine's ``sources``."""
    made = [
        (str(call.tool_name), call.tool_kwargs, getattr(call, "tool_output", None))
        for call in listed(response, "tool_calls")
        if hasattr(call, "tool_name") and isinstance(getattr(call, "tool_kwargs", None), Mapping)
    ]
    outputs = [output for output in listed(response, "sources") if isinstance(output, ToolOutput)]
    return made or [(output.tool_name, _arguments(output.raw_input), output) for output in outputs]


def _arguments(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the arguments of a call; a function tool records its input as ``{"args": ..., "kwargs": {...}}``."""
    named = raw.get("kwargs")
    return named if isinstance(named, Mapping) and not raw.get("args") else raw


def _step(tool: str, arguments: Mapping[str, Any], output: ToolOutput | None) -> Step:
    if output is None:
        return Step(tool=tool, arguments=dict(arguments))
    if output.is_error:
        return Step(tool=tool, arguments=dict(arguments), error=output.content or "the tool failed")
    found = node_texts(output.raw_output) if isinstance(output.raw_output, list | tuple) else ()
    return Step(tool=tool, arguments=dict(arguments), output="\n\n".join(found) or output.content)


_GONE = (
    "the stream of this answer has been read already, so its text is gone; evaluate first, or read the answer with "
    "str(response)"
)
