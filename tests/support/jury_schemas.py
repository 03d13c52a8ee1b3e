"""The schema of jury files, made once: to make it takes 0.2 s, and to check that it is a schema ten times as long."""

from functools import cache

import jsonschema

from jury_adapters.config import jury_schema


@cache
def schema_validator() -> jsonschema.Draft202012Validator:
    """Return a validator of the content of jury files."""
    return jsonschema.Draft202012Validator(jury_schema())
