"""What an operator sees of the judging: spans for OpenTelemetry, and the log.

Nothing here sends anything by itself, and nothing else in this package does: no telemetry, no phoning home. Spans go
where the application's own tracer provider sends them, and only after :func:`trace_juries`.

The log is Python's own, under the one name ``jury_adapters``. Until the application configures logging, warnings and
errors go to stderr, as Python does it, because what they say may mean a loss:

==========================================  =======  ==============================================================
logger                                      level    what
==========================================  =======  ==============================================================
``jury_adapters.models.calls``              DEBUG    each try of each call to a model: model, attempt, outcome (kind of
                                                     error, HTTP status, request id), milliseconds, tokens
``jury_adapters.models.retries``            INFO     a call given up on: retries used up, or past its deadline
``jury_adapters.core.batch``                INFO     the end of each batch: cases, seconds, errors, how many broken off
``jury_adapters.core.background.docket``    WARNING  runs that will not be judged: too many pending, or the
                                                     process ends
``jury_adapters.core.background.docket``    ERROR    judging a run broke, for a reason that is no judgment
``jury_adapters.core.background.telling``   ERROR    ``on_verdict=`` raised
``jury_adapters.core.journal``              ERROR    a judgment could not be recorded
``jury_adapters.llama_index``,              WARNING  an answer was returned without a judgment; ERROR: a filter of
``jury_adapters.langchain``                 ERROR    the application raised, or watching a run broke
``jury_adapters.verdicts``                  INFO,    one line per verdict, with its reasons: only where the application
                                            WARNING  asks for it with :func:`jury_adapters.sinks.log_verdicts`
==========================================  =======  ==============================================================

No line of DEBUG, INFO or WARNING above holds a question, an answer, a prompt, a reply or a key. ERROR lines carry the
traceback of what was raised, and an exception of the application's own says what the application made it say.

>>> import logging
>>> logging.getLogger("jury_adapters.models.calls").setLevel(logging.DEBUG)  # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jury_adapters.core.errors import ConfigurationError

if TYPE_CHECKING:
    from opentelemetry.trace import TracerProvider

    from jury_adapters.observe.tracing import Tracing

__all__ = ["trace_juries"]


def trace_juries(tracer_provider: TracerProvider | None = None, *, content: bool = False) -> Tracing:
    """From now on, send an OpenTelemetry span for every verdict of this process, with all that happened inside.

    A span ``judge <name>`` stands for each jury, each tier and each juror, in each other as they are; under a juror
    that asks a model stands ``chat <model>`` (``decide <model>`` for a decision model), one per call with all its
    tries. The outermost is a child of the span that is current where ``judge()`` is called. Runs that a callback
    handler judges in the background begin a trace of their own, with a link to the span in which the run ended.

    Verdicts stay what they are without it. What breaks inside a tracer is logged and not felt.

    Args:
        tracer_provider: where the spans go; OpenTelemetry's global one by default.
        content: whether the question, the answer, the contexts, the prompts, the replies, the reasons and the texts
            of errors are sent too. Off by default, as the conventions ask: they may be anybody's private words. What
            looks like an API key is blotted out.

    Returns:
        The tracing; ``stop()`` ends it, and so does leaving a ``with`` block. Called again, the new one takes over.

    Raises:
        ConfigurationError: opentelemetry-api is not installed.

    >>> trace_juries()  # doctest: +SKIP
    >>> with trace_juries(provider, content=True):  # doctest: +SKIP
    ...     jury.judge(question="2 + 2?", answer="4")
    """
    try:
        from jury_adapters.observe.tracing import Tracing
    except ImportError as error:
        if (error.name or "").partition(".")[0] != "opentelemetry":
            raise
        raise ConfigurationError("trace_juries() needs OpenTelemetry: pip install 'jury-adapters[otel]'") from error
    return Tracing(tracer_provider, content=content).started()
