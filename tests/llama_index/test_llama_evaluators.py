"""The evaluators in every place where LlamaIndex takes one, with planted faults, broken jurors and streams."""

import asyncio
import threading
import time

import pytest
from llama_index.core import Settings
from llama_index.core.agent.workflow import AgentOutput
from llama_index.core.base.llms.types import ChatMessage, ChatResponse
from llama_index.core.base.response.schema import PydanticResponse, Response, StreamingResponse
from llama_index.core.bridge.pydantic import BaseModel
from llama_index.core.chat_engine.types import StreamingAgentChatResponse
from llama_index.core.evaluation import BatchEvalRunner
from llama_index.core.evaluation.base import BaseEvaluator, EvaluationResult
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine, RetryGuidelineQueryEngine, RetryQueryEngine
from llama_index.core.tools.eval_query_engine import EvalQueryEngineTool
from llama_index.core.workflow import StopEvent
from llama_index_support import APPS, SEEN, Pages, context_chat, model, node, rag, simple_chat
from scripted import FAULTS, HONEST, PAGE, QUESTION, breaks, never_ends, reviewed

import jury_adapters.llama_index as face
from jury_adapters import (
    ConfigurationError,
    Critic,
    Ensemble,
    InputError,
    PairwiseCritic,
    default_case,
    judge,
)
from jury_adapters.llama_index import JuryEvaluationResult, JuryEvaluator, run_of
from jury_adapters.testing import ScriptedModel

EXPECTED = {"honest": True, **dict.fromkeys(FAULTS, False)}
YES = '{"reasoning": "it says so", "answer": "YES"}'
NO = '{"reasoning": "it does not", "answer": "NO"}'


def seen_by(jury=reviewed):
    """Return an evaluator, and the cases that its jury sees."""
    cases = []

    def asked(case):
        cases.append(case)
        return jury(case)

    return JuryEvaluator(asked), cases


@pytest.mark.parametrize("app", APPS)
def test_each_answer_is_evaluated_with_what_was_planted(app):
    """Without a handler only the response is known: what asked a model inside a tool is not."""
    make, ways, tools = APPS[app]
    ask = next(iter(ways.values()))
    blind = app in ("own", "agent in tool")
    for fault, answer in {"honest": HONEST, **FAULTS}.items():
        evaluator, cases = seen_by()
        result = evaluator.evaluate_response(query=QUESTION, response=ask(make(answer)))
        if not blind:
            assert (result.passing, result.score) == (EXPECTED[fault], float(EXPECTED[fault])), (fault, result)
            assert (cases[0].contexts, [step.tool for step in cases[0].steps if step.tool]) == ((SEEN,), tools)
        assert (result.query, cases[0].question, result.invalid_result) == (QUESTION, QUESTION, blind)
        assert cases[0].answer == answer or not answer


def test_texts_are_evaluated_with_their_contexts():
    for fault, answer in {"honest": HONEST, **FAULTS}.items():
        for contexts in ([PAGE], (node(page=7),), PAGE):
            result = JuryEvaluator(reviewed).evaluate(query=QUESTION, response=answer, contexts=contexts)
            assert (
                result.passing is EXPECTED[fault],
                isinstance(result, EvaluationResult),
                result.response,
                result.feedback != "",
            ) == (True, True, answer, True)
    assert (result.contexts, JuryEvaluator(reviewed).evaluate(QUESTION, HONEST, [node(page=7)]).contexts) == (
        [PAGE],
        [SEEN],
    )
    without = JuryEvaluator(reviewed).evaluate(QUESTION, HONEST)
    assert (without.passing, without.score, without.invalid_result, without.invalid_reason) == (
        None,
        None,
        True,
        "the case has no contexts",
    )


class Answer(BaseModel):
    answer: str
    contexts: list[str]


class Own(StopEvent):
    """End of a workflow with fields of its own."""

    summary: str
    verdict: str


