"""JSON Schema for schemas and values that may be hostile: nothing is fetched, and validation has a time limit.

``jsonschema`` runs patterns in ``re``, which cannot be stopped. The keywords that match patterns are replaced by ones
with a time limit, and every keyword checks the clock, so that references that multiply end in time as well. A
recursion error in the middle of a lookup in ``rpds`` becomes a panic, which no ``except Exception`` catches. It is
converted back.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from functools import cache
from itertools import islice
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeAlias

from jury_adapters.core.errors import ConfigurationError, plain_repr
from jury_adapters.core.installation import needs_extra
from jury_adapters.core.values import JsonValue
from jury_adapters.judges.patterns import compile_pattern

if TYPE_CHECKING:
    from jsonschema import ValidationError

Keyword: TypeAlias = Callable[[Any, Any, Any, Any], Any]


class SchemaValidator:
    """Compiled schema that validates values.

    Args:
        schema: the schema, of the draft its ``$schema`` names, by default 2020-12.

    Raises:
        ConfigurationError: the schema is not valid, refers to another document, mixes drafts, or has
            ``unevaluatedProperties`` as well as ``patternProperties``; or ``jsonschema`` or ``regex`` is not installed.
    """

    def __init__(self, schema: Mapping[str, JsonValue] | bool) -> None:
        try:
            import jsonschema
            from jsonschema.validators import validator_for
            from referencing import Registry, Resource
            from referencing.exceptions import Unresolvable
            from referencing.jsonschema import DRAFT202012, specification_with
        except ImportError as error:
            raise ConfigurationError(
                needs_extra("ValidJSON(schema=...)", "the package jsonschema", "checks")
            ) from error
        if not isinstance(schema, Mapping | bool):
            raise ConfigurationError(f"the schema is a mapping, True or False, not {plain_repr(schema)}")
        kind = validator_for(schema, default=jsonschema.Draft202012Validator)
        try:
            kind.check_schema(schema)  # type: ignore[arg-type]  # the stubs forget that a schema may be a bool
        except jsonschema.SchemaError as error:
            raise ConfigurationError(f"the schema is not valid: {error.json_path}: {error.message}") from error
        draft = schema.get("$schema") if isinstance(schema, Mapping) else None
        plain = _of_one_draft(schema, draft)
        _check_patterns(plain)
        specification = specification_with(draft, default=DRAFT202012) if isinstance(draft, str) else DRAFT202012
        # A registry of our own, because the default one would fetch a remote $ref.
        resource = Resource.from_contents(plain, default_specification=specification)
        registry = Registry().with_resource(resource.id() or "", resource).crawl()
        resolver = registry.resolver(resource.id() or "")
        for reference in _references(plain):
            try:
                resolver.lookup(reference)
            except Unresolvable as error:
                message = f"$ref {reference!r} leads out of the schema; nothing is ever fetched"
                raise ConfigurationError(message) from error
        self._validator = _with_time_limit(kind)(plain, registry=registry)

    def errors(self, value: JsonValue, *, seconds: float, most: int) -> list[ValidationError]:
        """Return the first places where a value does not fit.

        Args:
            value: a value from ``json.loads``.
            seconds: the time limit.
            most: the maximum number of errors.

        Raises:
            TimeoutError: the validation takes longer.
            RecursionError: the schema, or the value, is nested infinitely.
        """
        token = _DEADLINE.set(monotonic() + seconds)
        try:
            return list(islice(self._validator.iter_errors(value), most))
        except BaseException as error:
            if type(error).__name__ == "PanicException":  # raised by Rust code; its class is in no module
                raise RecursionError("a lookup of the schema broke") from error
            raise
        finally:
            _DEADLINE.reset(token)


_DEADLINE: ContextVar[float] = ContextVar("_DEADLINE")
_VALUES = ("const", "enum", "default", "examples")  # keywords that contain values instead of schemas


def _seconds_left() -> float:
    left = _DEADLINE.get() - monotonic()
    if left <= 0:
        raise TimeoutError
    return left


@cache
def _with_time_limit(kind: Any) -> Any:
    """Return a validator class whose keywords keep to the deadline."""
    from jsonschema.validators import extend

    ours = {
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional_properties(kind.VALIDATORS["additionalProperties"]),
        "uniqueItems": _unique_items,
    }
    keywords = {**kind.VALIDATORS, **{name: ours[name] for name in ours.keys() & kind.VALIDATORS.keys()}}
    return extend(  # type: ignore[no-untyped-call,unused-ignore]  # some releases have no types
        kind, {name: _timed(keyword) for name, keyword in keywords.items()}
    )


def _timed(keyword: Keyword) -> Keyword:
    def timed(validator: Any, value: Any, instance: Any, schema: Any) -> Any:
        _seconds_left()
        return keyword(validator, value, instance, schema)

    return timed


def _pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[ValidationError]:
    from jsonschema import ValidationError

    if validator.is_type(instance, "string") and not _matches(pattern, instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _pattern_properties(
    validator: Any, patterns: Mapping[str, Any], instance: Any, schema: Any
) -> Iterator[ValidationError]:
    if validator.is_type(instance, "object"):
        for pattern, subschema in patterns.items():
            for name, value in instance.items():
                if _matches(pattern, name):
                    yield from validator.descend(value, subschema, path=name, schema_path=pattern)


def _additional_properties(original: Keyword) -> Keyword:
    def additional_properties(
        validator: Any, allowed: Any, instance: Any, schema: Mapping[str, Any]
    ) -> Iterator[ValidationError]:
        from jsonschema import ValidationError

        patterns = schema.get("patternProperties")
        if not patterns or not validator.is_type(instance, "object"):
            yield from original(validator, allowed, instance, schema) or ()
            return
        known = schema.get("properties", {})
        extras = [
            name for name in instance if name not in known and not any(_matches(pattern, name) for pattern in patterns)
        ]
        if validator.is_type(allowed, "object"):
            for name in extras:
                yield from validator.descend(instance[name], allowed, path=name)
        elif not allowed and extras:
            listed = ", ".join(map(repr, extras))
            yield ValidationError(f"{listed}: neither in properties nor matched by patternProperties")

    return additional_properties


def _unique_items(validator: Any, unique: bool, instance: Any, schema: Any) -> Iterator[ValidationError]:
    """Check the keyword ``uniqueItems`` in time linear in the items, not quadratic."""
    from jsonschema import ValidationError

    if unique and validator.is_type(instance, "array"):
        seen: set[str] = set()
        for item in instance:
            _seconds_left()
            seen.add(json.dumps(_one_number(item), sort_keys=True))
        if len(seen) < len(instance):
            yield ValidationError(f"{instance!r} has non-unique elements")


def _one_number(value: JsonValue) -> JsonValue:
    """Return the value with 1.0 as 1, because they are equal in JSON Schema."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Mapping):
        return {name: _one_number(item) for name, item in value.items()}
    return [_one_number(item) for item in value] if isinstance(value, list) else value


