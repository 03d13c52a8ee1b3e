"""YAML loader of jury files, rubrics, guarantees, prompt files and compared files.

A file holds only plain values: text, numbers, true, false, null, lists and mappings. The special words are those of
YAML 1.2, so ``YES``, ``NO``, ``on``, ``off`` and dates stay text. Keys are text, and a duplicate key in a mapping is
refused. Length, depth and number of values are limited; an alias counts as all of its values.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import TypeAlias

import yaml
from yaml.reader import Reader

from jury_adapters.core.errors import InputError
from jury_adapters.core.formatting import visible_lines
from jury_adapters.core.input_files import no_such_file, refuse_pipe

Plain: TypeAlias = "str | int | float | bool | list[Plain] | dict[str, Plain] | None"
Where: TypeAlias = tuple[str | int, ...]

_MOST_TEXT = 4_000_000  # characters
_MOST_VALUES = 100_000  # a few lines of aliases can expand to billions of values
_DEEPEST = 100


@dataclass(frozen=True, slots=True)
class Source:
    """YAML file, or YAML text, that has been read.

    Attributes:
        name: its name in messages: the path, or ``<text>``.
        folder: the base of relative paths in it.
        content: its values; None for an empty file.
        lines: the line of each value, by its place.
    """

    name: str
    folder: Path
    content: Plain
    lines: dict[Where, int]

    def problem(self, where: Where, message: str) -> str:
        """Return a message that begins with file, line and place; control characters in it are made visible."""
        path = path_text(where)
        return visible_lines(f"{self.name}, line {self.line(where)}: {path}{': ' if path else ''}{message}")

    def line(self, where: Where) -> int:
        """Return the line of a place, or of the nearest value around it."""
        while where and where not in self.lines:
            where = where[:-1]
        return self.lines.get(where, 1)


def read_source(path_or_text: str | Path, form: str, *, as_text: bool = False) -> Source:
    """Read a file, or YAML text, that holds one document.

    Args:
        path_or_text: a str with a line break or a ``: `` in it is text, anything else is a path.
        form: the expected contents of such a file, as a sentence; part of the message on a second document.
        as_text: whether values stay the text in the file, so that a version 1.10 does not become 1.1.

    Raises:
        InputError: it cannot be read, or is not YAML of plain values. The message has the file, the line and the
            fix.
    """
    if isinstance(path_or_text, str) and ("\n" in path_or_text or ": " in path_or_text):
        name, folder, text = "<text>", Path(), path_or_text
    else:
        path = Path(path_or_text)
        name, folder, text = str(path), path.parent, _text_of(path)
    root = compose(text, name, form)
    reader = _Reader(name, as_text)
    content = None if root is None else reader.read(root, ())
    return Source(name, folder, content, reader.lines)


def read_documents(text: str) -> list[Plain]:
    """Read all documents of a YAML text that is data and not configuration: its merges (``<<``) are resolved.

    Raises:
        InputError: as for :func:`read_source`; the message has no file.
    """
    reader = _Reader("", merging=True)
    return [reader.read(root, ()) for root in _nodes(text, "", "")]


def compose(text: str, name: str, form: str) -> yaml.Node | None:
    """Return the root node of the only document in a text; None for an empty one.

    Raises:
        InputError: it is not YAML, too long or too deep, or there are several documents.
    """
    nodes = _nodes(text, name, form)
    if len(nodes) > 1:
        raise _refused(name, nodes[1].start_mark.line, f"not YAML: {form}; this looks like cases or results")
    return nodes[0] if nodes else None


def path_text(where: Sequence[str | int]) -> str:
    """Return a place in the usual notation: ``examples[1].fields.answer``."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in where).removeprefix(".")


