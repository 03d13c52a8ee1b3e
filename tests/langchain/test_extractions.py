"""Outputs with several fields, none of which is known as the answer, are judged whole."""

import logging

import pytest
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda
from pydantic import BaseModel
from support.langchain_apps import Watched

from jury_adapters import Judge
from jury_adapters.checks import Equals
from jury_adapters.langchain import JuryEvaluator, JuryRunnable, jury_node, to_case

WANTED = {"covered": True, "reason": "theft", "amount_eur": 1250}
WRONG = {"covered": False, "reason": "theft", "amount_eur": 1.25}


class Claim(BaseModel):
    reason: str
    amount_eur: float
    covered: bool


@pytest.fixture
def equal():
    return JuryEvaluator(Equals(), key="equal")


@pytest.mark.parametrize("given", [WRONG, Claim(**WRONG)], ids=["a mapping", "a model"])
def test_the_only_text_is_not_the_answer_of_an_extraction(equal, given):
    result = equal(inputs={"mail": "My bike is gone."}, outputs=given, reference_outputs=WANTED)
    assert result["score"] == 0.0
    assert "covered: expected true, got false" in result["comment"]
    assert "amount_eur: expected 1250, got 1.25" in result["comment"]


def test_an_extraction_equals_its_reference_in_another_order_and_type(equal):
    result = equal(inputs={"mail": "My bike is gone."}, outputs=Claim(**WANTED), reference_outputs=WANTED)
    assert (result["score"], result["comment"]) == (1.0, "equals the expected JSON by value")


def test_a_handler_judges_all_of_an_extraction(caplog):
    watched = Watched()
    RunnableLambda(lambda mail: Claim(**WANTED)).invoke("My bike is gone.", watched.config)
    (run,) = watched.all()
    assert run.case.answer == '{"reason": "theft", "amount_eur": 1250.0, "covered": true}'
    (said,) = (one.getMessage() for one in caplog.records if one.name.startswith("jury_adapters"))
    assert "none of the outputs 'reason', 'amount_eur', 'covered' is known as the answer" in said


def test_the_log_names_the_fields_once(equal, caplog):
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            equal(inputs={"mail": "My bike is gone."}, outputs=WRONG, reference_outputs=WANTED)
        JuryRunnable(Equals("theft")).invoke(WRONG)
    said = [one.getMessage() for one in caplog.records if one.name.startswith("jury_adapters")]
    assert said[0] == (
        "equal: none of the outputs 'covered', 'reason', 'amount_eur' is known as the answer, so all of them are "
        "judged as one JSON text. If one of them is the answer, name it in a field map, such as field_map={'answer': "
        "'outputs.reason', 'question': 'inputs.mail'}"
    )
    assert "all of the input is judged as one JSON text" in said[1]
    assert len(said) == 2


def test_a_field_map_chooses_all_of_the_outputs_without_a_warning(caplog):
    paths = {"question": "inputs.mail", "answer": "outputs", "reference": "reference_outputs"}
    evaluator = JuryEvaluator(Equals(), field_map=paths)
    assert evaluator(inputs={"mail": "Gone."}, outputs=WANTED, reference_outputs=WANTED)["score"] == 1.0
    assert evaluator(inputs={"mail": "Gone."}, outputs=WRONG, reference_outputs=WANTED)["score"] == 0.0
    assert not caplog.records


@pytest.mark.parametrize("beside", [
    {}, {"thread_id": 7}, {"gold": True}, {"retrieved_ids": ["a"]}, {"score": None}, {"status": 200},
    {"pages": [Document("Section 3.")]}, {"question": "When?", "tries": 2}, {"context": ["c"], "run_id": "r1"},
    {"messages": []}, {"thread_id": "t7"}, {"gold": "FAIL", "session_id": "s1"},
])  # fmt: skip
def test_bookkeeping_and_documents_do_not_belong_to_the_answer(beside):
    assert to_case({"outputs": {"reply": "At nine.", **beside}}).answer == "At nine."


def test_the_label_of_a_person_beside_the_answer_of_a_node_is_not_shown_to_the_jury(caplog):
    seen = []
    jury_node(Judge.from_function(lambda case: not seen.append(case))).invoke({"draft": "At nine.", "gold": "FAIL"})
    assert [case.answer for case in seen] == ["At nine."]
    assert not caplog.records


@pytest.mark.parametrize("beside", [{"id": "A17"}, {"name": "Ann"}, {"type": "invoice"}])
def test_a_text_that_an_extraction_may_have_does(beside):
    assert to_case({"outputs": {"city": "Bern", **beside}}).answer.startswith('{"city": "Bern", ')


@pytest.mark.parametrize("beside", [{"tries": 2}, {"sure": True}, {"tags": []}, {"parts": {"hour": 9}}])
def test_any_other_value_does(beside):
    assert to_case({"outputs": {"reply": "At nine.", **beside}}).answer.startswith('{"reply": "At nine.", ')


def test_beside_contexts_nothing_is_guessed(equal, caplog):
    outputs = {"context": ["Theft is covered."], "reason": "theft", "covered": False}
    result = equal(inputs={"mail": "My bike is gone."}, outputs=outputs, reference_outputs=WANTED)
    assert result["score"] is None
    assert "no answer was found in the outputs 'context', 'reason', 'covered'" in result["comment"]


def test_expected_calls_are_not_part_of_a_reference():
    case = to_case({"outputs": "At nine.", "reference_outputs": {"reply": "At nine.", "expected_calls": ["timetable"]}})
    assert case.reference == "At nine."


def test_a_chain_that_reads_documents_answers_with_its_text():
    case = to_case({"outputs": {"input_documents": [Document("Section 3.")], "output_text": "At nine."}})
    assert (case.answer, case.contexts) == ("At nine.", ("Section 3.",))
