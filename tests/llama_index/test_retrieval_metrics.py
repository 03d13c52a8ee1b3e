"""JuryRetrievalMetric in LlamaIndex's own RetrieverEvaluator."""

import math

import pytest
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.evaluation import RetrieverEvaluator
from llama_index.core.evaluation.retrieval.metrics import MRR, AveragePrecision, HitRate, Precision, Recall
from llama_index.core.schema import NodeWithScore, TextNode

from jury_adapters import Case, ConfigurationError, Critic, Ensemble, PairwiseCritic, Report, abstain, judge
from jury_adapters.checks import NamesAndNumbers, NotEmpty, RetrievalMeasure
from jury_adapters.llama_index import JuryRetrievalMetric
from jury_adapters.retrieval import EachPassage
from jury_adapters.testing import ScriptedModel

NODES = {"a": "The bridge is red.", "b": "It opened in 1998.", "c": "Tickets cost 12 euros."}


class Fixed(BaseRetriever):
    def _retrieve(self, query_bundle):
        return [NodeWithScore(node=TextNode(id_=name, text=text), score=1.0) for name, text in NODES.items()]


def evaluated(*metrics, expected=("b", "z")):
    found = RetrieverEvaluator(metrics=list(metrics), retriever=Fixed())
    return found.evaluate("When did it open?", list(expected)).metric_dict


@pytest.mark.parametrize(
    ("measure", "theirs"),
    [("hit_rate", HitRate), ("precision", Precision), ("recall", Recall), ("reciprocal_rank", MRR),
     ("average_precision", AveragePrecision)],
)  # fmt: skip
@pytest.mark.parametrize("expected", [("b",), ("a", "c"), ("b", "z"), ("z",), ("c", "b", "a")])
def test_the_measures_are_those_of_llama_index(measure, theirs, expected):
    found = evaluated(JuryRetrievalMetric(RetrievalMeasure(measure)), theirs(), expected=expected)
    assert found[measure].score == pytest.approx(found[theirs.metric_name].score)


def test_judges_see_the_query_and_the_passages_and_have_names_of_their_own():
    seen = []

    @judge
    def dated(case):
        seen.append((case.question, case.contexts))
        return "1998" in case.contexts[0]

    metrics = [JuryRetrievalMetric(EachPassage(dated), name="order"), JuryRetrievalMetric(dated)]
    found = evaluated(*metrics)
    assert set(found) == {"order", "dated"}
    assert found["order"].score == 0.5
    assert found["dated"].score == 0.0
    assert found["order"].metadata["status"] == "PASS"
    assert "1 of 3 passages are relevant" in found["order"].metadata["reasoning"]
    assert seen[-1] == ("When did it open?", tuple(NODES.values()))


@pytest.mark.parametrize(
    ("judge_of_answers", "missing"),
    [
        (Critic(ScriptedModel("Answer: YES"), "faithfulness"), "answer"),
        (PairwiseCritic(judge(lambda case: True)), "candidates"),
        (Ensemble([NotEmpty(), NamesAndNumbers()]), "answer"),
    ],
)
def test_a_judge_that_can_judge_no_retrieval_is_refused(judge_of_answers, missing):
    with pytest.raises(ConfigurationError, match=f"needs {missing}, which a retrieval does not have"):
        JuryRetrievalMetric(judge_of_answers)
    assert (
        JuryRetrievalMetric(Critic(ScriptedModel("Answer: YES"), "context_relevance"))
        .compute("When?", retrieved_texts=["It opened in 1998."])
        .score
        == 1.0
    )


def test_without_an_opinion_the_score_is_not_a_number():
    found = evaluated(JuryRetrievalMetric(judge(lambda case: abstain("unclear"), name="unsure")))
    assert math.isnan(found["unsure"].score)
    assert (found["unsure"].metadata["status"], found["unsure"].metadata["reasoning"]) == ("ABSTAIN", "unclear")


def test_a_store_keeps_the_judgments(tmp_path):
    asked = []

    class Counting(RetrievalMeasure):
        def assess(self, case):
            asked.append(case)
            return super().assess(case)

    metric = JuryRetrievalMetric(Counting(), store=tmp_path / "runs.db")
    assert evaluated(metric)["recall"].score == evaluated(metric)["recall"].score == 0.5
    assert asked


def test_a_wrong_judge_is_refused_at_once():
    with pytest.raises(ConfigurationError):
        JuryRetrievalMetric("recall")


@pytest.mark.parametrize("nameless", [lambda case: True, Ensemble([lambda case: True])])
@pytest.mark.parametrize("name", ["", " "])
def test_a_metric_without_a_name_is_refused_because_another_would_replace_it(nameless, name):
    with pytest.raises(ConfigurationError, match=r"name|give name="):
        JuryRetrievalMetric(nameless, name=name)
    named = [JuryRetrievalMetric(lambda case: True, name="yes"), JuryRetrievalMetric(lambda case: False, name="no")]
    assert {name: result.score for name, result in evaluated(*named).items()} == {"yes": 1.0, "no": 0.0}


@pytest.mark.parametrize("kept_as", ["a list", "a dictionary"])
def test_a_report_says_how_to_judge_results_of_a_retriever(kept_as):
    found = RetrieverEvaluator(metrics=[JuryRetrievalMetric(RetrievalMeasure("recall"))], retriever=Fixed()).evaluate(
        "When did it open?", ["b", "z"]
    )
    results = [found] if kept_as == "a list" else {"recall": [found]}
    with pytest.raises(ConfigurationError, match=r"not RetrievalEvalResult.*Case\(question=one.query") as raised:
        Report.from_results(results)
    (said,) = [part for part in str(raised.value).split(": ") if part.startswith("Case(")]
    case = eval(said, {"Case": Case, "one": found})
    assert RetrievalMeasure("recall").judge(case).score == found.metric_dict["recall"].score
