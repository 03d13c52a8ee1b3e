"""Outputs of tools that are evidence."""

from typing import TypedDict

import pytest
from langchain_core.messages import AIMessage, ToolMessage, messages_to_dict
from langchain_core.utils.function_calling import convert_to_openai_tool
from llama_index.core.tools import FunctionTool
from support.bridge_page import PAGE, Year, search

from jury_adapters import Case, ConfigurationError, Judgment, Step
from jury_adapters.core.echoes import echoes
from jury_adapters.core.evidence import Evidence
from jury_adapters.langchain import JuryTool


def step(name="search", output=PAGE, **fields):
    return Step(tool=name, arguments={"query": "bridge"}, output=output, **fields)


def a_function(query: str) -> str:
    """Look it up."""
    return PAGE


def test_outputs_of_tools_are_evidence_each_text_once():
    steps = [step(), step("fetch"), step("read", "Two lanes."), step("read", " "), Step(text="I think so.")]
    assert Evidence().contexts(steps) == (PAGE, "Two lanes.")
    assert Evidence().contexts([Step(tool="search", error="no such page")]) == ()


@pytest.mark.parametrize("name", [
    "write_todos", "TodoWrite", "think", "think_tool", "sequentialthinking", "mcp__thoughts__sequentialthinking",
    "planning", "update_plan", "handoff", "transfer_to_billing", "transfer_back_to_supervisor", "handoff_to_billing",
    "functions.think", "final_answer", "jury", "_Exception", "forward_message",
    "update_todo_list", "create_todo", "manage_todo_list", "add_todo", "todo_list", "save_plan", "submit_plan",
    "planning_tool", "ExitPlanMode", "updateTodoItems", "add_note", "take_notes", "note", "save_to_memory",
    "manage_memory", "core_memory_append", "archival_memory_insert", "record_thought", "write_to_scratchpad",
])  # fmt: skip
def test_tools_that_repeat_what_the_model_wrote_are_no_evidence_unless_named(name):
    assert echoes(name)
    assert Evidence().contexts([step(name)]) == ()
    assert Evidence(lambda one: True).contexts([step(name)]) == ()
    assert Evidence([name]).contexts([step(name)]) == (PAGE,)


@pytest.mark.parametrize(
    "name",
    [
        "search",
        "thinkers_db",
        "transfer",
        "plan_flight",
        "todo_api_list_servers",
        "finalise",
        "list_plans",
        "get_plan",
        "list_notes",
        "search_memory",
        "get_notes",
        "notes",
        "write_file",
        "update",
        "record",
        "trip_planner",
        "compare_plans",
        "release_notes",
        "set_top_box",
        "make_list",
    ],
)
def test_other_tools_are_evidence(name):
    assert Evidence().contexts([step(name)]) == (PAGE,)


INVENTED = "The last bus of line 4 leaves at 18:00."


def call(output, **arguments):
    return Step(tool="record", arguments=arguments, output=output)


@pytest.mark.parametrize("repeating", [
    call("It opened in\n1987. ", text="It opened in 1987.", page=3),
    call(f"Recorded: {INVENTED}", text=INVENTED),
    call(f"I have recorded: '{INVENTED}'", text=INVENTED),
    call("RECORDED THE LAST BUS OF LINE 4 LEAVES AT 18:00", text=INVENTED),
    call("Recorded: 18:00", text="18:00"),
    call("Recorded: 1987.", year=1987),
    call("The last bus of line 4 leaves at 18:00.\n", code=f"print('{INVENTED}')"),
    call("18:00\n", code="print('18:00')"),
    call(f"[('{INVENTED}',)]", query=f"SELECT '{INVENTED}' AS fact"),
    call(f'[{{"fact": "{INVENTED}"}}]', query=f"SELECT '{INVENTED}' AS fact FROM lines LIMIT 1;"),
    call(f"- [ ] {INVENTED}\n- [ ] Say goodbye to everybody.", items=[
        {"text": INVENTED, "done": False}, {"text": "Say goodbye to everybody.", "done": False}]),
    call(f"Items: [{{'text': '{INVENTED}', 'done': False}}]", items=[{"text": INVENTED, "done": False}]),
    call(f"Kept: {INVENTED}", text=f"Line 4 is a bus. {INVENTED} It is red."),
])  # fmt: skip
def test_an_output_that_repeats_an_argument_is_no_evidence_unless_its_tool_is_named(repeating):
    assert Evidence().contexts([repeating]) == ()
    assert Evidence(lambda one: True).contexts([repeating]) == ()
    assert Evidence(["record"]).contexts([repeating]) == (repeating.output,)


