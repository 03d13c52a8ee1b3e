"""The evaluators themselves: who judges, and what comes back."""

import asyncio
import copy
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from llama_index.core import Settings
from llama_index.core.evaluation import ContextRelevancyEvaluator, CorrectnessEvaluator
from llama_index.core.llms import MockLLM
from llama_index.core.schema import Node, NodeWithScore, QueryBundle, TextNode
from support.canned import an_index, canned, said, three_words
from support.counted_calls import calls_of

import jury_adapters
from jury_adapters import (
    Budget,
    Case,
    ConfigurationError,
    Critic,
    Ensemble,
    Judgment,
    PairwiseCritic,
    Scorecard,
    Step,
    Verdict,
    abstain,
)
from jury_adapters.llama_index import (
    JuryAnswerRelevancyEvaluator,
    JuryContextRelevancyEvaluator,
    JuryCorrectnessEvaluator,
    JuryEvaluationResult,
    JuryEvaluator,
    JuryFaithfulnessEvaluator,
    JuryGuidelineEvaluator,
    JuryHallucinationEvaluator,
    JuryPairwiseEvaluator,
    JuryRelevancyEvaluator,
)
from jury_adapters.testing import ScriptedModel

ANN = "Ann left in 2018."
ITEM: dict[str, Any] = {"query": "When did Ann leave?", "response": ANN, "contexts": [ANN]}
PLAIN = (
    JuryFaithfulnessEvaluator,
    JuryRelevancyEvaluator,
    JuryAnswerRelevancyEvaluator,
    partial(JuryContextRelevancyEvaluator, graded=False),
    partial(JuryCorrectnessEvaluator, graded=False),
)


@pytest.fixture(autouse=True)
def no_settings() -> Iterator[None]:
    Settings._llm = None
    yield
    Settings._llm = None


@pytest.mark.parametrize("kind", PLAIN)
def test_ready_made_evaluators(kind: Any) -> None:
    for answer, passing in (("YES", True), ("NO", False)):
        result = kind(llm=canned(said(answer, "for a reason"))).evaluate(**ITEM)
        assert (result.passing, result.score, result.invalid_result) == (passing, float(passing), False)
        assert result.feedback == "for a reason"
    unsure = kind(llm=canned(said("UNSURE", "hard to tell"))).evaluate(**ITEM)
    assert (unsure.passing, unsure.score, unsure.invalid_result) == (None, None, True)
    assert "hard to tell" in (unsure.invalid_reason or "")


def test_hallucination_judges_claim_by_claim() -> None:
    reply = (
        '{"reasoning": "r", "claims": [{"claim": "Ann left in 2019", "evidence": "Ann left in 2018.", '
        '"verdict": "contradicted"}], "answer": "hallucinated", "confidence": 0.9}'
    )
    result = JuryHallucinationEvaluator(llm=canned(reply)).evaluate(**ITEM)
    assert result.passing is False
    assert result.verdict is not None
    assert result.verdict.findings[0].evidence == "Ann left in 2018."


def test_relevancy_needs_query_contexts_and_response() -> None:
    llm = canned(said("YES"))
    relevancy = JuryRelevancyEvaluator(llm)
    for missing in ITEM:
        assert relevancy.evaluate(**{**ITEM, missing: None}).invalid_result is True
    assert llm.prompts == []
    assert relevancy.evaluate(**ITEM).passing is True


@pytest.mark.parametrize(
    ("reply", "score", "passing"), [("1", 0.0, False), ("3.5", 0.625, False), ("4", 0.75, True), ("5", 1.0, True)]
)
def test_correctness_is_rated_from_1_to_5_as_in_llama_index(reply: str, score: float, passing: bool) -> None:
    for more in ({}, {"reference": "In 2018."}):
        for options in ({}, {"reference_required": True}) if more else ({},):
            result = JuryCorrectnessEvaluator(llm=canned(said(reply)), **options).evaluate(**ITEM, **more)
            assert (result.score, result.passing) == (score, passing)
    theirs = CorrectnessEvaluator(llm=canned(f"{reply}\nbecause"))
    assert asyncio.run(theirs.aevaluate(**ITEM)).passing is passing
    lenient = JuryCorrectnessEvaluator(llm=canned(said(reply)), score_threshold=3.5)
    assert lenient.evaluate(**ITEM).passing is (float(reply) >= 3.5)


