"""Spans of juries and calls: how they are nested, what they say, and what they never say."""

import asyncio
import json
import logging
import subprocess
import sys
from collections.abc import Callable
from contextvars import copy_context
from typing import Any

import pytest
from fact_tables import each_row, run_by
from opentelemetry import trace
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from opentelemetry.trace import SpanKind, StatusCode
from spans_seen import Spans

from jury_adapters import (
    CascadedJury,
    Case,
    Ensemble,
    Judge,
    JudgeQueue,
    Judgment,
    Scorecard,
    Status,
    Tier,
    abstain,
    all_of,
    judge,
)
from jury_adapters.core import judge as judging
from jury_adapters.core.judgment import Usage
from jury_adapters.critic.critic import Critic
from jury_adapters.models import limits
from jury_adapters.models.base import ModelError, Reply
from jury_adapters.models.limits import Limits
from jury_adapters.observability import trace_juries
from jury_adapters.testing import ScriptedModel

KEY = "sk-proj-Abc0123456789-SECRET-xyz_0123456789"
CASE = Case(question="When did it stop?", answer="In 2018.", contexts=["It stopped in 2018."], reference="2018")
YES = '{"reasoning": "because I say so", "answer": "YES", "confidence": 0.9}'
NO = '{"reasoning": "because I say so", "answer": "NO", "confidence": 0.9}'


def says(answer: Any, name: str) -> Judge:
    return judge(lambda case: answer, name=name)


def says_later(answer: Any, name: str, seconds: float = 0.001) -> Judge:
    async def later(case: Case) -> Any:
        await asyncio.sleep(seconds)
        return answer

    return judge(later, name=name)


def truth(*replies: Any, name: str = "truth", **options: Any) -> Critic:
    return Critic(ScriptedModel(replies or [YES]), "faithfulness", name=name, **options)


def traced(spans: Spans, one: Judge, case: Case = CASE, **options: Any) -> Judgment:
    """Judge a case while spans are recorded."""
    with trace_juries(spans.provider, **options):
        return one.judge(case)


def pair() -> Ensemble:
    return Ensemble([says(True, "yes"), says(False, "no")], name="pair")


def panel() -> Ensemble:
    return Ensemble([truth(), says_later(True, "later")], name="panel")


PAIR = ("judge pair", ["judge no", "judge yes"])
PANEL = ("judge panel", ["judge later", ("judge truth", ["chat scripted"])])


# How they are nested.


def cascade(name: str = "court") -> CascadedJury:
    screen = Tier("screen", says(True, "short"), "reject_on_any_fail")
    return CascadedJury([screen, Tier("panel", panel(), "escalate_on_split"), Tier("final", says(1, "f"))], name=name)


TREES: dict[str, tuple[Callable[[], Judge], Any]] = {
    "function": (lambda: says(True, "yes"), "judge yes"),
    "panel of functions": (pair, PAIR),
    "panel with a model": (panel, PANEL),
    "cascade": (cascade, ("judge court", [PANEL, "judge short"])),
    "scorecard": (
        lambda: Scorecard({"true": truth(), "short": says(True, "x")}, name="card"),
        ("judge card", ["judge short", ("judge true", ["chat scripted"])]),
    ),
    "names of the jury": (
        lambda: Ensemble({"a": says(True, "x"), "b": says(True, "x")}, name="j"),
        ("judge j", ["judge a", "judge b"]),
    ),
    "samples": (lambda: truth().with_samples(2), ("judge truth x2", [("judge truth", ["chat scripted"]),
                                                                     ("judge truth-2", ["chat scripted"])])),
    "repair request": (lambda: truth("what?", YES), ("judge truth", ["chat scripted", "chat scripted"])),
    "jury in a jury": (lambda: Ensemble([pair(), panel()], name="all"), ("judge all", [PAIR, PANEL])),
    "conjunction": (lambda: all_of(says(True, "a"), says(True, "b"), name="both"),
                    ("judge both", ["judge a", "judge b"])),
}  # fmt: skip