def test_every_class_of_response_is_read():
    output = AgentOutput(response=ChatMessage(role="assistant", content=HONEST), current_agent_name="a")
    structured = AgentOutput(
        response=ChatMessage(role="assistant", content="Found."),
        structured_response={"year": 2018},
        current_agent_name="a",
    )
    told = Answer(answer=HONEST, contexts=["The ferry stopped in 2019."])
    for response, answer in (
        (Response(HONEST), HONEST),
        (HONEST, HONEST),
        (output, HONEST),
        (structured, '{"year":2018}'),
        (ChatResponse(message=ChatMessage(role="assistant", content=HONEST)), HONEST),
        (StopEvent(result=HONEST), HONEST),
        (StopEvent(result=Response(HONEST)), HONEST),
        (StopEvent(result={"answer": HONEST}), HONEST),
        (PydanticResponse(told), told.model_dump_json()),
    ):
        case = default_case(run_of(QUESTION, response))
        assert (case.question, case.answer, case.contexts) == (QUESTION, answer, ())
    assert (
        default_case(run_of(ChatMessage(role="user", content=QUESTION), HONEST)).question,
        default_case(run_of(QUESTION, [node()])).contexts,
        default_case(run_of(QUESTION, [])).answer,
    ) == (QUESTION, (PAGE,), None)
    with pytest.raises(InputError, match="not read"):
        run_of(QUESTION, rag(HONEST, streaming=True).query(QUESTION))


def test_what_makes_no_case_is_invalid_and_says_the_way_out():
    for response, words in (
        ({"summary": "a", "verdict": "b"}, "evaluate(query=..., response=..., contexts=[...])"),
        (Own(summary="a", verdict="b"), "'summary', 'verdict'"),
        (object(), "object"),
        ({"answer": "a", "reply": "b"}, "different answers"),
    ):
        result = JuryEvaluator(reviewed).evaluate_response(query=QUESTION, response=response)
        assert (result.passing, result.invalid_result, result.verdict.status, words in result.invalid_reason) == (
            None,
            True,
            "ERROR",
            True,
        )
    nothing = JuryEvaluator(reviewed).evaluate_response(query=QUESTION, response=None)
    assert (nothing.invalid_result, nothing.response) == (True, "")


def test_broken_jurors_are_missing_votes_and_nothing_is_raised():
    slow = judge(never_ends, timeout=0.02)
    for jury, passing in (
        (breaks, None),
        (slow, None),
        (Ensemble([reviewed, reviewed, breaks]), True),
        (Ensemble([reviewed, slow, breaks]), None),
    ):
        result = JuryEvaluator(jury).evaluate(query=QUESTION, response=HONEST, contexts=[PAGE])
        assert (result.passing, result.invalid_result, result.score) == (
            passing,
            passing is None,
            1.0 if passing else None,
        )
    assert "timeout" in JuryEvaluator(slow).evaluate(query=QUESTION, response=HONEST).invalid_reason


# Streams


def tokens_of(response):
    return "".join(response.response_gen)


async def evaluated_and_read(asked):
    response = await asked
    result = await JuryEvaluator(reviewed).aevaluate_response(query=QUESTION, response=response)
    return result.passing, "".join([token async for token in response.async_response_gen()])


def test_a_stream_can_be_read_after_its_evaluation():
    for response, read in (
        (rag(HONEST, streaming=True).query(QUESTION), tokens_of),
        (rag(HONEST, streaming=True).query(QUESTION), str),
        (rag(HONEST, streaming=True).query(QUESTION), lambda response: response.get_response().response),
        (context_chat(HONEST).stream_chat(QUESTION), tokens_of),
    ):
        results = [JuryEvaluator(reviewed).evaluate_response(query=QUESTION, response=response) for _ in range(2)]
        assert ([(one.passing, one.response, one.contexts) for one in results], read(response)) == (
            [(True, HONEST, [SEEN])] * 2,
            HONEST,
        )
    for asked in (rag(HONEST, streaming=True).aquery(QUESTION), context_chat(HONEST).astream_chat(QUESTION)):
        assert asyncio.run(evaluated_and_read(asked)) == (True, HONEST)


