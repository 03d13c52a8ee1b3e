"""Exceptions of SDKs and HTTP statuses as :class:`ModelError`, without keys."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime

from jury_adapters.core.errors import ModelError, ModelErrorKind
from jury_adapters.core.values import clean_text
from jury_adapters.models.api_keys import Key


def as_model_error(error: Exception, key: Key, what: str) -> ModelError:
    """An SDK's exception in our words, without the key.

    Raise it *after* the except block that caught the other: an exception raised inside keeps the SDK's as its context,
    and that one may carry the request with its key.
    """
    status = getattr(error, "status_code", None)
    headers: Mapping[str, str] = getattr(getattr(error, "response", None), "headers", None) or {}
    body = getattr(error, "body", None)
    detail = body.get("error", body) if isinstance(body, Mapping) else None
    parameter = detail.get("param") if isinstance(detail, Mapping) else None
    message = detail.get("message") if isinstance(detail, Mapping) else None
    kind = _kind(error, status)
    said = _origin(error)[-1] if kind == "connection" else error  # "Connection error." alone says nothing
    text = message if isinstance(message, str) else str(said)
    return ModelError(
        clean_text(f"{what}: {type(said).__name__}: {key.hidden_in(text)[:500]}"),
        kind,
        status=status,
        request_id=getattr(error, "request_id", None) or headers.get("x-request-id"),
        retry_after=retry_after(headers),
        parameter=parameter if isinstance(parameter, str) else None,
    )


def retry_after(headers: Mapping[str, str], now: Callable[[], float] = time.time) -> float | None:
    """Seconds the server asks to wait (``retry-after-ms``, or ``retry-after`` as seconds or date); None if it does not.

    A date is measured against the server's own ``date`` header where there is one, so a wrong clock here does no harm.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _number(value)
    if seconds is not None or value is None:
        return seconds
    then, server_now = _timestamp(value), _timestamp(headers.get("date"))
    return None if then is None else max(0.0, then - (now() if server_now is None else server_now))


def _kind(error: Exception, status: int | None) -> ModelErrorKind:
    if status is None:
        # What happened first decides: httpx-aiohttp calls a refused connection a timeout.
        for cause in reversed(_origin(error)):
            names = {kind.__name__ for kind in type(cause).__mro__}
            if names & {"APITimeoutError", "TimeoutError", "TimeoutException"}:
                return "timeout"
            if names & {"APIConnectionError", "ClientConnectionError", "ConnectionError", "OSError"}:
                return "connection"
            if names & {"JSONDecodeError", "UnicodeDecodeError"}:
                return "broken_body"
        return "malformed"
    return "broken_body" if status < 400 else kind_of_status(status)


def kind_of_status(status: int, code: str | None = None, message: str = "") -> ModelErrorKind:
    """What an HTTP status from 400 on means."""
    if status == 429:
        return "rate_limited"
    if status == 408:
        return "timeout"
    if status == 409 or status >= 500:
        return "server"
    return "authentication" if status in (401, 403) else "refused_request"


def _origin(error: BaseException) -> list[BaseException]:
    """The error, and what it came from; the first cause last."""
    chain = [error]
    while (cause := chain[-1].__cause__) is not None and cause not in chain:
        chain.append(cause)
    return chain


def _number(value: str | None) -> float | None:
    try:
        number = float(value or "")
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None


def _timestamp(value: str | None) -> float | None:
    try:
        return parsedate_to_datetime(value).timestamp() if value else None
    except (TypeError, ValueError, OverflowError):
        return None
