"""The JSON schema of jury files: it accepts what the loader reads, and nothing else."""

import json
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
from config_support import GUARANTEE, write
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from test_jury_file_problems import PROBLEMS
from test_jury_files import ANSWER_LINES, ANSWERS, QUESTIONS, RECORDED

from jury_adapters import ConfigurationError
from jury_adapters.checks import CHECKS
from jury_adapters.config import jury_schema, load_jury
from jury_adapters.config.jury_file import JURY_FILE, VOTING
from jury_adapters.core.votes import OTHER_NAMES, RULES, rule_of
from jury_adapters.critic.yaml import parse_yaml


@cache
def whole_schema() -> dict[str, Any]:
    return jury_schema()


@cache
def validator() -> jsonschema.Draft202012Validator:
    jsonschema.Draft202012Validator.check_schema(whole_schema())
    return jsonschema.Draft202012Validator(whole_schema())


def problems(content: Any) -> set[str]:
    """Return the kinds of problems that reading finds; ``value_error`` is one that no schema can express."""
    try:
        JURY_FILE.validate_python(content)
    except ValidationError as error:
        return {one["type"] for one in error.errors()}
    return set()


def agrees(content: Any) -> bool:
    """Whether the schema accepts what is read, and refuses what is not, but for relations between values.

    Before 2.10, pydantic says nothing of the keys of mappings in a schema.
    """
    found, valid = problems(content), validator().is_valid(content)
    of_keys = set() if "propertyNames" in json.dumps(whole_schema()) else {"string_too_short", "literal_error"}
    return valid if not found else not valid or found <= {"value_error", *of_keys}


def test_the_schema_accepts_every_good_file_of_these_tests() -> None:
    texts = [text for text, _ in ANSWERS.values()] + [*RECORDED, *QUESTIONS, *ANSWER_LINES]
    texts.append(f"jury: jury.yaml\nguarantee: {GUARANTEE}")
    for text in texts:
        validator().validate(parse_yaml(text))


def test_the_schema_refuses_the_bad_files_whose_keys_or_values_are_wrong() -> None:
    refused = 0
    for text in PROBLEMS:
        try:
            content = parse_yaml(text)
        except ValueError:
            continue
        assert agrees(content), text
        refused += not validator().is_valid(content)
    assert refused >= 40