@each_row(("jury", "tree"), TREES.values(), ids=TREES)
@pytest.mark.parametrize("ask", ["sync", "async", "batch"])
def test_spans_are_nested_as_the_judges_are(spans: Spans, jury: Callable[[], Judge], tree: Any, ask: str) -> None:
    spans.exporter.clear()
    with trace_juries(spans.provider):
        if ask == "sync":
            jury().judge(CASE)
        elif ask == "async":
            asyncio.run(jury().ajudge(CASE))
        else:
            list(jury().judge_many([CASE]))
    assert spans.tree == [tree]


def test_a_cascade_says_which_tiers_ran(spans: Spans) -> None:
    traced(spans, cascade())
    found = spans.attributes("judge court")
    assert (
        (found["jury_adapters.tiers"], found["jury_adapters.stopped_at"]),
        found["jury_adapters.skipped"],
        spans.attributes("judge short")["jury_adapters.tier"],
    ) == ((("screen", "panel"), "panel"), ("final",), "screen")
    assert spans.attributes("judge panel")["jury_adapters.tier.policy"] == "escalate_on_split"
    assert "jury_adapters.tier" not in spans.attributes("judge later")


def test_the_current_span_of_the_application_is_the_parent(spans: Spans) -> None:
    app = spans.provider.get_tracer("app")
    with trace_juries(spans.provider), app.start_as_current_span("app") as current:
        panel().judge(CASE)
        list(pair().judge_many([CASE]))
        asyncio.run(asyncio.wait_for(panel().ajudge(CASE), 30))
        assert trace.get_current_span() is current
    assert spans.tree == [("app", [PAIR, PANEL, PANEL])]


def test_what_a_judge_calls_is_inside_its_span(spans: Spans) -> None:
    def looks(case: Case) -> bool:
        with spans.provider.get_tracer("app").start_as_current_span("look up"):
            return pair().judge(case).tied

    traced(spans, judge(looks, name="outer"))
    assert spans.tree == [("judge outer", [("look up", [PAIR])])]


def test_threads_and_tasks_do_not_mix_their_spans(spans: Spans) -> None:
    def work(number: int) -> None:
        with spans.provider.get_tracer("app").start_as_current_span(f"thread {number}"):
            for _ in range(5):
                panel().judge(CASE)

    async def task(number: int) -> None:
        with spans.provider.get_tracer("app").start_as_current_span(f"task {number}"):
            await panel().ajudge(CASE)

    async def main() -> None:
        threads = (asyncio.get_running_loop().run_in_executor(None, work, number) for number in range(4))
        await asyncio.gather(*threads, *map(task, range(9)))

    with trace_juries(spans.provider):
        asyncio.run(main())
    tasks = [(f"task {number}", [PANEL]) for number in range(9)]
    assert spans.tree == tasks + [(f"thread {number}", [PANEL] * 5) for number in range(4)]


def test_what_is_judged_in_the_background_has_a_trace_of_its_own(spans: Spans) -> None:
    with trace_juries(spans.provider), JudgeQueue(pair()) as queue:
        with spans.provider.get_tracer("app").start_as_current_span("request"):
            queue.put(CASE)
        assert queue.flush(10)
    assert spans.tree == [PAIR, "request"]


# What they say.


def test_a_verdict_in_the_words_of_the_conventions(spans: Spans) -> None:
    traced(spans, Ensemble([says(True, "a"), says(True, "b"), says(False, "c")], name="court"))
    assert spans.attributes("judge court") == {
        "gen_ai.evaluation.name": "court",
        "gen_ai.evaluation.score.value": 1.0,
        "gen_ai.evaluation.score.label": "pass",
        "jury_adapters.status": "PASS",
        "jury_adapters.confidence": pytest.approx(2 / 3),
        "jury_adapters.jurors": 3,
        "jury_adapters.voting": "majority",
        "jury_adapters.agreement": pytest.approx(1 / 3),
        "jury_adapters.agreement_band": "low",
        "jury_adapters.needs_review": True,
    }
    assert spans.attributes("judge c") == {
        "gen_ai.evaluation.name": "c",
        "gen_ai.evaluation.score.value": 0.0,
        "gen_ai.evaluation.score.label": "fail",
        "jury_adapters.status": "FAIL",
        "jury_adapters.needs_review": False,
    }
    assert spans.one("judge court").kind is SpanKind.INTERNAL
    assert all(span.status.is_unset for span in spans.all)


