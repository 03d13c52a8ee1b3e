"""Redaction of the keys in use, wherever a server repeats them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from jury_adapters.models.base import Reply


class Secrets:
    r"""Keys in use, and their redaction in replies and messages.

    A key is also found where its characters are escaped as in JSON, once or several times: in ``sk\u002d1``, and in
    ``sk\\u002d1``. Keys of fewer than four characters are not redacted, nor in replies those of fewer than eight:
    local servers are given keys such as ``test``, which replies contain as words.

    >>> keys = Secrets("sk-0123456789")
    >>> keys.hidden_in("no such key: sk\\u002d0123456789")
    'no such key: [key]'
    """

    def __init__(self, *secrets: str) -> None:
        self._known: frozenset[str] = frozenset()
        self._long: tuple[str, ...] = ()
        self._signs: tuple[str, ...] = ()  # no escaped key without one of them
        self._in_messages: re.Pattern[str] | None = None
        self._in_replies: re.Pattern[str] | None = None
        self.add(secrets)

    def add(self, secrets: Iterable[str]) -> None:
        """Redact further keys."""
        known = self._known | {secret for secret in secrets if len(secret) >= _SHORTEST}
        if known == self._known:
            return
        self._long = tuple(secret for secret in known if len(secret) >= _SHORTEST_IN_REPLIES)
        self._signs = ("\\u00", "\\") if any(_ESCAPED.intersection(secret) for secret in self._long) else ("\\u00",)
        self._in_messages = _pattern(known, re.IGNORECASE)  # names of hosts are in lower case
        self._in_replies = _pattern(self._long)
        self._known = known

    def hidden_in(self, text: str) -> str:
        """Return the text of a message with every key redacted."""
        return text if self._in_messages is None else self._in_messages.sub(_REDACTED, text)

    def redacted(self, text: str) -> str:
        """Return a text of a reply with every key redacted."""
        return self._in_replies.sub(_REDACTED, text) if self._in_replies is not None and self._may_be_in(text) else text

    def redacted_reply(self, reply: Reply) -> Reply:
        """Return a reply with every key redacted: in its text, its model, its detail and its request id."""
        if self._in_replies is None:
            return reply
        if not self._may_be_in(f"{reply.text}\n{reply.model}\n{reply.detail}\n{reply.request_id}"):
            return reply
        return replace(
            reply,
            text=self.redacted(reply.text),
            model=self.redacted(reply.model),
            detail=self.redacted(reply.detail),
            request_id=None if reply.request_id is None else self.redacted(reply.request_id),
        )

    def redact_in(self, value: Any) -> None:
        """Redact every key in the texts of a parsed JSON object or array, in place."""
        open_ones = [value] if self._in_replies is not None else []
        while open_ones:  # not by recursion: a server may nest deeply
            container = open_ones.pop()
            for name, item in container.items() if isinstance(container, dict) else enumerate(container):
                if isinstance(item, str):
                    container[name] = self.redacted(item)
                elif isinstance(item, dict | list):
                    open_ones.append(item)

    def _may_be_in(self, text: str) -> bool:
        return any(secret in text for secret in self._long) or any(sign in text for sign in self._signs)


def secrets_in_headers(headers: object) -> Iterator[str]:
    """Yield the values of the headers whose names say that they are secret; of ``Bearer k`` only ``k``."""
    if isinstance(headers, Mapping):
        for name, value in headers.items():
            if isinstance(value, str) and _SECRET_HEADER.search(str(name)):
                scheme, _, rest = value.strip().partition(" ")
                yield rest.strip() if rest and scheme.isalpha() else value.strip()


def secrets_in_client(client: object) -> Iterator[str]:
    """Yield the keys of an SDK client, or of an HTTP client."""
    for holder in (client, getattr(client, "_client", None)):  # a resource of an SDK holds the SDK's client
        for name in ("api_key", "auth_token"):
            found = getattr(holder, name, None)
            if isinstance(found, str) and found:
                yield found
        for name in ("_custom_headers", "headers"):
            yield from secrets_in_headers(getattr(holder, name, None))


def _pattern(secrets: Iterable[str], flags: int = 0) -> re.Pattern[str] | None:
    longest_first = sorted(secrets, key=len, reverse=True)
    if not longest_first:
        return None
    return re.compile("|".join("".join(map(_character, secret)) for secret in longest_first), flags)


def _character(character: str) -> str:
    """Return the pattern of a character, as it is or escaped."""
    plain = re.escape(character)
    if character in _ESCAPED:
        plain = rf"\\{{0,15}}{plain}"
    return rf"(?:{plain}|\\{{1,15}}u(?i:{ord(character):04x}))"


_REDACTED = "[key]"
_SHORTEST = 4  # a shorter one would redact plain words of a message
_SHORTEST_IN_REPLIES = 8
_ESCAPED = frozenset("\"'/\\")
_SECRET_HEADER = re.compile(r"(?i)auth|key|token|secret|password|cookie")
