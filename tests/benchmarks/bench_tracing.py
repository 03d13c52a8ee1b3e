"""Cost of tracing: CPU of a verdict of three plain functions with and without ``trace_juries``.

Run it from the repository: ``python tests/benchmarks/bench_tracing.py``. Four spans belong to a verdict. The rows take
turns in every round. A ratio is the median of the ratios within the rounds to the row without tracing, with the lowest
and the highest of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from time import process_time

from bench_core import CASE, named, short, supported
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from opentelemetry.trace import ProxyTracerProvider
from ratios import print_microseconds

from jury_adapters import Ensemble
from jury_adapters.observability import trace_juries

ROUNDS = 9
VERDICTS = 1_500


class Dropped(SpanExporter):
    """Exporter that drops every span."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Drop the spans."""
        return SpanExportResult.SUCCESS


def main() -> None:
    """Measure and print."""
    recording = TracerProvider()
    recording.add_span_processor(SimpleSpanProcessor(Dropped()))
    rows: dict[str, Callable[[], AbstractContextManager[object]]] = {
        "without trace_juries": nullcontext,
        "OpenTelemetry's SDK is not set up": lambda: trace_juries(ProxyTracerProvider()),
        "the trace is not sampled": lambda: trace_juries(TracerProvider(sampler=ALWAYS_OFF)),
        "the spans are recorded": lambda: trace_juries(recording),
    }
    jury = Ensemble([named, short, supported])
    seconds: dict[str, list[float]] = {name: [] for name in rows}
    for number in range(ROUNDS + 1):
        for name, tracing in rows.items():
            with tracing():
                started = process_time()
                for _ in range(VERDICTS):
                    jury.judge(CASE)
                if number:  # the first round warms up
                    seconds[name].append(process_time() - started)
    print_microseconds(seconds, VERDICTS, "without")


if __name__ == "__main__":
    main()
