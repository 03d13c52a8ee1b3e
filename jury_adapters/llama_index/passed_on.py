"""Answer of a query engine that a chat engine passes on as its own, as ``CondenseQuestionChatEngine`` does."""

from __future__ import annotations

from llama_index.core.base.response.schema import AsyncStreamingResponse, StreamingResponse
from llama_index.core.tools import ToolOutput


def passed_on(response: object, output: ToolOutput) -> bool:
    """Whether the answer of a chat engine is the answer of the engine in one of its ``sources``, word for word.

    Such an answer cannot be evidence for itself. A streamed one has no text yet: a chat engine that puts a stream among
    its sources streams that.

    Args:
        response: the response of the chat engine, or the outputs of its run.
        output: one of its ``sources``.
    """
    inner = output.raw_output
    if not hasattr(inner, "source_nodes") or getattr(response, "tool_calls", None):
        return False
    if isinstance(inner, StreamingResponse | AsyncStreamingResponse):
        return True
    answer = getattr(response, "answer", None) or getattr(response, "response", None)
    return isinstance(answer, str) and output.content.strip() == answer.strip()
