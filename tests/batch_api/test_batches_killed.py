"""kill -9 at every moment of a batch: the next run finds what was sent, and sends nothing twice."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.batch_vendor import BatchServer
from support.batches import batch_critic, cases

from jury_adapters import Status

COUNT = 12
# Loads everything once; for each line it forks a process that judges the cases.
PROGRAM = """
import os, signal, sys
from pathlib import Path
import anthropic, openai
from support.batch_vendor import BatchServer
from support.batches import batch_critic, cases

signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the dead do not wait to be asked after
for line in sys.stdin:
    url, folder, vendor, count = line.split()
    pid = os.fork()
    if not pid:
        server = BatchServer()
        server.url = url
        critic = batch_critic(server, Path(folder), vendor, batch_window_s=5.0, max_requests=int(count))
        list(critic.judge_many(cases(int(count))))
        os._exit(0)
    print(pid, flush=True)
"""
MOMENTS = [
    ("openai", "list", False),  # before anything is sent
    ("openai", "files", True),  # between upload and creation
    ("openai", "create", False),  # the creation is on its way
    ("openai", "create", True),  # created, and not yet recorded
    ("openai", "poll", False),
    ("openai", "content", False),
    ("anthropic", "create", False),
    ("anthropic", "create", True),
    ("anthropic", "content", False),
]


@pytest.fixture(scope="module")
def starting():
    """Start another process that judges the cases; its id."""
    tests = str(Path(__file__).parents[1])
    path = os.pathsep.join([tests, *filter(None, [os.environ.get("PYTHONPATH")])])
    env = {**os.environ, "PYTHONPATH": path}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", PROGRAM], env=env, **pipes) as forking:

        def start(server, folder, vendor):
            forking.stdin.write(f"{server.url} {folder} {vendor} {COUNT}\n")
            forking.stdin.flush()
            return int(forking.stdout.readline())

        yield start


def kill(process):
    os.kill(process, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError):
        while True:  # until it is gone, and its lock with it
            os.kill(process, 0)
            time.sleep(0.01)


@pytest.mark.slow
@pytest.mark.parametrize(("vendor", "call", "after"), MOMENTS)
def test_killed_and_run_again(starting, tmp_path, vendor, call, after):
    with BatchServer() as server:
        reached = server.hang(call, after=after)
        process = starting(server, tmp_path, vendor)
        assert reached.wait(30)
        kill(process)
        critic = batch_critic(server, tmp_path, vendor, batch_window_s=5.0, max_requests=COUNT)
        verdicts = critic.judge_many(cases(COUNT), max_concurrency=100)
        assert [verdict.status for verdict in verdicts] == [Status.PASS] * COUNT
        assert len(server.sent) == COUNT
        assert set(server.sent.values()) == {1}
        assert len(server.batches) == 1


@pytest.mark.slow
def test_a_second_process_on_the_folder_is_told_so(starting, tmp_path):
    with BatchServer() as server:
        reached = server.hang("create", after=True)
        process = starting(server, tmp_path, "openai")
        assert reached.wait(30)
        judgment = batch_critic(server, tmp_path).judge(cases(1)[0])
        kill(process)
        assert judgment.status is Status.ERROR
        assert f"process {process} works with the folder" in judgment.error + judgment.reasoning
