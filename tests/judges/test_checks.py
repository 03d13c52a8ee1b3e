"""The checks of an answer's text, their options, and the table of all checks."""

import copy
import json
import pickle
import subprocess
import sys
import threading
import unicodedata
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from jury_adapters import Case, Check, ConfigurationError, Ensemble, Image, checks
from jury_adapters.checks import (
    CHECKS,
    Contains,
    Equals,
    LengthBetween,
    Matches,
    NotEmpty,
    RefusalCheck,
    Similar,
    StepLimit,
    ToolCalls,
    ValidJSON,
)
from jury_adapters.judges.options import DeclaredCheck, declared

NFC, NFD = (unicodedata.normalize(form, "Café Zürich, Hà Nội, 한국어") for form in ("NFC", "NFD"))
WIDE = "ABC-123".translate({code: code + 0xFEE0 for code in range(0x21, 0x7F)})  # in full width
CITY = {"type": "object", "required": ["n"], "properties": {"n": {"$ref": "#/$defs/n"}},
    "$defs": {"n": {"type": "integer"}}}  # fmt: skip
DRAFT_7 = {"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "null"}], "additionalItems": False}
CHAIN = {"$schema": "https://json-schema.org/draft/2020-12/schema", "properties": {"next": {"$ref": "#"},
    "code": {"pattern": "^(a+)+$"}}}  # fmt: skip
SLOW = f'{{"code": "{"a" * 5000}!"}}'

# A check, what is judged (a text is the answer), the status, and a part of the reason.
ROWS = {
    "not empty": [
        (NotEmpty(), "x", "PASS", "the field 'answer' is not blank"),
        (NotEmpty(), "0", "PASS", ""),
        (NotEmpty(), "", "FAIL", "blank or missing"),
        (NotEmpty(), " \n\t\u3000\u00a0", "FAIL", ""),
        (NotEmpty(), "\u200b\u2060\ufeff", "FAIL", ""),  # which nobody sees
        (NotEmpty(), {"question": "Who?"}, "FAIL", "missing"),
        (NotEmpty(), {"images": [Image(url="https://x/y.png", part="answer")]}, "PASS", ""),
        (NotEmpty(), {"images": [Image(url="https://x/y.png", part="context")]}, "FAIL", ""),
        (NotEmpty(of="contexts"), "a", "FAIL", "'contexts'"),
        (NotEmpty(of="contexts"), {"contexts": ["", "c"]}, "PASS", ""),
        (NotEmpty(of="reference"), {"answer": "a", "reference": "r"}, "PASS", ""),
        (NotEmpty(of="question"), "a", "FAIL", ""),
    ],
    "contains": [
        (Contains("Paris"), "It is Paris.", "PASS", ""),
        (Contains("Paris"), "It is PARIS.", "FAIL", "not found: 'Paris'"),
        (Contains("STRASSE", ignore_case=True), "Lange Straße 3", "PASS", ""),
        (Contains(["a", "z"]), "a b", "FAIL", "1 of 2 texts found; not found: 'z'"),
        (Contains(["a", "z"], need="any"), "a b", "PASS", ""),
        (Contains(["y", "z"], need="any"), "a b", "FAIL", ""),
        (Contains(["y", "z"], need="none"), "a b", "PASS", ""),
        (Contains(["y", "a"], need="none"), "a b", "FAIL", ""),
        (Contains(NFC), NFD, "PASS", ""),
        (Contains(NFD.upper(), ignore_case=True), NFC, "PASS", ""),
        (Contains("10 km"), "It is 10\u00a0km away.", "PASS", ""),
        (Contains("ABC-123"), f"製品は{WIDE}です", "FAIL", ""),
        (Contains("ABC-123", ignore_width=True), f"製品は{WIDE}です", "PASS", ""),
        (Contains(" cat "), "concatenate", "FAIL", ""),
        (Contains("x"), {"question": "?"}, "ABSTAIN", "no answer"),
        (Contains("x"), "\ud800 \x00 \u202e", "FAIL", ""),
    ],
    "equals": [
        (Equals(), {"answer": " a \n b ", "reference": "a b"}, "PASS", ""),
        (Equals("a  b\n"), "a b", "PASS", ""),
        (Equals("a b", exact=True), "a  b", "FAIL", ""),
        (Equals("A"), "a", "FAIL", "expected 'A', found 'a'"),
        (Equals("A", ignore_case=True), "a", "PASS", ""),
        (Equals("A", exact=True, ignore_case=True), "a ", "FAIL", ""),
        (Equals("a"), {"answer": "a", "reference": "b"}, "PASS", ""),
        (Equals(""), {"answer": "", "reference": "b"}, "PASS", ""),
        (Equals(), "a", "ABSTAIN", "reference"),
        (Equals("a"), {"question": "?"}, "ABSTAIN", "no answer"),
        (Equals(NFC), NFD, "PASS", ""),
        (Equals(NFC, exact=True), NFD, "FAIL", ""),
        (Equals("10 km"), "10\u00a0km", "PASS", ""),
        (Equals("ABC-123"), WIDE, "FAIL", ""),
        (Equals("ABC-123", ignore_width=True), WIDE, "PASS", ""),
        (Equals("ガ", ignore_width=True), "ｶﾞ", "PASS", ""),
        (Equals("1", ignore_width=True), "①", "FAIL", ""),
        (Equals("102", ignore_width=True), "10²", "FAIL", ""),
        (Equals('{"a": 1840, "b": [1, 2]}'), '{"b": [1.0, 2],\n "a": 1840.0}', "PASS", ""),
        (Equals('{"a": 1840}', exact=True), '{"a": 1840.0}', "FAIL", ""),
        (Equals(f'["{NFC}"]'), f'[ "{NFD}" ]', "PASS", ""),
        (Equals('{"a": 1}'), '{"a": true}', "FAIL", ""),
        (Equals('{"a": 1}'), '{"a": "1"}', "FAIL", ""),
        (Equals('{"a": null}'), "{}", "FAIL", ""),
        (Equals("[1, 2]"), "[2, 1]", "FAIL", ""),
        (Equals('{"a": 1}'), '{"a": 1, "a": 1}', "FAIL", ""),
        (Equals("18"), "18.0", "FAIL", ""),  # a text that is no object and no array
        (Equals("["), "[" * 100_000, "FAIL", ""),
        (Equals("x" * 90 + "hail"), "x" * 90 + "flood", "FAIL", "xxxxflood'"),
    ],
    "similar": [
        (Similar(), {"answer": "It stopped in 2018.", "reference": "in 2018, it STOPPED"}, "PASS", "4 words"),
        (Similar(threshold=0.9), {"answer": "It stopped in 2018.", "reference": "It stopped running in 2018"}, "FAIL",
            ""),
        (Similar("一二三四"), "一二三五", "PASS", "3 words"),
        (Similar("ABC"), WIDE[:3], "PASS", ""),
        (Similar("a b"), "c d", "FAIL", "0 words"),
        (Similar("a"), "", "FAIL", ""),
        (Similar("!"), "a", "ABSTAIN", "no word"),
        (Similar(), "a", "ABSTAIN", "reference"),
    ],
    "matches": [
        (Matches(r"\d{4}-\d{2}"), "Due on 2026-03-01.", "PASS", ""),
        (Matches(r"\d+", full=True), "abc 42", "FAIL", ""),
        (Matches(r"a|42", full=True), "42", "PASS", ""),
        (Matches("ABC", ignore_case=True), "xabcx", "PASS", ""),
        (Matches("^b$"), "a\nb", "FAIL", ""),
        (Matches("(?m)^b$"), "a\nb", "PASS", ""),
        (Matches(r"(?:a|aa|b)+$"), "a" * 50_000 + "c", "FAIL", ""),  # where a backtracking engine does not return
        (Matches(r"^(a+)+$"), "a" * 50_000 + "!", "FAIL", "does not match '^(a+)+$'"),
        (Matches("x"), {"question": "?"}, "ABSTAIN", ""),
    ],
    "length": [
        (LengthBetween(1, 3), "", "FAIL", ""),
        (LengthBetween(1, 3), "abc", "PASS", ""),
        (LengthBetween(1, 3), "abcd", "FAIL", "it has 4 characters; asked for at least 1 and at most 3"),
        (LengthBetween(2, unit="words"), "one  two\nthree", "PASS", ""),
        (LengthBetween(2, unit="words"), "one", "FAIL", "1 words; asked for at least 2"),
        (LengthBetween(maximum=0), "", "PASS", ""),
    ],
    "JSON": [
        (ValidJSON(), ' [1, 2.5e3, {"a": {"b": []}}]\n', "PASS", ""),
        (ValidJSON(), "", "FAIL", "Expecting value"),
        (ValidJSON(), "{'a': 1}", "FAIL", "it is not JSON"),
        (ValidJSON(), "{} trailing", "FAIL", "Extra data"),
        (ValidJSON(), "[NaN]", "FAIL", "NaN"),
        (ValidJSON(), "-Infinity", "FAIL", "Infinity"),
        (ValidJSON(), '{"a": 1, "a": 2}', "FAIL", "key 'a' occurs twice"),
        (ValidJSON(), "[" * 200_000, "FAIL", "nested too deeply"),
        (ValidJSON(), "9" * 10_000, "FAIL", "digits"),
        (ValidJSON(), '```json\n{"a": 1}\n```', "FAIL", ""),
        (ValidJSON(fenced=True), '\n```json\n{"a": 1}\n```\n', "PASS", ""),
        (ValidJSON(fenced=True), '{"a": 1}', "PASS", ""),
        (ValidJSON(fenced=True), 'Here: ```json\n{"a": 1}\n```', "FAIL", ""),
        (ValidJSON(), {"question": "?"}, "ABSTAIN", "no answer"),
        (ValidJSON(schema=CITY), '{"n": 1.0}', "PASS", ""),
        (ValidJSON(schema=CITY), '{"n": "1"}', "FAIL", "$.n: '1' is not of type 'integer'"),
        (ValidJSON(schema=CITY), "[]", "FAIL", "not of type 'object'"),
        (ValidJSON(schema=False), "1", "FAIL", ""),
        (ValidJSON(schema=True), "1", "PASS", ""),
        (ValidJSON(schema=DRAFT_7), "[1]", "FAIL", "not of type 'null'"),  # items= of its own draft
        (ValidJSON(schema=DRAFT_7), "[null]", "PASS", ""),
        (ValidJSON(schema=CHAIN), f'{{"next": {{"next": {SLOW}}}}}', "FAIL", "does not match"),
        (ValidJSON(schema=CHAIN), '{"next": {"code": "aaa"}}', "PASS", ""),
        (ValidJSON(schema={"properties": {"$ref": {"const": 1}}}), '{"$ref": 1}', "PASS", ""),
        (ValidJSON(schema={"$ref": "#"}), "1", "ERROR", ""),  # without end
        (ValidJSON(schema={"$ref": "#/$defs/none"}), "1", "ERROR", ""),
    ],
}  # fmt: skip


@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS)
def test_what_a_check_says(rows):
    wrong = []
    for check, given_, status, reason in rows:
        found = check.judge({"answer": given_} if isinstance(given_, str) else given_)
        if found.status != status or reason not in f"{found.reasoning}{found.error}":
            wrong.append((vars(check), given_, status, reason, found))
    assert wrong == []


