"""Rubrics: those of the package, those of files, and what does not fit together."""

import re

import pytest
from fact_tables import each_row

from jury_adapters import Case
from jury_adapters.core.judgment import Status
from jury_adapters.core.values import ConfigurationError, InputError
from jury_adapters.critic.answers import Choice, Scale
from jury_adapters.critic.prompt import CLAIM_KEYS, build_prompt, missing_fields, reply_schema
from jury_adapters.critic.rubric import PLACEHOLDERS, Rubric, bundled_rubrics, fill, rubric_of
from jury_adapters.critic.yaml import parse_yaml, read_yaml

FULL = Case(
    question="<q>", answer="<a>", contexts=["<c>"], reference="<r>", candidates=["<one>", "<two>"],
    messages=[{"role": "user", "content": "<m>"}], steps=[{"tool": "search", "output": "<st>"}],
    metadata={"plan": "<plan>", "role": "<role>", "available_tools": ["<tools>"], "reference_trajectory": "<t>"},
)  # fmt: skip


def test_the_package_has_the_rubrics_of_rag_agents_code_safety_and_writing():
    assert len(bundled_rubrics()) == 40
    assert {"faithfulness", "hallucination", "answer_relevance", "context_relevance", "correctness", "pairwise",
            "task_completion", "tool_selection", "code_equivalence", "safety", "prompt_injection", "coherence",
            "translation_adequacy"} <= {*bundled_rubrics()}  # fmt: skip


@each_row("name", bundled_rubrics())
def test_a_rubric_of_the_package_declares_what_its_reader_accepts_and_shows_what_it_needs(name):
    rubric = Rubric.bundled(name)
    assert rubric.name == name
    assert rubric.version.isdigit()
    assert rubric.description
    assert rubric.source
    # Each label is named in the criteria, and read; a scale has a line for each rating.
    names = rubric.answers.values if rubric.scale else rubric.answers.root
    for answer in names:
        assert isinstance(rubric.answers.read(answer), Choice)
        assert re.search(rf"(?<!\w){answer}:", rubric.criteria), answer
    meanings = {rubric.answers.read(answer).status for answer in names}
    assert meanings >= ({Status.LABEL} if name == "pairwise" else {Status.PASS, Status.FAIL})
    # What it requires is in the prompt, and so is all else that it shows.
    shown = {PLACEHOLDERS.get(field, field) for field in rubric.shown}
    assert {*rubric.required} <= shown
    assert missing_fields(rubric, FULL) == []
    for field in rubric.required:
        empty = None if field in ("question", "answer", "reference") else ()
        without = {"metadata": {}} if field not in Case.model_fields else {field: empty}
        assert missing_fields(rubric, FULL.model_copy(update=without)) == [field]
    prompt = build_prompt(rubric, FULL)
    assert "given)" not in prompt.turns[-1].text
    assert len(re.findall(r"<[a-z0-9_-]+-[0-9a-f]{12}>", prompt.turns[-1].text)) == len(rubric.shown)
    assert len(prompt.system) < 4500
    if rubric.empty_answer is not None:
        assert isinstance(rubric.answers.read(rubric.empty_answer), Choice)


def test_a_schema_has_the_reasoning_before_the_answer_and_no_optional_keys():
    """Trap 15. LangChain needs a title and a description."""
    for name in bundled_rubrics():
        schema = reply_schema(Rubric.bundled(name))
        keys = (
            ["reasoning", "claims", "answer", "confidence"]
            if Rubric.bundled(name).claims_of
            else ["reasoning", "answer", "confidence"]
        )
        assert list(schema["properties"]) == schema["required"] == keys
        assert schema["additionalProperties"] is False
        assert schema["title"]
        assert schema["description"]
        assert not re.search(r"minimum|maximum|minLength|pattern", str(schema))
        if "claims" in keys:
            assert schema["properties"]["claims"]["items"]["required"] == [*CLAIM_KEYS]


