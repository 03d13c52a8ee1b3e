"""Places of a batch window: given up while a case only waits for a retry, kept while it is worked on."""

import asyncio
import itertools
import signal
import threading
import time
from contextlib import contextmanager
from functools import partial

import pytest
from support.vendor import WELL, Act

from jury_adapters import CascadedJury, Critic, Ensemble, JudgeQueue, PairwiseCritic, Store, Tier, judge
from jury_adapters.core.case import Case
from jury_adapters.core.case_slots import BatchState, CaseSlot
from jury_adapters.core.context import run_context
from jury_adapters.core.judge import Judge
from jury_adapters.decision import DecisionCritic
from jury_adapters.judges.external import Call, ExternalJudge
from jury_adapters.judges.external_calls import called
from jury_adapters.judges.llm import correctness
from jury_adapters.models.limits import Limits
from jury_adapters.results import Run
from jury_adapters.voting import all_of, any_of

pytestmark = pytest.mark.corpus

FAITHFUL = {"question": "Q?", "answer": "A.", "contexts": ["TRUTH=YES"]}
PATIENT = Limits(attempts=1000, deadline_s=None, open_after=None)


def busy(ask, retry_after="0.2"):
    # Not 429: a rate that adapts to those would take seconds to recover.
    return Act(status=503, headers={"retry-after": retry_after}, error={"message": "busy"})


def case(number, **fields):
    return Case(**{**FAITHFUL, "question": f"Number {number}?", **fields})


class Source:
    """Cases that count how many of them have been read."""

    def __init__(self, count, **fields):
        self.read = 0
        self._count = count
        self._fields = fields

    def __iter__(self):
        for number in range(self._count):
            self.read += 1
            yield case(number, **self._fields)

    async def __aiter__(self):
        for row in self:
            yield row


def settles(condition, seconds=60.0):
    deadline = time.perf_counter() + seconds
    while not condition() and time.perf_counter() < deadline:
        time.sleep(0.01)
    return condition()


def asked_again(server):
    """Wait until all that wait for a retry have been asked once more."""
    so_far = server.count
    assert settles(lambda: server.count >= 2 * so_far)


def in_batch(maker, source, *, asynchronous=False, **options):
    if not asynchronous:
        return list(maker.judge_many(source, **options))

    async def run():
        return [judgment async for judgment in maker.ajudge_many(aiter(source), **options)]

    return asyncio.run(run())


@contextmanager
def batch_in_a_thread(maker, source, **options):
    """Judge in a thread; the list is filled when the batch has ended, which is waited for."""
    found = []
    thread = threading.Thread(target=lambda: found.extend(in_batch(maker, source, **options)), daemon=True)
    thread.start()
    yield found
    thread.join(60)
    assert not thread.is_alive()


@pytest.fixture
def critic(server):
    made = itertools.count()

    def make(rubric="faithfulness", **options):
        model = f"openai:m{next(made)}"  # each with slots of its own
        return Critic(model, rubric, name="critic", base_url=server.openai, api_key="k", limits=PATIENT, **options)

    return make


def broken():
    return judge(name="broken")(_raises)


async def _raises(case):
    raise ValueError("no")


class Wrapping(Judge):
    """A judge of a user's own that asks another one and does not say so."""

    def __init__(self, inner):
        self._inner = inner

    async def assess(self, case):
        return await self._inner.ajudge(case)


ONLY_WAITING = {
    "critic": lambda critic: critic(),
    "panel": lambda critic: Ensemble([critic(), critic(), critic()]),
    "panel with a check": lambda critic: Ensemble([critic(), lambda case: True, critic()]),
    "panel with a juror that is done": lambda critic: Ensemble([critic(), judge(name="done")(_at_once)]),
    "nested": lambda critic: Ensemble([Ensemble([critic(), critic()]), critic()]),
    "repeated": lambda critic: critic(samples=3),
    "early stopping": lambda critic: Ensemble([critic(), critic(), critic()], schedule="early_stop"),
    "early stopping with a juror that is done": lambda critic: Ensemble(
        [critic(), critic(), judge(name="done")(_at_once)], schedule="early_stop"
    ),
    "sequential": lambda critic: Ensemble([critic(), critic()], schedule="sequential"),
    "fallback": lambda critic: broken().with_fallbacks([critic()]),
    "all_of": lambda critic: all_of(lambda case: True, critic()),
    "any_of": lambda critic: any_of(lambda case: False, critic()),
    "cascade": lambda critic: CascadedJury(
        [Tier("check", lambda case: True, "reject_on_any_fail"), Tier("panel", Ensemble([critic(), critic()]), "final")]
    ),
    "with a time limit": lambda critic: Ensemble([critic(), critic()]).with_timeout(600),
    "with time limits per juror": lambda critic: Ensemble([critic(), critic()], juror_timeout=600),
    "by case": lambda critic: correctness(critic().model),
    "a user's judge": lambda critic: Wrapping(critic()),
    "a user's function": lambda critic: judge(name="own")(critic().ajudge),
}


