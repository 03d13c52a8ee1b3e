"""Mistakes in the file of cases: messages say how to correct them, and losses are reported."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from jury_adapters.cli.app import app

JURY = "name: tea desk\njurors: [{check: length_between, maximum: 20}]\n"
TABLE = "id,question,answer,contexts\nq1,A?,b is c.,b is c.\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "jury.yaml").write_text(JURY)
    return tmp_path


def judged(content: str | bytes, *options: str, name: str = "cases.csv") -> Result:
    Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return jury("judge", name, "--jury", "jury.yaml", *options)


def jury(*arguments: str, typed: bytes | None = None) -> Result:
    return CliRunner().invoke(app, list(arguments), input=typed, catch_exceptions=False)


def told(result: Result) -> str:
    return " ".join(result.stderr.split())


@pytest.mark.parametrize(
    "header", ["Question,Answer,Contexts", "question , answer , contexts", "prompt,completion,context"]
)
def test_columns_are_known_in_capitals_with_spaces_and_by_other_names(header: str):
    result = judged(f"{header}\nA?,b is c.,b is c.\n")
    assert "1 of 1 decided" in result.stdout
    assert result.stderr == ""


def test_a_misspelt_column_is_told_once_and_before_the_end():
    result = judged("question,answer,contxts\n" + "A?,b is c.,b is c.\n" * 3)
    assert result.stderr == "cases.csv: the column 'contxts' means nothing here. Did you mean 'contexts'?\n"
    assert "3 of 3 decided" in result.stdout


@pytest.mark.parametrize("columns", ["anwser", "answer_v1,answer_v2"])
def test_a_file_whose_answers_are_in_a_misspelt_column_is_refused(columns: str):
    result = judged(f"question,{columns}\n" + f"A?{',b is c.' * len(columns.split(','))}\n" * 3)
    assert result.exit_code == 2
    first = columns.partition(",")[0]
    assert f"no row has an answer, and the column '{first}' is not used; if it holds the answers" in told(result)
    assert f"--map answer={first}" in told(result)
    assert judged("question,contexts,answer_id\nA?,b is c.,a7\n").exit_code == 0


def test_results_given_as_cases_are_refused():
    assert judged(TABLE, "--out", "results.jsonl").exit_code == 0
    result = jury("judge", "results.jsonl", "--jury", "jury.yaml")
    assert result.exit_code == 2
    assert "results.jsonl holds results and no cases; `jury report` reads it. Give the cases to judge" in told(result)
    row = {"question": "A?", "answer": "b is c.", "verdict": {"status": "PASS"}}  # a column of somebody's own
    assert judged(json.dumps(row), name="own.jsonl").exit_code == 0


def test_where_every_column_is_misspelt_each_is_told():
    assert "did you mean 'qestion' as 'question', 'anwser' as 'answer'?" in told(judged("qestion,anwser\nA?,b\n"))


def test_a_column_like_a_field_that_is_there_is_nobodys_mistake():
    assert judged("question,answer,answer_2\nA?,b,c\n").stderr == ""


def test_rows_without_any_answer_are_told_with_the_columns_that_are_not_used():
    result = judged("question,contexts,Antwort\nA?,b,c\nB?,b,c\n")
    assert result.stderr == (
        "cases.csv: no row has an answer; the columns that are not used: 'Antwort'; if one holds the answers, rename "
        "it or give --map answer=COLUMN\n"
    )
    assert result.exit_code == 0  # some juries judge contexts
    assert judged("question,contexts,id\nA?,b,1\n").stderr == ""  # nothing is lost


@pytest.mark.parametrize("column", ["Model Reply", "assistantReply", "generated_output"])
def test_answers_under_an_unknown_name_are_refused_before_anything_is_judged(column: str):
    rows = [json.dumps({"question": f"q{n}", column: f"a{n}", "score": n, "": 1}) for n in range(9)]
    content = "".join(f"{row}\n" for row in rows)
    result = judged(content, "--out", "r.jsonl", name="cases.jsonl")
    assert result.exit_code == 2
    option = f'"answer={column}"' if " " in column else f"answer={column}"
    assert f"error: cases.jsonl: no row has an answer, and the column {column!r} is not used" in told(result)
    assert f"if it holds the answers, rename it or give --map {option}" in told(result)
    assert not Path("r.jsonl").exists()
    again = judged(content, "--map", f"answer={column}", name="cases.jsonl")
    assert (again.exit_code, again.stderr) == (0, "")


@pytest.mark.parametrize("column", ["response_time", "expected reply", "score"])
def test_other_columns_are_not_taken_for_answers(column: str):
    result = judged(f"question,contexts,{column}\nA?,b,c\n")
    assert result.exit_code == 0
    assert "no row has an answer; the columns that are not used" in told(result)


@pytest.mark.parametrize(
    "rows",
    [
        [{"Bot Reply": None}, {"Bot Reply": "b"}],
        [{}, {"Bot Reply": "b"}],
        [{"anwser": "b"}, {"anwser": "b is c"}],
        [{"responses_b": "yes"}, {"responses_b": "b is c"}],
    ],
)
def test_answers_under_an_unknown_name_are_found_in_any_row(rows):
    content = "".join(json.dumps({"question": "A?", **row}) + "\n" for row in rows)
    result = judged(content, name="cases.jsonl")
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"no row has an answer, and the column {next(iter(rows[-1]))!r} is not used" in told(result)
    assert judged(content + '{"question": "A?", "answer": "d"}\n', name="cases.jsonl").exit_code == 0


def test_a_file_with_one_answer_is_judged_whatever_its_columns():
    rows = [{"question": "A?", "Model Reply": "x"}, {"question": "B?", "answer": "y"}]
    result = judged("".join(json.dumps(row) + "\n" for row in rows), name="cases.jsonl")
    assert (result.exit_code, result.stderr) == (0, "")


ANSWERS = [{"question": f"q{n}", "answer": f"a{n}"} for n in range(3)]


@pytest.mark.parametrize(
    ("layout", "content"),
    [
        ("columns", {name: {str(n): row[name] for n, row in enumerate(ANSWERS)} for name in ANSWERS[0]}),
        ("index", {str(n): row for n, row in enumerate(ANSWERS)}),
        ("index", {f"first-{n}": row for n, row in enumerate(ANSWERS)}),
        ("split", {"columns": [*ANSWERS[0]], "index": [0, 1, 2], "data": [[*row.values()] for row in ANSWERS]}),
    ],
)
@pytest.mark.parametrize("name", ["cases.json", "cases.jsonl"])
def test_a_data_frame_in_one_object_is_refused_with_the_call_that_writes_rows(layout: str, content, name: str):
    result = judged(json.dumps(content), name=name)
    assert result.exit_code == 2
    assert f"3 rows of a data frame in one object (orient='{layout}' of pandas)" in told(result)
    assert 'df.to_json("cases.jsonl", orient="records", lines=True)' in told(result)


@pytest.mark.parametrize(
    "row",
    [
        {"inputs": {"question": "q"}, "outputs": {"answer": "a"}},
        {"input": {"city": "Oslo"}, "output": {"city": "Rome"}},
        {"inputs": {"text": "q"}, "outputs": {"text": "a"}},
    ],
)
def test_one_case_with_parts_is_not_taken_for_a_data_frame(row):
    assert judged(json.dumps(row), name="cases.json").exit_code == 0


def test_a_misspelt_map_is_told_once_with_the_near_column_and_the_number_of_rows():
    rows = "".join(json.dumps({"question": "q", "Model Reply": "a", "": 1}) + "\n" for _ in range(140))
    result = judged(rows, "--map", "answer=Modle Reply", name="cases.jsonl")
    assert result.exit_code == 2
    assert result.stderr.splitlines() == [
        "cases.jsonl, line 1: the path 'Modle Reply' leads nowhere: no 'Modle Reply' in a mapping with Model Reply, "
        "question. Did you mean 'Model Reply'?",
        "cases.jsonl: 139 more rows have the same problem as line 1",
        "error: cases.jsonl: no row could be read as a case",
    ]


@pytest.mark.parametrize("name", ["cases.jsonl", "cases.csv"])
def test_another_encoding_is_told_once_with_the_number_of_rows(name: str):
    rows = [f'{{"answer": "caf\xe9 {n}"}}' if name.endswith("l") else f"caf\xe9 {n}" for n in range(60)]
    header = [] if name.endswith("l") else ["answer"]
    result = judged(
        "\n".join([*header, '{"answer": "tea"}' if not header else "tea", *rows]).encode("cp1252"), name=name
    )
    first = 2 + len(header)
    assert f"{name}, line {first}: not UTF-8: " in told(result)
    assert "caf\ufffd 0" in told(result)
    assert f"{name}: 59 more rows have the same problem as line {first}" in told(result)
    assert "more rows that could not be read" not in told(result)
    assert len(result.stderr.splitlines()) == 2


def test_a_json_file_in_another_encoding_is_told():
    result = judged('[{"answer": "caf\xe9"}]'.encode("cp1252"), name="cases.json")
    assert 'not UTF-8: \'[{"answer": "caf\ufffd"}]\'; save the file as UTF-8' in told(result)


def test_a_list_of_rows_in_a_line_is_told_what_to_do():
    result = judged('{"data": [{"question": "q"}]}\n', name="cases.jsonl")
    assert "'data' holds a list of rows: give each a line of its own, or the list a .json file" in told(result)


@pytest.mark.parametrize(
    ("keys", "advice"),
    [
        (("role", "content"), "or give --map messages=dialogue"),
        (("from", "value"), "and its keys 'role' and 'content'"),
    ],
)
def test_a_conversation_under_another_name_is_not_called_rows(keys: tuple[str, str], advice: str):
    turns = [dict(zip(keys, turn, strict=True)) for turn in (("user", "When?"), ("assistant", "In 2018."))]
    row = json.dumps({"id": 1, "dialogue": turns})
    assert f"'dialogue' holds a conversation: call it 'messages', {advice}" in told(judged(row, name="chats.jsonl"))
    if keys[0] == "role":
        assert "1 of 1 decided" in judged(row, "--map", "messages=dialogue", name="chats.jsonl").stdout


@pytest.mark.parametrize(
    ("content", "name", "said"),
    [
        ("", "cases.csv", "cases.csv: the file is empty"),
        ("\n \n", "cases.jsonl", "cases.jsonl: the file is empty"),
        ("question,answer\n", "cases.csv", "cases.csv: there is no row in it"),
        ("[]", "cases.json", "cases.json: there is no row in it"),
        ("{", "cases.jsonl", "cases.jsonl: no row could be read as a case"),
    ],
)
def test_why_there_is_no_case_is_said(content: str, name: str, said: str):
    result = judged(content, name=name)
    assert result.exit_code == 2
    assert f"error: {said}" in told(result)


def test_items_of_a_list_are_called_items():
    result = judged(
        '[{"answer": "b"},\n {"id": "x"},\n {"id": "z", "answer": "y"}]', "--out", "r.jsonl", name="cases.json"
    )
    assert "cases.json, item 2: no column is" in told(result)
    equals = jury("judge", "cases.json")
    assert "item 1" in equals.stdout
    assert "z (item 3)" in equals.stdout
    assert "item 1" in json.dumps(rows_of("r.jsonl"))


def rows_of(results: str) -> list[object]:
    from jury_adapters.report import Report

    return [entry.place for entry in Report.read(results).entries]


def test_what_pydantic_calls_it_is_not_shown():
    assert "Value error" not in told(judged('{"answer": "x", "messages": "none"}\n', name="cases.jsonl"))


def test_an_id_that_stands_twice_is_told_once():
    result = judged(TABLE + "q1,B?,d,d\nq1,C?,d,d\n")
    assert told(result).count("occurs twice") == 1
    assert "the id of q1 (line 3) occurs twice; runs are compared by id" in told(result)
    assert "1 more row repeats an id" in told(result)


def test_strict_minds_a_row_that_could_not_be_read():
    torn = TABLE + '"q2,B?,d,d\n'
    lenient, strict = judged(torn, "--fail-under", "0.1"), judged(torn, "--fail-under", "0.1", "--strict")
    assert (lenient.exit_code, strict.exit_code) == (0, 1)
    assert "1 row could not be read and was not judged, which --strict minds" in told(strict)
    assert judged(TABLE, "--strict").exit_code == 0


def test_a_lost_row_is_told_also_where_nothing_else_is():
    result = judged(TABLE + '"q2,B?,d,d\n', "--quiet")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.startswith("cases.csv: 1 row could not be read and was not judged; the first, line 3: not CSV")
    assert judged(TABLE, "--quiet").stderr == ""
    none = told(judged("{\n", "--quiet", name="cases.jsonl"))
    assert "no row could be read as a case; the first, line 1: not JSON" in none


@pytest.mark.slow
def test_the_page_says_how_many_rows_it_does_not_speak_of():
    judged(TABLE + '"q2,B?,d,d\n', "--report", "page.html")
    assert "1 row of the file could not be read, and is not part of this report." in Path("page.html").read_text()
    judged(TABLE, "--report", "page.html")
    assert "could not be read" not in Path("page.html").read_text()


@pytest.mark.slow
def test_a_report_made_later_says_so_too():
    judged(TABLE + '"q2,B?,d,d\n', "--out", "r.jsonl")
    for cases in ([], ["--cases", "cases.csv"]):
        told = jury("report", "r.jsonl", "--html", "page.html", *cases)
        assert "unreadable rows  1, not judged" in told.stdout
        assert "1 row of the file could not be read, and is not part of this report." in Path("page.html").read_text()
    Path("cases.csv").unlink()
    assert "unreadable" not in jury("report", "r.jsonl").stdout


@pytest.mark.slow
def test_cases_may_come_on_standard_input():
    for typed in (b'{"id": "a", "answer": "b"}\n', b'[{"answer": "b"}]', TABLE.encode()):
        result = jury("judge", "-", "--jury", "jury.yaml", "--out", "r.jsonl", "--force", typed=typed)
        assert "1 of 1 decided" in result.stdout, result.stderr
    assert json.loads(Path("r.jsonl").read_text())["cases"] == ""
    assert "nothing arrived on standard input" in told(jury("judge", "-", typed=b""))
    broken = told(jury("judge", "-", typed=b'{"answer": "b"}\n{"answer": "b" 1}\n'))
    assert "standard input, line 2: not JSON: Expecting ',' delimiter at column 16" in broken  # and no second line


def test_a_path_that_is_wrong_is_told_with_the_one_that_was_meant():
    judged(TABLE)
    assert "case.csv: No such file or directory. Did you mean cases.csv?" in told(jury("judge", "case.csv"))
    assert "there is no such folder as nowhere" in told(judged(TABLE, "--out", "nowhere/r.jsonl"))


def test_unknown_columns_are_named_once_though_some_cells_are_empty(tmp_path):
    rows = [f"{at},,{'' if at % 7 == 2 else 'Yes.'}" for at in range(30)]
    (tmp_path / "export.csv").write_text("\n".join(["ticket,topic,bot_reply", *rows, ""]))
    done = CliRunner().invoke(app, ["judge", str(tmp_path / "export.csv")])
    said = " ".join(done.stderr.split())
    assert said.count("no column is a question, an answer or contexts") == 1
    assert "29 more rows have the same problem" in said