@each_row(
    ("fields", "message"),
    [
        ({"labels": {"a": "pass"}, "scale": (1, 5)}, "labels or a scale, not both"),
        ({"prompt": "Is it {tone}?"}, r"'tone' is not a placeholder: .*write \{\{tone\}\}.*variables=\['tone'\]"),
        ({"prompt": "Is it right?"}, r"shows no answer: write \{answer\}"),
        ({"prompt": "{question} {{answer}}"}, r"shows no answer: write \{answer\}, with single braces"),
        ({"requires": ["mood"]}, "'mood' is not a placeholder"),
        ({"variables": ["answer"]}, "'answer' cannot name a variable"),
        ({"variables": ["two words"]}, "'two words' cannot name a variable"),
        ({"empty_answer": "MAYBE"}, "empty_answer: the answer must be exactly one of"),
        ({"examples": [{"case": {"answer": "a"}, "answer": "MAYBE", "reasoning": "r"}]}, "examples.0: the"),
        ({"examples": [{"case": {"mood": "a"}, "answer": "YES", "reasoning": "r"}]}, "examples.0.case.mood"),
        ({"claims_of": "answer"}, "claims need {answer} and {contexts}"),
        ({"claims_of": "reference", "prompt": "{answer}{contexts}"}, "claims need {reference}"),
        ({"claims_of": "answer", "prompt": "{answer}{contexts}", "scale": (1, 5)}, "labels that pass and that fail"),
        ({"claims_of": "answer", "prompt": "{answer}{contexts}", "labels": {"A": "label"}}, "labels that pass and"),
        ({"claims_of": "question", "prompt": "{answer}{contexts}"}, "claims_of"),
        ({"threshold": 1.5}, "threshold"),
        ({"criterion": "x"}, "criterion"),
        ({"labels": {"a": "good"}}, "labels.a.meaning"),
        ({"name": ""}, "name"),
    ],
)  # fmt: skip
def test_parts_that_do_not_fit_together_are_refused(fields, message):
    with pytest.raises(ConfigurationError, match=message):
        Rubric(name="x").replace(**fields)


def test_a_rubric_is_given_as_such_by_name_or_by_path(tmp_path):
    own = tmp_path / "polite.yaml"
    own.write_text("criteria: Is it polite?\nlabels: {YES: pass, NO: fail}\nversion: 3\n", encoding="utf-8")
    rubric = Rubric(name="x")
    assert rubric_of(rubric) is rubric
    assert rubric_of("faithfulness") is Rubric.bundled("faithfulness")
    assert rubric_of(str(own)) == rubric_of(own)
    assert (rubric_of(own).name, rubric_of(own).version, [*rubric_of(own).answers.root]) == (
        "polite",
        "3",
        ["YES", "NO"],
    )
    for wrong in ("faithful", "", 7, None):
        with pytest.raises(ConfigurationError, match=r"no rubric is named .* one of answer_relevance, bias"):
            rubric_of(wrong)


@each_row(
    ("text", "message"),
    [
        ("- a\n- b", "a rubric is a mapping"),
        ("", "a rubric is a mapping"),
        ("name: x\nname: y", r"rubric.yaml, line 2: 'name' is twice"),
        ("labels: {YES: pass, yes: fail}", "labels"),
        ("labels: &l {YES: pass}", "line 1: anchors, aliases and tags are not read"),
        ("labels: {1: pass}", "the key 1 is not text"),
        ("labels: {true: pass}", "the key True is not text"),
        ("version: 1.10", "version"),
        ("criteria: !!python/name:os.system x", "anchors, aliases and tags are not read"),
        ("criteria: [unclosed", "line"),
        ("[" * 600, "not YAML of plain values"),
        ("criteria: \x07", "not YAML of plain values"),
        ("a: 1\n---\nb: 2", "another document"),
    ],
)
def test_a_file_that_is_no_rubric_is_refused_with_its_name(tmp_path, text, message):
    path = tmp_path / "rubric.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message) as caught:
        Rubric.from_yaml(path)
    assert "rubric.yaml" in str(caught.value)


