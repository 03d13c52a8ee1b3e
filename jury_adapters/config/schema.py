"""JSON schema of jury files, for completion and error reports in editors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from jury_adapters.config.gates import GatesSpec
from jury_adapters.config.grammar import FILE_KEYS, TIER_KEYS, FileSpec, TierSpec, juries
from jury_adapters.config.guarantee import GuaranteeSpec
from jury_adapters.config.questions import ScaleSpec
from jury_adapters.config.spec_judge import KINDS, REFERENCE, JudgeSpec, Spec
from jury_adapters.core.values import JsonValue

_Schema = dict[str, JsonValue]


def jury_schema() -> dict[str, JsonValue]:
    """Return the JSON schema (draft 2020-12) of jury files, which ``jury schema`` prints.

    It has every key with its meaning and its values. Only :func:`load_jury` checks rules about several keys (which
    voting strategy takes which option, which tier is final).
    """
    specs = dict(_specs())
    definitions: _Schema = {name: schema_of(spec, name) for name, spec in specs.items()}
    definitions |= {f"tier.{name}": _with_keys(TierSpec, TIER_KEYS, "tier", definitions[name]) for name in specs}
    definitions |= {f"file.{name}": _with_keys(FileSpec, FILE_KEYS, "file", definitions[name]) for name in juries()}
    definitions["gates"] = schema_of(GatesSpec, "gates")
    definitions["scale"] = schema_of(ScaleSpec, "scale")
    definitions["guarantee"] = schema_of(GuaranteeSpec, "guarantee")
    definitions["any.judge"] = {"oneOf": [_reference(name) for name in specs]}
    definitions["any.tier"] = {"oneOf": [_reference(f"tier.{name}") for name in specs]}
    definitions["any.jury"] = {"oneOf": [_reference(name) for name in juries()]}
    definitions["any.file"] = {"oneOf": [_reference(f"file.{name}") for name in juries()]}
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


def _with_keys(around: type[Spec], keys: Sequence[str], what: str, judge: JsonValue) -> _Schema:
    """Return a judge's schema with the keys of a tier, or of a whole file, added to its own."""
    assert isinstance(judge, Mapping)
    outer = schema_of(around, f"{what}.{judge['title']}")
    own, others = outer["properties"], judge["properties"]
    assert isinstance(own, Mapping)
    assert isinstance(others, Mapping)
    needed = {*_names(outer), *_names(judge)} & {*keys, *others}
    properties = {**others, **{key: own[key] for key in keys}}
    return {**judge, "title": outer["title"], "properties": properties, "required": sorted(needed)}


def _names(schema: Mapping[str, JsonValue]) -> Sequence[str]:
    required = schema.get("required", [])
    assert isinstance(required, Sequence)
    return [str(name) for name in required]


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
