"""Sinks for verdicts: the log and OpenTelemetry."""

from __future__ import annotations

import logging
import subprocess
import sys
from typing import Any

import pytest
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.trace import TracerProvider

from jury_adapters import Case, Ensemble, Judge, Report, Scorecard, Status, abstain
from jury_adapters.core.background.judge_queue import JudgedRun, JudgeQueue, Run
from jury_adapters.core.judgment import Judgment
from jury_adapters.observability.sinks import EVENT_NAME, log_verdicts, note_span, otel_events
from jury_adapters.testing import a_case, errored, failed, passed


def judged(judgment: Judgment, **about: Any) -> JudgedRun:
    return JudgedRun(Run("run-1", **{"name": "sky", **about}), a_case(), judgment)


def split_jury() -> Ensemble:
    return Ensemble([Judge.from_function(lambda case: True, name="yes"), Judge.from_function(lambda case: False)])


class Emitted:
    """A provider that keeps what is emitted."""

    def __init__(self) -> None:
        self.exporter = InMemoryLogRecordExporter()
        self.provider = LoggerProvider(shutdown_on_exit=False)
        self.provider.add_log_record_processor(SimpleLogRecordProcessor(self.exporter))

    @property
    def records(self) -> list[Any]:
        return [entry.log_record for entry in self.exporter.get_finished_logs()]


def test_a_pass_is_one_line_at_info(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "jury_adapters.verdicts"):
        log_verdicts()(judged(passed("polite", score=0.9, reasoning="very")))
    (record,) = caplog.records
    assert record.levelno == logging.INFO
    assert record.getMessage() == "chain sky (run-1): PASS, score 0.90: very"
    assert (record.run_id, record.jury_status, record.jury_score) == ("run-1", "PASS", 0.9)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "judgment", [failed("polite", reasoning="rude"), errored("polite"), abstain("no contexts"), None]
)
def test_what_needs_review_is_a_warning(judgment: Any, caplog: pytest.LogCaptureFixture) -> None:
    log_verdicts("quality", failure_level=logging.CRITICAL)(
        judged(split_jury().judge(a_case()) if judgment is None else judgment)
    )
    (record,) = caplog.records
    assert (record.name, record.levelno) == ("quality", logging.CRITICAL)
    looks = judgment is None or not judgment.valid
    assert ("needs review" in record.getMessage(), record.jury_needs_review) == (looks, looks)  # type: ignore[attr-defined]


def test_a_reason_cannot_forge_a_line(caplog: pytest.LogCaptureFixture) -> None:
    log_verdicts(logging.getLogger("q"))(judged(failed(reasoning="bad\nINFO all fine\x1b[2J"), name="a\nb"))
    assert "\n" not in caplog.records[0].getMessage()
    assert "\x1b" not in caplog.records[0].getMessage()


def test_a_label_without_a_meaning(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "q"):
        log_verdicts("q")(judged(Judgment(None, label="KEEP")))
    assert "KEEP" in caplog.text


def test_an_event_has_the_attributes_of_the_conventions() -> None:
    emitted = Emitted()
    sink = otel_events(logger_provider=emitted.provider)
    sink(judged(passed("faithful", score=0.75, reasoning="supported"), metadata={"thread_id": "t1"}))
    (record,) = emitted.records
    assert record.event_name == EVENT_NAME == "gen_ai.evaluation.result"
    assert dict(record.attributes) == {
        "gen_ai.evaluation.name": "faithful",
        "gen_ai.evaluation.score.value": 0.75,
        "gen_ai.evaluation.score.label": "pass",
        "gen_ai.evaluation.explanation": "supported",
        "gen_ai.conversation.id": "t1",
        "jury_adapters.run.id": "run-1",
        "jury_adapters.run.name": "sky",
    }


def test_a_judge_that_broke_has_an_error_type() -> None:
    emitted = Emitted()
    sink = otel_events(logger_provider=emitted.provider, explanations=False)
    sink(judged(errored("faithful", error="TimeoutError: 30 s")))
    attributes = dict(emitted.records[0].attributes)
    assert attributes["error.type"] == "TimeoutError"
    assert attributes["gen_ai.evaluation.score.label"] == "error"
    assert "gen_ai.evaluation.explanation" not in attributes
    assert "gen_ai.evaluation.score.value" not in attributes


