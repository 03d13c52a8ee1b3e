"""Schemas that are hostile, or whose values are: everything ends in time, and nothing brings back what has no limit."""

from __future__ import annotations

import json
import time
from typing import Any

import jsonschema
import pytest
from support.proportion import assert_proportional

from jury_adapters import ConfigurationError, Status
from jury_adapters.config import load_jury
from jury_adapters.judges.text import Matches, ValidJSON
from jury_adapters.workspace.files import FileContent

DRAFTS = [
    "https://json-schema.org/draft/2020-12/schema", "https://json-schema.org/draft/2019-09/schema",
    "http://json-schema.org/draft-07/schema#", "http://json-schema.org/draft-06/schema#",
    "http://json-schema.org/draft-04/schema#", "http://json-schema.org/draft-03/schema#",
]  # fmt: skip
SLOW = "^(?:a|aa|b)+$"  # the regex library has remedies against others
TEXT = "a" * 5000 + "c"
EXPLODES = {
    "pattern": ({"pattern": SLOW}, TEXT),
    "pattern of a property": ({"properties": {"a": {"pattern": SLOW}}}, {"a": TEXT}),
    "pattern of items": ({"items": {"pattern": SLOW}}, [TEXT]),
    "patternProperties": ({"patternProperties": {SLOW: {}}}, {TEXT: 1}),
    "additionalProperties beside patternProperties": (
        {"patternProperties": {SLOW: True}, "additionalProperties": False}, {TEXT: 1},
    ),
    "propertyNames": ({"propertyNames": {"pattern": SLOW}}, {TEXT: 1}),
    "allOf": ({"allOf": [{"anyOf": [{"not": {"pattern": SLOW}}]}]}, TEXT),
    "if": ({"if": {"pattern": SLOW}, "then": False}, TEXT),
    "contains": ({"contains": {"pattern": SLOW}}, [TEXT]),
    "dependentSchemas": ({"dependentSchemas": {"a": {"properties": {"a": {"pattern": SLOW}}}}}, {"a": TEXT}),
    "a reference": ({"$ref": "#/$defs/slow", "$defs": {"slow": {"pattern": SLOW}}}, TEXT),
    "a dynamic reference": (
        {"$dynamicRef": "#slow", "$defs": {"slow": {"$dynamicAnchor": "slow", "pattern": SLOW}}}, TEXT,
    ),
    "a part with an id": (
        {"$ref": "urn:slow", "$defs": {"a": {"$id": "urn:slow", "pattern": SLOW}}}, TEXT,
    ),
    "a reference to the root, which names its draft": (
        {"$schema": DRAFTS[0], "properties": {"next": {"$ref": "#"}, "a": {"pattern": SLOW}}}, {"next": {"a": TEXT}},
    ),
    "a part that names the draft": (
        {"$schema": DRAFTS[0], "properties": {"a": {"$schema": DRAFTS[0], "pattern": SLOW}}}, {"a": TEXT},
    ),
    "unevaluatedProperties": ({"unevaluatedProperties": {"pattern": SLOW}}, {"a": TEXT}),
    "unevaluatedItems": ({"unevaluatedItems": {"pattern": SLOW}}, [TEXT]),
}  # fmt: skip


def doubling(depth: int) -> dict[str, Any]:
    """A schema of a few lines that stands for 2 to this power of them."""
    steps = {f"s{n}": {"allOf": [{"$ref": f"#/$defs/s{n + 1}"}, {"$ref": f"#/$defs/s{n + 1}"}]} for n in range(depth)}
    return {"$ref": "#/$defs/s0", "$defs": {**steps, f"s{depth}": {"type": "string"}}}


EXPLODES["references that double"] = (doubling(60), "x")
EXPLODES["unevaluated items of references that double"] = ({"unevaluatedItems": False, **doubling(60)}, ["x"])
EXPLODES["unevaluated properties of references that double"] = (
    {"unevaluatedProperties": False, **doubling(60)},
    {"a": 1},
)


@pytest.mark.corpus
@pytest.mark.parametrize("name", EXPLODES)
def test_a_schema_that_explodes_stops_at_its_time_limit(name):
    schema, value = EXPLODES[name]
    judgment = ValidJSON(schema=schema, timeout_s=0.05).judge(answer=json.dumps(value))
    if judgment.status is not Status.FAIL or "unevaluated" not in name:  # some fail before they explode
        assert (judgment.status, judgment.error) == (Status.ERROR, "timeout"), judgment
        assert judgment.reasoning == "the schema exceeded its time limit, 0.05 s"


@pytest.mark.parametrize("draft", DRAFTS)
def test_patterns_have_their_limit_in_every_draft(draft):
    schema = {"$schema": draft, "properties": {"next": {"$ref": "#"}, "a": {"pattern": SLOW}}}
    for value in ({"a": TEXT}, {"next": {"next": {"a": TEXT}}}):
        assert ValidJSON(schema=schema, timeout_s=0.05).judge(answer=json.dumps(value)).error == "timeout"


def test_a_part_of_another_draft_is_refused():
    with pytest.raises(ConfigurationError, match=r"a part of the schema is of another draft, '.*draft-07"):
        ValidJSON(schema={"properties": {"a": {"$schema": DRAFTS[2], "pattern": SLOW}}})


