"""Calls of sinks and ``on_error`` about judged runs, and the context of these calls."""

import asyncio
import threading
import time
from contextvars import ContextVar

import pytest
from support.judge_queues import CASE, passing

from jury_adapters import Case, Ensemble, Judge, Status
from jury_adapters.core.background.judge_queue import JudgedRun, JudgeQueue, Run
from jury_adapters.core.context import run_context


def test_a_run_is_judged_and_every_sink_told():
    told: list[tuple[str, JudgedRun]] = []

    async def later(judged: JudgedRun) -> None:
        await asyncio.sleep(0)
        told.append(("async", judged))

    class Sink:
        async def __call__(self, judged: JudgedRun) -> None:
            told.append(("object", judged))

    sinks = [lambda judged: told.append(("plain", judged)), later, Sink(), lambda judged: later(judged)]  # noqa: PLW0108
    with JudgeQueue(passing(), on_verdict=sinks) as queue:
        assert queue.put(CASE, run=Run("1", name="a run"))
        assert queue.put(lambda: CASE, run=Run("2"))
    assert [name for name, judged in told if judged.run.id == "1"] == ["plain", "async", "object", "async"]
    assert {judged.judgment.status for _, judged in told} == {Status.PASS}
    assert (queue.counts.judged, queue.pending) == (2, 0)


def test_a_callable_that_is_also_a_sequence_is_one_sink():
    class Kept(list):
        def __call__(self, judged: JudgedRun) -> None:
            self.append(judged)

    kept = Kept()
    with JudgeQueue(passing(), on_verdict=kept) as queue:
        queue.put(CASE, run=Run("1"))
    assert len(kept) == 1


def test_a_sink_that_raises_is_counted_and_the_others_are_told(caplog: pytest.LogCaptureFixture):
    told = []

    def broken(judged: JudgedRun) -> None:
        raise LookupError("no such table")

    async def exiting(judged: JudgedRun) -> None:
        raise SystemExit(3)

    with JudgeQueue(passing(), on_verdict=[broken, exiting, told.append]) as queue:
        queue.put(CASE, run=Run("1"))
        queue.put(CASE, run=Run("2"))
    assert len(told) == 2
    assert queue.counts.sink_errors == 4
    assert "no such table" in caplog.text


def test_a_sink_that_always_raises_logs_one_traceback_and_then_ever_fewer_lines(caplog: pytest.LogCaptureFixture):
    def broken(judged: JudgedRun) -> None:
        raise LookupError("no such table")

    async def exiting(judged: JudgedRun) -> None:
        raise SystemExit(3)

    with JudgeQueue(passing(), on_verdict=[broken, exiting]) as queue:
        for number in range(31):
            queue.put(CASE, run=Run(str(number)))
    assert queue.counts.sink_errors == 62
    said = [record for record in caplog.records if "on_verdict raised" in record.getMessage()]
    assert len(said) == 10  # of each sink the 1st, 2nd, 4th, 8th and 16th
    assert len([record for record in said if record.exc_info]) == 2
    assert any("on_verdict raised 16 times so far, now for run" in record.getMessage() for record in said)
    assert any("LookupError('no such table')" in record.getMessage() for record in said)


@pytest.mark.parametrize("kind", ["plain", "asynchronous", "lambda"])
def test_a_slow_sink_is_told_of_many_runs_at_once_but_of_no_more_than_allowed(kind: str):
    lock, now, most = threading.Lock(), 0, 0

    def change(by: int) -> None:
        nonlocal now, most
        with lock:
            now += by
            most = max(most, now)

    def plain(judged: JudgedRun) -> None:
        change(1)
        time.sleep(0.02)
        change(-1)

    async def asynchronous(judged: JudgedRun) -> None:
        change(1)
        await asyncio.sleep(0.02)
        change(-1)

    sink = {"plain": plain, "asynchronous": asynchronous, "lambda": lambda judged: asynchronous(judged)}[kind]  # noqa: PLW0108
    queue = JudgeQueue(Judge.from_function(lambda case: True), on_verdict=sink, max_concurrency=4)
    for number in range(30):
        queue.put(CASE, run=Run(str(number)))
    assert queue.close(20)
    assert queue.counts.judged == 30
    assert 2 <= most <= 4


def test_a_case_that_cannot_be_made_is_an_error_and_on_error_is_told_first():
    told = []

    def unreadable() -> Case:
        raise LookupError("nothing here")

    options = {"on_verdict": lambda judged: told.append("verdict"), "on_error": told.append}
    with JudgeQueue(passing(), **options) as queue:
        queue.put(unreadable, run=Run("1"))
    judged, then = told
    assert then == "verdict"
    assert judged.case is None
    assert judged.judgment.status is Status.ERROR
    assert "nothing here" in judged.judgment.reasoning


def test_on_error_is_told_of_an_outage_of_every_juror_whatever_the_verdict_says():
    def down(case: Case) -> bool:
        raise ConnectionError("no line")

    told: list[JudgedRun] = []
    for jurors, errors in (
        ([down, down], None), ([down, down], "ignore"), ([down, down], "fail"), ([passing(), down], "ignore"),
    ):  # fmt: skip
        with JudgeQueue(Ensemble(jurors, errors=errors), on_error=told.append) as queue:
            queue.put(CASE)
    assert [judged.judgment.status for judged in told] == [Status.ERROR, Status.ABSTAIN, Status.FAIL]


def test_no_key_stands_in_the_error_of_a_run(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SOME_VENDOR_API_KEY", "plainwordsasakey")
    told = []
    with JudgeQueue(passing(), on_verdict=told.append) as queue:
        queue.put(CASE, run=Run("1", error="401: plainwordsasakey, sk-0123456789abcdef: no"))
    (judged,) = told
    assert judged.run.error == "401: [key], [key]: no"
    assert "plainwords" not in repr(judged)
    assert "sk-0" not in repr(judged)


def test_a_sink_that_flushes_does_not_wait_for_itself():
    answers = []

    async def asynchronous(judged: JudgedRun) -> None:
        answers.append(await queue.aflush())

    queue = JudgeQueue(passing(), on_verdict=[lambda judged: answers.append(queue.flush()), asynchronous])
    queue.put(CASE, run=Run("1"))
    assert queue.flush(10)
    assert answers == [False, False]


def test_judges_and_sinks_know_that_they_are_judging_and_nothing_else_of_the_caller():
    request: ContextVar[str] = ContextVar("request", default="none")
    seen = []
    judge = Judge.from_function(lambda case: bool(seen.append((run_context().judging, request.get()))) or True)
    request.set("mine")
    with JudgeQueue(judge, on_verdict=lambda judged: seen.append((run_context().judging, request.get()))) as queue:
        queue.put(CASE, run=Run("1"))
    assert seen == [(True, "none"), (True, "none")]
    assert not run_context().judging


def test_on_error_is_told_of_a_failure_that_only_broken_jurors_caused():
    strict = Judge.from_function(lambda case: case.answer == "good")
    jury = Ensemble([strict, lambda case: 1 / 0])
    errors: list[str | None] = []
    alerts: list[str | None] = []

    def alert(judged: JudgedRun) -> None:
        if judged.judgment.status is Status.FAIL and not judged.judgment.failed_by_errors:
            alerts.append(judged.answer)

    with JudgeQueue(jury, on_verdict=alert, on_error=lambda judged: errors.append(judged.answer)) as queue:
        for answer in ("good", "bad"):
            queue.put(Case(answer=answer))
    assert errors == ["good"]
    assert alerts == ["bad"]
    assert not jury.judge(answer="bad").failed_by_errors
    assert not strict.judge(answer="bad").failed_by_errors