def test_an_event_of_a_card_with_an_undecided_criterion_has_no_score() -> None:
    card = Scorecard({"long": lambda case: False, "dated": lambda case: abstain("no date")})
    emitted = Emitted()
    otel_events(logger_provider=emitted.provider)(judged(card.judge(a_case())))
    (record,) = emitted.records
    assert record.attributes["gen_ai.evaluation.score.label"] == "fail"
    assert "gen_ai.evaluation.score.value" not in record.attributes


def test_each_juror_has_an_event_as_asked() -> None:
    emitted = Emitted()
    otel_events(logger_provider=emitted.provider, per_juror=True)(judged(split_jury().judge(a_case())))
    names = [record.attributes["gen_ai.evaluation.name"] for record in emitted.records]
    assert names == ["jury", "yes", "Judge#2"]
    assert emitted.records[0].attributes["jury_adapters.needs_review"] is True
    assert emitted.records[0].attributes["jury_adapters.agreement"] == 0.0


def test_an_undecided_verdict_needs_review() -> None:
    emitted = Emitted()
    jury = Ensemble([lambda case: abstain("no contexts")])
    otel_events(logger_provider=emitted.provider)(judged(jury.judge(a_case())))
    assert emitted.records[0].attributes["jury_adapters.needs_review"] is True


def test_a_report_sends_one_event_per_case() -> None:
    emitted = Emitted()
    cases = [Case(question="q", answer=answer, metadata={"item_id": f"i-{answer}"}) for answer in ("yes", "no")]
    jury = Judge.from_function(lambda case: (case.answer == "yes", "looked"), name="polite")
    Report.from_results(jury.judge_pairs(cases)).send_to(otel_events(logger_provider=emitted.provider))
    assert [dict(record.attributes) for record in emitted.records] == [
        {
            "gen_ai.evaluation.name": "polite",
            "gen_ai.evaluation.score.value": score,
            "gen_ai.evaluation.score.label": label,
            "gen_ai.evaluation.explanation": "looked",
            "jury_adapters.run.name": name,
        }
        for score, label, name in ((1.0, "pass", "i-yes"), (0.0, "fail", "i-no"))
    ]
    assert {record.event_name for record in emitted.records} == {"gen_ai.evaluation.result"}


def test_a_report_logs_one_line_per_case(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "q"):
        Report.from_results(
            [passed("polite"), (Case(answer="a", metadata={"item_id": "i-2"}), passed("polite"))]
        ).send_to(log_verdicts("q"))
    assert [record.getMessage() for record in caplog.records if record.name == "q"] == [
        "result case 1: PASS, score 1.00",
        "result i-2: PASS, score 1.00",
    ]


def test_an_event_belongs_to_the_span_in_which_the_run_ended() -> None:
    emitted = Emitted()
    tracer = TracerProvider(shutdown_on_exit=False).get_tracer("test")
    metadata: dict[str, Any] = {}
    with tracer.start_as_current_span("request") as span:
        note_span(metadata)
    with JudgeQueue(
        Judge.from_function(lambda case: True), on_verdict=otel_events(logger_provider=emitted.provider)
    ) as on:
        on.put(Case(answer="a"), run=Run("run-1", metadata=metadata))
    assert emitted.records[0].trace_id == span.get_span_context().trace_id
    assert emitted.records[0].span_id == span.get_span_context().span_id
    without: dict[str, Any] = {}
    note_span(without)
    assert without == {}


@pytest.mark.slow
def test_sinks_load_nothing_before_they_are_used() -> None:
    program = "import sys; from jury_adapters.observability.sinks import note_span; note_span({}); "
    program += "assert 'opentelemetry' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


@pytest.mark.slow
def test_without_opentelemetry_it_says_what_to_install() -> None:
    program = """
import sys
sys.modules["opentelemetry"] = None
from jury_adapters import ConfigurationError
from jury_adapters.observability.sinks import otel_events
try:
    otel_events()
except ConfigurationError as error:
    assert "pip install" in str(error)
else:
    raise SystemExit("no error")
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_a_run_that_failed_is_told_too() -> None:
    emitted = Emitted()
    jury = split_jury()
    with JudgeQueue(jury, on_verdict=otel_events(logger_provider=emitted.provider)) as queue:
        queue.put(Case(question="q"), run=Run("run-1", error="ValueError: no"))
    attributes = emitted.records[0].attributes
    assert attributes["gen_ai.evaluation.score.label"] == Status.FAIL.value.lower()
    assert "ValueError: no" in attributes["gen_ai.evaluation.explanation"]
