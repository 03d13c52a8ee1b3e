"""Field maps: fields of a case by columns and paths."""

import json
import re
from datetime import UTC, datetime
from uuid import uuid4

import pytest
from langchain_core.runnables import RunnableLambda
from langgraph.graph import START, StateGraph
from langsmith.schemas import Run
from typer.testing import CliRunner
from typing_extensions import TypedDict

from jury_adapters import Case, ConfigurationError, Judgment, Status
from jury_adapters import judge as judge_decorator
from jury_adapters.checks import NotEmpty
from jury_adapters.cli.app import app
from jury_adapters.core.errors import InputError
from jury_adapters.langchain import (
    JuryCallbackHandler,
    JuryEvaluator,
    JuryPairwiseEvaluator,
    JuryRunnable,
    judge_runs,
    jury_node,
)
from jury_adapters.report import Report

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
        ({"answer": ""}, "found by a column or a path"),
        (5, "a mapping such as"),
    ],
)
def test_a_wrong_map_is_refused_with_the_fix(field_map, message):
    with pytest.raises(ConfigurationError, match=message):
        Case.from_row(ROW, field_map)
    with pytest.raises(ConfigurationError, match=message):
        JuryEvaluator(NotEmpty(), field_map=field_map)
    with pytest.raises(ConfigurationError, match=message):
        JuryEvaluator(NotEmpty(), field_map=field_map)


@pytest.mark.parametrize("column", ["Question [en]", "_question", "a..b", "a[", "[0]", ".x", "a.b", "'q'"])
def test_the_name_of_a_column_wins_over_a_path(column):
    row = {column: "q", "a": {"b": "other"}}
    assert Case.from_row(row, {"question": column}).question == "q"


@pytest.mark.parametrize("path", ["Question [en]", "a..b", "_private", "x._y", "__class__.x"])
def test_what_is_neither_a_column_nor_a_path_is_reported_for_the_row(path):
    with pytest.raises(
        InputError, match=f"there is no column {re.escape(repr(path))}, and as a path it cannot be read"
    ):
        Case.from_row(ROW, {"question": path})


def test_a_path_that_leads_nowhere_names_what_is_there():
    with pytest.raises(InputError, match="no 'repply' in a mapping with reply"):
        Case.from_row(ROW, {"answer": "outputs.repply"})


def test_a_function_that_returns_no_case_is_refused():
    with pytest.raises(ConfigurationError, match="must return a Case"):
        Case.from_row(ROW, dict)


def test_an_evaluator_of_langchain_reads_the_same_case():
    seen = []
    evaluator = JuryEvaluator(lambda case: bool(seen.append(case) or True), field_map={
        "question": "inputs.User Question", "answer": "outputs.reply.text", "reference": "reference_outputs.target",
        "contexts": "inputs.hits",
    })  # fmt: skip
    inputs = {"User Question": "2 + 2?", "hits": ["2 + 2 = 4"]}
    evaluator(inputs=inputs, outputs={"reply": {"text": "4"}}, reference_outputs={"target": "four"})
    assert content(seen[0]) == content(CASE)
    with pytest.raises(ConfigurationError, match="unknown argument 'outputs'"):
        JuryEvaluator(NotEmpty(), outputs="y")


