"""Connections live as long as they are useful, in every loop, thread and process, and end without a word."""

import asyncio
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.scripts import run_script
from support.wire import VENDORS, End, WireServer, reply, response, well
from support.wire_faults import critic

from jury_adapters import Status
from jury_adapters.testing import a_case, no_waiting

pytestmark = pytest.mark.corpus

VENDOR = pytest.mark.parametrize("vendor", VENDORS)
# Resources that are left open are errors, and so is every other warning. Not "-X dev": it reports slow steps of loops,
# which a busy machine has. Python 3.12 warns of os.fork() beside threads, whatever it is that forks.
STRICT = ("-W", "error", "-W", "ignore:This process:DeprecationWarning")

COMMON = """
import asyncio, json, os, sys, threading
from jury_adapters.testing import a_case
from support.wire_faults import status_at, critic_at

addresses = [address.split() for address in sys.argv[1:]]

def judged(number=0):
    return [status_at(vendor, url, number) for vendor, url in addresses]

async def ajudged(number=0):
    case = a_case(question=f"{number}?", answer="TRUTH=NO")
    calls = [critic_at(vendor, url).ajudge(case) for vendor, url in addresses]
    return [str(judgment.status) for judgment in await asyncio.gather(*calls)]

found = []
"""
OUTLIVING = "fork, the connections of the parent outlive its child"
SCRIPTS = {
    "judge()": "found += [judged(n) for n in range(3)]",
    "asyncio.run": "found += [asyncio.run(ajudged(n)) for n in range(3)]",
    "judge() and asyncio.run": "found += [judged(), asyncio.run(ajudged(1)), judged(2)]",
    "judge() inside asyncio.run": """
        async def main():
            return [await ajudged(), await asyncio.to_thread(judged, 1), await ajudged(2)]
        found += asyncio.run(main())
    """,
    "a loop that is closed and no more": """
        for number in range(3):
            loop = asyncio.new_event_loop()
            found.append(loop.run_until_complete(ajudged(number)))
            loop.close()
    """,
    "a loop that is left open": """
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)
        found += [loop.run_until_complete(ajudged(number)) for number in range(3)]
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
    """,
    "threads": """
        from concurrent.futures import ThreadPoolExecutor
        with ThreadPoolExecutor(4) as pool:
            found += pool.map(lambda number: asyncio.run(ajudged(number)) if number % 2 else judged(number), range(8))
    """,
    "a thread that is still judging": """
        threading.Thread(target=judged, daemon=True).start()
        found.append(judged(1))
    """,
    "the same critics in loops and threads, and calls that are cancelled": """
        import logging
        logging.getLogger("asyncio").setLevel("ERROR")  # not how long a callback took
        critics = [critic_at(vendor, url) for vendor, url in addresses]
        case = a_case(answer="TRUTH=NO")
        async def main():
            several = [a_case(question=f"{number}?", answer="TRUTH=NO") for number in range(4)]
            await asyncio.gather(*(critic.ajudge(one) for critic in critics for one in several))
            cancelled = [asyncio.create_task(critic.ajudge(case)) for critic in critics]
            await asyncio.sleep(0)
            for call in cancelled:
                call.cancel()
            return [str(critic.judge(case).status) for critic in critics]
        found += [asyncio.run(main(), debug=True) for _ in range(2)]
        threads = [threading.Thread(target=critic.judge, args=(case,)) for critic in critics for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        found.append([str(critic.judge(case).status) for critic in critics])
    """,
    "a batch that is left early": """
        for vendor, url in addresses:
            cases = [a_case(question=f"{number}?", answer="TRUTH=NO") for number in range(50)]
            for judgment in critic_at(vendor, url).judge_many(cases, max_concurrency=4):
                found.append([str(judgment.status)])
                break
    """,
    "fork, the child ends by os._exit": """
        found.append(judged())
        if os.fork() == 0:
            os._exit(0 if judged(1) == judged(2) == ["FAIL"] * len(addresses) else 1)
        found.append(judged(3))
        assert os.wait()[1] == 0
        found.append(judged(4))
    """,
    "fork, the child ends as programs do": """
        found.append(judged())
        if os.fork() == 0:
            sys.exit(0 if judged(1) == judged(2) == ["FAIL"] * len(addresses) else 1)
        assert os.wait()[1] == 0
        found.append(judged(3))
    """,
    OUTLIVING: """
        found.append(judged())
        if os.fork() == 0:
            sys.exit(0 if judged(1) == ["FAIL"] * len(addresses) else 1)
        assert os.wait()[1] == 0
        found.append(judged(2))
    """,
    "fork before the first judgment": """
        if os.fork() == 0:
            sys.exit(0 if judged() == ["FAIL"] * len(addresses) else 1)
        found.append(judged(1))
        assert os.wait()[1] == 0
    """,
    "fork, the child has loops of its own": """
        found.append(asyncio.run(ajudged()))
        found.append(judged(1))
        if os.fork() == 0:
            sys.exit(0 if asyncio.run(ajudged(2)) == ["FAIL"] * len(addresses) else 1)
        assert os.wait()[1] == 0
        found.append(asyncio.run(ajudged(3)))
    """,
    "processes, forked": """
        from multiprocessing import get_context
        found.append(judged())
        with get_context("fork").Pool(2) as pool:
            found += [[status] for status in pool.starmap(status_at, [(*one, 1) for one in addresses])]
            pool.close()
            pool.join()
        found.append(judged(2))
    """,
    "processes, spawned": """
        from concurrent.futures import ProcessPoolExecutor
        from multiprocessing import get_context
        found.append(judged())
        with ProcessPoolExecutor(1, get_context("spawn")) as pool:
            found += [[pool.submit(status_at, *one, 1).result()] for one in addresses]
        found.append(judged(2))
    """,
}


