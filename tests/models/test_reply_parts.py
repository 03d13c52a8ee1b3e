"""The text, refusal and end of a reply, in answers of every kind."""

import json

import pytest

from jury_adapters import Critic, Status
from jury_adapters.models.reply_parts import finish_of, text_of
from jury_adapters.testing import a_case
from tests.support.vendor import Act

QUOTING = a_case(answer="YES")


def judged(server, vendor, body, case=QUOTING):
    server.plan = lambda ask: Act(raw=json.dumps(body))
    base_url = server.openai if vendor == "openai" else server.anthropic
    return Critic(f"{vendor}:m", "faithfulness", name="juror", base_url=base_url, api_key="a-key-of-tests").judge(case)


def completion(message, finish="stop", **more):
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", **message}}
    return {"id": "x", "object": "chat.completion", "model": "m", "choices": [choice], **more}


def call(answer):
    return {"id": "1", "type": "function", "function": {"name": "j", "arguments": json.dumps({"answer": answer})}}


@pytest.mark.parametrize(
    "message",
    [
        {"content": "YES", "tool_calls": [call("NO")]},
        {"content": None, "tool_calls": [call("NO")]},
        {"content": "YES", "function_call": call("NO")["function"]},
        {"content": [{"type": "thinking", "text": "YES"}, {"type": "text", "text": '{"answer": "NO"}'}]},
    ],
)
def test_a_tool_call_is_the_reply_and_thinking_is_no_part_of_it(server, message):
    assert judged(server, "openai", completion(message, "tool_calls")).status is Status.FAIL


def test_a_tool_call_of_anthropic_is_the_reply(server):
    used = {"type": "tool_use", "id": "1", "name": "j", "input": {"answer": "NO"}}
    content = [{"type": "text", "text": "YES"}, used]
    body = {"type": "message", "role": "assistant", "model": "m", "content": content, "stop_reason": "tool_use"}
    assert judged(server, "anthropic", body).status is Status.FAIL


@pytest.mark.parametrize(
    "message",
    [
        {"content": [{"type": "thinking", "text": "YES"}, {"type": "text", "text": ""}]},
        {"content": [{"type": "text", "text": "YES"}, {"type": "refusal", "refusal": "No, I cannot."}]},
    ],
)
def test_a_thought_alone_and_a_refusal_beside_text_are_no_answer(server, message):
    assert judged(server, "openai", completion(message)).status in (Status.ERROR, Status.ABSTAIN)


@pytest.mark.parametrize("finish", ["MAX_TOKENS", "max_tokens", "pause_turn", "error", "something new"])
def test_a_reply_that_may_be_cut_off_is_not_whole(server, finish):
    case = a_case(answer='{"answer": "YES"}')
    judgment = judged(server, "openai", completion({"content": '{"answer": "YES"}'}, finish), case)
    assert judgment.status is Status.ABSTAIN


def test_an_error_beside_a_reply_is_an_error(server):
    body = completion({"content": "YES"}, "error", error={"message": "moderated", "code": 403})
    assert judged(server, "openai", body).status is Status.ERROR


@pytest.mark.parametrize("reason", ["stop", "STOP", "eos", "end_turn", "stop_sequence", None, ""])
def test_reasons_of_a_complete_reply(reason):
    assert finish_of(reason) == "stop"


def test_text_of_a_list_is_that_of_its_text_parts():
    parts = [
        {"text": "a"},
        {"type": "text", "text": "b"},
        {"type": "output_text", "text": "c"},
        {"type": "x", "text": "d"},
    ]
    assert text_of([*parts, "e", None]) == "abc"
