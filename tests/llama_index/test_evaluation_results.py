"""Reports of what LlamaIndex's evaluators returned."""

import subprocess
import sys
from typing import Any

import pytest
from llama_index.core.evaluation import (
    BaseEvaluator,
    BatchEvalRunner,
    CorrectnessEvaluator,
    EvaluationResult,
    FaithfulnessEvaluator,
)
from support.canned import canned

from jury_adapters import Case, ConfigurationError, Ensemble, Judgment, Scorecard, Status, Verdict
from jury_adapters.checks import NotEmpty
from jury_adapters.llama_index import JuryEvaluator
from jury_adapters.report import Report

# The runner still calls a function that LlamaIndex deprecates.
pytestmark = [
    pytest.mark.filterwarnings("ignore:asyncio_module:DeprecationWarning"),
    pytest.mark.usefixtures("own_loop"),
]

QUERIES = ["When did the ferry stop?", "When did the bridge open?", "Who built it?"]
ANSWERS = ["In 2018.", "In 2019.", "Nobody knows."]
CONTEXTS = [["The ferry stopped in 2018."], ["The bridge opened in 2018."], ["Ann built it."]]


def dated(case: Case) -> tuple[bool, str]:
    return "2018" in (case.answer or ""), "looked for 2018"


def short(case: Case) -> bool:
    return len(case.answer or "") < 10


def batch(**evaluators: BaseEvaluator) -> dict[str, list[EvaluationResult]]:
    return BatchEvalRunner(evaluators).evaluate_response_strs(
        queries=QUERIES, response_strs=ANSWERS, contexts_list=CONTEXTS
    )


def statuses(report: Report) -> list[Status | None]:
    return [entry.judgment.status for entry in report.entries]


def test_a_list_of_results_of_ours_has_their_verdicts_and_the_texts():
    results = batch(jury=JuryEvaluator(Ensemble([dated, NotEmpty()], voting="unanimous", name="dates")))["jury"]
    report = Report.from_results(results, title="dates")
    assert [entry.judgment for entry in report.entries] == [result.verdict for result in results]
    assert statuses(report) == ["PASS", "FAIL", "FAIL"]
    assert [entry.case for entry in report.entries] == [
        Case(question=question, answer=answer, contexts=contexts)
        for question, answer, contexts in zip(QUERIES, ANSWERS, CONTEXTS, strict=True)
    ]
    assert [juror.name for juror in report.figures.jurors] == ["dated", "NotEmpty"]
    page = report.to_html()
    assert "When did the bridge open?" in page
    assert "Nobody knows." in page
    assert "Ann built it." in page


def test_results_that_were_written_and_read_back_keep_their_verdicts():
    results = batch(jury=JuryEvaluator(Ensemble([dated, NotEmpty()], voting="unanimous")))["jury"]
    back = [type(result).model_validate(result.model_dump(mode="json")) for result in results]
    assert Report.from_results(back).to_rows() == Report.from_results(results).to_rows()


def test_the_dictionary_of_one_evaluator():
    report = Report.from_results(batch(dates=JuryEvaluator(dated)))
    assert (report.title, statuses(report)) == ("dates", ["PASS", "FAIL", "FAIL"])
    assert report.entries[0].case.question == QUERIES[0]


def test_the_evaluators_of_a_dictionary_are_criteria():
    report = Report.from_results(batch(dates=JuryEvaluator(dated), short=JuryEvaluator(short)), title="both")
    assert statuses(report) == ["PASS", "FAIL", "FAIL"]
    verdicts = [entry.judgment for entry in report.entries]
    assert [[criterion.critic for criterion in verdict.judgments] for verdict in verdicts] == [["dates", "short"]] * 3
    assert [verdict.by_name["short"].status for verdict in verdicts] == ["PASS", "PASS", "FAIL"]
    assert {verdict.agreement for verdict in verdicts} == {None}
    markdown = report.to_markdown()
    assert "| `dates` | 33.3 % | 1 | 2 | 0 | 0 |" in markdown
    assert "| `short` | 66.7 % | 2 | 1 | 0 | 0 |" in markdown
    card = Scorecard({"dates": dated, "short": short})
    by_card = [card.judge(entry.case) for entry in report.entries]
    assert [verdict.canonical_json() for verdict in verdicts] == [verdict.canonical_json() for verdict in by_card]


