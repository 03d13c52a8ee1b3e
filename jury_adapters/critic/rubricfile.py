"""From a rubric's YAML to plain values.

Every scalar stays the text that stands in the file, and the rubric's own fields say what is a number. So ``YES`` and
``NO`` stay labels (YAML 1.1 makes them booleans) and a version ``1.10`` does not become 1.1.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import yaml
from pydantic import ValidationError

from jury_adapters.core.errors import InputError
from jury_adapters.core.input_files import refuse_pipe

Plain: TypeAlias = "str | list[Plain] | dict[str, Plain]"

_MOST_VALUES = 100_000  # a few lines of aliases can stand for billions of values


def read_rubric_file(path_or_text: str | Path) -> tuple[str, dict[str, Plain]]:
    """Read a file, or YAML text; see :func:`read_text`.

    Returns:
        How messages call the source, and what it says.

    Raises:
        InputError: the file cannot be read, or it is no YAML mapping, or a key stands in it twice.
    """
    source, text = read_text(path_or_text)
    return source, _parsed(source, text)


def read_text(path_or_text: str | Path) -> tuple[str, str]:
    """The text of a file, or the text itself: a str with a line break or a ``: `` in it is text, else it is a path.

    Returns:
        How messages call the source (the path, or ``<text>``), and its text.

    Raises:
        InputError: the file cannot be read, or is no text.
    """
    if isinstance(path_or_text, str) and ("\n" in path_or_text or ": " in path_or_text):
        return "<text>", path_or_text
    path = Path(path_or_text)
    refuse_pipe(path)
    try:
        return str(path), path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        raise InputError(f"{path}: cannot be read, it is not a text file: {error}") from error


def path_text(where: Sequence[str | int]) -> str:
    """A place as people write it: ``examples[1].fields.answer``."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in where).removeprefix(".")


def input_error(source: str, data: dict[str, Plain], error: ValidationError) -> InputError:
    """One error that names the file, and for every problem the key it is about."""
    lines = []
    for details in error.errors(include_url=False):
        path = _path(details["loc"], data)
        lines.append(f"{source}: {path}{': ' if path else ''}{details['msg'].removeprefix('Value error, ')}")
    return InputError("\n".join(lines))


class _Loader(yaml.BaseLoader):
    """yaml's loader of plain text values, which makes no objects; a key that stands twice is refused."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        values: dict[Hashable, Any] = {}
        for key_node, value_node in node.value:
            key = key_node.value if isinstance(key_node, yaml.ScalarNode) else None
            if key is None or key in values:
                problem = "a key must be text" if key is None else f"the key {key!r} stands here twice"
                raise yaml.constructor.ConstructorError(None, None, problem, key_node.start_mark)
            values[key] = self.construct_object(value_node, deep=True)
        return values


def _parsed(source: str, text: str) -> dict[str, Plain]:
    try:
        data = yaml.load(text, _Loader)
    except yaml.MarkedYAMLError as error:
        line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise InputError(f"{source}{line}: not a rubric: {error.problem or error.context}") from error
    except (yaml.YAMLError, RecursionError) as error:
        raise InputError(f"{source}: not YAML: {' '.join(str(error).split())[:200]}") from error
    if not isinstance(data, dict):
        raise InputError(f"{source}: a rubric is a mapping of keys to values")
    if _exceeds(data, _MOST_VALUES):
        raise InputError(f"{source}: more than {_MOST_VALUES} values, aliases counted where they are used")
    return data


def _exceeds(data: Plain, most: int) -> bool:
    """Whether there are more values than that, where an alias counts as all that it stands for."""
    waiting, counted = [data], 0
    while waiting and counted <= most:
        value = waiting.pop()
        counted += 1
        if isinstance(value, dict):
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
    return counted > most


def _path(where: tuple[int | str, ...], data: dict[str, Plain]) -> str:
    """Pydantic's location as the keys that stand in the file."""
    steps = list(where)
    if steps[:2] == ["answers", "scale"]:
        steps = steps[1:]
    elif steps[:3] == ["answers", "labels", "labels"]:
        steps = steps[2:]
        named = data.get("labels")
        if isinstance(named, dict) and len(steps) > 1 and isinstance(steps[1], int):
            steps[1] = list(named)[steps[1]]
    return path_text(steps)
