"""Messages of every framework give the same turn; what cannot be read is refused."""

import json
from types import SimpleNamespace
from typing import Any

import pytest
from fact_tables import each_row
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    AnyMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
    messages_to_dict,
)
from langchain_core.prompts import ChatPromptTemplate
from llama_index.core.base.llms.types import ImageBlock, MessageRole, TextBlock, ThinkingBlock, ToolCallBlock
from llama_index.core.llms import ChatMessage as LlamaMessage

from jury_adapters import InputError, Message, Step
from jury_adapters.inputs.messages import Turn, read_messages, role_of, text_of, text_of_blocks

CALL = {"name": "weather", "args": {"city": "Bern"}, "id": "1"}
OPENAI_CALL = {"id": "1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Bern"}'}}


def part(role: str, *parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "parts": list(parts)}


# One conversation of two turns, as each framework writes it.
SAME: dict[str, list[Any]] = {
    "OpenAI": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "Hello!"},
        {"role": "user", "content": [{"type": "text", "text": "Weather in Bern?"}]},
        {"role": "assistant", "content": "I look it up.", "tool_calls": [OPENAI_CALL]},
        {"role": "tool", "tool_call_id": "1", "content": "rain"},
        {"role": "assistant", "content": "It rains."},
    ],
    "LangChain": [
        SystemMessage("Be brief."),
        HumanMessage("Hello"),
        AIMessage("Hello!"),
        HumanMessage([{"type": "text", "text": "Weather in Bern?"}]),
        AIMessage("I look it up.", tool_calls=[CALL]),
        ToolMessage("rain", tool_call_id="1"),
        AIMessage([{"type": "text", "text": "It "}, {"type": "text", "text": "rains."}]),
    ],
    "LangChain: of a prompt": [
        *ChatPromptTemplate(
            [("system", "Be brief."), ("human", "Hello"), ("ai", "Hello!"), ("human", "Weather in {city}?")]
        ).format_messages(city="Bern"),
        AIMessageChunk("I look it up.", tool_calls=[CALL]),
        ToolMessage("rain", tool_call_id="1"),
        AIMessage("It rains."),
    ],
    "LangChain: dumped": [
        one.model_dump()
        for one in (
            SystemMessage("Be brief."),
            HumanMessage("Hello"),
            AIMessage("Hello!"),
            HumanMessage("Weather in Bern?"),
            AIMessage("I look it up.", tool_calls=[CALL]),
            ToolMessage("rain", tool_call_id="1"),
            AIMessage("It rains."),
        )
    ],
    "tuples": [
        ("system", "Be brief."),
        ("user", "Hello"),
        ("ai", "Hello!"),
        ("human", "Weather in Bern?"),
        AIMessage("I look it up.", tool_calls=[CALL]),
        ToolMessage("rain", tool_call_id="1"),
        ("assistant", "It rains."),
    ],
    "LlamaIndex": [
        LlamaMessage("Be brief.", role="system"),
        LlamaMessage("Hello", role="user"),
        LlamaMessage("Hello!", role="assistant"),
        LlamaMessage("Weather in Bern?", role=MessageRole.USER),
        LlamaMessage(
            role="assistant",
            blocks=[
                TextBlock(text="I look it up."),
                ToolCallBlock(tool_call_id="1", tool_name="weather", tool_kwargs={"city": "Bern"}),
            ],
        ),
        LlamaMessage("rain", role="tool", additional_kwargs={"tool_call_id": "1"}),
        LlamaMessage("It rains.", role=MessageRole.CHATBOT),
    ],
    "LlamaIndex: dumped, with calls of OpenAI": [
        one.model_dump(mode="json")
        for one in (
            LlamaMessage("Be brief.", role="developer"),
            LlamaMessage("Hello", role="user"),
            LlamaMessage("Hello!", role="assistant"),
            LlamaMessage("Weather in Bern?", role="user"),
            LlamaMessage("I look it up.", role="assistant", additional_kwargs={"tool_calls": [OPENAI_CALL]}),
            LlamaMessage("rain", role="tool", additional_kwargs={"tool_call_id": "1"}),
            LlamaMessage("It rains.", role="assistant"),
        )
    ],
    "OpenTelemetry": [
        part("system", {"type": "text", "content": "Be brief."}),
        part("user", {"type": "text", "content": "Hello"}),
        part("assistant", {"type": "text", "content": "Hello!"}),
        part("user", {"type": "text", "content": "Weather in Bern?"}),
        part(
            "assistant",
            {"type": "reasoning", "content": "Perhaps it snows."},
            {"type": "text", "content": "I look it up."},
            {"type": "tool_call", "id": "1", "name": "weather", "arguments": {"city": "Bern"}},
        ),
        part("tool", {"type": "tool_call_response", "id": "1", "response": "rain"}),
        part("assistant", {"type": "text", "content": "It rains."}),
    ],
    "Anthropic": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "Hello!"},
        {"role": "user", "content": "Weather in Bern?"},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "Perhaps it snows.", "signature": "x"},
            {"type": "text", "text": "I look it up."},
            {"type": "tool_use", "id": "1", "name": "weather", "input": {"city": "Bern"}},
        ]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text",
        "text": "rain"}]}]},
        {"role": "assistant", "content": [{"type": "text", "text": "It rains."}]},
    ],
}  # fmt: skip
each = each_row("messages", SAME.values(), ids=SAME)


