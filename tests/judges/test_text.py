"""The checks of judges/text.py."""

import copy
import pickle
import re
import sys
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.proportion import assert_proportional

from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.installation import install_command
from jury_adapters.core.judge import Judge
from jury_adapters.core.judgment import Status
from jury_adapters.judges import text
from jury_adapters.judges.refusal_check import RefusalCheck
from jury_adapters.judges.text import Contains, Equals, LengthBetween, Matches, NotEmpty, ValidJSON

PASS, FAIL, ABSTAIN, ERROR = Status.PASS, Status.FAIL, Status.ABSTAIN, Status.ERROR

ALL = [
    NotEmpty(),
    Contains("x"),
    Matches("x"),
    Equals("x"),
    ValidJSON(schema={"type": "object"}),
    LengthBetween(1, 9),
    RefusalCheck(),
]


@pytest.mark.parametrize("check", ALL, ids=lambda check: check.name)
class TestEveryCheck:
    def test_is_called_like_its_class(self, check):
        assert check.name == type(check).__name__
        assert check.named("mine").judge(answer="x").critic == "mine"

    def test_without_an_answer_it_abstains_and_says_why(self, check):
        judgment = check.judge(question="who?")
        assert judgment.status is (FAIL if check.name == "NotEmpty" else ABSTAIN)
        assert "no answer" in judgment.reasoning

    def test_survives_pickle_copy_and_hostile_text(self, check):
        for twin in (pickle.loads(pickle.dumps(check)), copy.deepcopy(check)):
            assert twin == check
            assert hash(twin) == hash(check)
            assert twin.judge(answer="x").status is check.judge(answer="x").status
        assert check.judge(answer="\ud800 \x00 \u202e").status is not ERROR

    def test_cannot_be_changed(self, check):
        with pytest.raises(AttributeError):
            check.name = "other"
        assert isinstance(check, Judge)


def test_the_public_names_are_exactly_all():
    public = {
        name for name, value in vars(text).items() if isinstance(value, type) and value.__module__ == text.__name__
    }
    assert public == set(text.__all__)


@pytest.mark.parametrize(
    ("answer", "status"), [("x", PASS), ("", FAIL), (" \n\t", FAIL), ("\u3000", FAIL), ("0", PASS)]
)
def test_not_empty(answer, status):
    assert NotEmpty().judge(answer=answer).status is status


@pytest.mark.parametrize(
    ("of", "fields", "status", "reason"),
    [
        ("contexts", {"answer": "a"}, FAIL, "there are no contexts"),
        ("contexts", {"contexts": [" ", ""]}, FAIL, "the contexts are blank"),
        ("contexts", {"contexts": ["", "c"]}, PASS, "there are contexts"),
        ("question", {"answer": "a"}, FAIL, "there is no question"),
        ("reference", {"reference": "r"}, PASS, "there is a reference"),
    ],
)
def test_another_field_may_have_to_be_there(of, fields, status, reason):
    judgment = NotEmpty(of=of).judge(**fields)
    assert (judgment.status, judgment.reasoning) == (status, reason)


@pytest.mark.parametrize("accented", ["Le café à Hà Nội", "Äpfel und Öl", "한국어", "Ἀθῆναι"])
@pytest.mark.parametrize("forms", [("NFC", "NFD"), ("NFD", "NFC")])
def test_accents_in_one_character_and_in_two_are_the_same(accented, forms):
    expected, answer = (unicodedata.normalize(form, accented) for form in forms)
    assert expected != answer
    checks = [
        Contains(expected.split()[-1]), Contains(expected.upper(), ignore_case=True), Equals(expected),
        Equals(expected.upper(), ignore_case=True),
    ]  # fmt: skip
    assert [check.judge(answer=answer).status for check in checks] == [PASS] * 4
    assert Equals(f'["{expected}"]').judge(answer=f'[ "{answer}" ]').status is PASS
    assert Equals(expected, exact=True).judge(answer=answer).status is FAIL


def test_it_looks_only_at_fields_of_text():
    with pytest.raises(ConfigurationError, match="contexts"):
        NotEmpty(of="context")


class TestContains:
    def test_all_and_any(self):
        assert Contains(["a", "b"]).judge(answer="a b").status is PASS
        judgment = Contains(["a", "z"]).judge(answer="a b")
        assert judgment.status is FAIL
        assert [check.passed for check in judgment.findings] == [True, False]
        assert "'z'" in judgment.reasoning
        assert Contains(["a", "z"], need="any").judge(answer="a b").status is PASS
        assert Contains(["y", "z"], need="any").judge(answer="a b").status is FAIL

    def test_says_what_decided(self):
        any_of = Contains(["a", "z"], need="any")
        assert any_of.judge(answer="a b").reasoning == "contains 'a'; one is enough"
        assert any_of.judge(answer="a z").reasoning == "contains every text"
        assert any_of.judge(answer="b").reasoning == "missing: 'a', 'z'"
        assert Contains(["a", "z"]).judge(answer="a b").reasoning == "missing: 'z'"

    def test_case(self):
        assert Contains("PARIS").judge(answer="paris").status is FAIL
        assert Contains("STRASSE", ignore_case=True).judge(answer="Straße").status is PASS

    def test_a_list_is_taken_over_when_the_check_is_built(self):
        wanted = ["a"]
        check = Contains(wanted)
        wanted.append("z")
        assert check.texts == ("a",)

    @pytest.mark.parametrize(
        "options", [{"texts": []}, {"texts": ""}, {"texts": ["a", ""]}, {"texts": "a", "need": "al"}]
    )
    def test_wrong_construction(self, options):
        with pytest.raises(ConfigurationError):
            Contains(**options)


