"""Messages of vendors: the same run in every vendor's form is the same case."""

import json

import pytest

from jury_adapters import Case
from jury_adapters.checks import ToolCalls
from jury_adapters.core.case_parts import Message, Step
from jury_adapters.core.conversation import Conversation

ARGUMENTS = {"city": "Bern"}
OLD_OPENAI = [
    {"role": "user", "content": "Hello"},
    {"role": "assistant", "content": "Hello!"},
    {"role": "user", "content": "Weather in Bern?"},
    {
        "role": "assistant", "content": "I look it up.",
        "function_call": {"name": "weather", "arguments": json.dumps(ARGUMENTS)},
    },
    {"role": "function", "name": "weather", "content": "rain"},
    {"role": "assistant", "content": "It rains."},
]  # fmt: skip
ANTHROPIC = [
    *OLD_OPENAI[:2],
    {"role": "user", "content": [{"type": "text", "text": "Weather in Bern?"}]},
    {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "I look it up."},
            {"type": "tool_use", "id": "1", "name": "weather", "input": ARGUMENTS},
        ],
    },
    {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text", "text": "rain"}]}],
    },
    {"role": "assistant", "content": [{"type": "text", "text": "It rains."}]},
]
SERVER_TOOLS = [
    *OLD_OPENAI[:3],
    {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "I look it up."},
            {"type": "mcp_tool_use", "id": "1", "name": "weather", "input": ARGUMENTS},
            {"type": "mcp_tool_result", "tool_use_id": "1", "content": [{"type": "text", "text": "rain"}]},
            {"type": "text", "text": "It "},
            {"type": "text", "text": "rains."},
        ],
    },
]
GEMINI = [
    {"role": "user", "parts": [{"text": "Hello"}]},
    {"role": "model", "parts": [{"text": "Hello!"}]},
    {"role": "user", "parts": [{"text": "Weather in Bern?"}]},
    {
        "role": "model",
        "parts": [
            {"text": "Bern is in Switzerland.", "thought": True},
            {"text": "I look it up."},
            {"functionCall": {"name": "weather", "args": ARGUMENTS}},
        ],
    },
    {"role": "user", "parts": [{"functionResponse": {"name": "weather", "response": {"result": "rain"}}}]},
    {"role": "model", "parts": [{"text": "It rains."}]},
]
RESPONSES = [
    *OLD_OPENAI[:2],
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Weather in Bern?"}]},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look it up."}]},
    {"type": "reasoning", "id": "rs", "summary": []},
    {"type": "function_call", "call_id": "1", "name": "weather", "arguments": json.dumps(ARGUMENTS)},
    {"type": "function_call_output", "call_id": "1", "output": "rain"},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "It rains."}]},
    {"type": "reasoning", "id": "rs", "summary": []},
]
SNAKE = json.loads(json.dumps(GEMINI).replace("functionC", "function_c").replace("functionR", "function_r"))
LOGS = {
    "OpenAI functions": OLD_OPENAI, "Anthropic": ANTHROPIC, "server tools of Anthropic": SERVER_TOOLS,
    "Gemini": GEMINI, "Gemini's SDK": SNAKE, "Responses API": RESPONSES,
}  # fmt: skip


@pytest.mark.parametrize("log", LOGS.values(), ids=LOGS)
def test_every_vendor_gives_the_same_case(log):
    conversation = Conversation.of(log)
    assert conversation == Conversation(
        question="Weather in Bern?",
        answer="It rains.",
        steps=(Step(tool="weather", arguments=ARGUMENTS, output="rain", text="I look it up."),),
        earlier=(Message(role="user", content="Hello"), Message(role="assistant", content="Hello!")),
    )
    assert Case.from_row({"messages": log}) == Case.from_messages(log)


@pytest.mark.parametrize("log", [OLD_OPENAI, ANTHROPIC, GEMINI, RESPONSES])
def test_a_call_with_other_arguments_than_the_expected_ones_fails(log):
    for city, passes in (("Bern", True), ("Basel", False)):
        row = {"messages": log, "expected_calls": [{"tool": "weather", "arguments": {"city": city}}]}
        assert ToolCalls().judge(Case.from_row(row)).passed is passes