@each
def test_every_framework_gives_the_same_turn(messages: list[Any]) -> None:
    assert read_messages(messages) == Turn(
        question="Weather in Bern?",
        answer="It rains.",
        steps=(Step(tool="weather", arguments={"city": "Bern"}, output="rain", text="I look it up."),),
        earlier=(
            Message(role="system", content="Be brief."),
            Message(role="user", content="Hello"),
            Message(role="assistant", content="Hello!"),
        ),
    )


@each
def test_an_open_call_is_a_pause_and_no_answer(messages: list[Any]) -> None:
    turn = read_messages(messages[:5])
    assert (turn.question, turn.answer, turn.steps[0].tool, turn.steps[0].output) == (
        "Weather in Bern?", None, "weather", None,
    )  # fmt: skip


@each
def test_a_result_that_nobody_answered_is_no_answer(messages: list[Any]) -> None:
    turn = read_messages(messages[:6])
    assert (turn.answer, turn.steps[0].output) == (None, "rain")


@each
def test_the_turn_begins_at_the_question_that_is_known(messages: list[Any]) -> None:
    turn = read_messages(messages[:3], asked=" Hello\n")
    assert (turn.question, turn.answer, len(turn.earlier)) == ("Hello", "Hello!", 1)
    before = read_messages(messages[:3], asked="Capital of France?")
    assert (before.question, before.answer, before.steps) == (None, None, ())
    assert [one.content for one in before.earlier] == ["Be brief.", "Hello", "Hello!"]


