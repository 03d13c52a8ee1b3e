"""Conversion of answers without a reply to :class:`ModelError`: statuses other than 200, and 200s with an error."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping

from jury_adapters.core.errors import ModelError, ModelErrorKind
from jury_adapters.core.values import clean_text
from jury_adapters.models.api_keys import Key
from jury_adapters.models.error_mapping import error_code, hidden, kind_of_status, redirect_refused, retry_after
from jury_adapters.models.http import Response


def error_of_response(response: Response, url: str, key: Key, name: str) -> ModelError:
    """Convert an answer whose status is not 200 to an error.

    A redirect is a final error of kind ``"refused_request"`` that names the host of its target. Following it would send
    the key and the judged text there.

    Args:
        response: the answer.
        url: the address of the request.
        key: the key, which is removed from the message.
        name: the model's name.
    """
    status, headers = response.status, response.headers
    request_id = hidden(headers.get("x-request-id") or headers.get("request-id"), key)
    if 300 <= status < 400:
        target = redirect_refused(headers.get("location"), url, key)
        return ModelError(f"{name}: {target}", "refused_request", status=status)
    if status < 300:
        return ModelError(f"{name}: no reply in the answer", "broken_body", status=status, request_id=request_id)
    detail = _detail(response.body)
    message = detail.get("message")
    text = message if isinstance(message, str) else response.body.decode("utf-8", "replace")
    return ModelError(
        clean_text(f"{name}: {key.hidden_in(text)[:500]}"),
        kind_of_status(status, error_code(detail), text),
        status=status,
        request_id=request_id,
        retry_after=retry_after(headers),
        parameter=hidden(detail.get("param"), key),
    )


def error_in_body(answer: object, hidden_in: Callable[[str], str], name: str) -> ModelError:
    """Convert a 200 without a reply in its body to an error.

    Gateways such as OpenRouter answer so when the model behind them fails; the error in the body decides. A body
    without a readable error is broken, and asking again may help.

    Args:
        answer: the parsed body.
        hidden_in: removes the key from a text.
        name: the model's name.
    """
    said = answer.get("error") if isinstance(answer, Mapping) else None
    shown = clean_text(hidden_in(_compact(answer))[:200])
    text = f"{name}: no reply in the answer: {shown}"
    if not said:
        return ModelError(text, "broken_body", status=200)
    detail = said if isinstance(said, Mapping) else {}
    status = next((found for found in map(_as_status, (detail.get("code"), detail.get("status"))) if found), None)
    status = status or _STATUS_OF_TYPE.get(str(detail.get("type"))) or _STATUS_OF_TYPE.get(str(detail.get("code")))
    kind: ModelErrorKind = "server" if status is None else kind_of_status(status, error_code(detail), shown)
    return ModelError(text, kind, status=status)


def _detail(body: bytes) -> Mapping[str, object]:
    """Return the error object of a body; empty if there is none."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(found, Mapping):
        return {}
    inside = found.get("error", found)
    return inside if isinstance(inside, Mapping) else {"message": inside} if isinstance(inside, str) else {}


def _as_status(code: object) -> int | None:
    text = str(code)
    return int(text) if re.fullmatch("[45][0-9][0-9]", text) else None


def _compact(answer: object) -> str:
    try:
        return str(answer)[:_LONGEST]
    except (ValueError, RecursionError):  # an integer of too many digits, or nesting too deep
        return type(answer).__name__


_LONGEST = 2**16  # characters that are searched for keys; 200 are shown
_STATUS_OF_TYPE = {
    "invalid_request_error": 400, "authentication_error": 401, "invalid_api_key": 401, "billing_error": 402,
    "permission_error": 403, "not_found_error": 404, "model_not_found": 404, "request_too_large": 413,
    "rate_limit_error": 429, "rate_limit_exceeded": 429, "insufficient_quota": 429, "api_error": 500,
    "server_error": 500, "timeout_error": 504, "overloaded_error": 529,
}  # fmt: skip
