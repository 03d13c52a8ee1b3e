import asyncio
from functools import partial
from itertools import count

import pytest
from support import virtual_time

from jury_adapters import Case, Critic, Ensemble, InputError, Judgment
from jury_adapters.core.cache import CacheKey, get_or_run
from jury_adapters.testing import ScriptedModel, a_case, abstained, passed

KEY = CacheKey("case", "critic", "rubric", "0")


class Memory:
    """A cache that keeps judgments in a dict, and may refuse to."""

    def __init__(self, problem=None):
        self.kept = {}
        self.problem = problem

    def get(self, key):
        return self.kept.get(key)

    async def put(self, key, case, judgment):
        if self.problem:
            raise self.problem
        self.kept[key] = judgment


def asked(answers, log, delay=0.0):
    async def ask():
        log.append("asked")
        await asyncio.sleep(delay)
        answer = answers[min(len(log), len(answers)) - 1]
        if isinstance(answer, BaseException):
            raise answer
        return answer

    return ask


def test_what_is_recorded_is_not_asked_again():
    cache, log = Memory(), []

    async def twice():
        first = await get_or_run(KEY, a_case(), cache, asked([passed()], log))
        return first, await get_or_run(KEY, a_case(), cache, asked([passed()], log))

    first, second = asyncio.run(twice())
    assert first == second
    assert log == ["asked"]


def test_the_same_question_at_once_is_asked_once_and_shared():
    cache, log = Memory(), []

    async def together():
        ask = asked([passed(reasoning="only")], log, delay=0.01)
        return await asyncio.gather(*(get_or_run(KEY, a_case(), cache, ask) for _ in range(5)))

    assert asyncio.run(together()) == [passed(reasoning="only")] * 5
    assert log == ["asked"]


def test_without_a_cache_every_question_is_asked_anew():
    """Repetitions must show the noise of a judge independently of their timing."""
    log = []

    async def together():
        ask = asked([passed()], log, delay=0.01)
        return await asyncio.gather(*(get_or_run(KEY, a_case(), None, ask) for _ in range(5)))

    assert asyncio.run(together()) == [passed()] * 5
    assert len(log) == 5


def test_other_keys_are_not_shared():
    cache, log = Memory(), []

    async def together():
        ask = asked([passed()], log, delay=0.01)
        return await asyncio.gather(*(get_or_run(KEY._replace(sample=str(n)), a_case(), cache, ask) for n in range(3)))

    asyncio.run(together())
    assert len(log) == 3


def test_a_judgment_that_cannot_be_recorded_is_not_lost(caplog):
    judgment = asyncio.run(get_or_run(KEY, a_case(), Memory(OSError("disk full")), asked([passed()], [])))
    assert judgment.passed
    assert judgment.metadata["store_error"] == "disk full"
    assert "could not be recorded" in caplog.text


def test_an_exception_reaches_everyone_who_waited_and_nobody_after():
    cache, log = Memory(), []

    async def together():
        ask = asked([ValueError("broken"), passed()], log, delay=0.01)
        results = await asyncio.gather(
            *(get_or_run(KEY, a_case(), cache, ask) for _ in range(3)), return_exceptions=True
        )
        return results, await get_or_run(KEY, a_case(), cache, ask)

    results, later = asyncio.run(together())
    assert [type(result) for result in results] == [ValueError] * 3
    assert later.passed


def test_one_waiter_cancelled_leaves_the_others_their_judgment():
    cache, log = Memory(), []

    async def together():
        ask = asked([passed()], log, delay=0.02)
        first, second = (asyncio.ensure_future(get_or_run(KEY, a_case(), cache, ask)) for _ in range(2))
        await asyncio.sleep(0.005)
        second.cancel()
        judgment = await first
        with pytest.raises(asyncio.CancelledError):
            await second
        return judgment

    assert asyncio.run(together()).passed


def test_the_one_who_asks_cancelled_lets_the_next_ask_again():
    cache, log = Memory(), []

    async def together():
        ask = asked([passed()], log, delay=0.02)
        first = asyncio.ensure_future(get_or_run(KEY, a_case(), cache, ask))
        second = asyncio.ensure_future(get_or_run(KEY, a_case(), cache, ask))
        await asyncio.sleep(0.005)
        first.cancel()
        return await second

    assert asyncio.run(together()) == passed()
    assert log == ["asked", "asked"]


