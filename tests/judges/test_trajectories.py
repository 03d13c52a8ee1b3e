"""The checks of an agent's calls, compared with every pairing that there is and with agentevals."""

from itertools import permutations, product

import pytest
from agentevals.trajectory.match import create_trajectory_match_evaluator
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from jury_adapters import Case, Ensemble, Run, Step, default_case
from jury_adapters.checks import ForbiddenTools, NoToolErrors, StepLimit, ToolCalls
from jury_adapters.judges.external import from_evaluator

WEATHER = Step(tool="weather", arguments={"at": [46.9, 7.4], "unit": "C"}, output="rain")


def ran(*calls, answer="done", **fields):
    steps = [Step(tool=call, output="ok") if isinstance(call, str) else call for call in calls]
    return Case(question="?", answer=answer, steps=steps, **fields)


# The order, the calls made and expected, the status, the score, and the reason.
ORDERS = [
    ("strict", "ab", "ab", "PASS", 1.0, "2 calls as expected, 0 further"),
    ("strict", "ba", "ab", "FAIL", 0.0, "not called in this order: a, b; not expected: b(), a()"),
    ("strict", "abc", "ab", "FAIL", 2 / 3, "not expected: c()"),
    ("strict", "a", "ab", "FAIL", 0.5, "not called in this order: b"),
    ("strict", "", "", "PASS", 1.0, ""),
    ("unordered", "ba", "ab", "PASS", 1.0, ""),
    ("unordered", "baa", "ab", "FAIL", 2 / 3, "not expected: a()"),
    ("unordered", "x", "a", "FAIL", 0.0, "not called: a; not expected: x()"),
    ("subset", "b", "ab", "PASS", 1.0, ""),
    ("subset", "bb", "ab", "FAIL", 0.5, "not expected: b()"),
    ("subset", "", "ab", "PASS", 1.0, "0 calls as expected"),
    ("superset", "bxa", "ab", "PASS", 1.0, "2 calls as expected, 1 further"),
    ("superset", "bx", "ab", "FAIL", 0.5, "not called: a"),
    ("superset", "a", "aa", "FAIL", 0.5, "not called: a"),
]
# How arguments compare, those expected, and whether the weather fits.
ARGUMENTS = [
    ("exact", {"unit": "C", "at": [46.9, 7.4]}, True),
    ("exact", {"at": [46.9, 7.4]}, False),
    ("superset", {"at": [46.9, 7.4]}, True),
    ("superset", {"at": [46.9, 7.5]}, False),
    ("superset", {}, True),
    ("subset", {"at": [46.9, 7.4], "unit": "C", "lang": "de"}, True),
    ("subset", {"at": [46.9, 7.4]}, False),
    ("ignore", {"at": "elsewhere"}, True),
]


def test_orders_and_arguments():
    for order, made, expected, status, score, reason in ORDERS:
        judgment = ToolCalls([*expected], order=order).judge(ran(*made))
        assert (judgment.status, judgment.score) == (status, pytest.approx(score)), (order, made, expected)
        assert reason in judgment.reasoning
    for rule, wanted, fits in ARGUMENTS:
        assert ToolCalls([("weather", wanted)], arguments=rule).judge(ran(WEATHER)).passed is fits, (rule, wanted)
        assert ToolCalls([["weather", wanted]], overrides={"weather": rule}).judge(ran(WEATHER)).passed is fits
    assert (
        ToolCalls(["weather"]).judge(ran(WEATHER)).passed,
        ToolCalls([("weather", {})]).judge(ran(WEATHER)).passed is False,
    ) == (True, True)


def test_a_loose_fit_leaves_the_partner_that_another_call_needs():
    """Greedy pairing would give the first call the expected call that only the second fits."""
    expected = [("a", {}), ("a", {"x": 1})]
    made = [Step(tool="a", arguments={"x": 1}), Step(tool="a", arguments={"y": 2})]
    assert ToolCalls(expected, order="unordered", arguments="superset").judge(ran(*made)).passed


calls = st.lists(
    st.tuples(st.sampled_from("ab"), st.dictionaries(st.sampled_from("xy"), st.integers(0, 1))), max_size=4
)


@settings(deadline=None, max_examples=30)
@given(
    calls, calls, st.sampled_from(["unordered", "subset", "superset"]), st.sampled_from(["exact", "subset", "superset"])
)
def test_a_pairing_is_as_large_as_any(made, expected, order, rule):
    """Compared with all pairings that there are."""

    def fits(one, other):
        given_, wanted = one[1].items(), other[1].items()
        return (
            one[0] == other[0] and (rule == "superset" or given_ <= wanted) and (rule == "subset" or wanted <= given_)
        )

    few, many = sorted((made, expected), key=len)
    swapped = few is not made
    best = max(
        (
            sum(fits(*((two, one) if swapped else (one, two))) for one, two in zip(few, some, strict=True))
            for some in permutations(many, len(few))
        ),
        default=0,
    )
    passed = {
        "unordered": best == len(made) == len(expected), "subset": best == len(made), "superset": best == len(expected),
    }[order]  # fmt: skip
    steps = [Step(tool=tool, arguments=arguments) for tool, arguments in made]
    judgment = ToolCalls(expected, order=order, arguments=rule).judge(ran(*steps))
    assert (judgment.passed is passed, judgment.score) == (
        True,
        1.0 if passed else pytest.approx(best / max(len(made), len(expected))),
    )