# What each message says: role and text.
THINK = {"type": "thinking", "thinking": "Maybe 2019?", "signature": "EP4"}
TEXT = {"type": "text", "text": "In 2018."}
REFUSAL = "I cannot help with that."
TEXTS: dict[str, tuple[Any, str | None, str]] = {
    "thinking before the text": (AIMessage([THINK, TEXT]), "assistant", "In 2018."),
    "redacted thinking": ({"role": "assistant", "content": [{"type": "redacted_thinking", "data": "x"}, TEXT]},
        "assistant", "In 2018."),
    "reasoning of LangChain": (AIMessage([{"type": "reasoning", "reasoning": "2019?"}, TEXT]), "assistant", "In 2018."),
    "reasoning of OpenTelemetry": (part("assistant", {"type": "reasoning", "content": "2019?"}, {"type": "text",
        "content": "In 2018."}), "assistant", "In 2018."),
    "thinking of LlamaIndex": (LlamaMessage(role="assistant", blocks=[ThinkingBlock(content="2019?"),
        TextBlock(text="In 2018.")]), "assistant", "In 2018."),
    "thinking of LlamaIndex, dumped": (LlamaMessage(role="assistant", blocks=[ThinkingBlock(content="2019?"),
        TextBlock(text="In 2018.")]).model_dump(), "assistant", "In 2018."),
    "thinking that was cut off": (AIMessage([THINK]), "assistant", ""),
    "an image beside the text": (HumanMessage([{"type": "image_url", "image_url": {"url": "https://x.test/a.png"}},
        TEXT]), "user", "In 2018."),
    "an image alone": (LlamaMessage(role="user", blocks=[ImageBlock(url="https://x.test/a.png")]), "user", ""),
    "a call of a tool beside the text": (AIMessage([TEXT, {"type": "tool_use", "id": "1", "name": "f", "input": {}}],
        tool_calls=[{"name": "f", "args": {}, "id": "1"}]), "assistant", "In 2018."),
    "a search of the vendor": (AIMessage([{"type": "server_tool_use", "id": "1", "name": "web_search", "input": {}},
        {"type": "web_search_tool_result", "tool_use_id": "1", "content": []}, TEXT]), "assistant", "In 2018."),
    "parts of a reply are one text": ({"role": "assistant", "content": [{"type": "text", "text": "It costs 19"},
        {"type": "text", "text": "94 euros."}]}, "assistant", "It costs 1994 euros."),
    "parts of a user are lines": ({"role": "user", "content": ["It costs 19", {"type": "input_text",
        "text": "94 euros."}]}, "user", "It costs 19\n94 euros."),
    "parts of a tool are lines": (ToolMessage([{"type": "text", "text": "1962"}, {"type": "text", "text": "1994"}],
        tool_call_id="1"), "tool", "1962\n1994"),
    "a resource of MCP": ({"role": "tool", "content": [{"type": "resource", "resource": {"uri": "file:///x",
        "text": "1994"}}]}, "tool", "1994"),
    "search results": ({"role": "tool", "content": [{"type": "search_result", "source": "a", "title": "b",
        "content": [TEXT, TEXT]}]}, "tool", "In 2018.\nIn 2018."),
    "a refusal beside no content": ({"role": "assistant", "content": None, "refusal": REFUSAL}, "assistant", REFUSAL),
    "a refusal as a part": (AIMessage([{"type": "refusal", "refusal": REFUSAL}]), "assistant", REFUSAL),
    "a refusal of LangChain": (AIMessage("", additional_kwargs={"refusal": REFUSAL}), "assistant", REFUSAL),
    "a text before a refusal": ({"role": "assistant", "content": "Hi", "refusal": REFUSAL}, "assistant", "Hi"),
    "nothing": (AIMessage(""), "assistant", ""),
    "null": ({"role": "assistant", "content": None}, "assistant", ""),
    "a summary that LangChain wrote": (HumanMessage("They spoke of ferries.",
        additional_kwargs={"lc_source": "summarization"}), "system", "They spoke of ferries."),
    "a chat message": (ChatMessage("In 2018.", role="assistant"), "assistant", "In 2018."),
    "the result of a function": (FunctionMessage("In 2018.", name="f"), "tool", "In 2018."),
    "a model of Gemini": (part("model", {"text": "In 2018."}), "assistant", "In 2018."),
    "no message: a role of people": ({"role": "user", "name": "Bob"}, None, ""),
    "no message: an unknown role": ({"role": "narrator", "content": "x"}, None, "x"),
    "no message: a document": ({"type": "Document", "page_content": "x"}, None, ""),
    "no message: a text": ("user", None, ""),
    "no message: a pair of texts": (("Bob", "Ann"), None, "Ann"),
    "no message: nothing": (None, None, ""),
    "no message: an object with a role": (SimpleNamespace(role="user", name="Bob"), None, ""),
}  # fmt: skip


@each_row(("message", "role", "text"), TEXTS.values(), ids=TEXTS)
def test_the_role_and_the_text_of_a_message(message: Any, role: str | None, text: str) -> None:
    assert (role_of(message), text_of(message)) == (role, text)


def calls(*made: dict[str, Any]) -> AIMessage:
    return AIMessage("", tool_calls=list(made))


def call(name: str = "f", call_id: str = "1", **args: Any) -> dict[str, Any]:
    return {"name": name, "args": args, "id": call_id}


