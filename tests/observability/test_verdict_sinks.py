"""Sinks of verdicts: a line in the log, an event, a line of a results file."""

import json
import logging
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor

from jury_adapters import Case, Ensemble, JudgeQueue, Judgment, Status, abstain, judge, read_results
from jury_adapters.core.asking import JudgedRun
from jury_adapters.core.judgment import broken
from jury_adapters.core.results import ResultsFile
from jury_adapters.core.values import ConfigurationError
from jury_adapters.inputs.run import Run
from jury_adapters.observability import Sink, jsonl, log_verdicts, otel_events

KEY = "sk-proj-Abc0123456789-SECRET-xyz_0123456789"
CASE = Case(question="When?", answer="In 2018.", id="c-1", metadata={"user": "ann"})
PASSED = Judgment(status=Status.PASS, critic="polite", score=0.9, reasoning="very")
FAILED = Judgment(status=Status.FAIL, critic="polite", reasoning="rude")


def judged(judgment: Judgment, **about: Any) -> JudgedRun:
    return JudgedRun(Run(**{"id": "run-1", "name": "sky", **about}), CASE, judgment)


def split() -> Judgment:
    jury = Ensemble([judge(lambda case: True, name="yes"), judge(lambda case: False, name="no")], name="jury")
    return jury.judge(CASE)


class Emitted:
    """A provider that keeps what is emitted."""

    def __init__(self) -> None:
        self.exporter = InMemoryLogRecordExporter()
        self.provider = LoggerProvider(shutdown_on_exit=False)
        self.provider.add_log_record_processor(SimpleLogRecordProcessor(self.exporter))

    @property
    def records(self) -> list[Any]:
        return [entry.log_record for entry in self.exporter.get_finished_logs()]


# The log.


def test_a_verdict_is_one_line(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "jury_adapters.verdicts"):
        log_verdicts()(judged(PASSED))
    (record,) = caplog.records
    assert (record.name, record.levelno) == ("jury_adapters.verdicts", logging.INFO)
    assert record.getMessage() == "sky (run-1): PASS polite (score 0.90): very"
    fields = [getattr(record, name) for name in ("run_id", "run_name", "jury_status", "jury_score")]
    assert fields == ["run-1", "sky", "PASS", 0.9]


@pytest.mark.parametrize(
    ("judgment", "review"),
    [(FAILED, False), (broken("down"), True), (abstain("no contexts"), True), (split(), True)],
    ids=["fail", "error", "abstain", "split"],
)
def test_what_needs_attention_is_a_warning(judgment: Judgment, review: bool, caplog: pytest.LogCaptureFixture) -> None:
    log_verdicts(logging.getLogger("quality"))(judged(judgment))
    (record,) = caplog.records
    assert (record.name, record.levelno, record.jury_needs_review) == (  # type: ignore[attr-defined]
        "quality",
        logging.WARNING,
        review,
    )


def test_a_reason_cannot_forge_a_line_and_has_no_key(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "correct horse battery staple")
    reason = (
        f"bad\nINFO all fine\x1b[2J {KEY} {'x' * 75} correct horse battery staple"  # cut off in the midst of the key
    )
    judgment = FAILED.model_copy(update={"reasoning": reason})
    log_verdicts()(judged(judgment, name="a\nb", id="1\n2"))
    line = caplog.records[0].getMessage()
    assert not [char for char in ("\n", "\x1b", KEY[:16], "correct horse") if char in line]


@pytest.mark.parametrize("run", ["When?", {"question": "q"}, CASE, None])
def test_what_is_no_run_is_logged_by_its_case(run: Any, caplog: pytest.LogCaptureFixture) -> None:
    log_verdicts()(JudgedRun(run, CASE, FAILED))
    log_verdicts()(JudgedRun(run, None, FAILED))
    assert caplog.records[0].getMessage() == "run (c-1): FAIL polite: rude"


# Events.


def test_an_event_has_the_attributes_of_the_conventions() -> None:
    emitted = Emitted()
    otel_events(emitted.provider)(judged(PASSED))
    (record,) = emitted.records
    assert record.event_name == "gen_ai.evaluation.result"
    assert record.severity_number.name == "INFO"
    assert dict(record.attributes) == {
        "gen_ai.evaluation.name": "polite",
        "gen_ai.evaluation.score.value": 0.9,
        "gen_ai.evaluation.score.label": "pass",
        "jury_adapters.status": "PASS",
        "jury_adapters.needs_review": False,
        "jury_adapters.run.id": "run-1",
        "jury_adapters.run.name": "sky",
    }


def test_an_event_of_a_jury_has_its_agreement() -> None:
    emitted = Emitted()
    otel_events(emitted.provider)(judged(split()))
    (record,) = emitted.records
    assert record.attributes["jury_adapters.agreement"] == 0.0
    assert record.attributes["jury_adapters.needs_review"] is True


