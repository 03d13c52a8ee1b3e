"""Requests that are recorded once and then sent with other texts: what is kept, and what cannot be sent so."""

import asyncio

import pytest
from openai import AsyncOpenAI, Timeout

from jury_adapters.models.base import Prompt, Turn
from jury_adapters.models.request_templates import Templates, record_template

ASKED = Prompt("You judge.", (Turn("user", "Is it so?"),))
OTHER = Prompt('Be "brief".', (Turn("user", "Is it not? é\n"),))


def recorded(ask, prompt=ASKED):
    return asyncio.run(record_template("openai", ask, prompt))


def client_on(http_client, **settings):
    base = {"api_key": "sk-0123456789", "base_url": "http://127.0.0.1:9/v1", "max_retries": 0, **settings}
    return AsyncOpenAI(**base, http_client=http_client)


def messages(prompt, change=lambda text: text):
    return [{"role": "system", "content": change(prompt.system)}] + [
        {"role": turn.role, "content": [{"type": "text", "text": change(turn.text)}]} for turn in prompt.turns
    ]


async def ask(http_client, prompt, *, change=lambda text: text, times=1, **settings):
    client = client_on(http_client, timeout=7)
    for _ in range(times):
        body = {"model": "m", "messages": messages(prompt, change), **settings}
        await client.post("/chat/completions", body=body, cast_to=object)


def test_only_the_texts_differ():
    template = recorded(lambda http_client, prompt: ask(http_client, prompt, temperature=0.1, a=[1]))
    assert template.body(OTHER) == {"messages": messages(OTHER), "model": "m", "temperature": 0.1, "a": [1]}
    assert template.endpoint.url == "http://127.0.0.1:9/v1/chat/completions"
    assert template.endpoint.headers["authorization"] == "Bearer sk-0123456789"
    assert "0123456789" not in repr(template)
    assert "0123456789" not in repr(template.endpoint)


@pytest.mark.parametrize("settings", [
    {"change": str.strip},
    {"change": str.upper},
    {"change": lambda text: f"Think! {text}"},
    {"times": 2},
    {"times": 0},
    {"stream": True},
], ids=lambda settings: next(iter(settings)))  # fmt: skip
def test_an_object_that_does_more_than_that_is_called(settings):
    assert recorded(ask) is not None
    assert recorded(lambda http_client, prompt: ask(http_client, prompt, **settings)) is None


def test_another_api_is_left_to_the_object():
    async def respond(http_client, prompt):
        body = {"model": "m", "input": prompt.turns[0].text}
        await client_on(http_client).post("/responses", body=body, cast_to=object)

    assert recorded(respond, Prompt.of("Is it so?")) is None


def test_an_empty_text_is_left_to_the_object():
    async def main():
        return await Templates().get(Prompt.of(" \n"), None, (), lambda: pytest.fail("it is not recorded"))

    assert asyncio.run(main()) is None


def test_requests_that_start_together_record_once_and_each_kind_has_its_own():
    count = 0

    async def record():
        nonlocal count
        count += 1
        await asyncio.sleep(0.01)
        return await record_template("openai", ask, ASKED)

    async def main():
        templates = Templates()
        same = await asyncio.gather(*(templates.get(prompt, None, (), record) for prompt in (ASKED, OTHER) * 5))
        other = await templates.get(ASKED, None, ("temperature", 0.0), record)
        again = await templates.get(ASKED.followed_by("a", "b"), None, (), record)
        return {id(one) for one in same}, other, again

    same, other, again = asyncio.run(main())
    assert len(same) == 1
    assert None not in (other, again)
    assert count == 3


def test_time_limits_are_those_of_the_client():
    async def patient(http_client, prompt):
        body = {"model": "m", "messages": messages(prompt)}
        client = client_on(http_client, timeout=Timeout(30.0, connect=2.0))
        await client.post("/chat/completions", body=body, cast_to=object)

    template = recorded(patient)
    assert (template._seconds, template.endpoint.connect_seconds) == (30.0, 2.0)
