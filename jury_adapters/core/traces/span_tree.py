"""Tree of the spans of a trace: their order, and which spans are inside others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jury_adapters.core.traces.span_content import Kind, Plain, kind_of, output_message
from jury_adapters.core.traces.spans import Span


@dataclass(slots=True)
class Placed:
    """Span with its place in the tree.

    Attributes:
        span: the span.
        kind: the kind of the span.
        output: what the span wrote, if it is that of a model, an agent or a chain.
        in_tool: whether the span is inside the span of a tool.
        in_chat: whether the span is inside the span of a model.
        outermost: whether the output is that of the run, and not of an agent inside another one or inside a tool, nor
            a text of an agent or a chain that failed before it answered.
        around: the span that contains it; None for a root.
        holds_model: whether a model or an agent is inside the span.
        end: the time after which neither the span nor one inside it runs, in nanoseconds.
    """

    span: Span
    kind: Kind
    output: Plain | None
    in_tool: bool
    in_chat: bool
    outermost: bool
    around: Placed | None = None
    holds_model: bool = False
    end: int = 0


def placed_spans(spans: Sequence[Span], problems: list[str]) -> list[Placed]:
    """Return the spans of one trace in the order of their start, each span after those that contain it.

    A span whose parent is not in the trace is a root. Spans that are their own ancestors are read as if the first of
    them had no parent, and ``problems`` names it. A model inside a model, which two instrumentations record, or two
    methods of one class, counts once. All spans inside that of a judge are of the kind ``JUDGE``.
    """
    walked = _walk(spans, problems)
    found: dict[str, Placed] = {}
    for span, parent in walked:
        around = None if parent is None else found[parent]
        in_chat = around is not None and (around.in_chat or around.kind is Kind.CHAT)
        kind = kind_of(span)
        if around is not None and around.kind is Kind.JUDGE:  # what a judge does is not a part of the run
            kind = Kind.JUDGE
        elif in_chat and kind is Kind.CHAT:
            kind = Kind.OTHER
        output = output_message(span) if kind in _WRITING else None
        in_tool = around is not None and (around.in_tool or around.kind is Kind.TOOL)
        outermost = not in_tool and (around is None or (around.outermost and not _ends_at(around)))
        end = max(span.end, span.start + 1)
        found[span.span_id] = Placed(span, kind, output, in_tool, in_chat, outermost, around, end=end)
    for span, parent in reversed(walked):
        if parent is not None:
            inside, around = found[span.span_id], found[parent]
            around.holds_model = around.holds_model or inside.holds_model or inside.kind in _MODELS
            around.end = max(around.end, inside.end)
    return _in_time(walked, found)


def error_at_end(placed: Sequence[Placed]) -> str | None:
    """Return the error of the last agent, chain or model that is not inside another agent, model or tool, or around it.

    The span of a web server may have no error if its agent failed. What an agent calls may fail without consequence.
    """
    for one in reversed(placed):
        if one.kind in _WRITING and not one.in_tool:
            within = list(_and_around(one))
            if not any(place.kind in _MODELS for place in within[1:]):
                return next((place.span.error for place in within if place.span.error is not None), None)
    return None


def _and_around(place: Placed) -> Iterator[Placed]:
    """Yield a span and those that contain it, the innermost first."""
    found: Placed | None = place
    while found is not None:
        yield found
        found = found.around


def _ends_at(place: Placed) -> bool:
    """Whether no span inside can have the answer: the span has written it, or failed before it could."""
    return place.output is not None or (place.kind in _WRITING and place.span.error is not None)


def _walk(spans: Sequence[Span], problems: list[str]) -> list[tuple[Span, str | None]]:
    """Return each span with its parent, parents first."""
    ordered = sorted(spans, key=lambda span: span.start)
    ids = {span.span_id for span in spans}
    children: dict[str, list[Span]] = {}
    for span in ordered:
        if span.parent_id in ids:
            children.setdefault(span.parent_id, []).append(span)
    walked: list[tuple[Span, str | None]] = []
    seen: set[str] = set()
    roots = [span for span in ordered if span.parent_id not in ids]
    for begin in (*roots, *ordered):  # spans that no root reaches are in a circle
        if begin.span_id in seen:
            continue
        if begin.parent_id in ids:
            problems.append(f"the span {begin.span_id} is its own ancestor; it is read as one without a parent")
        waiting: list[tuple[Span, str | None]] = [(begin, None)]
        while waiting:
            span, parent = waiting.pop()
            if span.span_id in seen:
                continue
            seen.add(span.span_id)
            walked.append((span, parent))
            waiting += [(child, span.span_id) for child in reversed(children.get(span.span_id, ()))]
    return walked


def _in_time(walked: Sequence[tuple[Span, str | None]], found: dict[str, Placed]) -> list[Placed]:
    """Return the spans by start; one that seems to start before its parent, by another clock, starts with it."""
    starts: dict[str, int] = {}
    for span, parent in walked:
        starts[span.span_id] = max(span.start, 0 if parent is None else starts[parent])
    return sorted((found[span.span_id] for span, _ in walked), key=lambda one: starts[one.span.span_id])


_WRITING = (Kind.AGENT, Kind.CHAIN, Kind.CHAT)
_MODELS = (Kind.AGENT, Kind.CHAT)
