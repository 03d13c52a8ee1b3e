"""Ids of the examples of an experiment, by which two experiments are compared."""

import pytest

from jury_adapters import Judgment, Report
from jury_adapters.checks import Contains
from jury_adapters.langchain import JuryEvaluator
from jury_adapters.langchain.langsmith import examples, offline_client

pytestmark = pytest.mark.filterwarnings("ignore:'upload_(results|runs)' parameter is in beta")


def row(number=0, **metadata):
    return {"inputs": {"question": f"question {number}"}, "outputs": {"answer": "1,500 euros"}, "metadata": metadata}


def experiment(rows, passing):
    """Return the report of an experiment whose jury passes the questions with these numbers."""

    def answer(inputs):
        return {"answer": "yes" if int(inputs["question"].split()[1]) in passing else "no"}

    data, evaluators = examples(rows), [JuryEvaluator(Contains(["yes"]), key="yes")]
    client = offline_client()
    return Report.from_results(client.evaluate(answer, data=data, evaluators=evaluators, upload_results=False))


def test_the_metadata_do_not_change_the_id_of_an_example():
    one, other, bare = (
        examples([each])[0] for each in (row(gold="PASS"), row(gold="FAIL"), {**row(), "metadata": None})
    )
    assert one.id == other.id == bare.id
    assert len({example.id for example in examples([row(gold="PASS"), row(gold="FAIL"), row(1)])}) == 3
    assert examples([{**row(), "outputs": {"answer": "400 euros"}}])[0].id != one.id


def test_experiments_whose_labels_differ_are_compared_over_all_examples():
    """Each version of an application has labels of its own answers."""
    first = experiment([row(at, gold="PASS" if at < 3 else "FAIL") for at in range(6)], passing=range(3))
    second = experiment([row(at, gold="PASS") for at in range(6)], passing=range(6))
    compared = first.compare(second)
    assert (compared.paired, compared.only_before, compared.difference) == (6, 0, 0.5)
    assert [one for one in compared.warnings if "labels" not in one] == []


def own(number, own_id, **metadata):
    return row(number, id=own_id, doc="HR-3", **metadata)


def test_the_id_of_a_data_set_is_the_id_in_reports():
    data = [own(at, f"q{at:02}") for at in range(3)]
    report = experiment(data, passing=[0])
    rows = report.to_rows()
    assert [each["item_id"] for each in rows] == ["q00", "q01", "q02"]
    assert [each["meta:langsmith_example"] for each in rows] == [str(example.id) for example in examples(data)]
    assert {each["meta:doc"] for each in rows} == {"HR-3"}
    assert report.group == ""


def test_a_kept_report_has_those_ids_and_reports_no_conflict(tmp_path):
    report = experiment([own(at, f"q{at:02}") for at in range(3)], passing=[0])
    report.write_results(tmp_path / "kept.jsonl", cases=tmp_path / "cases.jsonl")
    again = Report.read(tmp_path / "kept.jsonl", cases=tmp_path / "cases.jsonl")
    assert [each["item_id"] for each in again.to_rows()] == ["q00", "q01", "q02"]
    assert "ambiguous" not in (tmp_path / "cases.jsonl").read_text()


def test_recorded_answers_of_two_versions_are_compared_by_their_own_ids():
    """Answers in the inputs make examples of their own."""
    first, second = (
        [{**own(at, f"q{at:02}"), "inputs": {"question": f"question {at}", "answer": said}} for at in range(3)]
        for said in ("in 2018", "in 2019")
    )
    first, second = experiment(first, passing=[0]), experiment(second, passing=[0])
    compared = first.compare(second)
    assert (compared.paired, compared.warnings) == (3, ())


@pytest.mark.parametrize("own_id", ["HR-3", 7])
def test_an_id_that_several_examples_have_stays_in_the_metadata(own_id):
    data = [own(at, own_id) for at in range(3)]
    rows = experiment(data, passing=[0]).to_rows()
    assert [each["item_id"] for each in rows] == [str(example.id) for example in examples(data)]
    assert {each["meta:own_id"] for each in rows} == {str(own_id)}


def test_repeated_runs_have_the_own_id_with_a_number():
    data, evaluators = (
        examples([own(at, f"q{at:02}") for at in range(2)]),
        [JuryEvaluator(Contains(["yes"]), key="yes")],
    )
    options = {"num_repetitions": 2, "max_concurrency": 0, "upload_results": False}
    found = offline_client().evaluate(lambda inputs: {"answer": "yes"}, data=data, evaluators=evaluators, **options)
    report = Report.from_results(found)
    assert sorted(each["item_id"] for each in report.to_rows()) == ["q00", "q00 run 2", "q01", "q01 run 2"]
    assert (report.group, report.figures.summary.groups) == ("langsmith_example", 2)


def test_the_question_stands_beside_the_id_of_an_example(capsys):
    data, evaluators = examples([row(1)]), [JuryEvaluator(lambda case: Judgment("ABSTAIN"), key="open")]
    client = offline_client()
    found = client.evaluate(lambda inputs: {"answer": "yes"}, data=data, evaluators=evaluators, upload_results=False)
    report = Report.from_results(found)
    report.summary()
    assert "question 1" in capsys.readouterr().out
    assert f"| `{data[0].id}` `question 1` |" in report.to_markdown()