def test_a_stream_that_cannot_be_read_is_refused_with_the_reason():
    async def half():
        response = await rag(HONEST, streaming=True).aquery(QUESTION)
        reader = response.async_response_gen()
        await anext(reader)
        return await JuryEvaluator(reviewed).aevaluate_response(query=QUESTION, response=response)

    async def by_its_own_loop():
        response = await simple_chat(HONEST).astream_chat(QUESTION)
        return JuryEvaluator(reviewed).evaluate_response(query=QUESTION, response=response)

    read = rag(HONEST, streaming=True).query(QUESTION)
    list(read.response_gen)
    for result, words in (
        (JuryEvaluator(reviewed).evaluate_response(query=QUESTION, response=read), "read before"),
        (asyncio.run(half()), "being read"),
        (asyncio.run(by_its_own_loop()), "use aevaluate_response"),
        (JuryEvaluator(reviewed).evaluate_response(response=StreamingAgentChatResponse()), "nobody writes"),
    ):
        assert (result.invalid_result, words in result.invalid_reason) == (True, True)


def test_a_stream_that_breaks_is_invalid_and_breaks_for_its_reader_too():
    def tokens():
        yield "The ferry "
        raise ValueError("the line is down")

    response = StreamingResponse(tokens(), [node()])
    for _ in range(2):
        result = JuryEvaluator(reviewed).evaluate_response(query=QUESTION, response=response)
        assert "the line is down" in result.invalid_reason
    found = []
    with pytest.raises(ValueError, match="the line is down"):
        found.extend(response.response_gen)
    assert found == ["The ferry "]


# Slots of the framework


def test_keywords_of_a_batch_reach_all_or_one_and_streams_are_shared():
    same = JuryEvaluator(lambda case: case.answer == case.reference)
    runner = BatchEvalRunner({"a": same, "b": JuryEvaluator(lambda case: case.reference is not None)}, workers=4)
    queries = ["1", "2"]
    flat = runner.evaluate_response_strs(queries, response_strs=["x", "y"], reference=["x", "z"])
    assert [one.passing for one in flat["a"] + flat["b"]] == [True, False, True, True]
    nested = runner.evaluate_response_strs(queries, response_strs=["x", "y"], a={"reference": ["x", "y"]})
    assert [one.passing for one in nested["a"] + nested["b"]] == [True, True, False, False]

    async def streams():
        engine = rag(HONEST, streaming=True)
        both = BatchEvalRunner({"a": JuryEvaluator(reviewed), "b": JuryEvaluator(reviewed)}, workers=4)
        return await both.aevaluate_queries(engine, queries)

    found = asyncio.run(streams())
    assert [one.passing for one in found["a"] + found["b"]] == [True] * 4


def test_retry_engines_ask_again_and_tools_block(monkeypatch):
    monkeypatch.setattr(Settings, "_llm", model("unused"))
    bad = FAULTS["made-up number"]
    for retry in (
        lambda engine: RetryQueryEngine(engine, JuryEvaluator(reviewed), max_retries=2),
        lambda engine: RetryGuidelineQueryEngine(engine, JuryEvaluator(reviewed), max_retries=2),
    ):
        llm = model(bad, HONEST)
        assert (
            str(retry(RetrieverQueryEngine.from_args(Pages(), llm=llm)).query(QUESTION)),
            "not in the contexts: 2019" in str(llm.calls[-1]),
        ) == (HONEST, True)
    for answer, passes in ((HONEST, True), (bad, False)):
        tool = EvalQueryEngineTool.from_defaults(rag(answer), evaluator=JuryEvaluator(reviewed), name="t")
        assert (answer in tool.call(QUESTION).content) is passes
    broken = EvalQueryEngineTool.from_defaults(rag(HONEST), evaluator=JuryEvaluator(breaks), name="t")
    assert HONEST not in broken.call(QUESTION).content


