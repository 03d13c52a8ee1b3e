"""Delimiters around untrusted text, so that the judged text cannot pose as the instructions.

A delimiter is a pair of tags that end in a hash of the text between them, such as ``<answer-3fa9c1d2e4b5>``. The text
cannot contain its own hash, so it cannot close its delimiter. The same text always gets the same delimiter, so equal
requests stay equal and vendors can cache them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

from jury_adapters.core.hidden_characters import HIDDEN
from jury_adapters.core.values import clean_text

_DIGITS = 12
_CODE = re.compile(rf"-([0-9a-f]{{{_DIGITS}}})")

# Many scripts and emoji need joiners and variation selectors; between two visible characters they hide nothing.
_JOINING = "\u200c\u200d\ufe0e\ufe0f"
# Chat templates mark turns with these words. Some local servers interpret them even inside a message.
_TURN_MARK = re.compile(
    r"<(?=\|[^|<>\n]{1,40}\|>|\uff5c[^\uff5c<>\n]{1,40}\uff5c>|/?s>|(?:start|end)_of_turn>|</?SYS>>)"
    r"|\[(?=/?(?:INST|SYSTEM_PROMPT)\])"
)


class Delimiters:
    """Delimiters for the texts of one prompt. No text of the prompt contains the ending of a tag.

    Args:
        texts: every untrusted text of the prompt.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._taken = {code for text in texts for code in _CODE.findall(text.lower())}

    def around(self, tag: str, text: str) -> str:
        """Return the text between its tags, with hidden characters made visible (see :func:`visible`)."""
        text = visible(text)
        digest = self._digest(text)
        return f"<{tag}-{digest}>\n{text}\n</{tag}-{digest}>"

    def _digest(self, text: str) -> str:
        salt = ""
        while True:
            digest = hashlib.sha256(f"{salt}{text}".encode()).hexdigest()[:_DIGITS]
            if digest not in self._taken:
                return digest
            salt += "+"  # a text quotes this very tag; the next candidate is the same for the same texts


def visible(text: str) -> str:
    r"""Return the text with all invisible characters written as escapes, such as ``\u202e`` or ``\U000e0041``.

    Unicode tag characters, zero-width and direction-changing characters, fillers and control characters can carry
    instructions that only the model sees. A joiner or variation selector alone between two visible characters stays,
    because Persian, Hindi and emoji need it. A backslash goes into the words with which chat templates mark
    turns (``<|im_start|>`` becomes ``<\|im_start|>``), because some local servers interpret them anywhere. Nothing is
    removed, so the judge still sees what the text contains.
    """
    text = clean_text(text)
    if not text.isascii() or not text.isprintable():
        text = HIDDEN.sub(_escaped, text)
    return _TURN_MARK.sub(lambda match: match[0] + "\\", text)


def _escaped(match: re.Match[str]) -> str:
    run, text = match[0], match.string
    start, end = match.span()
    if len(run) <= 2 and all(char in _JOINING for char in run) and start > 0 and not text[start - 1].isascii():
        return run if run[-1] in "\ufe0e\ufe0f" or (end < len(text) and not text[end].isascii()) else _written(run)
    return _written(run)


def _written(run: str) -> str:
    return "".join(
        f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
        for code in map(ord, run)
    )