def test_an_event_of_a_judge_that_broke_has_the_kind_of_the_error() -> None:
    emitted = Emitted()
    otel_events(emitted.provider)(judged(broken(f"TimeoutError: 30 s {KEY}")))
    (record,) = emitted.records
    assert record.severity_number.name == "WARN"
    assert record.attributes["error.type"] == "TimeoutError"
    assert record.attributes["gen_ai.evaluation.score.label"] == "error"
    assert "30 s" not in str(dict(record.attributes))


def test_reasons_are_sent_only_where_they_are_asked_for() -> None:
    emitted = Emitted()
    judgment = FAILED.model_copy(update={"reasoning": f"rude {KEY}"})
    otel_events(emitted.provider)(judged(judgment))
    otel_events(emitted.provider, content=True)(judged(judgment))
    without, with_reason = [dict(record.attributes) for record in emitted.records]
    assert "gen_ai.evaluation.explanation" not in without
    assert with_reason["gen_ai.evaluation.explanation"] == "rude [key]"


def test_verdicts_of_a_queue_become_events() -> None:
    emitted = Emitted()
    with JudgeQueue(lambda case: True, on_verdict=otel_events(emitted.provider)) as queue:
        queue.put(CASE)
    assert [record.attributes["gen_ai.evaluation.score.label"] for record in emitted.records] == ["pass"]


# A results file.


def test_lines_are_results(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.jsonl"
    jury = Ensemble([judge(lambda case: "2018" in case.answer, name="dated")], name="jury")
    with JudgeQueue(jury, on_verdict=jsonl(path, jury)) as queue:
        queue.put(CASE)
        queue.flush()
        queue.put(CASE.model_copy(update={"answer": "No\u2028\x00 \U0001f600."}))
    results = list(read_results(path))
    assert [result.judgment.status for result in results] == [Status.PASS, Status.FAIL]
    assert [result.case.answer for result in results if result.case] == ["In 2018.", "No\u2028\x00 \U0001f600."]
    assert results[0].case == CASE
    assert results[0].judgment.by_name["dated"].passed
    assert (results[0].jury, results[0].judgment.case_metadata) == (jury.fingerprint, {})


def test_a_results_file_goes_on_from_its_lines(tmp_path: Path) -> None:
    path, jury = tmp_path / "verdicts.jsonl", judge(lambda case: True, name="one")
    jsonl(path, jury)(JudgedRun(None, CASE, jury.judge(CASE)))
    with ResultsFile(path, jury) as results:
        assert len(list(results.judge([CASE, Case(answer="another")]))) == 1


@pytest.mark.parametrize("judgment", [PASSED, FAILED, broken("down"), abstain("no"), split()])
def test_every_kind_of_verdict_is_written(tmp_path: Path, judgment: Judgment) -> None:
    path = tmp_path / "verdicts.jsonl"
    jsonl(str(path))(judged(judgment))
    jsonl(path)(JudgedRun("no case", None, judgment))
    first, second = read_results(path)
    assert first.judgment == judgment.model_copy(update={"case_metadata": {}})
    assert (first.jury, second.case) == ("", None)


def test_many_processes_and_threads_append_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.jsonl"
    script = """
import sys, threading
from jury_adapters import Case, Judgment
from jury_adapters.core.asking import JudgedRun
from jury_adapters.observability import jsonl
sink = jsonl(sys.argv[1])
def work(number):
    for _ in range(50):
        sink(JudgedRun(None, Case(answer=str(number) * 20_000), Judgment(status="PASS")))
threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""
    processes = [subprocess.Popen([sys.executable, "-c", script, str(path)]) for _ in range(2)]
    assert [process.wait(timeout=60) for process in processes] == [0, 0]
    answers = [result.case.answer for result in read_results(path) if result.case]
    assert len(answers) == 400
    assert all(len(set(answer or "")) == 1 for answer in answers)


def test_a_file_may_be_moved_away(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.jsonl"
    sink = jsonl(path)
    sink(judged(PASSED))
    path.rename(tmp_path / "yesterday.jsonl")
    sink(judged(FAILED))
    assert [result.judgment.passed for result in read_results(path)] == [False]


def test_a_file_that_cannot_be_written_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"missing/verdicts\.jsonl cannot be written: No such file"):
        jsonl(tmp_path / "missing" / "verdicts.jsonl")


@pytest.mark.parametrize("make", [log_verdicts, otel_events])
def test_a_sink_raises_for_no_judgment(make: Any) -> None:
    sink: Sink = make()
    for judgment in (PASSED, FAILED, broken("\x00"), abstain("\ud800"), split()):
        sink(JudgedRun(object(), None, judgment))


def test_json_of_a_line_is_plain(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.jsonl"
    jsonl(path)(judged(PASSED))
    assert json.loads(path.read_text())["judgment"] == {
        "status": "PASS",
        "score": 0.9,
        "reasoning": "very",
        "critic": "polite",
    }
