"""Preferences of LlamaIndex's own PairwiseComparisonEvaluator in reports."""

import pytest
from llama_index.core.evaluation import BatchEvalRunner, EvaluationResult, PairwiseComparisonEvaluator
from support.canned import CannedLLM

from jury_adapters import Report
from jury_adapters.llama_index import JuryEvaluator

pytestmark = pytest.mark.filterwarnings("ignore:asyncio_module:DeprecationWarning")

LONG, SHORT = "It was the year 2018, they say.", "2018."


def first_shown(prompt: str) -> str:
    return prompt.partition("[The Start of Assistant A")[2].partition("]\n")[2].partition("[The End")[0].strip()


def reads(winner: str):
    """Return the model that prefers the answer ``winner``, wherever it is shown."""
    return lambda prompt: f"I prefer [[{'A' if first_shown(prompt) == winner else 'B'}]]"


def undecided_at_first(prompt: str) -> str:
    return "[[C]]" if first_shown(prompt) == LONG else "I prefer [[B]]"


def compared(reply, *, consensus: bool = True, **others) -> dict[str, list[EvaluationResult]]:
    llm = CannedLLM(script=reply if callable(reply) else lambda prompt: reply)
    better = PairwiseComparisonEvaluator(llm=llm, enforce_consensus=consensus)
    return BatchEvalRunner({"better": better, **others}).evaluate_response_strs(
        ["When did it stop?"] * 2, [LONG, LONG], second_response=[SHORT, SHORT], reference=["2018", "2018"]
    )


@pytest.mark.parametrize(
    ("reply", "consensus", "label"),
    [
        (reads(LONG), True, "A"),
        (reads(SHORT), True, "B"),
        (reads(SHORT), False, "B"),
        (undecided_at_first, True, "A"),
        ("[[A]]", True, "tie"),
        ("[[C]]", True, "tie"),
        ("[[C]]", False, "tie"),
    ],
)
def test_the_criterion_shows_which_answer_is_better(reply, consensus, label):
    results = compared(reply, consensus=consensus, brief=JuryEvaluator(lambda case: len(case.answer) < 40))
    report = Report.from_results(results)
    assert {row["criterion:better"] for row in report.to_rows()} == {label}
    counts = report.figures.summary.by_criterion[("better",)]
    assert (counts.label_words, dict(counts.votes)) == (f"{label} 2", {label: 2})
    assert str(report.figures.summary) == "2 cases: 2 of 2 decided passed (100.0 %)"


@pytest.mark.parametrize("of", [lambda found: found, lambda found: found["better"]], ids=["by name", "a list"])
def test_alone_it_is_a_report_of_preferences(of):
    report = Report.from_results(of(compared(reads(SHORT))))
    assert str(report.figures.summary) == "2 cases: 2 B"
    assert report.entries[0].judgment.reasoning == "I prefer [[B]]"
    assert not report.figures.summary.usage.cost_complete
    assert "When did it stop?" in report.to_html()


def test_the_reply_of_the_model_is_not_the_answer_of_the_case():
    report = Report.from_results(compared(reads(LONG), brief=JuryEvaluator(lambda case: len(case.answer) < 40)))
    assert [entry.case.answer for entry in report.entries] == [LONG] * 2
    alone = Report.from_results(compared(reads(LONG)))
    assert [(entry.case.question, entry.case.answer) for entry in alone.entries] == [("When did it stop?", None)] * 2


def test_a_reply_that_cannot_be_read_neither_passes_nor_fails():
    llm = CannedLLM(script=["[[A]]", "[[B]]", "[[A]]", "Hm."])
    better, other = PairwiseComparisonEvaluator(llm=llm), JuryEvaluator(lambda case: True)
    results = {
        "better": [better.evaluate("Q?", LONG, second_response=SHORT) for _ in range(2)],
        "other": [other.evaluate("Q?", LONG) for _ in range(2)],
    }
    assert [one.invalid_result for one in results["better"]] == [False, True]
    report = Report.from_results(results)
    assert str(report.figures.summary) == "2 cases: 2 of 2 decided passed (100.0 %)"
    assert [row["criterion:better"] for row in report.to_rows()] == ["A", "ABSTAIN"]
    assert [entry.case.answer for entry in report.entries] == [LONG] * 2
    alone = Report.from_results(results["better"])
    assert [(entry.judgment.opinion, entry.case.answer) for entry in alone.entries] == [("A", None), (None, None)]


def test_a_preference_without_a_number_is_read_from_passing():
    made = [
        EvaluationResult(query="q", passing=passing, feedback="so", pairwise_source=source)
        for passing, source in [(True, "original"), (False, "original"), (True, "flipped"), (None, "original")]
    ]
    judgments = [entry.judgment for entry in Report.from_results(made).entries]
    assert [(one.status, one.label) for one in judgments] == [
        (None, "A"), (None, "B"), (None, "B"), ("ABSTAIN", None),
    ]  # fmt: skip