@pytest.fixture
def wire():
    with WireServer() as server:
        yield server


# Run each script in a child that ends as a program does. The parent imports the SDKs, which takes most of the time, and
# does nothing else. The modules are frozen: at the end of a child the collector sees only what the child has made.
EACH = """
import gc, importlib, json, os, sys
for name in ("anthropic", "openai", "jury_adapters.critic.critic", "support.wire_faults"):
    importlib.import_module(name)
gc.freeze()
scripts, folder = sys.argv[1:]
ended = {}
for number, (name, (script, arguments)) in enumerate(json.loads(scripts).items()):
    if (child := os.fork()) == 0:
        sys.argv = ["-c", *arguments]
        for output in (1, 2):
            os.dup2(os.open(f"{folder}/{number}.{output}", os.O_WRONLY | os.O_CREAT), output)
        break
    ended[name] = [number, os.waitpid(child, 0)[1]]
else:
    script = "print(json.dumps(ended))"
exec(compile(script, "<script>", "exec"))
"""


@pytest.fixture(scope="module")
def watched():
    """The server that only the script of outliving connections asks."""
    with WireServer() as server:
        yield server


@pytest.fixture(scope="module")
def ended(tmp_path_factory, watched):
    """For each script: its exit status, its output and its messages."""
    folder = tmp_path_factory.mktemp("scripts")
    with WireServer() as server:
        scripts = {}
        for name, script in SCRIPTS.items():
            asked = watched if name == OUTLIVING else server
            addresses = [f"{vendor} {asked.base_url(vendor)}" for vendor in VENDORS]
            scripts[name] = (COMMON + dedented(script) + "\nprint(json.dumps(found))\n", addresses)
        ran = run_script(EACH, json.dumps(scripts), str(folder), options=STRICT, timeout=300)
    assert ran.err == ""
    return {
        name: (code, *((folder / f"{number}.{output}").read_text() for output in (1, 2)))
        for name, (number, code) in ran.result.items()
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", SCRIPTS)
def test_a_process_judges_and_ends_without_a_word(ended, name):
    code, output, messages = ended[name]
    assert (code, messages) == (0, "")
    found = json.loads(output)
    assert found
    assert {status for statuses in found for status in statuses} == {"FAIL"}


def dedented(script):
    lines = script.splitlines()
    width = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return "\n".join(line[width:] for line in lines)


@pytest.mark.slow
def test_the_connections_of_a_parent_outlive_its_child(ended, watched):
    """The child's end must not end them, nor may the child speak on them."""
    assert ended[OUTLIVING][0] == 0
    parent, child, again = watched.requests[:2], watched.requests[2:4], watched.requests[4:]
    assert len(again) == 2
    assert {one.connection for one in again} <= {one.connection for one in parent}
    assert not {one.connection for one in child} & {one.connection for one in parent}


# Within one process ---------------------------------------------------------------------------------------------------


@VENDOR
def test_calls_one_after_another_share_a_connection(wire, vendor):
    asked = [critic(wire, vendor), critic(wire, vendor, api_key="another-key")]
    for number in range(40):
        assert asked[number % 2].judge(a_case(question=f"{number}?", answer="TRUTH=NO")).status is Status.FAIL
    assert len(wire.requests) == 40
    assert wire.connections == 1


@VENDOR
def test_a_batch_uses_no_more_connections_than_it_has_calls_in_flight(wire, vendor):
    cases = [a_case(question=f"{number}?", answer="TRUTH=NO") for number in range(200)]
    judgments = list(critic(wire, vendor).judge_many(cases, max_concurrency=8))
    assert {judgment.status for judgment in judgments} == {Status.FAIL}
    assert len(wire.requests) == 200
    assert wire.connections <= 8


@VENDOR
def test_every_loop_has_connections_of_its_own_and_closes_them(wire, vendor):
    asked = critic(wire, vendor)

    async def judge():
        await asyncio.gather(*(asked.ajudge(a_case(question=f"{n}?", answer="TRUTH=NO")) for n in range(4)))

    for _ in range(3):
        asyncio.run(judge())
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda _: asyncio.run(judge()), range(3)))
    assert len(wire.requests) == 24
    assert wire.connections <= 24
    wait_until(lambda: wire.closed == wire.connections)


