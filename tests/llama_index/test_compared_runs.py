"""Runs of LlamaIndex's batch runner that are compared as pairs, and the ids of their items."""

import pytest
from llama_index.core.evaluation import BatchEvalRunner

from jury_adapters import Ensemble, Report
from jury_adapters.llama_index import JuryEvaluationResult, JuryEvaluator

pytestmark = pytest.mark.filterwarnings("ignore:asyncio_module:DeprecationWarning")

QUERIES = ["When did the ferry stop?", "When did the bridge open?", "Who built it?"]
LONG = ["It stopped in 2018, they say.", "In 1931.", "It was built by Ann and Ben."]
SHORT = ["In 2018.", "In 1931.", "Ann."]
CONTEXTS = [["c"]] * 3


def short(case):
    return len(case.answer) < 20


JUDGES = {"a function": short, "a jury": Ensemble([short])}


def run(answers, jury=short, queries=QUERIES, evaluators=1, **lists):
    runner = BatchEvalRunner({f"short {number}": JuryEvaluator(jury) for number in range(evaluators)})
    return runner.evaluate_response_strs(queries, answers, CONTEXTS, **lists)


GIVEN = {
    "id": {"id": ["i0", "i1", "i2"]},
    "item_id": {"item_id": ["i0", "i1", "i2"]},
    "metadata": {"metadata": [{"id": "i0"}, {"id": "i1"}, {"id": "i2"}]},
    "numbers": {"id": [0, 1, 2]},
}


@pytest.mark.parametrize("jury", JUDGES.values(), ids=JUDGES)
@pytest.mark.parametrize("evaluators", [1, 2])
@pytest.mark.parametrize("given", GIVEN.values(), ids=GIVEN)
def test_ids_of_the_runner_are_those_of_results_and_reports(jury, evaluators, given):
    results = run(SHORT, jury, evaluators=evaluators, **given)
    report = Report.from_results(results)
    ids = [entry.item_id for entry in report.entries]
    assert ids in (["i0", "i1", "i2"], ["0", "1", "2"])
    assert [entry.where for entry in report.entries] == ids
    assert all([result.item_id for result in found] == ids for found in results.values())
    again = JuryEvaluationResult.model_validate(results["short 0"][0].model_dump())
    assert again.item_id == ids[0]


@pytest.mark.parametrize("given", [{}, *GIVEN.values()])
def test_two_engines_are_compared_as_pairs(given):
    found = Report.from_results(run(LONG, **given)).compare(Report.from_results(run(SHORT, **given)))
    assert (found.paired, found.only_before, found.better, found.worse) == (3, 0, 2, 0)
    assert found.difference == pytest.approx(2 / 3)
    assert not found.same_answers


def test_ids_match_where_a_question_occurs_twice():
    same = ["q", "q", "other"]
    ids = {"id": ["i0", "i1", "i2"]}
    found = Report.from_results(run(LONG, queries=same, **ids)).compare(
        Report.from_results(run(SHORT, queries=same, **ids))
    )
    assert found.paired == 3
    without = Report.from_results(run(LONG, queries=same)).compare(Report.from_results(run(SHORT, queries=same)))
    assert without.paired == 0  # only "In 1931." is in both
    assert "questions repeat" in str(without)


def test_an_item_that_cannot_be_judged_keeps_its_id():
    result = JuryEvaluator(short).evaluate("q", object(), id="i0")
    assert (result.invalid_result, result.item_id) == (True, "i0")
    assert JuryEvaluator(short).evaluate("q", "a").item_id is None
