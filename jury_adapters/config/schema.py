"""JSON schema of jury files, made from the classes that read them."""

from typing import Any

from pydantic import TypeAdapter

from jury_adapters.checks import CHECKS
from jury_adapters.config.jury_file import JURY_FILE, VOTING
from jury_adapters.core.votes import OTHER_NAMES, RULES


def jury_schema() -> dict[str, Any]:
    """Return the JSON schema of jury files, so that an editor completes and checks them.

    It accepts what :func:`jury_adapters.config.load_jury` accepts. What concerns several parts of a file, such as a
    rubric that no model inside is asked, is only found when a file is loaded.

    >>> sorted(jury_schema()["$defs"])[0], jury_schema()["$schema"]
    ('CalibratedSpec', 'https://json-schema.org/draft/2020-12/schema')
    """
    schema = JURY_FILE.json_schema()
    definitions = schema["$defs"]
    shared = definitions.pop("CheckSpec")
    names = [_add(definitions, f"check.{name}", TypeAdapter(CHECKS[name])) for name in CHECKS]
    for name in names:
        options = definitions[name]
        definitions[name] = {
            **shared,
            "description": options["description"].partition("\n")[0],
            "properties": {
                **options["properties"],
                **shared["properties"],
                "check": {"const": name.removeprefix("check.")},
            },
            "required": ["check", *options.get("required", [])],
            "additionalProperties": False,
        }
    definitions["CheckSpec"] = {"oneOf": [{"$ref": f"#/$defs/{name}"} for name in names]}
    for name, kind in RULES.items():
        _add(definitions, f"voting.{name}", TypeAdapter(kind))
    definitions["EnsembleSpec"]["allOf"] += [
        {
            "if": {"properties": {"voting": {"const": name}}, "required": [] if name == "majority" else ["voting"]},
            "then": {
                "properties": {"options": {"$ref": f"#/$defs/{rule}"}},
                "required": ["options"] if definitions[rule].get("required") else [],
            },
        }
        for name, rule in ((name, f"voting.{OTHER_NAMES.get(name, name)}") for name in VOTING)
    ]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _add(definitions: dict[str, Any], name: str, kind: TypeAdapter[Any]) -> str:
    """Add the schema of a type, and of what is inside it, to the definitions."""
    schema = kind.json_schema(ref_template=f"#/$defs/{name}.{{model}}")
    definitions |= {f"{name}.{inner}": one for inner, one in schema.pop("$defs", {}).items()}
    definitions[name] = schema
    return name
