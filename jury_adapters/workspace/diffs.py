"""Comparison of two files by their type, and a description of their differences.

Text is compared with white space normalised; JSON, YAML and TOML by their values; XML canonically; Python by its
syntax tree, which has no comments and no formatting. If the expected file itself does not parse (a template, for
example), both are compared as text. :func:`compares` registers another type.
"""

from __future__ import annotations

import ast
import json
import re
import tomllib
import warnings
from collections.abc import Callable, Mapping, Sequence
from difflib import unified_diff
from functools import partial
from pathlib import PurePath
from typing import NoReturn, TypeAlias, TypeGuard

from jury_adapters.core.errors import ConfigurationError, plain_repr
from jury_adapters.core.formatting import counted
from jury_adapters.core.strict_json import unique_keys
from jury_adapters.workspace.safe_xml import canonical_lines
from jury_adapters.yaml_files import read_documents

Comparison: TypeAlias = Callable[[bytes, bytes], str]


def compare_files(path: str, produced: bytes, expected: bytes) -> str:
    """Return the differences between two files, in a few lines; an empty text if they are equivalent.

    Args:
        path: the file's name; its suffix determines its type.
        produced: the content to judge.
        expected: the content it should have.
    """
    if produced == expected:
        return ""
    if len(produced) + len(expected) > _MOST_PARSED:
        return compare_text(produced, expected)
    return _COMPARISONS.get(PurePath(path).suffix.lower(), compare_text)(produced, expected)


def compares(*suffixes: str) -> Callable[[Comparison], Comparison]:
    """Register a comparison for files with these suffixes, as a decorator. It replaces an earlier one.

    The function takes the produced and the expected content, which are never equal bytes, and returns the differences,
    or an empty text. The registration applies to all judges of this process.

    Raises:
        ConfigurationError: a suffix does not start with a dot.

    >>> @compares(".upper")
    ... def without_case(produced, expected):
    ...     return "" if produced.lower() == expected.lower() else "another text"
    >>> compare_files("a.upper", b"YES", b"yes")
    ''
    """
    for suffix in suffixes:
        if not re.fullmatch(r"\.[^./\\]+", suffix):
            raise ConfigurationError(f"a suffix is written like '.csv', not {plain_repr(suffix)}")

    def register(comparison: Comparison) -> Comparison:
        _COMPARISONS.update({suffix.lower(): comparison for suffix in suffixes})
        return comparison

    return register


def compare_text(produced: bytes, expected: bytes) -> str:
    """Compare line by line. Runs of white space count as one space, and blank lines are ignored.

    Files that are not text (UTF-8, or UTF-16 with its byte order mark) are compared byte by byte.
    """
    got, want = _decoded(produced), _decoded(expected)
    if got is None or want is None:
        return f"{counted(len(produced), 'byte')}, expected {len(expected)}; not compared as text" * (
            produced != expected
        )
    return _line_diff(_normal_lines(got), _normal_lines(want))


def _compare_values(load: Callable[[bytes], object], produced: bytes, expected: bytes) -> str:
    """Compare the values of two data files."""
    try:
        want = load(expected)
    except (ValueError, RecursionError):
        return compare_text(produced, expected)
    try:
        got = load(produced)
    except (ValueError, RecursionError) as error:
        return f"cannot be read: {_reason(error)}"
    return _value_difference(got, want)


def _compare_python(produced: bytes, expected: bytes) -> str:
    return _compare_by_lines(_python_lines, produced, expected)


def _compare_xml(produced: bytes, expected: bytes) -> str:
    return _compare_by_lines(canonical_lines, produced, expected)


def _compare_by_lines(lines: Callable[[bytes], list[str]], produced: bytes, expected: bytes) -> str:
    """Compare two files by lines of a canonical form."""
    try:
        want = lines(expected)
    except _UNPARSED:
        return compare_text(produced, expected)
    try:
        got = lines(produced)
    except _UNPARSED as error:
        return f"cannot be read: {_reason(error)}"
    return _line_diff(got, want)


def _load_json(content: bytes) -> object:
    return json.loads(content, parse_constant=_no_constant, object_pairs_hook=unique_keys)


def _load_json_lines(content: bytes) -> object:
    return [_load_json(line) for line in content.splitlines() if line.strip()]


def _load_toml(content: bytes) -> object:
    return tomllib.loads(content.decode("utf-8-sig"))


def _load_yaml(content: bytes) -> object:
    text = _decoded(content)
    if text is None:
        raise ValueError("it is not a text file")
    return read_documents(text)


