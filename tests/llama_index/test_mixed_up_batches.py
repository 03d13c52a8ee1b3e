"""Batches of several evaluators whose results are not about the same items in the same order."""

import pytest
from llama_index.core import MockEmbedding
from llama_index.core.evaluation import (
    AnswerRelevancyEvaluator,
    BaseEvaluator,
    BatchEvalRunner,
    ContextRelevancyEvaluator,
    CorrectnessEvaluator,
    EvaluationResult,
    FaithfulnessEvaluator,
    GuidelineEvaluator,
    PairwiseComparisonEvaluator,
    RelevancyEvaluator,
    SemanticSimilarityEvaluator,
)
from support.canned import CannedLLM

from jury_adapters import ConfigurationError, Report
from jury_adapters.llama_index import JuryEvaluator, JuryPairwiseEvaluator

pytestmark = pytest.mark.filterwarnings("ignore:asyncio_module:DeprecationWarning")

QUESTIONS = ["What does it cost?", "When does it close?", "Who runs it?"]
ANSWERS = ["Nine euros.", "At six.", "The town."]


def judged(name: str, order=(0, 1, 2), *, evaluator: BaseEvaluator | None = None, answers=ANSWERS, ids=None):
    extra = {} if ids is None else {"id": [ids[at] for at in order]}
    return BatchEvalRunner(
        {name: evaluator or JuryEvaluator(lambda case: "six" in case.answer)}
    ).evaluate_response_strs([QUESTIONS[at] for at in order], [answers[at] for at in order], **extra)


def test_items_in_another_order_are_refused_by_their_ids():
    ids = ["price", "hours", "owner"]
    with pytest.raises(ConfigurationError, match=r"result 2 of 'two' has the id 'owner', and of 'one' 'hours'"):
        Report.from_results(judged("one", ids=ids) | judged("two", (0, 2, 1), ids=ids))


def test_ids_decide_also_where_the_texts_are_equal():
    one, two = (
        BatchEvalRunner({name: JuryEvaluator(lambda case: True)}).evaluate_response_strs(["Q?"], ["A."], id=[name])
        for name in ("one", "two")
    )
    with pytest.raises(ConfigurationError, match=r"result 1 of 'two' has the id 'two', and of 'one' 'one'"):
        Report.from_results(one | two)


def test_items_in_another_order_are_refused_by_their_questions():
    with pytest.raises(ConfigurationError, match=r"the queries of result 1 of 'one' and of 'two' differ") as raised:
        Report.from_results(judged("one") | judged("two", (2, 1, 0)))
    assert "one result per item, in the same order" in str(raised.value)
    assert "cost" not in str(raised.value)


@pytest.mark.parametrize("theirs", [False, True], ids=["ours", "LlamaIndex's"])
def test_the_answers_of_two_engines_are_refused(theirs):
    other = AnswerRelevancyEvaluator(llm=CannedLLM(script=["Feedback: so\n[RESULT] 2"])) if theirs else None
    with pytest.raises(ConfigurationError, match=r"the responses of result 2 of 'one' and of 'two' differ"):
        Report.from_results(
            judged("one") | judged("two", evaluator=other, answers=["Nine euros.", "At five.", "The town."])
        )


def test_every_evaluator_of_llama_index_agrees_with_ours_about_the_items():
    yes = CannedLLM(script=["YES\nFeedback: so\n[RESULT] 2"])
    guideline = CannedLLM(script=['{"passing": true, "feedback": "so"}'])
    evaluators = {
        "better": PairwiseComparisonEvaluator(llm=CannedLLM(script=["[[A]]"])),
        "unread": PairwiseComparisonEvaluator(llm=CannedLLM(script=["[[C]]", "Hm."]), enforce_consensus=True),
        "faithful": FaithfulnessEvaluator(llm=yes),
        "relevant": RelevancyEvaluator(llm=yes),
        "addressed": AnswerRelevancyEvaluator(llm=yes),
        "passages": ContextRelevancyEvaluator(llm=yes),
        "right": CorrectnessEvaluator(llm=CannedLLM(script=["4.0\nso"])),
        "kept": GuidelineEvaluator(llm=guideline),
        "similar": SemanticSimilarityEvaluator(embed_model=MockEmbedding(embed_dim=4)),
        "ours": JuryEvaluator(lambda case: bool(case.answer)),
        "ours better": JuryPairwiseEvaluator(jury=lambda case: "tie"),
    }
    results = BatchEvalRunner(evaluators).evaluate_response_strs(
        QUESTIONS, ANSWERS, contexts_list=[["It is a pool."]] * 3, reference=ANSWERS, second_response=["No idea."] * 3
    )
    report = Report.from_results(results)
    assert [(entry.case.question, entry.case.answer) for entry in report.entries] == list(
        zip(QUESTIONS, ANSWERS, strict=True)
    )


def test_an_item_that_cannot_be_judged_contradicts_nothing():
    broken = judged("ours", answers=["Nine euros.", object(), "The town."])
    assert broken["ours"][1].invalid_result
    theirs = [EvaluationResult(query=q, response=a, passing=True) for q, a in zip(QUESTIONS, ANSWERS, strict=True)]
    report = Report.from_results(broken | {"theirs": theirs})
    assert report.entries[1].case.question == QUESTIONS[1]


def test_spaces_make_no_difference():
    theirs = [EvaluationResult(response=f"{answer} \n", passing=True) for answer in ANSWERS]
    assert len(Report.from_results(judged("ours") | {"theirs": theirs}).entries) == 3