@pytest.mark.parametrize(
    ("outcome", "label", "score"),
    [
        (Judgment(status=Status.LABEL, label="KEEP"), "keep", None),
        (Judgment(status=Status.FAIL, label="NO", score=0.2), "fail", 0.2),
        (abstain("no contexts"), "abstain", None),
        (0.75, "pass", 0.75),
    ],
)
def test_labels_and_scores(spans: Spans, outcome: Any, label: str, score: float | None) -> None:
    traced(spans, judge(lambda case: outcome, name="one", labels=None))
    found = spans.attributes("judge one")
    assert (found["gen_ai.evaluation.score.label"], found.get("gen_ai.evaluation.score.value")) == (label, score)


def test_a_call_in_the_words_of_the_conventions(spans: Spans) -> None:
    usage = Usage(calls=1, input_tokens=100, output_tokens=20, cost_usd=0.25)
    model = ScriptedModel([Reply(YES, usage=usage, model="scripted-2")])
    model.address = "http://127.0.0.1:8000/v1"  # type: ignore[attr-defined]
    traced(spans, Critic(model, "faithfulness", name="truth"))
    assert spans.attributes("chat scripted") == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "test",
        "gen_ai.request.model": "scripted",
        "gen_ai.request.temperature": 0.0,
        "gen_ai.request.max_tokens": 2000,
        "server.address": "127.0.0.1",
        "server.port": 8000,
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.output_tokens": 20,
        "gen_ai.response.model": "scripted-2",
        "gen_ai.response.finish_reasons": ("stop",),
        "jury_adapters.cost_usd": 0.25,
    }
    assert spans.one("chat scripted").kind is SpanKind.CLIENT
    told = {
        name: spans.attributes("judge truth")[f"jury_adapters.{name}"]
        for name in ("calls", "cost_usd", "cost_complete")
    }
    assert told == {"calls": 1, "cost_usd": 0.25, "cost_complete": True}


@pytest.mark.parametrize(
    ("vendor", "provider"),
    [("openai", "openai"), ("azure", "azure.ai.openai"), ("gemini", "gcp.gemini"), ("mistral", "mistral_ai"),
     ("deepseek", "deepseek"), ("anthropic", "anthropic"), ("groq", "groq")],
)  # fmt: skip
def test_providers_have_the_names_of_the_conventions(spans: Spans, vendor: str, provider: str) -> None:
    model = ScriptedModel([YES])
    model.name = f"{vendor}:scripted"
    traced(spans, Critic(model, "faithfulness"))
    assert spans.attributes("chat scripted")["gen_ai.provider.name"] == provider


def test_a_price_that_is_unknown_is_not_said(spans: Spans) -> None:
    traced(spans, Critic(ScriptedModel([YES], usd_per_token=None), "faithfulness", name="truth"))
    assert "jury_adapters.cost_usd" not in spans.attributes("chat scripted")
    assert spans.attributes("judge truth")["jury_adapters.cost_complete"] is False


# Errors.


def broken(failure: Any) -> Judge:
    def breaks(case: Case) -> bool:
        raise failure

    return judge(breaks, name="broken")


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        (ValueError("swordfish"), "ValueError"),
        (KeyError(), "KeyError"),
        (ModelError("swordfish", "rate_limited"), "ModelError"),
    ],
)
def test_a_judge_that_breaks_marks_its_span(spans: Spans, failure: BaseException, kind: str) -> None:
    traced(spans, Ensemble([broken(failure)], name="jury", errors="ignore"))
    status = spans.one("judge broken").status
    assert (status.status_code, status.description) == (StatusCode.ERROR, kind)
    assert spans.attributes("judge broken")["error.type"] == kind
    assert spans.one("judge jury").status.is_unset  # it abstains, which is not an error
    assert "swordfish" not in spans.text