def test_the_loop_goes_on_while_an_answer_is_judged_and_a_pause_is_kept():
    released = threading.Event()

    async def judged_meanwhile():
        task = asyncio.ensure_future(JuryEvaluator(lambda case: released.wait(10)).aevaluate(QUESTION, HONEST))
        for _ in range(5):
            await asyncio.sleep(0.001)
        released.set()
        return await task

    assert asyncio.run(judged_meanwhile()).passing
    started = time.perf_counter()
    assert (
        JuryEvaluator(lambda case: not case.metadata).evaluate(sleep_time_in_seconds=0.05).passing,
        time.perf_counter() - started >= 0.05,
    ) == (True, True)


def test_an_evaluator_has_no_prompts_and_its_results_are_written_whole():
    evaluator = JuryEvaluator(Ensemble([reviewed, breaks, reviewed]))
    assert (evaluator.get_prompts(), evaluator.update_prompts({})) == ({}, None)
    result = evaluator.evaluate(QUESTION, HONEST, [PAGE], tone="dry")
    assert (
        JuryEvaluationResult.model_validate(result.model_dump()),
        JuryEvaluationResult.model_validate_json(result.model_dump_json()),
        dict(result.verdict.case_metadata),
        len(result.verdict.judgments),
    ) == (result, result, {"tone": "dry"}, 3)


# Presets


CLAIM = '{{"claim": "2018", "sentence": "%s", "passage": 1, "evidence": "in 2018", "reason": "r", "verdict": "{}"}}'
CLAIMS = f'{{{{"claims": [{CLAIM % HONEST}], "answer": "{{}}"}}}}'
PRESETS = {
    "JuryHallucinationEvaluator": (
        CLAIMS.format("supported", "grounded"),
        CLAIMS.format("contradicted", "hallucinated"),
    ),
    "JuryFaithfulnessEvaluator": (YES, NO),
    "JuryRelevancyEvaluator": (YES, NO),
    "JuryAnswerRelevancyEvaluator": (YES, NO),
    "JuryContextRelevancyEvaluator": (YES, NO),
    "JuryCorrectnessEvaluator": ('{"reasoning": "right", "answer": 5}', '{"reasoning": "wrong", "answer": 2}'),
    "JuryGuidelineEvaluator": (YES, NO),
}


def preset(name, *args, **options):
    guidelines = {"guidelines": "It names its source."} if name == "JuryGuidelineEvaluator" else {}
    return getattr(face, name)(*args, **guidelines, **options)


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_asks_one_model_or_several(name):
    good, bad = PRESETS[name]
    given = {"query": QUESTION, "response": HONEST, "contexts": [PAGE], "reference": HONEST}
    one = preset(name, ScriptedModel([good]))
    assert (
        isinstance(one, BaseEvaluator),
        one.evaluate(**given).passing,
        one.evaluate(**given).score,
        preset(name, llm=ScriptedModel([bad])).evaluate(**given).passing is False,
    ) == (True, True, 1.0, True)
    llms = [ScriptedModel([reply], model=f"m{place}") for place, reply in enumerate((good, bad, good))]
    panel = preset(name, llms=llms).evaluate(**given)
    assert (
        panel.passing,
        len(panel.verdict.judgments),
        preset(name, llms=llms, voting="unanimous").evaluate(**given).passing is False,
        preset(name, llms=[ScriptedModel([good]), ScriptedModel([ConnectionError()])]).evaluate(**given).invalid_result,
    ) == (True, 3, True, True)


def test_the_model_of_the_settings_is_asked_only_if_it_was_set(monkeypatch):
    monkeypatch.setattr(Settings, "_llm", None)
    with pytest.raises(ConfigurationError, match=r"llm=, llms=\[...\], jury= and Settings.llm"):
        face.JuryFaithfulnessEvaluator()
    assert Settings._llm is None
    monkeypatch.setattr(Settings, "_llm", model(YES))
    assert (
        face.JuryFaithfulnessEvaluator().evaluate(QUESTION, HONEST, [PAGE]).passing,
        face.JuryFaithfulnessEvaluator(jury=breaks).evaluate(QUESTION, HONEST, [PAGE]).invalid_result,
    ) == (True, True)


