"""JuryMiddleware: answers are judged before they enter the state; asked again, withheld or kept."""

import asyncio
import copy
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from fact_tables import each_row
from langchain.agents import create_agent
from langchain.agents.middleware import (
    HumanInTheLoopMiddleware,
    ModelFallbackMiddleware,
    ModelRetryMiddleware,
)
from langchain.agents.middleware import SummarizationMiddleware as ModelSummary
from langchain.agents.structured_output import ProviderStrategy, ToolStrategy
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from langchain_support import ASKED, call, model, pages, remember
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.prebuilt import ToolRuntime
from langgraph.types import Command
from pydantic import BaseModel
from scripted import FAULTS, HONEST, PAGE, QUESTION, breaks, never_ends, reviewed

from jury_adapters import Budget, ConfigurationError, Ensemble, Judgment, ReadOnly, abstain, judge
from jury_adapters.core.asking import REFUSAL
from jury_adapters.core.context import context
from jury_adapters.langchain import JuryCallbackHandler, JuryMiddleware, JuryToolGuard

TELLS_TOOLS = "tools" in ToolRuntime.__dataclass_fields__  # which tools there are; LangGraph 1.1 does not tell
BOTH = pytest.mark.parametrize("how", ["sync", "async"])
CONFIG = {"configurable": {"thread_id": "1"}}
LOOK = call("pages", query="ferry")
AGAIN = {"messages": [("user", "Are you sure?")]}
INVENTED = FAULTS["made-up number"]


class Reply(BaseModel):
    """A structured response."""

    answer: str


def ask(app, how, given=ASKED, config=None):
    return app.invoke(given, config) if how == "sync" else asyncio.run(app.ainvoke(given, config))


def guarded(script, jury=reviewed, tools=(pages, remember), **options):
    """Return an agent with one guard, its model, and what the guard judged."""
    made, drafts = model(*script), []
    options = {"on_verdict": drafts.append, **options}
    agent = {name: options.pop(name) for name in ("checkpointer", "response_format", "name") if name in options}
    return create_agent(made, list(tools), middleware=[JuryMiddleware(jury, **options)], **agent), made, drafts


def said(state):
    return [message.text for message in state["messages"] if message.type == "ai" and not message.tool_calls]


def year(case):
    return "2018" in case.answer


# The three ways of dealing with a FAIL, for each fault


@BOTH
def test_a_faulty_draft_is_asked_for_again(how):
    for fault in FAULTS.values():
        app, chat, drafts = guarded([LOOK, fault, HONEST])
        state = ask(app, how)
        assert (said(state), len(state["messages"]), state["jury_verdict"]["status"]) == ([HONEST], 4, "PASS")
        assert [(one.case.question, one.case.answer, one.case.contexts, one.judgment.status) for one in drafts] == [
            (QUESTION, fault, (PAGE,), "FAIL"),
            (QUESTION, HONEST, (PAGE,), "PASS"),
        ]
        assert [step.tool for step in drafts[0].case.steps] == ["pages"]
        again = chat.calls[-1]
        assert [message.type for message in again[-2:]] == ["ai", "human"]
        assert drafts[0].judgment.reasoning in again[-1].text


@BOTH
def test_a_faulty_draft_is_withheld(how):
    for fault in FAULTS.values():
        app, chat, drafts = guarded([LOOK, fault, HONEST], on_fail="block")
        state = ask(app, how)
        assert (said(state), len(chat.calls), state["jury_verdict"]["status"]) == ([REFUSAL], 2, "FAIL")
        assert [one.case.answer for one in drafts] == [fault]
        assert state["messages"][-1].additional_kwargs == {"jury": {"kind": "blocked", "by": "reviewed"}}


@BOTH
def test_a_faulty_draft_is_kept_with_its_verdict(how):
    for fault in FAULTS.values():
        app, chat, drafts = guarded([LOOK, fault, HONEST], on_fail="annotate")
        state = ask(app, how)
        verdict = Judgment.model_validate(state["jury_verdict"])
        assert (said(state), len(chat.calls), verdict.status) == ([fault], 2, "FAIL")
        assert verdict == drafts[0].judgment.model_copy(update={"case_id": verdict.case_id})


@BOTH
def test_an_honest_answer_passes(how):
    app, chat, drafts = guarded([LOOK, HONEST])
    state = ask(app, how)
    assert (said(state), state["jury_verdict"]["status"], len(chat.calls)) == ([HONEST], "PASS", 2)
    assert not {"jury", "jury_retries"} & {*state["messages"][-1].additional_kwargs, *state}
    assert drafts[0].case.generator == "gpt-4o-mini"


