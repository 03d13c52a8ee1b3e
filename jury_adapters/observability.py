"""Observability: spans for OpenTelemetry, and sinks that log verdicts, send them as events or write them to a file.

Nothing is sent by itself: there is no telemetry. Spans and events go where the application's own providers send them. A
sink is a function for ``on_verdict=``.
"""

import json
import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar
from urllib.parse import urlsplit

from jury_adapters.core import judge as judging
from jury_adapters.core.asking import JudgedRun
from jury_adapters.core.case import Case
from jury_adapters.core.judge import Judge, JudgeLike, judge_of
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.results import Result
from jury_adapters.core.text import visible
from jury_adapters.core.values import ConfigurationError, error_text, without_keys
from jury_adapters.models import limits as calling
from jury_adapters.models.base import ChatModel, ModelError, Options, Prompt, Reply

if TYPE_CHECKING:
    from opentelemetry._logs import LoggerProvider
    from opentelemetry.trace import Span, TracerProvider

T = TypeVar("T")
Sink = Callable[[JudgedRun], None]
_Attributes = dict[str, Any]
_log = logging.getLogger(__name__)
# The names of vendors in the conventions, where they differ from ours.
_PROVIDERS = {"azure": "azure.ai.openai", "gemini": "gcp.gemini", "mistral": "mistral_ai"}
_MISSING = '{} needs OpenTelemetry: pip install "jury-adapters[otel]"'
_judging: ContextVar[Judge | None] = ContextVar("jury_judging", default=None)


def trace_juries(provider: "TracerProvider | None" = None, *, content: bool = False) -> "Tracing":
    """Send an OpenTelemetry span for every judge that is asked in this process, and for every call of a model.

    Juries, tiers and jurors have spans ``judge <name>``, nested as they are; calls of models, with all their attempts,
    have spans ``chat <model>``. The outermost is a child of the application's current span. Verdicts are the same as
    without tracing, and errors of a tracer are ignored.

    Args:
        provider: where the spans go; OpenTelemetry's global provider by default.
        content: whether the case, the prompts, the replies, the reasons and the texts of errors are sent. They may be
            private, so they are not by default. API keys are never sent.

    Returns:
        the tracing; ``stop()`` or the end of a ``with`` block ends it. A second call replaces the first.

    Raises:
        ConfigurationError: opentelemetry-api is not installed.

    Example::

        with trace_juries(content=True):
            jury.judge(question="2 + 2?", answer="4")
    """
    try:
        return Tracing(provider, content)
    except ImportError:
        raise ConfigurationError(_MISSING.format("trace_juries()")) from None


def log_verdicts(logger: logging.Logger | None = None) -> Sink:
    """Return a sink that logs one line per verdict: INFO, or WARNING for FAIL and what needs human review.

    The line has the reason, without API keys and without characters that could begin another line. The record has the
    attributes ``run_id``, ``run_name``, ``jury_status``, ``jury_score`` and ``jury_needs_review``.

    Args:
        logger: the logger; ``jury_adapters.verdicts`` by default.

    Example::

        JuryCallbackHandler(jury, on_verdict=log_verdicts())
    """
    target = logger or logging.getLogger("jury_adapters.verdicts")

    def log_verdict(judged: JudgedRun) -> None:
        judgment, (run_id, name) = judged.judgment, _run_of(judged)
        text = str(judgment.model_copy(update={"reasoning": without_keys(judgment.reasoning)})).partition("\n")[0]
        target.log(
            logging.WARNING if judgment.status is Status.FAIL or judgment.needs_review else logging.INFO,
            "%s%s: %s",
            visible(name or "run"),
            visible(f" ({run_id})" if run_id else ""),
            text,
            extra={
                "run_id": run_id,
                "run_name": name,
                "jury_status": judgment.status.value,
                "jury_score": judgment.number,
                "jury_needs_review": judgment.needs_review,
            },
        )

    return log_verdict


def otel_events(provider: "LoggerProvider | None" = None, *, content: bool = False) -> Sink:
    """Return a sink that emits an OpenTelemetry event ``gen_ai.evaluation.result`` per verdict.

    Args:
        provider: where the events go; OpenTelemetry's global provider by default.
        content: whether the reason is sent, which may quote what was judged.

    Raises:
        ConfigurationError: opentelemetry-api is not installed.

    Example::

        JuryCallbackHandler(jury, on_verdict=otel_events())
    """
    try:
        from opentelemetry._logs import LogRecord, SeverityNumber, get_logger
    except ImportError:
        raise ConfigurationError(_MISSING.format("otel_events()")) from None
    logger, severity = get_logger("jury_adapters", logger_provider=provider), (SeverityNumber.INFO, SeverityNumber.WARN)

    def emit_event(judged: JudgedRun) -> None:
        run_id, name = _run_of(judged)
        about = {"jury_adapters.run.id": run_id, "jury_adapters.run.name": name}
        logger.emit(
            LogRecord(
                event_name="gen_ai.evaluation.result",
                attributes=_evaluation(judged.judgment, content) | about,
                severity_number=severity[judged.judgment.status is Status.ERROR],
            )
        )

    return emit_event