def _python_lines(content: bytes) -> list[str]:
    """Return the lines of the syntax tree as Python itself writes it, equal for all equivalent files."""
    quiet = ("ignore", None, Warning, re.compile(_PARSED_NAME), 0)
    if quiet not in warnings.filters:  # an invalid escape in a compared file must not warn our user
        warnings.filterwarnings("ignore", category=Warning, module=_PARSED_NAME)
    return ast.unparse(ast.parse(content, filename=_PARSED_NAME)).splitlines()


def _value_difference(got: object, want: object) -> str:
    """Return the first places where two values differ. Values may refer to themselves."""
    found: list[str] = []
    pending: list[tuple[object, object, str]] = [(got, want, "$")]
    compared: set[tuple[int, int]] = set()
    while pending and len(found) < _MOST_PLACES:
        one, other, where = pending.pop()
        if one is other or (id(one), id(other)) in compared:
            continue
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            found += [f"{where}: missing {key!r:.80}" for key in other if key not in one]
            found += [f"{where}: unexpected {key!r:.80}" for key in one if key not in other]
            pending += [(one[key], other[key], f"{where}.{key}") for key in reversed(list(other)) if key in one]
        elif _is_list(one) and _is_list(other):
            if len(one) != len(other):
                found.append(f"{where}: {counted(len(one), 'item')}, expected {len(other)}")
            pairs = list(enumerate(zip(one, other, strict=False)))
            pending += [(first, second, f"{where}[{place}]") for place, (first, second) in reversed(pairs)]
        elif isinstance(one, bool) is not isinstance(other, bool) or not _equal(one, other):
            found.append(f"{where[-160:]}: {_glimpse(one)}, expected {_glimpse(other)}")
            continue
        compared.add((id(one), id(other)))
    return "\n".join(found[:_MOST_PLACES])


def _line_diff(got: Sequence[str], want: Sequence[str]) -> str:
    """Return a short unified diff, in time linear in the files, not quadratic."""
    if got == want:
        return ""
    start = next((n for n, (a, b) in enumerate(zip(got, want, strict=False)) if a != b), min(len(got), len(want)))
    rest = min(len(got), len(want)) - start
    end = next((n for n in range(rest) if got[-1 - n] != want[-1 - n]), rest)
    first = max(0, start - 2)
    old, new = want[first : len(want) - end][:_MOST_DIFFED], got[first : len(got) - end][:_MOST_DIFFED]
    whole = list(unified_diff(old, new, n=2, lineterm=""))[2:]  # without the two lines that name files
    lines = [_moved(line, first) if line.startswith("@@") else line[:160] for line in whole]
    left_out = [f"... {counted(len(lines) - _MOST_LINES, 'line')} more"] if len(lines) > _MOST_LINES else []
    return "\n".join([f"differs from line {start + 1} on (- expected, + produced)", *lines[:_MOST_LINES], *left_out])


def _moved(header: str, lines: int) -> str:
    """Return the header of a hunk with its line numbers increased by the lines that were not compared."""
    return re.sub(r"(?<=[-+])\d+", lambda number: str(int(number[0]) + lines), header)


_MOST_PARSED = 4_000_000  # bytes of both files together; a tree of Python takes a hundred times the memory of its file
_MOST_PLACES = 10  # reported places where data differs
_MOST_LINES = 20  # lines of a diff
_MOST_DIFFED = 400  # lines from the first difference on that are aligned
_PARSED_NAME = "jury_adapters_compared_file"
# Python's parser also raises the latter two for a file that nests too deeply.
_UNPARSED = (ValueError, SyntaxError, RecursionError, MemoryError)
_COMPARISONS: dict[str, Comparison] = {
    ".json": partial(_compare_values, _load_json),
    ".jsonl": partial(_compare_values, _load_json_lines),
    ".ndjson": partial(_compare_values, _load_json_lines),
    ".toml": partial(_compare_values, _load_toml),
    **dict.fromkeys((".yaml", ".yml"), partial(_compare_values, _load_yaml)),
    **dict.fromkeys((".xml", ".xsd", ".xsl", ".xslt", ".svg", ".csproj"), _compare_xml),
    **dict.fromkeys((".py", ".pyi"), _compare_python),
}


def _decoded(content: bytes) -> str | None:
    try:
        text = content.decode("utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeError:
        return None
    return None if "\0" in text else text


def _normal_lines(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines() if not line.isspace() and line]


def _reason(error: BaseException) -> str:
    return "nested too deeply" if isinstance(error, RecursionError | MemoryError) else str(error)[:300]


def _glimpse(value: object) -> str:
    if isinstance(value, Mapping | list | tuple | set):
        return f"a {type(value).__name__} of {len(value)}"
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _is_list(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, list | tuple)


def _equal(one: object, other: object) -> bool:
    try:
        return one == other or (one != one and other != other)  # noqa: PLR0124  NaN, which YAML and TOML have
    except TypeError:  # a date and a date with a time zone
        return False


def _no_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not allowed in JSON")