def judged(path, *options):
    result = CliRunner().invoke(app, ["judge", str(path), "--out", str(path.with_name("out.jsonl")), *options])
    out = path.with_name("out.jsonl")
    return result, [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []


def test_the_command_line_reads_the_same_case(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(ROW) + "\n" + json.dumps({"User Question": "q"}) + "\n")
    options = [part for field, column in MAP.items() for part in ("--map", f"{field}={column}")]
    result, lines = judged(path, *options)
    assert [line["key"] for line in lines] == [CASE.content_hash]
    assert "line 2: the path 'outputs.reply.text' leads nowhere: no 'outputs'" in result.stderr


def test_a_row_with_an_empty_mapped_answer_is_judged_and_fails(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("id;User Question;reply\n1;q1;a1\n2;q2;\n3;q3;a3\n")
    (tmp_path / "jury.yaml").write_text("jurors: [{check: not_empty}]")
    maps = ["--map", "question=User Question", "--map", "answer=reply"]
    result, lines = judged(path, "--jury", str(tmp_path / "jury.yaml"), *maps, "--fail-under", "1.0")
    assert [line["verdict"]["status"] for line in lines] == ["PASS", "FAIL", "PASS"]
    assert result.exit_code == 1


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


# --- the adapters that take a map -------------------------------------------------------------------------------------

STATE = {"asked": {"text": "2 + 2?"}, "said": "4", "wanted": "four", "hits": ["2 + 2 = 4"]}
OF_STATE = {"question": "asked.text", "answer": "said", "reference": "wanted", "contexts": "hits"}


def collecting():
    seen = []
    return seen, lambda case: bool(seen.append(case) or True)


def test_a_runnable_and_a_node_read_their_input_by_the_map():
    seen, judge = collecting()
    assert JuryRunnable(judge, field_map=OF_STATE).invoke(STATE).passed

    class State(TypedDict, total=False):
        asked: dict
        said: str
        wanted: str
        hits: list
        verdict: dict

    graph = StateGraph(State)
    graph.add_node("jury", jury_node(judge, field_map=OF_STATE))
    graph.add_edge(START, "jury")
    assert graph.compile().invoke(STATE)["verdict"]["status"] == "PASS"
    assert [content(case) for case in seen] == [content(CASE)] * 2


def test_a_runnable_takes_a_function_from_the_input_to_a_case():
    seen, judge = collecting()
    JuryRunnable(judge, field_map=lambda row: Case(answer=row["said"])).invoke(STATE)
    assert [case.answer for case in seen] == ["4"]


def test_a_path_that_leads_nowhere_is_an_error_of_that_input():
    verdict = JuryRunnable(NotEmpty(), field_map=OF_STATE).invoke({"said": "4"})
    assert (verdict.status, "asked" in verdict.error) == (Status.ERROR, True)


def test_a_handler_reads_runs_by_the_map():
    seen, judge = collecting()
    chain = RunnableLambda(lambda state: {"reply": {"text": state["said"]}})
    field_map = {"question": "inputs.asked.text", "answer": "outputs.reply.text", "contexts": "inputs.hits"}
    with judge_runs(judge, field_map=field_map):
        chain.invoke(STATE)
    assert [(case.question, case.answer, case.contexts) for case in seen] == [("2 + 2?", "4", ("2 + 2 = 4",))]


def test_a_comparison_reads_both_runs_by_the_map():
    asked = []

    @judge_decorator
    def prefers(case):
        asked.append((case.question, case.candidates))
        return Judgment(None, label="A" if case.candidates[0] == "4" else "B")

    compare = JuryPairwiseEvaluator(prefers, field_map={"question": "inputs.ask", "answer": "outputs.reply.text"})
    runs = [
        Run(id=uuid4(), name="r", run_type="chain", start_time=datetime.now(UTC), trace_id=uuid4(),
            inputs={"ask": "2 + 2?"}, outputs={"reply": {"text": text}})
        for text in ("5", "4")
    ]  # fmt: skip
    scores = compare(runs, None)["scores"]
    assert [scores[run.id] for run in runs] == [0.0, 1.0]
    assert asked == [("2 + 2?", ("5", "4")), ("2 + 2?", ("4", "5"))]


@pytest.mark.parametrize("make", [JuryRunnable, jury_node, JuryPairwiseEvaluator, JuryCallbackHandler])
def test_a_map_replaces_the_other_ways_to_say_where_fields_are(make):
    judge = pairwise() if make is JuryPairwiseEvaluator else NotEmpty()
    for other in ("fields", "inputs", "outputs", "reference_outputs", "case"):
        with pytest.raises((TypeError, ConfigurationError), match=other):
            make(judge, **{other: "y"})
    with pytest.raises(ConfigurationError, match="Did you mean 'answer'"):
        make(judge, field_map={"anser": "x"})


def pairwise():
    @judge_decorator
    def prefers(case):
        return Judgment(None, label="A")

    return prefers


def test_the_tools_that_are_evidence_count_beside_a_map():
    messages = [
        {"role": "user", "content": "2 + 2?"},
        {"role": "assistant", "content": "", "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "search", "arguments": "{}"}},
            {"id": "2", "type": "function", "function": {"name": "note", "arguments": "{}"}},
        ]},
        {"role": "tool", "tool_call_id": "1", "content": "2 + 2 = 4"},
        {"role": "tool", "tool_call_id": "2", "content": "I say 5"},
        {"role": "assistant", "content": "4"},
    ]  # fmt: skip
    seen, judge = collecting()
    JuryRunnable(judge, field_map={"messages": "log"}, evidence_tools=["search"]).invoke({"log": messages})
    assert seen[0].contexts == ("2 + 2 = 4",)


@pytest.mark.slow
def test_the_other_commands_find_the_texts_of_mapped_cases(tmp_path):
    cases, jury, out = tmp_path / "cases.jsonl", tmp_path / "jury.yaml", tmp_path / "out.jsonl"
    cases.write_text('{"User Question": "2 + 2?", "reply": "It is four."}\n{"User Question": "3 + 3?"}\n')
    jury.write_text("jurors: [{check: not_empty}]\n")
    judged(cases, "--jury", str(jury), "--map", "question=User Question", "--map", "answer=reply")
    shown = [entry.case and (entry.case.question, entry.case.answer) for entry in Report.read(out, cases=cases).entries]
    assert shown == [("2 + 2?", "It is four.")]
    page = tmp_path / "page.html"
    result = CliRunner().invoke(app, ["report", str(out), "--cases", str(cases), "--html", str(page)])
    assert result.exit_code == 0, result.output
    assert "It is four." in page.read_text()
    assert "1 row" in page.read_text() + result.output  # the second row has no column called reply
    replayed = CliRunner().invoke(app, ["replay", str(out), "--jury", str(jury), "--json"])
    assert replayed.exit_code == 0, replayed.output
    reviewed = CliRunner().invoke(
        app, ["review", str(out), "--only", "all", "--labels", str(tmp_path / "labels.jsonl")], input="p\nq\n"
    )
    assert "2 + 2?" in reviewed.output


@pytest.mark.parametrize("paths", ['{"anser": "x"}', '{"answer": ""}'])
def test_a_map_in_results_is_data_and_a_wrong_one_is_refused(tmp_path, paths):
    cases, out = tmp_path / "cases.jsonl", tmp_path / "out.jsonl"
    cases.write_text('{"answer": "4"}\n')
    out.write_text(f'{{"line": 1, "cases": "cases.jsonl", "field_map": {paths}, "verdict": {{"status": "PASS"}}}}\n')
    with pytest.raises(InputError, match=r"out\.jsonl, line 1: "):
        Report.read(out, cases=cases)


def test_the_documents_of_a_retriever_are_mapped_like_fields(tmp_path):
    row = {"question": "When?", "hits": {"ids": ["d7", "d1"]}, "Gold documents": ["d1"]}
    found = Case.from_row(row, {"retrieved_ids": "hits.ids", "relevant_ids": "Gold documents"})
    assert found == Case(
        question="When?", retrieved_ids=["d7", "d1"], relevant_ids=["d1"], metadata={"hits": row["hits"]}
    )
    (tmp_path / "cases.jsonl").write_text(json.dumps(row), encoding="utf-8")
    (tmp_path / "jury.yaml").write_text("jurors: [{check: retrieval, measure: reciprocal_rank}]")
    maps = ["--map", "retrieved_ids=hits.ids", "--map", "relevant_ids=Gold documents"]
    result, lines = judged(tmp_path / "cases.jsonl", "--jury", str(tmp_path / "jury.yaml"), *maps)
    assert result.exit_code == 0, result.output
    assert "reciprocal_rank is 0.5" in json.dumps(lines)
