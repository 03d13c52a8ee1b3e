"""Waits and samples leave the numbers of a program that seeds the random module alone."""

import multiprocessing
import random

import pytest

from jury_adapters import Case, Judge
from jury_adapters.core.background.judge_queue import JudgeQueue
from jury_adapters.core.jitter import OWN, backoff
from jury_adapters.core.runs import Run


def test_a_wait_doubles_up_to_its_limit():
    for attempt, longest in ((1, 0.5), (2, 1.0), (3, 2.0), (7, 30.0), (10_000, 30.0)):
        waits = [backoff(attempt, multiplier=0.5, longest=30) for _ in range(500)]
        assert min(waits) >= 0
        assert 0.9 * longest < max(waits) <= longest


def test_waits_and_samples_do_not_touch_the_random_module():
    random.seed(7)
    expected = [random.random() for _ in range(5)]
    random.seed(7)
    found = []
    with JudgeQueue(Judge.from_function(lambda case: True), sample=0.5) as queue:
        for _ in range(5):
            found.append(random.random())
            backoff(3, multiplier=0.5, longest=30)
            queue.put(Case(answer="yes"), run=Run("one"))
    assert found == expected


@pytest.mark.slow
def test_forked_workers_do_not_wait_alike():
    assert len({run_forked() for _ in range(3)}) == 3


def run_forked() -> float:
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(target=lambda: theirs.send(OWN.random()))
    process.start()
    number: float = ours.recv()
    process.join()
    return number