def test_the_modes_are_those_of_agentevals():
    texts = ["", "a", "aa", "b", "ab", "ba", "aab"]
    for mode, made, expected in product(("strict", "unordered", "subset", "superset"), texts, texts):
        case = ran(*made, metadata={"expected_calls": [*expected]}, reference="done")
        theirs = from_evaluator(create_trajectory_match_evaluator(trajectory_match_mode=mode), cost=0)
        assert ToolCalls(order=mode).judge(case).status == theirs.judge(case).status, (mode, made, expected)
    assert (
        Ensemble([theirs, ToolCalls()], voting="unanimous").judge(ran("a", metadata={"expected_calls": ["a"]})).passed
    )


MESSAGES = [
    HumanMessage("Weather?"),
    AIMessage("", tool_calls=[{"name": "weather", "args": {"at": [46.9, 7.4], "unit": "C"}, "id": "1"}]),
    ToolMessage("rain", tool_call_id="1"),
    AIMessage("It rains."),
]


@pytest.mark.parametrize(
    ("expected", "status"),
    [
        (["weather"], "PASS"),
        ([["weather", {"unit": "C", "at": [46.9, 7.4]}]], "PASS"),
        ([{"name": "weather", "args": {"unit": "F"}}], "FAIL"),
        ([{"tool": "weather", "arguments": None}], "PASS"),
        ([{"name": "weather", "input_parameters": {"at": [46.9, 7.4], "unit": "C"}}], "PASS"),
        (
            [
                {"role": "user", "content": "?"},
                {"role": "assistant", "tool_calls": [{"function": {"name": "weather", "arguments": '{"unit": "C"}'}}]},
            ],
            "FAIL",
        ),
        ([7], "ERROR"),
        ("weather", "ERROR"),
        ([{"tool": "weather", "params": {}}], "ERROR"),
        ([], "FAIL"),
        (None, "ABSTAIN"),
    ],
)
def test_the_case_says_what_is_expected(expected, status):
    case = default_case(Run(outputs={"messages": MESSAGES}, metadata={"expected_calls": expected}))
    assert ToolCalls().judge(case).status == status


LIMITS = [
    (ForbiddenTools("delete_*"), ran("find", "delete_file"), "FAIL", "forbidden: delete_file()"),
    (ForbiddenTools(["delete", "drop"]), ran("find", "delete_file"), "PASS", "no forbidden tool"),
    (ForbiddenTools("Find"), ran("find"), "PASS", ""),
    (ForbiddenTools("weather"), ran(WEATHER), "FAIL", "weather(at=(46.9, 7.4), unit='C')"),
    (StepLimit(max_steps=4), ran("a", "a", "a", Step(text="hm")), "PASS", "max_steps: 4 of at most 4"),
    (
        StepLimit(max_steps=3, max_tool_calls=9),
        ran("a", "a", "a", Step(text="hm")),
        "FAIL",
        "max_steps: 4 of at most 3",
    ),
    (StepLimit(max_tool_calls=2), ran("a", "a", "a"), "FAIL", "3 of at most 2"),
    (StepLimit(max_per_tool=2), ran("a", "b", "a"), "PASS", ""),
    (StepLimit(max_per_tool=2), ran("a", "b", "a", "a"), "FAIL", ""),
    (StepLimit(max_repeats=2), ran("a", "a", "a"), "PASS", ""),
    (StepLimit(max_repeats=1), ran("b", "a", "a", "a"), "FAIL", "2 of at most 1"),
    (StepLimit(max_repeats=0), ran(*(Step(tool="a", arguments={"page": page}) for page in range(3))), "PASS", ""),
    (StepLimit(max_steps=0), ran(), "PASS", ""),
    (NoToolErrors(), ran("a", Step(tool="b", error="gone\x1b[2J")), "FAIL", "failed: b (gone\\u001b[2J)"),
    (NoToolErrors(allowed=1), ran("a", Step(tool="b", error="gone")), "PASS", "failed: b (gone)"),
    (NoToolErrors(), ran("a"), "PASS", "no call failed"),
]


def test_limits_and_forbidden_tools():
    for check, case, status, reason in LIMITS:
        judgment = check.judge(case)
        assert (judgment.status, reason in judgment.reasoning) == (status, True), (vars(check), judgment)


def test_nothing_is_said_of_a_run_that_is_not_known():
    assert [
        (check.judge(question="?").status, check.judge(question="?", steps=[Step(tool="x")]).decided)
        for check in (ToolCalls(["a"]), ForbiddenTools("a"), StepLimit(max_steps=1), NoToolErrors())
    ] == [
        (
            "ABSTAIN",
            True,
        )
    ] * 4


def test_a_long_run_is_compared():
    assert ToolCalls(["a"] * 400, order="unordered").judge(ran(*["a"] * 400)).passed
