"""The reader of files of cases: one case or one problem per row, each with its line."""

import json

import pytest

from jury_adapters import Case
from jury_adapters.core.case_files import UnknownColumns, case_of, read_cases
from jury_adapters.core.errors import InputError
from jury_adapters.core.row_files import first_row, read_whole_rows


def test_each_row_is_a_case_or_a_problem_with_its_line(tmp_path):
    path = tmp_path / "cases.jsonl"
    lines = ['{"id": 1, "question": "q"}', "no JSON", '{"colour": "red"}', '{"answer": "a", "messages": "none"}']
    path.write_text("\n".join(lines))
    rows = list(read_cases(path))
    assert [(row.line, row.unit, row.case is None, bool(row.problem)) for row in rows] == [
        (1, "line", False, False), (2, "line", True, True), (3, "line", True, True), (4, "line", True, True),
    ]  # fmt: skip
    assert rows[0].case is not None
    assert rows[0].case.item_id == "1"
    assert [row.unknown for row in rows] == ["", "", "colour", ""]
    assert rows[3].problem.startswith("messages: ")


def test_a_row_that_is_no_case_is_an_input_error():
    with pytest.raises(UnknownColumns, match="there are colour"):
        case_of({"colour": "red"})
    with pytest.raises(InputError, match="messages: "):
        case_of({"answer": "a", "messages": "none"})
    with pytest.raises(InputError, match=r"messages: expected messages, .* or their JSON; not text"):
        case_of({"messages": "[broken"})
    with pytest.raises(InputError, match="not a list with something else in it"):
        case_of({"messages": [{"role": "alien", "content": "x"}]})
    with pytest.raises(InputError, match="trajectory: expected steps or messages, not int"):
        case_of({"trajectory": 5})
    deep: object = "x"
    for _ in range(200):
        deep = [deep]
    with pytest.raises(InputError, match="nested"):
        case_of({"answer": "a", "more": deep})
    assert case_of({"item_id": 3}) == Case(metadata={"item_id": 3})  # a recorded juror needs no text


@pytest.mark.parametrize(("name", "place"), [("rows.jsonl", "line 2"), ("rows.json", "item 2")])
def test_where_every_row_must_be_readable_the_first_other_one_is_named(tmp_path, name, place):
    path = tmp_path / name
    path.write_text(json.dumps([{"a": 1}, 5]) if name.endswith(".json") else '{"a": 1}\n5\n')
    with pytest.raises(InputError, match=f"{name}, {place}: expected an object"):
        list(read_whole_rows(path))
    first = first_row(path)
    assert first is not None
    assert first.values == {"a": 1}


def test_the_first_row_of_an_empty_file_is_none(tmp_path):
    (tmp_path / "rows.jsonl").write_text("\n")
    assert first_row(tmp_path / "rows.jsonl") is None


TABLE = "id,question,{},note\n1,q1,a1,n\n2,q2,,\n3,q3\n"


@pytest.mark.parametrize(
    ("column", "field_map"),
    [
        ("answer", None), ("Final Answer", None), ("reply", {"answer": "reply"}),
        ("reply", lambda row: Case(question=row["question"], answer=row["reply"], metadata={"id": row["id"]})),
    ],
)  # fmt: skip
def test_an_empty_cell_of_the_answer_is_an_empty_answer(tmp_path, column, field_map):
    path = tmp_path / "cases.csv"
    path.write_text(TABLE.format(column))
    rows = list(read_cases(path, field_map))
    assert [row.problem for row in rows] == ["", "", ""]
    assert [row.case.answer for row in rows] == ["a1", "", ""]
    assert [row.case.metadata for row in rows[1:]] == [{"id": "2"}, {"id": "3"}]


def test_an_empty_cell_elsewhere_is_a_missing_value(tmp_path):
    path = tmp_path / "cases.csv"
    path.write_text("q,docs,answer,wanted\nq,,a,\n")
    (row,) = read_cases(path, {"contexts": "docs", "reference": "wanted"})
    assert row.case == Case(question="q", answer="a")


@pytest.mark.parametrize(
    ("table", "case"),
    [
        ("question,answer,response\nq,,a\n", Case(
            question="q", answer="a", metadata={"ambiguous": ["response is taken, because answer is empty"]},
        )),
        ("question,response,second_response\nq,,b\n", Case(question="q", candidates=("", "b"))),
        ("question,response,second_response\nq,a,\n", Case(question="q", candidates=("a", ""))),
    ],
)  # fmt: skip
def test_an_empty_cell_beside_another_answer(tmp_path, table, case):
    path = tmp_path / "cases.csv"
    path.write_text(table)
    (row,) = read_cases(path)
    assert row.case == case
