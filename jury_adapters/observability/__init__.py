"""Observability of the judging: spans for OpenTelemetry, and the log.

Neither this module nor any other part of this package sends data by itself: there is no telemetry. Spans go
where the application's own tracer provider sends them, and only after :func:`trace_juries`.

The log is Python's own, under the logger ``jury_adapters``. Until the application configures logging, warnings and
errors go to stderr, which is Python's default, because they may mean a loss of data:

==========================================  =======  ==============================================================
logger                                      level    what
==========================================  =======  ==============================================================
``jury_adapters.models.calls``              DEBUG    each attempt of each model call: model, attempt, outcome (kind of
                                                     error, HTTP status, request id), milliseconds, tokens
``jury_adapters.models.retries``            INFO     a failed call: no retries left, or past its deadline
``jury_adapters.core.batch``                INFO     the end of each batch: cases, seconds, errors, how many broken off
``jury_adapters.core.background.judge_queue``    WARNING  runs that will not be judged: too many pending, or the
                                                     process ends
``jury_adapters.core.background.judge_queue``    ERROR    judging a run failed without a judgment
``jury_adapters.core.background.sink_calls``   ERROR    ``on_verdict=`` raised
``jury_adapters.core.cache``              ERROR    judgments could not be recorded (at 1, 2, 4, 8, ... of them)
``jury_adapters.llama_index``,              WARNING  an answer was returned without a judgment; ERROR: a filter of
``jury_adapters.langchain``                 ERROR    the application raised, or watching a run failed
``jury_adapters.verdicts``                  INFO,    one line per verdict, with its reasons: only where the application
                                            WARNING  asks for it with :func:`log_verdicts`
==========================================  =======  ==============================================================

No DEBUG, INFO or WARNING line above contains a question, an answer, a prompt, a reply or a key. ERROR lines include the
traceback of the exception, and the message of an exception of the application may contain anything.

>>> import logging
>>> logging.getLogger("jury_adapters.models.calls").setLevel(logging.DEBUG)  # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jury_adapters.core.context import judging
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.installation import needs_extra
from jury_adapters.observability.sinks import log_verdicts, otel_events
from jury_adapters.progress import progress_bar

if TYPE_CHECKING:
    from opentelemetry.trace import TracerProvider

    from jury_adapters.observability.tracing import Tracing

__all__ = ["judging", "log_verdicts", "otel_events", "progress_bar", "trace_juries"]


def trace_juries(tracer_provider: TracerProvider | None = None, *, content: bool = False) -> Tracing:
    """Send an OpenTelemetry span for every verdict of this process from now on, with the steps inside it.

    Each jury, each tier and each juror has a span ``judge <name>``, nested as they are. A juror that asks a model has a
    child ``chat <model>`` (``decide <model>`` for a decision model), one per call with all its attempts. The outermost
    span is a child of the span that is current when ``judge()`` is called. Runs that a callback handler judges in the
    background begin a trace of their own, with a link to the span in which the run ended.

    Verdicts are the same as without tracing. Errors inside a tracer are logged and otherwise ignored.

    Args:
        tracer_provider: the destination of the spans; by default OpenTelemetry's global provider.
        content: whether the question, the answer, the contexts, the prompts, the replies, the reasons and the texts
            of errors are sent too. Off by default, as the conventions require, because they may be private. Text that
            looks like an API key is redacted.

    Returns:
        The tracing; ``stop()`` ends it, and so does leaving a ``with`` block. A second call replaces the first tracing.

    Raises:
        ConfigurationError: opentelemetry-api is not installed.

    >>> trace_juries()  # doctest: +SKIP
    >>> with trace_juries(provider, content=True):  # doctest: +SKIP
    ...     jury.judge(question="2 + 2?", answer="4")
    """
    try:
        from jury_adapters.observability.tracing import Tracing
    except ImportError as error:
        if (error.name or "").partition(".")[0] != "opentelemetry":
            raise
        raise ConfigurationError(needs_extra("trace_juries()", "OpenTelemetry", "otel")) from error
    return Tracing(tracer_provider, content=content).started()