@pytest.mark.parametrize(
    ("reply", "score", "passing"), [("0", 0.0, False), ("2.5", 0.625, False), ("3", 0.75, True), ("4", 1.0, True)]
)
def test_context_relevance_is_rated_with_four_points_as_in_llama_index(reply: str, score: float, passing: bool) -> None:
    result = JuryContextRelevancyEvaluator(llm=canned(said(reply))).evaluate(**ITEM)
    assert (result.score, result.passing) == (score, passing)
    theirs = ContextRelevancyEvaluator(llm=canned(f"fine [RESULT] {reply}"))
    assert asyncio.run(theirs.aevaluate(**ITEM)).score == score


def test_a_reference_is_shown_to_the_model_that_rates() -> None:
    llm = canned(said("5"))
    JuryCorrectnessEvaluator(llm=llm).evaluate(**ITEM, reference="in 2018, I think")
    assert "in 2018, I think" in llm.prompts[0]


READY = [
    JuryFaithfulnessEvaluator, JuryRelevancyEvaluator, JuryAnswerRelevancyEvaluator, JuryContextRelevancyEvaluator,
    JuryCorrectnessEvaluator, JuryPairwiseEvaluator, partial(JuryGuidelineEvaluator, guidelines="Be kind."),
]  # fmt: skip
OF_LLAMA_INDEX: dict[str, tuple[object, str]] = {
    "eval_template": ("{query_str}?", r"update_prompts\(\)"), "refine_template": ("{query_str}?", "leave it out"),
    "score_template": ("{query_str}?", r"update_prompts\(\)"),
    "parser_function": (lambda text: (1.0, text), "parse="), "output_parser": (object(), "parse="),
    "raise_error": (True, "invalid_result"), "service_context": (object(), "llm="),
    "enforce_consensus": (True, "swap="), "multi_modal_llm": (object(), "llm="),
}  # fmt: skip


@pytest.mark.parametrize("kind", READY)
@pytest.mark.parametrize("name", OF_LLAMA_INDEX)
def test_an_argument_of_llama_indexs_own_evaluators_is_refused_with_its_replacement(kind: Any, name: str) -> None:
    value, replacement = OF_LLAMA_INDEX[name]
    with pytest.raises(ConfigurationError, match=f"takes no {name}=; .*{replacement}"):
        kind(llm=canned(said("YES")), **{name: value})


@pytest.mark.parametrize("judge", [{"llm": canned(said("YES"))}, {"jury": lambda case: True}])
@pytest.mark.parametrize("kind", READY[:-1])
def test_the_question_of_a_critic_is_refused_with_its_place_and_is_not_listed(kind: Any, judge: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match=r"takes no prompt=; .*llm=Critic\(\.\.\., prompt=\.\.\.\)"):
        kind(**judge, prompt="YES or NO?\n{answer}")
    with pytest.raises(ConfigurationError, match=r"takes no rubric=; .*llm=Critic\(\.\.\., Rubric\(\.\.\.\)\)"):
        kind(**judge, rubric="faithfulness")
    with pytest.raises(ConfigurationError, match="Did you mean 'voting'") as caught:
        kind(**judge, votin="unanimous")
    assert not {" prompt", " rubric"} & {*str(caught.value).replace(".", ",").split(",")}


@pytest.mark.parametrize("kind", READY[:-1])
def test_guidelines_lead_to_the_evaluator_that_takes_them(kind: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"takes no guidelines=; JuryGuidelineEvaluator\(guidelines=\.\.\.\)"):
        kind(llm=canned(said("YES")), guidelines="Be kind.")


@pytest.mark.parametrize("judge", [{"llm": canned(said("YES"))}, {"jury": lambda case: True}])
@pytest.mark.parametrize("kind", READY[:-1])
def test_an_unknown_argument_is_refused_by_the_name_of_the_evaluator(kind: Any, judge: dict[str, Any]) -> None:
    with pytest.raises(
        ConfigurationError, match=f"^{kind.__name__}: unknown argument 'treshold'. Did you mean 'threshold'"
    ):
        kind(**judge, treshold=0.5)


