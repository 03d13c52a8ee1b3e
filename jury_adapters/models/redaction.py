"""Redaction of the keys in use, in all texts in which a server may repeat them."""

from __future__ import annotations

import html
import re
from base64 import b64encode
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from typing import Any

from jury_adapters.models.base import Reply


class Secrets:
    r"""Keys in use, and their redaction in replies and messages.

    A key is found in plain text, and also

    - where its characters are escaped as in JSON, once or several times: in ``sk\u002d1``, and in ``sk\\u002d1``,
    - where they are percent-encoded or HTML-escaped, once or several times: in ``sk%2d1`` and ``sk&#45;1``,
    - in the base64 encoding of a text that contains it, such as ``Bearer sk-1`` or ``user:sk-1``.

    It is not found in other encodings, such as hexadecimal digits, nor if it is split. Keys of fewer than
    four characters are not redacted. In replies and in base64, those of fewer than eight are not redacted either,
    because local servers get keys such as ``test``, which replies contain as words.

    >>> keys = Secrets("sk-0123456789")
    >>> keys.hidden_in("no such key: sk\\u002d0123456789")
    'no such key: [key]'
    """

    def __init__(self, *secrets: str) -> None:
        self._given: frozenset[str] = frozenset()
        self._sent: tuple[str, ...] = ()
        self._all: tuple[str, ...] = ()  # longest first, because one may be part of another
        self._long: tuple[str, ...] = ()
        self._forms: tuple[str, ...] = ()  # quick search before the patterns are used
        self._any_escape = False
        self.add(secrets)

    def add(self, secrets: Iterable[str]) -> None:
        """Redact further keys."""
        given = self._given | {secret for secret in secrets if len(secret) >= _SHORTEST}
        if given != self._given:
            self._given = given
            self._note()

    def add_sent(self, secrets: Iterable[str]) -> None:
        """Redact further keys that may be used for one request only. Only the latest of them are kept."""
        new = [secret for secret in secrets if len(secret) >= _SHORTEST and secret not in self._all]
        if new:
            self._sent = (*self._sent, *dict.fromkeys(new))[-_MOST_SENT:]
            self._note()

    def hidden_in(self, text: str) -> str:
        """Return the text of a message with every key redacted."""
        for secret in self._all:
            text = _pattern(secret, re.IGNORECASE).sub(_REDACTED, text)  # host names are in lower case
        return text

    def redacted(self, text: str) -> str:
        """Return a text of a reply with every key redacted."""
        if self._may_be_in(text):
            for secret in self._long:
                text = _pattern(secret).sub(_REDACTED, text)
        return text

    def redacted_reply(self, reply: Reply) -> Reply:
        """Return a reply with every key redacted, in its text, model, detail and request id."""
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
        open_ones = [value] if self._long else []
        while open_ones:  # not by recursion, because a server may nest deeply
            container = open_ones.pop()
            for name, item in container.items() if isinstance(container, dict) else enumerate(container):
                if isinstance(item, str):
                    container[name] = self.redacted(item)
                elif isinstance(item, dict | list):
                    open_ones.append(item)

    def _note(self) -> None:
        known = tuple(sorted(self._given.union(self._sent), key=len, reverse=True))
        long = tuple(secret for secret in known if len(secret) >= _SHORTEST_IN_REPLIES)
        forms = tuple(form for secret in long for form in (secret, *_in_base64(secret)))
        self._any_escape = any(_ESCAPED.intersection(form) for form in forms)
        self._forms, self._long, self._all = forms, long, known

    def _may_be_in(self, text: str) -> bool:
        if any(form in text for form in self._forms):
            return True
        if not self._forms or not ("\\" in text or "%" in text or "&" in text):
            return False
        return (self._any_escape and "\\" in text) or _ENCODED.search(text) is not None


@lru_cache(maxsize=256)  # critics share keys, and a pattern takes milliseconds
def _pattern(secret: str, flags: int = 0) -> re.Pattern[str]:
    """Return the pattern of all forms of a key."""
    forms = ["".join(map(_character, secret))]
    if len(secret) >= _SHORTEST_IN_REPLIES:
        encoded = sorted(_in_base64(secret), key=len, reverse=True)
        forms += ["".join(one if one.isalnum() else _character(one) for one in form) for form in encoded]
    return re.compile("|".join(forms), flags)


def _in_base64(secret: str) -> frozenset[str]:
    """Return the base64 characters that the encoding of every text with the key contains, in both alphabets.

    Three bytes are four characters, so the encoding depends on the position of the key. The characters at its ends,
    which also depend on the text around it, are left out.
    """
    key = secret.encode("utf-8", "surrogatepass")
    found = set()
    for before in range(3):
        whole = b64encode(b"\0" * before + key).decode()
        found.add(whole[-(-before * 8 // 6) : (before + len(key)) * 8 // 6])
    return frozenset(found | {one.replace("+", "-").replace("/", "_") for one in found})


@lru_cache(maxsize=1024)
def _character(character: str) -> str:
    """Return the pattern of a character: plain, or escaped in JSON, Python, JavaScript, a URL or HTML."""
    plain = re.escape(character)
    if character in _ESCAPED:
        plain = rf"\\{{0,15}}{plain}"
    elif character == " ":
        plain = "[ +]"
    code = f"{ord(character):x}"
    escaped = rf"\\{{1,15}}(?i:u{code:0>4}|x{code:0>2}|u\{{0{{0,5}}{code}\}})"
    bytes_of = character.encode("utf-8", "surrogatepass")
    in_url = "".join(rf"%(?:25){{0,4}}(?i:{byte:02x})" for byte in bytes_of)
    name = html.escape(character).strip("&;") if character in _NAMED else ""
    named = f"|{re.escape(name)}" if name else ""
    in_html = rf"&(?:amp;){{0,4}}(?:#0{{0,7}}{ord(character)}|#(?i:x0{{0,7}}{code}){named});?"
    return f"(?:{plain}|{escaped}|{in_url}|{in_html})"


_REDACTED = "[key]"
_SHORTEST = 4  # a shorter key would redact plain words of a message
_SHORTEST_IN_REPLIES = 8
_MOST_SENT = 16
_ESCAPED = frozenset("\"'/\\")
_NAMED = frozenset('&<>"')
_ENCODED = re.compile(r"\\[uxUX]|%[0-9A-Fa-f]{2}|&(?:#|amp|lt|gt|quot)")