def test_wrong_construction_is_refused_at_once():
    for make in (
        lambda: face.JuryFaithfulnessEvaluator(MockLLM(), llms=[MockLLM()]),
        lambda: face.JuryFaithfulnessEvaluator(MockLLM(), jury=reviewed),
        lambda: face.JuryFaithfulnessEvaluator(llms=[]),
        lambda: face.JuryFaithfulnessEvaluator(llms=[MockLLM()] * 2, voting="loudest"),
        lambda: face.JuryGuidelineEvaluator(MockLLM()),
        lambda: face.JuryGuidelineEvaluator(guidelines="Be brief.", jury=reviewed),
        lambda: face.JuryPairwiseEvaluator(jury=Critic(MockLLM(), "faithfulness")),
        lambda: JuryEvaluator("faithfulness"),
    ):
        with pytest.raises(ConfigurationError):
            make()


REPLIES = ("NO, yesterday's page contradicts it", "(Eyes only) no", "", "YES and NO", "[RESULT] 10", "4.5")


def test_a_reply_of_a_model_is_read_or_the_result_is_invalid():
    """LlamaIndex looks for "yes" anywhere, and takes an empty reply, and no contexts, for a failing verdict."""
    for reply in REPLIES:
        result = face.JuryFaithfulnessEvaluator(model(reply)).evaluate(QUESTION, HONEST, [PAGE])
        assert (result.passing, result.invalid_result) == (None, True), reply
    for contexts in ([], None):
        result = face.JuryFaithfulnessEvaluator(model(YES)).evaluate(QUESTION, HONEST, contexts)
        assert (result.passing, result.invalid_result) == (None, True)


# Pairwise


def longer(case):
    return "A" if len(case.candidates[0]) > len(case.candidates[1]) else "B"


def test_two_responses_are_compared_in_both_orders():
    always_first = lambda case: "A"  # noqa: E731
    for jury, second, expected in (
        (longer, "short", (True, 1.0, "original")),
        (longer, HONEST * 2, (False, 0.0, "original")),
        (always_first, "other", (None, 0.5, "neither")),
        (lambda case: "tie", "other", (None, 0.5, "neither")),
        (PairwiseCritic(judge(longer, labels=["A", "B", "tie"])), "short", (True, 1.0, "original")),
    ):
        evaluator = face.JuryPairwiseEvaluator(jury=jury)
        result = evaluator.evaluate(query=QUESTION, response=HONEST, second_response=second)
        assert (
            (result.passing, result.score, result.pairwise_source),
            result.response,
            result.invalid_result,
            result.feedback != "",
        ) == (expected, HONEST, False, True)


def test_models_compare_each_in_both_orders_and_vote():
    first = '{"reasoning": "x", "answer": "A"}'
    consistent = ScriptedModel(lambda prompt: first.replace("A", "A" if _first_is(prompt, HONEST) else "B"))
    biased = ScriptedModel([first])
    for llms, expected in (
        ([consistent], (True, 1.0)),
        ([biased], (None, 0.5)),
        ([consistent, consistent, biased], (True, 1.0)),
        ([consistent, ScriptedModel([ConnectionError()]), ScriptedModel([ConnectionError()])], (None, None)),
    ):
        result = face.JuryPairwiseEvaluator(llms=llms).evaluate(QUESTION, HONEST, second_response="No idea.")
        assert ((result.passing, result.score), result.invalid_result) == (expected, expected == (None, None))


def _first_is(prompt, text):
    shown = prompt.turns[-1].text
    return shown.index(text) < shown.index("No idea.")


def test_a_missing_second_response_is_invalid_and_others_ignore_it():
    assert face.JuryPairwiseEvaluator(jury=longer).evaluate(QUESTION, HONEST).invalid_result
    runner = BatchEvalRunner(
        {"pair": face.JuryPairwiseEvaluator(jury=longer), "one": JuryEvaluator(lambda case: case.answer == HONEST)}
    )
    found = runner.evaluate_response_strs([QUESTION], response_strs=[HONEST], second_response=["short"])
    assert (found["pair"][0].passing, found["one"][0].passing) == (True, True)
