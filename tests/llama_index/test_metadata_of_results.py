"""Keywords of a runner that are metadata of the case: human labels and groups, from one evaluator to the report."""

import pytest
from llama_index.core.evaluation import BatchEvalRunner
from llama_index.core.evaluation.base import EvaluationResult
from support.canned import canned, said

from jury_adapters import Ensemble, Report
from jury_adapters.llama_index import JuryCorrectnessEvaluator, JuryEvaluationResult, JuryEvaluator

pytestmark = pytest.mark.filterwarnings("ignore:asyncio_module:DeprecationWarning")

QUERIES = ["When did the ferry stop?", "When did the bridge open?"]
ANSWERS = ["In 2018.", "It is said to be 1931."]


def short(case):
    return len(case.answer) < 12


def long(case):
    return len(case.answer) > 2


JURIES = {
    "one judge": {"short": JuryEvaluator(short)},
    "a panel": {"short": JuryEvaluator(Ensemble([short, short]))},
    "two": {"short": JuryEvaluator(short), "long": JuryEvaluator(long)},
}


def run(evaluators, **lists):
    return BatchEvalRunner(evaluators).evaluate_response_strs(QUERIES, ANSWERS, **lists)


@pytest.mark.parametrize("evaluators", JURIES.values(), ids=JURIES)
def test_human_labels_of_a_runner_are_compared_with_the_jury(evaluators):
    report = Report.from_results(run(evaluators, gold=["good", "bad"]), pass_labels=["good"])
    assert report.label_comparison.jury.accuracy.share == 1


@pytest.mark.parametrize("evaluators", JURIES.values(), ids=JURIES)
@pytest.mark.parametrize("group", ["document", "metadata.document"])
def test_cases_are_grouped_by_a_keyword_of_the_runner(evaluators, group):
    report = Report.from_results(run(evaluators, document=["a.txt", "b.txt"]), group=group)
    assert "2 groups" in report.figures.summary.interval_words


def test_results_keep_metadata_and_reference_through_json():
    results = run({"short": JuryEvaluator(short)}, document=["a.txt", "b.txt"], reference=["2018", "1931"])
    again = [JuryEvaluationResult.model_validate_json(one.model_dump_json()) for one in results["short"]]
    assert [(one.metadata, one.reference) for one in again] == [
        ({"document": "a.txt"}, "2018"),
        ({"document": "b.txt"}, "1931"),
    ]
    assert [entry.case.reference for entry in Report.from_results(again).entries] == ["2018", "1931"]


def test_an_item_that_cannot_be_judged_keeps_its_group():
    results = [JuryEvaluator(short).evaluate("q", answer, document="a.txt", id=1) for answer in ("a", object())]
    assert results[1].invalid_result
    assert results[1].metadata == {"document": "a.txt", "id": 1}
    assert Report.from_results(results, group="document")


def test_results_of_llama_index_itself_may_be_among_them():
    theirs = [EvaluationResult(query=q, response=a, passing=True) for q, a in zip(QUERIES, ANSWERS, strict=True)]
    ours = run({"ours": JuryEvaluator(short)}, document=["a.txt", "b.txt"])["ours"]
    assert Report.from_results({"theirs": theirs, "ours": ours}, group="document")


def test_a_verdict_of_several_evaluators_has_the_metadata_of_its_case():
    (first, _) = Report.from_results(run(JURIES["two"], id=["i0", "i1"], document=["a.txt", "b.txt"])).entries
    assert (first.judgment.case_id, first.judgment.case_metadata) == ("i0", {"id": "i0", "document": "a.txt"})


def test_a_judge_with_a_reference_reports_it():
    evaluator = JuryCorrectnessEvaluator(llm=canned(said("4")))
    (entry,) = Report.from_results([evaluator.evaluate("q", "a", reference="r", gold="good")]).entries
    assert (entry.case.reference, entry.case.metadata["gold"]) == ("r", "good")
