"""Conversion of a rubric's YAML to the rubric's fields, and of their errors to places in the file.

Every scalar stays text as in the file, and the rubric's fields define which of them are numbers: a version ``1.10``
does not become 1.1, and ``true`` may be a label.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from jury_adapters.core.errors import InputError
from jury_adapters.yaml_files import Plain, Source, read_source


def read_rubric_file(path_or_text: str | Path) -> tuple[Source, dict[str, Plain]]:
    """Read a file, or YAML text.

    Returns:
        The source, and its mapping.

    Raises:
        InputError: the source cannot be read, is not YAML of plain values, or is not a mapping.
    """
    source = read_source(path_or_text, _FORM, as_text=True)
    if not isinstance(source.content, dict):
        raise InputError(source.problem((), _FORM))
    return source, dict(source.content)


def input_error(source: Source, error: ValidationError) -> InputError:
    """Return one error that names the file, and the line and the key of every problem."""
    return InputError(
        "\n".join(
            source.problem(_where(details["loc"], source.content), details["msg"].removeprefix("Value error, "))
            for details in error.errors(include_url=False)
        )
    )


def _where(location: tuple[int | str, ...], data: Plain) -> tuple[int | str, ...]:
    """Return pydantic's location as the keys of the file."""
    steps = list(location)
    if steps[:2] == ["answers", "scale"]:
        steps = steps[1:]
    elif steps[:3] == ["answers", "labels", "labels"]:
        steps = steps[2:]
        named = data.get("labels") if isinstance(data, dict) else None
        if isinstance(named, dict) and len(steps) > 1 and isinstance(steps[1], int):
            steps[1] = list(named)[steps[1]]
    return tuple(steps)


_FORM = "a rubric is a mapping of keys to values"
