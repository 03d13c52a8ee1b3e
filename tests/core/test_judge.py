"""Judge: what a function may return, what becomes ERROR, what passes through, and how long it may take."""

import asyncio
import contextvars
import functools
import threading
import time
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from jury_adapters import Case, ConfigurationError, Ensemble, Judge, Judgment, Status, Usage, Verdict, judge
from jury_adapters.core import event_loop
from jury_adapters.core.function_judge import FunctionJudge

PASSING = Exception, SystemExit


def of(outcome, **options):
    """A judge that returns this, plainly."""
    return judge(name="j", **options)(lambda case: outcome)


def later(outcome, seconds=0.0, answered=None, **options):
    """A judge that returns this after a while, asynchronously; what it returned is added to `answered`."""

    async def answer(case):
        await asyncio.sleep(seconds)
        if answered is not None:
            answered.append(outcome)
        return outcome

    return judge(name="j", **options)(answer)


def raising(error, how="plain"):
    """A judge that raises this: as a function, an async function, or an async function after a wait."""

    def plain(case):
        raise error

    async def at_once(case):
        raise error

    async def afterwards(case):
        await asyncio.sleep(0)
        raise error

    return judge(name="j")({"plain": plain, "async": at_once, "later": afterwards}[how])


HOWS = ["plain", "async", "later"]

# --- making a judge of a function


def test_the_decorator_works_with_and_without_options():
    @judge
    def short(case):
        return len(case.answer) < 5

    @judge(name="other", threshold=0.9, cost=0.5)
    def scored(case):
        return 0.8

    assert (short.name, scored.name, scored.cost) == ("short", "other", 0.5)
    assert short.judge(answer="yes").status is Status.PASS
    assert scored.judge("q").status is Status.FAIL
    assert short(Case(answer="a long answer")) is False


def test_names_come_from_the_function_and_a_lambda_has_none():
    class Callable:
        def __call__(self, case):
            return True

    def named(case):
        return True

    assert judge(named).name == "named"
    assert judge(lambda case: True).name == ""
    assert judge(Callable()).name == "Callable"
    assert judge(functools.partial(named)).name == "partial"
    assert Judge.from_function(named, name="given").name == "given"


@pytest.mark.parametrize("what", [5, "name", None, [1]])
def test_what_cannot_be_called_is_no_judge(what):
    with pytest.raises(ConfigurationError, match="made of a function"):
        FunctionJudge(what)


@pytest.mark.parametrize("threshold", [float("nan"), -0.1, 2, "high", None])
def test_a_threshold_that_no_score_can_meet_is_refused_when_the_judge_is_made(threshold):
    with pytest.raises(ConfigurationError, match="threshold"):
        judge(threshold=threshold)(lambda case: 0.5)


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), "5"])
def test_a_time_limit_must_be_positive(timeout):
    with pytest.raises(ConfigurationError, match="timeout"):
        judge(timeout=timeout)(lambda case: True)
    with pytest.raises(ConfigurationError, match="timeout"):
        of(True).with_timeout(timeout)


# --- what it may return


RETURNS = [
    (True, "PASS", None),
    (False, "FAIL", None),
    (np.bool_(True), "PASS", None),
    (np.bool_(False), "FAIL", None),
    (0.5, "PASS", 0.5),
    (0.49, "FAIL", 0.49),
    (1, "PASS", 1.0),
    (0, "FAIL", 0.0),
    (np.float64(0.7), "PASS", 0.7),
    (np.float32(0.25), "FAIL", 0.25),
    (np.int64(1), "PASS", 1.0),
    (np.array(0.75), "PASS", 0.75),
    (Fraction(1, 4), "FAIL", 0.25),
    (Status.PASS, "PASS", None),
    (Status.ABSTAIN, "ABSTAIN", None),
    (Status.ERROR, "ERROR", None),
    (Judgment("FAIL", score=0.9), "FAIL", 0.9),
    (Judgment(None, label="KEEP"), None, None),
]