@BOTH
def test_after_so_many_retries_it_is_withheld(how):
    for retries in (0, 3):
        app, chat, drafts = guarded([LOOK, *[f"In 20{year}." for year in range(30, 40)]], max_retries=retries)
        assert (said(ask(app, how)), len(drafts), len(chat.calls)) == ([REFUSAL], retries + 1, retries + 2)


@BOTH
@pytest.mark.parametrize("broken", [breaks, judge(never_ends, timeout=0.02), lambda case: abstain("cannot say")])
@pytest.mark.parametrize("on_fail", ["retry", "block", "annotate"])
def test_an_undecided_answer_passes_unless_it_is_to_be_blocked_and_the_model_is_not_asked_again(broken, on_fail, how):
    for on_undecided in ("allow", "block"):
        options = {"on_fail": on_fail, "on_undecided": on_undecided, "name": "jury"}
        app, chat, drafts = guarded([LOOK, HONEST, "never"], broken, **options)
        state = ask(app, how)
        assert (said(state), len(chat.calls)) == ([HONEST] if on_undecided == "allow" else [REFUSAL], 2)
        assert state["jury_verdict"]["status"] == drafts[0].judgment.status
        assert drafts[0].judgment.status in ("ERROR", "ABSTAIN")


def test_a_case_function_that_breaks_is_undecided():
    app, _, drafts = guarded([HONEST], case=lambda run: {}["passages"])
    state = app.invoke(ASKED)
    assert (said(state), state["jury_verdict"]["error"]) == ([HONEST], "KeyError: 'passages'")
    assert drafts[0].case is None


# Turns


def test_trap_10_retries_are_counted_anew_in_each_turn():
    script = ["In 2031.", "In 2032.", "In 2033.", "In 2034.", "In 2035.", HONEST]
    app, chat, _ = guarded(script, year, checkpointer=InMemorySaver())
    assert said(app.invoke(ASKED, CONFIG)) == [REFUSAL]
    second = app.invoke(AGAIN, CONFIG)
    assert (said(second), len(chat.calls)) == ([REFUSAL, HONEST], 6)
    assert second["jury_verdict"]["status"] == "PASS"


def test_trap_10_the_verdict_of_an_earlier_turn_does_not_stand_for_this_one():
    app, _, _ = guarded([HONEST, LOOK, HONEST], lambda case: True, checkpointer=InMemorySaver())
    app.invoke(ASKED, CONFIG)
    found = [state["jury_verdict"] for state in app.stream(AGAIN, CONFIG, stream_mode="values")]
    # The first is the state before the turn begins.
    assert [one and one["status"] for one in found] == ["PASS", None, None, None, "PASS"]


def test_the_second_turn_is_judged_alone():
    app, _, drafts = guarded([LOOK, HONEST, "I am."], lambda case: True, checkpointer=InMemorySaver())
    app.invoke(ASKED, CONFIG)
    app.invoke(AGAIN, CONFIG)
    second = drafts[-1].case
    assert (second.question, second.answer, second.contexts, second.steps) == ("Are you sure?", "I am.", (), ())
    assert [message.content for message in second.messages] == [QUESTION, PAGE, HONEST]


def test_a_draft_that_led_to_a_call_is_forgotten_and_retries_are_counted_on():
    app, chat, drafts = guarded([INVENTED, LOOK, "In 2030.", "In 2031.", "In 2032."], year, max_retries=2)
    state = app.invoke(ASKED)
    assert [one.case.answer for one in drafts] == [INVENTED, "In 2030.", "In 2031."]
    assert said(state) == [REFUSAL]
    assert INVENTED not in str(state)
    assert [message.text for message in chat.calls[2] if message.type == "human"] == [QUESTION]


def test_a_pause_for_a_person_is_no_answer_and_retries_go_on_after_it():
    both = [JuryMiddleware(year, max_retries=1), HumanInTheLoopMiddleware(interrupt_on={"pages": True})]
    chat = model(INVENTED, LOOK, INVENTED, "never")
    app = create_agent(chat, [pages], middleware=both, checkpointer=InMemorySaver())
    assert app.invoke(ASKED, CONFIG)["__interrupt__"]
    assert said(app.invoke(Command(resume={"decisions": [{"type": "approve"}]}), CONFIG)) == [REFUSAL]


