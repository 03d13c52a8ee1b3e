"""Rows of runs of the application that failed: FAIL with the error, whatever the format of the row."""

import json
import math

import pytest

from jury_adapters import CascadedJury, Case, Critic, Ensemble, Scorecard, Tier, judge
from jury_adapters.checks import NotEmpty, SentenceSupport
from jury_adapters.core.case_files import CaseFile
from jury_adapters.core.errors import InputError
from jury_adapters.core.return_values import is_failed_run
from jury_adapters.core.run_errors import error_in, lost_outputs

FAILED = {
    "a run of LangSmith": {
        "id": "r", "run_type": "chain", "inputs": {"messages": [["user", "Theft?"]]}, "outputs": None, "error": "boom",
    },
    "inputs without a known question": {"inputs": {"claim": 7}, "outputs": {}, "error": "boom"},
    "a frame of LangSmith": {"inputs.question": "q", "outputs.output": math.nan, "error": "boom", "reference.a": "x"},
    "a plain row": {"question": "q", "contexts": ["c"], "error": "boom"},
    "an empty answer": {"question": "q", "answer": " ", "error": "boom"},
    "an error that is a mapping": {"question": "q", "answer": None, "Error": {"code": 1, "message": "boom"}},
    "promptfoo": {"vars": {"question": "q"}, "prompt": {"raw": "q"}, "response": {"error": "boom"}},
    "a span of Phoenix": {
        "context.span_id": "1", "attributes.input.value": "q", "status_code": "ERROR", "status_message": "boom",
    },
    "an agent with steps": {"question": "q", "trajectory": [{"tool": "find", "output": "x"}], "error": "boom"},
}  # fmt: skip
ANSWERED = {
    "an answer": {"question": "q", "answer": "a", "error": "boom"},
    "an answer under another name": {"question": "q", "model_reply": "a", "error": "boom"},
    "two answers": {"question": "q", "candidates": ["a", "b"], "error": "boom"},
    "a folder": {"question": "q", "workspace": "/tmp", "error": "boom"},
    "an error that is a number": {"question": "q", "error": 0.25},
    "an error in the inputs": {"inputs": {"question": "What does it mean?", "error": "E-42"}, "outputs": None},
    "a pause": {"inputs": {"question": "q"}, "outputs": None, "error": "GraphInterrupt((Interrupt(value='x'),))"},
    "recorded votes": {"item_id": "1", "votes": {"a": "PASS"}, "error": "boom"},
    "ids of a retriever": {"question": "q", "retrieved_ids": ["d1"], "relevant_ids": ["d1"], "error": "boom"},
    "no error": {"question": "q", "error": ""},
    "an error in which nothing is": {"question": "q", "error": {"code": None, "message": None}},
}


@pytest.mark.parametrize("row", FAILED.values(), ids=FAILED)
def test_a_row_with_an_error_and_no_output_is_a_failed_run(row):
    case = Case.from_row(row)
    assert case.run_error == "boom"
    verdict = Ensemble([NotEmpty(), SentenceSupport()]).judge(case)
    assert is_failed_run(verdict)
    assert (verdict.status, verdict.reasoning, verdict.judgments) == ("FAIL", "the run failed: boom", ())


@pytest.mark.parametrize("row", ANSWERED.values(), ids=ANSWERED)
def test_any_other_row_is_judged(row):
    assert Case.from_row(row).run_error is None


def test_a_trace_of_mlflow_that_ended_with_an_error_is_a_failed_run():
    row = {"trace_id": "t", "request": '{"question": "q"}', "response": None, "state": "ERROR"}
    case = Case.from_row(row)
    assert (case.question, case.run_error) == ("q", "the run ended with the state ERROR")
    assert Case.from_row({**row, "response": '"a"', "state": "OK"}).run_error is None


@pytest.mark.parametrize("field_map", [{"answer": "outputs.reply"}, lambda row: Case(answer=row["outputs"]["reply"])])
def test_a_failed_run_needs_no_output_where_a_field_map_expects_it(field_map):
    failed = {"inputs": {"question": "q"}, "outputs": None, "error": "boom"}
    assert Case.from_row(failed, field_map).run_error == "boom"
    answered = {**failed, "outputs": {"reply": "a"}}
    assert (Case.from_row(answered, field_map).answer, Case.from_row(answered, field_map).run_error) == ("a", None)
    with pytest.raises((InputError, TypeError)):
        Case.from_row({**failed, "error": None}, field_map)