def _text_of(path: Path) -> str:
    refuse_pipe(path)
    try:
        with path.open(encoding="utf-8-sig") as file:
            return file.read(_MOST_TEXT + 1)
    except FileNotFoundError as error:
        raise InputError(no_such_file(path)) from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        raise InputError(f"{path}: cannot be read, it is not a text file: {error}") from error


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # in C where there is one
    """Safe loader with the special words of YAML 1.2: no ``yes``, no dates, no numbers in base 60."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012  it is yaml's own name


for _tag, _pattern, _starts in (
    ("null", r"null|Null|NULL|~|", ["n", "N", "~", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"[-+]?[0-9]+", list("-+0123456789")),
    ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", list("-+.0123456789")),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(f"^(?:{_pattern})$"), _starts)


def _nodes(text: str, name: str, form: str) -> list[yaml.Node]:
    """Return the root nodes of the documents, after a check of length and depth, because the composer recurses."""
    if len(text) > _MOST_TEXT:
        raise InputError(f"{name}{': ' * bool(name)}longer than {_MOST_TEXT} characters; write several files")
    if strange := Reader.NON_PRINTABLE.search(text):
        problem = f"not YAML: unacceptable character U+{ord(strange[0]):04X}; write it as an escape in double quotes"
        raise _refused(name, text.count("\n", 0, strange.start()), problem)
    depth = values = 0
    try:
        for event in yaml.parse(text, _Loader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            values += isinstance(event, yaml.NodeEvent)
            if depth > _DEEPEST or values > 2 * _MOST_VALUES:  # keys are among them
                line = 0 if event.start_mark is None else event.start_mark.line
                raise _refused(name, line, _TOO_DEEP if depth > _DEEPEST else _TOO_MANY)
        return list(yaml.compose_all(text, _Loader))
    except yaml.MarkedYAMLError as error:
        line = 0 if error.problem_mark is None else error.problem_mark.line
        if "nesting depth" in (error.problem or ""):  # PyYAML from 6.0.4 has a limit of its own and may read ahead
            raise _refused(name, line, _TOO_DEEP) from error
        raise _refused(name, line, f"not YAML: {_plainly(error, text, form)}") from error
    except yaml.YAMLError as error:
        raise InputError(f"{name}{': ' * bool(name)}not YAML: {' '.join(str(error).split())[:200]}") from error


def _plainly(error: yaml.MarkedYAMLError, text: str, form: str) -> str:
    """Return the error in terms of the file instead of the parser's tokens."""
    said = error.problem or error.context or ""
    mark = error.problem_mark
    if "<document start>" in said:
        return f"{form}; this looks like cases or results" if form else said
    if mark is not None and "any token" in said and text[mark.index : mark.index + 1] == "\t":
        return "indent with spaces, not with tabs"
    if said.startswith(("mapping values are", "did not find", "could not find", "expected", "found unexpected")):
        return f"the indentation does not fit the lines above, or a quote or bracket is missing ({said})"
    return said


def _refused(name: str, line: int, message: str) -> InputError:
    return InputError(visible_lines(f"{name}{', ' * bool(name)}line {line + 1}: {message}"))


@dataclass(slots=True)
class _Reader:
    """Reader that converts YAML nodes to values and records their lines."""

    name: str
    as_text: bool = False
    merging: bool = False
    lines: dict[Where, int] = field(default_factory=dict)
    values: int = 0

    def read(self, node: yaml.Node, where: Where, depth: int = 0) -> Plain:
        self.lines[where] = node.start_mark.line + 1
        self.values += 1
        if depth > _DEEPEST:
            raise self._refused(node, _TOO_DEEP)
        if self.values > _MOST_VALUES:
            raise self._refused(node, _TOO_MANY)
        kind = node.tag.removeprefix(_CORE)
        if isinstance(node, yaml.SequenceNode) and kind == "seq":
            return [self.read(item, (*where, position), depth + 1) for position, item in enumerate(node.value)]
        if isinstance(node, yaml.MappingNode) and kind == "map":
            return self._mapping(node, where, depth + 1)
        if isinstance(node, yaml.ScalarNode) and kind in ("str", "int", "float", "bool", "null"):
            return node.value if self.as_text else self._scalar(node, kind)
        raise self._refused(
            node, f"{node.tag} is not allowed; such a file holds plain values only: text, numbers, true, false, null, "
            "lists and mappings",
        )  # fmt: skip

    def _mapping(self, node: yaml.MappingNode, where: Where, depth: int) -> dict[str, Plain]:
        values: dict[str, Plain] = {}
        merged: dict[str, Plain] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                raise self._refused(key_node, "a key must be text")
            key: str = key_node.value
            if key in values:
                raise self._refused(key_node, f"the key {key!r} occurs here twice; keep one of them")
            if key == "<<" and not key_node.style:  # without quotes
                merged = {**self._merged(key_node, value_node, where, depth), **merged}
                continue
            values[key] = self.read(value_node, (*where, key), depth)
            self.lines[(*where, key)] = key_node.start_mark.line + 1
        return {**merged, **values}

    def _merged(self, key: yaml.Node, node: yaml.Node, where: Where, depth: int) -> dict[str, Plain]:
        """Return what the key ``<<`` adds to a mapping; of several mappings, the first takes precedence."""
        found: dict[str, Plain] = {}
        for one in node.value if isinstance(node, yaml.SequenceNode) else [node]:
            value = self.read(one, where, depth) if self.merging else None
            if not isinstance(value, dict):
                raise self._refused(key, "the key << is not allowed here; write the keys that it merges")
            found = {**value, **found}
        return found

    def _scalar(self, node: yaml.ScalarNode, kind: str) -> Plain:
        text: str = node.value
        try:
            match kind:
                case "int":
                    return int(text)
                case "float":
                    number = float(text)
                    if not isfinite(number):
                        raise OverflowError
                    return number
                case "bool":
                    return text.lower() == "true"
                case "null":
                    return None
        except (ValueError, OverflowError) as error:
            problem = f"{text[:40]!r} is not a usable number; for text write it in quotes"
            raise self._refused(node, problem) from error
        return text

    def _refused(self, node: yaml.Node, message: str) -> InputError:
        return _refused(self.name, node.start_mark.line, message)


_CORE = "tag:yaml.org,2002:"
_TOO_DEEP = f"nested more than {_DEEPEST} levels deep; write it flatter"
_TOO_MANY = f"more than {_MOST_VALUES} values, aliases counted where they are used; write less into one file"