def test_a_parser_of_replies_is_an_option_of_the_critic() -> None:
    critic = Critic(canned("[RESULT] 1"), name="kind", prompt="Kind?\n{answer}", parse=lambda text: "1" in text)
    assert JuryFaithfulnessEvaluator(llm=critic).evaluate(**ITEM).passing is True


@pytest.mark.parametrize("kind", READY)
def test_an_argument_that_asks_for_nothing_is_accepted(kind: Any) -> None:
    nothing = {"eval_template": None, "refine_template": None, "raise_error": False, "service_context": None}
    assert kind(llm=canned(said("YES")), **nothing).jury.name


def test_a_score_threshold_is_a_rating_for_correctness_and_refused_elsewhere() -> None:
    with pytest.raises(ConfigurationError, match="threshold= is the lowest score that passes"):
        JuryContextRelevancyEvaluator(llm=canned("4"), score_threshold=4.0)
    for options, said_of_it in (
        ({"score_threshold": 7}, "from 1 to 5"),
        ({"score_threshold": 4, "graded": False}, "ratings"),
        ({"score_threshold": 4, "threshold": 0.8}, "score_threshold=, a rating from 1 to 5, or threshold=.*not both"),
    ):
        with pytest.raises(ConfigurationError, match=said_of_it):
            JuryCorrectnessEvaluator(llm=canned("4"), **options)


def test_correctness_with_and_without_reference() -> None:
    llm = canned(said("5"))
    either, strict = JuryCorrectnessEvaluator(llm), JuryCorrectnessEvaluator(llm, reference_required=True)
    assert either.evaluate(**ITEM, reference="in 2018, I think").passing is True
    assert "in 2018, I think" in llm.prompts[0]
    assert either.evaluate(**ITEM).passing is True
    assert strict.evaluate(**ITEM).invalid_result is True


def test_guidelines() -> None:
    llm = canned(said("YES"))
    assert JuryGuidelineEvaluator(llm, "Name the source.").evaluate(**ITEM).passing is True
    assert "Name the source." in llm.prompts[0]
    JuryGuidelineEvaluator(llm=llm, guidelines=["Be brief.", "Be kind."]).evaluate(**ITEM)
    assert "- Be brief.\n- Be kind." in llm.prompts[1]
    for wrong in ("", [], 5):
        with pytest.raises(ConfigurationError, match="guidelines"):
            JuryGuidelineEvaluator(llm=llm, guidelines=wrong)
    with pytest.raises(ConfigurationError, match="not both"):
        JuryGuidelineEvaluator(guidelines="Be kind.", jury=Ensemble([lambda case: True]))
    assert JuryGuidelineEvaluator(jury=Ensemble([lambda case: True])).evaluate(**ITEM).passing is True


@pytest.mark.parametrize(
    ("first", "second", "score", "source"),
    [("A", "B", 1.0, "original"), ("B", "A", 0.0, "original"), ("tie", "tie", 0.5, "original"),
     ("A", "A", 0.5, "neither"), ("tie", "B", 0.5, "neither")],
)  # fmt: skip
def test_pairwise(first: str, second: str, score: float, source: str) -> None:
    def model(prompt: Any) -> str:
        text = prompt.turns[-1].text
        return said(first if text.index("Alpha.") < text.index("Omega.") else second)

    pair = {"query": "q", "response": "Alpha.", "second_response": "Omega."}
    evaluator = JuryPairwiseEvaluator(llm=ScriptedModel(model))
    result = evaluator.evaluate(**pair)
    assert (result.score, result.passing, result.pairwise_source) == (score, {1.0: True, 0.0: False}.get(score), source)
    assert result.invalid_result is False
    assert asyncio.run(evaluator.aevaluate(**pair)).score == score
    panel = JuryPairwiseEvaluator(llms=[ScriptedModel(model, model=name) for name in "abc"])
    assert (panel.evaluate(**pair).score, panel.evaluate(**pair).pairwise_source) == (score, source)
    ready = JuryPairwiseEvaluator(llm=Critic(ScriptedModel(model), "pairwise", name="c"), swap=False)
    assert (ready.evaluate(**pair).score, ready.evaluate(**pair).pairwise_source) == (
        {"A": 1.0, "B": 0.0, "tie": 0.5}[first],
        "original",
    )