@pytest.mark.parametrize("make", [of, later])
@pytest.mark.parametrize(("outcome", "status", "score"), RETURNS)
def test_every_kind_of_answer_becomes_a_judgment(make, outcome, status, score):
    judgment = make(outcome).judge("q")
    assert (judgment.status, judgment.score) == (status, score)
    assert judgment.critic == "j"
    assert judgment.elapsed_s >= 0
    with_reason = make((outcome, "because")).judge("q")
    assert (with_reason.status, with_reason.score, with_reason.reasoning) == (status, score, "because")


@pytest.mark.parametrize("make", [of, later])
@pytest.mark.parametrize(
    "outcome",
    [None, "PASS", "yes", [True], {"score": 1}, (True,), (True, "a", "b"), object(), 1j, b"", np.array([1, 0]), Status],
    ids=lambda outcome: "object" if type(outcome) is object else repr(outcome),  # no address, which differs by process
)
def test_anything_else_is_an_error_that_says_what_to_return(make, outcome):
    judgment = make(outcome).judge("q")
    assert judgment.status is Status.ERROR
    assert "return True or False" in judgment.error
    assert type(outcome).__name__ in judgment.error or isinstance(outcome, tuple)


@pytest.mark.parametrize("score", [1.5, -0.1, float("nan"), float("inf"), 10**400, np.float64("nan"), 5])
def test_a_score_outside_0_to_1_is_an_error_and_no_score(score):
    judgment = of(score).judge("q")
    assert judgment.status is Status.ERROR
    assert judgment.score is None


def test_a_reason_that_is_no_text_is_shown_as_text():
    assert of((True, 5)).judge("q").reasoning == "5"
    assert of((True, "a\ud800")).judge("q").reasoning == "a\ufffd"


def test_a_reason_beside_a_judgment_replaces_its_own_and_an_empty_one_does_not():
    assert of((Judgment("PASS", reasoning="old"), "new")).judge("q").reasoning == "new"
    assert of((Judgment("PASS", reasoning="old"), "")).judge("q").reasoning == "old"
    assert of((Judgment("PASS"), "a\ud800")).judge("q").reasoning == "a\ufffd"


@pytest.mark.parametrize("wrap", [lambda j: j, lambda j: (j, ""), lambda j: (j, "why")])
@pytest.mark.parametrize("kind", [Judgment, Verdict])
def test_a_judgment_that_others_hold_too_is_never_changed(wrap, kind):
    shared = kind("PASS", critic="original")

    class Returns(Judge):
        def assess(self, case):
            return wrap(shared)

    for maker in (Returns(), of(wrap(shared)), later(wrap(shared))):
        assert maker.judge("q").critic != "original"
        assert shared == kind("PASS", critic="original")


def test_the_judges_name_stands_over_the_one_in_the_judgment_and_an_unnamed_judge_keeps_it():
    made = Judgment("PASS", critic="inner")
    assert judge(name="outer")(lambda case: made).judge("q").critic == "outer"
    assert judge(lambda case: made).judge("q").critic == "inner"


# --- asynchronous functions of every kind


class AsyncCallable:
    async def __call__(self, case):
        await asyncio.sleep(0)
        return True, "async call"


class AsyncMethod:
    async def ask(self, case):
        await asyncio.sleep(0)
        return True


async def ask(case, *, answer):
    await asyncio.sleep(0.001)
    return answer


ASYNC = [
    AsyncCallable(),
    AsyncMethod().ask,
    functools.partial(ask, answer=True),
    lambda case: ask(case, answer=True),
    lambda case: (
        asyncio.ensure_future(ask(case, answer=True)) if asyncio._get_running_loop() else ask(case, answer=True)
    ),
]


@pytest.mark.parametrize("function", ASYNC)
def test_every_kind_of_asynchronous_function_is_a_judge_in_every_way_of_asking(function):
    maker = judge(function)
    assert maker.judge("q").status is Status.PASS
    assert asyncio.run(maker.ajudge("q")).status is Status.PASS
    assert Ensemble([maker, maker, of(True)]).judge("q").tally.passed == 3
    assert [j.status for j in maker.judge_many(["a", "b"])] == [Status.PASS] * 2

    async def inside_a_loop():
        return maker.judge("q")

    if function is not ASYNC[-1]:
        assert asyncio.run(inside_a_loop()).status is Status.PASS


