"""JSON Schema without the network: schemas are checked when they are given, and no reference is ever fetched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.values import JsonValue

if TYPE_CHECKING:
    from jsonschema.protocols import Validator


def schema_validator(schema: Mapping[str, JsonValue] | bool) -> Validator:
    """Check a schema and make it ready.

    Raises:
        ConfigurationError: it is not valid, refers to another document, or ``jsonschema`` is not installed.
    """
    try:
        import jsonschema
        from jsonschema.validators import validator_for
        from referencing import Registry, Resource
        from referencing.exceptions import Unresolvable
        from referencing.jsonschema import DRAFT202012
    except ImportError as error:
        install = "pip install 'jury-adapters[checks]'"
        raise ConfigurationError(f"ValidJSON(schema=...) needs the package jsonschema: {install}") from error
    plain = schema if isinstance(schema, bool) else dict(schema)
    kind = validator_for(plain, default=jsonschema.Draft202012Validator)
    try:
        kind.check_schema(plain)  # type: ignore[arg-type]  # the stubs forget that a schema may be a bool
    except jsonschema.SchemaError as error:
        raise ConfigurationError(f"the schema is not valid: {error.json_path}: {error.message}") from error
    # A registry of our own: the default one would fetch a remote $ref.
    resource = Resource.from_contents(plain, default_specification=DRAFT202012)
    registry = Registry().with_resource(resource.id() or "", resource).crawl()
    resolver = registry.resolver(resource.id() or "")
    for reference in _references(plain):
        try:
            resolver.lookup(reference)
        except Unresolvable as error:
            raise ConfigurationError(f"$ref {reference!r} leads out of the schema; nothing is ever fetched") from error
    return kind(plain, registry=registry)


def _references(schema: JsonValue) -> Iterator[str]:
    """The references of a schema that name a document; those within one (``#/...``) resolve or fail by themselves."""
    if isinstance(schema, Mapping):
        for key, value in schema.items():
            if key in ("$ref", "$dynamicRef") and isinstance(value, str) and not value.startswith("#"):
                yield value
            elif key not in ("const", "enum", "default", "examples"):
                yield from _references(value)
    elif isinstance(schema, Sequence) and not isinstance(schema, str):
        for item in schema:
            yield from _references(item)