def test_pairwise_without_an_opinion_or_a_second_response() -> None:
    half = JuryPairwiseEvaluator(llm=ScriptedModel([said("A"), "nonsense"]))
    broken = half.evaluate(query="q", response="a", second_response="b")
    assert (broken.passing, broken.score, broken.invalid_result) == (None, None, True)
    alone = JuryPairwiseEvaluator(llm=ScriptedModel([said("A")])).evaluate(query="q", response="a")
    assert "give second_response=" in (alone.invalid_reason or "")


def test_pairwise_panels_that_do_not_agree() -> None:
    def always(better: str) -> PairwiseCritic:
        def pick(case: Case) -> Judgment:
            return Judgment(None, label="A" if case.candidates[0] == better else "B", reasoning="r")

        return PairwiseCritic(JuryEvaluator(pick).jury)

    split = JuryPairwiseEvaluator(jury=Ensemble([always("a"), always("b")], on="label"))
    result = split.evaluate(query="q", response="a", second_response="b")
    assert (result.score, result.passing, result.pairwise_source) == (0.5, None, "neither")
    won = JuryPairwiseEvaluator(jury=Ensemble([always("b"), always("b"), always("a")], on="label"))
    result = won.evaluate(query="q", response="a", second_response="b")
    assert (result.score, result.pairwise_source) == (0.0, "original")
    only_flipped = JuryEvaluator(lambda case: Judgment(None, label="A", metadata={"shown_order": ["B", "A"]}))
    assert only_flipped.evaluate(query="q", response="a", second_response="b").pairwise_source == "flipped"


def test_a_panel_votes_and_is_told_apart_by_model() -> None:
    models = [ScriptedModel([said(word)], model=name) for name, word in (("one", "YES"), ("two", "NO"), ("six", "YES"))]
    result = JuryFaithfulnessEvaluator(llms=models).evaluate(**ITEM)
    assert isinstance(result.verdict, Verdict)
    assert list(result.verdict.by_name) == ["faithfulness one", "faithfulness two", "faithfulness six"]
    assert (result.passing, result.agreement) == (True, pytest.approx(1 / 3))
    assert [juror.passed for juror in result.jurors] == [True, False, True]
    strict = JuryFaithfulnessEvaluator(llms=models, voting="unanimous", schedule="sequential")
    assert strict.evaluate(**ITEM).passing is False
    named = JuryCorrectnessEvaluator(llms=models)
    assert [juror.critic for juror in named.evaluate(**ITEM).jurors] == [f"correctness {m.model}" for m in models]
    mixed = JuryFaithfulnessEvaluator(llms=[Critic(models[0], "faithfulness", name="mine"), models[2]])
    assert [juror.critic for juror in mixed.evaluate(**ITEM).jurors] == ["mine", "faithfulness six"]


def test_a_panel_of_broken_jurors_is_no_verdict_and_errors_says_what_one_of_them_counts_as() -> None:
    def panel(*lines: str | Exception, **options: Any) -> JuryEvaluationResult:
        models = [ScriptedModel([line], model=f"m{number}") for number, line in enumerate(lines)]
        return JuryFaithfulnessEvaluator(llms=models, **options).evaluate(**ITEM)

    down = ValueError("the line is down")
    for voting in ("majority", "unanimous", "average", "median", "weighted", "first_disagreement"):
        assert panel(down, said("YES"), down, voting=voting, errors="ignore").passing is True
        assert not panel(down, said("YES"), down, voting=voting).passing
        dead = panel(down, down, down, voting=voting)
        assert (dead.passing, dead.score, dead.invalid_result) == (None, None, True)
        assert "the line is down" in (dead.invalid_reason or "")
        outage = panel(down, said("YES"), down, voting="unanimous")
        assert (outage.passing, outage.score, outage.invalid_result) == (False, None, True)
        assert "the line is down" in (outage.invalid_reason or "")
    closed = JuryEvaluator(Ensemble([lambda case: 1 / 0, lambda case: 1 / 0])).evaluate(**ITEM)
    assert closed.verdict is not None
    assert closed.verdict.passed is False
    assert (closed.passing, closed.score, closed.invalid_result) == (None, None, True)
    assert "ZeroDivisionError" in (closed.invalid_reason or "")


