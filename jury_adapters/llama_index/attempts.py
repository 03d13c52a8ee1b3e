"""Attempts of a guarded query engine, and the response that the user gets from them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from llama_index.core.base.response.schema import RESPONSE_TYPE, AsyncStreamingResponse, Response, StreamingResponse
from llama_index.core.schema import NodeWithScore
from llama_index_instrumentation.span import active_span_id

from jury_adapters.core.case import Case
from jury_adapters.core.judgment import Judgment
from jury_adapters.core.runs import JudgedRun, Run
from jury_adapters.core.serial import to_dict
from jury_adapters.core.withheld import without_texts
from jury_adapters.llama_index.replayable_streams import AsyncReplayableStream, ReplayableStream

Outcome: TypeAlias = Literal["passed", "blocked", "best", "annotated", "unjudged"]

METADATA_KEY: Final = "jury"


@dataclass(frozen=True, slots=True)
class Attempt:
    """One answer of the engine with its verdict.

    Attributes:
        response: the response of the engine.
        text: the text of the response.
        case: the case that was judged; None if it could not be built.
        verdict: the judgment on the case.
    """

    response: RESPONSE_TYPE
    text: str
    case: Case | None
    verdict: Judgment

    def judged_by(self, engine: str, number: int) -> JudgedRun:
        """Return the attempt as sinks receive it.

        Args:
            engine: the name of the engine's class.
            number: the number of attempts before this one.
        """
        run = Run(active_span_id.get() or "", "query", engine, metadata={"attempt": number})
        return JudgedRun(run, self.case, self.verdict)


def outcome_of(response: object) -> str | None:
    """Return the outcome of the guard that a response came through; None if it came through none."""
    metadata = getattr(response, "metadata", None)
    record = metadata.get(METADATA_KEY) if isinstance(metadata, Mapping) else None
    outcome = record.get("outcome") if isinstance(record, Mapping) else None
    return outcome if isinstance(outcome, str) else None


def merit(attempt: Attempt) -> float:
    """Return how close an attempt came to passing: its score, or else the share of jurors that passed it."""
    verdict = attempt.verdict
    if verdict.score is not None:
        return verdict.score
    tally = getattr(verdict, "tally", None)
    return tally.passed / tally.eligible if tally is not None and tally.eligible else 0.0


def marked(given: Attempt, outcome: Outcome, attempts: Sequence[Attempt]) -> RESPONSE_TYPE:
    """Return a copy of the response that the user gets, with the verdicts in its metadata.

    It is a copy because an engine may cache the original. The verdicts of the other attempts come without their texts.
    """
    return _with_record(given.response, given, outcome, attempts)


def refused(refusal: str, attempts: Sequence[Attempt]) -> RESPONSE_TYPE:
    """Return the response that replaces an answer, with the sources and the metadata of the last attempt.

    It is a stream if the last attempt is one, because callers such as chat engines read it as that.
    """
    last = attempts[-1].response
    return _with_record(_like(last, refusal, list(last.source_nodes)), None, "blocked", attempts)


def _like(last: RESPONSE_TYPE, text: str, nodes: list[NodeWithScore]) -> RESPONSE_TYPE:
    """Return a response with another text, streamed in the way of the given one."""
    if isinstance(last, StreamingResponse):
        return StreamingResponse(ReplayableStream([text]), source_nodes=nodes, metadata=last.metadata)
    if isinstance(last, AsyncStreamingResponse):
        stream = AsyncReplayableStream(_one(text))
        return AsyncStreamingResponse(stream, source_nodes=nodes, metadata=last.metadata)
    return Response(text, source_nodes=nodes, metadata=last.metadata)


async def _one(text: str) -> AsyncIterator[str]:
    yield text


def _with_record(
    response: RESPONSE_TYPE, given: Attempt | None, outcome: Outcome, attempts: Sequence[Attempt]
) -> RESPONSE_TYPE:
    verdicts = [one.verdict if one is given else without_texts(one.verdict) for one in attempts]
    record = {"outcome": outcome, "attempts": len(attempts), "verdicts": [to_dict(verdict) for verdict in verdicts]}
    return replace(response, metadata={**(response.metadata or {}), METADATA_KEY: record})
