"""Cases: usual names of fields, what is refused, and the content hash, by which paid judgments are found again."""

import json
import math
from pathlib import Path

import pytest
from fact_tables import each_row

from jury_adapters import Case, ConfigurationError, Image, Judge, Message, Step

GOLDEN = json.loads((Path(__file__).parent / "content_hashes.json").read_text(encoding="utf-8"))


@each_row("name", GOLDEN)
def test_a_content_hash_never_changes(name: str) -> None:
    fields, content_hash = GOLDEN[name]["case"], GOLDEN[name]["hash"]
    case = Case(**fields)
    assert case.content_hash == content_hash
    assert Case.model_validate_json(case.model_dump_json()).content_hash == content_hash
    outside = {"id": "7", "metadata": {"group": "x"}, "generator": "gpt-4o"}
    assert case.model_copy(update=outside).content_hash == content_hash
    assert Case(**fields, **outside).content_hash == content_hash


def test_content_hashes_differ_where_a_judge_sees_something_else() -> None:
    cases = [
        Case(question="q"),
        Case(question="Q"),
        Case(answer="q"),
        Case(reference="q"),
        Case(contexts=["q"]),
        Case(contexts=["q", "r"]),
        Case(contexts=["r", "q"]),
        Case(candidates=["q", "r"]),
        Case(candidates=["r", "q"]),
        Case(messages=[Message(role="user", content="q")]),
        Case(messages=[Message(role="system", content="q")]),
        Case(steps=[Step(tool="q")]),
        Case(steps=[Step(text="q")]),
        Case(steps=[Step(tool="q", arguments={"a": 1})]),
        Case(steps=[Step(tool="q", output="r")]),
        Case(steps=[Step(tool="q", output="r", echo=True)]),
        Case(steps=[Step(tool="q", error="r")]),
        Case(images=[Image(url="https://q")]),
        Case(images=[Image(url="https://q", part="answer")]),
        Case(images=[Image(data=b"q", media_type="image/png")]),
        Case(workspace="/q"),
        Case(error="q"),
        Case(question="", answer="q"),
    ]
    assert len({case.content_hash for case in cases}) == len(cases)
    assert {case.content_hash for case in cases}.isdisjoint({one["hash"] for one in GOLDEN.values()})
    assert Case(question="q").content_hash == Case(question="q", answer=None, contexts=[], steps=[]).content_hash


NAMES = [
    ({"query": "q", "response": "a", "documents": ["c"], "ground_truth": "r"}, ("q", "a", ("c",), "r")),
    ({"input": "q", "output": "a", "context": "c", "expected": "r"}, ("q", "a", ("c",), "r")),
    (
        {"user_input": "q", "prediction": "a", "sources": ("c", " "), "reference": "r"},
        ("q", "a", ("c",), "r"),
    ),
    ({"question": "q", "contexts": None}, ("q", None, (), None)),
    ({"question": "a\ud800"}, ("a\ufffd", None, (), None)),
]


@each_row(("fields", "found"), NAMES)
def test_fields_have_their_usual_names(fields: dict, found: tuple) -> None:
    for case in (Case(**fields), Case.of(fields), Case.of(None, fields)):
        assert (case.question, case.answer, case.contexts, case.reference) == found


REFUSED = [
    {},
    {"question": "q", "query": "q"},
    {"question": "q", "anwser": "a"},
    {"question": 5},
    {"question": "q", "contexts": 5},
    {"question": "q", "contexts": [5]},
    {"question": "q", "images": [{"url": "https://q", "data": b"x", "media_type": "image/png"}]},
    {"question": "q", "images": [{"data": b"x"}]},
    {"question": "q", "images": [{"url": "file:///etc/passwd", "media_type": "image/png"}]},
    *({"question": "q", "images": [{"url": url}]} for url in ("file:///etc/passwd", "http://q", "data:image/png;", "")),
    {"question": "q", "metadata": "x"},
    5,
    ["q"],
]


@each_row("fields", REFUSED)
def test_what_is_no_case_is_refused_in_one_sentence(fields: object) -> None:
    with pytest.raises(ConfigurationError) as caught:
        Case.of(fields)
    assert "\n" not in str(caught.value)


class Short(Judge):
    async def assess(self, case):
        return len(case.answer) < 9, f"{case.question}: {case.metadata.get('x')}"


CALLS = [
    (("q",), {"answer": "a"}),
    (({"question": "q", "answer": "a"},), {}),
    (({"question": "q"},), {"answer": "a"}),
    ((Case(question="q", answer="a"),), {}),
    ((Case(question="q"),), {"answer": "a"}),
    ((), {"question": "q", "answer": "a"}),
]


@each_row(("arguments", "fields"), CALLS)
def test_a_judge_is_called_with_a_case_a_question_a_mapping_or_fields(arguments: tuple, fields: dict) -> None:
    judgment = Short().judge(*arguments, **fields, metadata={"x": math.nan}, id="7", generator="m")
    assert (judgment.status, judgment.reasoning) == ("PASS", "q: NaN")
    assert (judgment.case_id, judgment.case_metadata, judgment.generator) == ("7", {"x": "NaN"}, "m")


def test_a_failed_run_is_a_fail_without_asking() -> None:
    judgment = Short().judge(question="q", error="401: wrong key sk-abcdefghijkl")
    assert (judgment.status, judgment.reasoning) == ("FAIL", "the run failed: 401: wrong key [key]")
    assert Short().judge(question="q", error="late", answer="a").reasoning == "q: None"
