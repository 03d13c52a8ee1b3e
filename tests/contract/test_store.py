"""Stores: nothing is paid twice, an ERROR is not stored, and a store that fails loses nothing."""

import asyncio
import gc
import logging
from itertools import count

from fact_tables import each_row
from running import EACH_WAY, Memory, Paying, in_threads, in_virtual_time, passes

from jury_adapters import CascadedJury, Case, Ensemble, Judgment, Status, Tier, Usage, abstain
from jury_adapters.core.store import Key, get_or_ask

PASS, FAIL, ERROR = Status.PASS, Status.FAIL, Status.ERROR
CASE, KEY = Case(question="q"), Key("case", "judge", 0)
PAID = Usage(calls=1, input_tokens=40, output_tokens=10, cost_usd=0.005)
RECORDED = Usage(recorded_calls=1, recorded_usd=0.005)


def asking(answers, log, seconds=0.0):
    async def ask():
        log.append("asked")
        number = len(log)
        await asyncio.sleep(seconds)
        answer = answers[min(number, len(answers)) - 1]
        if isinstance(answer, BaseException):
            raise answer
        return answer

    return ask


def one(status="PASS", **fields):
    return Judgment(status=status, **fields)


# Paid once


@EACH_WAY
def test_what_is_stored_is_not_asked_again(many):
    """Trap 8."""
    paying, store = Paying(), Memory()
    first, second = (list(many(paying, ["a", "b", "c"], store=store)) for _ in range(2))
    assert len(paying.asked) == 3
    assert [judgment.usage for _, judgment in first] == [PAID] * 3
    assert [judgment.usage for _, judgment in second] == [RECORDED] * 3
    assert [judgment.reasoning for _, judgment in first] == [judgment.reasoning for _, judgment in second]


@EACH_WAY
def test_the_same_question_at_once_is_paid_once(many):
    """Trap 8: cases with different ids and metadata are one question."""
    paying, store = Paying(seconds=0.05), Memory()
    rows = [{"question": "q", "id": str(n), "metadata": {"n": n}} for n in range(20)]
    found = [judgment for _, judgment in many(paying, rows, store=store, max_concurrency=20)]
    assert len(paying.asked) == 1
    assert sum(judgment.usage.calls for judgment in found) == 1
    assert sum(judgment.usage.recorded_calls for judgment in found) == 19
    assert [judgment.case_id for judgment in found] == [str(n) for n in range(20)]


def test_two_batches_at_once_in_two_threads_pay_once():
    """Trap 8."""
    paying, store = Paying(seconds=0.02), Memory()
    found = in_threads(*[lambda: list(paying.judge_many(map(str, range(10)), store=store))] * 2)
    assert [len(batch) for batch in found] == [10, 10]
    assert len(paying.asked) == 10


def test_other_questions_are_asked_at_the_same_time():
    """Each waits for all others: other cases, judges and samples have locks of their own."""

    async def main():
        together, store = asyncio.Barrier(4), Memory()

        async def ask():
            await together.wait()
            return one()

        keys = [KEY, KEY._replace(case="other"), KEY._replace(judge="other"), KEY._replace(sample=1)]
        await asyncio.wait_for(asyncio.gather(*(get_or_ask(store, key, CASE, ask) for key in keys)), 30)
        return set(store.kept) == set(keys)

    assert asyncio.run(main())


def test_without_a_store_every_question_is_asked():
    log = []

    async def main():
        return await asyncio.gather(*(get_or_ask(None, KEY, CASE, asking([one()], log)) for _ in range(5)))

    assert asyncio.run(main()) == [one()] * 5
    assert len(log) == 5


@each_row(
    "said", [one("FAIL", score=0.25), one("LABEL", label="KEEP"), abstain("no contexts"), one(confidence=0.5)], ids=str
)
def test_every_status_but_error_is_stored_whole(said):
    store, log = Memory(), []

    async def main():
        return [await get_or_ask(store, KEY, CASE, asking([said], log)) for _ in range(3)]

    assert asyncio.run(main()) == [said] * 3
    assert len(log) == 1


def test_an_error_is_never_stored_and_asked_again():
    """Trap 8."""
    paying, store = Paying(says=[OSError("down"), Judgment(status="ERROR", error="its own"), True]), Memory()
    found = [next(paying.judge_many(["q"], store=store)) for _ in range(4)]
    assert [judgment.status for judgment in found] == [ERROR, ERROR, PASS, PASS]
    assert len(paying.asked) == 3
    assert [judgment.status for judgment in store.kept.values()] == [PASS]


def test_an_error_at_once_is_asked_again_by_each_that_waits():
    """Trap 8."""
    log, store = [], Memory()

    async def main():
        ask = asking([ValueError("broken"), ValueError("broken"), one()], log, 0.01)
        work = (get_or_ask(store, KEY, CASE, ask) for _ in range(4))
        return await asyncio.gather(*work, return_exceptions=True)

    found = in_virtual_time(main())
    assert [type(result) for result in found] == [ValueError, ValueError, Judgment, Judgment]
    assert len(log) == 3


def test_a_judgment_is_stored_before_it_is_yielded():
    """Trap 8."""

    class Slow(Memory):
        async def put(self, key, case, judgment):
            await asyncio.sleep(0.02)
            await super().put(key, case, judgment)

    store = Slow()
    for case, _ in Paying().judge_pairs(map(str, range(8)), store=store, ordered=False):
        assert any(key.case == case.content_hash for key in store.kept)


# Cancellation