def jsonl(path: str | Path, jury: JudgeLike | None = None) -> Sink:
    """Return a sink that appends one line per verdict to a results file, which :func:`read_results` reads.

    Several threads and processes may append to one file. Each line is one write, and the file is not kept open, so it
    may be moved away. The lines have the texts of the cases.

    Args:
        path: the file; it is made if it is missing.
        jury: the jury, whose fingerprint the lines then have.

    Raises:
        ConfigurationError: the file cannot be written.

    Example::

        JuryCallbackHandler(jury, on_verdict=jsonl("verdicts.jsonl", jury))
    """
    fingerprint = judge_of(jury).fingerprint if jury is not None else ""
    try:
        Path(path).open("ab").close()
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be written: {error.strerror}") from None

    def append(judged: JudgedRun) -> None:
        judgment = judged.judgment.model_copy(update={"case_metadata": {}})
        line = Result(jury=fingerprint, case=judged.case, judgment=judgment).model_dump_json(exclude_defaults=True)
        with Path(path).open("ab", buffering=0) as file:
            file.write(f"{line}\n".encode())

    return append


class Tracing:
    """Tracing of this process; see :func:`trace_juries`."""

    def __init__(self, provider: "TracerProvider | None", content: bool) -> None:
        from opentelemetry import context, trace

        self._trace, self._context, self._content = trace, context, content
        self._tracer = trace.get_tracer("jury_adapters", tracer_provider=provider)
        judging.around, calling.around_call = self._judged, self._called

    def stop(self) -> None:
        """Send no further spans, except for what is being judged now."""
        if judging.around == self._judged:
            judging.around = calling.around_call = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    async def _judged(self, judge: Judge, case: Case, call: Callable[[], Awaitable[Judgment]]) -> Judgment:
        parent = _judging.get()
        attributes = _case_attributes(case) if self._content and parent is None else {}
        for tier in getattr(parent, "tiers", ()):
            if tier.judge is judge:
                attributes |= {"jury_adapters.tier": tier.name, "jury_adapters.tier.policy": tier.policy}
        span = _safely(self._tracer.start_span, f"judge {judge.name}", attributes=attributes)
        return await self._within(span, call, _judgment_attributes, judge)

    async def _called(
        self, model: ChatModel, prompt: Prompt, options: Options, call: Callable[[], Awaitable[Reply]]
    ) -> Reply:
        attributes = _request_attributes(model, options) | (_prompt_attributes(prompt) if self._content else {})
        span = _safely(
            self._tracer.start_span, f"chat {model.model}", kind=self._trace.SpanKind.CLIENT, attributes=attributes
        )
        return await self._within(span, call, _reply_attributes, _judging.get())

    async def _within(
        self,
        span: "Span | None",
        call: Callable[[], Awaitable[T]],
        attributes_of: Callable[[T, bool], _Attributes],
        judge: Judge | None,
    ) -> T:
        """Make a call within a span that is current meanwhile."""
        if span is None:
            return await call()
        token, mine = self._context.attach(self._trace.set_span_in_context(span)), _judging.set(judge)
        try:
            found = await call()
            _safely(self._describe, span, attributes_of(found, self._content))
            return found
        except BaseException as error:
            _safely(self._describe, span, _failure_attributes(error, self._content))
            raise
        finally:
            with suppress(ValueError):  # an abandoned call is closed by the garbage collector, in any context
                _judging.reset(mine)
                self._context.detach(token)
            _safely(span.end)

    def _describe(self, span: "Span", attributes: _Attributes) -> None:
        span.set_attributes(attributes)
        if "gen_ai.evaluation.name" in attributes:  # a juror may have another name in its jury
            span.update_name(f"judge {attributes['gen_ai.evaluation.name']}")
        if "error.type" in attributes:
            text = attributes.get("jury_adapters.error", attributes["error.type"])
            span.set_status(self._trace.Status(self._trace.StatusCode.ERROR, text))


def _safely(work: Callable[..., T], *args: Any, **options: Any) -> T | None:
    """Do something with a span; an error of the tracer must not change a verdict."""
    try:
        return work(*args, **options)
    except Exception:
        _log.debug("a span could not be made or sent", exc_info=True)
        return None


