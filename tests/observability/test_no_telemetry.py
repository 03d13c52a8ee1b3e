"""Nobody is told anything: judging opens no socket and writes no file unless it is asked to."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

# The interpreter itself reports what is opened; the list is kept from before the first import of ours.
WATCHED = """
import json, os, sys

seen = []
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_TRUNC

def watch(event, args):
    if event == "open" and (set(str(args[1] or "")) & set("wax+") or (args[2] or 0) & _WRITES):
        seen.append([event, str(args[0])])
    elif event in ("socket.connect", "socket.bind", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto",
                   "socket.sendmsg", "sqlite3.connect", "subprocess.Popen", "os.posix_spawn", "os.system", "os.mkdir",
                   "urllib.Request"):
        seen.append([event, str(args)])

sys.addaudithook(watch)
"""
JUDGING = """
import asyncio
import jury_adapters
from jury_adapters import *
from jury_adapters import __all__ as names
from jury_adapters.core.background.judge_queue import JudgeQueue, Run
from jury_adapters.testing import ScriptedModel, a_case

async def model(prompt):
    return "Answer: YES"

critic = Critic(model, "faithfulness", name="truth")
jury = CascadedJury([
    Tier("cheap", Ensemble([lambda case: True, lambda case: False]), "escalate_on_split"),
    Tier("dear", Ensemble([critic, critic.named("again")]), "final"),
])
cases = [a_case(question=f"{number}?") for number in range(5)]
assert jury.judge(cases[0]).passed
assert asyncio.run(jury.ajudge(cases[1])).passed
assert len(list(jury.judge_many(cases))) == 5
with JudgeQueue(jury, on_verdict=lambda judged: None) as queue:
    queue.put(cases[2], run=Run("run"))
str(jury.judge(cases[3])), jury.estimate_cost(cases)
"""
PROOF = "import socket\nopen(os.devnull, 'w').close()\nsocket.socket().bind(('127.0.0.1', 0))\n"
SAYING = "\nprint(json.dumps(seen))\n"


def seen_by(program: str) -> list[list[str]]:
    done = subprocess.run(
        [sys.executable, "-B", "-W", "ignore", "-c", WATCHED + program + SAYING],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    found: list[list[str]] = json.loads(done.stdout)
    return found


def test_the_watch_sees_what_it_watches_for() -> None:
    assert [event for event, _ in seen_by(PROOF)] == ["open", "socket.bind"]


def test_judging_opens_no_socket_and_writes_no_file() -> None:
    assert seen_by(JUDGING) == []


@pytest.mark.slow
def test_nor_does_tracing_without_an_exporter() -> None:
    assert seen_by("from jury_adapters.observability import trace_juries\ntrace_juries(content=True)\n" + JUDGING) == []
