"""Spans of OTLP in its JSON form, as the file exporter of the OpenTelemetry Collector writes them.

Source: https://opentelemetry.io/docs/specs/otel/protocol/file-exporter/

Files are not trusted. A span that cannot be read is left out and reported, and the depth and the size of its values are
limited.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from jury_adapters.core.errors import plain_repr
from jury_adapters.core.field_names import TRACES

LONGEST_VALUE: Final = 1 << 22
"""Maximum number of characters of a text in an attribute."""

Attributes: TypeAlias = Mapping[str, object]

_DEEPEST = 32
_LONGEST_NAME = 200
_ID = re.compile(r"[0-9A-Za-z+/=_-]{1,64}")
_HEX = re.compile(r"[0-9A-Fa-f]+")
_KEPT = (
    "gen_ai.", "openinference.", "llm.", "input.", "output.", "tool.", "tool_call.", "retrieval.", "agent.",
    "session.", "service.", "error.", "exception.",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Event:
    """Event of a span: its name and its attributes."""

    name: str
    attributes: Attributes


@dataclass(frozen=True, slots=True)
class Span:
    """Span of a trace, with the attributes that say something about models, agents and tools.

    Attributes:
        trace_id: the id of the trace.
        span_id: the id of the span, unique in its trace.
        parent_id: the id of the span that started it; empty for a root.
        name: the name of the span.
        start: the time of the start, in nanoseconds; 0 if unknown.
        end: the time of the end, in nanoseconds; 0 if unknown.
        attributes: the attributes, including those of the event with the details of the operation.
        events: the events, in order.
        error: the message of the error; None for a span without one.
        service: the name of the service that wrote the span; empty if unknown.
    """

    trace_id: str
    span_id: str
    parent_id: str
    name: str
    start: int
    end: int
    attributes: Attributes
    events: tuple[Event, ...] = ()
    error: str | None = None
    service: str = ""


@dataclass(frozen=True, slots=True)
class SpanProblem:
    """Problem of a span that is left out, or of an attribute of it that is."""

    text: str


def is_request(values: Mapping[str, Any]) -> bool:
    """Whether a row is an export request of spans."""
    return isinstance(values.get(TRACES), list)


def read_request(values: Mapping[str, Any]) -> Iterator[Span | SpanProblem]:
    """Read the spans of one export request; a problem names the span by its number in the request and by its id."""
    number = 0
    for resource in _mappings(values.get(TRACES)):
        about, _ = _attributes(_mapping(resource.get("resource")).get("attributes"))
        service = _name(about.get("service.name"))
        for scope in _mappings(resource.get("scopeSpans")):
            spans = scope.get("spans")
            for given in spans if isinstance(spans, list) else ():
                number += 1
                yield from _read(given, service, f"span {number}")


def parsed(value: object) -> object:
    """Return the list or the mapping that a text contains as JSON; any other value unchanged."""
    if not isinstance(value, str) or not value.lstrip().startswith(("[", "{")):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _read(given: object, service: str, place: str) -> Iterator[Span | SpanProblem]:
    if not isinstance(given, Mapping):
        yield SpanProblem(f"{place}: expected an object, not {type(given).__name__}")
        return
    trace_id, span_id = _id(given.get("traceId")), _id(given.get("spanId"))
    if not trace_id or not span_id:
        name = "spanId" if trace_id else "traceId"
        yield SpanProblem(f"{place}: {name} must be an id in hexadecimal digits, not {plain_repr(given.get(name))}")
        return
    place = f"{place} ({span_id})"
    attributes, left_out = _attributes(given.get("attributes"))
    events: list[Event] = []
    for event in _mappings(given.get("events")):
        inner, also = _attributes(event.get("attributes"), all_names=True)
        left_out += also
        if event.get("name") == _DETAILS:
            attributes = {**inner, **attributes}
        else:
            events.append(Event(_name(event.get("name")), inner))
    yield from (SpanProblem(f"{place}: {problem}") for problem in left_out)
    yield Span(
        trace_id, span_id, _id(given.get("parentSpanId")), _name(given.get("name")),
        _time(given.get("startTimeUnixNano")), _time(given.get("endTimeUnixNano")), attributes, tuple(events),
        _error(_mapping(given.get("status")), attributes, events), service,
    )  # fmt: skip


def _attributes(given: object, *, all_names: bool = False) -> tuple[dict[str, object], list[str]]:
    """Return the attributes that are used, and the problems of those that are left out."""
    found: dict[str, object] = {}
    left_out: list[str] = []
    for pair in _mappings(given):
        key = pair.get("key")
        if not isinstance(key, str) or not (all_names or key.startswith(_KEPT)):
            continue
        try:
            found[key] = _value(pair.get("value"))
        except _TooLargeError as error:
            left_out.append(f"the attribute {plain_repr(key[:_LONGEST_NAME])} {error}, and is left out")
    return found, left_out


class _TooLargeError(Exception):
    """Error for a value that is too long or nested too deeply."""


def _value(given: object, depth: int = 0) -> object:
    """Return the value of a typed value of OTLP; None for a type that is unknown or has no text."""
    if depth > _DEEPEST:
        raise _TooLargeError(f"is nested deeper than {_DEEPEST} levels")
    typed = _mapping(given)
    text = typed.get("stringValue")
    if isinstance(text, str):
        if len(text) > LONGEST_VALUE:
            raise _TooLargeError(f"is longer than {LONGEST_VALUE:,} characters")
        return text
    if "arrayValue" in typed:
        items = _mapping(typed["arrayValue"]).get("values")
        return [_value(item, depth + 1) for item in (items if isinstance(items, list) else ())]
    if "kvlistValue" in typed:
        pairs = _mappings(_mapping(typed["kvlistValue"]).get("values"))
        return {str(pair.get("key")): _value(pair.get("value"), depth + 1) for pair in pairs}
    number = typed.get("intValue", typed.get("doubleValue", typed.get("boolValue")))
    if isinstance(number, str) and "intValue" in typed:  # 64-bit numbers are texts in JSON
        return _time(number) if number.isdecimal() else number
    return number if isinstance(number, int | float) else None


def _error(status: Mapping[str, object], attributes: Attributes, events: list[Event]) -> str | None:
    if status.get("code") not in (2, "2", "STATUS_CODE_ERROR"):
        return None
    raised = [event.attributes.get("exception.message") for event in reversed(events) if event.name == "exception"]
    said = (status.get("message"), *raised, attributes.get("error.type"))
    return next((text for text in said if isinstance(text, str) and text.strip()), "an error without a message")


def _id(value: object) -> str:
    """Return an id in lower case; empty for a value that is not an id, and for an id of zeros."""
    if not isinstance(value, str) or _ID.fullmatch(value) is None or not value.strip("0"):
        return ""
    return value.lower() if _HEX.fullmatch(value) else value


def _time(value: object) -> int:
    """Return a 64-bit number, which may be a text; 0 if it is not a number."""
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) <= _DIGITS:
        return int(value)
    return value if isinstance(value, int) and 0 <= value < 1 << 64 else 0


def _name(value: object) -> str:
    return value[:_LONGEST_NAME] if isinstance(value, str) else ""


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _mappings(value: object) -> Iterator[Mapping[str, Any]]:
    return (item for item in value if isinstance(item, Mapping)) if isinstance(value, list) else iter(())


_DETAILS = "gen_ai.client.inference.operation.details"
_DIGITS = 20
