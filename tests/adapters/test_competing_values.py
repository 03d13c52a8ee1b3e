"""Values that compete for one field: the one that is not taken is reported, unless it is the same."""

from datetime import UTC, datetime
from uuid import uuid4

import pytest
from langsmith.schemas import Example, Run

from jury_adapters import Case
from jury_adapters.core.case_files import CaseFile
from jury_adapters.langchain import JuryEvaluator

THREAD = [
    {"role": "user", "content": "Rain in Bern?"},
    {"role": "assistant", "content": "", "tool_calls": [{"id": "1", "name": "weather", "args": {"city": "Bern"}}]},
    {"role": "tool", "tool_call_id": "1", "content": "rain"},
    {"role": "assistant", "content": "Yes."},
]
ROWS = [
    ({"answer": None, "response": "{}"}, "answer", "response is taken, because answer is empty"),
    ({"answer": "{}", "response": "{other}"}, "answer", "response is ignored beside answer"),
    ({"answer": "{}", "Answer": "{other}"}, "answer", "Answer is ignored beside answer"),
    ({"outputs": {"answer": "{}", "output": "{other}"}}, "answer", "output is ignored beside answer"),
    ({"outputs": {"answer": ["{}"], "output": ["{other}"]}}, "answer", "output is ignored beside answer"),
    ({"outputs": {"answer": None, "output": "{}"}}, "answer", "output is taken, because answer is empty"),
    ({"inputs": {"question": "{}", "input": "{other}"}}, "question", "input is ignored beside question"),
    ({"reference_outputs": {"expected": "{}", "answer": "{other}"}}, "reference", "answer is ignored beside expected"),
    ({"reference_outputs": {"answer": "{}", "output": "{other}"}}, "reference", "output is ignored beside answer"),
    ({"question": "{}", "inputs": {"question": "{other}"}}, "question",
     "question in inputs is ignored beside question"),
    ({"input": "{}", "inputs": "{other}"}, "question", "question in inputs is ignored beside input"),
    ({"answer": "{}", "outputs": {"output": "{other}"}}, "answer", "answer in outputs is ignored beside answer"),
    ({"answer": "{}", "outputs": {"messages": [("ai", "{other}")]}}, "answer",
     "answer in outputs is ignored beside answer"),
    ({"answer": "{}", "messages": [("user", "?"), ("ai", "{other}")]}, "answer",
     "answer in messages is ignored beside answer"),
    ({"outputs": "{}", "messages": [("user", "?"), ("ai", "{other}")]}, "answer",
     "answer in messages is ignored beside answer in outputs"),
    ({"reference": "{}", "expectations": {"expected_response": "{other}"}}, "reference",
     "expected_response in expectations is ignored beside reference"),
    ({"vars": {"question": "{}", "query": "{other}"}}, "question", "query is ignored beside question"),
    ({"inputs": {"contexts": ["{other}"]}, "outputs": {"contexts": ["{}"]}}, "contexts",
     "contexts in inputs is ignored beside contexts in outputs"),
    ({"inputs": {"contexts": ["{other}"]}, "contexts": ["{}"]}, "contexts",
     "contexts in inputs is ignored beside contexts"),
    ({"inputs": {"q": "x", "reference": "{other}"}, "reference_outputs": {"answer": "{}"}}, "reference",
     "reference in inputs is ignored beside reference_outputs"),
]  # fmt: skip


def written(value, taken, other):
    """The value with ``{}`` and ``{other}`` in it replaced."""
    if isinstance(value, str):
        return value.replace("{}", taken).replace("{other}", other)
    if isinstance(value, dict):
        return {name: written(inner, taken, other) for name, inner in value.items()}
    return type(value)(written(inner, taken, other) for inner in value) if isinstance(value, list | tuple) else value


@pytest.mark.parametrize(("row", "field", "said"), ROWS)
def test_a_value_that_is_not_taken_is_reported(row, field, said):
    case = Case.from_row(written(row, "this", "that"))
    assert getattr(case, field) in ("this", ("this",), '["this"]')
    assert case.metadata["ambiguous"] == (said,)


@pytest.mark.parametrize("row", [row for row, _, said in ROWS if "ignored" in said])
def test_equal_values_do_not_compete(row):
    assert "ambiguous" not in Case.from_row(written(row, "this", "this")).metadata


def test_a_column_that_is_missing_everywhere_is_not_reported():
    assert "ambiguous" not in Case.from_row({"answer": "a", "response": None, "question": None}).metadata
    assert "ambiguous" not in Case.from_row(Case(answer="a").model_dump()).metadata


def test_a_guess_does_not_compete_with_a_column():
    assert "ambiguous" not in Case.from_row({"question": "q", "answer": "a", "inputs": {"topic": "t"}}).metadata
    assert "ambiguous" not in Case.from_row({"question": "q", "answer": "a", "outputs": {"cost": 3}}).metadata


def test_the_log_of_a_run_beside_its_question_and_answer_holds_the_steps():
    case = Case.from_row({"question": "Rain in Bern?", "answer": "Yes.", "messages": THREAD})
    assert case == Case.from_row({"messages": THREAD})
    assert (case.contexts, case.messages, case.trajectory[0].tool) == (("rain",), (), "weather")


def test_each_report_of_a_file_is_told_once(tmp_path):
    path = tmp_path / "cases.csv"
    path.write_text("id,Q,response,answer\n1,q,resp,\n2,q,resp,ans\n3,q,resp,ans\n")
    told = []
    assert [case.answer for case in CaseFile(path, told.append)] == ["resp", "ans", "ans"]
    assert told == [
        f"{path}: of two values for one field, response is taken, because answer is empty",
        f"{path}: of two values for one field, response is ignored beside answer",
    ]


def test_an_evaluator_of_langsmith_reports_them_in_the_case():
    seen = []
    inputs, now = {"question": "q", "input": "other"}, datetime.now(UTC)
    run = Run(id=uuid4(), name="r", run_type="chain", start_time=now, trace_id=uuid4(), inputs=inputs,
              outputs={"answer": "a"})  # fmt: skip
    example = Example(id=uuid4(), inputs=inputs, outputs={"answer": "r", "expected": "s"})
    JuryEvaluator(lambda case: bool(seen.append(case) or True)).evaluate_run(run, example)
    assert seen[0].metadata["ambiguous"] == ("input is ignored beside question", "answer is ignored beside expected")


NAN = float("nan")


@pytest.mark.parametrize(
    ("row", "case"),
    [
        ({"inputs": {"question": "q"}, "outputs": {"answer": NAN}}, Case(question="q")),
        ({"inputs": {"question": "q", "x": NAN}, "outputs": {"answer": NAN, "model": "m"}},
         Case(question="q", metadata={"model": "m"})),
        ({"answer": "a", "contexts": ["c", NAN, None]}, Case(answer="a", contexts=["c"])),
        ({"answers": ["a", NAN]}, Case(candidates=["a", ""])),
    ],
)  # fmt: skip
def test_a_missing_value_of_a_table_stays_missing_inside_parts_and_lists(row, case):
    assert Case.from_row(row) == case
