"""Event loops, threads and connections: no answer to one question becomes that of another."""

import asyncio
import gc
import importlib
import subprocess
import sys
import threading
import weakref

import openai
import pytest
from model_asking import ask, failed, prompt
from model_server import KEY, Server, answer, response

from jury_adapters.models import ModelError, clients, open_model
from jury_adapters.models.clients import PerLoop
from jury_adapters.models.limits import ask_model

every_route = pytest.mark.parametrize("vendor", ["openai-wire", "openai-sdk", "anthropic-sdk"], indirect=True)


@every_route
def test_bytes_on_an_idle_connection_are_nobodys_answer(server, opened):
    """Trap 4: aiohttp alone takes them for the answer to the next request."""
    model, written = opened(), []

    def stray(request):
        yield response(answer(request))
        yield 0.02
        try:
            yield response(answer(request, "STRAY"))
        finally:  # also if the client has closed the connection
            written.append(request.number)

    async def main():
        found = []
        for number in range(4):
            try:
                found.append((await model.complete(prompt(f"{number}"))).text)
            except ModelError as error:  # the SDKs notice the bytes when they read
                found.append(error.kind)
            async with asyncio.timeout(10.0):
                while len(written) < len(server.requests):
                    await asyncio.sleep(0.01)
            await asyncio.sleep(0.02)
        return found

    server.plan = stray
    found = asyncio.run(main())
    assert found[0] == "echo: 0"
    assert all(text in (f"echo: {number}", "unavailable") for number, text in enumerate(found))


@every_route
def test_the_answer_to_a_cancelled_call_is_nobodys(server, opened):
    """Trap 4."""
    model = opened()
    server.plan = lambda request: [0.1 if "late" in request.question else 0.0, response(answer(request))]

    async def main():
        found = []
        for number in range(5):
            late = asyncio.create_task(model.complete(prompt(f"late {number}")))
            await asyncio.sleep(0.03)
            late.cancel()
            with pytest.raises(asyncio.CancelledError):
                await late
            found.append((await model.complete(prompt(f"{number}"))).text)
            await asyncio.sleep(0.08)
        return found

    assert asyncio.run(main()) == [f"echo: {number}" for number in range(5)]


def test_the_answer_to_a_call_that_timed_out_is_nobodys(server, opened):
    model = opened(timeout=0.5)
    server.plan = lambda request: [0.8 if "late" in request.question else 0.0, response(answer(request))]

    async def main():
        assert (await failed(model.complete(prompt("late")))).kind == "timeout"
        await asyncio.sleep(0.4)
        return (await model.complete(prompt("next"))).text

    assert asyncio.run(main()) == "echo: next"


@every_route
def test_a_model_works_in_one_loop_after_another(server, opened):
    """Trap 5."""
    model = opened()
    for number in range(4):
        assert ask(model, f"{number}").text == f"echo: {number}"