def test_findings_name_each_text_and_each_place_that_does_not_fit():
    found = Contains(["a", "z"], need="none").judge(answer="a b").findings
    assert [(one.name, one.passed) for one in found] == [("contains 'a'", False), ("contains 'z'", True)]
    found = ValidJSON(schema={"items": {"type": "string"}}).judge(answer=json.dumps([*range(5000)])).findings
    assert (found[1].name, len(found)) == ("$[1]", 20)


def test_similarity_is_the_f1_of_the_words():
    """Precision 4/4 and recall 4/5 of the definition in Rajpurkar et al. (2016)."""
    judgment = Similar("It stopped running in 2018", threshold=0.9).judge(answer="It stopped in 2018.")
    assert (judgment.score, Ensemble([Similar("a", threshold=0.7)], voting="average").pass_mark) == (
        pytest.approx(2 * 1 * 0.8 / 1.8),
        0.7,
    )


WRONG = [
    (NotEmpty, {"of": "context"}, "of: Input should be 'answer', 'contexts'"),
    (NotEmpty, {"off": "answer"}, "off: Unexpected keyword argument"),
    (Contains, {}, "texts: Field required"),
    (Contains, {"texts": []}, "texts: "),
    (Contains, {"texts": ""}, "at least 1 character"),
    (Contains, {"texts": ["a", 3]}, "texts.1: "),
    (Contains, {"texts": "a", "need": "al"}, "need: "),
    (Contains, {"texts": "a", "ignore_case": "yes"}, "ignore_case: Input should be a valid boolean"),
    (Equals, {"expected": 3}, "expected: "),
    (Similar, {"threshold": 1.5}, "threshold: "),
    (Matches, {"pattern": "("}, "unclosed group"),
    (Matches, {"pattern": "a)|(b", "full": True}, "cannot be used"),
    (Matches, {"pattern": "(?=a)"}, "look-around"),
    (Matches, {"pattern": r"(a)\1"}, "backreferences"),
    (Matches, {"pattern": "(?:a{1000}){1000}"}, "size limit"),
    (LengthBetween, {"minimum": -1}, "minimum: "),
    (LengthBetween, {"minimum": True}, "minimum: "),
    (LengthBetween, {"maximum": "80"}, "maximum: "),
    (LengthBetween, {"minimum": 3, "maximum": 2}, "LengthBetween: minimum=3 is above maximum=2"),
    (LengthBetween, {"unit": "lines"}, "unit: "),
    (ValidJSON, {"schema": {"type": "objekt"}}, "$.type: 'objekt'"),
    (ValidJSON, {"schema": [1]}, "a mapping, True or False, not list"),
    (ValidJSON, {"schema": {"$ref": "https://example.invalid/x.json"}}, "$ref 'https://example.invalid/x.json'"),
    (ValidJSON, {"schema": {"allOf": [{"$dynamicRef": "other.json"}]}}, "$dynamicRef"),
    (ValidJSON, {"schema": {"pattern": "(?!a)"}}, "look-around"),
    (ValidJSON, {"schema": {"anyOf": [{"patternProperties": {"^(a+)+$": {}}}]}}, "patternProperties"),
    (ValidJSON, {"schema": {"properties": {"a": {"$schema": DRAFT_7["$schema"]}}}}, "$schema stands at the top"),
    (ToolCalls, {"expected": "a"}, "expected: "),
    (StepLimit, {}, "a limit is needed"),
]  # fmt: skip


