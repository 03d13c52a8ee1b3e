"""Checks of what an agent did."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_adapters import Case, ConfigurationError, Status, Step
from jury_adapters.checks import Contains
from jury_adapters.judges.toolcalls import ToolCall, pairs_in_any_order, pairs_in_order
from jury_adapters.judges.trajectory import CostLimit, FinalAnswer, ForbiddenTools, NoToolErrors, StepLimit, ToolCalls

PASS, FAIL, ABSTAIN = Status.PASS, Status.FAIL, Status.ABSTAIN
MESSAGES = [
    ("user", "Weather in Bern?"),
    {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "find", "arguments": '{"q": "Bern"}'}}]},
    {"role": "tool", "tool_call_id": "1", "content": "46.9, 7.4"},
    {
        "role": "assistant",
        "tool_calls": [{"id": "2", "function": {"name": "weather", "arguments": '{"at": "46.9, 7.4", "unit": "C"}'}}],
    },
    {"role": "tool", "tool_call_id": "2", "content": "rain"},
    {"role": "assistant", "content": "It rains in Bern."},
]
RAN = Case.from_messages(MESSAGES)


def ran(*calls, answer="done", **fields):
    steps = [Step(tool=call, output="ok") if isinstance(call, str) else call for call in calls]
    return Case(question="?", answer=answer, trajectory=steps, **fields)


@pytest.mark.parametrize(
    ("order", "made", "expected", "status", "score"),
    [
        ("strict", "ab", "ab", PASS, 1.0),
        ("strict", "ba", "ab", FAIL, 0.5),
        ("strict", "abc", "ab", FAIL, 2 / 3),
        ("strict", "a", "ab", FAIL, 0.5),
        ("unordered", "ba", "ab", PASS, 1.0),
        ("unordered", "baa", "ab", FAIL, 2 / 3),
        ("subset", "b", "ab", PASS, 1.0),
        ("subset", "bb", "ab", FAIL, 0.5),
        ("subset", "", "ab", PASS, 1.0),
        ("superset", "bxa", "ab", PASS, 1.0),
        ("superset", "bx", "ab", FAIL, 0.5),
        ("strict", "", "", PASS, 1.0),
    ],
)
def test_orders(order, made, expected, status, score):
    judgment = ToolCalls(list(expected), order=order).judge(ran(*made))
    assert (judgment.status, judgment.score) == (status, pytest.approx(score))


@pytest.mark.parametrize(
    ("arguments", "expected", "status"),
    [
        ("exact", {"at": "46.9, 7.4", "unit": "C"}, PASS),
        ("exact", {"at": "46.9, 7.4"}, FAIL),
        ("superset", {"at": "46.9, 7.4"}, PASS),
        ("superset", {"at": "elsewhere"}, FAIL),
        ("subset", {"at": "46.9, 7.4", "unit": "C", "lang": "de"}, PASS),
        ("subset", {"at": "46.9, 7.4"}, FAIL),
        ("ignore", {"at": "elsewhere"}, PASS),
    ],
)
def test_arguments(arguments, expected, status):
    judge = ToolCalls(["find", ("weather", expected)], arguments=arguments)
    assert judge.judge(RAN).status is status


def test_a_tool_may_have_a_comparison_of_its_own():
    expected = [("find", {"q": "bern"}), ("weather", {})]
    rules = {"find": lambda given, wanted: given["q"].lower() == wanted["q"], "weather": "superset"}
    assert ToolCalls(expected, overrides=rules).judge(RAN).status is PASS
    assert ToolCalls(expected).judge(RAN).status is FAIL


def test_what_is_missing_and_what_is_too_much_is_said():
    judgment = ToolCalls(["find", ("book", {"room": 1})]).judge(RAN)
    assert judgment.reasoning == (
        "not called in this order: book(room=1); not expected: weather(at='46.9, 7.4', unit='C')"
    )
    assert [(check.name, check.passed) for check in judgment.findings] == [
        ("called find", True),
        ("called book(room=1)", False),
    ]


@pytest.mark.parametrize(
    ("order", "made", "said"),
    [
        ("superset", ["other"], "not called: look"),
        ("superset", ["look", "other"], "1 call as expected, 1 further"),
        ("subset", ["other"], "not expected: other()"),
        ("subset", [], "0 calls as expected"),
        ("strict", ["look"], "1 call as expected"),
        ("unordered", ["other"], "not called: look; not expected: other()"),
    ],
)
def test_only_what_the_order_asks_for_is_held_against_a_run(order, made, said):
    assert ToolCalls(["look"], order=order).judge(ran(*made)).reasoning == said


@pytest.mark.parametrize(
    "expected",
    [["find", "weather"], [{"tool": "find"}, {"name": "weather", "args": {"unit": "C", "at": "46.9, 7.4"}}], MESSAGES],
)
def test_the_case_may_say_what_is_expected(expected):
    messages = [dict(zip(("role", "content"), m, strict=True)) if isinstance(m, tuple) else m for m in expected]
    case = RAN.model_copy(update={"metadata": {"expected_calls": messages}})
    assert ToolCalls().judge(case).status is PASS


def test_without_expectations_or_a_run_it_abstains():
    assert ToolCalls().judge(RAN).status is ABSTAIN
    for judge in (ToolCalls(["a"]), ForbiddenTools("a"), StepLimit(1), NoToolErrors(), FinalAnswer()):
        assert judge.judge(question="?").status is ABSTAIN


def test_expectations_in_the_case_that_are_none_are_an_error_of_this_case():
    case = RAN.model_copy(update={"metadata": {"expected_calls": [7]}})
    assert ToolCalls().judge(case).status is Status.ERROR


def test_forbidden_tools_by_name_and_pattern():
    assert ForbiddenTools("delete_*").judge(ran("find", "delete_file")).reasoning == "forbidden: delete_file()"
    assert ForbiddenTools(["delete", "drop"]).judge(ran("find", "delete_file")).status is PASS


@pytest.mark.parametrize(
    ("judge", "status"),
    [
        (StepLimit(max_steps=4), PASS),
        (StepLimit(max_steps=3), FAIL),
        (StepLimit(max_tool_calls=3), PASS),
        (StepLimit(max_tool_calls=2), FAIL),
        (StepLimit(max_per_tool=2), FAIL),
        (StepLimit(max_repeats=2), PASS),
        (StepLimit(max_repeats=1), FAIL),
    ],
)
def test_step_limits(judge, status):
    assert judge.judge(ran("a", "a", "a", Step(text="hm"))).status is status


def test_other_arguments_are_no_repetition():
    calls = [Step(tool="a", arguments={"page": page}) for page in range(3)]
    assert StepLimit(max_repeats=0).judge(ran(*calls)).status is PASS


def test_cost_limits_read_the_metadata():
    case = ran("a", metadata={"cost_usd": 0.02, "total_tokens": 900, "elapsed_s": 3})
    assert CostLimit(max_usd=0.02, max_tokens=1000, max_seconds=3).judge(case).status is PASS
    judgment = CostLimit(max_usd=0.01, max_tokens=1000).judge(case)
    assert (judgment.status, judgment.reasoning) == (FAIL, "over the limit: cost_usd: 0.02 of at most 0.01")
    assert CostLimit(max_usd=1).judge(ran("a")).status is ABSTAIN


def test_tool_errors():
    case = ran("a", Step(tool="b", error="gone"))
    assert NoToolErrors().judge(case).reasoning == "failed: b: gone"
    assert NoToolErrors(allowed=1).judge(case).status is PASS


def test_a_run_ends_with_an_answer():
    assert (FinalAnswer() & Contains("Bern")).judge(RAN).status is PASS
    paused = Case.from_messages(MESSAGES[:2])
    assert FinalAnswer().judge(paused).reasoning == "the run ended without an answer, its last step was find"
    assert FinalAnswer().judge(ran(answer="  ")).status is FAIL


@pytest.mark.parametrize(
    "make",
    [
        lambda: ToolCalls(["a"], order="sorted"),
        lambda: ToolCalls(["a"], arguments="roughly"),
        lambda: ToolCalls("a"),
        lambda: ToolCalls([7]),
        lambda: ToolCalls([""]),
        lambda: ForbiddenTools([]),
        StepLimit,
        lambda: StepLimit(max_steps=-1),
        CostLimit,
        lambda: CostLimit(max_usd=True),
        lambda: NoToolErrors(allowed=-1),
    ],
)
def test_wrong_construction_is_refused(make):
    with pytest.raises(ConfigurationError):
        make()


tables = st.integers(0, 5).flatmap(
    lambda expected: st.tuples(
        st.lists(st.lists(st.booleans(), min_size=expected, max_size=expected), max_size=5), st.just(expected)
    )
)


@given(tables)
def test_pairings_fit_and_are_as_large_as_any(table):
    """Compared with all pairings there are."""
    fits, expected = table

    def best(made, free):
        if made == len(fits):
            return 0
        taken = [1 + best(made + 1, free - {at}) for at in free if fits[made][at]]
        return max([best(made + 1, free), *taken])

    pairs = pairs_in_any_order(fits, expected)
    assert all(fits[made][at] for made, at in pairs.items())
    assert len(set(pairs.values())) == len(pairs) == best(0, frozenset(range(expected)))

    ordered = pairs_in_order(fits, expected)
    assert all(fits[made][at] for made, at in ordered.items())
    assert list(ordered.values()) == sorted(set(ordered.values()))
    assert len(ordered) <= len(pairs)


def test_calls_read_from_steps_keep_their_arguments():
    assert ToolCall.of(RAN.trajectory[0]) == ToolCall("find", {"q": "Bern"})


@pytest.mark.parametrize(
    "call",
    [
        {"name": "find", "input_parameters": {"q": "Bern"}},
        {"name": "find", "inputParameters": {"q": "Bern"}},
        {"name": "find", "input": {"q": "Bern"}},
        {"tool_name": "find", "tool_kwargs": {"q": "Bern"}},
        {"name": "find", "args": {"q": "Bern"}, "id": "1", "type": "tool_call"},
        {"id": "1", "type": "function", "function": {"name": "find", "arguments": '{"q": "Bern"}'}},
    ],
)
def test_an_expected_call_may_have_the_names_of_any_package(call):
    assert ToolCall.of(call) == ToolCall("find", {"q": "Bern"})


def test_an_expected_call_without_arguments_has_any_and_unknown_names_are_refused():
    assert ToolCall.of({"name": "find", "input_parameters": None, "output": {"a": 1}}) == ToolCall("find")
    assert ToolCall.of({"name": "find", "input_parameters": {}}) == ToolCall("find", {})
    for call in ({"name": "find", "params": {"q": 1}}, {"name": "find", "args": [1]}, {"name": "find", "args": "q"}):
        with pytest.raises(ConfigurationError, match="an expected call is a tool's name"):
            ToolCall.of(call)