@pytest.mark.parametrize("kind", ["rate_limited", "account", "timeout", "refused"])
def test_a_call_that_fails_marks_its_span_and_that_of_its_judge(spans: Spans, kind: Any) -> None:
    traced(spans, truth(ModelError(f"swordfish {KEY}", kind), limits=Limits(attempts=1)))
    for name in ("chat scripted", "judge truth"):
        status = spans.one(name).status
        assert (status.status_code, status.description) == (StatusCode.ERROR, kind)
        assert spans.attributes(name)["error.type"] == kind
    assert not [word for word in ("swordfish", KEY, KEY[:16]) if word in spans.text]


def test_an_error_in_words_has_no_kind(spans: Spans) -> None:
    odd = Judgment(status=Status.ERROR, error="the swordfish would not answer: really")
    traced(spans, says(odd, "odd"))
    assert spans.attributes("judge odd")["error.type"] == "_OTHER"
    assert "swordfish" not in spans.text


def test_a_time_limit_is_an_error(spans: Spans) -> None:
    traced(spans, says_later(True, "slow", 5).with_timeout(0.01))
    assert spans.attributes("judge slow")["error.type"] == "timeout"


@run_by(asyncio.run)
async def test_a_call_that_is_cancelled_is_no_error(spans: Spans) -> None:
    with trace_juries(spans.provider):
        task = asyncio.ensure_future(says_later(True, "slow", 5).ajudge(CASE))
        await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert spans.attributes("judge slow") == {"jury_adapters.cancelled": True}
    assert spans.one("judge slow").status.is_unset


@run_by(asyncio.run)
async def test_a_call_that_is_abandoned_leaves_no_error_in_the_log(
    spans: Spans, caplog: pytest.LogCaptureFixture
) -> None:
    class Waits(Judge):
        async def assess(self, case: Case) -> bool:
            await Turn()
            return True

    class Turn:
        def __await__(self) -> Any:
            yield

    with trace_juries(spans.provider):
        abandoned = Waits().ajudge(CASE)
        copy_context().run(abandoned.send, None)
        abandoned.close()  # as the garbage collector does, in whatever context it runs
    assert spans.attributes("judge Waits")["jury_adapters.cancelled"] is True
    assert caplog.text == ""


# What they never say.


def secret_jury() -> Ensemble:
    return Ensemble([truth(), broken(ValueError(f"no swordfish with {KEY}"))], name="court")


SECRETS = ("swordfish", "plain words", "because I say so", KEY, KEY[:16])


def test_no_texts_unless_they_are_asked_for(spans: Spans) -> None:
    texts = {"question": "plain words?", "answer": "plain words", "contexts": ["swordfish"], "reference": "swordfish"}
    traced(spans, secret_jury(), Case(**texts, metadata={"m": "swordfish"}, id="swordfish"))
    assert len(spans.all) == 4
    assert not [secret for secret in SECRETS if secret in spans.text]


def test_texts_where_they_are_asked_for_without_keys(spans: Spans, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "correct horse battery staple")
    case = Case(
        question="Why?",
        answer=f"plain words {KEY}",
        reference="correct horse battery staple swordfish",
        contexts=["a", f"b {KEY}"],
    )
    traced(spans, secret_jury(), case, content=True)
    assert not [secret for secret in ("correct horse battery staple", KEY, KEY[:16]) if secret in spans.text]
    root, juror, chat = (spans.attributes(name) for name in ("judge court", "judge truth", "chat scripted"))
    assert {name: root[f"jury_adapters.case.{name}"] for name in ("answer", "reference", "contexts")} == {
        "answer": "plain words [key]", "reference": "[key] swordfish", "contexts": ("a", "b [key]")
    }  # fmt: skip
    assert juror["gen_ai.evaluation.explanation"] == "because I say so"
    assert "jury_adapters.case.answer" not in juror
    (asked,), (answered,) = (json.loads(chat[f"gen_ai.{of}.messages"]) for of in ("input", "output"))
    assert asked["role"] == "user"
    assert "plain words" in asked["parts"][0]["content"]
    assert "because I say so" in answered["parts"][0]["content"]
    assert json.loads(chat["gen_ai.system_instructions"])[0]["type"] == "text"
    assert spans.one("judge broken").status.description == "ValueError: no swordfish with [key]"


