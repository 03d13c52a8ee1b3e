"""Catalogue of the judges that a jury file may name, with options and an example, made from the specs of the file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pydantic_core import PydanticUndefined

from jury_adapters.config.schema import schema_of
from jury_adapters.config.spec_judge import KINDS, JudgeSpec
from jury_adapters.core.docstrings import plain_text
from jury_adapters.core.values import JsonValue

_JURIES = ("jurors", "scorecard", "tiers")  # these hold judges, and are not judges to choose
_JUROR_NAMES = {"recorded": "gpt", "rubric": "faithful", "criterion": "polite"}  # in the examples of these
_EVERYWHERE = ("name", "weight", "timeout", "required", "fallbacks")
# The shortest example that shows the purpose of a judge: the required options, and those that are nearly always used.
_EXAMPLES: Mapping[str, Mapping[str, JsonValue]] = {
    "contains": {"texts": ["please", "thank"], "need": "any"},
    "matches": {"pattern": "[0-9]{4}"},
    "length_between": {"maximum": 2000},
    "valid_json": {"schema": {"required": ["city"]}},
    "file_exists": {"path": "report.md"},
    "file_content": {"path": "report.md", "expected": "Summary", "match": "contains"},
    "directory_superset": {"expected": "expected"},
    "files_match": {"expected": "expected"},
    "coverage_kept": {"baseline": 80},
    "coverage_improved": {"baseline": 80},
    "tool_calls": {"expected": ["search"]},
    "forbidden_tools": {"tools": ["delete"]},
    "step_limit": {"max_steps": 10},
    "cost_limit": {"max_usd": 0.05},
    "command": {"argv": ["make", "check"]},
    "recorded": {"recorded": "gpt-4o", "labels": {"valid": "pass", "invalid": "fail"}},
    "rubric": {"rubric": "faithfulness", "model": "openai:gpt-4o-mini"},
    "criterion": {"criterion": "The answer is polite.", "model": "openai:gpt-4o-mini"},
}


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a judge.

    Attributes:
        name: its key in the file.
        values: the allowed values, in words.
        default: the default, as written in the file; None if a value is required.
        about: its meaning.
    """

    name: str
    values: str
    default: str | None
    about: str


@dataclass(frozen=True, slots=True)
class Described:
    """Judge that a jury file may name.

    Attributes:
        kind: the key that announces it: ``check``, ``rubric``, ``criterion`` or ``recorded``.
        name: its name under that key; for the last three, the key itself.
        about: what it judges, in one sentence.
        options: its own options, without ``name``, ``timeout`` and others that every judge has.
        example: an example for a file.
        runs_programs: whether it runs programs, for which the file needs permission.
    """

    kind: str
    name: str
    about: str
    options: tuple[Option, ...]
    example: str
    runs_programs: bool


def catalogue() -> list[Described]:
    """Return all judges, in the order of their kinds.

    >>> [judge.name for judge in catalogue()][:3]
    ['not_empty', 'contains', 'matches']
    """
    return [_described(kind, name, spec) for kind, name, spec in _specs()]


def _specs() -> Iterator[tuple[str, str, type[JudgeSpec]]]:
    for kind, known in KINDS.items():
        if kind in _JURIES:
            continue
        if isinstance(known, type):
            yield kind, kind, known
        else:
            yield from ((kind, name, spec) for name, spec in known.items())


def _described(kind: str, name: str, spec: type[JudgeSpec]) -> Described:
    schemas = schema_of(spec, name)["properties"]
    assert isinstance(schemas, Mapping)
    options = []
    for attribute, info in spec.model_fields.items():
        key = info.alias or attribute
        announces = key == kind and kind != name
        if key in _EVERYWHERE or announces:
            continue
        schema = schemas[key]
        assert isinstance(schema, Mapping)
        default = None if info.is_required() else _as_yaml(info.get_default(call_default_factory=True))
        options.append(Option(key, _values(schema), default, plain_text(info.description or "")))
    first = [] if kind == name else [f"{kind}: {name}"]
    rest = [f"{key}: {_as_yaml(value)}" for key, value in _EXAMPLES.get(name, {}).items()]
    example = f"{_JUROR_NAMES.get(name, name)}: {{{', '.join([*first, *rest])}}}"
    about = plain_text((spec.__doc__ or "").split("\n\n")[0])
    return Described(kind, name, about, tuple(options), example, bool(getattr(spec, "runs_programs", False)))


def _as_yaml(value: object) -> str:
    """Return a value as it is written in a file, on one line; JSON is YAML."""
    if value is PydanticUndefined:
        return ""
    if isinstance(value, str) and value and value.replace("_", "").replace("-", "").replace(".", "").isalnum():
        return value
    return json.dumps(value, ensure_ascii=False, default=list)


_WORDS = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "a mapping",
    "null": "null",
}


_MAPPINGS = ("#/$defs/scale", "#/$defs/gates", "#/$defs/guarantee")  # references to these are not to judges


def _values(schema: Mapping[str, JsonValue]) -> str:
    """Return the values that a JSON schema allows, in words."""
    choices = schema.get("enum")
    if isinstance(choices, Sequence):
        return " or ".join(map(_as_yaml, choices))
    branches = schema.get("anyOf", schema.get("oneOf"))
    if isinstance(branches, Sequence):
        values = [_values(branch) for branch in branches if isinstance(branch, Mapping)]
        return " or ".join(dict.fromkeys(values))
    if "const" in schema:
        return _as_yaml(schema["const"])
    if "$ref" in schema:
        return "a mapping" if schema["$ref"] in _MAPPINGS else "a judge"
    items = schema.get("items")
    if isinstance(items, Mapping) and items:
        return f"a list of: {_values(items)}"
    return _WORDS.get(str(schema.get("type")), "any value")
