"""The table of field names: which column of a row is which field, whatever the order of the columns."""

import json
from itertools import permutations

import pytest

from jury_adapters import Case
from jury_adapters.core.case_files import read_cases
from jury_adapters.core.field_names import ALIASES, FIELD_NAMES, PARTS, columns_of

NAMES = [(name, field) for field, names in FIELD_NAMES.items() for name in names.in_its_part]


def test_every_field_of_a_case_has_its_own_name_first():
    assert {field: names.exact[0] for field, names in FIELD_NAMES.items()} == {name: name for name in Case.model_fields}


def test_no_name_is_of_two_fields():
    assert len({name for name, _ in NAMES}) == len(NAMES)


@pytest.mark.parametrize("columns", list(permutations([("output", "1"), ("response", "2"), ("completion", "3")])))
def test_the_better_name_wins_in_any_order_of_the_columns(columns):
    case = Case.from_row(dict(columns))
    assert case.answer == "2"
    assert case.metadata == {"output": "1", "completion": "3", "ambiguous": ("output is ignored beside response",)}


@pytest.mark.parametrize(("name", "field"), [(name, field) for name, field in NAMES if name in ("text", "target")])
def test_an_ambiguous_name_counts_in_its_part_and_not_in_a_flat_row(name, field):
    part = "outputs" if field == "answer" else "reference_outputs"
    assert getattr(Case.from_row({part: {name: "x", "y": "z"}}), field) == "x"
    assert Case.from_row({name: "x"}) == Case(metadata={name: "x"})


@pytest.mark.parametrize("name", [name for names in FIELD_NAMES.values() for name in names.loose])
def test_a_loose_name_is_refused_by_the_constructor_and_read_from_a_row(name):
    with pytest.raises(ValueError, match="unknown field"):
        Case(**{name: "x"})
    value = [{"role": "user", "content": "x"}] if name in FIELD_NAMES["messages"].loose else "x"
    assert not Case.from_row({name: value}).metadata


def test_a_loose_name_is_metadata_beside_the_field_that_gives_it_another_meaning():
    row = {"response": "a", "second_response": "b", "completion": "c"}
    case = Case.from_row(row)
    assert (case.candidates, case.answer, case.metadata) == (("a", "b"), None, {"completion": "c"})


def test_a_column_of_a_field_wins_over_a_part_and_the_part_is_kept():
    row = {"question": "q", "answer": "a", "inputs": {"question": "other"}, "outputs": {"answer": "other"}}
    case = Case.from_row(row)
    assert (case.question, case.answer) == ("q", "a")
    assert case.metadata == {
        "inputs": {"question": "other"}, "outputs": {"answer": "other"},
        "ambiguous": ("question in inputs is ignored beside question", "answer in outputs is ignored beside answer"),
    }  # fmt: skip


def test_texts_and_numbers_of_parts_go_into_the_metadata_with_the_columns_beside_them():
    row = {
        "inputs": {"question": "q", "audience": "children", "state": {"a": 1}},
        "outputs": {"answer": "a"},
        "tags": ["x"],
    }
    assert Case.from_row(row).metadata == {"audience": "children", "tags": ("x",)}


def test_aliases_are_the_exact_names_that_are_not_the_fields_own():
    assert ALIASES.items() == {(name, field) for field, names in FIELD_NAMES.items() for name in names.exact[1:]}


def test_only_the_wanted_fields_are_looked_for():
    assert columns_of({"question": "q", "answer": "a"}, ["answer"]).of == {"answer": "answer"}


def test_a_json_file_with_the_parts_of_one_run_is_one_case(tmp_path):
    path = tmp_path / "run.json"
    path.write_text('{"inputs": "q", "outputs": [{"role": "assistant", "content": "a"}]}')
    (row,) = read_cases(path)
    assert row.case == Case(question="q", answer="a")
    assert set(PARTS) == {"inputs", "outputs", "reference_outputs"}


@pytest.mark.parametrize(
    ("row", "found"),
    [
        ({"answer": {"city": "Paris", "degrees": 18}}, '{"city": "Paris", "degrees": 18}'),
        ({"outputs": {"answer": {"city": "Paris", "degrees": 18}}}, '{"city": "Paris", "degrees": 18}'),
        ({"output": {"answer": "a", "score": 3}}, "a"),
        ({"outputs": {"output": {"answer": "a", "score": 3}}}, "a"),
    ],
)
def test_a_mapping_in_the_column_of_the_answer_is_read_alike_in_rows_and_parts(row, found):
    assert Case.from_row(row).answer == found


HELLO = [{"role": "user", "content": "Hello?"}, {"role": "assistant", "content": "Hi."}]


@pytest.mark.parametrize(
    ("row", "case"),
    [
        ({"messages": HELLO}, Case(question="Hello?", answer="Hi.")),
        ({"messages": HELLO, "question": "Hello?"}, Case(question="Hello?", answer="Hi.")),
        ({"messages": HELLO, "question": "q"}, Case(question="q", messages=HELLO)),
        ({"messages": HELLO, "question": "q", "answer": "a"}, Case(question="q", answer="a", messages=HELLO)),
        ({"messages": HELLO, "question": "Hello?", "answer": "Hi."}, Case(question="Hello?", answer="Hi.")),
        (
            {"messages": HELLO, "question": "Hello?", "answers": ["a", "b"]},
            Case(question="Hello?", candidates=("a", "b")),
        ),
        ({"messages": [["user", "Hello?"], ["ai", "Hi."]]}, Case(question="Hello?", answer="Hi.")),
        ({"messages": json.dumps(HELLO)}, Case(question="Hello?", answer="Hi.")),
        ({"messages": HELLO[:1], "question": "Hello?", "answer": "a"}, Case(question="Hello?", answer="a")),
        ({"messages": HELLO[:1], "answer": "a"}, Case(question="Hello?", answer="a")),
        ({"chat_history": HELLO, "answer": "a"}, Case(answer="a", messages=HELLO)),
    ],
)
def test_messages_of_a_row_come_before_its_question_or_hold_what_is_missing(row, case):
    assert Case.from_row(row) == case