@every_route
def test_a_model_works_in_loops_of_several_threads_at_once(server, opened):
    model, found = opened(), []

    async def main(thread):
        replies = await asyncio.gather(*(ask_model(model, prompt(f"{thread} {n}")) for n in range(8)))
        found.extend((f"echo: {thread} {n}", reply.text) for n, reply in enumerate(replies))

    threads = [threading.Thread(target=lambda thread=thread: asyncio.run(main(thread))) for thread in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 32
    assert all(expected == text for expected, text in found)


def test_connections_are_kept_within_a_loop_and_closed_with_it(server, opened):
    model, begun = opened(), server.connections

    async def main():
        for number in range(6):
            await model.complete(prompt(f"{number}"))
        return server.connections - begun

    assert asyncio.run(main()) == 1


@every_route
def test_nothing_holds_a_loop_that_has_ended(server, opened):
    model, seen = opened(), []

    async def main():
        seen.append(weakref.ref(asyncio.get_running_loop()))
        await ask_model(model, prompt())

    asyncio.run(main())
    gc.collect()
    assert seen[0]() is None
    kept = {loop for values in clients._HTTP_CLIENTS.values() for loop in values._values}
    assert not any(loop.is_closed() for loop in kept)  # that of synchronous judging goes on


def test_values_per_loop_are_made_once_and_closed():
    events = []

    async def make():
        events.append("made")
        return len(events)

    async def close(value):
        events.append(f"closed {value}")

    values = PerLoop(make, close)

    async def main():
        return [await values.get() for _ in range(3)]

    assert asyncio.run(main()) == [1, 1, 1]
    assert asyncio.run(main()) == [3, 3, 3]
    assert events == ["made", "closed 1", "made", "closed 3"]


# Clients of the user


def given_client(vendor, server, **options):
    kind = importlib.import_module("anthropic").AsyncAnthropic if vendor == "anthropic" else openai.AsyncOpenAI
    return kind(api_key=KEY, base_url=server.base_url(vendor), **options)


@pytest.fixture(params=["openai", "anthropic"])
def protocol(request):
    return request.param


def test_a_given_client_keeps_its_headers_and_works_in_several_loops(server, protocol):
    client = given_client(protocol, server, default_headers={"X-Team": "jury"}, default_query={"v": "1"})
    model = open_model(f"{protocol}:m", client=client)
    for number in range(3):
        assert ask(model, f"{number}").text == f"echo: {number}"
    assert {request.headers["x-team"] for request in server.requests} == {"jury"}
    assert all(request.target.endswith("?v=1") for request in server.requests)


def test_a_given_client_does_not_retry_and_follows_no_redirect(server, protocol):
    model = open_model(f"{protocol}:m", client=given_client(protocol, server))
    server.plan = lambda request: [response("", "500 Oops")]
    asyncio.run(failed(model.complete(prompt())))
    assert len(server.requests) == 1
    with Server() as elsewhere:
        server.plan = lambda request: [response("", "307 Moved", location=elsewhere.base_url(protocol))]
        assert asyncio.run(failed(model.complete(prompt()))).kind == "refused"
        assert elsewhere.requests == []


def test_a_given_client_with_its_own_transport_keeps_it(server, protocol):
    sdk = importlib.import_module("anthropic") if protocol == "anthropic" else openai

    class Counting(sdk.DefaultAsyncHttpxClient):
        sent = 0

        async def send(self, *arguments, **options):
            Counting.sent += 1
            return await super().send(*arguments, **options)

    async def main():
        async with Counting() as http:
            model = open_model(f"{protocol}:m", client=given_client(protocol, server, http_client=http))
            return (await model.complete(prompt())).text

    assert asyncio.run(main()) == "echo: Is it so?"
    assert Counting.sent == 1


def test_an_azure_client_asks_its_deployment(server):
    client = openai.AsyncAzureOpenAI(
        api_key=KEY, azure_endpoint=f"http://127.0.0.1:{server.port}", api_version="2024-10-21"
    )
    server.plan = lambda request: [response(answer(request))]
    assert ask(open_model("azure:judge", client=client)).text == "echo: Is it so?"
    assert server.requests[0].target == "/openai/deployments/judge/chat/completions?api-version=2024-10-21"
    assert server.requests[0].headers["api-key"] == KEY


def test_a_process_ends_without_a_word_about_open_connections(server):
    """Synchronous judging keeps connections on a loop of its own until the process ends."""
    script = f"""
from jury_adapters import Critic, open_model
model = open_model("openai:m-exit", base_url={server.base_url("openai")!r}, api_key={KEY!r})
judge = Critic(model, prompt="{{answer}}", labels={{"YES": "pass", "NO": "fail"}})
print(judge.judge(answer="It stopped in 2018.").status)
"""
    server.plan = lambda request: [response(answer(request, "YES"))]
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert (run.stdout, run.stderr) == ("PASS\n", "")