IN_A_LOOP = ("critic", "panel with a check", "early stopping", "cascade", "with a time limit", "a user's function")


async def _at_once(case):
    return True


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("kind", "asynchronous"),
    [
        *[pytest.param(kind, False, id=f"{kind}-sync") for kind in ONLY_WAITING],
        *[pytest.param(kind, True, id=f"{kind}-async") for kind in IN_A_LOOP],
        *[
            pytest.param(kind, True, id=f"{kind}-async", marks=pytest.mark.slow)
            for kind in ONLY_WAITING
            if kind not in IN_A_LOOP
        ],
    ],
)
def test_cases_that_only_wait_for_a_retry_let_others_start_up_to_four_times_the_window(
    server, critic, kind, asynchronous
):
    server.plan = busy
    source = Source(14)
    with batch_in_a_thread(ONLY_WAITING[kind](critic), source, asynchronous=asynchronous, max_concurrency=2) as found:
        assert settles(lambda: source.read == 8)
        asked_again(server)
        assert source.read == 8
        server.plan = lambda ask: WELL
    assert [judgment.passed for judgment in found] == [True] * 14


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["pairwise", "decision"])
def test_pairwise_and_decision_critics_give_up_their_places_too(server, critic, kind):
    server.plan = busy
    maker = PairwiseCritic(critic("pairwise"))
    if kind == "decision":
        maker = DecisionCritic("openai:d", "safety", name="d", base_url=server.openai, api_key="k", limits=PATIENT)
    source = Source(20, candidates=["a", "b"])
    with batch_in_a_thread(maker, source, max_concurrency=4) as found:
        assert settles(lambda: source.read == 16)
        server.plan = lambda ask: WELL
    assert len(found) == 20


def test_cases_that_share_the_request_of_a_waiting_case_wait_too(server, critic, tmp_path):
    server.plan = busy
    read = []
    rows = (read.append(1) or case(0) for _ in range(12))
    with Store(tmp_path / "store.db") as store:  # noqa: SIM117  the batch ends before the store is closed
        with batch_in_a_thread(critic(), rows, max_concurrency=3, store=store) as found:
            assert settles(lambda: len(read) == 12)
            server.plan = lambda ask: WELL
    assert [judgment.passed for judgment in found] == [True] * 12


go = threading.Event()


async def _slow(case):
    while not go.is_set():
        await asyncio.sleep(0.01)
    return True


def _blocks(case):
    go.wait(60)
    return True