def test_the_feedback_names_what_the_jurors_found() -> None:
    reasons = [(False, "wrong year"), (False, "no source"), (True, "fine")]
    jury = Ensemble([lambda case, said=said: said for said in reasons])
    feedback = JuryEvaluator(jury).evaluate(**ITEM).feedback or ""
    assert "2 of 3 voted FAIL" in feedback
    assert "wrong year" in feedback
    assert "no source" in feedback
    assert "fine" not in feedback
    assert "Judge#3 voted PASS" in feedback
    outage = Ensemble([lambda case: (True, "fine"), lambda case: 1 / 0, lambda case: 1 / 0])
    feedback = JuryEvaluator(outage).evaluate(**ITEM).feedback or ""
    assert "2 jurors could not judge: Judge#2 (ZeroDivisionError: division by zero), Judge#3" in feedback
    assert "fine" not in feedback


def test_defaults_without_a_model() -> None:
    for kind in (JuryFaithfulnessEvaluator, JuryHallucinationEvaluator):
        assert kind().evaluate(**ITEM).passing is True
        invented = kind().evaluate(**{**ITEM, "response": "Ann left in 2019."})
        assert (invented.passing, invented.invalid_result, invented.cost_usd) == (False, False, 0.0)
        open_question = kind().evaluate(**{**ITEM, "response": "Ann quit her job."})
        assert (open_question.passing, open_question.invalid_result) == (None, True)
    assert JuryContextRelevancyEvaluator().evaluate(**ITEM).passing is True
    strict = JuryContextRelevancyEvaluator(threshold=1.0)
    assert strict.evaluate(query="Why did Bo stay?", contexts=["Ann left."]).passing is False
    for kind in (JuryRelevancyEvaluator, JuryAnswerRelevancyEvaluator, JuryCorrectnessEvaluator, JuryPairwiseEvaluator):
        with pytest.raises(ConfigurationError, match=r"give llm= .* or set Settings.llm"):
            kind()
    assert Settings._llm is None


