"""Ids of the examples of an experiment, by which two experiments are compared."""

import pytest

from jury_adapters import Report
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
    assert not compared.warnings