class TestMatches:
    def test_search_full_and_case(self):
        assert Matches(r"\d+").judge(answer="abc 42").findings[0].evidence == "42"
        assert Matches(r"\d+", full=True).judge(answer="abc 42").status is FAIL
        assert Matches(r"\d+", full=True).judge(answer="42").status is PASS
        assert Matches("ABC", ignore_case=True).judge(answer="abc").status is PASS

    def test_a_pattern_that_explodes_is_an_error_that_names_the_time_limit(self):
        judgment = Matches(r"(?:a|aa|b)+$", timeout_s=0.05).judge(answer="a" * 5000 + "c")
        assert judgment.status is ERROR
        assert judgment.error == "timeout"
        assert "time limit" in judgment.reasoning
        assert "0.05 s" in judgment.reasoning

    @pytest.mark.parametrize("options", [{"pattern": "("}, {"pattern": "a", "timeout_s": 0}, {"pattern": None}])
    def test_wrong_construction(self, options):
        with pytest.raises(ConfigurationError):
            Matches(**options)

    def test_without_the_package_the_message_says_what_to_install(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "regex", None)
        with pytest.raises(ConfigurationError, match=re.escape(install_command("checks"))):
            Matches("a")


class TestEquals:
    def test_reference_and_expected(self):
        assert Equals().judge(answer="a", reference="a").status is PASS
        assert Equals("a").judge(answer="a", reference="b").status is PASS
        assert Equals().judge(answer="a", reference="b").status is FAIL
        assert Equals("").judge(answer="", reference="b").status is PASS
        assert Equals().judge(answer="a").status is ABSTAIN

    def test_white_space_and_case(self):
        assert Equals("a b").judge(answer=" a \n b ").status is PASS
        assert Equals("a b", exact=True).judge(answer="a  b").status is FAIL
        assert Equals("A", ignore_case=True).judge(answer="a").status is PASS

    @pytest.mark.parametrize(("expected", "answer", "reason"), [
        ('{"a": 1840, "b": [1, 2]}', '{"b": [1.0, 2], "a": 1840.0}', "equals the expected JSON by value"),
        ('{"a": "in  2018"}', ' {"a" : "in 2018"}', "equals the expected JSON by value"),
        ('{"a": 1}', '{"a": true}', "a: expected 1, got true"),
        ('{"a": null}', "{}", "a: expected null, got nothing"),
        ('{"a": {"b": [{"c": 1}]}}', '{"a": {"b": [{"c": 2}]}}', "a.b[0].c: expected 1, got 2"),
        ("[1, 2]", "[2, 1]", "[0]: expected 1, got 2; [1]: expected 2, got 1"),
        ("[1, 2, 3, 4, 5]", "[]", "[0]: expected 1, got nothing; [1]: expected 2, got nothing; [2]: expected 3, got "
         "nothing; and 2 more"),
        ("[]", "{}", "expected [], got {}"),
        ('{"a": 1}', "a is 1", "expected '{\"a\": 1}', got 'a is 1'"),
        ('{"a": 1}', '{"a": 1, "a": 1.0}', 'expected \'{"a": 1}\', got \'{"a": 1, "a": 1.0}\''),
        ("18", "18.0", "expected '18', got '18.0'"),
    ])  # fmt: skip
    def test_json_is_compared_by_value_and_the_reason_names_the_places(self, expected, answer, reason):
        judgment = Equals().judge(answer=answer, reference=expected)
        assert judgment.reasoning == reason
        assert judgment.passed is reason.startswith("equals")
        assert Equals(exact=True).judge(answer=answer, reference=expected).status is FAIL

    def test_json_in_other_case(self):
        assert Equals('{"City": "BONN"}', ignore_case=True).judge(answer='{ "city": "Bonn"}').status is PASS
        assert Equals('{"City": "BONN"}').judge(answer='{ "City": "Bonn"}').status is FAIL

    def test_json_that_is_nested_too_deeply_is_compared_as_text(self):
        deep = "[" * 50_000 + "]" * 50_000
        assert Equals(deep).judge(answer=deep).status is PASS
        assert Equals(deep).judge(answer=f"{deep} ]").status is FAIL

    def test_the_reason_shows_where_long_texts_begin_to_differ(self):
        said = "The excess is 250 euros for each loss, and 500 euros for losses by storm or hail in the policy year."
        assert Equals(said).judge(answer=said.replace("hail", "flood")).reasoning == (
            "expected '... losses by storm or hail in the policy year.', got '... losses by storm or flood in the "
            "policy year.' (they differ from character 77 on)"
        )
        assert Equals(said).judge(answer=said[:-1]).reasoning.endswith("(they differ from character 100 on)")


