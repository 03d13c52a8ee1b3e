"""JuryEvaluator: direct calls, LangSmith's loops, jurors, criteria, pass rates; nothing raises, and nothing is sent."""

import asyncio
import socket
from uuid import uuid4

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableLambda
from langchain_support import APPS, ASKED, SHAPES, agent, call, model
from langsmith.evaluation import EvaluationResult
from langsmith.schemas import Example, Run
from langsmith.utils import tracing_is_enabled
from openevals import exact_match
from openevals.simulators import run_multiturn_simulation
from scripted import FAULTS, HONEST, PAGE, QUESTION, breaks, grounded, never_ends, no_refusal, on_topic, reviewed

from jury_adapters import (
    Budget,
    CascadedJury,
    Case,
    ConfigurationError,
    Ensemble,
    Judgment,
    ReadOnly,
    Scorecard,
    Tier,
    abstain,
    judge,
)
from jury_adapters.core.context import context
from jury_adapters.langchain import JuryEvaluationResult, JuryEvaluator, offline_client, pass_rate
from jury_adapters.langchain.langsmith import wilson

pytestmark = pytest.mark.filterwarnings("ignore:'upload_.*' parameter is in beta")
ANSWERS = {"honest": HONEST, **FAULTS}
EXPECTED = {"honest": 1.0, **dict.fromkeys(FAULTS, 0.0)}
CARD = {"grounded": grounded, "answers": no_refusal, "on topic": on_topic}
# What each criterion of the card says of each fault.
CRITERIA = {
    "honest": (1.0, 1.0, 1.0),
    "made-up number": (0.0, 1.0, 1.0),
    "swapped name": (0.0, 1.0, 1.0),
    "refusal": (1.0, 0.0, 1.0),
    "off topic": (1.0, 1.0, 0.0),
    "empty": (1.0, 1.0, 0.0),
    "quoted injection": (0.0, 1.0, 1.0),
}


def example(question=QUESTION, outputs=None, **metadata):
    return Example(id=uuid4(), inputs={"question": question}, outputs=outputs or {"answer": HONEST}, metadata=metadata)


def answering(answers):
    """Return a target that gives the answer for a question, with its context."""

    def target(inputs):
        answer = answers[inputs["question"]]
        if isinstance(answer, Exception):
            raise answer
        return {"answer": answer, "context": [PAGE]}

    return target


def rows_of(target, data, evaluators, told=len, **options):
    """Return the rows of an experiment; the results of its summary evaluators are told."""
    options.update(data=data, evaluators=evaluators, upload_results=False)
    found = offline_client().evaluate(target, **options)
    rows = [*found]
    told(found._summary_results["results"])
    return rows


def arows_of(target, data, evaluators, told=len, **options):
    async def atarget(inputs):
        return target(inputs)

    async def go():
        options.update(data=data, evaluators=evaluators, upload_results=False)
        found = await offline_client().aevaluate(atarget, **options)
        rows = [row async for row in found]
        told(found._summary_results["results"])
        return rows

    return asyncio.run(go())


LOOPS = pytest.mark.parametrize("loop", [rows_of, arows_of], ids=["evaluate", "aevaluate"])


def results_of(row):
    return {one.key: one for one in row["evaluation_results"]["results"]}


def by_question(rows):
    return {row["example"].inputs["question"]: results_of(row) for row in rows}


# Direct calls


def call_async(evaluator, **parts):
    return asyncio.run(evaluator.acall(**parts))


CALLS = pytest.mark.parametrize("how", [JuryEvaluator.__call__, call_async], ids=["call", "acall"])


def seen_by(call, **options):
    """Return the case that a jury sees while an evaluator with it is called, and what the call gives."""
    cases = []
    found = call(JuryEvaluator(lambda case: cases.append(case) or True, key="k", **options))
    return cases[0], found