def test_a_failed_call_with_texts_has_no_key(spans: Spans) -> None:
    traced(spans, truth(ModelError(f"swordfish {KEY}", "account")), content=True)
    assert spans.attributes("chat scripted")["jury_adapters.error"] == "ModelError: swordfish [key]"
    assert KEY[:16] not in spans.text


# On, off, and out of order.


def test_without_tracing_there_is_no_hook_and_no_import() -> None:
    assert (judging.around, limits.around_call) == (None, None)
    script = """
import sys
import jury_adapters.observability
from jury_adapters import Ensemble
Ensemble([lambda case: True]).judge("2 + 2?")
print([name for name in sys.modules if name.startswith("opentelemetry")])
"""
    assert printed_by(script) == "[]\n"


def test_it_ends_with_the_block_and_a_second_tracing_replaces_the_first(spans: Spans) -> None:
    other = Spans()
    with trace_juries(other.provider) as first:
        with trace_juries(spans.provider):
            pair().judge(CASE)
            first.stop()
            pair().judge(CASE)
        pair().judge(CASE)
    assert (spans.tree, other.all) == ([PAIR, PAIR], ())


@run_by(asyncio.run)
async def test_a_tracing_that_ends_while_a_case_is_judged_ends_its_spans(spans: Spans) -> None:
    tracing = trace_juries(spans.provider)
    task = asyncio.ensure_future(says_later(True, "slow", 0.05).ajudge(CASE))
    await asyncio.sleep(0.01)
    tracing.stop()
    await task
    assert spans.tree == ["judge slow"]


def test_the_verdicts_are_the_same(spans: Spans) -> None:
    def dumped() -> list[str]:
        dumps = [jury.judge(CASE).model_dump(exclude={"elapsed_s"}) for jury in (panel(), pair(), secret_jury())]
        return [str({name: value for name, value in dump.items() if name != "judgments"}) for dump in dumps]

    without = dumped()
    with trace_juries(spans.provider, content=True):
        assert dumped() == without


class Breaking(SpanProcessor):
    def __init__(self, where: str) -> None:
        setattr(self, where, self.breaks)

    def breaks(self, *_: Any, **__: Any) -> None:
        raise ValueError("swordfish")


@pytest.mark.parametrize("where", ["on_start", "on_end"])
def test_a_tracer_that_breaks_changes_no_verdict(where: str, caplog: pytest.LogCaptureFixture) -> None:
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(Breaking(where))
    with caplog.at_level(logging.INFO), trace_juries(provider, content=True):
        assert panel().judge(CASE).passed
        assert not trace.get_current_span().get_span_context().is_valid
    assert "swordfish" not in caplog.text


def test_spans_that_are_not_recorded_cost_no_verdict() -> None:
    for provider in (TracerProvider(sampler=ALWAYS_OFF, shutdown_on_exit=False), trace.NoOpTracerProvider()):
        with trace_juries(provider):
            assert panel().judge(CASE).passed


def printed_by(script: str) -> str:
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout


def test_without_opentelemetry_it_says_what_to_install() -> None:
    script = """
import sys
sys.modules["opentelemetry"] = None
from jury_adapters.observability import otel_events, trace_juries
for function in (trace_juries, otel_events):
    try:
        function()
    except ValueError as error:
        print(error)
"""
    assert printed_by(script).splitlines() == [
        f'{name} needs OpenTelemetry: pip install "jury-adapters[otel]"' for name in ("trace_juries()", "otel_events()")
    ]


def test_the_api_alone_is_enough() -> None:
    script = """
import sys
sys.modules["opentelemetry.sdk"] = None
from jury_adapters import Ensemble
from jury_adapters.observability import trace_juries
trace_juries()
print(Ensemble([lambda case: True]).judge("2 + 2?").status)
"""
    assert printed_by(script) == "PASS\n"


def test_a_wrong_provider_is_refused_where_it_is_given() -> None:
    with pytest.raises(AttributeError):
        trace_juries("here")  # type: ignore[arg-type]
    assert judging.around is None