class TestValidJSON:
    @pytest.mark.parametrize("answer", ["{}", " [1, 2.5e3]\n", '"x"', "null", '{"a": {"b": []}, "c": {"b": 1}}'])
    def test_json(self, answer):
        assert ValidJSON().judge(answer=answer).status is PASS

    @pytest.mark.parametrize(
        ("answer", "reason"),
        [
            ("", "Expecting value"),
            ("{'a': 1}", "Expecting property name"),
            ("{} trailing", "Extra data"),
            ("[NaN]", "NaN"),
            ("-Infinity", "Infinity"),
            ('{"a": 1, "a": 2}', "'a' occurs twice"),
            ("[" * 200_000, "nested too deeply"),
            ("9" * 10_000, "digits"),
            ('```json\n{"a": 1}\n```', "Expecting value"),
        ],
    )
    def test_no_json(self, answer, reason):
        judgment = ValidJSON().judge(answer=answer)
        assert judgment.status is FAIL
        assert reason in judgment.reasoning

    def test_a_code_fence_on_request(self):
        assert ValidJSON(fenced=True).judge(answer='\n```json\n{"a": 1}\n```\n').status is PASS
        assert ValidJSON(fenced=True).judge(answer='{"a": 1}').status is PASS
        assert ValidJSON(fenced=True).judge(answer='Here: ```json\n{"a": 1}\n```').status is FAIL

    def test_schema(self):
        schema = {
            "type": "object",
            "required": ["n"],
            "properties": {"n": {"$ref": "#/$defs/n"}},
            "$defs": {"n": {"type": "integer"}},
        }
        check = ValidJSON(schema=schema)
        assert check.judge(answer='{"n": 1}').status is PASS
        judgment = check.judge(answer='{"n": "1"}')
        assert judgment.status is FAIL
        assert judgment.findings[1].name == "schema $.n"
        assert "not of type 'integer'" in judgment.reasoning
        assert ValidJSON(schema=False).judge(answer="1").status is FAIL
        assert ValidJSON(schema=True).judge(answer="1").status is PASS

    def test_an_answer_with_many_faults_gives_a_bounded_verdict(self):
        judgment = ValidJSON(schema={"items": {"type": "string"}}).judge(answer=str(list(range(5000))))
        assert judgment.status is FAIL
        assert len(judgment.findings) < 30

    def test_older_drafts_and_embedded_documents_resolve(self):
        draft7 = {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "$ref": "#/definitions/x",
            "definitions": {"x": {"type": "null"}},
        }
        assert ValidJSON(schema=draft7).judge(answer="1").status is FAIL
        own = {"$id": "urn:a:b", "$defs": {"x": {"$id": "urn:a:c", "type": "null"}}, "$ref": "urn:a:c"}
        assert ValidJSON(schema=own).judge(answer="null").status is PASS

    @pytest.mark.parametrize(
        ("schema", "reason"),
        [
            ({"type": "objekt"}, "not valid"),
            ({"$ref": "https://example.invalid/schema.json"}, "never|ever fetched"),
            ({"items": [{"$ref": "other.json"}], "$schema": "http://json-schema.org/draft-07/schema#"}, "leads out"),
        ],
    )
    def test_a_bad_schema_is_refused_at_once(self, schema, reason):
        with pytest.raises(ConfigurationError, match=reason):
            ValidJSON(schema=schema)

    def test_without_the_package_only_a_schema_is_refused(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "jsonschema", None)
        assert ValidJSON().judge(answer="1").status is PASS
        with pytest.raises(ConfigurationError, match=re.escape(install_command("checks"))):
            ValidJSON(schema={})


class TestLengthBetween:
    def test_bounds_are_included(self):
        for answer, status in [("", FAIL), ("a", PASS), ("abc", PASS), ("abcd", FAIL)]:
            assert LengthBetween(1, 3).judge(answer=answer).status is status
        assert LengthBetween(2, unit="words").judge(answer="one  two\nthree").status is PASS
        assert LengthBetween(2, unit="words").judge(answer="one").reasoning == "1 word; asked for at least 2"
        assert LengthBetween(2).judge(answer="x").reasoning == "1 character; asked for at least 2"

    @pytest.mark.parametrize("options", [{"minimum": -1}, {"minimum": 3, "maximum": 2}, {"unit": "lines"}])
    def test_wrong_construction(self, options):
        with pytest.raises(ConfigurationError):
            LengthBetween(**options)


@settings(deadline=None)
@given(st.text(st.characters(), max_size=300))
def test_no_check_ever_breaks(answer):
    for check in ALL:
        assert check.judge(answer=answer).status in (PASS, FAIL, ABSTAIN)


@pytest.mark.parametrize("piece", ["I'm sorry, ", "{", " ", "a"])
def test_long_answers_take_time_in_proportion(piece):
    def checked(size):
        answer = piece * (size // len(piece))
        for check in ALL:
            check.judge(answer=answer)

    assert_proportional(checked, 50_000)