@CALLS
@pytest.mark.parametrize("shape", SHAPES)
def test_a_call_reads_rows_of_each_shape(shape, how):
    for fault, answer in ANSWERS.items():
        cases = []
        evaluator = JuryEvaluator(lambda case: cases.append(case) or reviewed(case), key="reviewed")  # noqa: B023
        result = how(evaluator, **SHAPES[shape](answer))
        assert (cases[0].question, cases[0].answer, cases[0].contexts) == (QUESTION, answer, (PAGE,)), fault
        assert set(result) == {"key", "score", "comment", "metadata"}
        assert (result["key"], result["score"]) == ("reviewed", EXPECTED[fault]), fault
        assert result["metadata"]["status"] == ("PASS" if fault == "honest" else "FAIL")


@CALLS
def test_a_reference_and_metadata_reach_the_jury(how):
    row = {"inputs": {"q": "2 + 2"}, "outputs": {"a": "4"}, "reference_outputs": {"a": "4"}}
    case, _ = seen_by(lambda evaluator: how(evaluator, **row, metadata={"tone": "dry"}))
    assert (case.question, case.answer, case.reference, case.metadata) == ("2 + 2", "4", "4", {"tone": "dry"})


@CALLS
def test_a_row_that_cannot_be_read_is_an_error_with_the_remedy(how):
    result = how(JuryEvaluator(reviewed), inputs={"q": "stolen"}, outputs={"covered": False, "reason": "theft"})
    assert (result["score"], result["metadata"]["status"]) == (None, "ERROR")
    assert "none of the outputs 'covered', 'reason' is known as the answer; give case=" in result["comment"]


@CALLS
def test_case_says_where_the_fields_are(how):
    row = {"inputs": {"mail": "stolen"}, "outputs": {"covered": False, "reason": "theft"}}
    case, _ = seen_by(
        lambda evaluator: how(evaluator, **row),
        case=lambda run: Case(question=run.inputs["mail"], answer=run.outputs["reason"]),
    )
    assert (case.question, case.answer) == ("stolen", "theft")


def test_an_argument_of_another_name_is_refused():
    with pytest.raises(TypeError, match="unexpected keyword argument 'answer'"):
        JuryEvaluator(reviewed)(inputs=QUESTION, answer=HONEST)


@CALLS
@pytest.mark.parametrize(
    ("jury", "status"),
    [
        (breaks, "ERROR"),
        (judge(never_ends, timeout=0.02), "ERROR"),
        (lambda case: abstain("cannot say"), "ABSTAIN"),
        (Ensemble([reviewed, breaks, breaks]), "ERROR"),
        (Ensemble([reviewed, reviewed, breaks]), "PASS"),
    ],
)
def test_trap_9_broken_jurors_give_no_score_where_they_could_have_decided(jury, status, how):
    result = how(JuryEvaluator(jury, key="k"), **SHAPES["fields"](HONEST))
    assert (result["metadata"]["status"], result["score"]) == (status, 1.0 if status == "PASS" else None)


# LangSmith's loops


@LOOPS
def test_an_experiment_scores_each_planted_fault(loop):
    cases = {}

    def jury(case):
        cases[case.question] = case
        return _about(reviewed)(case)

    found = by_question(loop(answering(ANSWERS), map(example, ANSWERS), [JuryEvaluator(jury, key="reviewed")]))
    for fault, answer in ANSWERS.items():
        assert (cases[fault].answer, cases[fault].contexts, cases[fault].reference) == (answer, (PAGE,), HONEST)
        one = found[fault]["reviewed"]
        assert (one.score, one.value) == (EXPECTED[fault], "pass" if fault == "honest" else "fail")
        assert isinstance(one.verdict, Judgment)
        assert (one.verdict.score, one.comment) == (None, str(one.verdict))