def test_the_configured_llm_is_the_default_and_a_disabled_one_is_not() -> None:
    Settings.llm = llm = canned(said("NO"))
    assert JuryFaithfulnessEvaluator().evaluate(**ITEM).passing is False
    assert len(llm.prompts) == 1
    Settings._llm = MockLLM()  # what `Settings.llm = None` leaves there
    assert JuryFaithfulnessEvaluator().evaluate(**ITEM).passing is True
    with pytest.raises(ConfigurationError, match="real LLM"):
        JuryRelevancyEvaluator()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"llm": "gpt-4o"}, "which vendor"),
        ({"llm": ["openai:x"]}, "llms="),
        ({"llms": "openai:x"}, "llm="),
        ({"llm": ScriptedModel(["x"]), "llms": [ScriptedModel(["x"])]}, "llm and llms"),
        ({"llm": ScriptedModel(["x"]), "jury": Ensemble([lambda case: True])}, "llm and jury"),
        ({"jury": "faithful"}, "give a jury, another Judge"),
        ({"jury": Ensemble([lambda case: True]), "threshold": 0.5}, "threshold belongs to a model"),
        ({"llm": Critic(ScriptedModel(["x"]), "safety", name="c"), "samples": 3}, "samples belongs to a model"),
        ({"temperature": 0.5}, "temperature belongs to a model"),
        ({"llms": [ScriptedModel(["x"]), ScriptedModel(["x"])], "voting": "loudest"}, "loudest"),
    ],
)
def test_wrong_construction_says_what_to_do(arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        JuryFaithfulnessEvaluator(**arguments)


@pytest.mark.parametrize("jury", [None, "faithfulness", MockLLM(), Ensemble])
def test_only_judges_are_wrapped(jury: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"give a jury, another Judge|JuryEvaluator wraps a judge"):
        JuryEvaluator(jury)


def test_what_the_case_holds() -> None:
    seen: list[Case] = []
    loop: list[Any] = []
    loop.append(loop)

    def noting(case: Case) -> bool:
        seen.append(case)
        return True

    node = NodeWithScore(node=TextNode(text="grew", metadata={"year": "2025"}))
    result = JuryEvaluator(noting).evaluate(
        query=QueryBundle("q"), response="r", contexts=["plain", node, TextNode(text="bare")],
        reference="x", generator="gpt-4o", second_response="s", trajectory=(Step(tool="search"),),
        sleep_time_in_seconds=0, tags=["a"], nothing=None, endless=loop,
    )  # fmt: skip
    (case,) = seen
    assert case.question == result.query == "q"
    assert case.contexts == ("plain", "year: 2025\n\ngrew", "bare")
    assert (case.reference, case.generator, case.candidates) == ("x", "gpt-4o", ("r", "s"))
    assert case.trajectory[0].tool == "search"
    assert case.metadata["tags"] == ("a",)
    assert set(case.metadata) == {"tags", "endless"}


def test_missing_contexts_are_left_out_and_lists_of_texts_are_their_texts() -> None:
    seen: list[Case] = []
    given = ["a", None, float("nan"), ["b", "c"], TextNode(text="d")]
    JuryEvaluator(lambda case: seen.append(case) or True).evaluate(query="q", response="r", contexts=given)
    assert seen[0].contexts == ("a", "b", "c", "d")


@pytest.mark.parametrize("empty", [TextNode(text=" "), NodeWithScore(node=TextNode(text="")), Node()])
def test_an_empty_node_is_left_out_of_given_contexts_as_it_is_of_those_of_a_response(empty: Any) -> None:
    seen: list[Case] = []
    evaluator = JuryEvaluator(lambda case: seen.append(case) or True)
    assert evaluator.evaluate("q", "r", [empty, TextNode(text="d")]).passing
    assert evaluator.evaluate("q", "r", [empty]).passing
    assert [case.contexts for case in seen] == [("d",), ()]


def test_evaluate_response_takes_the_given_contexts_before_those_of_the_response() -> None:
    response = an_index().as_query_engine(llm=three_words()).query("q")
    echo = JuryEvaluator(lambda case: (True, " ".join(case.contexts)))
    assert echo.evaluate_response("q", response, contexts=["mine"]).feedback == "mine"
    assert "2025" in (asyncio.run(echo.aevaluate_response("q", response, contexts=None)).feedback or "")


@pytest.mark.parametrize("response", [object(), lambda: "r", iter("r")])
def test_nothing_is_raised_for_an_item(response: Any) -> None:
    evaluator = JuryEvaluator(lambda case: True)
    for result in (
        evaluator.evaluate("q", response),
        asyncio.run(evaluator.aevaluate("q", response)),
        evaluator.evaluate_response("q", response),
        asyncio.run(evaluator.aevaluate_response("q", response)),
        evaluator.evaluate(response, "r"),
        evaluator.evaluate("q", "r", response),
        JuryEvaluator(lambda case: 1 / 0).evaluate("q", "r"),
        JuryEvaluator(lambda case: Judgment(None, label="KEEP")).evaluate("q", "r"),
    ):
        assert (result.passing, result.score, result.invalid_result) == (None, None, True)
        assert result.feedback
        assert result.invalid_reason


def test_waiting_first() -> None:
    evaluator = JuryEvaluator(lambda case: True)
    for wait in (lambda: evaluator.evaluate("q", "r", sleep_time_in_seconds=0.05),
                 lambda: asyncio.run(evaluator.aevaluate("q", "r", sleep_time_in_seconds=0.05))):  # fmt: skip
        started = time.perf_counter()
        assert wait().passing is True
        assert time.perf_counter() - started >= 0.05
    assert evaluator.evaluate("q", "r", sleep_time_in_seconds="soon").passing is True


def test_the_verdict_survives_dumping_and_copying() -> None:
    result = JuryEvaluator(Ensemble([lambda case: (True, "yes"), lambda case: False])).evaluate(**ITEM)
    dumped = result.model_dump()
    assert dumped["verdict"]["kind"] == "verdict"
    assert dumped["cost_usd"] == 0.0
    for again in (
        JuryEvaluationResult.model_validate(dumped),
        JuryEvaluationResult.model_validate_json(result.model_dump_json()),
        result.model_copy(),
        result.model_copy(deep=True),
        copy.deepcopy(result),
    ):
        assert again == result
        assert isinstance(again.verdict, Verdict)
    assert "verdict" in JuryEvaluationResult.model_json_schema()["properties"]
    assert JuryEvaluationResult(query="q").jurors == ()
    with pytest.raises(ValueError, match="expected a judgment"):
        JuryEvaluationResult(verdict=5)


def test_an_unknown_price_is_no_price() -> None:
    assert JuryFaithfulnessEvaluator(llm=canned(said("YES"))).evaluate(**ITEM).cost_usd is None


def test_our_own_overhead_is_small_and_does_not_grow() -> None:
    evaluator = JuryEvaluator(lambda case: True)

    async def many(count: int) -> None:
        for _ in range(count):
            await evaluator.aevaluate(**ITEM)

    asyncio.run(many(20))
    first, later = (calls_of(lambda: asyncio.run(many(20)), Path(jury_adapters.__file__).parent) for _ in range(2))
    assert later < 1.1 * first  # but for what the garbage collector calls
    assert later / 20 < 400  # some 210 today, which take 40 us


def test_importing_the_package_loads_no_framework() -> None:
    code = (
        "import sys, jury_adapters.llama_index as package\n"
        "assert not [m for m in sys.modules if m.startswith(('llama_index', 'openai', 'langchain'))]\n"
        "assert sorted(dir(package)) == sorted(package.__all__) == sorted(package._HOME_OF)\n"
        "try: package.nothing\n"
        "except AttributeError as error: assert 'nothing' in str(error)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_repr_names_the_jury() -> None:
    assert repr(JuryEvaluator(Ensemble([lambda case: True], name="panel"))) == "JuryEvaluator('panel')"


def test_results_are_equal_whatever_time_they_took() -> None:
    evaluator = JuryEvaluator(Ensemble([lambda case: True, lambda case: "Ann" in case.answer]))
    first, second = evaluator.evaluate(**ITEM), evaluator.evaluate(**ITEM)
    assert first.verdict is not None
    assert first == second
    assert first != evaluator.evaluate(**{**ITEM, "response": "Bo left."})


def test_an_evaluator_can_be_deep_copied_and_spends_from_the_same_budget(tmp_path: Any) -> None:
    budget = Budget(max_calls=2)
    critic = Critic(ScriptedModel([said("YES")]), "faithfulness", name="truth")
    evaluator = JuryEvaluator(critic, store=tmp_path / "runs.db", budget=budget)
    copied = copy.deepcopy({"jury": evaluator})["jury"]
    assert copied is not evaluator
    copied.update_prompts({"faithfulness_criteria": "ANOTHER"})
    assert evaluator.get_prompts() != copied.get_prompts()
    assert [one.evaluate(**ITEM).passing for one in (evaluator, copied)] == [True, True]
    assert budget.spent.calls == 2
    keyed = Critic("openai:gpt-4o-mini", "faithfulness", name="keyed", api_key="sk-secret")
    assert copy.deepcopy(JuryEvaluator(keyed)).jury is keyed


def test_an_item_that_cannot_be_judged_gets_a_verdict_of_the_jury():
    result = JuryEvaluator(Ensemble([lambda case: True])).evaluate(query="q", response="r", contexts=iter("x"))
    assert isinstance(result.verdict, Verdict)
    assert (result.verdict.status, result.invalid_result) == ("ERROR", True)


def test_a_card_has_no_score_if_a_criterion_could_not_say():
    card = Scorecard({"long": lambda case: False, "dated": lambda case: abstain("no date")})
    result = JuryEvaluator(card).evaluate(**ITEM)
    assert (result.passing, result.score, result.invalid_result) == (False, None, False)


@pytest.mark.parametrize("made", [JuryFaithfulnessEvaluator, JuryRelevancyEvaluator, JuryCorrectnessEvaluator])
def test_no_model_is_asked_about_an_empty_answer_and_none_passes_it(made: type[JuryEvaluator]) -> None:
    models = [ScriptedModel(["YES"]), ScriptedModel(["YES"])]
    found = made(llms=models).evaluate("When?", "", contexts=["In 2018."], reference="In 2018.")
    assert (found.passing, found.invalid_result) == (False, False)
    assert not any(model.calls for model in models)
    assert made(llms=models).evaluate("When?", None, contexts=["In 2018."], reference="In 2018.").invalid_result