def test_a_judge_that_claims_to_be_inline_and_waits_is_an_error_and_never_an_exception():
    class Liar(Judge):
        inline = True

        async def assess(self, case):
            await asyncio.sleep(0)
            return True

    judgment = Liar().judge("q")
    assert judgment.status is Status.ERROR
    assert "inline" in judgment.error


# --- what goes wrong becomes ERROR


class Mute(Exception):
    def __str__(self):
        raise RuntimeError("even this breaks")


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (ValueError("bad thing"), "ValueError: bad thing"),
        (KeyError("k"), "KeyError: 'k'"),
        (Mute(), "Mute: (its message cannot be shown)"),
        (SystemExit(2), "SystemExit: 2"),
        (SystemExit(), "SystemExit"),
        (RecursionError("deep"), "RecursionError: deep"),
        (MemoryError(), "MemoryError"),
        (ValueError("lone \udc80"), "ValueError: lone \ufffd"),
        (ExceptionGroup("several", [ValueError("one")]), "ExceptionGroup: several (1 sub-exception): ValueError: one"),
        (StopAsyncIteration("stop"), None),
        (StopIteration("stop"), None),
        (TimeoutError("mine"), "TimeoutError: mine"),
    ],
)
def test_an_exception_becomes_an_error_with_type_and_message(error, shown, how):
    judgment = raising(error, how).judge("q")
    assert judgment.status is Status.ERROR
    assert judgment.critic == "j"
    assert shown is None or judgment.error == shown
    assert judgment.error != "timeout"
    others = Ensemble([raising(error, how), of(True), of(True)]).judge("q")
    assert [j.status for j in others.judgments] == ["ERROR", "PASS", "PASS"]


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("error", [KeyboardInterrupt, GeneratorExit])
@pytest.mark.parametrize(
    "wrap",
    [
        lambda j, slow: j,
        lambda j, slow: j.with_timeout(5),
        lambda j, slow: Ensemble([of(True), j, slow]),
        lambda j, slow: Ensemble([of(True), j, slow], juror_timeout=60),
        lambda j, slow: Ensemble([Ensemble([j, later(True)]), later(True)], schedule="early_stop"),
        lambda j, slow: j & of(True),
    ],
    ids=["alone", "timed", "ensemble", "timed ensemble", "early_stop", "and"],
)
def test_interrupts_pass_and_the_portal_works_afterwards(error, how, wrap):
    answered = []
    with pytest.raises(error):
        wrap(raising(error(), how), later(True, 20, answered)).judge("q")
    assert later(True).judge("q").status is Status.PASS
    assert Ensemble([later(True), later(False), later(True)]).judge("q").status is Status.PASS
    assert answered == []  # nothing waited for the slow juror


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("error", [KeyboardInterrupt, GeneratorExit])
def test_interrupts_pass_through_a_running_loop(error, how):
    async def main():
        return await Ensemble([raising(error(), how), later(True, 5)]).ajudge("q")

    with pytest.raises(error):
        asyncio.run(main())


# --- time limits


def test_a_plain_function_over_its_limit_is_abandoned_counted_and_forgotten_when_it_ends():
    release = threading.Event()
    seen = []

    @judge(timeout=0.05)
    def slow(case):
        seen.append(threading.current_thread())
        release.wait(60)
        raise ValueError("nobody hears this")

    before = event_loop.abandoned_threads()
    judgment = slow.judge("q")
    assert (judgment.status, judgment.error, judgment.critic) == (Status.ERROR, "timeout", "slow")
    assert "0.05 s" in judgment.reasoning
    assert 0.04 < judgment.elapsed_s < 5
    assert event_loop.abandoned_threads() == before + 1
    assert seen[0].daemon
    release.set()
    seen[0].join(60)
    assert event_loop.abandoned_threads() == before


