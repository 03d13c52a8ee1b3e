"""Comparison of two files by their type, in time in proportion to their size."""

import json
from collections.abc import Callable
from functools import partial
from itertools import zip_longest
from pathlib import PurePath
from typing import Any
from xml.etree import ElementTree

from jury_adapters.core.text import unique, visible
from jury_adapters.core.values import InputError
from jury_adapters.critic.yaml import parse_yaml

_MOST_COMPARED = 4_000_000  # bytes of both files; larger ones are compared byte by byte


def difference(path: str, produced: bytes, expected: bytes) -> str:
    """Return the first difference between two files, in one line; an empty text if they are equivalent.

    JSON and YAML are compared by their values, XML canonically, and other text line by line, where white space at the
    end of a line and blank lines do not count. Files that are not text in UTF-8 are compared byte by byte. If the
    expected file cannot be parsed, such as a template, both are compared as text.

    Args:
        path: the name of the file, whose suffix says its type.
        produced: the content to judge.
        expected: the content that it should have.

    >>> difference("a.json", b'{"a": 1, "b": 2}', b'{"b": 2.0, "a": 1}')
    ''
    """
    if produced == expected:
        return ""
    got, want = _decoded(produced), _decoded(expected)
    if got is None or want is None or len(produced) + len(expected) > _MOST_COMPARED:
        return f"{len(produced):,} bytes, expected {len(expected):,}; they are not the same"
    parse = _PARSERS.get(PurePath(path).suffix.lower())
    if parse is None:
        return _of_text(got, want)
    try:
        wanted = _exact(parse(want))
    except _NOT_PARSED:
        return _of_text(got, want)
    try:
        same = _exact(parse(got)) == wanted
    except _NOT_PARSED as error:
        return f"it cannot be read: {visible(str(error))}"
    return "" if same else _of_text(got, want) or "the values differ"


def _of_text(got: str, want: str) -> str:
    lines = ([line.rstrip() for line in text.splitlines() if line.strip()] for text in (want, got))
    for number, (expected, produced) in enumerate(zip_longest(*lines, fillvalue="the end"), start=1):
        if expected != produced:
            return f"line {number} without blank ones: expected {visible(expected)!r}, not {visible(produced)!r}"
    return ""


def _decoded(content: bytes) -> str | None:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def _exact(value: Any) -> Any:
    """Return a value in which true differs from 1, which are equal in Python."""
    if isinstance(value, dict):
        return {key: _exact(inside) for key, inside in value.items()}
    return [*map(_exact, value)] if isinstance(value, list) else (isinstance(value, bool), value)


def parse_xml(text: str) -> ElementTree.Element:
    """Return the root of a document.

    Raises:
        ValueError: it declares entities, which may expand to gigabytes, or it is not XML.
    """
    if "<!ENTITY" in text:
        raise ValueError("it declares entities")
    try:
        return ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise ValueError(f"not XML: {error}") from None


def _canonical(text: str) -> str:
    parse_xml(text)
    return ElementTree.canonicalize(text, strip_text=True, rewrite_prefixes=True)


_NOT_PARSED = (ValueError, InputError, RecursionError)
_PARSERS: dict[str, Callable[[str], Any]] = {
    ".json": partial(json.loads, object_pairs_hook=unique),
    ".yaml": parse_yaml,
    ".yml": parse_yaml,
    ".xml": _canonical,
}