def test_a_mapped_column_that_a_failed_run_lacks_is_a_missing_answer():
    assert Case.from_row({"q": "?", "output": "log", "error": "boom"}, {"answer": "reply"}).run_error == "boom"


def test_a_function_decides_what_an_answer_is():
    row = {"q": "?", "text": "a", "error": "boom"}
    assert Case.from_row(row, lambda row: Case(answer=row["text"])).run_error is None
    assert Case.from_row(row, lambda row: Case(question=row["q"])).run_error == "boom"


def test_no_juror_is_asked_about_a_failed_run_and_nothing_is_estimated():
    asked = []

    @judge
    def counting(case):
        asked.append(case)
        return True

    async def model(prompt):
        asked.append(prompt)
        return "PASS"

    critic = Critic(model, "faithfulness")
    case = Case.from_row(FAILED["a plain row"])
    for jury in (
        counting, Ensemble([counting]), CascadedJury([Tier("one", counting)]), Scorecard({"a": counting, "b": critic}),
    ):  # fmt: skip
        (judged,) = jury.judge_many([case])
        assert (judged.status, judged.critic, is_failed_run(judged)) == ("FAIL", jury.name, True)
        assert jury.judge(case).reasoning == "the run failed: boom"
    assert asked == []
    assert (critic.estimate_cost([case]).calls, critic.estimate_cost([case]).cases) == (0, 1)


def test_the_error_is_redacted_and_the_verdict_has_the_id_of_the_case():
    row = {"id": "7", "question": "q", "error": "bad key sk-proj-abcdefghijklmnopqrstuvwxyz0123456789"}
    verdict = Ensemble([NotEmpty()]).judge(Case.from_row(row))
    assert verdict.case_id == "7"
    assert "abcdefgh" not in verdict.reasoning


def test_a_copy_with_an_answer_is_judged():
    case = Case.from_row(FAILED["a plain row"])
    assert NotEmpty().judge(case.model_copy(update={"answer": "a"})).passed


def test_outputs_may_be_of_any_type():
    class Odd:
        def __eq__(self, other):
            raise ValueError("compare element by element")

        __hash__ = None

    assert not lost_outputs({"outputs": {"rows": Odd()}, "error": "boom"})
    assert lost_outputs({"outputs": {"answer": " ", "score": None}, "error": "boom"})


def test_the_text_of_an_error():
    assert error_in({"error": {"code": 7}}) == '{"code": 7}'
    assert error_in({"error": ["boom"]}) is None


@pytest.mark.parametrize("text", ["False", "None", "nan", "<NA>", "null", "NO", "0", "0.25", "-1e-3"])
def test_texts_of_a_table_that_are_no_error_leave_an_empty_answer_to_the_jurors(tmp_path, text):
    path = tmp_path / "runs.csv"
    path.write_text(f"question,answer,error\nq,,{text}\nq,,timeout after 30 s\n", encoding="utf-8")
    assert [case.run_error for case in CaseFile(path, print)] == [None, "timeout after 30 s"]


def test_a_row_that_only_says_that_its_run_has_an_error_is_a_failed_run():
    assert Case.from_row({"question": "q", "answer": None, "error": True}).run_error == "true"


@pytest.mark.parametrize(
    "row", [{"id": "1", "answer": None}, {"id": "1", "reply": None}, {"id": "1"}, {"seconds": 3, "gold": "FAIL"}]
)
def test_a_failed_run_is_a_case_although_no_column_has_a_value(tmp_path, row):
    path = tmp_path / "runs.jsonl"
    path.write_text(json.dumps({**row, "error": "boom"}) + "\n", encoding="utf-8")
    assert [case.run_error for case in CaseFile(path, print)] == ["boom"]


@pytest.mark.parametrize("row", [{"Antwort": "ja", "error": "boom"}, {"Antwort": "ja"}, {"id": "1", "error": ""}])
def test_a_row_with_unknown_columns_is_unreadable_also_with_an_error(tmp_path, row):
    path, told = tmp_path / "runs.jsonl", []
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    assert [*CaseFile(path, told.append)] == []
    assert "no column is a question" in told[0]


def test_columns_without_a_value_are_named_as_such_and_not_as_misspelt(tmp_path):
    path, told = tmp_path / "runs.jsonl", []
    path.write_text('{"id": 1, "Answer": null, "contexts": []}\n', encoding="utf-8")
    assert [*CaseFile(path, told.append)] == []
    assert "nothing is in 'Answer', 'contexts'" in told[0]
    assert "did you mean" not in told[0]