@LOOPS
@pytest.mark.parametrize("app", ["rag", "agent", "graph", "agent that notes"])
def test_an_application_is_the_target(app, loop):
    for fault in ("honest", "made-up number"):
        made, given = APPS[app][0](ANSWERS[fault])

        def target(inputs):
            found = made.invoke(given)  # noqa: B023
            return {"output": found, "context": [PAGE]} if app == "rag" else found

        (row,) = loop(target, [example()], [JuryEvaluator(reviewed, key="k")])
        assert results_of(row)["k"].score == EXPECTED[fault], fault


@LOOPS
def test_trap_9_a_run_that_failed_scores_zero_and_nobody_is_asked(loop):
    asked, answers = [], {"works": HONEST, "crashes": ValueError("Bearer abcdefgh12345678 refused")}
    evaluator = JuryEvaluator(lambda case: asked.append(case.question) or True, key="k")
    found = by_question(loop(answering(answers), map(example, answers), [evaluator]))
    works, crashes = found["works"]["k"], found["crashes"]["k"]
    assert (works.score, crashes.score, asked) == (1.0, 0.0, ["works"])
    assert "the run failed" in crashes.comment
    assert "abcdefgh" not in str(crashes)


@LOOPS
def test_the_key_is_that_of_the_evaluator_else_of_the_jury(loop):
    @judge
    def brief(case):
        return len(case.answer) < 100

    evaluators = [JuryEvaluator(brief), JuryEvaluator(brief, key="short"), JuryEvaluator(lambda case: True)]
    (row,) = loop(answering({QUESTION: HONEST}), [example()], evaluators)
    assert list(results_of(row)) == ["brief", "short", "jury"]
    assert [one.feedback_keys for one in evaluators] == [["brief"], ["short"], ["jury"]]


@LOOPS
def test_criteria_of_a_scorecard_are_keys(loop):
    evaluator = JuryEvaluator(Scorecard({name: _about(one) for name, one in CARD.items()}, name="card"))
    keys = ["card", "card.grounded", "card.answers", "card.on topic"]
    assert evaluator.feedback_keys == keys
    for fault, found in by_question(loop(answering(ANSWERS), map(example, ANSWERS), [evaluator])).items():
        assert {key: found[key].score for key in found if key != "card"} == dict(
            zip(keys[1:], CRITERIA[fault], strict=True)
        ), fault
        assert found["card"].value == ("pass" if fault == "honest" else "fail")
        assert found["card.grounded"].verdict.critic == "grounded"


def _about(check):
    """Return a check for rows whose question is the name of the fault."""
    return lambda case: check(case.model_copy(update={"question": QUESTION}))


@LOOPS
def test_every_row_has_every_key(loop):
    """One bad row does not stop the others."""
    answers = {"good": HONEST, "crashes": ValueError("down"), **dict.fromkeys("123", HONEST)}

    def target(inputs):
        return {"a": 1, "b": 2} if inputs["question"] == "unread" else answering(answers)(inputs)

    evaluator = JuryEvaluator(Scorecard({name: _about(one) for name, one in CARD.items()}, name="card"))
    rows = loop(target, map(example, [*answers, "unread"]), [evaluator], max_concurrency=3)
    told = {
        question: ([*found], {(one.score, one.value) for one in found.values()})
        for question, found in by_question(rows).items()
    }
    good, failed, unread = ({pair} for pair in ((1.0, "pass"), (0.0, "fail"), (None, "error")))
    assert told == {
        name: (evaluator.feedback_keys, {"crashes": failed, "unread": unread}.get(name, good))
        for name in [*answers, "unread"]
    }


def test_jurors_are_keys_on_request():
    jury = Ensemble({"a": lambda case: True, "b": lambda case: False, "c": lambda case: abstain("x")}, name="panel")
    evaluator = JuryEvaluator(jury, per_juror=True)
    found = {one["key"]: one["score"] for one in evaluator(**SHAPES["fields"](HONEST))}
    assert found == {"panel": 0.0, "panel.a": 1.0, "panel.b": 0.0, "panel.c": None}
    assert evaluator.feedback_keys == [*found]
    assert JuryEvaluator(jury)(**SHAPES["fields"](HONEST))["key"] == "panel"