def _matches(pattern: str, text: str) -> bool:
    found = compile_pattern(pattern, "ValidJSON(schema=...)").search(text, timeout=_seconds_left())
    return found is not None


def _of_one_draft(schema: Any, draft: object) -> Any:
    """Return a copy without ``$schema``, which would restore the keywords without a time limit at any place.

    Raises:
        ConfigurationError: a part of the schema is of another draft.
    """
    if isinstance(schema, list):
        return [_of_one_draft(item, draft) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    named = schema.get("$schema")
    if isinstance(named, str) and named != draft:
        raise ConfigurationError(
            f"a part of the schema is of another draft, {plain_repr(named)}; a schema has one $schema"
        )
    return {
        key: value if key in _VALUES else _of_one_draft(value, draft)
        for key, value in schema.items()
        if not (key == "$schema" and isinstance(value, str))
    }


def _check_patterns(schema: JsonValue) -> None:
    """Compile every pattern, so that an invalid one is an error of the schema.

    Raises:
        ConfigurationError: a pattern is invalid, or the schema cannot be checked with a time limit.
    """
    found = [*_entries(schema)]
    for key, value in found:
        patterns = [value] if key == "pattern" else value if key == "patternProperties" else ()
        for pattern in patterns if isinstance(patterns, list | Mapping) else ():
            if isinstance(pattern, str):
                compile_pattern(pattern, "ValidJSON(schema=...)")
    keys = {key for key, _ in found}
    if {"unevaluatedProperties", "patternProperties"} <= keys:
        raise ConfigurationError(
            "a schema with patternProperties and unevaluatedProperties is not supported, as its patterns would run "
            "without a time limit; write additionalProperties instead"
        )


def _references(schema: JsonValue) -> Iterator[str]:
    """Yield the references of a schema to documents. Those within one (``#/...``) resolve or fail by themselves."""
    for key, value in _entries(schema):
        if key in ("$ref", "$dynamicRef") and isinstance(value, str) and not value.startswith("#"):
            yield value


def _entries(schema: JsonValue) -> Iterator[tuple[str, JsonValue]]:
    """Yield every key and value of a schema, at any depth, except those in plain values."""
    if isinstance(schema, Mapping):
        for key, value in schema.items():
            yield key, value
            if key not in _VALUES:
                yield from _entries(value)
    elif isinstance(schema, Sequence) and not isinstance(schema, str):
        for item in schema:
            yield from _entries(item)