def test_llama_indexs_own_evaluators_beside_ours():
    theirs = FaithfulnessEvaluator(llm=canned("YES", "NO", "NO"))
    report = Report.from_results(batch(theirs=theirs, ours=JuryEvaluator(short)))
    assert [entry.judgment.by_name["theirs"].passed for entry in report.entries].count(False) == 2
    assert report.entries[0].case.contexts == tuple(CONTEXTS[0])


def test_scores_of_llama_indexs_correctness_stay_beside_passing():
    evaluator = CorrectnessEvaluator(llm=canned("4.5\nIt is right."))
    (result,) = [evaluator.evaluate(query="q", response="a", reference="a")]
    (entry,) = Report.from_results([result]).entries
    case, judgment = entry.case, entry.judgment
    assert (judgment.status, judgment.score, judgment.metadata["score"]) == (Status.PASS, None, 4.5)
    assert "It is right." in judgment.reasoning
    assert case == Case(question="q", answer="a")


@pytest.mark.parametrize(("fields", "status", "score", "reason"), [
    ({"passing": True, "score": 1.0, "feedback": "good"}, "PASS", 1.0, "good"),
    ({"passing": False, "score": 0.9, "feedback": "bad"}, "FAIL", 0.9, "bad"),
    ({"score": 0.7}, "PASS", 0.7, ""),
    ({"score": 0.2}, "FAIL", 0.2, ""),
    ({"score": 4.0}, "ABSTAIN", None, "the score 4.0 is outside 0 to 1, and there is no passing"),
    ({"score": float("nan")}, "ABSTAIN", None, "there is no score"),
    ({"feedback": "I cannot tell"}, "ABSTAIN", None, "I cannot tell"),
    ({}, "ABSTAIN", None, "there is no score"),
    ({"invalid_result": True, "invalid_reason": "no output"}, "ABSTAIN", None, "no output"),
    ({"passing": True, "invalid_result": True, "invalid_reason": " "}, "ABSTAIN", None, "the result is invalid"),
])  # fmt: skip
def test_what_a_result_of_others_means(fields: dict[str, Any], status: str, score: float | None, reason: str):
    (entry,) = Report.from_results([EvaluationResult(query="q", response="a", **fields)]).entries
    assert (entry.judgment.status, entry.judgment.score, entry.judgment.reasoning) == (status, score, reason)


def test_a_result_without_texts_has_no_case():
    (entry,) = Report.from_results([EvaluationResult(passing=True)]).entries
    assert entry.case is None


def test_verdicts_pairs_and_results_in_one_list():
    case = Case(question="q", answer="a")
    report = Report.from_results(
        [Judgment("PASS"), (case, Judgment("FAIL")), EvaluationResult(response="x", passing=True)]
    )
    assert statuses(report) == ["PASS", "FAIL", "PASS"]


def test_evaluators_with_different_numbers_of_results_are_refused():
    one = EvaluationResult(passing=True)
    with pytest.raises(ConfigurationError, match="'a' has 2, 'b' has 1"):
        Report.from_results({"a": [one, one], "b": [one]})
    with pytest.raises(ConfigurationError, match="results of 'a' are EvaluationResults, not str"):
        Report.from_results({"a": ["PASS"]})
    with pytest.raises(ConfigurationError, match="LangSmith experiment; not str"):
        Report.from_results(["PASS"])
    with pytest.raises(ConfigurationError, match="nothing to report"):
        Report.from_results({})


def test_an_evaluator_that_breaks_is_an_error_of_its_criterion():
    def down(case: Case) -> bool:
        raise ConnectionError("down")

    report = Report.from_results(batch(dates=JuryEvaluator(dated), down=JuryEvaluator(down)))
    assert statuses(report) == ["ERROR", "FAIL", "FAIL"]
    assert isinstance(report.entries[0].judgment, Verdict)
    assert "down" in report.entries[0].judgment.error


@pytest.mark.slow
def test_a_report_of_results_needs_no_llama_index():
    code = """
import sys
from types import SimpleNamespace
from jury_adapters.report import Report
result = SimpleNamespace(query="q", response="a", contexts=None, passing=True, score=1.0, feedback="good",
                         invalid_result=False, invalid_reason=None)
print([entry.judgment.status.value for entry in Report.from_results({"e": [result]}).entries])
print([name for name in sys.modules if name.startswith("llama_index")])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["['PASS']", "[]"]
