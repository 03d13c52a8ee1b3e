"""Errors in a jury file, reported with what is needed to fix them: file, line, path, and the expected value."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from pydantic import ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from jury_adapters.core.errors import ConfigurationError, unknown
from jury_adapters.core.formatting import visible
from jury_adapters.yaml_files import Plain, Source, Where

_MOST_SHOWN = 20
_EXPECTED = {
    "string_type": "text (numbers as text need quotes)",
    "float_type": "a number",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "mapping_type": "a mapping",
    "none_required": "null",
}

_SUCH_AS = {
    "model": 'model: "openai:gpt-4o-mini"',
    "jurors": "text: {check: not_empty}",
    "scorecard": "answered: {check: not_empty}",
    "tiers": "- {name: all, judge: {check: not_empty}}",
    "judge": "judge: {check: not_empty}",
}
# The bounds of pydantic: the key of the bound in the error's context, and what a value must be.
_BOUNDS = {
    "greater_than": ("gt", "above {:g}"),
    "greater_than_equal": ("ge", "{:g} or more"),
    "less_than_equal": ("le", "{:g} or less"),
    "finite_number": ("", "a finite number"),
    "string_too_short": ("", "a text that is not empty"),
}
_OF_PYTHON = (
    (
        "weights= and threshold= belong together: weights={'faithful': 2}, threshold=0.8",
        "`weight:` of a criterion and `threshold:` belong together, such as weight: 2 and threshold: 0.8",
    ),
    (", or give api_key=", ""),
    ("give labels=", "give labels: "),
    ("give scale=", "give scale: "),
    ("give threshold=, a score", "give `threshold:`, a score"),
    ("with voting='majority'", "with `voting: majority`"),
    ("vendor= or base_url=", "`base_url:`"),
    ("base_url=", "`base_url:`"),
    (" (FINAL_TIER)", ""),
    (": CascadedJury([Tier(...), ...])", ""),
)


def problem_at(key: str, message: str) -> PydanticCustomError:
    """Return a problem with one key of the mapping that is being validated."""
    return PydanticCustomError("jury_file", "{message}", {"message": message, "at": key})


def problem(message: str) -> PydanticCustomError:
    """Return a problem with the value that is being validated."""
    return PydanticCustomError("jury_file", "{message}", {"message": message})


def shown(value: object) -> str:
    """Return a value of the file for a message, short and on one line."""
    text = visible(json.dumps(value, ensure_ascii=False, default=str))
    return text if len(text) <= 60 else text[:59] + "…"


def configuration_error(error: ValidationError, source: Source) -> ConfigurationError:
    """Return one error that lists the problems that pydantic found, and the number of those beyond the first twenty."""
    found: dict[Where, list[ErrorDetails]] = {}
    for details in error.errors(include_url=False):
        found.setdefault(_where(details, source.content), []).append(details)
    # For a value that may be a list or a mapping, only the errors of the kind that was meant are reported.
    around = {where[:length] for where in found for length in range(len(where))}
    kept = [where for where in found if where not in around]
    lines = [source.problem(where, _message(found[where], where)) for where in kept[:_MOST_SHOWN]]
    if len(kept) > _MOST_SHOWN:
        lines.append(f"and {len(kept) - _MOST_SHOWN} more problems in {visible(source.name)}")
    return ConfigurationError("\n".join(lines))


def _where(details: ErrorDetails, content: Plain) -> Where:
    """Return the place in the file. pydantic's location also names branches of unions, which are not in the file."""
    where: list[str | int] = []
    value = content
    for step in details["loc"]:
        if (isinstance(value, Mapping) and isinstance(step, str) and step in value) or (
            isinstance(value, Sequence) and isinstance(step, int) and step < len(value)
        ):
            where.append(step)
            value = value[step]  # type: ignore[index]  # just tested
    at = details.get("ctx", {}).get("at")
    return (*where, at) if isinstance(at, str) else tuple(where)


def _message(group: Sequence[ErrorDetails], where: Where) -> str:
    first = group[0]
    expected = list(dict.fromkeys(_EXPECTED[d["type"]] for d in group if d["type"] in _EXPECTED))
    if len(expected) == len({d["type"] for d in group}):
        return f"expected {' or '.join(expected)}, not {shown(first['input'])}"
    if all(d["type"] == "missing" for d in group):
        return "needs " + ", ".join(_needed(str(d["loc"][-1])) for d in group)
    if any(d["type"] == "too_short" for d in group):
        return f"is empty; it needs at least one, such as {_SUCH_AS.get(str(where[-1]) if where else '', '...')}"
    telling = next((d for d in group if d["type"] not in _EXPECTED), first)
    if telling["type"] == "literal_error":
        known = re.findall(r"'([^']*)'", str(telling.get("ctx", {}).get("expected", "")))
        if len(where) > 1 and where[-2] == "labels":
            from jury_adapters.critic.answers import unknown_meaning

            return unknown_meaning(telling["input"], known)
        return unknown(str(where[-1]) if where else "value", telling["input"], known)
    if telling["type"] in _BOUNDS:
        key, must = _BOUNDS[telling["type"]]
        return f"must be {must.format(telling.get('ctx', {}).get(key))}, not {shown(telling['input'])}"
    return telling["msg"].removeprefix("Value error, ")


def _needed(key: str) -> str:
    return f"`{key}:`" + (f", such as {_SUCH_AS[key]}" if key in _SUCH_AS else "")


def in_a_file(message: str) -> str:
    """Return a message of the package, which is written for programmers, in the terms of a jury file.

    >>> in_a_file("set OPENAI_API_KEY, or give api_key=; or give vendor= or base_url=.")
    'set OPENAI_API_KEY; or give `base_url:`.'
    """
    for python, ours in _OF_PYTHON:
        message = message.replace(python, ours)
    return message
