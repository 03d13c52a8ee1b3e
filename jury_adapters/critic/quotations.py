"""Quotations in a reply in plain words: block quotes, code blocks, elements and quoted strings."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from jury_adapters.critic.thinking import MARK


def unquoted_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines outside block quotes, code blocks, elements and quoted strings, with their starts."""
    lines = text.splitlines(keepends=True)
    margin = min((_indent(line) for line in lines if line.strip()), default=0)
    ended = {mark["name"] for mark in MARK.finditer(text) if mark["slash"]}
    offset, fence, closing, element = 0, "", "", ""
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        body = line.rstrip("\r\n")
        mark = _FENCE_MARK.match(line)
        quoted = _indent(line) - margin >= _QUOTE_INDENT or body.lstrip().startswith(">")
        if not (quoted or fence or closing or mark or element or _CONTINUATION.match(after)):
            yield offset, body
        element = _open_element(body, element, ended)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        elif not fence:
            closing = _open_quote(line, closing)
        offset += len(line)


_FENCE_MARK = re.compile(r"[ \t]*+(`{3,}|~{3,})")
_QUOTE_INDENT = 2
# The sentence continues, so the line above is part of it; "reasoning: x" begins a new one.
_CONTINUATION = re.compile(r"[ \t]*+[a-z](?![\w \t*`]{0,30}[:=])")
_CLOSING = {
    '"': '"', "'": "'", "\u201c": "\u201d", "\u201e": "\u201c\u201d", "\u00ab": "\u00bb", "\u00bb": "\u00ab",
    "\u2039": "\u203a", "\u300c": "\u300d", "\u300e": "\u300f", "\u2018": "\u2019",
}  # fmt: skip
# An apostrophe within a word is not a quotation mark; one after a word can only close a quotation.
_QUOTE_MARK = re.compile(
    r"(?<!\\)[\"\u201c-\u201e\u00ab\u00bb\u2039\u203a\u300c-\u300f\u2018]|(?<!\w)'(?=\S)|(?P<ends>(?<=\S)['\u2019](?!\w))"
)


def _indent(line: str) -> int:
    expanded = line.expandtabs(4)
    return len(expanded) - len(expanded.lstrip())


def _open_element(line: str, element: str, ended: Collection[str]) -> str:
    """Return the name of the element that is open at the end of the line, or "". Labels in brackets do not count."""
    for mark in MARK.finditer(line):
        if mark["slash"]:
            element = "" if mark["name"] == element else element
        elif not element and (mark["name"] in ended or (mark["open"] == "<" and mark[0] == line.strip())):
            element = mark["name"]
    return element


def _open_quote(line: str, closing: str) -> str:
    """Return the characters that close the quotation that is open at the end of the line, or ""."""
    for mark in _QUOTE_MARK.finditer(line):
        if closing:
            if mark[0] in closing and (mark[0] != "'" or mark["ends"] is not None):
                closing = ""
        elif mark["ends"] is None:
            closing = _CLOSING.get(mark[0], "")
    return closing
