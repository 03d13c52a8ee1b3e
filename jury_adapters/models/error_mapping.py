"""Conversion of SDK exceptions and HTTP statuses to :class:`ModelError`, without keys."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from urllib.parse import urljoin, urlsplit

from jury_adapters.core.errors import ModelError, ModelErrorKind
from jury_adapters.core.values import clean_text
from jury_adapters.models.api_keys import Key
from jury_adapters.models.credentials import secrets_sent_with


def as_model_error(error: Exception, key: Key, what: str) -> ModelError:
    """Convert an SDK's exception, without the key and without the secrets of its request.

    Raise the result *after* the except block. An exception raised inside the block has the SDK's exception as its
    context, which may contain the request with its key.
    """
    key.also_hide_sent(secrets_sent_with(error))
    status = getattr(error, "status_code", None)
    headers: Mapping[str, str] = getattr(getattr(error, "response", None), "headers", None) or {}
    body = getattr(error, "body", None)
    detail = body.get("error", body) if isinstance(body, Mapping) else None
    parameter = hidden(detail.get("param"), key) if isinstance(detail, Mapping) else None
    message = detail.get("message") if isinstance(detail, Mapping) else None
    kind = _kind(error, status, error_code(body), message if isinstance(message, str) else str(error))
    said = _origin(error)[-1] if kind == "connection" else error  # "Connection error." alone is not informative
    text = message if isinstance(message, str) else str(said)
    if status is not None and 300 <= status < 400:
        return ModelError(
            f"{what}: {redirect_refused(headers.get('location'), _url_of(error), key)}", kind, status=status
        )
    return ModelError(
        clean_text(f"{what}: {type(said).__name__}: {key.hidden_in(text)[:500]}"),
        kind,
        status=status,
        request_id=hidden(getattr(error, "request_id", None) or headers.get("x-request-id"), key),
        retry_after=retry_after(headers),
        parameter=parameter,
    )


def hidden(text: object, key: Key) -> str | None:
    """Return a text of an answer without the key; None for anything but a text."""
    return key.hidden_in(text) if isinstance(text, str) else None


def redirect_refused(location: str | None, url: str, key: Key) -> str:
    """Return the message about a redirect, with the host of its target instead of the whole address.

    Args:
        location: the header of the answer, which may be anything.
        url: the address that was asked.
        key: the key, which is removed from the name of the host.
    """
    try:
        host = urlsplit(urljoin(url, location or "")).hostname if location else None
    except ValueError:
        host = None
    target = re.sub(r"[^\w.:\[\]-]", "?", key.hidden_in(host or ""))[:100] or "no host"
    return f"the server redirects to {target}, which is not followed; if that is right, give it as base_url="


def retry_after(headers: Mapping[str, str], now: Callable[[], float] = time.time) -> float | None:
    """Return the seconds that the server asks to wait, or None.

    The header is ``retry-after-ms``, or ``retry-after`` with seconds or a date. A date is compared with the server's
    own ``date`` header if there is one, so a wrong local clock does no harm.
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


def kind_of_status(status: int, code: str | None = None, message: str = "") -> ModelErrorKind:
    """Return the kind of error of an HTTP status other than 2xx.

    Args:
        status: the status.
        code: the vendor's code or type of the error; see :func:`error_code`.
        message: the vendor's message. Anthropic reports an empty account as an ordinary 400, recognisable by its text.
    """
    code = (code or "").lower()
    if status == 402 or code in _QUOTA_CODES or (status == 400 and _NO_CREDIT in message.lower()):
        return "quota_exhausted"
    if status == 429:
        return "rate_limited"
    if status == 408:
        return "timeout"
    if status == 409 or status >= 500:
        return "server"
    # Gateways also answer 403 for moderated content, which concerns only one case.
    return "authentication" if status == 401 or (status == 403 and code in _KEY_CODES) else "refused_request"


def error_code(body: object) -> str | None:
    """Return the vendor's code of an error, or its type, from the body of the answer.

    Vendors use both in several ways. The one that :func:`kind_of_status` knows is preferred.

    Args:
        body: the parsed body, or the error object in it.
    """
    inside = body.get("error", body) if isinstance(body, Mapping) else None
    if not isinstance(inside, Mapping):
        return None
    found = [text for text in (inside.get("code"), inside.get("type"), inside.get("status")) if isinstance(text, str)]
    known = (text for text in found if text.lower() in _QUOTA_CODES | _KEY_CODES)
    return next(known, found[0] if found else None)


def _kind(error: Exception, status: int | None, code: str | None, message: str) -> ModelErrorKind:
    if status is None:
        # The first cause decides, because httpx-aiohttp calls a refused connection a timeout.
        for cause in reversed(_origin(error)):
            names = {kind.__name__ for kind in type(cause).__mro__}
            if names & {"APITimeoutError", "TimeoutError", "TimeoutException"}:
                return "timeout"
            if names & {"APIConnectionError", "ClientConnectionError", "ConnectionError", "OSError"}:
                return "connection"
            if names & {"JSONDecodeError", "UnicodeDecodeError"}:
                return "broken_body"
        return "exception"
    return "broken_body" if status < 300 else kind_of_status(status, code, message)


def _url_of(error: Exception) -> str:
    return str(getattr(getattr(error, "request", None), "url", ""))


def _origin(error: BaseException) -> list[BaseException]:
    """Return the error and its causes; the first cause is last."""
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


_QUOTA_CODES = frozenset({
    "insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "billing_error", "insufficient_balance",
})  # fmt: skip
_KEY_CODES = frozenset({
    "authentication_error", "permission_error", "permission_denied", "invalid_api_key", "invalid_authentication",
    "unauthenticated", "unauthorized", "insufficient_permissions", "account_deactivated", "access_terminated",
    "unsupported_country_region_territory", "model_not_found",
})  # fmt: skip
_NO_CREDIT = "credit balance is too low"
