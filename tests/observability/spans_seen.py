"""Not a test: keeps the spans that a tracing sends, and says how they stand in each other."""

from __future__ import annotations

from typing import Any

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter


def by_name(tree: Any) -> tuple[str, str]:
    """Sort key of trees."""
    return (tree if isinstance(tree, str) else tree[0], str(tree))


class Spans:
    """A provider of the SDK that keeps what is exported."""

    def __init__(self) -> None:
        self.exporter = InMemorySpanExporter()
        self.provider = TracerProvider(shutdown_on_exit=False)
        self.provider.add_span_processor(SimpleSpanProcessor(self.exporter))

    @property
    def all(self) -> tuple[ReadableSpan, ...]:
        return self.exporter.get_finished_spans()

    def named(self, name: str) -> list[ReadableSpan]:
        return [span for span in self.all if span.name == name]

    def one(self, name: str) -> ReadableSpan:
        (span,) = self.named(name)
        return span

    def attributes(self, name: str) -> dict[str, Any]:
        return dict(self.one(name).attributes or {})

    def parent(self, span: ReadableSpan) -> ReadableSpan | None:
        if span.parent is None:
            return None
        return next(one for one in self.all if one.context.span_id == span.parent.span_id)

    @property
    def tree(self) -> Any:
        """Each span as its name, or as a pair of its name and the sorted trees inside."""
        return [self._tree(span) for span in sorted(self.all, key=lambda one: one.name) if span.parent is None]

    def _tree(self, span: ReadableSpan) -> Any:
        inside = [one for one in self.all if one.parent is not None and one.parent.span_id == span.context.span_id]
        trees = sorted((self._tree(one) for one in inside), key=by_name)
        return (span.name, trees) if trees else span.name

    @property
    def text(self) -> str:
        """Everything that was sent."""
        return "\n".join(span.to_json() for span in self.all)
