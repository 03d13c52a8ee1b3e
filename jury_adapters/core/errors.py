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
from decimal import Decimal
from difflib import get_close_matches
from fractions import Fraction
from itertools import islice
from pathlib import PurePath
from typing import Literal, TypeVar

T = TypeVar("T")


class JuryError(Exception):
    """Base of all exceptions that this package raises on purpose."""


class ConfigurationError(JuryError, ValueError):
    """Error for wrong construction or wrong arguments; the message says how to correct them."""


class InputError(ConfigurationError):
    """Error for a file, or a row of one, that cannot be read as cases, votes or results."""


ModelErrorKind = Literal[
    "rate_limited", "server", "timeout", "connection", "broken_body", "authentication", "refused_request", "malformed",
    "quota_exhausted", "circuit_open", "no_images", "exception",
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
            :class:`Limits`), ``"no_images"`` (the model does not take images), ``"exception"`` (any other exception of
            the model's class or its SDK).
        status: the HTTP status, or None.
        request_id: the vendor's id of the request, or None.
        retry_after: time in seconds for which the vendor asks to wait, or until an open circuit allows a call; or None.
        parameter: the request parameter that the vendor rejects, or None.
        sent: False if no request was made, because the circuit is open, the batch has given up the model, or the call
            has waited for its turn until its deadline.
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


def unknown(what: str, name: object, known: Iterable[str], meant: str | None = None) -> str:
    """Return the message for an unknown name, with the known names and the one that was meant.

    Args:
        what: what the name should be a name of.
        name: the unknown name.
        known: the known names.
        meant: the one that was meant; by default the closest one.
    """
    names = sorted(map(str, known))  # members of an enumeration become plain text
    written = plain_repr(name)
    text = name if isinstance(name, str) else written
    close = get_close_matches(text.lower(), names, n=1) if meant is None else [meant]
    hint = f" Did you mean {close[0]!r}?" if close else ""
    return f"unknown {what} {written}.{hint} Known: {', '.join(names) or 'none'}."


def plain_repr(value: object) -> str:
    """Return a value for an error message.

    Texts, numbers, paths, and containers of these are written as in Python, with at most 200 characters. Of another
    object only the type is named, because its repr may contain an API key, as those of many clients of models do.

    >>> plain_repr("polite"), plain_repr([1, None]), plain_repr(object()), plain_repr([object()])
    ("'polite'", '[1, None]', 'object', '[object]')
    """
    text = _written(value, 0)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _written(value: object, depth: int) -> str:
    if value is None or isinstance(value, bool):
        return repr(value)
    for kind in _PLAIN:
        if isinstance(value, kind):
            return kind.__repr__(value)  # not that of a derived class, which may show anything
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if depth < _DEEPEST:
        if isinstance(value, dict):
            items = [(_written(name, depth + 1), _written(item, depth + 1)) for name, item in _first(value.items())]
            return f"{{{', '.join(f'{name}: {item}' for name, item in items)}}}"
        if isinstance(value, list | tuple | set | frozenset):
            opening, closing = "[]" if isinstance(value, list) else "()" if isinstance(value, tuple) else "{}"
            comma = "," if isinstance(value, tuple) and len(value) == 1 else ""
            return f"{opening}{', '.join(_written(item, depth + 1) for item in _first(value))}{comma}{closing}"
    return type(value).__name__


def _first(items: Iterable[T]) -> Iterable[T]:
    return islice(items, _LONGEST)


_PLAIN = (str, int, float, complex, Decimal, Fraction, PurePath)
_DEEPEST = 3  # a value may contain itself
_LONGEST = 200