@VENDOR
def test_a_connection_that_the_server_has_closed_is_not_used(wire, vendor):
    wire.reset(lambda request: [*well(request), End.CLOSE])
    asked = critic(wire, vendor)
    for number in range(5):
        assert asked.judge(a_case(question=f"{number}?", answer="TRUTH=NO")).status is Status.FAIL
        wait_until(lambda: wire.closed == wire.connections)
        time.sleep(0.02)  # for the client's loop to see it
    assert len(wire.requests) == 5


@VENDOR
def test_the_answer_to_a_cancelled_call_is_nobodys(wire, vendor):
    """It says YES, and comes when the next call waits for its own."""
    asked_for = threading.Event()

    def plan(request):
        if request.number == 0:
            asked_for.set()
            yield 0.3
            yield response(json.dumps(reply(request)).replace("NO", "YES"))
        else:
            yield 0.5
            yield response(json.dumps(reply(request)))

    wire.reset(plan)

    async def judge():
        asked = critic(wire, vendor)
        task = asyncio.create_task(asked.ajudge(a_case(answer="TRUTH=NO")))
        await asyncio.to_thread(asked_for.wait, 20)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()
        return await asyncio.gather(*(asked.ajudge(a_case(question=f"{n}?", answer="TRUTH=NO")) for n in range(3)))

    assert [judgment.status for judgment in asyncio.run(judge())] == [Status.FAIL] * 3


@VENDOR
def test_a_call_that_timed_out_leaves_its_connection(wire, vendor):
    wire.reset(lambda request: [1.0, *well(request)] if request.number == 0 else well(request))
    asked = critic(wire, vendor, request_timeout=0.3)
    with no_waiting():
        judgment = asked.judge(a_case(answer="TRUTH=NO"))
    assert (judgment.status, len(wire.requests)) == (Status.FAIL, 2), judgment.error
    assert wire.requests[0].connection != wire.requests[1].connection


def wait_until(condition):
    for _ in range(200):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("it did not come true")