def test_an_abandoned_function_that_raises_later_disturbs_nobody(caplog):
    thread = []

    @judge(timeout=0.02)
    def slow(case):
        thread.append(threading.current_thread())
        time.sleep(0.1)
        raise ValueError("too late")

    assert slow.judge("q").error == "timeout"
    thread[0].join(60)
    later(True, 0.02).judge("q")
    assert caplog.records == []


def test_threads_that_were_given_up_and_ended_are_not_kept():
    @judge(timeout=0.001)
    def slow(case):
        time.sleep(0.01)
        return True

    for _ in range(30):
        slow.judge("q")
    until = time.monotonic() + 30  # on a busy machine, threads end late
    while len(event_loop._abandoned) > 2 and time.monotonic() < until:
        time.sleep(0.05)
        slow.judge("q")
    assert len(event_loop._abandoned) <= 2


def test_an_asynchronous_function_over_its_limit_is_cancelled():
    ended = threading.Event()

    @judge(timeout=0.05)
    async def slow(case):
        try:
            await asyncio.sleep(10)
        finally:
            ended.set()

    judgment = slow.judge("q")
    assert (judgment.status, judgment.error) == (Status.ERROR, "timeout")
    assert judgment.elapsed_s < 5
    assert ended.is_set()


@pytest.mark.parametrize("how", HOWS)
def test_a_timeout_error_of_the_judge_itself_is_not_called_a_timeout(how):
    judgment = raising(TimeoutError("the socket gave up"), how).with_timeout(5).judge("q")
    assert judgment.error == "TimeoutError: the socket gave up"


@pytest.mark.parametrize("make", [of, later])
def test_a_judge_within_its_limit_is_judged_as_without(make):
    judgment = make((0.75, "why"), timeout=5.0).judge("q")
    assert (judgment.status, judgment.score, judgment.reasoning) == (Status.PASS, 0.75, "why")


def test_a_timed_function_sees_the_context_variables_of_its_caller():
    variable = contextvars.ContextVar("variable", default="unset")
    read = lambda case: (True, variable.get())  # noqa: E731

    async def aread(case):
        return True, variable.get()

    variable.set("mine")
    for maker in (judge(read), judge(timeout=5)(read), judge(aread), judge(timeout=5)(aread)):
        assert maker.judge("q").reasoning == "mine"
        assert Ensemble([maker, later(True)]).judge("q").judgments[0].reasoning == "mine"


def test_the_tighter_of_two_limits_holds():
    for inner, outer in ((0.05, 5.0), (5.0, 0.05)):
        verdict = Ensemble([later(True, 10).with_timeout(inner), of(True)], juror_timeout=outer).judge("q")
        assert verdict.judgments[0].error == "timeout"
        assert verdict.elapsed_s < 4


def test_a_limit_over_a_jury_holds_for_all_of_it_and_gives_a_verdict():
    verdict = Ensemble([later(True, 10), of(True)]).with_timeout(0.05).judge("q")
    assert isinstance(verdict, Verdict)
    assert (verdict.status, verdict.error) == (Status.ERROR, "timeout")


def test_with_timeout_and_named_leave_the_original_alone():
    original = of(True)
    limited, named = original.with_timeout(3), original.named("other")
    assert (original.timeout, limited.timeout, named.timeout) == (None, 3, None)
    assert (original.name, named.name, named.judge("q").critic) == ("j", "other", "other")
    assert limited.with_timeout(None).timeout is None
    assert type(named) is FunctionJudge


def test_a_judge_that_is_a_frozen_dataclass_can_be_renamed():
    @dataclass(frozen=True)
    class Shorter(Judge):
        limit: int

        def assess(self, case):
            return len(case.answer) < self.limit

    assert Shorter(3).named("n").judge(answer="ab").critic == "n"
    assert Shorter(3).judge(answer="abc").critic == "Shorter"


# --- repeated, and, or