@pytest.mark.parametrize("log", [OLD_OPENAI[:5], ANTHROPIC[:5], GEMINI[:5], RESPONSES[:7]])
def test_a_log_that_ends_with_the_result_of_a_call_has_no_answer(log):
    read = Conversation.of(log)
    assert (read.question, read.answer, read.steps[0].output) == ("Weather in Bern?", None, "rain")


def test_calls_of_one_response_are_parallel():
    calls = [{"type": "function_call", "call_id": city, "name": "weather", "arguments": "{}"} for city in "ab"]
    results = [{"type": "function_call_output", "call_id": city, "output": city} for city in "ba"]
    steps = Conversation.of([RESPONSES[2], *calls, *results, calls[0], results[1]]).steps
    assert [(step.output, step.parallel) for step in steps] == [("a", False), ("b", True), ("a", False)]


@pytest.mark.parametrize(
    "log",
    [
        [*ANTHROPIC[:4], {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "1", "content": "no such city", "is_error": True},
        ]}],
        [*GEMINI[:4], {"role": "function", "parts": [
            {"functionResponse": {"name": "weather", "response": {"error": "no such city"}}},
        ]}],
        [RESPONSES[2], {"type": "mcp_call", "id": "1", "name": "weather", "arguments": "{}", "error": "no such city"}],
    ],
)  # fmt: skip
def test_a_failed_call_is_an_error_and_not_an_output(log):
    (step,) = Conversation.of(log).steps
    assert (step.tool, step.output, step.error) == ("weather", None, "no such city")


@pytest.mark.parametrize("odd", [None, 5, "x", [], {}, [None], [5], ["x"], [{}], [{"type": None}], [[]]])
@pytest.mark.parametrize(
    "message",
    [
        lambda odd: {"role": "user", "content": [{"type": "tool_result", "tool_use_id": odd, "content": odd}]},
        lambda odd: {"role": "user", "parts": odd},
        lambda odd: {"role": "model", "parts": [{"functionCall": odd}, {"functionResponse": odd}]},
        lambda odd: {"role": "model", "parts": [{"functionCall": {"name": odd, "args": odd}}]},
        lambda odd: {"role": "function", "parts": [{"functionResponse": {"name": odd, "response": odd}}]},
        lambda odd: {"type": "function_call", "call_id": odd, "name": odd, "arguments": odd},
        lambda odd: {"type": "function_call_output", "call_id": odd, "output": odd},
        lambda odd: {"role": "assistant", "function_call": odd},
        lambda odd: {"role": "model", "parts": [{"executableCode": odd}, {"codeExecutionResult": odd}]},
        lambda odd: {"role": "tool", "content": [{"content": odd}, {"resource": odd}]},
        lambda odd: {"role": "assistant", "content": [{"refusal": odd, "value": odd}], "refusal": odd},
        lambda odd: {"type": "file_search_call", "id": odd, "queries": odd, "results": odd},
        lambda odd: {"type": "web_search_call", "id": odd, "action": odd, "output": [odd]},
        lambda odd: {"type": "shell_call_output", "call_id": odd, "output": [{"stdout": odd}]},
    ],
)  # fmt: skip
def test_odd_values_are_no_crash(message, odd):
    Case.from_row({"messages": [("user", "?"), message(odd)], "chat_history": [message(odd)]})


@pytest.mark.parametrize(
    ("outcome", "output", "error"), [("OUTCOME_OK", "1994", None), ("OUTCOME_FAILED", None, "1994")]
)
def test_code_that_gemini_runs_is_a_step(outcome, output, error):
    parts = [
        {"text": "I compute it."},
        {"executableCode": {"language": "PYTHON", "code": "year + 1"}},
        {"codeExecutionResult": {"outcome": outcome, "output": "1994"}},
        {"text": "In 1994."},
    ]
    read = Conversation.of([("user", "When?"), {"role": "model", "parts": parts}])
    step = Step(tool="code_execution", arguments={"code": "year + 1"}, text="I compute it.", output=output, error=error)
    assert (read.answer, read.steps) == ("In 1994.", (step,))