def test_wrong_options_are_refused_in_one_sentence_at_once():
    for make, options, said in WRONG:
        with pytest.raises(ConfigurationError) as caught:
            make(**options)
        assert str(caught.value).startswith(f"{make.__name__}: "), options
        assert said in str(caught.value), options
        assert "\n" not in str(caught.value)
    with pytest.raises(ConfigurationError, match="positional"):
        Matches("a", True, True, "a name is given by name")


def test_a_remote_reference_is_never_fetched():
    asked = []

    class Server(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"{}")

    server = HTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    try:
        with pytest.raises(ConfigurationError, match=r"a \$ref points into it"):
            ValidJSON(schema={"items": {"$ref": f"{address}/a.json"}})
        inner = {
            "$id": f"{address}/b.json",
            "$ref": "#/$defs/x",
            "$defs": {"y": {"$id": "c.json", "$ref": "#/nothing"}},
        }
        assert ValidJSON(schema=inner).judge(answer="1").status == "ERROR"
    finally:
        server.shutdown()
        server.server_close()
    assert asked == []


def test_a_schema_that_takes_long_ends_at_its_time_limit():
    """Mappings cannot be sorted, so that their uniqueness is compared pair by pair."""
    answer = json.dumps([{"a": number} for number in range(1500)])
    check = ValidJSON(schema={"uniqueItems": True})
    assert (check.timeout is not None, check.with_timeout(0.01).judge(answer=answer).error) == (True, "timeout")