def test_a_schema_that_refers_to_itself_without_end_is_an_error_of_the_judge():
    for schema in (
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}]},
        {"$defs": {"a": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"},
    ):
        judgment = ValidJSON(schema=schema).judge(answer="1")
        assert (judgment.status, judgment.error) == (Status.ERROR, "recursion")


@pytest.mark.parametrize("frames", range(0, 40, 3))
def test_recursion_ends_before_python_does_wherever_the_judge_is_called_from(frames):
    """Near the interpreter's limit, the lookups of rpds panic, with an exception that is not an ``Exception``."""
    check = ValidJSON(schema={"allOf": [{"$ref": "#"}]})

    def called_from(depth):
        return called_from(depth - 1) if depth else check.judge(answer="1")

    assert called_from(frames).error == "recursion"


def test_a_recursive_schema_reads_values_of_seventy_levels():
    nested = {"value": 1}
    for _ in range(70):
        nested = {"next": nested}
    check = ValidJSON(schema={"properties": {"next": {"$ref": "#"}, "value": {"type": "string"}}})
    judgment = check.judge(answer=json.dumps(nested))
    assert judgment.status is Status.FAIL, judgment


@pytest.mark.slow
def test_unique_items_take_time_that_grows_with_the_items():
    check = ValidJSON(schema={"uniqueItems": True}, timeout_s=60)

    def compared(count):
        items = [{"n": n, "x": [n, str(n)]} for n in range(count)] + [None, "text", 1.5]
        assert check.judge(answer=json.dumps(items)).passed
        assert check.judge(answer=json.dumps([*items, items[7]])).passed is False

    assert_proportional(compared, 300)


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"pattern": "("}, "not a regular expression|the schema is not valid"),
        ({"patternProperties": {"(": {}}}, "not a regular expression|the schema is not valid"),
        ({"$defs": {"a": {"pattern": "((a{1000}){1000}){1000}"}}}, "too large"),
        ({"patternProperties": {"^a": {}}, "unevaluatedProperties": False}, "write additionalProperties instead"),
    ],
)
def test_a_schema_with_a_pattern_that_cannot_be_checked_is_refused(schema, message):
    with pytest.raises(ConfigurationError, match=message):
        ValidJSON(schema=schema)


SAME = [
    {"pattern": "^a.c$"}, {"pattern": "b"}, {"type": "string", "pattern": r"^\d+$"},
    {"patternProperties": {"^a": {"type": "string"}}},
    {"patternProperties": {"^a": {"type": "string"}, "b$": {"minLength": 2}}, "additionalProperties": False},
    {"properties": {"x": {}}, "patternProperties": {"^a": {}}, "additionalProperties": {"type": "integer"}},
    {"properties": {"x": {}}, "additionalProperties": False}, {"additionalProperties": {"type": "integer"}},
    {"propertyNames": {"pattern": "^a"}}, {"uniqueItems": True}, {"uniqueItems": False},
    {"items": {"pattern": "a"}, "uniqueItems": True}, {"unevaluatedProperties": False, "properties": {"x": {}}},
    {"properties": {"pattern": {"type": "string"}, "$schema": {"type": "integer"}}, "required": ["pattern"]},
    {"const": {"$schema": "x", "pattern": "("}}, {"enum": [{"patternProperties": {"(": 1}}, 1]}, True, False,
]  # fmt: skip
VALUES = [
    "abc", "xbx", "", "12", "a\nc", 1, 1.0, True, None, [], [1, 1.0], [1, True], [0, False], [{"a": 1}, {"a": 1.0}],
    [[1], [1]], ["a", "b"], ["a", "a"], [None, None], {}, {"a": "x"}, {"a": 1}, {"ab": "xx"}, {"b": "x"}, {"x": 1},
    {"x": 1, "y": 2}, {"x": 1, "y": "2"}, {"pattern": "p"}, {"pattern": "p", "$schema": 3},
    {"$schema": "s", "pattern": "p"},
    {"$schema": "x", "pattern": "("}, {"patternProperties": {"(": 1}},
]  # fmt: skip


# A schema that is true or false names no draft.
DRAFTED = [{"$schema": draft, **schema} for draft in DRAFTS[:5] for schema in SAME if isinstance(schema, dict)]


@pytest.mark.parametrize("schema", [*SAME, *DRAFTED], ids=repr)
def test_the_keywords_with_a_time_limit_say_what_those_of_jsonschema_say(schema):
    kind = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    check = ValidJSON(schema=schema)
    for value in VALUES:
        judgment = check.judge(answer=json.dumps(value))
        assert judgment.passed is kind(schema).is_valid(value), (value, judgment)


@pytest.mark.parametrize("make", [Matches, lambda pattern: FileContent("a.txt", pattern, match="regex")])
def test_a_pattern_that_only_looks_small_is_refused_by_every_check(make):
    started = time.monotonic()
    for pattern in (
        "((a{1000}){1000}){1000}",
        "(?:[ab]{999,}){999}",
        "a{99999999}",
        "(((((x{99}){99}){99}){99}){99}){99}",
    ):
        with pytest.raises(ConfigurationError, match="is too large: its repetitions stand for more than 100,000"):
            make(pattern)
    assert time.monotonic() - started < 10  # compiling them takes minutes and all memory
    for pattern in (r"\d{4}-\d{2}-\d{2}", "[{]{3}", r"\{1000\}{2}", "[a-f0-9]{8}(-[a-f0-9]{4}){3}", "a{0,60000}",
                    "(a{100}){100}", "x{,5}", ""):  # fmt: skip
        assert make(pattern)


def test_the_time_limit_is_an_option_of_a_jury_file():
    jury = load_jury(f"jurors: [{{check: valid_json, timeout_s: 0.05, schema: {{pattern: '{SLOW}'}}}}]\n")
    assert jury.judge(answer=json.dumps(TEXT)).judgments[0].error == "timeout"
    with pytest.raises(ConfigurationError, match="positive"):
        ValidJSON(timeout_s=0)
