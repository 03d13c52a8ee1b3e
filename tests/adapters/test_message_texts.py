"""Texts of messages: blocks, refusals, and what a user says beside results of tools."""

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from jury_adapters import Case
from jury_adapters.checks import NamesAndNumbers
from jury_adapters.core.conversation import Conversation, text_of_message
from jury_adapters.langchain import to_case

QUESTION = "When did the bridge open, and what did it cost?"
BLOCKS = [
    {"type": "text", "text": "The bridge opened in 1994"},
    {"type": "text", "text": "35 million euros was its cost"},
]
PASSAGE = "\n".join(block["text"] for block in BLOCKS)
ANSWER = "The bridge opened in 1994 and cost 35 million euros."
CALL = {"id": "1", "type": "function", "function": {"name": "search", "arguments": "{}"}}
RESULTS = {
    "OpenAI": [
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "1", "content": BLOCKS},
    ],
    "Anthropic": [
        {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "search", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": BLOCKS}]},
    ],
    "MCP server of Anthropic": [
        {"role": "assistant", "content": [
            {"type": "mcp_tool_use", "id": "1", "name": "search", "input": {}},
            {"type": "mcp_tool_result", "tool_use_id": "1", "content": BLOCKS},
        ]},
    ],
    "Responses API": [
        {"type": "function_call", "call_id": "1", "name": "search", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "1", "output": [
            {"type": "input_text", "text": block["text"]} for block in BLOCKS
        ]},
    ],
    "LangChain": [
        AIMessage("", tool_calls=[{"id": "1", "name": "search", "args": {}}]), ToolMessage(BLOCKS, tool_call_id="1"),
    ],
    "texts": [
        {"role": "assistant", "content": "", "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "1", "content": [block["text"] for block in BLOCKS]},
    ],
    "embedded resources": [
        {"role": "assistant", "content": "", "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "1", "content": [
            BLOCKS[0], {"type": "resource", "resource": {"uri": "file:///cost", "text": BLOCKS[1]["text"]}},
        ]},
    ],
    "search results": [
        {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "search", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": [
            {"type": "search_result", "source": "a", "title": "b", "content": BLOCKS},
        ]}]},
    ],
}  # fmt: skip


@pytest.mark.parametrize("log", RESULTS.values(), ids=RESULTS)
def test_blocks_of_a_tools_result_stand_on_lines_of_their_own(log):
    row = {"messages": [{"role": "user", "content": QUESTION}, *log, {"role": "assistant", "content": ANSWER}]}
    case = Case.from_row(row)
    assert case.contexts == (PASSAGE,)
    assert NamesAndNumbers().judge(case).status != "FAIL"


def test_blocks_of_a_reply_are_one_text_and_those_of_a_user_are_lines():
    blocks = [{"type": "text", "text": "It costs 19"}, {"type": "text", "text": "94 euros."}]
    read = Conversation.of([{"role": "user", "content": BLOCKS}, {"role": "assistant", "content": blocks}])
    assert (read.question, read.answer) == (PASSAGE, "It costs 1994 euros.")


REFUSAL = "I cannot help with that."
REFUSALS = {
    "field": {"role": "assistant", "content": None, "refusal": REFUSAL},
    "part": {"role": "assistant", "content": [{"type": "refusal", "refusal": REFUSAL}]},
    "LangChain: field": AIMessage("", additional_kwargs={"refusal": REFUSAL}),
    "LangChain: part": AIMessage([{"type": "refusal", "refusal": REFUSAL}]),
    "LangChain: part that is not standard": AIMessage(
        [{"type": "non_standard", "value": {"type": "refusal", "refusal": REFUSAL}}]
    ),
    "Responses API": {
        "type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": REFUSAL}],
    },
}  # fmt: skip


@pytest.mark.parametrize("message", REFUSALS.values(), ids=REFUSALS)
def test_a_refusal_is_the_answer(message):
    assert text_of_message(message) == REFUSAL
    assert Case.from_row({"messages": [("user", "?"), message]}).answer == REFUSAL
    assert Case.from_row({"inputs": "?", "outputs": {"messages": [message]}}).answer == REFUSAL


def test_a_text_counts_before_a_refusal_that_is_empty():
    assert text_of_message({"role": "assistant", "content": "Hello", "refusal": None}) == "Hello"
    assert text_of_message({"role": "assistant", "content": "", "refusal": None}) == ""


CALLED = {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "search", "input": {"q": "x"}}]}
RESULT = {"type": "tool_result", "tool_use_id": "1", "content": "found"}
HURRY = {"type": "text", "text": "Please hurry."}
BESIDE = {
    "Anthropic": [CALLED, {"role": "user", "content": [RESULT, HURRY]}],
    "Anthropic: text first": [CALLED, {"role": "user", "content": [HURRY, RESULT]}],
    "Anthropic: texts around": [CALLED, {"role": "user", "content": [HURRY, RESULT, HURRY]}],
    "Gemini": [
        {"role": "model", "parts": [{"functionCall": {"name": "search", "args": {"q": "x"}}}]},
        {"role": "user", "parts": [
            {"functionResponse": {"name": "search", "response": {"result": "found"}}}, {"text": "Please hurry."},
        ]},
    ],
    "LangChain": [
        AIMessage("", tool_calls=[{"id": "1", "name": "search", "args": {"q": "x"}}]), HumanMessage([RESULT, HURRY]),
    ],
}  # fmt: skip


@pytest.mark.parametrize("log", BESIDE.values(), ids=BESIDE)
def test_a_text_beside_results_of_tools_begins_no_turn(log):
    thread = [{"role": "user", "content": "Where is it?"}, *log, {"role": "assistant", "content": "Here."}]
    case = Case.from_row({"messages": thread})
    assert (case.question, case.answer, case.messages) == ("Where is it?", "Here.", ())
    assert [(step.tool, step.output) for step in case.trajectory] == [("search", "found")]
    assert case.contexts == ("found",)


def test_a_question_after_such_a_text_begins_a_turn():
    log = [
        {"role": "user", "content": "Where is it?"},
        *BESIDE["Anthropic"],
        ("assistant", "Here."),
        ("user", "Thanks. And now?"),
        ("assistant", "Nothing."),
    ]
    read = Conversation.of(log)
    assert (read.question, read.answer, read.steps) == ("Thanks. And now?", "Nothing.", ())
    assert "Please hurry." in [message.content for message in read.earlier]


def test_a_log_that_begins_with_such_a_text_has_it_as_its_question():
    read = Conversation.of([{"role": "user", "content": [RESULT, HURRY]}, ("assistant", "Here.")])
    assert (read.question, read.answer) == ("Please hurry.", "Here.")


@pytest.mark.parametrize("log", BESIDE.values(), ids=BESIDE)
def test_a_text_beside_results_of_tools_begins_no_turn_of_a_whole_thread(log):
    thread = [{"role": "user", "content": "Where is it?"}, *log, {"role": "assistant", "content": "Here."}]
    case = to_case({"messages": thread}, whole_thread=True)
    assert (case.question, case.answer) == ("Where is it?", "Here.")
    assert [(step.tool, step.output) for step in case.trajectory] == [("search", "found")]
