"""Characters that a reader of a text does not see. No other module lists them."""

from __future__ import annotations

import re

HIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # control characters except tab and line ends
    # Unicode's default-ignorable characters, format characters, and the separators of lines and paragraphs. The
    # Arabic, Syriac and Kaithi signs that enclose a number are visible, although Unicode calls them format characters.
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)
"""Run of hidden characters."""


def without_hidden(text: str) -> str:
    r"""Return the text as a terminal shows it, without control sequences, hidden and overwritten characters.

    >>> without_hidden("\x1b[1mAn\u034fswer\x1b[0m")
    'Answer'
    """
    if text.isascii() and text.isprintable():
        return text
    text = _SEQUENCE.sub("", text)
    text = _LINE_END.sub("\n", text)
    return HIDDEN.sub("", _overwritten(text) if "\b" in text else text)


def is_blank(text: str) -> bool:
    r"""Whether a reader of the text would see nothing: only white space and hidden characters.

    >>> is_blank(" \u200b\n"), is_blank("\u200bNo.")
    (True, False)
    """
    seen = text.strip()
    if seen and not HIDDEN.match(seen):  # the most frequent case
        return False
    return not HIDDEN.sub("", seen).strip()


# Terminal control sequences: those with parameters, titles and links, and those of two characters.
_SEQUENCE = re.compile(
    "(?:\x1b\\[|\x9b)[0-?]{0,40}+[ -/]{0,10}+[@-~]|(?:\x1b\\]|\x9d)[^\x07\x1b\x9c\x9d]{0,2000}+(?:\x07|\x1b\\\\|\x9c)"
    "|\x1b[(-/][0-~]|\x1b[0-Z\\\\^-~]"
)
_LINE_END = re.compile("[\x0b\x0c\x85\u2028\u2029]")


def _overwritten(text: str) -> str:
    kept: list[str] = []
    for char in text:
        if char != "\b":
            kept.append(char)
        elif kept and kept[-1] != "\n":
            kept.pop()
    return "".join(kept)