def openai(arguments: Any, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": arguments}}], **more}


# What follows the question ("user", "?"): the answer and the steps.
STEPS: dict[str, tuple[list[Any], str | None, list[dict[str, Any]]]] = {
    "results in another order": (
        [calls(call(call_id="1", n=1), call(call_id="2", n=2)), ToolMessage("B", tool_call_id="2"), ToolMessage("A",
        tool_call_id="1"), AIMessage("!")],
        "!", [{"tool": "f", "arguments": {"n": 1}, "output": "A"}, {"tool": "f", "arguments": {"n": 2}, "output": "B"}],
    ),
    "a tool that failed": (
        [calls(call()), ToolMessage("no such city", tool_call_id="1", status="error"), AIMessage("I cannot say.")],
        "I cannot say.", [{"tool": "f", "error": "no such city"}],
    ),
    "a tool that failed, of Anthropic": (
        [{"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "f", "input": {}}]},
         {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "boom",
         "is_error": True}]}, ("ai", "Sorry.")],
        "Sorry.", [{"tool": "f", "error": "boom"}],
    ),
    "a text beside the results of Anthropic": (
        [{"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "f", "input": {}}]},
         {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "found"},
         {"type": "text", "text": "Please hurry."}]}, ("ai", "Here.")],
        "Here.", [{"tool": "f", "output": "found"}],
    ),
    "two results in one message": (
        [part("assistant", *({"type": "tool_call", "id": i, "name": "f", "arguments": {}} for i in "12")),
         part("tool", {"type": "tool_call_response", "id": "2", "response": {"year": 2018}},
         {"type": "tool_call_response", "id": "1", "result": "A"})],
        None, [{"tool": "f", "output": "A"}, {"tool": "f", "output": '{"year":2018}'}],
    ),
    "results without ids go to the first open call of their tool": (
        [{"role": "assistant", "tool_calls": [{"function": {"name": n, "arguments": "{}"}} for n in ("a", "b")]},
         {"role": "tool", "name": "b", "content": "B"}, {"role": "tool", "content": "A"}],
        None, [{"tool": "a", "output": "A"}, {"tool": "b", "output": "B"}],
    ),
    "ragas: calls without ids": (
        [{"type": "ai", "content": "", "tool_calls": [{"name": "f", "args": {"n": 1}}]}, {"type": "tool",
        "content": "A"}, {"type": "ai", "content": "!"}],
        "!", [{"tool": "f", "arguments": {"n": 1}, "output": "A"}],
    ),
    "a result of an unknown tool, by a name that is none": ([{"role": "tool", "name": 7, "content": "hm"}], None,
        [{"tool": "7", "output": "hm"}]),
    "a result without a text": (
        [{"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "f", "input": {}}]},
         {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1"}]}],
        None, [{"tool": "f", "output": ""}],
    ),
    "LlamaIndex: results in another order": (
        [LlamaMessage(role="assistant", blocks=[ToolCallBlock(tool_call_id=i, tool_name="f",
        tool_kwargs={"n": i}) for i in "12"]),
         *(LlamaMessage(i, role="tool", additional_kwargs={"tool_call_id": i}) for i in "21")],
        None, [{"tool": "f", "arguments": {"n": "1"}, "output": "1"}, {"tool": "f", "arguments": {"n": "2"},
        "output": "2"}],
    ),
    "a call without a name": ([{"role": "assistant", "tool_calls": [{"id": "1"}]}], None, [{"tool": "tool"}]),
    "a result of an unknown call": ([{"role": "tool", "tool_call_id": "x", "content": "hm"}], None, [{"tool": "tool",
        "output": "hm"}]),
    "a call without a result does not erase the answer": ([calls(call()), AIMessage("Done.")], "Done.",
        [{"tool": "f"}]),
    "what was said on the way": ([("ai", "First."), ("ai", "Second.")], "Second.", [{"text": "First."}]),
    "JSON text as arguments": ([openai('{"n": [1]}')], None, [{"tool": "f", "arguments": {"n": [1]}}]),
    "broken JSON as arguments": ([openai('{"n": ')], None, [{"tool": "f", "arguments": {"arguments": '{"n": '}}]),
    "empty arguments": ([openai("")], None, [{"tool": "f"}]),
    "no arguments": ([openai(None)], None, [{"tool": "f"}]),
    "arguments that are a list": ([openai("[1, 2]")], None, [{"tool": "f", "arguments": {"arguments": [1, 2]}}]),
    "arguments that are a number": ([openai(3)], None, [{"tool": "f", "arguments": {"arguments": 3}}]),
    "calls beside content of null": ([openai("{}", content=None)], None, [{"tool": "f"}]),
    "calls of LangChain that are in the content too": (
        [AIMessage([{"type": "tool_use", "id": "1", "name": "f", "input": {}}], tool_calls=[call()])], None,
        [{"tool": "f"}],
    ),
    "a message that is taken out": ([RemoveMessage("1"), ("ai", "Yes.")], "Yes.", []),
    "a note of the system after the question": ([("system", "Be brief."), ("ai", "Yes.")], "Yes.", []),
    "an empty answer": ([AIMessage("")], "", []),
    "a hand-off and back": (
        [calls(call("transfer_to_reader")), ToolMessage("Successfully transferred to reader", tool_call_id="1"),
        AIMessage("It was 2019.", name="reader"),
         calls(call("transfer_back_to_boss", "2")), ToolMessage("back", tool_call_id="2"), AIMessage("In 2019.")],
        "In 2019.",
        [{"tool": "transfer_to_reader", "output": "Successfully transferred to reader"}, {"text": "It was 2019."},
        {"tool": "transfer_back_to_boss", "output": "back"}],
    ),
}  # fmt: skip


@each_row(("messages", "answer", "steps"), STEPS.values(), ids=STEPS)
def test_the_answer_and_the_steps_of_a_turn(
    messages: list[Any], answer: str | None, steps: list[dict[str, Any]]
) -> None:
    turn = read_messages([("user", "?"), *messages])
    assert (turn.question, turn.answer) == ("?", answer)
    assert turn.steps == tuple(Step(**step) for step in steps)


def test_a_summary_is_not_what_the_user_asked() -> None:
    summary = HumanMessage("They spoke of ferries.", additional_kwargs={"lc_source": "summarization"})
    messages: list[AnyMessage] = [HumanMessage("When?"), summary, AIMessage("In 2018.")]
    assert read_messages(messages).question == "When?"
    assert read_messages([summary, HumanMessage("When?"), AIMessage("In 2018.")]).earlier == (
        Message(role="system", content="They spoke of ferries."),
    )


def test_nothing_said_is_nothing_read() -> None:
    assert read_messages([]) == Turn()
    assert read_messages([("system", "Be brief.")]) == Turn()


REFUSED: dict[str, tuple[Any, str]] = {
    "an unknown role": ({"role": "narrator", "content": "secret"},
        "message 2 cannot be read: its role or type is 'narrator'"),
    "LangChain: messages_to_dict": (messages_to_dict([AIMessage("secret")])[0], "its role or type is 'ai'"),
    "LangChain: serialised": ({"lc": 1, "type": "constructor", "id": ["x"], "kwargs": {"content": "secret"}},
        "'constructor'"),
    "a number": (7, "its role or type is 'int'"),
    "nothing": (None, "'NoneType'"),
    "an unknown part": ({"role": "assistant", "content": [{"type": "hologram", "data": "secret"}]},
        "only a part of the type 'hologram'"),
    "a call of Gemini": (part("model", {"functionCall": {"name": "f"}}), "no known text"),
    "content that is an object": ({"role": "assistant", "content": {"city": "secret"}}, "no known text"),
    "control characters": ({"role": "\x1b[31m", "content": "secret"}, r"'\\u001b\[31m'"),
}  # fmt: skip


@each_row(("message", "said"), REFUSED.values(), ids=REFUSED)
def test_a_message_that_cannot_be_read_is_refused_without_its_content(message: Any, said: str) -> None:
    with pytest.raises(InputError, match=said) as refused:
        read_messages([("user", "?"), message])
    assert "secret" not in str(refused.value)


BLOCKS: dict[str, tuple[Any, str | None]] = {
    "thinking, text": ([THINK, TEXT], "In 2018."),
    "text": ([TEXT], "In 2018."),
    "text, an image": ([TEXT, {"type": "image", "url": "https://x.test/a.png"}], "In 2018."),
    "blocks of LlamaIndex": ([ThinkingBlock(content="2019?"), TextBlock(text="In 2018.")], "In 2018."),
    "thinking": ([THINK], ""),
    "texts": (["In 2018."], None),
    "data with a type": ([{"type": "text", "value": "x"}, {"type": "button"}], None),
    "text beside data": ([TEXT, {"type": "button", "label": "OK"}], None),
    "an image": ([{"type": "image", "url": "https://x.test/a.png"}], None),
    "numbers": ([1, 2], None),
    "a mapping with content": ({"content": [THINK, TEXT], "id": "x"}, "In 2018."),
    "a mapping with a text": ({"content": "In 2018."}, None),
    "a block": (TEXT, None),
    "an empty list": ([], None),
}


@each_row(("value", "text"), BLOCKS.values(), ids=BLOCKS)
def test_content_blocks_are_told_from_other_lists(value: Any, text: str | None) -> None:
    assert text_of_blocks(value) == text


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                [
                    "role",
                    "type",
                    "content",
                    "parts",
                    "blocks",
                    "text",
                    "tool_calls",
                    "name",
                    "args",
                    "id",
                    "function",
                    "status",
                ]
            )
            | st.text(max_size=4),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)
message_like = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "tool", "system"])},
    optional={
        "content": anything,
        "parts": anything,
        "tool_calls": anything,
        "tool_call_id": anything,
        "status": anything,
        "additional_kwargs": anything,
    },
)


@settings(max_examples=50, deadline=None)
@given(st.lists(message_like | anything, max_size=6))
def test_whatever_comes_is_read_or_refused(messages: list[Any]) -> None:
    try:
        turn = read_messages(json.loads(json.dumps(messages)))
    except InputError:
        return
    assert turn.answer is None or isinstance(turn.answer, str)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["user", "assistant", "system"]), st.text()), max_size=6))
def test_texts_of_a_chat_come_back(messages: list[tuple[str, str]]) -> None:
    turn = read_messages(messages)
    users = [place for place, (role, _) in enumerate(messages) if role == "user"]
    assert turn.question == (messages[users[-1]][1] if users else None)
    said = [text for role, text in messages[users[-1] + 1 if users else 0 :] if role == "assistant"]
    assert turn.answer == (said[-1] if said else None)