def test_jurors_of_tiers_panels_and_criteria_have_keys_of_their_own():
    panel = Ensemble({"x": lambda case: True, "y": lambda case: True}, name="panel")
    screen = Tier("screen", judge(lambda case: True, name="quick"), "reject_on_any_fail")
    card = Scorecard({"tone": panel, "length": lambda case: True})
    jury = CascadedJury([screen, Tier("card", card)], name="all")
    evaluator, keys = (
        JuryEvaluator(jury, per_juror=True),
        ["all", "all.quick", "all.tone", "all.tone.x", "all.tone.y", "all.length"],
    )
    assert evaluator.feedback_keys == [one["key"] for one in evaluator(**SHAPES["fields"](HONEST))] == keys
    assert JuryEvaluator(jury).feedback_keys == ["all", "all.tone", "all.length"]


def test_a_criterion_that_was_not_asked_has_no_score():
    quick = Tier("screen", judge(lambda case: False, name="quick"), "reject_on_any_fail")
    jury = CascadedJury([quick, Tier("card", Scorecard(CARD))], name="all")
    found = {one["key"]: one for one in JuryEvaluator(jury, per_juror=True)(**SHAPES["fields"](HONEST))}
    assert {name: found[name]["score"] for name in ("all", "all.quick", "all.grounded")} == {
        "all": 0.0, "all.quick": 0.0, "all.grounded": None
    }  # fmt: skip
    assert found["all.grounded"]["comment"] == "not asked"


def test_a_fallback_answers_none_of_the_criteria():
    card = Scorecard({"a": breaks}, name="card")
    evaluator = JuryEvaluator(card.with_fallbacks(judge(lambda case: True, threshold=card.pass_mark)))
    found = {one["key"]: one["score"] for one in evaluator(**SHAPES["fields"](HONEST))}
    assert found == {"card": 1.0, "card.a": None}


def test_neutral_labels_are_values_without_a_score():
    evaluator = JuryEvaluator(judge(lambda case: "KEEP", labels=["KEEP", "DROP"]), key="k")
    (result,) = evaluator.evaluate_run(_run({"answer": HONEST}), example())["results"]
    assert (result.score, result.value) == (None, "KEEP")


def _run(outputs, error=None):
    return Run(
        id=uuid4(), name="target", start_time="2026-01-01T00:00:00", run_type="chain", trace_id=uuid4(),
        inputs={"question": QUESTION}, outputs=outputs, error=error,
    )  # fmt: skip


def test_a_run_without_an_example_is_judged_too():
    case, found = seen_by(lambda evaluator: evaluator.evaluate_run(_run({"answer": HONEST})))
    assert (case.question, case.answer, case.reference, found["results"][0].score) == (QUESTION, HONEST, None, 1.0)


def test_trap_4_the_answer_of_a_row_is_not_its_own_reference():
    case, _ = seen_by(lambda evaluator: evaluator(inputs={"question": "q", "answer": "a"}, outputs={"answer": "b"}))
    assert (case.answer, case.reference) == ("b", None)


def test_results_are_those_of_langsmith_and_forbid_what_it_does_not_know():
    (result,) = JuryEvaluator(reviewed, key="k").evaluate_run(_run({"answer": HONEST, "context": [PAGE]}))["results"]
    assert issubclass(JuryEvaluationResult, EvaluationResult)
    assert isinstance(result, JuryEvaluationResult)
    assert "verdict" not in result.model_dump()
    with pytest.raises(ValueError, match="extra"):
        JuryEvaluationResult(key="k", reasoning="because")