def test_the_one_who_asks_is_cancelled_and_the_next_asks():
    """Trap 8."""
    log, store = [], Memory()

    async def main():
        ask = asking([one()], log, 0.02)
        first, second, third = (asyncio.create_task(get_or_ask(store, KEY, CASE, ask)) for _ in range(3))
        await asyncio.sleep(0.005)
        first.cancel()
        return await asyncio.gather(first, second, third, return_exceptions=True)

    found = in_virtual_time(main())
    assert isinstance(found[0], asyncio.CancelledError)
    assert found[1:] == [one(), one()]
    assert len(log) == 2


def test_one_who_waits_is_cancelled_and_the_others_get_their_judgment():
    log, store = [], Memory()

    async def main():
        ask = asking([one()], log, 0.02)
        first, second, third = (asyncio.create_task(get_or_ask(store, KEY, CASE, ask)) for _ in range(3))
        await asyncio.sleep(0.005)
        second.cancel()
        return await asyncio.gather(first, second, third, return_exceptions=True)

    found = in_virtual_time(main())
    assert isinstance(found[1], asyncio.CancelledError)
    assert (found[0], found[2], len(log)) == (one(), one(), 1)


def test_a_time_limit_of_one_lets_the_next_ask():
    store = Memory()
    slow, quick = Paying("same", seconds=60, timeout=0.02), Paying("same")
    assert slow.fingerprint == quick.fingerprint
    verdict = next(slow.with_fallbacks(quick).judge_many(["q"], store=store))
    assert (verdict.status, len(slow.asked), len(quick.asked)) == (PASS, 1, 1)
    assert not verdict.usage.cost_complete


# Stores that fail


@EACH_WAY
def test_a_put_that_fails_loses_nothing(many, caplog):
    """Trap 8: the judgment is paid for, so it is returned; the next run asks again."""
    paying, store = Paying(), Memory(put=OSError("disk full, Bearer abcdefgh12345678"))
    with caplog.at_level(logging.CRITICAL):
        found = [judgment for _, judgment in many(paying, ["a", "a"], store=store)]
    assert [(judgment.status, judgment.usage) for judgment in found] == [(PASS, PAID)] * 2
    assert [judgment.metadata["store_error"] for judgment in found] == ["OSError: disk full, [key]"] * 2


def test_a_put_that_fails_is_logged_and_keeps_the_metadata(caplog):
    said = one(metadata={"own": 1}, usage=PAID, findings=({"name": "claim", "passed": True},))
    found = asyncio.run(get_or_ask(Memory(put=OSError("no room")), KEY, CASE, asking([said], [])))
    assert found.model_copy(update={"metadata": said.metadata}) == said
    assert found.metadata == {"own": 1, "store_error": "OSError: no room"}
    assert "could not be stored" in caplog.text


@EACH_WAY
def test_a_get_that_fails_is_an_error_and_nothing_is_paid(many):
    paying = Paying()
    ((_, found),) = many(paying, ["q"], store=Memory(get=OSError("locked")))
    assert (found.status, found.error, paying.asked) == (ERROR, "OSError: locked", [])


def test_a_store_that_hangs_ends_with_the_limit_of_the_judge():
    class Hangs(Memory):
        async def get(self, key):
            await asyncio.sleep(60)

    assert next(Paying(timeout=0.02).judge_many(["q"], store=Hangs())).error == "timeout"


# Samples and keys


@each_row(
    ("jury", "samples"),
    [
        (lambda p: p.with_samples(3), [0, 1, 2]),
        (lambda p: Ensemble([p, p]), [0, 1]),
        (lambda p: Ensemble([p, Paying()]), [0, 1]),
        (lambda p: p.with_samples(2).with_samples(3), [0, 1, 2, 3, 4, 5]),
        (lambda p: Ensemble([p, passes, p.with_samples(2)]), [0, 1, 2]),
        (lambda p: CascadedJury([Tier("first", p.with_samples(2), "escalate_on_split"), Tier("last", p)]), [0, 1]),
    ],
    ids=["samples", "twice", "an equal judge", "samples of samples", "beside samples", "in a tier"],
)
def test_each_sample_is_asked_and_stored_for_itself(jury, samples):
    """Trap 7: one judge twice is two samples."""
    store, answers = Memory(), count()
    paying = Paying(says=[Judgment(status="PASS", reasoning=str(next(answers))) for _ in range(9)])
    built = jury(paying)
    for again in (False, True):
        (verdict,) = built.judge_many(["q"], store=store)
        assert (verdict.usage.recorded_calls if again else verdict.usage.calls) == len(samples)
        assert sorted(key.sample for key in store.kept) == samples


def test_a_verdict_sums_what_is_paid_and_what_is_recorded():
    """Trap 18: recorded usage is apart from new usage."""
    store, first = Memory(), Paying("first")
    list(first.judge_many(["q"], store=store))
    (verdict,) = Ensemble([first, Paying("second")]).judge_many(["q"], store=store)
    assert verdict.usage == PAID.model_copy(update={"recorded_calls": 1, "recorded_usd": 0.005})


def test_a_recorded_cost_that_was_not_complete_stays_so():
    """Trap 18."""
    took = Usage(calls=1, cost_usd=0.25, cost_complete=False)
    paying, store = Paying(took=took), Memory()
    for _ in range(2):
        (found,) = paying.judge_many(["q"], store=store)
    assert found.usage == Usage(recorded_calls=1, recorded_usd=0.25, cost_complete=False)


# Where the store applies


def test_locks_are_not_kept():
    def locks():
        gc.collect()
        return sum(isinstance(one, asyncio.Lock) for one in gc.get_objects())

    before = locks()
    list(Paying().judge_many(map(str, range(200)), store=Memory()))
    assert locks() < before + 50
