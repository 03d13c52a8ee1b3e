"""One span per verdict, in the right place, whichever way the jury is asked."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextvars import copy_context
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry import trace
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from spans_seen import Spans, by_name

from jury_adapters import CascadedJury, Case, Critic, Ensemble, Judge, Tier
from jury_adapters.core.background.judge_queue import JudgeQueue, Run
from jury_adapters.core.installation import needs_extra
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.verdict import Verdict
from jury_adapters.observability import trace_juries, tracing
from jury_adapters.observability.sinks import note_span
from jury_adapters.testing import ScriptedModel, a_case
from jury_adapters.voting import all_of, any_of


def says(answer: bool, name: str, **options: Any) -> Judge:
    return Judge.from_function(lambda case: answer, name=name, **options)


def says_later(answer: bool, name: str, seconds: float = 0.0, **options: Any) -> Judge:
    async def later(case: Case) -> bool:
        await asyncio.sleep(seconds)
        return answer

    return Judge.from_function(later, name=name, **options)


def truth(reply: str = "Answer: YES", **options: Any) -> Critic:
    return Critic(ScriptedModel([reply]), "faithfulness", name="truth", **options)


def pair(name: str = "pair") -> Ensemble:
    return Ensemble([says(True, "yes"), says(False, "no")], name=name)


def panel(name: str = "panel") -> Ensemble:
    return Ensemble([truth(), says_later(True, "later")], name=name)


PAIR = ("judge pair", ["judge no", "judge yes"])
PANEL = ("judge panel", ["judge later", ("judge truth", ["chat scripted"])])


def test_a_jury_of_plain_functions(spans: Spans) -> None:
    with trace_juries(spans.provider):
        pair().judge(a_case())
    assert spans.tree == [PAIR]


def test_a_jury_that_asks_a_model(spans: Spans) -> None:
    with trace_juries(spans.provider):
        panel().judge(a_case())
    assert spans.tree == [PANEL]


def test_a_jury_asked_asynchronously(spans: Spans) -> None:
    with trace_juries(spans.provider):
        asyncio.run(panel().ajudge(a_case()))
    assert spans.tree == [PANEL]


def test_the_callers_span_is_the_parent(spans: Spans) -> None:
    async def ask() -> None:
        await panel().ajudge(a_case())

    app = spans.provider.get_tracer("app")
    with trace_juries(spans.provider):
        with app.start_as_current_span("sync") as current:
            panel().judge(a_case())
            pair().judge(a_case())
            assert trace.get_current_span() is current
        with app.start_as_current_span("async"):
            asyncio.run(ask())
    assert spans.tree == [("async", [PANEL]), ("sync", [PAIR, PANEL])]


def test_threads_do_not_mix(spans: Spans) -> None:
    app = spans.provider.get_tracer("app")

    def work(number: int) -> None:
        with app.start_as_current_span(f"thread {number}"):
            for _ in range(3):
                panel(f"panel {number}").judge(a_case())

    with trace_juries(spans.provider):
        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert spans.tree == [(f"thread {n}", [(f"judge panel {n}", PANEL[1])] * 3) for n in range(4)]


def test_many_at_once(spans: Spans) -> None:
    cases = [a_case(question=f"{number}?") for number in range(20)]
    app = spans.provider.get_tracer("app")

    async def ask() -> None:
        with app.start_as_current_span("async"):
            assert len([one async for one in panel().ajudge_many(cases, max_concurrency=8)]) == 20

    with trace_juries(spans.provider):
        with app.start_as_current_span("sync"):
            assert len(list(panel().judge_many(cases, max_concurrency=8))) == 20
        with app.start_as_current_span("inline"):
            assert len(list(pair().judge_many(cases))) == 20
        asyncio.run(ask())
    assert spans.tree == [("async", [PANEL] * 20), ("inline", [PAIR] * 20), ("sync", [PANEL] * 20)]


def test_tiers_are_named_and_say_how_they_stopped(spans: Spans) -> None:
    inner = CascadedJury([Tier("only", truth(), "final")], name="inner")
    court = CascadedJury(
        [Tier("cheap", pair(), "escalate_on_split"), Tier("nested", inner, "escalate_on_split"),
         Tier("never", says(True, "judge of last resort"), "final")],
        name="court",
    )  # fmt: skip
    with trace_juries(spans.provider):
        court.judge(a_case())
    assert spans.tree == [("judge court", [("judge inner", [("judge truth", ["chat scripted"])]), PAIR])]
    tiers = {name: spans.attributes(name).get("jury_adapters.tier") for name in ("judge pair", "judge inner")}
    assert tiers == {"judge pair": "cheap", "judge inner": "nested"}
    assert spans.attributes("judge truth")["jury_adapters.tier"] == "only"
    assert "jury_adapters.tier" not in spans.attributes("judge yes")
    said = spans.attributes("judge court")
    assert said["jury_adapters.tiers"] == ("cheap", "nested")
    assert (said["jury_adapters.stopped_at"], said["jury_adapters.decision"]) == ("nested", "accepted")
    assert said["jury_adapters.skipped"] == ("never",)
    assert said["jury_adapters.calls_saved"] == 1


def test_an_early_stopping_jury_in_a_tier_is_still_early_stopping_and_named(spans: Spans) -> None:
    rules = Ensemble([says(False, "a"), says(True, "b", cost=1.0)], name="rules", schedule="early_stop")
    court = CascadedJury([Tier("screen", rules, "reject_on_any_fail"), Tier("end", pair(), "final")], name="court")
    with trace_juries(spans.provider):
        verdict = court.judge(a_case())
    assert verdict.stopped_at == "screen"
    assert spans.tree == [("judge court", [("judge rules", ["judge a"])])]
    assert spans.attributes("judge rules")["jury_adapters.tier"] == "screen"


def test_a_juror_that_no_longer_matters_is_cancelled_and_no_error(spans: Spans) -> None:
    jurors = [says_later(True, "slow", 30), says_later(True, "heavy"), says_later(True, "unasked")]
    jury = Ensemble(jurors, name="jury", voting="weighted", weights=[1, 5, 1], schedule="early_stop", on="status")
    with trace_juries(spans.provider):
        verdict = jury.judge(a_case())
    assert verdict.calls_saved == 2
    assert spans.tree == [("judge jury", ["judge heavy", "judge slow"])]
    assert spans.attributes("judge slow") == {"jury_adapters.judge": "slow", "jury_adapters.cancelled": True}
    assert all(span.status.is_unset for span in spans.all)


def test_jurors_that_run_in_threads_of_their_own(spans: Spans) -> None:
    inner = pair()
    jury = Ensemble([Judge.from_function(lambda case: inner.judge(case).passed, name="asks", timeout=5)], name="outer")
    with trace_juries(spans.provider):
        jury.judge(a_case())
    assert spans.tree == [("judge outer", [("judge asks", [PAIR])])]


def test_a_judge_that_asks_a_jury_on_the_portal(spans: Spans) -> None:
    inner = panel()

    async def asks(case: Case) -> bool | None:
        return inner.judge(case).passed  # synchronous, inside the background loop

    with trace_juries(spans.provider):
        Ensemble([asks], name="outer").judge(a_case())
    assert spans.tree == [("judge outer", [("judge asks", [PANEL])])]


def test_chains_and_samples(spans: Spans) -> None:
    both = all_of(says(True, "first"), any_of(says(False, "left"), says(True, "right")))
    with trace_juries(spans.provider):
        both.judge(a_case())
        truth(samples=2).judge(a_case())
    samples = [("judge truth", ["chat scripted"]), ("judge truth-2", ["chat scripted"])]
    chain = ("judge all_of", [("judge any_of", ["judge left", "judge right"]), "judge first"])
    assert spans.tree == [chain, ("judge truth", samples)]


def test_a_run_judged_in_the_background_is_linked_to_its_span(spans: Spans) -> None:
    app = spans.provider.get_tracer("app")
    queue = JudgeQueue(pair())
    with trace_juries(spans.provider):
        for number in range(3):
            with app.start_as_current_span(f"run {number}"):
                metadata: dict[str, Any] = {}
                note_span(metadata)
                queue.put(a_case(), run=Run(f"run-{number}", metadata=metadata))
        queue.put(a_case(), run=Run("without a span"))
        assert queue.close(10)
    verdicts = spans.named("judge pair")
    assert all(span.parent is None for span in verdicts)
    linked = [link.context.span_id for span in verdicts for link in span.links]
    assert sorted(linked) == sorted(spans.one(f"run {n}").context.span_id for n in range(3))
    assert len(verdicts) == 4
    assert all(not span.links for name in ("judge yes", "judge no") for span in spans.named(name))


def juries() -> list[Callable[[], Judge]]:
    def broken(case: Case) -> bool:
        raise ValueError("no")

    return [
        pair, panel, truth,
        lambda: Ensemble([says(True, ""), says(True, "same"), says(False, "same")]),
        lambda: Ensemble([broken, says(True, "yes")], errors="ignore"),
        lambda: Ensemble([pair("a"), panel("b")], voting="average"),
        lambda: Ensemble([truth(), says(True, "a", cost=0.1), says(True, "b", cost=0.2)], schedule="early_stop"),
        lambda: Ensemble([truth(), truth()], schedule="sequential"),
        lambda: CascadedJury([Tier("t", pair(), "escalate_on_split"), Tier("u", panel(), "final")]),
        lambda: Ensemble([says_later(True, "slow", 30)], juror_timeout=0.01),
        lambda: truth("what?"),
    ]  # fmt: skip


@pytest.mark.parametrize("build", juries())
def test_the_verdict_is_the_same_with_and_without(spans: Spans, build: Callable[[], Judge]) -> None:
    without, jury = build().judge(a_case()), build()
    before = (jury.name, jury.cost, jury.fingerprint, jury.size, jury.inline, str(jury.estimate_cost([a_case()])))
    with trace_juries(spans.provider, content=True):
        assert jury.judge(a_case()).canonical_json() == without.canonical_json()
    assert before == (
        jury.name,
        jury.cost,
        jury.fingerprint,
        jury.size,
        jury.inline,
        str(jury.estimate_cost([a_case()])),
    )
    assert spans.all


TREES = st.recursive(st.booleans(), lambda inside: st.lists(inside, min_size=1, max_size=3), max_leaves=8)


def built(tree: Any, waits: bool) -> Judge:
    if isinstance(tree, bool):
        return says_later(tree, "juror") if waits else says(tree, "juror")
    return Ensemble([built(one, waits) for one in tree], name="jury")


def shape(judgment: Judgment) -> Any:
    inside = sorted((shape(one) for one in judgment.judgments), key=by_name) if isinstance(judgment, Verdict) else []
    name = f"judge {judgment.critic}"
    return (name, inside) if inside else name


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(tree=st.lists(TREES, min_size=1, max_size=3), waits=st.booleans())
def test_spans_stand_in_each_other_as_judgments_do(tree: Any, waits: bool) -> None:
    seen = Spans()
    with trace_juries(seen.provider):
        verdict = built(tree, waits).judge(a_case())
    assert seen.tree == [shape(verdict)]


def test_it_ends_and_the_last_one_takes_over(spans: Spans) -> None:
    other = Spans()
    first = trace_juries(spans.provider)
    second = trace_juries(other.provider)
    pair().judge(a_case())
    first.stop()  # no longer its business
    pair().judge(a_case())
    second.stop()
    pair().judge(a_case())
    assert (spans.all, len(other.named("judge pair"))) == ((), 2)


def test_what_is_not_sampled_costs_no_span_and_changes_nothing() -> None:
    seen = Spans()
    provider = TracerProvider(sampler=ALWAYS_OFF, shutdown_on_exit=False)
    with trace_juries(provider, content=True):
        before = trace.get_current_span()
        assert panel().judge(a_case()).status is Status.PASS
        assert trace.get_current_span() is before
    assert seen.all == ()


class Raising(SpanProcessor):
    def __init__(self, where: str) -> None:
        self.where = where

    def on_start(self, span: Any, parent_context: Any = None) -> None:
        if self.where == "start":
            raise RuntimeError("a broken processor")

    def on_end(self, span: Any) -> None:
        if self.where == "end":
            raise RuntimeError("a broken processor")


@pytest.mark.parametrize("where", ["start", "end"])
def test_a_broken_tracer_is_logged_once_without_its_text(
    where: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracing, "_warned", threading.Event())
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(Raising(where))
    with caplog.at_level("INFO", "jury_adapters"), trace_juries(provider):
        assert [pair().judge(a_case()).status for _ in range(3)] == [Status.FAIL] * 3
    (record,) = caplog.records
    assert (record.levelname, "RuntimeError" in record.getMessage()) == ("WARNING", True)
    assert "a broken processor" not in caplog.text


@pytest.mark.parametrize("where", ["start", "end"])
def test_a_broken_tracer_is_not_felt(where: str) -> None:
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(Raising(where))
    before = trace.get_current_span()
    with trace_juries(provider, content=True):
        assert panel().judge(a_case()).canonical_json() == panel().judge(a_case()).canonical_json()
        assert pair().judge(a_case()).status is Status.FAIL
    assert trace.get_current_span() is before


def test_an_interrupt_passes_and_ends_the_spans(spans: Spans) -> None:
    def interrupted(case: Case) -> bool:
        raise KeyboardInterrupt

    before = trace.get_current_span()
    with trace_juries(spans.provider), pytest.raises(KeyboardInterrupt):
        Ensemble([interrupted], name="jury").judge(a_case())
    assert trace.get_current_span() is before
    assert spans.tree == [("judge jury", ["judge interrupted"])]
    assert spans.attributes("judge jury")["error.type"] == "KeyboardInterrupt"


def test_a_task_that_is_cancelled_ends_its_spans(spans: Spans) -> None:
    async def run() -> None:
        task = asyncio.create_task(Ensemble([says_later(True, "slow", 30)], name="jury").ajudge(a_case()))
        await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.wait((task,))

    with trace_juries(spans.provider):
        asyncio.run(run())
    assert spans.tree == [("judge jury", ["judge slow"])]
    assert spans.attributes("judge slow")["jury_adapters.cancelled"] is True
    assert all(span.status.is_unset for span in spans.all)


def test_spans_take_as_long_as_the_judging(spans: Spans) -> None:
    with trace_juries(spans.provider):
        Ensemble([says_later(True, "slow", 0.05)], name="jury").judge(a_case())
    span = spans.one("judge jury")
    assert span.start_time is not None
    assert span.end_time is not None
    assert span.end_time - span.start_time >= 0.04 * 1e9
    assert abs(time.time() * 1e9 - span.end_time) < 60 * 1e9


WITHOUT = """
import sys
sys.modules["opentelemetry"] = None
import jury_adapters.observability
try:
    jury_adapters.observability.trace_juries()
