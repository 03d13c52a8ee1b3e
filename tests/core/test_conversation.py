"""Conversations, read by shape: every framework's messages give the same conversation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, SystemMessage, ToolMessage
from llama_index.core.base.llms.types import ChatMessage, TextBlock, ToolCallBlock
from support.pictures import encoded, png

from jury_adapters.core.case import Case
from jury_adapters.core.case_parts import Message, Step
from jury_adapters.core.conversation import Conversation, role_of
from jury_adapters.core.message_texts import text_in

OPENAI = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Hello"},
    {"role": "assistant", "content": "Hello!"},
    {"role": "user", "content": [{"type": "text", "text": "Weather in Bern?"}]},
    {
        "role": "assistant",
        "content": "I look it up.",
        "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Bern"}'}}
        ],
    },
    {"role": "tool", "tool_call_id": "1", "content": "rain"},
    {"role": "assistant", "content": "It rains."},
]
LANGCHAIN = [
    SystemMessage("Be brief."),
    HumanMessage("Hello"),
    AIMessage("Hello!"),
    HumanMessage([{"type": "text", "text": "Weather in Bern?"}]),
    AIMessage("I look it up.", tool_calls=[{"name": "weather", "args": {"city": "Bern"}, "id": "1"}]),
    ToolMessage("rain", tool_call_id="1"),
    AIMessage([{"type": "text", "text": "It "}, {"type": "text", "text": "rains."}]),
]
LLAMA_INDEX = [
    ChatMessage("Be brief.", role="system"),
    ChatMessage("Hello", role="user"),
    ChatMessage("Hello!", role="assistant"),
    ChatMessage("Weather in Bern?", role="user"),
    ChatMessage(
        role="assistant",
        blocks=[
            TextBlock(text="I look it up."),
            ToolCallBlock(tool_call_id="1", tool_name="weather", tool_kwargs={"city": "Bern"}),
        ],
    ),
    ChatMessage("rain", role="tool", additional_kwargs={"tool_call_id": "1"}),
    ChatMessage("It rains.", role="assistant"),
]


@pytest.mark.parametrize("messages", [OPENAI, LANGCHAIN, LLAMA_INDEX], ids=["openai", "langchain", "llama_index"])
def test_every_framework_gives_the_same_conversation(messages):
    assert Conversation.of(messages) == Conversation(
        question="Weather in Bern?",
        answer="It rains.",
        steps=(Step(tool="weather", arguments={"city": "Bern"}, output="rain", text="I look it up."),),
        earlier=(
            Message(role="system", content="Be brief."),
            Message(role="user", content="Hello"),
            Message(role="assistant", content="Hello!"),
        ),
    )


@pytest.mark.parametrize("messages", [OPENAI, LANGCHAIN, LLAMA_INDEX], ids=["openai", "langchain", "llama_index"])
def test_an_open_tool_call_is_a_pause_and_no_answer(messages):
    paused = Conversation.of(messages[:5])
    assert (paused.pending, paused.answer, paused.steps[0].output) == (True, None, None)


def test_a_call_without_a_recorded_result_does_not_erase_the_final_answer():
    read = Conversation.of([*LANGCHAIN[:5], AIMessage("It rains.")])
    assert (read.answer, read.pending, read.steps[0].output) == ("It rains.", False, None)


def test_calls_of_one_message_are_marked_as_parallel():
    calls = [{"name": "weather", "args": {"city": city}, "id": city} for city in ("Bern", "Oslo")]
    results = [ToolMessage("rain", tool_call_id="Oslo"), ToolMessage("sun", tool_call_id="Bern")]
    again = AIMessage("", tool_calls=[{**calls[0], "id": "again"}])
    read = Conversation.of([("user", "?"), AIMessage("", tool_calls=calls), *results, again, AIMessage("Sun.")])
    assert [(step.output, step.parallel) for step in read.steps] == [("sun", False), ("rain", True), (None, False)]


def test_a_tool_that_failed_is_an_error_and_not_an_output():
    failed = [*LANGCHAIN[:5], ToolMessage("no such city", tool_call_id="1", status="error"), AIMessage("I cannot say.")]
    (step,) = Conversation.of(failed).steps
    assert (step.output, step.error) == (None, "no such city")


def test_parallel_calls_of_one_tool_get_their_own_results():
    calls = [{"name": "weather", "args": {"city": city}, "id": city} for city in ("Bern", "Basel")]
    messages = [HumanMessage("?"), AIMessage("", tool_calls=calls)]
    messages += [ToolMessage("sun", tool_call_id="Basel"), ToolMessage("rain", tool_call_id="Bern"), AIMessage("!")]
    assert [(step.arguments["city"], step.output) for step in Conversation.of(messages).steps] == [
        ("Bern", "rain"),
        ("Basel", "sun"),
    ]


def test_results_without_an_id_go_to_the_first_open_call_of_their_tool():
    call = {"role": "assistant", "tool_calls": [{"function": {"name": n, "arguments": "{}"}} for n in ("a", "b")]}
    messages = [("user", "?"), call, {"role": "tool", "name": "b", "content": "B"}, {"role": "tool", "content": "A"}]
    assert [(step.tool, step.output) for step in Conversation.of(messages).steps] == [("a", "A"), ("b", "B")]


def test_a_result_of_an_unknown_call_is_a_step_of_its_own():
    (step,) = Conversation.of([("user", "?"), {"role": "tool", "tool_call_id": "x", "content": "hm"}]).steps
    assert (step.tool, step.output) == ("tool", "hm")


def test_what_was_said_on_the_way_is_a_step_and_the_last_words_are_the_answer():
    read = Conversation.of([("user", "?"), ("ai", "First."), ("ai", "Second.")])
    assert (read.steps, read.answer) == ((Step(text="First."),), "Second.")


def test_arguments_that_are_no_json_are_kept_as_text():
    call = {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{broken"}}]}
    (step,) = Conversation.of([call]).steps
    assert step.arguments == {"arguments": "{broken"}


def test_nothing_said_is_nothing_read():
    assert Conversation.of([]) == Conversation()
    assert Conversation.of([None, 7, "text", ("narrator", "x"), {"role": "narrator", "content": "x"}]) == Conversation()


def test_roles_and_texts():
    assert [role_of(one) for one in (AIMessageChunk("x"), LLAMA_INDEX[0], OPENAI[5], object())] == [
        "assistant",
        "system",
        "tool",
        None,
    ]
    assert [text_in(one, "assistant") for one in ("a", ["a", {"text": "b"}, {"image": 1}], None, {"text": "c"})] == [
        "a",
        "ab",
        "",
        "c",
    ]


messages = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "tool", "human", "?"])},
    optional={
        "content": st.one_of(st.text(), st.none(), st.lists(st.text()), st.integers()),
        "tool_calls": st.one_of(st.none(), st.lists(st.one_of(st.text(), st.dictionaries(st.text(), st.text())))),
        "tool_call_id": st.one_of(st.none(), st.sampled_from(["1", "2"]), st.integers()),
    },
)


@given(st.lists(st.one_of(messages, st.text(), st.none(), st.integers()), max_size=8))
def test_whatever_comes_is_read_without_raising(conversation):
    read = Conversation.of(conversation)
    assert read.answer is None or not read.pending


def calls_of(*tools, id):
    return {"role": "assistant", "tool_calls": [{"id": id, "name": tool, "args": {}} for tool in tools]}


def result_of(text, id):
    return {"role": "tool", "tool_call_id": id, "content": text}


@pytest.mark.parametrize(
    ("messages", "outputs"),
    [
        ([calls_of("a", "b", id="1"), result_of("A", "1"), result_of("B", "1")], ["A", "B"]),
        ([calls_of("a", "b", id="1"), result_of("A", "1")], ["A", None]),
        ([calls_of("a", id="1"), result_of("A", "1"), calls_of("b", id="1"), result_of("B", "1")], ["A", "B"]),
        ([calls_of("a", id="1"), calls_of("b", id="1"), result_of("B", "1")], [None, "B"]),
        ([calls_of("a", id="1"), result_of("A", "1"), result_of("again", "1")], ["again"]),
    ],
    ids=["parallel", "one without a result", "in two messages", "the last message is answered", "two results"],
)
def test_calls_of_one_id_each_keep_their_result(messages, outputs):
    read = Conversation.of([("user", "?"), *messages])
    assert [step.output for step in read.steps] == outputs


def test_a_case_of_messages_takes_further_fields_and_replacements():
    messages = [("user", "Hello"), ("assistant", "Hi."), ("user", "2 + 2?"), ("assistant", "4")]
    case = Case.from_messages(messages, reference="4", metadata={"thread": 7}, question="What is 2 + 2?")
    assert (case.question, case.answer, case.reference) == ("What is 2 + 2?", "4", "4")
    assert [message.content for message in case.messages] == ["Hello", "Hi."]
    assert case.metadata["thread"] == 7
    with pytest.raises(ValueError, match="refrence"):
        Case.from_messages(messages, refrence="4")
    assert Case.from_messages([]) == Case()


@pytest.mark.parametrize("question", ["And on Sunday?\n", " And on Sunday?", "And on Sunday?"])
def test_white_space_around_a_question_does_not_make_it_another_one(question):
    thread = [
        {"role": "user", "content": "When does it open?"},
        {"role": "assistant", "content": "At nine."},
        {"role": "user", "content": "And on Sunday? "},
        {"role": "assistant", "content": "It is closed."},
    ]
    case = Case.from_row({"question": question, "messages": thread})
    assert (case.question, case.answer) == (question, "It is closed.")
    assert [message.content for message in case.messages] == ["When does it open?", "At nine."]


def test_a_picture_beside_the_words_of_the_user_belongs_to_the_question():
    url = f"data:image/png;base64,{encoded(png())}"
    picture = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}
    words, answer = ("user", "What is this?"), ("assistant", "A dot.")
    for order in ([words, picture], [picture, words]):
        read = Conversation.of([("user", "Hi"), ("assistant", "Hello!"), *order, answer])
        assert (read.question, read.answer, len(read.images)) == ("What is this?", "A dot.", 1)
    before = Conversation.of([picture, ("assistant", "A dot."), words, answer])
    assert [(message.role, message.content) for message in before.earlier] == [("user", ""), ("assistant", "A dot.")]
    assert before.images == ()
