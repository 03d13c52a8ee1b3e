"""Scores of LlamaIndex's own evaluators in reports: numbers of which the scale is known, and no others."""

import logging

import pytest
from llama_index.core import MockEmbedding
from llama_index.core.evaluation import (
    AnswerRelevancyEvaluator,
    BaseEvaluator,
    BatchEvalRunner,
    CorrectnessEvaluator,
    EvaluationResult,
    SemanticSimilarityEvaluator,
)
from support.canned import CannedLLM

from jury_adapters import Report
from jury_adapters.checks import NotEmpty
from jury_adapters.llama_index import JuryEvaluator, from_evaluator

pytestmark = pytest.mark.filterwarnings("ignore:asyncio_module:DeprecationWarning")

ANSWERS = ["excellent", "poor", "middling", "terrible"]
RATINGS = {"excellent": "5.0", "poor": "2.0", "middling": "4.0", "terrible": "1.0"}


def rated(prompt: str) -> str:
    generated = prompt.rpartition("## Generated Answer")[2]
    return next(f"{rating}\nIt is {word}." for word, rating in RATINGS.items() if word in generated)


def correctness() -> CorrectnessEvaluator:
    return CorrectnessEvaluator(llm=CannedLLM(script=rated))


def batch(*answers: str, **evaluators: BaseEvaluator) -> dict[str, list[EvaluationResult]]:
    return BatchEvalRunner(evaluators).evaluate_response_strs(
        ["How was it?"] * len(answers), list(answers), reference=["It was fine."] * len(answers)
    )


def scores(report: Report, name: str) -> list[object]:
    return [row.get(f"score:{name}") for row in report.to_rows()]


def test_no_rating_from_one_to_five_becomes_a_score():
    report = Report.from_results(batch(*ANSWERS, right=correctness(), given=JuryEvaluator(NotEmpty())))
    assert scores(report, "right") == [None] * 4
    criteria = [entry.judgment.by_name["right"] for entry in report.entries]
    assert [one.status for one in criteria] == ["PASS", "FAIL", "PASS", "FAIL"]
    assert [one.metadata["score"] for one in criteria] == [5.0, 2.0, 4.0, 1.0]
    assert criteria[3].reasoning == "It is terrible."


@pytest.mark.parametrize("of", [lambda results: results, lambda results: results["right"]], ids=["by name", "a list"])
def test_ratings_of_one_evaluator_alone(of, caplog):
    results = of(batch(*ANSWERS, right=correctness()))
    with caplog.at_level(logging.WARNING, "jury_adapters"):
        report = Report.from_results(results)
    assert [entry.judgment.score for entry in report.entries] == [None] * 4
    (line,) = caplog.messages
    assert "5.0 is outside 0 to 1" in line
    assert "scale=(worst, best)" in line


def test_the_worst_rating_alone_is_no_best_score():
    report = Report.from_results(batch("terrible", "terrible", right=correctness()))
    assert [(entry.judgment.status, entry.judgment.score) for entry in report.entries] == [("FAIL", None)] * 2


def test_ratings_are_converted_by_an_evaluator_of_the_package():
    report = Report.from_results(
        batch(*ANSWERS, right=JuryEvaluator(from_evaluator(correctness())), given=JuryEvaluator(NotEmpty()))
    )
    assert scores(report, "right") == [1.0, 0.25, 0.75, 0.0]


class Slanted(MockEmbedding):
    """Embeddings whose cosine with themselves is slightly more than 1."""

    def _get_vector(self) -> list[float]:
        return [0.1, 0.1, 0.3]

    async def _aget_text_embedding(self, text: str) -> list[float]:
        return [0.3, 0.1, 0.1] if text == "poor" else self._get_vector()


def test_a_similarity_of_identical_texts_is_a_score_of_one(caplog):
    similar = SemanticSimilarityEvaluator(embed_model=Slanted(embed_dim=3))
    results = batch("excellent", "poor", near=similar, given=JuryEvaluator(NotEmpty()))
    assert results["near"][0].score > 1
    report = Report.from_results(results)
    assert scores(report, "near") == [1.0, results["near"][1].score]
    assert not caplog.messages


@pytest.mark.parametrize("number", [3.0, -0.4])
def test_scores_beside_one_that_is_outside_count_nowhere(number):
    raw = [EvaluationResult(response=f"{score}", passing=True, score=score) for score in (0.25, number, 0.75)]
    report = Report.from_results(raw)
    assert [entry.judgment.score for entry in report.entries] == [None] * 3
    assert [entry.judgment.metadata["score"] for entry in report.entries] == [0.25, number, 0.75]
    assert [entry.judgment.passed for entry in report.entries] == [True] * 3


def test_without_passing_a_number_of_an_unknown_scale_decides_nothing():
    raw = [EvaluationResult(response=f"{score}", score=score) for score in (0.75, 10.0)]
    (first, second) = (entry.judgment for entry in Report.from_results(raw).entries)
    assert first.status == second.status == "ABSTAIN"
    assert first.reasoning == "the scale of the score 0.75 is unknown (10.0 is outside 0 to 1), and there is no passing"
    assert second.reasoning == "the score 10.0 is outside 0 to 1, and there is no passing"


def test_without_passing_a_score_from_one_half_passes():
    llm = CannedLLM(script=lambda prompt: f"Feedback: so so\n[RESULT] {1 if 'middling' in prompt else 0}")
    report = Report.from_results(batch("middling", "poor", relevant=AnswerRelevancyEvaluator(llm=llm)))
    assert [(entry.judgment.status, entry.judgment.score) for entry in report.entries] == [("PASS", 0.5), ("FAIL", 0.0)]


def test_an_evaluator_of_another_scale_does_not_touch_the_scores_of_others():
    mixed = {
        "rating": [EvaluationResult(response="a", passing=True, score=7.0)],
        "share": [EvaluationResult(response="a", passing=True, score=0.5)],
    }
    report = Report.from_results(mixed)
    assert (scores(report, "rating"), scores(report, "share")) == ([None], [0.5])
