"""Export requests of OpenTelemetry in their JSON form, written as the file exporter of the Collector writes them."""

import json

TRACE = "5b8efff798038103d269b633813fc60c"


def span(number, parent=None, *, trace=TRACE, name="", start=None, end=None, events=(), error=None, **attributes):
    """Return a span; attributes are given with ``__`` for each dot, or as ``attributes={...}``."""
    given = {**attributes.pop("attributes", {}), **{key.replace("__", "."): value for key, value in attributes.items()}}
    start = number if start is None else start
    made = {
        "traceId": trace,
        "spanId": f"{number:016x}",
        "parentSpanId": "" if parent is None else f"{parent:016x}",
        "name": name,
        "startTimeUnixNano": str(1_700_000_000_000_000_000 + start * 1_000),
        "endTimeUnixNano": str(1_700_000_000_000_000_000 + (start + 1 if end is None else end) * 1_000),
        "attributes": typed(given),
        "events": [{"name": called, "attributes": typed(inner)} for called, inner in events],
    }
    if error is not None:
        made["status"] = {"code": 2, "message": error}
    return made


def of_sdk(one):
    """Return a finished span of OpenTelemetry's SDK."""
    return {
        "traceId": f"{one.context.trace_id:032x}",
        "spanId": f"{one.context.span_id:016x}",
        "parentSpanId": "" if one.parent is None else f"{one.parent.span_id:016x}",
        "name": one.name,
        "startTimeUnixNano": str(one.start_time),
        "endTimeUnixNano": str(one.end_time),
        "attributes": typed(one.attributes),
    }


def typed(attributes):
    """Return attributes as a list of keys with typed values."""
    return [{"key": key, "value": _value(value)} for key, value in attributes.items()]


def request(*spans, service="assistant"):
    """Return the export request of spans."""
    resource = {"attributes": typed({"service.name": service})}
    return {
        "resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": {"name": "test"}, "spans": list(spans)}]}]
    }


def write_requests(path, *requests):
    """Write one export request per line."""
    path.write_text("".join(json.dumps(one) + "\n" for one in requests), encoding="utf-8")
    return path


def message(role, *parts):
    """Return a message of the conventions of OpenTelemetry; a text is a part of its own."""
    return {"role": role, "parts": [{"type": "text", "content": one} if isinstance(one, str) else one for one in parts]}


def call(call_id, name, **arguments):
    """Return the part of a message that calls a tool."""
    return {"type": "tool_call", "id": call_id, "name": name, "arguments": arguments}


def response(call_id, text):
    """Return the part of a message with the result of a tool."""
    return {"type": "tool_call_response", "id": call_id, "response": text}


def _value(value):
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, str):
        return {"stringValue": value}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list | tuple) and all(isinstance(one, str) for one in value):
        return {"arrayValue": {"values": [{"stringValue": one} for one in value]}}
    return {"stringValue": json.dumps(value)}
