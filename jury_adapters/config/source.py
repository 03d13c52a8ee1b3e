"""From YAML text to plain values, and from a place among them back to its line.

The files are read with a safe loader that knows plain values only: text, numbers, true, false, null, lists, mappings.
It follows YAML 1.2, so that ``on``, ``yes`` and ``NO`` stay the words they are; they are options and labels here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import TypeAlias

import yaml

from jury_adapters.core.errors import InputError
from jury_adapters.core.input_files import no_such_file
from jury_adapters.core.render import visible_lines
from jury_adapters.critic.rubricfile import path_text, read_text

Plain: TypeAlias = "str | int | float | bool | list[Plain] | dict[str, Plain] | None"
Where: TypeAlias = tuple[str | int, ...]

_DEEPEST = 60
_MOST_VALUES = 100_000  # a few lines of aliases can stand for billions of values


@dataclass(frozen=True, slots=True)
class Source:
    """A jury file that has been read.

    Attributes:
        name: how messages call it.
        folder: relative paths in the file start here.
        content: the values in it.
        lines: the line of each value, by its place.
    """

    name: str
    folder: Path
    content: Plain
    lines: dict[Where, int]

    def problem(self, where: Where, message: str) -> str:
        """A message that starts with the file, the line and the path in the file; nothing in it steers a terminal."""
        path = path_text(where)
        told = f"{self.name}, line {self.line(where)}: {path}{': ' if path else ''}{message}"
        return visible_lines(told)

    def line(self, where: Where) -> int:
        """The line of a place, or of the nearest value around it."""
        while where and where not in self.lines:
            where = where[:-1]
        return self.lines.get(where, 1)


def read_source(path_or_text: str | Path) -> Source:
    """Read a file, or YAML text: a str with a line break or a ``: `` in it is text, anything else is a path.

    Raises:
        InputError: the file cannot be read, or it is not YAML of plain values.
    """
    try:
        name, text = read_text(path_or_text)
    except InputError as error:
        if isinstance(error.__cause__, FileNotFoundError):  # as of every other file
            raise InputError(no_such_file(path_or_text)) from None
        raise
    return _parsed(text, name, Path() if name == "<text>" else Path(name).parent)


class _Loader(yaml.SafeLoader):
    """The safe loader with the words of YAML 1.2: no ``yes``, no dates, no numbers in base 60."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012  it is yaml's own name


for _tag, _pattern, _starts in (
    ("null", r"null|Null|NULL|~|", ["n", "N", "~", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"[-+]?[0-9]+", list("-+0123456789")),
    ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", list("-+.0123456789")),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(f"^(?:{_pattern})$"), _starts)


def _parsed(text: str, name: str, folder: Path) -> Source:
    try:
        root = yaml.compose(text, _Loader)
        reader = _Reader(name)
        content = reader.read(root, ()) if root is not None else None
    except RecursionError as error:
        raise InputError(f"{name}: nested too deeply for a jury file") from error
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise InputError(f"{name}, line {line}: not YAML: {_plainly(error)}") from error
    except yaml.YAMLError as error:
        raise InputError(f"{name}: not YAML: {' '.join(str(error).split())}") from error
    return Source(name, folder, content, reader.lines)


def _plainly(error: yaml.MarkedYAMLError) -> str:
    """What is wrong, in the words of whoever writes the file and not of the parser."""
    said = error.problem or error.context or ""
    if "<document start>" in said:
        return "a jury file is one mapping with `jurors:`, `scorecard:` or `tiers:`; this looks like cases or results"
    if "'\\t'" in said:
        return "indent with spaces, not with tabs"
    if "<block end>" in said or said.startswith("mapping values are not allowed"):
        return f"the indentation does not fit the lines above, or a quote or bracket is missing ({said})"
    return said


@dataclass(slots=True)
class _Reader:
    """Turns YAML nodes into values and notes their lines."""

    name: str
    lines: dict[Where, int] = field(default_factory=dict)

    def read(self, node: yaml.Node, where: Where) -> Plain:
        self.lines[where] = node.start_mark.line + 1
        if len(where) > _DEEPEST:
            raise self._refused(node, f"nested more than {_DEEPEST} levels deep")
        if len(self.lines) > _MOST_VALUES:
            raise self._refused(node, f"more than {_MOST_VALUES} values, aliases counted where they are used")
        if isinstance(node, yaml.SequenceNode) and node.tag == "tag:yaml.org,2002:seq":
            return [self.read(item, (*where, position)) for position, item in enumerate(node.value)]
        if isinstance(node, yaml.MappingNode) and node.tag == "tag:yaml.org,2002:map":
            return self._mapping(node, where)
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node)
        raise self._refused(node, f"{node.tag} is not allowed; a jury file holds plain values only")

    def _mapping(self, node: yaml.MappingNode, where: Where) -> dict[str, Plain]:
        values: dict[str, Plain] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                raise self._refused(key_node, "a key must be text")
            key: str = key_node.value
            if key in values:
                raise self._refused(key_node, f"the key {key!r} stands here twice")
            values[key] = self.read(value_node, (*where, key))
            self.lines[(*where, key)] = key_node.start_mark.line + 1
        return values

    def _scalar(self, node: yaml.ScalarNode) -> Plain:
        text: str = node.value
        kind = node.tag.removeprefix("tag:yaml.org,2002:")
        try:
            match kind:
                case "str":
                    return text
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
            raise self._refused(node, f"{text[:40]!r} is no usable number") from error
        raise self._refused(node, f"{node.tag} is not allowed; a jury file holds plain values only")

    def _refused(self, node: yaml.Node, message: str) -> InputError:
        return InputError(f"{self.name}, line {node.start_mark.line + 1}: {message}")