OPTIONS = {
    "not_empty": {"of": "contexts"},
    "contains": {"texts": ["a", "b"], "need": "any", "ignore_case": True},
    "equals": {"expected": "a", "exact": True},
    "similar": {"threshold": 0.75},
    "matches": {"pattern": "a+", "full": True},
    "length_between": {"minimum": 1, "maximum": 3, "unit": "words"},
    "valid_json": {"schema": {"type": "object"}, "fenced": True},
    "refusal_check": {"allow_unknown": True},
    "tool_calls": {"expected": ["a", ["b", {"x": 1}], {"tool": "c", "arguments": {}}], "order": "superset"},
    "forbidden_tools": {"tools": "delete_*"},
    "step_limit": {"max_steps": 3},
    "no_tool_errors": {"allowed": 1},
}
CASE = Case(answer='{"a": 1}', reference="a", contexts=["c"])


@pytest.mark.parametrize("name", OPTIONS)
def test_a_check_is_built_alike_by_its_constructor_and_from_a_mapping(name):
    """As a jury file does it: the mapping is what JSON or YAML gives."""
    cls, options = CHECKS[name], OPTIONS[name]
    adapter = TypeAdapter(cls)
    built, read = cls(**options, name="mine"), adapter.validate_python({**options, "name": "mine"})
    assert (vars(built), built.fingerprint, built.judge(CASE).critic, cls(**options).name) == (
        vars(read),
        read.fingerprint,
        "mine",
        cls.__name__,
    )
    schema = adapter.json_schema()
    assert schema["additionalProperties"] is False
    jsonschema.validate({**options, "name": "mine"}, schema)
    with pytest.raises(ValidationError):
        adapter.validate_python({**options, "unknown": 1})
    assert [
        twin
        for twin in (pickle.loads(pickle.dumps(built)), copy.deepcopy(built), built.with_timeout(9))
        if (twin.judge(CASE).but(elapsed_s=0), twin.fingerprint)
        != (
            built.judge(CASE).but(elapsed_s=0),
            built.fingerprint,
        )
    ] == []


