"""JSON schema of jury files, for completion and error reports in editors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from jury_adapters.config.critics import CriticSpec
from jury_adapters.config.gates import GatesSpec
from jury_adapters.config.grammar import FILE_KEYS, CascadeSpec, FileSpec, PeersSpec, TierSpec
from jury_adapters.config.guarantee import GuaranteeSpec
from jury_adapters.config.questions import ScaleSpec
from jury_adapters.config.scorecards import ScorecardSpec
from jury_adapters.config.spec_judge import KINDS, REFERENCE, JudgeSpec, Spec
from jury_adapters.core.values import JsonValue

_Schema = dict[str, JsonValue]


def jury_schema() -> dict[str, JsonValue]:
    """Return the JSON schema (draft 2020-12) of jury files, which ``jury show schema`` prints.

    It has every key with its meaning and its values. Only :func:`load_jury` checks rules about several keys (which
    voting strategy takes which option, which tier is final).
    """
    specs = dict(_specs())
    definitions: _Schema = {name: schema_of(spec, name) for name, spec in specs.items()}
    definitions |= {f"file.{name}": _as_file(definitions[name], spec) for name, spec in specs.items()}
    definitions["tier"] = schema_of(TierSpec, "tier")
    definitions["gates"] = schema_of(GatesSpec, "gates")
    definitions["scale"] = schema_of(ScaleSpec, "scale")
    definitions["guarantee"] = schema_of(GuaranteeSpec, "guarantee")
    definitions["any.judge"] = {"oneOf": [_reference(name) for name in specs]}
    definitions |= {f"any.{place}": _judge_with(limits) for place, limits in _LIMITS.items()}
    definitions["any.file"] = {"oneOf": [_reference(f"file.{name}") for name in specs]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A jury of jury_adapters",
        "$ref": "#/$defs/any.file",
        "$defs": definitions,
    }


def _specs() -> Iterator[tuple[str, type[JudgeSpec]]]:
    for key, kind in KINDS.items():
        if isinstance(kind, type):
            yield _name_of(kind), kind
        else:
            yield from ((f"{key}.{name}", spec) for name, spec in kind.items())


def _name_of(spec: type[JudgeSpec]) -> str:
    return next(key for key, kind in KINDS.items() if kind is spec)


def schema_of(spec: type[Spec], title: str) -> _Schema:
    """Return the JSON schema of one mapping of the file."""
    schema = _resolved(spec.model_json_schema())
    assert isinstance(schema, dict)
    return {**schema, "title": title}


# Which of the keys that every judge knows it may have in a place.
_ALONE: _Schema = {"weight": {"const": None}, "required": {"const": False}}
_LIMITS: dict[str, _Schema] = {
    "lone_judge": _ALONE,
    "named_judge": {"name": False},
    "criterion": {"name": False, "required": {"const": False}, "weight": {"exclusiveMinimum": 0}},
}


def _judge_with(limits: _Schema) -> JsonValue:
    return {"allOf": [_reference("any.judge")], "properties": limits}


def _as_file(judge: JsonValue, spec: type[JudgeSpec]) -> _Schema:
    """Return the schema of a judge that is a whole file, with the keys of a file added to its own."""
    assert isinstance(judge, Mapping)
    file = schema_of(FileSpec, f"file.{judge['title']}")
    own, others = file["properties"], judge["properties"]
    assert isinstance(own, Mapping)
    assert isinstance(others, Mapping)
    properties = {**others, **_ALONE, **{key: own[key] for key in FILE_KEYS}}
    if issubclass(spec, PeersSpec | ScorecardSpec | CascadeSpec):
        del properties["fallbacks"]
    needed = {"required": ["model", "rubric"]} if spec is CriticSpec else {}  # there is no rubric above a file
    return {**judge, **needed, "title": file["title"], "properties": properties}


def _reference(name: str) -> JsonValue:
    return {"$ref": f"#/$defs/{name}"}


def _resolved(value: JsonValue) -> JsonValue:
    """Return the schema with resolved references to other definitions, without the titles made from attribute names."""
    if isinstance(value, Mapping):
        if isinstance(value.get(REFERENCE), str):
            return _reference(str(value[REFERENCE]))
        return {key: _resolved(item) for key, item in value.items() if not (key == "title" and isinstance(item, str))}
    if isinstance(value, list):
        return [_resolved(item) for item in value]
    return value
