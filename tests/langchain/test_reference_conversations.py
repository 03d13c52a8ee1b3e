"""Runs and their references as agentevals' matchers compare them: the same two conversations that they get directly."""

import warnings
from itertools import product

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage, convert_to_openai_messages
from support.examples import SLOW

with warnings.catch_warnings():  # what these import is their own affair
    warnings.simplefilter("ignore")
    from agentevals.trajectory.match import create_trajectory_match_evaluator

from jury_adapters import Case
from jury_adapters.checks import ToolCalls
from jury_adapters.langchain import JuryEvaluator, conversation, from_evaluator


def call_of(tool, **arguments):
    return {"name": tool, "args": arguments, "id": f"{tool} {sorted(arguments.values())}"}


def result_of(call, text="18"):
    return ToolMessage(text, tool_call_id=call["id"])


MODES = ["strict", "unordered", "subset", "superset"]
BERN, OSLO, CLOCK = call_of("weather", city="Bern"), call_of("weather", city="Oslo"), call_of("clock")
RUNS = {
    "parallel": [AIMessage("", tool_calls=[BERN, OSLO]), result_of(BERN), result_of(OSLO), AIMessage("18")],
    "parallel, results in another order": [
        AIMessage("I look.", tool_calls=[BERN, CLOCK]), result_of(CLOCK), result_of(BERN), AIMessage("18")
    ],
    "one result missing": [AIMessage("", tool_calls=[BERN, OSLO]), result_of(OSLO), AIMessage("18")],
    "all results missing": [AIMessage("", tool_calls=[BERN]), AIMessage("18")],
    "parallel twice": [
        AIMessage("", tool_calls=[BERN, OSLO]), result_of(BERN), result_of(OSLO),
        AIMessage("", tool_calls=[CLOCK, BERN]), result_of(CLOCK), result_of(BERN), AIMessage("18"),
    ],
    "one after the other": [
        AIMessage("", tool_calls=[BERN]), result_of(BERN), AIMessage("", tool_calls=[OSLO]), result_of(OSLO),
        AIMessage("18"),
    ],
    "words in between": [
        AIMessage("", tool_calls=[BERN]), result_of(BERN), AIMessage("And Oslo?"),
        AIMessage("", tool_calls=[OSLO, CLOCK]), result_of(OSLO), result_of(CLOCK), AIMessage("18"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("run", RUNS)
class TestRoundTrip:
    """A run read into a case and written again is the same run to agentevals' matchers."""

    @pytest.mark.parametrize("mode", MODES)
    def test_a_run_matches_itself(self, run, mode):
        thread = [HumanMessage("?"), *RUNS[run]]
        case = Case.from_messages(thread, metadata={"expected_calls": convert_to_openai_messages(thread)})
        matcher = create_trajectory_match_evaluator(trajectory_match_mode=mode)
        assert from_evaluator(matcher, trajectory=True).judge(case).passed
        assert matcher(outputs=thread, reference_outputs=conversation(case))["score"] is True

    def test_no_other_run_matches_it_strictly(self, run):
        matcher = create_trajectory_match_evaluator(trajectory_match_mode="strict")
        written = {name: conversation(Case.from_messages([("user", "?"), *thread])) for name, thread in RUNS.items()}
        thread = [HumanMessage("?"), *RUNS[run]]
        matching = [
            name for name, found in written.items() if matcher(outputs=thread, reference_outputs=found)["score"]
        ]
        assert matching == [run]


DUPLICATE = {**CLOCK, "id": BERN["id"]}
CONVERSATIONS = {
    **{name: [HumanMessage("?"), *thread] for name, thread in RUNS.items()},
    "no tool calls": [HumanMessage("?"), AIMessage("18")],
    "two turns": [
        HumanMessage("?"), *RUNS["parallel"], HumanMessage("And Oslo?"), AIMessage("", tool_calls=[OSLO]),
        result_of(OSLO), AIMessage("17"),
    ],
    "two turns, calls in the first alone": [
        HumanMessage("?"), *RUNS["parallel"], HumanMessage("Thanks."), AIMessage("Welcome."),
    ],
    "one id twice": [
        HumanMessage("?"), AIMessage("", tool_calls=[BERN, DUPLICATE]), result_of(BERN), result_of(DUPLICATE),
        AIMessage("18"),
    ],
    "a system message": [SystemMessage("Be brief."), HumanMessage("?"), *RUNS["parallel twice"]],
    "without a question": RUNS["parallel"],
    "another city": [HumanMessage("?"), AIMessage("", tool_calls=[OSLO]), result_of(OSLO), AIMessage("18")],
}  # fmt: skip


# Each conversation with itself, and with others: in the slow run all, else every fifth pair.
PAIRS = [
    (run, reference)
    for position, (run, reference) in enumerate(product(CONVERSATIONS, CONVERSATIONS))
    if SLOW or run == reference or position % 5 == 0
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("whole_thread", "written"), [(False, list), (True, list), (False, convert_to_openai_messages)]
)
def test_matchers_compare_the_two_conversations_that_they_get_directly(whole_thread, written):
    for mode in ("strict", "superset"):
        matcher = create_trajectory_match_evaluator(trajectory_match_mode=mode)
        evaluate = JuryEvaluator(from_evaluator(matcher, trajectory=True), whole_thread=whole_thread)
        for name, other in PAIRS:
            run, reference = CONVERSATIONS[name], CONVERSATIONS[other]
            directly = matcher(outputs=written(run), reference_outputs=written(reference))["score"]
            wanted = {"messages": written(reference)} if mode == "strict" else written(reference)
            found = evaluate(inputs={"question": "?"}, outputs={"messages": written(run)}, reference_outputs=wanted)
            assert found["score"] == float(directly), (mode, name, other)


@pytest.mark.slow
def test_so_they_do_in_rows_of_a_file():
    matcher = create_trajectory_match_evaluator(trajectory_match_mode="strict")
    for name, other in PAIRS:
        run, reference = CONVERSATIONS[name], CONVERSATIONS[other]
        row = {"messages": convert_to_openai_messages(run), "reference_outputs": convert_to_openai_messages(reference)}
        case = Case.from_row(Case.from_row(row).model_dump(mode="json", exclude_defaults=True))
        directly = matcher(outputs=run, reference_outputs=reference)["score"]
        assert from_evaluator(matcher, trajectory=True).judge(case).passed is directly, (name, other)


def test_the_same_run_under_other_ids_is_the_same_case():
    def case(prefix):
        thread = convert_to_openai_messages(CONVERSATIONS["two turns"])
        for message in thread:
            for call in message.get("tool_calls", ()):
                call["id"] = prefix + call["id"]
            if "tool_call_id" in message:
                message["tool_call_id"] = prefix + message["tool_call_id"]
        return Case.from_row({"outputs": {"messages": thread}, "reference_outputs": thread})

    assert case("a") == case("b")
    assert [message["tool_call_id"] for message in conversation(case("a")) if message["role"] == "tool"] == [
        "call_1", "call_2", "call_3",
    ]  # fmt: skip


@pytest.mark.parametrize("wanted", [
    {"expected_calls": ["look", "pay"]}, {"answer": "Paid.", "expected_calls": ["look", "pay"]},
    {"answer": "Paid.", "expected_tools": [{"name": "look"}, {"name": "pay"}]},
    {"answer": "Paid.", "reference_tool_calls": [{"name": "look"}, {"name": "pay"}]},
])  # fmt: skip
def test_the_outputs_of_an_example_name_the_expected_calls(wanted):
    thread = [AIMessage("", tool_calls=[{"name": name, "args": {}, "id": name}]) for name in ("look", "pay")]
    evaluate = JuryEvaluator(ToolCalls(arguments="ignore"))
    assert evaluate(inputs="Pay.", outputs={"messages": thread}, reference_outputs=wanted)["score"] == 1.0


def test_without_expected_calls_the_comment_says_where_they_are_looked_for():
    said = JuryEvaluator(ToolCalls())(inputs="Pay.", outputs="Paid.", reference_outputs={"answer": "Paid."})["comment"]
    assert "outputs of a LangSmith example" in (said or "")
