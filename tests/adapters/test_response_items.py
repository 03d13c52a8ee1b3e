"""Items of OpenAI's Responses API: tools that OpenAI runs are steps, and unknown items are left out."""

import pytest
from langchain_core.messages import AIMessage

from jury_adapters import Case
from jury_adapters.core.case_parts import Step
from jury_adapters.core.errors import InputError

USER = {"role": "user", "content": "When did it open?"}
FINAL = {
    "type": "message", "role": "assistant",
    "content": [{"type": "output_text", "text": "In 1994.", "annotations": []}],
}  # fmt: skip
SEARCH = {"type": "web_search_call", "id": "w", "status": "completed", "action": {"type": "search", "query": "x"}}
FILES = {
    "type": "file_search_call", "id": "f", "status": "completed", "queries": ["x"],
    "results": [
        {"file_id": "1", "filename": "a", "score": 1, "text": "The bridge opened in 1994"},
        {"file_id": "2", "filename": "b", "score": 0.5, "text": "35 million euros"},
    ],
}  # fmt: skip
CODE = {
    "type": "code_interpreter_call", "id": "c", "code": "year + 1", "container_id": "k",
    "outputs": [{"type": "logs", "logs": "1994"}, {"type": "image", "url": "https://example.com/a.png"}],
}  # fmt: skip
SHELL = {"type": "shell_call", "call_id": "s", "action": {"commands": ["cat year"], "timeout_ms": 5}}
SHELL_OUTPUT = {
    "type": "shell_call_output", "call_id": "s",
    "output": [{"stdout": "1994", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}],
}  # fmt: skip
STEPS = {
    "web_search_call": ([SEARCH], Step(tool="web_search", arguments=SEARCH["action"])),
    "file_search_call": (
        [FILES],
        Step(
            tool="file_search",
            arguments={"queries": ["x"]},
            output="The bridge opened in 1994\n35 million euros",
        ),
    ),
    "file_search_call without its results": (
        [{**FILES, "results": None}], Step(tool="file_search", arguments={"queries": ["x"]}),
    ),
    "code_interpreter_call": (
        [CODE], Step(tool="code_interpreter", arguments={"code": "year + 1"}, output="1994"),
    ),
    "shell_call": ([SHELL, SHELL_OUTPUT], Step(tool="shell", arguments=SHELL["action"], output="1994")),
    "local_shell_call": (
        [
            {"type": "local_shell_call", "id": "l", "call_id": "s", "action": {"command": ["cat", "year"]}},
            {"type": "local_shell_call_output", "id": "s", "output": "1994"},
        ],
        Step(tool="local_shell", arguments={"command": ["cat", "year"]}, output="1994"),
    ),
    "computer_call": (
        [
            {"type": "computer_call", "id": "d", "call_id": "s", "action": {"type": "screenshot"}},
            {"type": "computer_call_output", "call_id": "s", "output": {
                "type": "computer_screenshot", "image_url": "data:image/png;base64,AA",
            }},
        ],
        Step(tool="computer", arguments={"type": "screenshot"}, output=""),
    ),
    "image_generation_call": (
        [{"type": "image_generation_call", "id": "i", "result": "AAAA", "status": "completed"}],
        Step(tool="image_generation"),
    ),
    "mcp_call": (
        [{"type": "mcp_call", "id": "m", "name": "year", "arguments": "{}", "output": "1994", "server_label": "s"}],
        Step(tool="year", output="1994"),
    ),
    "custom_tool_call": (
        [{"type": "custom_tool_call", "call_id": "m", "name": "year", "input": "x"}],
        Step(tool="year", arguments={"arguments": "x"}),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("items", "step"), STEPS.values(), ids=STEPS)
def test_a_tool_that_the_vendor_runs_is_a_step(items, step):
    for row in (
        {"messages": [USER, *items, FINAL]},
        {"inputs": USER["content"], "outputs": {"output": [*items, FINAL]}},
    ):
        case = Case.from_row(row)
        assert (case.question, case.answer, case.trajectory) == ("When did it open?", "In 1994.", (step,))
        assert case.contexts == ((step.output,) if step.output else ())


UNKNOWN = [
    {"type": "item_reference", "id": "x"},
    {"id": "msg_1"},
    {"type": "mcp_list_tools", "id": "l", "server_label": "s", "tools": []},
    {"type": "mcp_approval_request", "id": "a", "name": "year", "arguments": "{}", "server_label": "s"},
    {"type": "compaction", "encrypted_content": "AA"},
    {"type": "something_new", "content": "x"},
]


@pytest.mark.parametrize("item", UNKNOWN, ids=lambda item: item.get("type", "without a type"))
def test_an_item_that_is_not_known_is_left_out(item):
    case = Case.from_row({"messages": [USER, item, FINAL]})
    assert (case.question, case.answer, case.trajectory) == ("When did it open?", "In 1994.", ())
    assert Case.from_row({"inputs": {"input": [USER, item]}, "outputs": {"output": [item, FINAL]}}).answer == "In 1994."
    history = Case.from_row({"question": "And now?", "chat_history": [USER, item, FINAL]}).messages
    assert [message.content for message in history] == ["When did it open?", "In 1994."]


@pytest.mark.parametrize(
    "items", [[UNKNOWN[0]], [UNKNOWN[1], UNKNOWN[4]], [USER, "text"], [USER, None], [USER, {"a": 1}]]
)
def test_a_list_without_messages_or_with_something_else_is_no_log(items):
    with pytest.raises(InputError, match="messages: expected messages"):
        Case.from_row({"messages": items})


def test_calls_after_a_tool_that_the_vendor_runs_are_not_parallel_to_it():
    call = {"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"}
    result = {"type": "function_call_output", "call_id": "1", "output": "r"}
    steps = Case.from_row({"messages": [USER, SEARCH, call, result, FINAL]}).trajectory
    assert [(step.tool, step.output, step.parallel) for step in steps] == [
        ("web_search", None, False), ("f", "r", False),
    ]  # fmt: skip


def test_items_in_the_content_of_a_langchain_message_are_steps_too():
    call = {"type": "function_call", "call_id": "1", "name": "f", "arguments": '{"a": 1}'}
    text = FINAL["content"][0]
    read = Case.from_row({"messages": [("user", "?"), AIMessage([FILES, {**text, "type": "text"}])]})
    assert (read.answer, [step.tool for step in read.trajectory]) == ("In 1994.", ["file_search"])
    assert read.contexts == ("The bridge opened in 1994\n35 million euros",)
    message = AIMessage([FILES, call], tool_calls=[{"id": "1", "name": "f", "args": {"a": 1}}])
    steps = Case.from_row({"messages": [("user", "?"), message]}).trajectory
    assert [(step.tool, step.arguments) for step in steps] == [("file_search", {"queries": ("x",)}), ("f", {"a": 1})]