except jury_adapters.ConfigurationError as error:
    print(error)
"""
API_ONLY = """
import sys
sys.modules["opentelemetry.sdk"] = None
import jury_adapters.observability as observe
print([name for name in sys.modules if name.startswith("opentelemetry") and name != "opentelemetry.sdk"])
observe.trace_juries()
from jury_adapters import Ensemble
print(Ensemble([lambda case: True]).judge("2 + 2?").status)
"""


def printed_by(program: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@pytest.mark.slow
def test_without_opentelemetry_it_says_what_to_install() -> None:
    assert printed_by(WITHOUT) == [needs_extra("trace_juries()", "OpenTelemetry", "otel")]


@pytest.mark.slow
def test_the_import_loads_nothing_and_the_bare_api_is_enough() -> None:
    assert printed_by(API_ONLY) == ["[]", "PASS"]


def test_a_juror_that_is_abandoned_leaves_no_error_in_the_log(spans: Spans, caplog: pytest.LogCaptureFixture) -> None:
    class Waits(Judge):
        async def assess(self, case: Case) -> bool:
            await Turn()
            return True

    class Turn:
        def __await__(self) -> Any:
            yield

    async def abandon() -> None:
        abandoned = Waits().ajudge(a_case())
        copy_context().run(abandoned.send, None)
        abandoned.close()  # as the garbage collector does, in whatever context it runs

    with trace_juries(spans.provider):
        asyncio.run(abandon())
    assert spans.attributes("judge Waits")["jury_adapters.cancelled"] is True
    assert caplog.text == ""


def test_a_span_that_breaks_does_not_pass_for_a_jury_around_the_next() -> None:
    class Broken(trace.NonRecordingSpan):
        def is_recording(self) -> bool:
            raise ValueError("no")

    class Provider(trace.NoOpTracerProvider):
        def get_tracer(self, *args: Any, **kwargs: Any) -> Any:
            return SimpleNamespace(start_span=lambda *_, **__: Broken(trace.INVALID_SPAN_CONTEXT))

    with trace_juries(Provider()):
        assert says(True, "yes").judge(a_case()).passed
        assert tracing._AROUND.get() is None