def test_repeated_asks_as_often_as_told_and_votes():
    answers = iter([True, False, True])
    verdict = judge(name="coin")(lambda case: next(answers)).with_samples(3).judge("q")
    assert [j.critic for j in verdict.judgments] == ["coin", "coin-2", "coin-3"]
    assert (verdict.status, verdict.tally.passed, verdict.critic) == (Status.PASS, 2, "coin x3")


@pytest.mark.parametrize("times", [0, -1, 1.5, True, "3", None])
def test_repeated_takes_a_whole_number_from_1(times):
    with pytest.raises(ConfigurationError, match="whole number"):
        of(True).with_samples(times)


def test_and_and_or_ask_the_second_only_when_it_matters():
    asked = []

    def says(answer, name):
        return judge(name=name)(lambda case: asked.append(name) or answer)

    assert (says(False, "a") & says(True, "b")).judge("q").status is Status.FAIL
    assert (says(True, "c") | says(True, "d")).judge("q").status is Status.PASS
    assert (says(True, "e") & says(True, "f")).judge("q").status is Status.PASS
    assert asked == ["a", "c", "e", "f"]


@pytest.mark.parametrize("opinion", [True, 0.75, Status.PASS, Judgment(Status.PASS)])
def test_a_reason_of_none_is_no_reason(opinion):
    assert judge(lambda case: (opinion, None)).judge(answer="Oui.").reasoning == ""


# --- subclassing


def test_a_subclass_is_named_like_its_class_and_a_name_of_its_own_stands():
    class Polite(Judge):
        def assess(self, case):
            return "please" in case.answer, "looked for 'please'"

    class Named(Polite):
        name = "courtesy"

    class Heir(Named):
        pass

    assert [kind().judge(answer="please").critic for kind in (Polite, Named, Heir)] == ["Polite", "courtesy", "Heir"]


def test_a_subclass_of_judge_may_wait_and_hold_state():
    class Remote(Judge):
        def __init__(self):
            self.asked = 0

        async def assess(self, case):
            await asyncio.sleep(0)
            self.asked += 1
            return Judgment("PASS", usage=Usage(calls=1))

    remote = Remote()
    assert remote.judge("q").usage.calls == 1
    assert asyncio.run(remote.ajudge("q")).status is Status.PASS
    assert remote.asked == 2


def test_an_abstract_judge_cannot_be_made():
    with pytest.raises(TypeError, match="abstract"):
        Judge()


def test_assess_may_be_plain_or_asynchronous():
    class Plain(Judge):
        def assess(self, case):
            return True, "plain"

    class Waits(Judge):
        async def assess(self, case):
            await asyncio.sleep(0)
            return True, "waited"

    class WaitsAfterAll(Plain):
        async def assess(self, case):
            return True, "waited"

    class Returns(Judge):
        def assess(self, case):
            return Waits().assess(case)

    judges = [Plain(), Waits(), WaitsAfterAll(), Returns()]
    assert [(one.inline, one.judge("q").reasoning) for one in judges] == [
        (True, "plain"), (False, "waited"), (False, "waited"), (True, "waited"),
    ]  # fmt: skip
    assert [one.reasoning for one in Ensemble(judges).judge("q").judgments] == ["plain", "waited", "waited", "waited"]
    assert all(one.with_timeout(5).judge("q").passed for one in judges)


def test_a_plain_assess_that_blocks_runs_in_a_worker_thread():
    class Slow(Judge):
        blocking = True

        def assess(self, case):
            return threading.current_thread() is not threading.main_thread()

    assert not Slow().inline
    assert Slow().judge("q").passed


# --- what is judged


def test_a_judge_takes_a_case_a_question_a_mapping_or_fields():
    seen = []
    keep = judge(lambda case: seen.append(case) or True)
    keep.judge(Case(question="q", answer="a"))
    keep.judge("q", answer="a")
    keep.judge({"query": "q", "response": "a"})
    keep.judge(question="q", answer="a")
    asyncio.run(keep.ajudge(input="q", output="a"))
    assert seen == [Case(question="q", answer="a")] * 5