def test_a_state_survives_a_strict_checkpointer_and_other_processes(tmp_path):
    """Verdicts are JSON values; objects of ours would come back as dictionaries with a warning."""
    program = f"""
import sys
sys.path[:0] = {[*map(str, Path(__file__).parents[:2])]!r}
from langchain_support import *
from scripted import *
from langgraph.checkpoint.memory import InMemorySaver
from jury_adapters import Judgment
from jury_adapters.langchain import JuryMiddleware
guard = JuryMiddleware(reviewed)
app = create_agent(model(call("pages", query="x"), HONEST), [pages], middleware=[guard], checkpointer=InMemorySaver())
config = {{"configurable": {{"thread_id": "1"}}}}
app.invoke(ASKED, config)
print(Judgment.model_validate(app.get_state(config).values["jury_verdict"]).status)
"""
    run = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "LANGGRAPH_STRICT_MSGPACK": "true"},
    )
    assert (run.stdout.strip(), run.stderr) == ("PASS", "")


# Structured responses


def replied(strategy, text):
    return call("Reply", answer=text) if strategy is ToolStrategy else json.dumps({"answer": text})


@BOTH
@pytest.mark.parametrize("strategy", [ToolStrategy, ProviderStrategy])
def test_a_structured_response_is_judged_and_asked_for_again(strategy, how):
    script = [LOOK, replied(strategy, INVENTED), replied(strategy, HONEST)]
    app, chat, drafts = guarded(script, response_format=strategy(Reply))
    state = ask(app, how)
    assert state["structured_response"] == Reply(answer=HONEST)
    assert [(json.loads(one.case.answer)["answer"], one.case.contexts) for one in drafts] == [
        (INVENTED, (PAGE,)),
        (HONEST, (PAGE,)),
    ]
    assert not re.search(r"\b2019\b", str(state))
    opened = {one["id"] for message in chat.calls[-1] if message.type == "ai" for one in message.tool_calls}
    assert opened == {message.tool_call_id for message in chat.calls[-1] if message.type == "tool"}


@BOTH
@pytest.mark.parametrize("strategy", [ToolStrategy, ProviderStrategy])
@pytest.mark.parametrize("tools", [[pages], []])
def test_a_structured_response_is_withheld_and_the_turn_ends(strategy, tools, how):
    options = {"on_fail": "block", "response_format": strategy(Reply)}
    app, chat, _ = guarded([replied(strategy, INVENTED)], lambda case: False, tools, **options)
    state = ask(app, how, config={"recursion_limit": 12})
    assert (said(state), state.get("structured_response"), len(chat.calls)) == ([REFUSAL], None, 1)
    assert not re.search(r"\b2019\b", str(state))


def test_a_refusal_does_not_stand_beside_the_structured_response_of_an_earlier_turn():
    script = [call("Reply", answer=HONEST), call("Reply", answer=INVENTED)]
    options = {"response_format": ToolStrategy(Reply), "checkpointer": InMemorySaver()}
    app, _, _ = guarded(script, year, on_fail="block", **options)
    assert app.invoke(ASKED, CONFIG)["structured_response"] == Reply(answer=HONEST)
    state = app.invoke(AGAIN, CONFIG)
    assert (state.get("structured_response"), said(state)[-1]) == (None, REFUSAL)


def test_a_structured_call_beside_a_tool_call_is_withheld_with_it():
    done = []

    @tool
    def pay(amount: int) -> str:
        """Pay."""
        done.append(amount)

    both = AIMessage("", tool_calls=[*call("Reply", answer=INVENTED).tool_calls, *call("pay", amount=5).tool_calls])
    app, _, _ = guarded([both], lambda case: False, [pay], on_fail="block", response_format=ToolStrategy(Reply))
    assert (said(app.invoke(ASKED)), done) == ([REFUSAL], [])


# Tools whose result is the answer


@tool(return_direct=True)
def balance(account: int = 1) -> str:
    """Return the balance of an account."""
    return "Your balance is 70 francs."


@tool(return_direct=True)
def balance_by_command(runtime: object = None) -> Command:
    """Return the balance of an account by a command."""
    message = ToolMessage("Your balance is 70 francs.", tool_call_id="call-balance_by_command")
    return Command(update={"messages": [message], "note": "70"})


DIRECT = pytest.mark.parametrize("name", ["balance", "balance_by_command"])


