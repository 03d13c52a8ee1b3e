"""Tasks of Label Studio's JSON export as cases with human labels, and labels in exports of LangSmith."""

import json

import pytest

from jury_adapters import Case
from jury_adapters.align import labelled_cases
from jury_adapters.core.case_files import CaseFile


def choice(*labels, note=None, cancelled=False):
    result = [{"from_name": "verdict", "to_name": "text", "type": "choices", "value": {"choices": list(labels)}}]
    if note:
        result.append({"from_name": "why", "to_name": "text", "type": "textarea", "value": {"text": [note]}})
    return {"id": 1, "was_cancelled": cancelled, "completed_by": 3, "result": result}


def task(*annotations, **data):
    fields = {"question": "When?", "answer": "In 2018.", "contexts": ["It closed in 2018."], **data}
    return {"id": 7, "data": fields, "annotations": list(annotations), "predictions": [choice("bad")]}


def test_the_choice_is_the_label_and_a_text_the_note():
    case = Case.from_row(task(choice("good", note="the year is right")))
    assert (case.question, case.answer, case.contexts) == ("When?", "In 2018.", ("It closed in 2018.",))
    assert case.metadata["gold"] == "good"
    assert case.metadata["review"]["note"] == "the year is right"
    assert case.metadata["id"] == 7


def test_annotators_who_agree_give_one_label_and_others_none():
    assert Case.from_row(task(choice("good"), choice("good"))).metadata["gold"] == "good"
    case = Case.from_row(task(choice("good"), choice("bad")))
    assert "gold" not in case.metadata
    assert "'good' and 'bad'" in case.metadata["ambiguous"][0]


def test_cancelled_annotations_and_predictions_do_not_count():
    assert Case.from_row(task(choice("bad", cancelled=True), choice("good"))).metadata["gold"] == "good"
    assert "gold" not in Case.from_row(task()).metadata


@pytest.mark.parametrize("annotations", [[None, 3], [{"result": None}], [{"result": [{"value": 3}, 4]}], "text", None])
def test_what_is_no_annotation_is_no_label(annotations):
    case = Case.from_row({"id": 7, "data": {"answer": "a"}, "annotations": annotations})
    assert "gold" not in case.metadata


def test_a_whole_export_is_a_file_of_labelled_cases(tmp_path):
    path = tmp_path / "export.json"
    tasks = [task(choice("good" if place % 2 else "bad"), answer=f"Answer {place}.") for place in range(50)]
    path.write_text(json.dumps(tasks))
    found = labelled_cases(CaseFile(path, print), pass_labels=["good"])
    assert len(found) == 50
    assert sum(one.passed for one in found) == 25


def test_feedback_of_langsmith_is_a_column_of_labels():
    rows = [
        {
            "inputs.question": f"q {place}",
            "outputs.answer": f"a {place}",
            "feedback.correctness": 1.0 if place % 2 else 0.0,
        }
        for place in range(50)
    ]
    found = labelled_cases(map(Case.from_row, rows), pass_labels=["1"], label_column="feedback.correctness")
    assert (len(found), sum(one.passed for one in found)) == (50, 25)
    assert found[1].case.answer == "a 1"