def test_whoever_shares_a_judgment_has_it_recorded_in_a_cache_of_its_own():
    mine, yours, log = Memory(), Memory(), []

    async def together():
        ask = asked([passed()], log, delay=0.01)
        return await asyncio.gather(*(get_or_run(KEY, a_case(), cache, ask) for cache in (mine, yours, mine)))

    assert asyncio.run(together()) == [passed()] * 3
    assert log == ["asked"]
    assert mine.kept == yours.kept == {KEY: passed()}


def test_an_abstention_for_want_of_budget_is_neither_recorded_nor_shared():
    cache, log = Memory(), []

    async def together():
        ask = asked([abstained(error="budget_exhausted"), passed()], log, delay=0.01)
        return await asyncio.gather(*(get_or_run(KEY, a_case(), cache, ask) for _ in range(3)))

    first, *others = asyncio.run(together())
    assert first.error == "budget_exhausted"
    assert others == [passed()] * 2
    assert log == ["asked", "asked"]
    assert cache.kept == {KEY: passed()}


def test_keys_of_cases_leave_metadata_out():
    assert Case(answer="a", metadata={"id": 1}).content_hash == Case(answer="a", metadata={"id": 2}).content_hash
    assert isinstance(Judgment("PASS"), Judgment)


class Silent(Memory):
    """A cache that never answers, to what is asked of it."""

    def __init__(self, silent):
        super().__init__()
        self.silent = silent

    async def find(self, key):
        return await self._answer("find", None)

    async def put(self, key, case, judgment):
        await self._answer("put", None)

    async def _answer(self, what, result):
        if what == self.silent:
            await asyncio.Event().wait()
        return result


def test_a_store_whose_put_never_returns_loses_no_judgment():
    log = []
    judgment = virtual_time.run(get_or_run(KEY, a_case(), Silent("put"), asked([passed()], log)))
    assert judgment.passed
    assert judgment.metadata["store_error"] == "the store does not answer within 120 s"
    assert log == ["asked"]


def test_a_store_whose_look_up_never_returns_is_given_up_before_anything_is_asked():
    log = []
    with pytest.raises(InputError, match="does not answer within 120 s"):
        virtual_time.run(get_or_run(KEY, a_case(), Silent("find"), asked([passed()], log)))
    assert log == []


def test_a_time_out_of_the_stores_own_is_told_as_such():
    judgment = asyncio.run(get_or_run(KEY, a_case(), Memory(TimeoutError("its own")), asked([passed()], [])))
    assert judgment.metadata["store_error"] == "its own"


@pytest.mark.parametrize(
    ("make", "asked"),
    [
        (lambda critic: critic(samples=2).with_samples(3), 6),
        (lambda critic: Ensemble([critic(name="a"), critic(name="b")]).with_samples(3), 6),
        (lambda critic: Ensemble([critic(samples=2), lambda case: True]).with_samples(2).with_samples(2), 8),
        (lambda critic: critic().with_samples(4), 4),
    ],
)
def test_samples_of_samples_are_asked_and_stored_one_by_one(tmp_path, make, asked):
    answers = count()
    model = ScriptedModel(lambda prompt: f'{{"reasoning": "{next(answers)}", "answer": "YES", "confidence": 0.9}}')
    jury = make(partial(Critic, model, "faithfulness", temperature=1))
    case = Case(question="2 + 2?", answer="4", contexts=["2 + 2 = 4"])
    for calls in (asked, 0):
        (verdict,) = jury.judge_many([case], store=tmp_path / "runs.db")
        assert (verdict.usage.calls, len(model.calls)) == (calls, asked)


@pytest.mark.parametrize("known", [True, False])
def test_a_store_that_refuses_every_judgment_is_logged_a_few_times_and_not_each_time(caplog, known):
    problem = f"no room on the disk, {known=}"
    refusing = Memory(InputError(problem) if known else OSError(problem))
    jury = Critic(ScriptedModel(["YES"] * 100), "safety", name="juror")
    judgments = list(jury.judge_many([a_case(answer=f"Answer {n}") for n in range(100)], store=refusing))
    assert all(problem in judgment.metadata["store_error"] for judgment in judgments)
    said = [record for record in caplog.records if problem in record.getMessage()]
    assert [record.getMessage().partition(" could")[0] for record in said] == [
        "1 judgment", *(f"{number} judgments" for number in (2, 4, 8, 16, 32, 64))
    ]  # fmt: skip
    assert [record.exc_info is None for record in said] == [known] * 7  # a defect of a cache of one's own has its lines