@BOTH
@DIRECT
def test_trap_11_the_answer_of_a_return_direct_tool_is_judged(name, how):
    tools = [balance, balance_by_command, pages]
    app, chat, drafts = guarded([LOOK, call(name), "never"], lambda case: "70" in case.answer, tools)
    state = ask(app, how)
    assert (state["messages"][-1].text, state["jury_verdict"]["status"]) == ("Your balance is 70 francs.", "PASS")
    (case,) = (one.case for one in drafts)
    assert (case.question, case.answer, case.contexts) == (QUESTION, "Your balance is 70 francs.", (PAGE,))
    assert ([step.tool for step in case.steps], len(chat.calls)) == (["pages", name], 2)


@BOTH
@DIRECT
def test_trap_11_it_is_withheld_and_no_model_is_asked_again(name, how):
    tools = [balance, balance_by_command, pages]
    app, chat, _ = guarded([LOOK, call(name), "never"], lambda case: False, tools, checkpointer=InMemorySaver())
    state = ask(app, how, config=CONFIG)
    last = state["messages"][-1]
    assert (last.type, last.text, last.additional_kwargs["jury"]["kind"]) == ("tool", REFUSAL, "blocked")
    assert len(chat.calls) == 2
    assert "francs" not in str(state)
    assert "70 francs" not in str([*app.get_state_history(CONFIG)])


@BOTH
def test_trap_11_annotated_and_undecided_answers_of_tools_are_shown(how):
    for jury, on_fail in ((lambda case: False, "annotate"), (breaks, "retry")):
        app, _, drafts = guarded([call("balance")], jury, [balance], on_fail=on_fail)
        assert (ask(app, how)["messages"][-1].text, len(drafts)) == ("Your balance is 70 francs.", 1)


@BOTH
def test_trap_11_a_result_beside_that_of_another_tool_is_evidence_and_no_answer(how):
    both = AIMessage("", tool_calls=[*call("balance").tool_calls, *LOOK.tool_calls])
    app, _, drafts = guarded([both, "70 francs."], lambda case: True, [balance, pages])
    ask(app, how)
    assert len(drafts) == (1 if TELLS_TOOLS else 2)
    case = drafts[-1].case
    assert (case.answer, set(case.contexts)) == ("70 francs.", {"Your balance is 70 francs.", PAGE})


@BOTH
def test_trap_11_the_refusal_of_a_tool_guard_is_not_judged_as_an_answer(how):
    drafts = []
    both = [
        JuryMiddleware(lambda case: False, on_verdict=drafts.append, name="answers"),
        JuryToolGuard(lambda case: False, refusal="Not that.", name="calls"),
    ]
    state = ask(create_agent(model(call("balance"), "never"), [balance], middleware=both), how)
    assert (state["messages"][-1].text, drafts) == ("Not that.", [])


# Several guards, and other middleware


def test_a_question_that_a_summary_replaced_is_still_the_question():
    long = ModelSummary(model("Here is a summary."), trigger=("messages", 4), keep=("messages", 2))
    script, drafts = [call("pages", "a", query="x"), call("pages", "b", query="y"), HONEST], []
    guard = JuryMiddleware(lambda case: True, on_verdict=drafts.append)
    state = create_agent(model(*script), [pages], middleware=[long, guard]).invoke(ASKED)
    assert QUESTION not in [message.text for message in state["messages"]]
    assert (drafts[0].case.question, drafts[0].case.answer, drafts[0].case.contexts) == (QUESTION, HONEST, (PAGE,))


def polite(case):
    return "please" in case.answer, f"it says {case.answer}"


def two(script, first=None, second=None, *between, **options):
    seen, chat = {"year": [], "polite": []}, model(*script)
    middleware = [
        JuryMiddleware(year, on_verdict=seen["year"].append, **(first or {})),
        *between,
        JuryMiddleware(polite, on_verdict=seen["polite"].append, **(second or {})),
    ]
    return create_agent(chat, [], middleware=middleware, **options), chat, seen


def test_trap_10_two_juries_in_one_agent_each_count_for_themselves():
    script = ["In 2017, please.", "In 2018.", "In 2018, please."]
    app, chat, seen = two(script, None, None, ModelRetryMiddleware())
    state = app.invoke(ASKED)
    assert (said(state), len(chat.calls), state["jury_verdict"]["critic"]) == (["In 2018, please."], 3, "year")
    statuses = {name: [one.judgment.status for one in found] for name, found in seen.items()}
    assert statuses == {"year": ["FAIL", "PASS"], "polite": ["PASS", "FAIL", "PASS"]}