@pytest.mark.parametrize("arguments", [((), {}), ((5,), {}), (("q",), {"quest": 1}), (({"a": 1},), {})])
def test_what_makes_no_case_raises_at_once_and_before_the_judge_is_asked(arguments):
    asked = []
    args, fields = arguments
    for maker in (judge(lambda case: asked.append(1) or True), later(True)):
        with pytest.raises(ValueError, match=r"nothing to judge|takes a Case|unknown field"):
            maker.judge(*args, **fields)
        with pytest.raises(ValueError, match=r"nothing to judge|takes a Case|unknown field"):
            asyncio.run(maker.ajudge(*args, **fields))
    assert asked == []


class OwnBase(BaseException):
    """Exception that is not one of a judge, such as that of a time limit for a test."""


class PanicException(BaseException):
    """Exception like PyO3's, which is not an ``Exception``."""


@pytest.mark.parametrize("how", HOWS)
def test_a_panic_of_a_library_in_rust_is_an_error_and_ends_no_batch(how):
    panics = raising(PanicException("called `Result::unwrap()` on an `Err` value: StackOverflow"), how)
    for limited in (panics, panics.with_timeout(30)):
        verdicts = list(Ensemble([limited, of(True).named("k")], errors="ignore").judge_many(["a", "b"]))
        assert [verdict.status for verdict in verdicts] == ["PASS", "PASS"]
        assert verdicts[1].judgments[0].error.startswith("PanicException: called")


@pytest.mark.parametrize(("inner", "raised"), [(PanicException, False), (KeyboardInterrupt, True), (OwnBase, True)])
def test_a_group_of_exceptions_is_an_error_if_all_in_it_are(inner, raised):
    grouped = raising(BaseExceptionGroup("unhandled", [ValueError("one"), inner("two")]), "later")
    if raised:
        with pytest.raises(BaseExceptionGroup):
            grouped.judge("q")
    else:
        assert grouped.judge("q").error.endswith("ValueError: one; PanicException: two")


def test_an_exception_that_a_judge_makes_of_its_cancellation_is_a_timeout():
    @judge(timeout=0.05)
    async def agent(case):
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            raise RuntimeError("the agent was aborted, key sk-aaaabbbbccccdddd") from None

    judgment = agent.judge(answer="Yes.")
    assert (judgment.status, judgment.error) == ("ERROR", "timeout")
    assert judgment.reasoning == "no judgment within 0.05 s; last error: RuntimeError: the agent was aborted, key [key]"
    broken = judge(timeout=5)(raising(ValueError("at once"), "later")._function).judge(answer="Yes.")
    assert broken.error == "ValueError: at once"


@pytest.mark.parametrize("answered", [True, False])
def test_an_answer_after_the_time_limit_is_a_timeout_also_if_the_judge_ignores_its_cancellation(answered):
    @judge(timeout=0.05)
    async def stubborn(case):
        for _ in range(3):
            try:
                await asyncio.sleep(0.1)
            except asyncio.CancelledError:
                if answered:
                    return True
        return True

    judgment = stubborn.judge(answer="Yes.")
    assert (judgment.status, judgment.error) == ("ERROR", "timeout")
    verdict = Ensemble([stubborn, of(True).named("k")]).judge(answer="Yes.")
    assert verdict.by_name["stubborn"].error == "timeout"


@pytest.mark.parametrize(
    "outcome",
    [
        (Status.ERROR, "401: no such key sk-aaaabbbbccccdddd"),
        Judgment(Status.ERROR, error="401: no such key sk-aaaabbbbccccdddd", reasoning="refused sk-aaaabbbbccccdddd"),
    ],
    ids=["a pair", "a judgment"],
)
def test_keys_in_an_error_that_a_judge_returns_itself_are_redacted(outcome):
    verdict = Ensemble([of(outcome), of(True).named("k")]).judge(answer="Yes.")
    assert verdict.judgments[0].error == "401: no such key [key]"
    assert "sk-aaaa" not in verdict.to_json()
