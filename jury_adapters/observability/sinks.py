"""Sinks for verdicts on an application's runs: functions for ``on_verdict=``.

>>> handler = JuryCallbackHandler(jury, on_verdict=[log_verdicts(), otel_events()])  # doctest: +SKIP
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, MutableMapping
from typing import TYPE_CHECKING, Any, Final

from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.installation import needs_extra
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.opinions import asked_jurors
from jury_adapters.core.runs import JudgedRun
from jury_adapters.core.secrets import error_code
from jury_adapters.core.verdict import Verdict
from jury_adapters.core.verdict_facts import case_score

if TYPE_CHECKING:
    from opentelemetry._logs import LoggerProvider

EVENT_NAME: Final = "gen_ai.evaluation.result"
"""Name of the event in OpenTelemetry's conventions for generative AI."""


def log_verdicts(
    logger: logging.Logger | str | None = None,
    *,
    level: int = logging.INFO,
    failure_level: int = logging.WARNING,
) -> Callable[[JudgedRun], None]:
    """Return a sink that writes one line per verdict to a logger.

    The judged texts are not logged. The reasons are, on the same line, with characters that could forge a log line
    escaped. The record also has the fields ``run_id``, ``run_name``, ``jury_status``, ``jury_score`` and
    ``jury_needs_review``.

    Args:
        logger: the logger, or its name; ``"jury_adapters.verdicts"`` by default.
        level: the level of verdicts that are PASS or a label.
        failure_level: the level of verdicts that are FAIL, or that need review: those without a decision (ABSTAIN,
            ERROR), and those for which the jury asks for it.

    >>> handler = JuryCallbackHandler(jury, on_verdict=log_verdicts("quality"))  # doctest: +SKIP
    """
    target = logger if isinstance(logger, logging.Logger) else logging.getLogger(logger or "jury_adapters.verdicts")

    def log_verdict(judged: JudgedRun) -> None:
        judgment = judged.judgment
        bad = judgment.status is Status.FAIL or judgment.needs_review
        target.log(
            failure_level if bad else level,
            "%s %s%s: %s",
            judged.run.kind,
            _one_line(judged.run.name or judged.run.id),
            _one_line(f" ({judged.run.id})" if judged.run.id else ""),
            _one_line(_summary(judgment)),
            extra={
                "run_id": judged.run.id,
                "run_name": judged.run.name,
                "jury_status": _label(judgment),
                "jury_score": case_score(judgment),
                "jury_needs_review": judgment.needs_review,
            },
        )

    return log_verdict


def otel_events(
    *, per_juror: bool = False, explanations: bool = True, logger_provider: LoggerProvider | None = None
) -> Callable[[JudgedRun], None]:
    """Return a sink that emits an OpenTelemetry event ``gen_ai.evaluation.result`` per verdict.

    The event has the attributes of the conventions: ``gen_ai.evaluation.name``, ``.score.value``, ``.score.label``,
    ``.explanation``, ``gen_ai.conversation.id`` if the run has a thread, and ``error.type`` if the judge failed.
    It also has ``jury_adapters.run.id``, ``.run.name``, ``.agreement`` and ``.needs_review``. It belongs to the
    span in which the run ended, if there was one.

    Args:
        per_juror: whether each juror gets an event too.
        explanations: whether the reasons are sent; they may quote what was judged.
        logger_provider: the destination of the events; by default the global provider.

    Raises:
        ConfigurationError: opentelemetry-api is not installed.

    >>> handler = JuryCallbackHandler(jury, on_verdict=otel_events())  # doctest: +SKIP
    """
    try:
        from opentelemetry import trace
        from opentelemetry._logs import LogRecord, SeverityNumber, get_logger
    except ImportError as error:
        raise ConfigurationError(needs_extra("otel_events()", "OpenTelemetry", "otel")) from error
    logger = get_logger("jury_adapters", logger_provider=logger_provider)

    def emit_event(judged: JudgedRun) -> None:
        span = judged.run.metadata.get(SPAN)
        context = (
            trace.set_span_in_context(trace.NonRecordingSpan(span)) if isinstance(span, trace.SpanContext) else None
        )
        judgment = judged.judgment
        for opinion in (judgment, *(asked_jurors(judgment).values() if per_juror else ())):
            attributes = _attributes(judged, opinion, explained=explanations)
            severity = SeverityNumber.WARN if opinion.status is Status.ERROR else SeverityNumber.INFO
            logger.emit(
                LogRecord(event_name=EVENT_NAME, attributes=attributes, context=context, severity_number=severity)
            )

    return emit_event


def note_span(metadata: MutableMapping[str, Any]) -> None:
    """Record the current OpenTelemetry span in a run's metadata, so that the run's verdict can be attached to it.

    This costs nothing in a process that does not use OpenTelemetry.
    """
    trace = sys.modules.get("opentelemetry.trace")
    if trace is None:
        return
    context = trace.get_current_span().get_span_context()
    if context.is_valid:
        metadata[SPAN] = context


SPAN: Final = "opentelemetry.span_context"


def _attributes(judged: JudgedRun, judgment: Judgment, *, explained: bool) -> dict[str, str | float | bool]:
    thread = judged.run.metadata.get("thread_id")
    found: dict[str, str | float | bool | None] = {
        "gen_ai.evaluation.name": judgment.critic or "jury",
        "gen_ai.evaluation.score.value": case_score(judgment),
        "gen_ai.evaluation.score.label": _label(judgment).lower(),
        "gen_ai.evaluation.explanation": judgment.reasoning if explained and judgment.reasoning else None,
        "gen_ai.conversation.id": None if thread is None else str(thread),
        "error.type": error_code(judgment.error) if judgment.status is Status.ERROR else None,
        "jury_adapters.run.id": judged.run.id or None,
        "jury_adapters.run.name": judged.run.name or None,
    }
    if isinstance(judgment, Verdict):
        found["jury_adapters.agreement"] = judgment.agreement
        found["jury_adapters.needs_review"] = judgment.needs_review
    return {name: value for name, value in found.items() if value is not None}


def _summary(judgment: Judgment) -> str:
    score = case_score(judgment)
    parts = [_label(judgment)]
    if score is not None:
        parts.append(f"score {score:.2f}")
    if isinstance(judgment, Verdict) and (agreement := judgment.agreement) is not None:
        parts.append(f"agreement {agreement:.2f}")
    if judgment.needs_review:
        parts.append("needs review")
    reason = judgment.error or judgment.reasoning
    return ", ".join(parts) + (f": {reason}" if reason else "")


def _label(judgment: Judgment) -> str:
    return str(judgment.label if judgment.status is None else judgment.status)


def _one_line(text: str) -> str:
    """Return the text with characters escaped that start a new line or control a terminal."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
