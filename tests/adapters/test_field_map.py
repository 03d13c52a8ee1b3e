"""Field maps: fields of a case by columns and paths."""

import json

import pytest
from typer.testing import CliRunner

from jury_adapters import Case, ConfigurationError, NotEmpty
from jury_adapters.cli.app import app
from jury_adapters.core.errors import InputError
from jury_adapters.langchain import JuryRunEvaluator, jury_evaluator

ROW = {"User Question": "2 + 2?", "outputs": {"reply": {"text": "4"}}, "target": "four", "rag.hits": ["2 + 2 = 4"]}
MAP = {"question": "User Question", "answer": "outputs.reply.text", "reference": "target", "contexts": "rag.hits"}
CASE = Case(question="2 + 2?", answer="4", reference="four", contexts=["2 + 2 = 4"])


def content(case):
    return case.model_dump(exclude={"metadata"})


def test_columns_and_paths_of_a_row():
    assert content(Case.from_row(ROW, MAP)) == content(CASE)
    assert content(Case.from_row(ROW, field_map=lambda row: CASE)) == content(CASE)


def test_the_mapped_column_counts_also_beside_known_names():
    case = Case.from_row({"answer": "draft", "final": "4", "question": "q"}, {"answer": "final"})
    assert (case.answer, case.question) == ("4", "q")
    assert Case.from_row({"output": "draft", "final": None}, {"answer": "final"}).answer is None


@pytest.mark.parametrize(
    ("field_map", "message"),
    [
        ({"anser": "x"}, "Did you mean 'answer'"),
        ({"answer": 5}, "found by a column or a path"),
        ({"answer": "a..b"}, "is no path"),
        ({"answer": "_private"}, "private"),
        (5, "a mapping such as"),
    ],
)
def test_a_wrong_map_is_refused_with_the_fix(field_map, message):
    with pytest.raises(ConfigurationError, match=message):
        Case.from_row(ROW, field_map)
    with pytest.raises(ConfigurationError, match=message):
        jury_evaluator(NotEmpty(), field_map=field_map)
    with pytest.raises(ConfigurationError, match=message):
        JuryRunEvaluator(NotEmpty(), field_map=field_map)


def test_a_path_that_leads_nowhere_names_what_is_there():
    with pytest.raises(InputError, match="no 'repply' in a mapping with reply"):
        Case.from_row(ROW, {"answer": "outputs.repply"})


def test_a_function_that_returns_no_case_is_refused():
    with pytest.raises(ConfigurationError, match="must return a Case"):
        Case.from_row(ROW, dict)


def test_an_evaluator_of_langchain_reads_the_same_case():
    seen = []
    evaluator = jury_evaluator(lambda case: bool(seen.append(case) or True), field_map={
        "question": "inputs.User Question", "answer": "outputs.reply.text", "reference": "reference_outputs.target",
        "contexts": "inputs.hits",
    })  # fmt: skip
    inputs = {"User Question": "2 + 2?", "hits": ["2 + 2 = 4"]}
    evaluator(inputs=inputs, outputs={"reply": {"text": "4"}}, reference_outputs={"target": "four"})
    assert content(seen[0]) == content(CASE)
    with pytest.raises(ConfigurationError, match="not both"):
        jury_evaluator(NotEmpty(), field_map={"answer": "x"}, outputs="y")


def judged(path, *options):
    result = CliRunner().invoke(app, ["judge", str(path), "--out", str(path.with_name("out.jsonl")), *options])
    out = path.with_name("out.jsonl")
    return result, [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []


def test_the_command_line_reads_the_same_case(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(ROW) + "\n" + json.dumps({"User Question": "q"}) + "\n")
    options = [part for field, column in MAP.items() for part in ("--map", f"{field}={column}")]
    result, lines = judged(path, *options)
    assert [line["key"] for line in lines] == [CASE.key]
    assert "line 2: the path 'outputs.reply.text' leads nowhere: no 'outputs'" in result.stderr


@pytest.mark.parametrize("given", ["answer", "=x", "answer=", "anser=x"])
def test_a_wrong_option_is_refused(tmp_path, given):
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(ROW))
    result, _ = judged(path, "--map", given)
    assert result.exit_code == 2
    assert "answer" in result.stderr
    assert judged(path, "--map", "answer=a", "--map", "answer=b")[0].exit_code == 2


def test_two_columns_for_one_field_are_reported_once(tmp_path):
    path = tmp_path / "rows.jsonl"
    row = {"input": "q", "actual_output": "a", "context": ["ideal"], "retrieval_context": ["found"]}
    path.write_text(f"{json.dumps(row)}\n" * 3)
    result, _ = judged(path)
    assert result.stderr.count("context is ignored beside retrieval_context") == 1
    path.write_text(json.dumps({"completion": "a", "result": "b"}))
    assert "result is ignored beside completion" in judged(path, "--force")[0].stderr


def test_a_dry_run_reads_the_same_columns(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps({"reply": "4"}))
    (tmp_path / "jury.yaml").write_text("jurors: [{check: not_empty}]")
    command = [
        "judge",
        str(path),
        "--jury",
        str(tmp_path / "jury.yaml"),
        "--map",
        "answer=reply",
        "--dry-run",
        "--json",
    ]
    result = CliRunner().invoke(app, command)
    assert (result.exit_code, json.loads(result.stdout)["cases"]) == (0, 1)
