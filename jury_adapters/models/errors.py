"""Conversion of what goes wrong between us and a model to :class:`ModelError`, without keys.

Raise the result *after* the ``except`` block. Raised inside, it has the SDK's exception as its context, which holds the
request with its key.
"""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from math import inf
from typing import Any

from jury_adapters.models.base import Finish, Kind, ModelError

Hide = Callable[[str], str]
_LONGEST = 500  # characters of a vendor's message that are shown
NOTHING: Mapping[str, Any] = {}
_ACCOUNT = frozenset({
    "insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "billing_error", "insufficient_balance",
    "authentication_error", "permission_error", "permission_denied", "invalid_api_key", "invalid_authentication",
    "unauthenticated", "unauthorized", "insufficient_permissions", "account_deactivated", "access_terminated",
    "unsupported_country_region_territory",
})  # fmt: skip
_NO_CREDIT = "credit balance is too low"  # Anthropic says so in an ordinary 400
_STATUS_OF = {
    **{str(status): status for status in range(400, 600)},
    "invalid_request_error": 400, "authentication_error": 401, "invalid_api_key": 401, "billing_error": 402,
    "permission_error": 403, "not_found_error": 404, "model_not_found": 404, "request_too_large": 413,
    "rate_limit_error": 429, "rate_limit_exceeded": 429, "insufficient_quota": 429, "api_error": 500,
    "server_error": 500, "timeout_error": 504, "overloaded_error": 529,
}  # fmt: skip
_KIND_OF_STATUS: dict[int, Kind] = {
    401: "account", 402: "account", 408: "timeout", 409: "unavailable", 429: "rate_limited"
}  # fmt: skip
_TRANSIENT: frozenset[Kind] = frozenset({"rate_limited", "unavailable", "timeout", "bad_reply"})
# By the names of exception classes, of the SDKs, of httpx and of langchain-core: none of them is imported for this.
_KIND_OF_CLASS: dict[str, Kind] = {
    "APITimeoutError": "timeout", "TimeoutException": "timeout", "TimeoutError": "timeout",
    "ModelTimeoutError": "timeout", "ModelRateLimitError": "rate_limited", "ModelAuthenticationError": "account",
    "ModelPermissionDeniedError": "account", "ModelAPIError": "unavailable", "ModelConnectionError": "unavailable",
    "APIConnectionError": "unavailable", "TransportError": "unavailable", "ClientError": "unavailable",
    "HttpProcessingError": "unavailable",
    "ConnectionError": "unavailable", "OSError": "unavailable", "JSONDecodeError": "bad_reply",
}  # fmt: skip
_NOT_SENT = frozenset({"ConnectError", "ConnectTimeout", "ClientConnectorError", "ConnectionRefusedError"})
_FINISHES: dict[str, Finish] = {
    **dict.fromkeys((
        "", "stop", "end_turn", "stop_sequence", "tool_calls", "tool_use", "function_call", "eos", "completed", "done",
    ), "stop"),
    **dict.fromkeys(("length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded"),
                    "length"),
    **dict.fromkeys(("content_filter", "safety", "prohibited_content", "blocklist", "recitation", "spii"), "filter"),
    "refusal": "refusal",
}  # fmt: skip


def finish_of(reason: object) -> Finish:
    """Return why a reply ended, from a vendor's word for it; an unknown word is ``other``: it may be cut off.

    >>> finish_of("end_turn"), finish_of("MAX_TOKENS"), finish_of("pause_turn"), finish_of(None)
    ('stop', 'length', 'other', 'stop')
    """
    return _FINISHES.get("" if reason is None else str(getattr(reason, "name", reason)).lower(), "other")


