"""Exception tree of this package.

::

    JuryError
    ├── ConfigurationError      wrong construction or wrong arguments; also a ValueError
    │   └── InputError          a file or row of input that cannot be read
    ├── ModelError              a failed call to a language model
    └── GateFailed              a verdict that misses a condition of `require`; also an AssertionError

A failure while a case is judged does not raise an exception: it becomes a judgment with status ERROR. These exceptions
are for wrong construction and for gates, and each message says what to do.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Literal


class JuryError(Exception):
    """Base of all exceptions that this package raises on purpose."""


class ConfigurationError(JuryError, ValueError):
    """Error for wrong construction or wrong arguments; the message says how to correct them."""


class InputError(ConfigurationError):
    """Error for a file, or a row of one, that cannot be read as cases, votes or results."""


ModelErrorKind = Literal[
    "rate_limited", "server", "timeout", "connection", "broken_body", "authentication", "refused_request", "malformed",
    "quota_exhausted", "circuit_open",
]  # fmt: skip
_TRANSIENT = frozenset({"rate_limited", "server", "timeout", "connection", "broken_body"})


class ModelError(JuryError):
    """Error for a failed call to a language model. It never contains an API key.

    Attributes:
        message: the message, without the status and the id of the request that ``str()`` adds.
        kind: ``"rate_limited"`` (429), ``"server"`` (5xx, 409), ``"timeout"``, ``"connection"``, ``"broken_body"``
            (a 200 with a truncated body, or with another content type), ``"authentication"`` (401, or a 403 that
            rejects the key), ``"quota_exhausted"`` (402, or another status that says that the account has no credit
            left), ``"refused_request"`` (another 3xx or 4xx), ``"malformed"`` (a complete response that does not follow
            the vendor's protocol), ``"circuit_open"`` (not sent, because the model counts as down; see
            :class:`Limits`).
        status: the HTTP status, or None.
        request_id: the vendor's id of the request, or None.
        retry_after: time in seconds for which the vendor asks to wait, or until an open circuit allows a call; or None.
        parameter: the request parameter that the vendor rejects, or None.
        sent: False if no request was made, because the circuit is open or the batch has given up the model.
    """

    def __init__(
        self,
        message: str,
        kind: ModelErrorKind,
        *,
        status: int | None = None,
        request_id: str | None = None,
        retry_after: float | None = None,
        parameter: str | None = None,
        sent: bool = True,
    ) -> None:
        self.message = message
        self.kind = kind
        self.status = status
        self.request_id = request_id
        self.retry_after = retry_after
        self.parameter = parameter
        self.sent = sent
        details = [
            text for text in (f"HTTP {status}" if status else "", f"request {request_id}" if request_id else "") if text
        ]
        super().__init__(f"{message} ({', '.join(details)})" if details else message)

    @property
    def transient(self) -> bool:
        """Whether an immediate retry of the same call may succeed."""
        return self.kind in _TRANSIENT


class GateFailed(JuryError, AssertionError):
    """Error for a verdict that misses a condition of :meth:`Verdict.require`.

    Attributes:
        unmet: one sentence for each condition that is not met.
    """

    def __init__(self, unmet: Iterable[str]) -> None:
        self.unmet = tuple(unmet)
        super().__init__("the verdict does not meet its gates:\n" + "\n".join(f"  - {line}" for line in self.unmet))

    def __reduce__(self) -> tuple[type[GateFailed], tuple[tuple[str, ...]]]:
        return (GateFailed, (self.unmet,))


def unknown(what: str, name: object, known: Iterable[str]) -> str:
    """Return the message for an unknown name, with the known names and the closest one."""
    names = sorted(known)
    close = get_close_matches(str(name).lower(), names, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    return f"unknown {what} {name!r}.{hint} Known: {', '.join(names) or 'none'}."