@pytest.mark.parametrize(("given", "left"), [
    (call("Results for 'last bus of line 4':\nBuses leave at 9:10 and 16:25.", query="last bus of line 4"),
     "Results for '…':\nBuses leave at 9:10 and 16:25."),
    (call("Query: last bus of line 4\nBuses leave at 9:10 and 16:25.", query="last bus of line 4"),
     "Query: …\nBuses leave at 9:10 and 16:25."),
    (call(f"Stored note 12 in the book of today: {INVENTED} There are 11 older notes.", text=INVENTED),
     "Stored note 12 in the book of today: … There are 11 older notes."),
    (call(f"{INVENTED}\n16:25\n", code=f"print('{INVENTED}'); print(last(4))"), "…\n16:25\n"),
    (call(f"[('{INVENTED}', 'Harbour', 57)]", query=f"SELECT '{INVENTED}', stop, height FROM stops"),
     "[('…', 'Harbour', 57)]"),
    (call("[('Line of the Old Harbour', 57)]", query="SELECT * FROM lines WHERE n='Line of the Old Harbour'"), None),
    (call("the capital city of France: Paris", query="the capital city of France"), None),
])  # fmt: skip
def test_of_other_outputs_only_the_repeated_argument_is_left_out(given, left):
    assert Evidence().contexts([given]) == (left or given.output,)
    assert Evidence(["record"]).contexts([given]) == (given.output,)


@pytest.mark.parametrize("kept", [
    call("The Treaty of Westphalia was signed in 1648.", query="Treaty of Westphalia"),
    call("Treaty of Westphalia\nIt was signed in 1648.", query="history of the Treaty of Westphalia"),
    call("Last bus of line 4: 16:25.", query="last bus of line 4"),
    call("The last bus of line 4 leaves at 16:25.", query="When does the last bus of line 4 leave?"),
    call("Paris: sunny", city="Paris"),
    call("Paris: 21 °C", city="Paris"),
    call("42", expression="6 * 7"),
    call("Paris", country="France"),
    call("BA 7", flights=["LH 4", "BA 7"]),
    call("The buses of line 4 leave at 9:10.", line="4"),
])  # fmt: skip
def test_a_page_with_the_words_that_were_searched_for_is_evidence(kept):
    assert Evidence().contexts([kept]) == (kept.output,)


@pytest.mark.parametrize("given", [
    step("Year", "Returning structured response: year='1987'"),
    step("Year", "Error: Failed to parse structured output for tool 'Year': input_value='1987'.\n Please fix it."),
    step("Year", "Error: Model incorrectly returned multiple structured responses (Year, Day) when one is expected."),
    step("Year", "ok", echo=True),
    Step(tool="ask", arguments={"answer": "1987"}, output="PASS, score 0.83, agreement 1.00: it says 1987"),
    step("Day", "Wrong: Failed to parse structured output for tool 'Day': input_value='1987'."),
    step("Day", "Try again. Model incorrectly returned multiple structured responses (Year, Day): 1987"),
    step("Day", "1 validation error for Day\nn\n  Input should be a valid integer [input_value='1987']"),
    Step(tool="ask", arguments={"answer": "1987"}, output="label polite: it says 1987"),
    Step(tool="ask", arguments={"answer": "1987"}, output="label rather: polite, agreement 1.00: it says 1987"),
    Step(tool="ask", arguments={"answer": "1987"}, output="FAITHFUL, PASS, score 1.00: it says 1987"),
])  # fmt: skip
@pytest.mark.parametrize("tools", [None, ["Year", "Day", "ask"], lambda one: True])
def test_structured_responses_and_verdicts_are_never_evidence(given, tools):
    assert Evidence(tools).contexts([given]) == ()