def test_files_that_cannot_be_read_are_named(tmp_path):
    with pytest.raises(InputError, match=r"none.yaml: cannot be read: No such file"):
        read_yaml(tmp_path / "none.yaml")
    (tmp_path / "latin.yaml").write_bytes(b"a: \xe9")
    with pytest.raises(InputError, match=r"latin.yaml: cannot be read"):
        read_yaml(tmp_path / "latin.yaml")
    with pytest.raises(InputError, match="longer than 1,000,000 characters"):
        parse_yaml("#" * 1_000_001)
    (tmp_path / "bom.yaml").write_text("\ufeffa: NO", encoding="utf-8")
    assert read_yaml(tmp_path / "bom.yaml") == {"a": "NO"}


WORDS = [
        ("NO", "NO"), ("yes", "yes"), ("on", "on"), ("Off", "Off"), ("true", True), ("True", "True"), ("null", None),
        ("~", None), ("", None), ("12", 12), ("-0", 0), ("010", "010"), ("0x1f", "0x1f"), ("1_000", "1_000"),
        ("12:30:45", "12:30:45"), ("2024-01-31", "2024-01-31"), ("1.5", 1.5), (".5", 0.5), ("1e3", 1000.0),
        (".inf", ".inf"), ("'12'", "12"), ('"a\\nb"', "a\nb"), ("[1, NO, [x]]", [1, "NO", ["x"]]),
    ("<<: {a: 1}", {"<<": {"a": 1}}),
        ("a: |\n  x\n  y\n", {"a": "x\ny\n"}), ("123456789012345678901", "123456789012345678901"),
    ]  # fmt: skip


def test_words_are_those_of_yaml_1_2():
    for text, value in WORDS:
        found = parse_yaml(text)
        assert found == value
        assert type(found) is type(value)


def test_other_labels_replace_a_scale_and_the_reverse():
    rubric = Rubric(name="x", scale=(1, 5))
    assert rubric.replace(labels={"a": "pass"}).scale is None
    assert isinstance(rubric.replace(labels={"a": "pass"}).replace(scale=(0, 1)).answers, Scale)
    assert rubric.replace(criteria="y").scale == rubric.scale
    assert rubric.but(name="y").answers == rubric.answers


def test_a_criterion_shows_all_that_the_case_has():
    rubric = Rubric.from_criteria("It names {its} source.", name="sourced")
    assert "It names {its} source." in build_prompt(rubric, FULL).system
    text = build_prompt(rubric, FULL).turns[-1].text
    assert all(part in text for part in ("<q>", "<a>", "<c>", "<r>", "<m>", "<st>"))
    assert missing_fields(rubric, Case(answer="a")) == []
    for wrong in ("", "  ", None, 7):
        with pytest.raises(ConfigurationError, match="a criterion is a sentence"):
            Rubric.from_criteria(wrong)


def test_placeholders_have_the_usual_names_of_fields():
    rubric = Rubric(name="x", prompt="{query} {response} {context} {expected}")
    assert rubric.required == ("question", "answer", "contexts", "reference")
    assert all(part in build_prompt(rubric, FULL).turns[-1].text for part in ("<q>", "<a>", "<c>", "<r>"))


TEMPLATES = [
    ("{a}", "{b}"), ("{b}", "{{a}}"), ("{a}{b}", "{b}{{a}}"), ("{{a}}", "{a}"), ('{"x": {a}}', '{"x": {b}}'),
    ("{} {0} {a.b} {a!r} {a:>3} {a[0]} { a }", "{} {0} {a.b} {a!r} {a:>3} {a[0]} { a }"), ("%s $a {a", "%s $a {a"),
]  # fmt: skip


def test_a_template_is_filled_in_one_pass():
    for template, filled in TEMPLATES:
        assert fill(template, {"a": "{b}", "b": "{{a}}"}) == filled