@LOOPS
def test_trap_6_a_run_that_waits_for_a_person_is_in_no_pass_rate(loop):
    states = {
        "done": {"messages": [HumanMessage(QUESTION), AIMessage(HONEST)]},
        "open": {"messages": [HumanMessage(QUESTION), call("pages", query="x")]},
        "asks": {"question": "q", "__interrupt__": ["ok?"]},
    }
    asked = []
    evaluator = JuryEvaluator(lambda case: asked.append(case.question) or True, key="k")
    rows = loop(lambda inputs: states[inputs["question"]], map(example, states), [evaluator])
    values = {question: found["k"].value for question, found in by_question(rows).items()}
    assert (values, len(asked)) == ({"done": "pass", "open": "abstain", "asks": "abstain"}, 1)
    summary = pass_rate(evaluator)([row["run"] for row in rows], [])
    assert (summary["score"], summary["comment"].split(";")[0]) == (1.0, "1 of 1 passed")


# Nothing is sent, and nothing of the judge is traced


@pytest.fixture
def no_network(monkeypatch):
    """Fail on any look-up or connection beyond this machine's own pairs of sockets."""
    tried = []
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **_: tried.append(args))
    monkeypatch.setattr(socket.socket, "connect", lambda self, address: tried.append(address))
    return tried


@LOOPS
@pytest.mark.parametrize("tracing", ["", "true"])
def test_trap_13_offline_nothing_is_attempted(loop, tracing, no_network, monkeypatch):
    if tracing:
        monkeypatch.setenv("LANGSMITH_TRACING", tracing)
    chat, critic = model(HONEST), model("yes")

    def target(inputs):
        return {"answer": chat.invoke(inputs["question"]).text, "context": [PAGE]}

    def asks(case):
        return critic.invoke("is it so?").text == "yes"

    (row,) = loop(target, [example()], [JuryEvaluator(asks, key="k"), JuryEvaluator(asks, key="t", trace=True)])
    assert ({one.score for one in results_of(row).values()}, no_network) == ({1.0}, [])


def test_trap_13_while_judging_tracing_is_off_unless_asked_for(traced):
    found = []

    async def looks(case):
        found.append((tracing_is_enabled(), context().judging))
        return True

    with traced(True):
        for trace in (False, True):
            JuryEvaluator(looks, trace=trace)(**SHAPES["fields"](HONEST))
            JuryEvaluator(looks, trace=trace).evaluate_run(_run({"answer": HONEST}))
    assert found == [(False, True), (False, True), (True, True), (True, True)]


def test_trap_13_an_object_is_no_evaluator_unless_it_is_of_langsmiths_class():
    """Why JuryEvaluator is a RunEvaluator: the key of another callable is lost, and a coroutine is not awaited."""

    class Callable:
        def __call__(self, *, inputs, outputs, reference_outputs=None):
            return {"score": 1.0}

    evaluators = [Callable(), JuryEvaluator(lambda case: True, key="mine")]
    (row,) = rows_of(answering({QUESTION: HONEST}), [example()], evaluators)
    assert list(results_of(row)) == ["wrapper", "mine"]


def test_trap_16_store_and_budget_apply_in_evaluators():
    store, budget, found = ReadOnly(None), Budget(max_calls=1), []

    async def looks(case):
        found.append((context().store, context().budget))
        return True

    evaluator = JuryEvaluator(looks, store=store, budget=budget)
    evaluator(**SHAPES["fields"](HONEST))
    evaluator.evaluate_run(_run({"answer": HONEST}))
    asyncio.run(evaluator.aevaluate_run(_run({"answer": HONEST})))
    assert found == [(store, budget)] * 3


def test_only_a_judge_will_do():
    with pytest.raises(ConfigurationError, match="a judge is a Judge or a function of a case"):
        JuryEvaluator("faithfulness")


# Pass rates


