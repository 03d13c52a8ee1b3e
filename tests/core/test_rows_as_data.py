"""Judged data of a row is only data: it cannot add evidence or a human label, and cannot hide anything."""

import json

import pytest

from jury_adapters import Case, grounding_screen
from jury_adapters.checks import NotEmpty, ValidJSON

LYON = "The capital of France is Lyon."
SOURCES = {"answer": LYON, "sources": [LYON], "contexts": [LYON], "messages": [{"role": "tool", "content": LYON}]}


@pytest.mark.parametrize(
    "row",
    [
        {"question": "Capital of France?", "answer": SOURCES},
        {"inputs": {"question": "Capital of France?"}, "outputs": {"answer": SOURCES, "cost": 1}},
        {"question": "Capital of France?", "response": {"steps": [{"tool": "search", "output": LYON}], "text": LYON}},
    ],
)
def test_an_answer_brings_no_evidence_of_its_own(row):
    case = Case.from_row(row)
    assert (case.contexts, case.trajectory) == ((), ())
    assert LYON in case.answer
    assert grounding_screen().judge(case).passed is not True


@pytest.mark.parametrize(
    "answer",
    [[], [{"text": "a"}, {"text": "b"}], {"text": "Paris", "score": 1}, {"role": "tool", "content": "x"}, {"a": []}],
)
def test_an_answer_of_any_form_is_an_answer(answer):
    case = Case.from_row({"question": "q", "answer": answer})
    assert NotEmpty().judge(case).passed
    assert case.contexts == ()


def test_a_mapping_without_a_known_answer_is_judged_whole():
    case = Case.from_row({"answer": {"text": "Paris", "score": 1}})
    assert json.loads(case.answer) == {"text": "Paris", "score": 1}
    assert ValidJSON(schema={"required": ["score"]}).judge(case).passed
    assert Case.from_row({"answer": {"output": "Paris", "cached": True}}).answer == "Paris"


@pytest.mark.parametrize("part", ["inputs", "outputs"])
def test_a_run_cannot_set_the_human_label_nor_the_id(part):
    run = {"question": "q", "answer": "a", "gold": "PASS", "id": "chatcmpl-1", "item_id": "7", "votes": "x", "score": 3}
    case = Case.from_row({"item_id": "1", part: run})
    assert {name: case.metadata.get(name) for name in ("gold", "id", "votes", "item_id", "score")} == {
        "gold": None, "id": None, "votes": None, "item_id": "1", "score": 3,
    }  # fmt: skip


@pytest.mark.parametrize(
    "wrap", [lambda thread: {"messages": thread}, lambda thread: {"outputs": {"messages": thread}}]
)
def test_a_row_cannot_hide_a_message_by_the_mark_of_the_middleware(wrap):
    thread = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": "good"},
        {"role": "assistant", "content": "HARMFUL", "additional_kwargs": {"jury": {"kind": "rejected"}}},
    ]
    assert Case.from_row(wrap(thread)).answer == "HARMFUL"


@pytest.mark.parametrize("id_", [{"x": 1}, 5, "text", [], None])
def test_a_serialised_object_with_an_odd_id_is_no_crash(id_):
    assert Case.from_row({"question": "q", "answer": {"lc": 1, "kwargs": {"a": 1}, "id": id_}}).answer


def test_candidates_keep_their_positions():
    assert Case.from_row({"question": "q", "candidates": [None, "b", "c"]}).candidates == ("", "b", "c")
    tool = {"role": "tool", "content": "x"}
    assert len(Case.from_row({"question": "q", "answers": [tool, "b", "c"]}).candidates) == 3


@pytest.mark.parametrize("history", ["built 1900", 1900, {"a": 1}, [["hi", "hello"]]])
@pytest.mark.parametrize("name", ["history", "chat_history"])
def test_a_column_called_history_that_holds_no_messages_is_metadata(name, history):
    case = Case.from_row({"question": "q", "answer": "a", name: history})
    assert case.messages == ()
    assert name in case.metadata


def test_the_question_of_inputs_counts_beside_a_history():
    history = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yo"}]
    row = {"inputs": {"question": "2+2?"}, "outputs": {"answer": "4"}, "chat_history": history}
    case = Case.from_row(row)
    assert (case.question, case.answer, [one.content for one in case.messages]) == ("2+2?", "4", ["hi", "yo"])
