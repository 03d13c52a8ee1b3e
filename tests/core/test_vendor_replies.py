"""Replies of OpenAI's Chat Completions and of Gemini, read as the messages that they hold."""

import pytest
from openai.types.chat import ChatCompletion

from jury_adapters import Case
from jury_adapters.core.case_parts import Message, Step

TEXT = "The bridge opened in 1994."
CHOICE = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": TEXT, "refusal": None}}
COMPLETION = {
    "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "gpt-4o", "choices": [CHOICE],
    "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
}  # fmt: skip
GEMINI = {
    "candidates": [{"content": {"role": "model", "parts": [{"text": TEXT}]}, "finishReason": "STOP"}],
    "usageMetadata": {"totalTokenCount": 15}, "modelVersion": "gemini-2.5-flash",
}  # fmt: skip
CALLS = [{"id": "1", "type": "function", "function": {"name": "search", "arguments": '{"q": "bridge"}'}}]
REPLIES = {
    "OpenAI": COMPLETION,
    "OpenAI: streamed, as LangSmith joins the pieces": {"choices": [CHOICE], "usage_metadata": {"total_tokens": 15}},
    "OpenAI: the SDK's object": ChatCompletion.model_validate(COMPLETION),
    "Gemini": GEMINI,
    "Ollama": {"model": "qwen3", "message": {"role": "assistant", "content": TEXT}, "done": True},
    "Gemini: without a role": {"candidates": [{"content": {"parts": [{"text": TEXT}]}}]},
    "Anthropic": {
        "id": "msg", "type": "message", "role": "assistant", "model": "claude-haiku-4-5",
        "content": [{"type": "text", "text": TEXT}], "stop_reason": "end_turn", "usage": {"input_tokens": 1},
    },
}  # fmt: skip
each = pytest.mark.parametrize("reply", REPLIES.values(), ids=REPLIES)


@each
@pytest.mark.parametrize("part", ["outputs", "answer", "response", "output"])
def test_a_reply_is_its_text_wherever_it_is(reply, part):
    assert Case.from_row({"inputs": {"question": "When?"}, part: reply}) == Case(question="When?", answer=TEXT)


@each
def test_a_reply_under_a_name_in_the_outputs_or_as_the_reference_is_its_text(reply):
    row = {"inputs": "When?", "outputs": {"output": reply}, "reference_outputs": reply}
    case = Case.from_row(row)
    assert (case.answer, case.reference, case.candidates) == (TEXT, TEXT, ())


@pytest.mark.parametrize("answer", [COMPLETION, GEMINI], ids=["OpenAI", "Gemini"])
def test_a_row_of_a_request_and_its_reply_is_read(answer):
    asked = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "When?"}]
    case = Case.from_row({"inputs": {"messages": asked, "model": "gpt-4o"}, "outputs": answer})
    assert (case.question, case.answer) == ("When?", TEXT)
    assert case.messages == (Message(role="system", content="Be brief."),)


def test_a_request_to_gemini_has_its_question():
    contents = [{"role": "user", "parts": [{"text": "When?"}]}]
    assert Case.from_row({"inputs": {"contents": contents}, "outputs": GEMINI}) == Case(question="When?", answer=TEXT)
    assert Case.from_row({"contents": [*contents, GEMINI["candidates"][0]["content"]]}).answer == TEXT


def test_passages_beside_a_reply_are_contexts():
    case = Case.from_row({"inputs": "When?", "outputs": {**COMPLETION, "documents": ["Opened in 1994."]}})
    assert (case.answer, case.contexts) == (TEXT, ("Opened in 1994.",))


def test_a_message_beside_messages_is_not_the_reply():
    thread = [{"role": "user", "content": "When?"}, {"role": "assistant", "content": TEXT}]
    outputs = {"messages": thread, "message": {"role": "assistant", "content": "Another."}}
    case = Case.from_row({"outputs": outputs})
    assert (case.question, case.answer) == ("When?", TEXT)


def test_the_tool_calls_of_a_reply_are_its_steps():
    message = {"role": "assistant", "content": None, "tool_calls": CALLS}
    case = Case.from_row({"inputs": "When?", "outputs": {"choices": [{"index": 0, "message": message}]}})
    assert (case.answer, case.trajectory) == (None, (Step(tool="search", arguments={"q": "bridge"}),))
    part = {"functionCall": {"name": "search", "args": {"q": "bridge"}}}
    case = Case.from_row({"inputs": "When?", "outputs": {"candidates": [{"content": {"parts": [part]}}]}})
    assert case.trajectory == (Step(tool="search", arguments={"q": "bridge"}),)


def test_a_refusal_in_a_reply_is_its_text():
    message = {"role": "assistant", "content": None, "refusal": "I cannot help with that."}
    row = {"inputs": "When?", "outputs": {**COMPLETION, "choices": [{"index": 0, "message": message}]}}
    assert Case.from_row(row).answer == "I cannot help with that."


@pytest.mark.parametrize("row", [COMPLETION, GEMINI], ids=["OpenAI", "Gemini"])
def test_a_row_that_is_a_reply_itself_has_its_answer(row):
    case = Case.from_row({"question": "When?", **row})
    assert (case.answer, case.candidates) == (TEXT, ())
    case = Case.from_row({"messages": [{"role": "user", "content": "When?"}], **row})
    assert (case.question, case.answer, case.candidates) == ("When?", TEXT, ())


@pytest.mark.parametrize(
    "outputs",
    [
        {"choices": [{"text": "A"}, {"text": "B"}]},
        {"choices": ["A", "B"]},
        {"choices": [{"message": "A"}]},
        {"choices": []},
        {"choices": {"message": {"role": "assistant", "content": "A"}}},
    ],
)
def test_choices_without_a_message_of_a_model_are_no_reply(outputs):
    assert Case.from_row({"inputs": "q", "outputs": outputs}).answer != "A"


@pytest.mark.parametrize(
    ("message", "answer"),
    [
        ({"role": "model", "parts": [{"text": TEXT}]}, TEXT),
        ({"role": "assistant", "content": None, "refusal": "I cannot."}, "I cannot."),
        ({"role": "assistant", "content": None, "tool_calls": CALLS}, None),
    ],
)
def test_a_message_alone_is_what_the_run_gave(message, answer):
    case = Case.from_row({"inputs": "When?", "outputs": message})
    assert (case.question, case.answer) == ("When?", answer)
    assert len(case.trajectory) == (answer is None)


def test_candidates_that_are_texts_are_compared():
    for row in ({"question": "q", "candidates": ["A", "B"]}, {"inputs": "q", "outputs": {"candidates": ["A", "B"]}}):
        assert Case.from_row(row).candidates == ("A", "B")
