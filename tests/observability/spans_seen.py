"""Keeps the spans that a tracing sends, and says how they are nested."""

from typing import Any

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter


def _by_name(tree: Any) -> tuple[str, str]:
    return (tree if isinstance(tree, str) else tree[0], str(tree))


class Spans:
    """Provider of the SDK that keeps what is exported."""

    def __init__(self) -> None:
        self.exporter = InMemorySpanExporter()
        self.provider = TracerProvider(shutdown_on_exit=False)
        self.provider.add_span_processor(SimpleSpanProcessor(self.exporter))

    @property
    def all(self) -> tuple[ReadableSpan, ...]:
        return self.exporter.get_finished_spans()

    def one(self, name: str) -> ReadableSpan:
        (span,) = [span for span in self.all if span.name == name]
        return span

    def attributes(self, name: str) -> dict[str, Any]:
        return dict(self.one(name).attributes or {})

    @property
    def tree(self) -> Any:
        """Each span as its name, or as a pair of its name and the sorted trees inside."""
        return sorted((self._tree(span) for span in self.all if span.parent is None), key=_by_name)

    def _tree(self, span: ReadableSpan) -> Any:
        inside = [one for one in self.all if one.parent is not None and one.parent.span_id == span.context.span_id]
        trees = sorted((self._tree(one) for one in inside), key=_by_name)
        return (span.name, trees) if trees else span.name

    @property
    def text(self) -> str:
        """Everything that was sent."""
        return "\n".join(span.to_json() for span in self.all)