def test_names_and_predicates_choose():
    steps = [step(), step("fetch", "Two lanes.")]
    assert Evidence(["fetch"]).contexts(steps) == ("Two lanes.",)
    assert Evidence(name for name in ("fetch",)).contexts(steps) == ("Two lanes.",)
    assert Evidence({"search": 1}).contexts(steps) == (PAGE,)
    assert Evidence([]).contexts(steps) == ()
    assert Evidence(lambda one: "lanes" in one.output).contexts(steps) == ("Two lanes.",)


async def later(one):
    return True


@pytest.mark.parametrize(("given", "said"), [
    ("search", r"evidence_tools=\['search'\]"), (b"search", r"evidence_tools=\['search'\]"),
    (3, "not 3"), ([3], "not 3"), ([""], "not ''"), ([None], "not None"),
    ([search], "give its name, 'search'"), (search, r"evidence_tools=\['search'\]"), ([a_function], "'a_function'"),
    (FunctionTool.from_defaults(a_function), r"evidence_tools=\['a_function'\]"),
    ([FunctionTool.from_defaults(a_function)], "'a_function'"),
    (later, "asynchronous"), (lambda: True, "one argument"), (lambda one, two: True, "one argument"),
    (Step, "the class Step"),
])  # fmt: skip
def test_what_is_neither_names_nor_a_predicate_is_refused_with_the_fix(given, said):
    for make in (
        Evidence,
        lambda tools: Case.from_row({"answer": "!"}, evidence_tools=tools),
        lambda tools: Case.from_messages([("user", "?")], evidence_tools=tools),
    ):
        with pytest.raises(ConfigurationError, match=said):
            make(given)


# Conversations and rows


class Named(TypedDict):
    """The year."""

    year: str


def conversation(*results, calls=(("Year", {"year": "1987"}),), answer=None):
    made = [{"name": "search", "args": {"query": "bridge"}, "id": "s"}]
    made += [{"name": name, "args": args, "id": f"c{i}"} for i, (name, args) in enumerate(calls)]
    said = [ToolMessage(text, tool_call_id=f"c{i}", name=calls[i][0]) for i, text in enumerate(results)]
    messages = [("user", "When?"), AIMessage("", tool_calls=made), ToolMessage(PAGE, tool_call_id="s"), *said]
    return [*messages, AIMessage(answer)] if answer else messages


@pytest.mark.parametrize("response", [
    Year(year="1987"), {"year": "1987"}, {"year": "1987", "source": "the page"},
    {"lc": 2, "type": "constructor", "id": ["app", "Year"], "kwargs": {"year": "1987", "source": "the page"}},
])  # fmt: skip
def test_the_call_of_a_structured_response_is_recognised_whatever_its_message_says(response):
    state = {"messages": conversation("Noted: 1987."), "structured_response": response}
    for case in (Case.from_row({"outputs": state}), Case.from_row({"inputs": {"question": "When?"}, "outputs": state})):
        assert case.contexts == (PAGE,)
        assert [one.echo for one in case.trajectory] == [False, True]


def test_an_earlier_try_of_the_structured_response_is_no_evidence_either():
    calls = (("Year", {"year": "about 1987"}), ("Year", {"year": "1987"}))
    messages = conversation("not a year: about 1987", "Noted: 1987.", calls=calls)
    case = Case.from_row({"outputs": {"messages": messages, "structured_response": Year(year="1987")}})
    assert case.contexts == (PAGE,)


def test_a_tool_with_arguments_like_the_response_is_still_evidence():
    """A model that gives its structured response as text has called no tool for it."""
    messages = conversation("rain", calls=(("weather", {"city": "Oslo"}),), answer='{"city": "Oslo", "sky": "rain"}')
    case = Case.from_row({"outputs": {"messages": messages, "structured_response": {"city": "Oslo", "sky": "rain"}}})
    assert case.contexts == (PAGE, "rain")


