"""Spans for juries, jurors and calls to models; see :func:`jury_adapters.observability.trace_juries`."""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Self, TypeVar

from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.trace import Link, Span, SpanKind, Status, StatusCode, TracerProvider

from jury_adapters.core import instrumentation
from jury_adapters.core.cascade import CascadedJury, Tier
from jury_adapters.core.case import Case
from jury_adapters.core.context import run_context
from jury_adapters.core.description import Named
from jury_adapters.core.errors import ModelError
from jury_adapters.core.judgment import Judgment, broken
from jury_adapters.core.judgment import Status as JudgmentStatus
from jury_adapters.core.secrets import error_code, without_keys
from jury_adapters.models import calls
from jury_adapters.observability.attributes import (
    Attributes,
    of_case,
    of_error,
    of_judgment,
    of_prompt,
    of_reply,
    of_request,
)
from jury_adapters.observability.sinks import SPAN

T = TypeVar("T")

_log = logging.getLogger(__name__)


class Tracing:
    """Sender of spans to a tracer provider, from :meth:`started` to :meth:`stop`.

    Args:
        tracer_provider: the destination of the spans; by default the global provider.
        content: whether texts are sent too.
    """

    def __init__(self, tracer_provider: TracerProvider | None = None, *, content: bool = False) -> None:
        from jury_adapters import __version__

        self._tracer = trace.get_tracer("jury_adapters", __version__, tracer_provider)
        self._content = content

    def started(self) -> Self:
        """Start this tracing, and replace any other one."""
        instrumentation.observer = self
        calls.observer = self
        return self

    def stop(self) -> None:
        """Send no further spans, except for cases that are already being judged."""
        if instrumentation.observer is self:
            instrumentation.observer = None
        if calls.observer is self:
            calls.observer = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()

    async def judged(self, judge: Named, case: Case, name: str, work: Callable[[], Awaitable[Judgment]]) -> Judgment:
        """Judge within a span; see :class:`jury_adapters.core.instrumentation.Observer`."""
        opened = self._judging(judge, case, name or judge.name or type(judge).__name__)
        if opened is None:
            return await work()
        try:
            judgment = await work()
        except BaseException as error:
            opened.interrupted(error, self._content)
            raise
        opened.judged(judgment, self._content)
        return judgment

    async def called(
        self, request: calls.Request, attempt: calls.Attempt[T], call: Callable[[calls.Attempt[T]], Awaitable[T]]
    ) -> T:
        """Ask a model within a span; see :class:`jury_adapters.models.calls.CallObserver`."""
        opened = self._calling(request)
        if opened is None:
            return await call(attempt)
        try:
            result = await call(opened.counting(attempt))
        except BaseException as error:
            opened.interrupted(error, self._content)
            raise
        opened.answered(result, self._content)
        return result

    def _judging(self, judge: Named, case: Case, name: str) -> _Open | None:
        try:
            around = _AROUND.get()
            tier = None if around is None else around.next_tier()
            attributes: Attributes = {"jury_adapters.judge": name}
            if tier is not None:
                attributes["jury_adapters.tier"] = tier.name
                attributes["jury_adapters.tier.policy"] = str(tier.policy)
            links = _links() if around is None else ()
            span = self._tracer.start_span(f"judge {name}", attributes=attributes, links=links)
            if self._content and around is None and span.is_recording():
                span.set_attributes(of_case(case))
            return _Open.of(span, _Asking(judge))
        except Exception:
            _broke()
            return None

    def _calling(self, request: calls.Request) -> _Open | None:
        try:
            name = f"{request.operation} {request.model.model}"
            span = self._tracer.start_span(name, kind=SpanKind.CLIENT, attributes=of_request(request))
            if self._content and span.is_recording():
                span.set_attributes(of_prompt(request.prompt))
            return _Open.of(span, _AROUND.get())
        except Exception:
            _broke()
            return None


