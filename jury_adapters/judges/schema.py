"""Check that an answer is JSON, and fits a JSON Schema."""

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from pydantic import JsonValue
from pydantic_core import SchemaError, SchemaValidator, core_schema

from jury_adapters.core.case import Case
from jury_adapters.core.judge import Returned
from jury_adapters.core.judgment import Finding, Judgment, Status
from jury_adapters.core.text import unique, visible
from jury_adapters.judges.options import Flag, OfAnswer, declared

_FENCE = re.compile(r"\s*```\w*[ \t]*\n(.*)\n[ \t]*```\s*", re.DOTALL)


@declared
class ValidJSON(OfAnswer):
    """The answer is JSON and, if a schema is given, fits it; with a finding for each place that does not fit.

    It is as strict as the programs that read the answer: NaN and Infinity are not JSON, and an object with a key twice
    fails, because readers disagree about which value counts.

    Args:
        schema: a JSON Schema: a mapping, or True or False, of the draft that its ``$schema`` names, by default
            2020-12. It needs ``jsonschema``. A ``$ref`` points into the schema itself; nothing is fetched. Patterns are
            those of :class:`Matches`; ``format`` is not checked.
        fenced: also accept the JSON inside one Markdown code fence.
        name: the name in verdicts.

    Raises:
        ConfigurationError: the schema is not valid, a ``$ref`` leads out of it, a part names a draft of its own, it has
            ``patternProperties`` (which could take for ever), or ``jsonschema`` is not installed.

    >>> ValidJSON(schema={"required": ["city"]}).judge(answer='{"town": "Bonn"}').reasoning
    "it does not fit the schema: $: 'city' is a required property"
    """

    schema: JsonValue = None
    fenced: Flag = False
    timeout = 10.0  # seconds; a schema may take long for a hostile answer

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.schema, dict | bool | None):
            raise ValueError(f"schema= is a mapping, True or False, not {type(self.schema).__name__}")
        if self.schema is not None:
            _validator(json.dumps(self.schema))

    def assess(self, case: Case) -> Returned:
        """Judge in a thread of its own, so that the time limit holds."""
        return self.check(case)

    def read(self, answer: str) -> Returned:
        fence = _FENCE.fullmatch(answer) if self.fenced else None
        try:
            value = read_json(fence[1] if fence else answer)
        except ValueError as error:
            return False, f"it is not JSON: {visible(str(error))}"
        if self.schema is None:
            return True, "it is JSON"
        errors = _validator(json.dumps(self.schema)).iter_errors(value)
        places = [(error.json_path, error.message) for error, _ in zip(errors, range(20), strict=False)]
        if not places:
            return True, "it is JSON and fits the schema"
        findings = [Finding(name=visible(place, 80), passed=False, detail=visible(said)) for place, said in places]
        reasoning = f"it does not fit the schema: {findings[0].name}: {findings[0].detail}"
        return Judgment(status=Status.FAIL, reasoning=reasoning, findings=tuple(findings))


def read_json(text: str) -> Any:
    """Return the value of a JSON text; numbers without a fraction, such as 1840.0, are whole numbers.

    Raises:
        ValueError: it is not JSON, has a key twice, or is nested too deeply.
    """
    try:
        return json.loads(text, parse_constant=_refuse, parse_float=_number, object_pairs_hook=unique)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number of JSON")


def _number(text: str) -> float:
    found = float(text)
    return int(found) if found.is_integer() else found


@lru_cache(maxsize=256)
def matcher(pattern: str) -> SchemaValidator:
    """Return a matcher whose ``isinstance_python(text)`` says whether the pattern matches somewhere in a text.

    It takes time in proportion to the text whatever the pattern, because the regular expressions are those of Rust.

    Raises:
        ValueError: the pattern is not valid, or has look-around or back-references.
    """
    try:
        return SchemaValidator(core_schema.str_schema(pattern=pattern, regex_engine="rust-regex"))
    except SchemaError as error:
        said = str(error).splitlines()[-1].strip().removeprefix("error: ").removeprefix("SchemaError: ")
        raise ValueError(
            f"the pattern '{visible(pattern)}' cannot be used: {said.rstrip('.')}; patterns are regular expressions of "
            "Rust, without look-around and back-references"
        ) from None


@lru_cache(maxsize=64)
def _validator(schema: str) -> Any:
    """Return the validator of a schema, given as JSON text."""
    try:
        from jsonschema import validators
        from jsonschema.exceptions import SchemaError as WrongSchema
        from jsonschema.exceptions import ValidationError
        from referencing import Registry
    except ImportError:
        raise ValueError("schema= needs jsonschema: pip install jsonschema") from None

    def pattern(_: Any, wanted: str, value: Any, __: Any) -> Iterator[ValidationError]:
        if isinstance(value, str) and not matcher(wanted).isinstance_python(value):
            yield ValidationError(f"'{visible(value, 40)}' does not match '{visible(wanted, 80)}'")

    given = json.loads(schema)
    base = validators.validator_for(given, default=validators.Draft202012Validator)
    try:
        base.check_schema(given)
    except WrongSchema as error:
        raise ValueError(f"schema= is no JSON Schema: {error.json_path}: {visible(error.message)}") from None
    if isinstance(given, dict):
        given.pop("$schema", None)  # where a schema refers to itself, it would bring back the patterns of Python
    for keyword, value in _keywords(given):
        if keyword == "pattern" and isinstance(value, str):
            matcher(value)
        leads_out = keyword in ("$ref", "$dynamicRef") and isinstance(value, str) and not value.startswith("#")
        if leads_out or keyword == "patternProperties" or (keyword == "$schema" and isinstance(value, str)):
            raise ValueError(
                f"schema= has {keyword} '{visible(str(value), 60)}': a $ref points into it, such as '#/$defs/a'; "
                "$schema stands at the top; patternProperties are not checked"
            )
    extend: Any = validators.extend
    return extend(base, {"pattern": pattern})(given, registry=Registry())


def _keywords(schema: Any) -> Iterator[tuple[str, Any]]:
    for key, value in (
        schema.items() if isinstance(schema, dict) else enumerate(schema if isinstance(schema, list) else ())
    ):
        yield str(key), value
        yield from _keywords(value)