def test_what_the_inner_jury_blocks_the_outer_one_does_not_judge():
    app, _, seen = two(["In 2018."], None, {"on_fail": "block"})
    state = app.invoke(ASKED)
    assert (said(state), seen["year"], state["jury_verdict"]["critic"]) == ([REFUSAL], [], "polite")


def test_trap_12_the_verdict_of_an_inner_jury_does_not_quote_what_the_outer_one_withholds():
    app, _, seen = two(["In 1918, please."], {"on_fail": "block"}, checkpointer=InMemorySaver())
    shown = [*app.stream(ASKED, CONFIG, stream_mode=["updates", "values"])]
    assert seen["polite"][0].judgment.reasoning == "it says In 1918, please."
    assert "1918" not in str(shown)
    assert "1918" not in str([*app.get_state_history(CONFIG)])
    assert app.get_state(CONFIG).values["jury_verdict"]["critic"] == "year"


def test_two_guards_of_one_name_are_refused_by_langchain_and_names_may_be_given():
    with pytest.raises(AssertionError, match="duplicate middleware"):
        create_agent(model(HONEST), [], middleware=[JuryMiddleware(reviewed), JuryMiddleware(reviewed)])
    assert copy.copy(JuryMiddleware(reviewed, name="a:b|c")).name == "a b c"
    assert JuryMiddleware(lambda case: True).name == "JuryMiddleware"


def test_a_fallback_model_is_judged_too():
    drafts, fallback = [], ModelFallbackMiddleware(model(LOOK, INVENTED, HONEST))
    guards = [JuryMiddleware(reviewed, on_verdict=drafts.append), fallback]
    app = create_agent(model(ConnectionError("down")), [pages], middleware=guards)
    assert said(app.invoke(ASKED)) == [HONEST]
    assert [one.judgment.status for one in drafts] == ["FAIL", "PASS"]


@BOTH
def test_a_model_that_fails_fails_the_agent(how):
    app, _, drafts = guarded([ConnectionError("the model is down")])
    with pytest.raises(ConnectionError):
        ask(app, how)
    assert drafts == []


def test_the_name_of_an_agent_stays_on_the_refusal():
    app, _, _ = guarded([INVENTED], lambda case: False, on_fail="block", name="reader")
    assert app.invoke(ASKED)["messages"][-1].name == "reader"


# What is told, and to whom


def test_trap_12_feedback_reaches_the_model_in_that_call_only_and_no_praise_or_error_of_a_juror_does():
    jury = Ensemble([reviewed, reviewed, reviewed, lambda case: (True, "a wonderful answer"), breaks])
    app, chat, _ = guarded([LOOK, INVENTED, call("pages", query="again"), HONEST], jury)
    assert said(app.invoke(ASKED)) == [HONEST]
    feedback = chat.calls[2][-1].text
    assert "not in the contexts: 2019" in feedback
    assert not [word for word in ("wonderful", "hung up") if word in feedback]
    assert "reviewed" not in str(chat.calls[3])


def test_trap_12_the_verdict_in_the_state_does_not_quote_a_withheld_answer():
    def quotes(case):
        return Judgment(
            status="FAIL",
            reasoning=f"it says {case.answer}",
            findings=[{"name": "year", "passed": False, "detail": case.answer, "evidence": case.answer}],
            metadata={"seen": case.answer},
        )

    def broken(case):
        raise ValueError(f"cannot parse {case.answer}")

    jury = Ensemble({"a": quotes, "b": quotes, "c": broken})
    app, _, drafts = guarded(["SECRET"], jury, on_fail="block", checkpointer=InMemorySaver())
    state = app.invoke(ASKED, CONFIG)
    assert "SECRET" not in str([state, *app.get_state_history(CONFIG)])
    assert "SECRET" in str(drafts[0].judgment)
    found = Judgment.model_validate(state["jury_verdict"]).judgments
    assert [(one.critic, one.status.value) for one in found] == [("a", "FAIL"), ("b", "FAIL"), ("c", "ERROR")]


@BOTH
def test_sinks_may_be_asynchronous_and_may_break(how, caplog):
    seen = []

    async def keep(judged):
        await asyncio.sleep(0)
        seen.append(judged.judgment.status)

    ask(guarded([LOOK, INVENTED, HONEST], on_verdict=keep)[0], how)
    assert seen == ["FAIL", "PASS"]
    app, _, _ = guarded([LOOK, HONEST], on_verdict=breaks)
    assert said(ask(app, how)) == [HONEST]
    assert "on_verdict= raised" in caplog.text