def one_of(*values: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from(values)


LABELS = st.dictionaries(
    one_of("YES", "NO", "A"), one_of("pass", "fail", "abstain", "label", 0.5), min_size=1, max_size=2
)
SCALES = one_of({"minimum": 1, "maximum": 5}, {"minimum": 0, "maximum": 1.5, "pass_mark": 1, "integer": False})
QUESTION = {"rubric": one_of("safety", "own.yaml"), "labels": LABELS}
OTHER_QUESTION = {"criterion": one_of("Is it so?"), "scale": SCALES}
RULE_OPTIONS = {
    "majority": {"tie": "abstain", "priority": ["YES", "PASS"], "min_share": "2/3", "use_confidence": True},
    "unanimous": {"on_split": "SPLIT"}, "veto": {"k": 2}, "quorum": {"quorum": 0.67, "threshold": 0.5},
    "average": {"threshold": 1}, "median": {"threshold": None},
    "bayes": {"reliabilities": [[0.9, 0.8], [0.7, 0.7]], "prior": 0.3},
}  # fmt: skip


def mapping(needed: dict[str, Any], more: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    few = st.lists(one_of(*more), max_size=4, unique=True)
    whole = st.fixed_dictionaries({**needed, **more})
    return st.tuples(whole, few).map(lambda drawn: {key: drawn[0][key] for key in (*needed, *drawn[1])})


COMMON = {
    "name": one_of("n", ""),
    "weight": one_of(0, 1.5, 2),
    "required": one_of(True, False),
    "timeout": one_of(0.5, 3),
}
MODEL = {
    "base_url": one_of("http://x", None), "threshold": one_of(0, 1, 0.5), "samples": one_of(1, 100),
    "logprobs": one_of(True),
    "temperature": one_of(0, 1.5, None), "max_tokens": one_of(1, None), "request_timeout": one_of(1, 0.5),
}  # fmt: skip
SINGLE = st.one_of(
    mapping({"check": one_of("length_between")}, {**COMMON, "minimum": one_of(0, 3), "maximum": one_of(9, None)}),
    mapping({"check": one_of("not_empty")}, {**COMMON, "of": one_of("answer", "question")}),
    mapping({"recorded": one_of("a")}, {**COMMON, "labels": one_of({"ok": "pass"}, None), "threshold": one_of(0.5)}),
    mapping({"model": one_of("ollama:m")}, {**COMMON, **QUESTION, **MODEL}),
    mapping({"model": one_of("ollama:m")}, {**COMMON, **OTHER_QUESTION, **MODEL}),
)


def juries(judges: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    named = st.dictionaries(one_of("a", "b"), judges, min_size=1, max_size=2)
    several = st.one_of(st.lists(judges, min_size=1, max_size=2), named)
    policy = one_of("final", "reject_on_any_fail", "escalate_on_split", {"escalate_below": 0.5})
    tier = mapping({"name": one_of("t"), "judge": judges}, {"policy": policy, "if_broken": one_of("reject")})
    jury = {"min_votes": one_of(1, 3), "errors": one_of("missing", "fail"), "on": one_of("label", None),
            "schedule": one_of("early_stop"), "fallbacks": st.lists(judges, max_size=1)}  # fmt: skip
    voting = one_of(*VOTING).flatmap(
        lambda name: st.fixed_dictionaries(
            {"jurors": several, "voting": st.just(name), "options": st.just(RULE_OPTIONS[OTHER_NAMES.get(name, name)])}
        )
    )
    passes = one_of("all", "any", 1, ["a"])
    return st.one_of(
        voting,
        mapping({"jurors": several}, {**COMMON, **QUESTION, **jury}),
        mapping({"scorecard": named}, {**COMMON, "pass_when": passes, "threshold": one_of(0.5)}),
        mapping({"tiers": st.lists(tier, min_size=1, max_size=2)}, {**COMMON, **OTHER_QUESTION}),
    )


JUDGES = st.recursive(SINGLE, juries, max_leaves=4)
FILES = st.one_of(JUDGES, st.just({"jury": "a.yaml", "guarantee": parse_yaml(GUARANTEE)}))
WRONG = ["", "x", "PASS", 0, -1, 0.5, 2, 101, True, None, [], ["x"], [1], {}, {"x": 1}, {"check": "x"}]


def places(content: Any) -> list[tuple[Any, Any]]:
    """Return every container of a file with each of its keys or positions."""
    if not isinstance(content, dict | list):
        return []
    own = [*content] if isinstance(content, dict) else [*range(len(content))]
    return [(content, key) for key in own] + [place for key in own for place in places(content[key])]


@settings(max_examples=20, deadline=None, suppress_health_check=[*HealthCheck])
@given(FILES)
def test_the_schema_accepts_what_the_loader_reads(content: Any) -> None:
    assert (problems(content), bool(validator().is_valid(content))) == (set(), True)


@settings(max_examples=30, deadline=None, suppress_health_check=[*HealthCheck])
@given(FILES, st.integers(0, 1000), one_of(*WRONG, "another key", "no key"))
def test_schema_and_loader_agree_on_a_file_with_one_mistake(content: Any, number: int, wrong: Any) -> None:
    """And whatever the mistake is, it is refused, and nothing else is raised."""
    content = json.loads(json.dumps(content))
    container, key = places(content)[number % len(places(content))]
    if wrong == "no key":
        del container[key]
    else:
        container["extra" if wrong == "another key" and isinstance(container, dict) else key] = wrong
    assert agrees(content)
    with suppress(ConfigurationError):
        load_jury(content, allow_base_url=True)
        assert problems(content) == set()


def test_the_schema_describes_every_check_rule_and_key_in_words() -> None:
    schema = whole_schema()
    for name in CHECKS:
        described = schema["$defs"][f"check.{name}"]
        assert (described["description"].endswith("."), described["properties"]["check"]) == (True, {"const": name})
    assert schema["$defs"]["EnsembleSpec"]["properties"]["voting"]["enum"] == [*VOTING]
    assert [
        part
        for part in ("EnsembleSpec", "CriticSpec", "ScorecardSpec", "CascadeSpec", "TierSpec", "RecordedSpec")
        if not (all("description" in one for one in schema["$defs"][part]["properties"].values()))
    ] == []
    assert json.loads(json.dumps(schema)) == schema


def test_a_rule_of_a_file_is_the_rule_of_that_name(tmp_path: Path) -> None:
    for name in VOTING:
        options = {"reliabilities": [[0.9, 0.8], [0.7, 0.6]]} if name == "bayes" else {}
        text = f"jurors: [{{check: not_empty}}, {{recorded: a}}]\nvoting: {name}\noptions: {json.dumps(options)}"
        rule = load_jury(write(tmp_path, text)).counts.rule
        expected = rule_of(name, **options)
        assert (type(rule), rule.rule) == (type(expected), expected.rule)
    assert {*VOTING} == {*RULES, "weighted", "weighted_average", "consensus", "k_veto"}