def error_of(error: BaseException, name: str, hide: Hide) -> ModelError:
    """Convert an exception of an SDK, a framework, the system or a function.

    Args:
        error: the exception.
        name: the model's name, with which the message begins.
        hide: removes the key from a text.
    """
    chain = [error]
    while (cause := chain[-1].__cause__) is not None and cause not in chain:
        chain.append(cause)
    own = next((one for one in chain if isinstance(one, ModelError)), None)
    if own is not None:
        return ModelError(
            f"{name}: {own}", own.kind, transient=own.transient, retry_after=own.retry_after, sent=own.sent
        )
    response = getattr(error, "response", None)
    status = getattr(error, "status_code", None) or getattr(response, "status_code", None)
    if isinstance(status, int):
        body = getattr(error, "body", None)
        text = body if isinstance(body, Mapping | str) and body else str(error)
        return error_of_status(status, text, getattr(response, "headers", None) or NOTHING, name, hide)
    last = chain[-1]  # "Connection error." alone is not informative
    classes = [kind.__name__ for one in reversed(chain) for kind in type(one).__mro__]
    kind: Kind = next((_KIND_OF_CLASS[one] for one in classes if one in _KIND_OF_CLASS), "refused")
    text = hide(str(last))[:_LONGEST]
    return ModelError(
        f"{name}: {type(last).__name__}: {text}".removesuffix(": "),
        kind,
        transient=kind in _TRANSIENT,
        sent=kind in ("timeout", "unavailable", "bad_reply") and not _NOT_SENT.intersection(classes),
    )


def error_of_status(
    status: int, body: Mapping[str, Any] | str, headers: Mapping[str, str], name: str, hide: Hide
) -> ModelError:
    """Convert an answer with another status than 200. A redirect is never followed: it would take the key along."""
    if 300 <= status < 400:
        return ModelError(
            f"{name}: the server answers with a redirect ({status}), which is not followed; give the right address as "
            "base_url=",
            sent=False,
            status=status,
        )
    said = body.get("error", body) if isinstance(body, Mapping) else body
    detail = said if isinstance(said, Mapping) else {"message": said}
    text = str(detail.get("message") or said)
    kind = _kind_of(status, detail, text)
    return ModelError(
        f"{name}: {status}: {hide(text)[:_LONGEST]}",
        kind,
        transient=kind in _TRANSIENT,
        retry_after=retry_after(headers),
        sent=False,
        status=status,
        parameter=hide(str(detail.get("param") or "")),
    )


def error_in_answer(answer: object, name: str, hide: Hide) -> ModelError:
    """Convert a 200 without a reply. Gateways answer so when the model behind them fails; the error in it decides."""
    said = answer.get("error") if isinstance(answer, Mapping) else None
    if said:
        detail = said if isinstance(said, Mapping) else NOTHING
        named = (str(detail.get(key)) for key in ("code", "status", "type"))
        status = next((_STATUS_OF[one] for one in named if one in _STATUS_OF), 500)
        return error_of_status(status, {"error": said}, NOTHING, name, hide)
    found = ", ".join(map(str, answer)) if isinstance(answer, Mapping) else type(answer).__name__
    return bad_reply(f"{name}: no reply in the answer, which has {hide(found)[:200] or 'nothing'}")


def bad_reply(message: str) -> ModelError:
    """Return the error of an answer that is none. It may be billed, and the next one may be whole."""
    return ModelError(message, "bad_reply", transient=True)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a server asks to wait, or None.

    >>> retry_after({"retry-after": "2"}), retry_after({"retry-after-ms": "250"}), retry_after({"retry-after": "soon"})
    (2.0, 0.25, None)
    """
    value, seconds = headers.get("retry-after") or "", None
    with suppress(ValueError, OverflowError):  # a date
        seconds = max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    for text, scale in ((value, 1), (headers.get("retry-after-ms") or "", 1000)):
        with suppress(ValueError):
            seconds = float(text) / scale
    return seconds if seconds is not None and 0 <= seconds < inf else None


def _kind_of(status: int, detail: Mapping[str, Any], text: str) -> Kind:
    codes = {str(detail.get(key)).lower() for key in ("code", "type", "status")}
    is_account = bool(codes & _ACCOUNT) and status in (400, 403, 429)  # a 403 alone may be the moderation of one text
    if is_account or (status == 400 and _NO_CREDIT in text.lower()):
        return "account"
    others: Kind = "unavailable" if status >= 500 else "refused" if status >= 400 else "bad_reply"
    return _KIND_OF_STATUS.get(status, others)