@LOOPS
def test_the_pass_rate_leaves_out_what_is_not_decided(loop):
    outcomes = {"p1": True, "p2": True, "f": False, "a": abstain("x"), "e": None, "l": "KEEP"}
    jury = judge(lambda case: breaks(case) if case.question == "e" else outcomes[case.question], labels=["KEEP"])
    evaluator = JuryEvaluator(jury, key="k")
    target, summaries = answering(dict.fromkeys(outcomes, HONEST)), []
    loop(target, map(example, outcomes), [evaluator], summaries.extend, summary_evaluators=[pass_rate(evaluator)])
    low, high = wilson(2 / 3, 3)
    ((key, score, comment),) = ((one.key, one.score, one.comment) for one in summaries)
    assert (key, score, comment) == (
        "k.pass_rate",
        pytest.approx(2 / 3),
        f"2 of 3 passed; 95 % interval {low:.3f} to {high:.3f}; 1 ABSTAIN; 1 ERROR; 1 LABEL",
    )


def test_a_run_that_failed_counts_as_not_passed_and_strange_runs_are_named():
    evaluator = JuryEvaluator(lambda case: True, key="k")
    runs = [_run({"answer": HONEST}), _run(None, error="ValueError: down"), _run({"answer": HONEST})]
    for run in runs[:2]:
        evaluator.evaluate_run(run)
    summary = pass_rate(evaluator, key="rate")(runs, [])
    assert (summary["key"], summary["score"]) == ("rate", 0.5)
    assert summary["comment"].endswith("1 not judged by this evaluator")
    again = pass_rate(evaluator)([run.model_copy(update={"reference_example_id": runs[0].id}) for run in runs], [])
    assert "95 % interval {:.3f} to {:.3f}".format(*wilson(0.5, 1)) in again["comment"]


def test_the_interval_is_wilsons():
    for passed, number, low, high in ((0, 5, 0.0, 0.434482), (5, 5, 0.565518, 1.0), (50, 100, 0.4038315, 0.5961685)):
        assert wilson(passed / number, number) == pytest.approx((low, high), abs=1e-6)


def test_what_is_kept_is_bounded():
    evaluator = JuryEvaluator(lambda case: True, key="k")
    evaluator.statuses.update((str(number), "PASS") for number in range(100_000))
    evaluator.evaluate_run(_run({"answer": HONEST}))
    assert len(evaluator.statuses) == 100_000
    assert "0" not in evaluator.statuses


# Beside evaluators of openevals


def test_ours_stands_beside_an_evaluator_of_openevals():
    """The target is a Runnable."""

    def exact(inputs, outputs, reference_outputs):
        return exact_match(outputs=outputs["answer"], reference_outputs=reference_outputs["answer"])

    mine = JuryEvaluator(lambda case: case.answer == case.reference, key="mine")
    (row,) = rows_of(RunnableLambda(answering({QUESTION: HONEST})), [example()], [exact, mine])
    assert {key: one.score for key, one in results_of(row).items()} == {"exact_match": 1.0, "mine": 1.0}
    theirs = exact_match(outputs=HONEST, reference_outputs=HONEST)
    assert set(mine(inputs=QUESTION, outputs=HONEST, reference_outputs=HONEST)) == set(theirs)


def test_a_simulation_of_openevals_takes_our_evaluator():
    turns = iter([HONEST, "You are welcome."])

    def app(message, *, thread_id, **_):
        return {"role": "assistant", "content": next(turns)}

    case, found = seen_by(
        lambda evaluator: run_multiturn_simulation(
            app=app, user=[QUESTION, "Thanks!"], trajectory_evaluators=[evaluator], max_turns=2
        )
    )
    assert (
        [one["key"] for one in found["evaluator_results"]],
        (case.question, case.answer),
        [message.content for message in case.messages],
    ) == (["k"], ("Thanks!", "You are welcome."), [QUESTION, HONEST])


def test_an_agent_whose_state_is_the_output_shows_its_steps():
    state = agent(HONEST)[0].invoke(ASKED)
    case, _ = seen_by(lambda evaluator: evaluator(inputs=ASKED, outputs=state))
    assert [(step.tool, step.output) for step in case.steps] == [("pages", PAGE)]
