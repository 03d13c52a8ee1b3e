"""Attributes that the spans have, and data that they never contain."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from opentelemetry.trace import SpanKind, StatusCode
from spans_seen import Spans
from support.vendor import Act, VendorServer, error

from jury_adapters import Case, Critic, Ensemble, Judge, Limits, ModelError
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.usage import Usage
from jury_adapters.decision import DecisionCritic
from jury_adapters.models.base import Answer, Question, Reply
from jury_adapters.observability import trace_juries
from jury_adapters.testing import ScriptedModel, a_case, no_waiting

KEY = "sk-proj-Abc0123456789-SECRET-xyz_0123456789"
SECRETS = ("swordfish", "plain words of the answer", "TRUTH=YES", "because I say so")


def raises(failure: BaseException, name: str = "judge") -> Judge:
    def broken(case: Case) -> bool:
        raise failure

    return Judge.from_function(broken, name=name)


def test_a_verdict_in_the_conventions_words(spans: Spans) -> None:
    jurors = [Judge.from_function(lambda case: (True, "because"), name=name) for name in ("a", "b")]
    with trace_juries(spans.provider):
        Ensemble([*jurors, Judge.from_function(lambda case: False, name="c")], name="court").judge(a_case())
    assert spans.attributes("judge court") == {
        "jury_adapters.judge": "court",
        "gen_ai.evaluation.name": "court",
        "gen_ai.evaluation.score.value": 1.0,
        "gen_ai.evaluation.score.label": "pass",
        "jury_adapters.confidence": pytest.approx(2 / 3),
        "jury_adapters.jurors": 3,
        "jury_adapters.voting": "majority",
        "jury_adapters.agreement": pytest.approx(1 / 3),
        "jury_adapters.agreement_band": "low",
        "jury_adapters.needs_review": True,
        "jury_adapters.calls_saved": 0,
    }
    assert spans.attributes("judge c") == {
        "jury_adapters.judge": "c",
        "gen_ai.evaluation.name": "c",
        "gen_ai.evaluation.score.value": 0.0,
        "gen_ai.evaluation.score.label": "fail",
    }
    assert spans.one("judge court").kind is SpanKind.INTERNAL


def test_a_label_without_a_meaning_and_an_abstention(spans: Spans) -> None:
    with trace_juries(spans.provider):
        Judge.from_function(lambda case: Judgment(None, label="KEEP"), name="sorter").judge(a_case())
        Judge.from_function(lambda case: Status.ABSTAIN, name="modest").judge(a_case())
    assert spans.attributes("judge sorter")["gen_ai.evaluation.score.label"] == "keep"
    assert spans.attributes("judge modest")["gen_ai.evaluation.score.label"] == "abstain"
    assert "gen_ai.evaluation.score.value" not in spans.attributes("judge modest")
    assert all(span.status.is_unset for span in spans.all)


def test_a_call_in_the_conventions_words(spans: Spans, server: VendorServer) -> None:
    port = int(server.url.rpartition(":")[2])
    critic = Critic("gpt-judge", "faithfulness", name="truth", base_url=server.openai, api_key=KEY, max_tokens=300)
    with trace_juries(spans.provider):
        verdict = critic.judge(a_case(answer="TRUTH=YES"))
    said = spans.attributes("chat gpt-judge")
    assert said == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "local",
        "gen_ai.request.model": "gpt-judge",
        "gen_ai.request.temperature": 0.0,
        "gen_ai.request.max_tokens": 300,
        "server.address": "127.0.0.1",
        "server.port": port,
        "jury_adapters.attempts": 1,
        "gen_ai.usage.input_tokens": verdict.usage.input_tokens,
        "gen_ai.usage.output_tokens": verdict.usage.output_tokens,
        "gen_ai.usage.cache_read.input_tokens": verdict.usage.cached_tokens,
        "gen_ai.usage.reasoning.output_tokens": verdict.usage.reasoning_tokens,
        "gen_ai.response.model": said["gen_ai.response.model"],
        "gen_ai.response.id": said["gen_ai.response.id"],
        "gen_ai.response.finish_reasons": ("stop",),
    }
    assert verdict.usage.input_tokens > 0
    assert spans.one("chat gpt-judge").kind is SpanKind.CLIENT
    assert spans.attributes("judge truth")["jury_adapters.calls"] == 1


@pytest.mark.parametrize(
    ("vendor", "provider"),
    [("openai", "openai"), ("azure", "azure.ai.openai"), ("gemini", "gcp.gemini"), ("mistral", "mistral_ai"),
     ("deepseek", "deepseek"), ("anthropic", "anthropic")],
)  # fmt: skip
def test_providers_are_called_as_the_conventions_call_them(spans: Spans, vendor: str, provider: str) -> None:
    with trace_juries(spans.provider):
        Critic(ScriptedModel(["Answer: YES"], vendor=vendor), "faithfulness", name="truth").judge(a_case())
    assert spans.attributes("chat scripted")["gen_ai.provider.name"] == provider


def test_cached_and_reasoning_tokens_and_cost(spans: Spans) -> None:
    took = Usage(100, 20, cached_tokens=80, reasoning_tokens=5, calls=1, cost_usd=0.25)
    with trace_juries(spans.provider):
        Critic(ScriptedModel(["Answer: YES"], usage=took), "faithfulness", name="truth").judge(a_case())
    said = spans.attributes("chat scripted")
    assert said["gen_ai.usage.cache_read.input_tokens"] == 80
    assert said["gen_ai.usage.reasoning.output_tokens"] == 5
    assert said["jury_adapters.cost_usd"] == 0.25
    assert spans.attributes("judge truth")["jury_adapters.cost_usd"] == 0.25


def test_a_server_that_counts_nothing_said_nothing(spans: Spans) -> None:
    async def model(prompt: str) -> str:
        return "Answer: YES"

    with trace_juries(spans.provider):
        Critic(model, "faithfulness", name="truth").judge(a_case())
    said = spans.attributes("chat model")
    assert "gen_ai.usage.input_tokens" not in said
    assert "jury_adapters.cost_usd" not in said
    assert spans.attributes("judge truth")["jury_adapters.cost_complete"] is False


def test_a_retry_is_an_event_and_a_failure_marks_the_spans(spans: Spans) -> None:
    limited = ModelError("slow down, swordfish", "rate_limited", status=429)
    model = ScriptedModel([limited, limited, "Answer: YES", limited])
    critic = Critic(model, "faithfulness", name="truth", limits=Limits(attempts=3))
    with trace_juries(spans.provider), no_waiting():
        assert critic.judge(a_case()).status is Status.PASS
        assert critic.judge(a_case(question="another")).status is Status.ERROR
    good, bad = spans.named("chat scripted")
    failed = {"error.type": "rate_limited", "http.response.status_code": 429}
    events = [(event.name, dict(event.attributes or {})) for event in good.events]
    assert events == [
        ("jury_adapters.attempt_failed", {"jury_adapters.attempt": number, **failed}) for number in (1, 2)
    ]
    assert (good.attributes or {})["jury_adapters.attempts"] == 3
    assert good.status.is_unset
    assert {**failed, "jury_adapters.attempts": 3}.items() <= dict(bad.attributes or {}).items()
    assert (bad.status.status_code, bad.status.description) == (StatusCode.ERROR, "rate_limited")
    judged = spans.named("judge truth")[1]
    assert (judged.status.status_code, judged.status.description) == (StatusCode.ERROR, "rate_limited")
    assert "swordfish" not in spans.text


@pytest.mark.parametrize(
    ("failure", "kind"),
    [(ValueError("swordfish"), "ValueError"), (SystemExit("swordfish"), "SystemExit"), (KeyError(), "KeyError")],
)
def test_a_judge_that_breaks_marks_its_span(spans: Spans, failure: BaseException, kind: str) -> None:
    with trace_juries(spans.provider):
        Ensemble([raises(failure)], name="jury", errors="ignore").judge(a_case())
    span = spans.one("judge judge")
    assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, kind)
    assert spans.attributes("judge judge")["error.type"] == kind
    assert spans.one("judge jury").status.is_unset  # it abstains, which is no error
    assert "swordfish" not in spans.text


def test_an_error_in_words_is_no_kind(spans: Spans) -> None:
    said = Judgment(Status.ERROR, error="the swordfish would not answer: really")
    with trace_juries(spans.provider):
        Judge.from_function(lambda case: said, name="odd").judge(a_case())
    assert spans.attributes("judge odd")["error.type"] == "_OTHER"
    assert "swordfish" not in spans.text


def secret_jury() -> Ensemble:
    reply = '{"reasoning": "because I say so", "answer": "YES", "confidence": 0.9}'
    broken = raises(ValueError(f"no swordfish with {KEY}"), "broken")
    return Ensemble([Critic(ScriptedModel([reply]), "faithfulness", name="truth"), broken], name="court")


def test_no_content_unless_it_is_wanted(spans: Spans) -> None:
    case = a_case(answer="plain words of the answer TRUTH=YES", reference="swordfish", metadata={"m": "swordfish"})
    with trace_juries(spans.provider):
        secret_jury().judge(case)
    assert [secret for secret in (*SECRETS, KEY, KEY[:16]) if secret in spans.text] == []


def test_content_where_it_is_wanted_without_keys(spans: Spans, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "correct horse battery staple")
    case = a_case(answer=f"plain words of the answer {KEY}", reference="correct horse battery staple swordfish")
    with trace_juries(spans.provider, content=True):
        secret_jury().judge(case)
    assert [secret for secret in ("correct horse battery staple", KEY, KEY[:16]) if secret in spans.text] == []
    root, chat = spans.attributes("judge court"), spans.attributes("chat scripted")
    assert root["jury_adapters.case.answer"] == "plain words of the answer [key]"
    assert root["jury_adapters.case.reference"] == "[key] swordfish"
    assert root["jury_adapters.case.contexts"] == case.contexts
    assert spans.attributes("judge truth")["gen_ai.evaluation.explanation"] == "because I say so"
    assert "jury_adapters.case.answer" not in spans.attributes("judge truth")
    (asked,) = json.loads(chat["gen_ai.input.messages"])
    assert asked["role"] == "user"
    assert "plain words of the answer" in asked["parts"][0]["content"]
    (answered,) = json.loads(chat["gen_ai.output.messages"])
    assert "because I say so" in answered["parts"][0]["content"]
    assert json.loads(chat["gen_ai.system_instructions"])[0]["type"] == "text"
    assert spans.one("judge broken").status.description == "ValueError: no swordfish with [key]"


@pytest.mark.parametrize("content", [False, True])
@pytest.mark.parametrize("mode", ["401", "500", "drop", "html"])
def test_no_key_is_sent(spans: Spans, server: VendorServer, mode: str, content: bool) -> None:
    acts = {
        "401": error(401, f"no such key {KEY}"), "500": error(500, f"oops {KEY}"), "drop": Act(drop=True),
        "html": Act(raw=f"<html>{KEY}</html>", content_type="text/html"),
    }  # fmt: skip
    server.plan = lambda ask: acts[mode]
    limits = Limits(attempts=2)
    critic = Critic("gpt", "faithfulness", name="truth", base_url=server.openai, api_key=KEY, limits=limits)
    with trace_juries(spans.provider, content=content), no_waiting():
        assert critic.judge(a_case()).status is Status.ERROR
    assert spans.attributes("chat gpt")["server.address"] == "127.0.0.1"
    assert [secret for secret in (KEY, KEY[:16], KEY[-12:]) if secret in spans.text] == []


class Decider:
    """A decision model: sure of everything."""

    name, model, vendor = "test:decider", "decider", "test"

    async def decide(self, text: str, questions: Sequence[Question]) -> tuple[Sequence[Answer], Usage]:
        return [Answer({"yes": 0.9, "no": 0.1}) for _ in questions], Usage(30, 2, calls=1)


def test_a_decision_model(spans: Spans) -> None:
    with trace_juries(spans.provider, content=True):
        DecisionCritic(Decider(), "safety", name="guard").judge(a_case())
    said: dict[str, Any] = spans.attributes("decide decider")
    assert said["gen_ai.operation.name"] == "decide"
    assert (said["gen_ai.usage.input_tokens"], said["gen_ai.usage.output_tokens"]) == (30, 2)
    assert spans.parent(spans.one("decide decider")) is spans.one("judge guard")


def test_an_answer_that_was_cut_off(spans: Spans) -> None:
    with trace_juries(spans.provider):
        Critic(ScriptedModel([Reply("", finish="length")]), "faithfulness", name="truth").judge(a_case())
    assert spans.named("chat scripted")[0].attributes["gen_ai.response.finish_reasons"] == ("length",)  # type: ignore[index]