@pytest.mark.parametrize("response", [Year(year="1987"), {"year": "1987"}])
def test_a_tool_that_was_called_with_the_arguments_of_the_response_is_still_evidence(response):
    """The response is the call with which the turn ends, or none."""
    asked = AIMessage("", tool_calls=[{"name": "lookup", "args": {"year": "1987"}, "id": "1"}])
    found = ToolMessage("A year with rain.", tool_call_id="1", name="lookup")
    responds = AIMessage("", tool_calls=[{"name": "Year", "args": {"year": "1987"}, "id": "2"}])
    done = ToolMessage("Noted: 1987.", tool_call_id="2", name="Year")
    for end in ([responds, done], [AIMessage('{"year": "1987"}')]):
        state = {"messages": [("user", "?"), asked, found, *end], "structured_response": response}
        assert Case.from_row({"outputs": state}).contexts == ("A year with rain.",)


def test_beside_a_call_with_the_same_arguments_the_message_tells_which_is_the_response():
    calls = (("lookup", {"year": "1987"}), ("Year", {"year": "1987"}))
    messages = conversation("A year with rain.", "Returning structured response: {'year': '1987'}", calls=calls)
    case = Case.from_row({"outputs": {"messages": messages, "structured_response": {"year": "1987"}}})
    assert case.contexts == (PAGE, "A year with rain.")


def test_every_turn_is_read_so():
    from jury_adapters.langchain import to_case

    state = {"messages": conversation("Noted: 1987."), "structured_response": Year(year="1987")}
    assert to_case(state, whole_thread=True).contexts == (PAGE,)


def test_the_verdict_of_a_jury_under_any_name_is_no_evidence_in_any_form_of_the_messages():
    reviewer = JuryTool(lambda case: (True, f"it says {case.answer}"), name="ask_reviewers")
    call = {"name": "ask_reviewers", "args": {"answer": "1987"}, "id": "1", "type": "tool_call"}
    said = reviewer.invoke(call)
    assert said.artifact["status"] == "PASS"
    asked = AIMessage("", tool_calls=[call])
    plain = [
        {"role": "user", "content": "?"},
        {"role": "assistant", "content": "", "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "ask_reviewers", "arguments": '{"answer": "1987"}'}}]},
        {"role": "tool", "tool_call_id": "1", "content": said.text},
    ]  # fmt: skip
    messages = [("user", "?"), asked, said]
    for given in (messages, [("user", "?"), *messages_to_dict([asked, said])], plain):
        assert "1987" in said.text
        assert Case.from_messages(given).contexts == ()
        assert Case.from_row({"messages": given}).contexts == ()
    assert convert_to_openai_tool(reviewer)["function"]["name"] == "ask_reviewers"


def test_the_label_of_a_jury_is_no_evidence_in_any_form_of_the_messages():
    reviewer = JuryTool(lambda case: Judgment(None, label="polite", reasoning=case.answer), name="ask_reviewers")
    call = {"name": "ask_reviewers", "args": {"answer": "open at 18:00"}, "id": "1", "type": "tool_call"}
    said = reviewer.invoke(call)
    assert said.text == "label polite: open at 18:00"
    renamed = AIMessage("", tool_calls=[{**call, "args": {"draft": "?"}}])
    for given in (
        [renamed, said],
        messages_to_dict([renamed, said]),
        [AIMessage("", tool_calls=[call]), ("tool", said.text)],
    ):
        assert Case.from_messages([("user", "?"), *given]).contexts == ()


def test_conversations_and_rows_take_the_option():
    messages = [*conversation("Two lanes.", calls=(("fetch", {"page": "2"}),)), AIMessage("1994")]
    assert Case.from_messages(messages).contexts == (PAGE, "Two lanes.")
    assert Case.from_messages(messages, evidence_tools=["fetch"]).contexts == ("Two lanes.",)
    assert Case.from_messages(messages, contexts=["given"], evidence_tools=["fetch"]).contexts == ("given",)
    assert Case.from_messages(messages, context=[]).contexts == ()
    assert Case.from_row({"messages": messages}, evidence_tools=["fetch"]).contexts == ("Two lanes.",)
    assert Case.from_row({"messages": messages, "contexts": ["given"]}, evidence_tools=["fetch"]).contexts == ("given",)


def test_a_step_says_so_when_it_is_written_and_read():
    case = Case(question="?", trajectory=[step("Year", "1987", echo=True), step()])
    assert Case.model_validate_json(case.model_dump_json(exclude_defaults=True)) == case
    assert [one.echo for one in case.trajectory] == [True, False]