@dataclass(slots=True)
class _Asking:
    """Judge that is being asked, and the number of judges that it has asked in turn."""

    judge: Named
    asked: int = 0

    def next_tier(self) -> Tier | None:
        """Return the tier that a cascade asks now: it asks each one once, in order."""
        position, self.asked = self.asked, self.asked + 1
        if isinstance(self.judge, CascadedJury) and position < len(self.judge.tiers):
            return self.judge.tiers[position]
        return None


class _Open:
    """Span that is current until it ends. Errors in it have no effect on the judging."""

    __slots__ = ("_around", "_span", "_token", "_tries")

    def __init__(self, span: Span, asking: _Asking | None) -> None:
        self._span = span
        self._token = otel_context.attach(trace.set_span_in_context(span))
        self._around = _AROUND.set(asking)
        self._tries = 0

    @classmethod
    def of(cls, span: Span, asking: _Asking | None) -> _Open | None:
        """Make a span current, and return it; None if it is neither recorded nor part of a trace.

        Args:
            span: the span.
            asking: the judge that is being asked inside.
        """
        recorded = span.is_recording() or span.get_span_context().is_valid
        return cls(span, asking) if recorded else None

    def judged(self, judgment: Judgment, content: bool) -> None:
        """End the span with the judgment."""
        described = None
        if judgment.status is JudgmentStatus.ERROR:
            described = without_keys(judgment.error or "") if content else error_code(judgment.error)
        self._end(lambda: of_judgment(judgment, content), described)

    def answered(self, result: object, content: bool) -> None:
        """End the span with the model's answer."""
        self._end(lambda: {"jury_adapters.attempts": self._tries, **of_reply(result, content)})

    def interrupted(self, error: BaseException, content: bool) -> None:
        """End the span with an exception. Cancelling a juror whose vote no longer matters is not an error."""
        if isinstance(error, asyncio.CancelledError | GeneratorExit):
            self._end(lambda: {"jury_adapters.cancelled": True})
            return
        tries: Attributes = {"jury_adapters.attempts": self._tries} if self._tries else {}
        kind = of_error(error)
        said = without_keys(broken(error).error or "") if content else ""
        self._end(lambda: {**tries, **kind}, said or str(kind["error.type"]))

    def counting(self, attempt: calls.Attempt[T]) -> calls.Attempt[T]:
        """Return the attempt, wrapped so that each failure adds an event to the span."""

        async def counted() -> T:
            self._tries += 1
            try:
                return await attempt()
            except ModelError as error:
                self._note("jury_adapters.attempt_failed", {"jury_adapters.attempt": self._tries, **of_error(error)})
                raise

        return counted

    def _note(self, event: str, attributes: Attributes) -> None:
        try:
            self._span.add_event(event, attributes)
        except Exception:
            _broke()

    def _end(self, attributes: Callable[[], Attributes], failed: str | None = None) -> None:
        try:
            if self._span.is_recording():
                self._span.set_attributes(attributes())
                if failed is not None:
                    self._span.set_status(Status(StatusCode.ERROR, failed))
        except Exception:
            _broke()
        finally:
            self._close()

    def _close(self) -> None:
        with suppress(ValueError):  # an abandoned coroutine is closed by the garbage collector, in any context
            _AROUND.reset(self._around)
            otel_context.detach(self._token)  # last, since it would log an error instead of raising it
        try:
            self._span.end()
        except Exception:
            _broke()


def _links() -> tuple[Link, ...]:
    """Return a link to the span in which the run ended that is being judged in the background."""
    run = run_context().run
    span = None if run is None else run.metadata.get(SPAN)
    return (Link(span),) if isinstance(span, trace.SpanContext) else ()


def _broke() -> None:
    """Log the exception that is being handled: the first as a warning, by its type only, as its text may be private."""
    if not _warned.is_set():
        _warned.set()
        kind = type(sys.exception()).__name__
        _log.warning("a span could not be made or sent: %s. Judging goes on. This is logged once", kind)
    _log.debug("a span could not be sent", exc_info=True)


_AROUND: ContextVar[_Asking | None] = ContextVar("jury_asking", default=None)
_warned = threading.Event()