def _evaluation(judgment: Judgment, content: bool) -> _Attributes:
    """Return what the conventions say about an evaluation."""
    neutral = judgment.status is Status.LABEL
    return _known(
        {
            "gen_ai.evaluation.name": judgment.critic or "jury",
            "gen_ai.evaluation.score.value": judgment.number,
            "gen_ai.evaluation.score.label": str(judgment.label if neutral else judgment.status).lower(),
            "gen_ai.evaluation.explanation": (without_keys(judgment.reasoning) or None) if content else None,
            "error.type": _cause(judgment) if judgment.status is Status.ERROR else None,
            "jury_adapters.error": judgment.error if content else None,
            "jury_adapters.status": judgment.status.value,
            "jury_adapters.agreement": judgment.agreement,
            "jury_adapters.needs_review": judgment.needs_review,
        }
    )


def _judgment_attributes(judgment: Judgment, content: bool) -> _Attributes:
    usage = judgment.usage
    asked = {name: getattr(usage, name) for name in ("calls", "cost_usd", "cost_complete")} if usage.calls else {}
    own = {
        "confidence": judgment.confidence,
        "jurors": len(judgment.judgments) or None,
        "voting": judgment.voting or None,
        "agreement_band": judgment.agreement_band,
        "same_family": judgment.same_family,
        "tied": judgment.tied or None,
        "skipped": judgment.skipped or None,
        "tiers": [*judgment.tiers] or None,
        "stopped_at": judgment.stopped_at,
    }
    return _evaluation(judgment, content) | _known(
        {f"jury_adapters.{name}": value for name, value in (asked | own).items()}
    )


def _case_attributes(case: Case) -> _Attributes:
    texts = {name: getattr(case, name) for name in ("question", "answer", "contexts", "reference", "candidates")}
    return {
        f"jury_adapters.case.{name}": without_keys(text) if isinstance(text, str) else [*map(without_keys, text)]
        for name, text in texts.items()
        if text
    }


def _request_attributes(model: ChatModel, options: Options) -> _Attributes:
    vendor, server = model.name.partition(":")[0], urlsplit(getattr(model, "address", ""))
    return _known(
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": _PROVIDERS.get(vendor, vendor),
            "gen_ai.request.model": model.model,
            "gen_ai.request.temperature": options.temperature,
            "gen_ai.request.max_tokens": options.max_tokens,
            "server.address": server.hostname,
            "server.port": server.port,
        }
    )


def _prompt_attributes(prompt: Prompt) -> _Attributes:
    turns = [{"role": turn.role, "parts": _parts(turn.text)} for turn in prompt.turns]
    return {
        "gen_ai.input.messages": json.dumps(turns),
        "gen_ai.system_instructions": json.dumps(_parts(prompt.system)),
    }


def _reply_attributes(reply: Reply, content: bool) -> _Attributes:
    usage = reply.usage
    said = {"role": "assistant", "parts": _parts(reply.text), "finish_reason": reply.finish}
    return _known(
        {
            "gen_ai.usage.input_tokens": usage.input_tokens or None,  # zero: the server does not count them
            "gen_ai.usage.output_tokens": usage.output_tokens or None,
            "gen_ai.response.model": reply.model or None,
            "gen_ai.response.finish_reasons": [reply.finish],
            "gen_ai.output.messages": json.dumps([said]) if content else None,
            "jury_adapters.cost_usd": usage.cost_usd if usage.cost_complete else None,
        }
    )


def _failure_attributes(error: BaseException, content: bool) -> _Attributes:
    if not isinstance(error, Exception):  # a juror whose vote no longer matters is cancelled, which is not an error
        return {"jury_adapters.cancelled": True}
    kind = error.kind if isinstance(error, ModelError) else type(error).__name__
    return _known({"error.type": kind, "jury_adapters.error": error_text(error) if content else None})


def _parts(text: str) -> list[dict[str, str]]:
    return [{"type": "text", "content": without_keys(text)}]


def _known(found: Mapping[str, Any]) -> _Attributes:
    return {name: value for name, value in found.items() if value is not None}


def _cause(judgment: Judgment) -> str:
    """Return the kind of an error, which is one of few words, and never its text."""
    named = re.match(r"\w+(?=:|$)", judgment.error or "")
    return str(judgment.metadata.get("cause") or (named[0] if named else "_OTHER"))


def _run_of(judged: JudgedRun) -> tuple[str, str]:
    """Return the id and the name of what was judged."""
    case_id = judged.case.id if judged.case else None
    return str(getattr(judged.run, "id", "") or case_id or ""), str(getattr(judged.run, "name", "") or "")