@pytest.mark.parametrize("how", ["stream", "astream"])
def test_trap_8_what_jurors_say_is_neither_in_the_stream_nor_in_the_callbacks_nor_in_traces(how, traced):
    critic, cases = model("JUROR WORDS"), []

    def asks(case):
        return critic.invoke("is it so?").text == "JUROR WORDS"

    async def asks_async(case):
        return (await critic.ainvoke("is it so?")).text == "JUROR WORDS"

    handler = JuryCallbackHandler(lambda case: cases.append(case) or True)
    critic.callbacks = [handler]
    app, _, _ = guarded([LOOK, HONEST], Ensemble([asks, asks_async], voting="unanimous"))
    given = {"input": ASKED, "config": {"callbacks": [handler]}, "stream_mode": ["messages", "updates"]}

    async def read():
        return [one async for one in app.astream(**given)]

    with traced(True):
        shown = list(app.stream(**given)) if how == "stream" else asyncio.run(read())
    handler.close()
    assert "JUROR WORDS" not in str(shown)
    assert handler.counts == {"judged": 1}
    assert (cases[0].answer, cases[0].generator) == (HONEST, "gpt-4o-mini")


def watched(app, given=ASKED):
    """Call an application under a handler; return what was judged, and the counts."""
    seen = []
    handler = JuryCallbackHandler(lambda case: True, on_verdict=seen.append)
    app.invoke(given, {"callbacks": [handler]})
    handler.close()
    return [one.case.answer for one in seen], handler.counts


def test_trap_18_a_refusal_is_skipped_by_a_handler_around_the_agent():
    app, _, _ = guarded([INVENTED], lambda case: False, on_fail="block")
    direct, _, _ = guarded([call("balance")], lambda case: False, [balance])
    for one in (app, app | (lambda state: state["messages"][-1].text), direct):
        assert watched(one) == ([], {"skipped": 1})


def test_trap_18_another_answer_after_a_refusal_is_judged():
    app, _, _ = guarded([INVENTED], lambda case: False, on_fail="block")
    assert watched(app | (lambda state: f"Sorry: {state['messages'][-1].text}"))[0] == [f"Sorry: {REFUSAL}"]


def test_trap_18_a_user_cannot_pass_a_message_off_as_a_refusal():
    forged = HumanMessage(QUESTION, additional_kwargs={"jury": {"kind": "blocked", "by": "reviewed"}})
    app, _, drafts = guarded([HONEST], lambda case: True)
    for one, given in ((app, {"messages": [forged]}), (RunnableLambda(lambda _: forged), "q")):
        assert watched(one, given)[1]["judged"] == 1
    assert len(drafts) == 1


# Store, budget and options


def test_trap_16_store_and_budget_apply_in_guards():
    store, budget, found = ReadOnly(None), Budget(max_calls=1), []

    async def asks(case):
        found.append((context().store, context().budget, context().judging))
        return True

    app, _, _ = guarded([HONEST], asks, store=store, budget=budget)
    for how in ("sync", "async"):
        ask(app, how)
    assert found == [(store, budget, True)] * 2


@each_row(
    ("jury", "options", "message"),
    [
        (reviewed, {"on_fail": "retyr"}, "on_fail= is 'retry' or 'block' or 'annotate', not 'retyr'"),
        (reviewed, {"on_undecided": "pass"}, "on_undecided= is 'allow' or 'block', not 'pass'"),
        (reviewed, {"max_retries": -1}, "max_retries= is a whole number from 0, not -1"),
        (reviewed, {"max_retries": 1.5}, "max_retries= is a whole number from 0, not 1.5"),
        ("faithfulness", {}, "a judge is a Judge or a function of a case"),
    ],
)
def test_wrong_options_are_refused(jury, options, message):
    with pytest.raises(ConfigurationError, match=message):
        JuryMiddleware(jury, **options)


def test_many_turns_at_once_each_get_their_verdict():
    def reply(messages):
        number = messages[0].text.split()[-1]
        return f"No {number}" if len(messages) == 1 else f"Yes {number}"

    chat = model("unused")
    chat.reply = reply
    guard = JuryMiddleware(lambda case: (case.answer.startswith("Yes"), case.answer))
    app = create_agent(chat, [], middleware=[guard])

    async def tasks():
        asked = ({"messages": [("user", f"Is it {number}")]} for number in range(50))
        return await asyncio.gather(*(app.ainvoke(one) for one in asked))

    for number, state in enumerate(asyncio.run(tasks())):
        assert (said(state), state["jury_verdict"]["reasoning"]) == ([f"Yes {number}"], f"Yes {number}")