REALLY_WORKING = {
    "slow function": lambda critic: Ensemble([critic(), judge(name="slow")(_slow)]),
    "slow function, early stopping": lambda critic: Ensemble(
        [critic(), *[judge(name="slow")(_slow)] * 2], schedule="early_stop"
    ),
    "slow function in a nested jury": lambda critic: Ensemble(
        [Ensemble([critic(), critic()]), Ensemble([critic(), judge(name="slow")(_slow)])]
    ),
    "check in a thread": lambda critic: Ensemble([critic(), judge(name="slow", timeout=60)(_blocks)]),
    "external evaluator": lambda critic: Ensemble(
        [critic(), ExternalJudge(lambda case: Call(case, partial(called, _blocks, case)), "outer", name="outer")]
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("kind", REALLY_WORKING)
def test_a_case_with_a_judge_that_works_keeps_its_place(server, critic, kind, asynchronous):
    go.clear()
    server.plan = busy
    source = Source(12)
    try:
        maker = REALLY_WORKING[kind](critic)
        with batch_in_a_thread(maker, source, asynchronous=asynchronous, max_concurrency=4) as found:
            assert settles(lambda: server.count >= 4)
            asked_again(server)
            assert source.read == 4
            go.set()
            assert settles(lambda: source.read == 12)  # what is left only waits
            server.plan = lambda ask: WELL
    finally:
        go.set()
    assert len(found) == 12


def test_a_users_judge_that_starts_tasks_of_its_own_keeps_the_place(server, critic):
    """The batch cannot know what such a judge does besides asking the critic."""
    go.clear()
    server.plan = busy
    inner, source = critic(), Source(12)

    @judge
    async def gathers(case):
        judgment, _ = await asyncio.gather(inner.ajudge(case), _slow(case))
        return judgment.passed

    with batch_in_a_thread(gathers, source, max_concurrency=4) as found:
        assert settles(lambda: server.count >= 4)
        asked_again(server)
        assert source.read == 4
        go.set()
        server.plan = lambda ask: WELL
    assert len(found) == 12


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
def test_a_case_that_waits_for_a_retry_does_not_hold_up_the_next(server, critic, asynchronous):
    server.plan = lambda ask: busy(ask, "2") if "Number 0?" in ask.text and not ask.attempt else WELL
    rows = [case(number) for number in range(4)]
    maker = critic()

    async def run():
        return [item async for item in maker.ajudge_many(rows, max_concurrency=1, ordered=False)]

    found = asyncio.run(run()) if asynchronous else list(maker.judge_many(rows, max_concurrency=1, ordered=False))
    assert all(judgment.passed for judgment in found)
    asked = [next(number for number in range(4) if f"Number {number}?" in ask.text) for ask in server.asks]
    assert asked == [0, 1, 2, 3, 0]


@pytest.mark.slow
def test_the_window_is_kept_by_those_that_are_really_asked(server, critic):
    """Random 429s let others start, but no more requests are on their way than there are places and returning cases."""
    server.plan = lambda ask: busy(ask) if ask.number % 20 == 0 else Act(delay=0.02)
    found = in_batch(critic(), Source(120), max_concurrency=8)
    assert all(judgment.passed for judgment in found)
    assert server.most_in_flight <= 8 + 7


@pytest.mark.slow
def test_100_000_cases_before_a_server_without_mercy_can_be_interrupted(server, critic):
    """Ctrl-C while all of them wait; nothing of them is asked afterwards."""
    server.plan = lambda ask: Act(status=429, headers={"retry-after": "0.3"}, error={"message": "slow down"})
    source = Source(100_000)
    batch = critic().judge_many(source, max_concurrency=8)

    def interrupt():
        settles(lambda: server.count >= 20)
        time.sleep(0.6)  # two rounds of retries
        seen.append(source.read)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    seen = []
    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        next(batch)
    thread.join()
    (read,) = seen
    assert 8 < read <= 32
    asked = server.count
    time.sleep(0.6)  # two rounds of retries
    assert server.count == asked


def test_an_asynchronous_batch_before_such_a_server_can_be_cancelled(server, critic):
    server.plan = busy
    source = Source(100_000)

    async def main():
        async def consume():
            async for _ in critic().ajudge_many(source, max_concurrency=8):
                pass

        task = asyncio.create_task(consume())
        while source.read < 32:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return asyncio.all_tasks() == {asyncio.current_task()}

    assert asyncio.run(main())
    assert source.read == 32


def test_a_slot_is_idle_while_each_of_its_tasks_waits():
    async def main():
        batch = BatchState()
        changes = []
        batch.on_idle = lambda: changes.append(batch.idle_cases)
        slot = CaseSlot(batch, asyncio.current_task())
        with slot.waiting():
            assert slot.idle
            with slot.waiting():  # a wait inside a wait
                assert batch.idle_cases == 1
            assert slot.idle
        assert not slot.idle
        other = asyncio.create_task(asyncio.sleep(0))
        slot.add([other])
        with slot.waiting():
            assert not slot.idle
            slot.remove(other)
            assert slot.idle
        assert (batch.idle_cases, changes) == (0, [1, 1])
        await other

    asyncio.run(main())


def test_judging_in_the_background_and_alone_has_no_slot():
    slots = []
    seen = judge(name="seen")(lambda case: slots.append(run_context().slot) is None)
    seen.judge("alone")
    asyncio.run(seen.ajudge("alone"))
    with JudgeQueue(seen) as queue:
        queue.put(case(0), run=Run("run"))
    assert slots == [None] * 3
    list(seen.judge_many(["one", "two"]))
    assert len({slot.batch for slot in slots[3:]}) == 1
    assert run_context().slot is None
