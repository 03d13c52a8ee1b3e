"""The log: one tree, levels that mean something, and nothing that was judged in it."""

from __future__ import annotations

import asyncio
import io
import logging
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import jury_adapters
from jury_adapters import Critic, Limits, ModelError, Status
from jury_adapters.core.usage import Usage
from jury_adapters.decision import DecisionCritic
from jury_adapters.models.base import Answer
from jury_adapters.testing import ScriptedModel, a_case, no_waiting

KEY = "sk-proj-Abc0123456789-SECRET-xyz_0123456789"
SECRET = "swordfish"
LIMITED = ModelError(f"slow down, {SECRET} {KEY}", "rate_limited", status=429, request_id="req-7")


class Log:
    """A handler as an application has one, on one of our loggers."""

    def __init__(self, name: str, level: int) -> None:
        self.stream = io.StringIO()
        self.handler = logging.StreamHandler(self.stream)
        self.handler.setFormatter(logging.Formatter("%(levelname)s %(name)s %(message)s"))
        self.logger = logging.getLogger(name)
        self.before = self.logger.level
        self.logger.addHandler(self.handler)
        self.logger.setLevel(level)

    @property
    def lines(self) -> list[str]:
        return [re.sub(r"\d+ ms", "N ms", line) for line in self.stream.getvalue().splitlines()]

    def close(self) -> None:
        self.logger.removeHandler(self.handler)
        self.logger.setLevel(self.before)


@pytest.fixture
def debug() -> Iterator[Log]:
    log = Log("jury_adapters", logging.DEBUG)
    yield log
    log.close()


@pytest.fixture
def informed() -> Iterator[Log]:
    log = Log("jury_adapters", logging.INFO)
    yield log
    log.close()


def truth(*lines: str | ModelError, attempts: int = 3) -> Critic:
    return Critic(ScriptedModel(lines), "faithfulness", name="truth", limits=Limits(attempts=attempts))


def test_each_try_of_a_call_is_a_line_at_debug(debug: Log) -> None:
    with no_waiting():
        truth(LIMITED, TimeoutError(SECRET), "Answer: YES").judge(a_case())  # type: ignore[arg-type]
        truth(LIMITED, "Answer: YES").judge(a_case())
    assert debug.lines == [
        "DEBUG jury_adapters.models.calls test:scripted attempt 1: rate_limited (HTTP 429), request req-7, N ms",
        "DEBUG jury_adapters.models.calls test:scripted attempt 2: TimeoutError, N ms",
        "DEBUG jury_adapters.models.calls test:scripted attempt 1: rate_limited (HTTP 429), request req-7, N ms",
        "DEBUG jury_adapters.models.calls test:scripted attempt 2: ok, N ms, 100 tokens in, 20 out",
    ]


class Decider:
    """A decision model: sure of everything."""

    name, model, vendor = "test:decider", "decider", "test"

    async def decide(self, text: str, questions: list[object]) -> tuple[list[Answer], Usage]:
        return [Answer({"yes": 0.9, "no": 0.1}) for _ in questions], Usage(30, 2, calls=1)


def test_a_decision_model_is_logged_alike(debug: Log) -> None:
    DecisionCritic(Decider(), "safety", name="guard").judge(a_case())
    assert debug.lines == ["DEBUG jury_adapters.models.calls test:decider attempt 1: ok, N ms, 30 tokens in, 2 out"]


def test_a_call_given_up_on_is_a_line_at_info(informed: Log) -> None:
    with no_waiting():
        assert truth(LIMITED).judge(a_case()).status is Status.ERROR
        assert truth(LIMITED, "Answer: YES").judge(a_case()).status is Status.PASS
    assert informed.lines == [
        "INFO jury_adapters.models.retries test:scripted: gave up after 3 attempts: "
        "rate_limited (HTTP 429), request req-7"
    ]


def test_a_deadline_is_a_line_at_info(informed: Log) -> None:
    model = ScriptedModel(["Answer: YES"], delay=30)
    limits = Limits(deadline_s=0.05)
    judgment = Critic(model, "faithfulness", name="truth", limits=limits).judge(a_case())
    assert judgment.status is Status.ERROR
    assert informed.lines == [
        "INFO jury_adapters.models.retries test:scripted: gave up after 0.05 s, the deadline of one call"
    ]


def test_a_batch_is_a_line_at_info(debug: Log) -> None:
    critic = truth("Answer: YES")
    debug.logger.setLevel(logging.INFO)

    async def ask() -> None:
        assert len([one async for one in critic.ajudge_many([a_case(), a_case(question="?")])]) == 2

    assert len(list(critic.judge_many([a_case(), {"no such": 1}]))) == 2
    asyncio.run(ask())
    next(begun := critic.judge_many([a_case(question=f"{number}?") for number in range(3)], max_concurrency=1))
    begun.close()  # type: ignore[attr-defined]
    done = [re.sub(r"\d+\.\d s", "N s", line) for line in debug.lines]
    said = "INFO jury_adapters.core.batch"
    assert done[0] == f"{said} 2 cases judged in N s, 1 of them ERROR; 0 broken off"
    assert done[1] == f"{said} 2 cases judged in N s, 0 of them ERROR; 0 broken off"
    assert done[2].startswith(f"{said} 1 case judged")
    assert len(done) == 3


def test_nothing_judged_and_no_key_is_in_the_log(debug: Log) -> None:
    case = a_case(question=f"question {SECRET}", answer=f"answer {SECRET}", contexts=[f"context {SECRET}"])
    with no_waiting():
        truth(f"I say {SECRET} {KEY}").judge(case)
        truth(LIMITED).judge(case)
        list(truth(f"Answer: YES {SECRET}").judge_many([case] * 3))
    assert debug.lines
    assert [word for word in (SECRET, KEY, KEY[:16]) if word in debug.stream.getvalue()] == []


def test_every_logger_is_in_our_tree() -> None:
    root = Path(jury_adapters.__file__).parent
    named = {
        match for path in root.rglob("*.py") for match in re.findall(r"logging\.getLogger\(([^)]*)\)", path.read_text())
    }
    ours = {name for name in named if name == "__name__" or name.strip("\"'").startswith("jury_adapters")}
    chosen_by_the_user, hushed = {'logger or "jury_adapters.verdicts"'}, {'"ray.data"', "http.__name__"}
    assert named - ours == chosen_by_the_user | hushed


DROPPED = """
from jury_adapters import Case, JudgeQueue, judge
from jury_adapters.results import Run
queue = JudgeQueue(judge(lambda case: True))
queue.close()
assert not queue.put(Case(answer="a"), run=Run("1"))
"""
SILENT = """
from jury_adapters import Critic, Limits, ModelError
from jury_adapters.testing import ScriptedModel, a_case, no_waiting
model = ScriptedModel([ModelError("no", "server", status=503)])
with no_waiting():
    print(Critic(model, "faithfulness", name="truth", limits=Limits(attempts=2)).judge(a_case()).status)
"""


@pytest.mark.slow
def test_what_a_judgment_says_anyway_is_not_on_stderr_too() -> None:
    done = subprocess.run([sys.executable, "-c", SILENT], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("ERROR\n", "")


@pytest.mark.slow
def test_what_may_be_a_loss_is_on_stderr_also_where_nobody_configured_logging() -> None:
    done = subprocess.run([sys.executable, "-c", DROPPED], capture_output=True, text=True, check=True)
    assert done.stderr == "1 run not judged so far: the queue is closed\n"