def test_every_option_counts_in_the_fingerprint():
    alike = [Contains("a"), Contains(["a"]), Contains("a", need="all"), Contains(texts=("a",))]
    others = [Contains("b"), Contains("a", need="any"), Contains("a", ignore_case=True), Contains("a", name="other")]
    assert (len({one.fingerprint for one in alike}), len({one.fingerprint for one in [alike[0], *others]})) == (1, 5)


def leaves(cls):
    """Return the checks of the package that no other one is made of."""
    below = [one for one in cls.__subclasses__() if one.__module__.startswith("jury_adapters.")]
    return {leaf for one in below for leaf in leaves(one)} or {cls}


def test_the_table_has_every_check_once_and_loads_no_library_that_it_does_not_need():
    found = [*CHECKS.values()]
    assert ({*found}, len(found), [cls.__name__ for cls in found]) == (leaves(DeclaredCheck), 23, checks.__all__[1:])
    assert all(issubclass(cls, Check) and isinstance(cls.runs_commands, bool) for cls in found)
    assert ({*OPTIONS} <= {*CHECKS}, "no_such_check" in CHECKS) == (True, False)
    program = "import sys; from jury_adapters.checks import CHECKS; print(*sys.modules)"
    loaded = {
        *subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    }
    assert {"jsonschema", "numpy", "langchain_core", "llama_index", "openai"} & loaded == set()


def test_options_across_fields_are_checked_and_a_subclass_may_add_some():
    @declared
    class Polite(DeclaredCheck):
        """An own check, as the documentation shows it."""

        words: tuple[str, ...] = ("please",)

        def check(self, case):
            return any(word in (case.answer or "") for word in self.words)

    @declared
    class VeryPolite(Polite):
        at_least: int = 1

        def __post_init__(self):
            super().__post_init__()
            if self.at_least > len(self.words):
                raise ValueError(f"at_least={self.at_least} is more than there are words")

    assert (
        Polite(["bitte"]).judge(answer="Ja, bitte.").passed,
        VeryPolite(name="very").judge(answer="No!").critic,
    ) == (True, "very")
    with pytest.raises(ConfigurationError, match=r"^VeryPolite: at_least=2 is more"):
        VeryPolite(at_least=2)


def test_the_fact_of_the_seed_systems_about_texts():
    facts = json.loads((Path(__file__).parents[1] / "contract" / "cases.json").read_text(encoding="utf-8"))["cases"]
    (fact,) = (one for one in facts if one["input"].get("judge") == "text_file")
    given_, expected = fact["input"], fact["expected"]
    assert Equals(given_["expected_text"]).judge(answer=given_["actual_text"]).status == expected["status"]


EVERY = [NotEmpty(), Contains("x"), Equals("x"), Similar("x"), Matches("x"), LengthBetween(1, 9), RefusalCheck(),
    ValidJSON(schema=CITY)]  # fmt: skip


@settings(deadline=None, max_examples=20)
@given(st.text(st.characters(codec="utf-8"), max_size=200))
def test_no_text_breaks_a_check_and_a_text_equals_itself_in_every_form(answer):
    assert [check for check in EVERY if check.judge(answer=answer).status not in ("PASS", "FAIL", "ABSTAIN")] == []
    assert [
        same
        for same in (unicodedata.normalize("NFC", answer), unicodedata.normalize("NFD", answer), f"\n {answer}\t")
        if (
            Equals(same).judge(answer=answer).passed,
            Equals(same, ignore_case=True).judge(answer=answer).passed,
        )
        != (True, True)
    ] == []
    assert Contains(answer or "a").judge(answer=f"<{answer or 'a'}>").passed
