"""Verdicts as LangSmith feedback, told to a small local server over real HTTP."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from uuid import UUID

import pytest
from langsmith import Client
from support.langchain_apps import Watched, a_jury, chain

from jury_adapters import CascadedJury, Case, ConfigurationError, Ensemble, Judge, Report, Scorecard, Tier, abstain
from jury_adapters.langchain.callbacks import JuryCallbackHandler
from jury_adapters.langchain.langsmith import feedback

PROJECT = "11111111-1111-4111-8111-111111111111"
QUEUE = "22222222-2222-4222-8222-222222222222"
WHEN = "2026-01-01T00:00:00+00:00"


class LangSmith(ThreadingHTTPServer):
    """Answers as LangSmith does, as far as feedback goes.

    Attributes:
        posts: what was posted, as pairs of path and body.
        queues: the queues that are there.
        missing: how many posts of feedback to refuse because the run is not there yet.
        by_key: whether runs can be put into a queue by key.
        delay: seconds each answer takes.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answering)
        self.posts: list[tuple[str, Any]] = []
        self.queues: list[dict[str, Any]] = []
        self.missing = 0
        self.by_key = True
        self.delay = 0.0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def bodies(self, path: str) -> list[Any]:
        return [body for posted, body in self.posts if posted == path]


def queue(name: str) -> dict[str, Any]:
    return {"id": QUEUE, "name": name, "created_at": WHEN, "updated_at": WHEN, "tenant_id": PROJECT}


class Answering(BaseHTTPRequestHandler):
    server: LangSmith

    def log_message(self, *_: Any) -> None:
        return

    def do_GET(self) -> None:
        if self.path.startswith("/sessions"):
            self._answer([{**queue("default"), "id": PROJECT, "start_time": WHEN, "reference_dataset_id": None}])
        elif self.path.startswith("/annotation-queues"):
            self._answer(self.server.queues)
        else:
            self._answer({"version": "0.12.0"})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/feedback" and self.server.missing:
            self.server.missing -= 1
            return self._answer({"detail": "run not found"}, 404)
        if self.path.endswith("/by-key") and not self.server.by_key:
            return self._answer({"detail": "no such path"}, 404)
        time.sleep(self.server.delay)
        self.server.posts.append((self.path, body))
        if self.path == "/annotation-queues":
            return self._answer(queue(body["name"]))
        return self._answer({})

    def _answer(self, body: Any, status: int = 200) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@pytest.fixture
def langsmith(monkeypatch: pytest.MonkeyPatch) -> Iterator[LangSmith]:
    for name in ("LANGSMITH_TRACING", "LANGCHAIN_TRACING_V2", "LANGSMITH_PROJECT", "LANGCHAIN_PROJECT"):
        monkeypatch.delenv(name, raising=False)
    with LangSmith() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join(10)


@pytest.fixture
def client(langsmith: LangSmith) -> Iterator[Client]:
    with closing(Client(api_url=langsmith.url, api_key="test", auto_batch_tracing=False, timeout_ms=5_000)) as ready:
        yield ready


def judge_one(client: Client, judge: Judge, **options: Any) -> Any:
    seen: list[Any] = []
    with JuryCallbackHandler(judge, on_verdict=[feedback(client, **options), seen.append]) as handler:
        chain().invoke({"question": "q"}, {"callbacks": [handler]})
    return seen[0], handler.counts


def split_jury() -> Ensemble:
    yes, no = (Judge.from_function(lambda case, said=said: said, name=name) for said, name in ((1, "yes"), (0, "no")))
    return Ensemble([yes, no], name="panel")


def test_the_verdict_is_feedback_on_the_run(langsmith: LangSmith, client: Client) -> None:
    judged, counts = judge_one(client, a_jury(), key="quality")
    (body,) = langsmith.bodies("/feedback")
    assert (body["run_id"], body["session_id"]) == (judged.run.id, PROJECT)
    assert (body["key"], body["score"], body["value"]) == ("quality", 1.0, "pass")
    assert body["feedback_source"]["type"] == "model"
    assert body["feedback_source"]["metadata"]["agreement"] == 1.0
    assert counts.sink_errors == 0


def test_each_juror_as_asked(langsmith: LangSmith, client: Client) -> None:
    judge_one(client, split_jury(), per_juror=True)
    scores = {body["key"]: body["score"] for body in langsmith.bodies("/feedback")}
    assert scores.keys() == {"panel", "panel.yes", "panel.no"}
    assert (scores["panel.yes"], scores["panel.no"]) == (1.0, 0.0)


def test_a_juror_is_feedback_also_in_a_tier_that_did_not_decide(langsmith: LangSmith, client: Client) -> None:
    jury = CascadedJury(
        [Tier("screen", Ensemble({"there": lambda case: True}), "reject_on_any_fail"), Tier("panel", split_jury())]
    )
    judge_one(client, jury, key="quality", per_juror=True)
    scores = {body["key"]: body["score"] for body in langsmith.bodies("/feedback")}
    assert scores == {"quality": 0.0, "quality.there": 1.0, "quality.yes": 1.0, "quality.no": 0.0}


@pytest.mark.parametrize("per_juror", [False, True])
def test_each_criterion_of_a_scorecard_is_feedback(langsmith: LangSmith, client: Client, per_juror: bool) -> None:
    card = Scorecard({"faithful": split_jury(), "relevant": a_jury()}, name="card")
    judge_one(client, card, per_juror=per_juror)
    bodies = langsmith.bodies("/feedback")
    values = [(body["key"], body["value"]) for body in bodies]
    assert values == [("card", "fail"), ("card.faithful", "fail"), ("card.relevant", "pass")]
    assert len({body["id"] for body in bodies}) == 3


def test_a_criterion_that_was_not_asked_is_no_feedback(langsmith: LangSmith, client: Client) -> None:
    screened = CascadedJury(
        [
            Tier("screen", Judge.from_function(lambda case: False, name="no"), "reject_on_any_fail"),
            Tier("card", Scorecard({"relevant": a_jury()})),
        ],
        name="screened",
    )
    judge_one(client, screened)
    assert [body["key"] for body in langsmith.bodies("/feedback")] == ["screened"]


@pytest.mark.parametrize("extend", [True, False])
def test_the_retention_of_traces_need_not_be_extended(langsmith: LangSmith, client: Client, extend: bool) -> None:
    judge_one(client, a_jury(), **({} if extend else {"extend_trace_retention": False}))
    (body,) = langsmith.bodies("/feedback")
    assert body["extend_trace_retention"] is extend


@pytest.mark.parametrize("named", ["review", QUEUE])
@pytest.mark.parametrize("there", [True, False])
def test_runs_that_a_person_should_see_go_into_the_queue(
    langsmith: LangSmith, client: Client, named: str, there: bool
) -> None:
    langsmith.queues = [queue("review")] if there else []
    judged, counts = judge_one(client, split_jury(), annotation_queue=named)
    ((key,),) = langsmith.bodies(f"/annotation-queues/{QUEUE}/runs/by-key")
    assert (key["run_id"], key["session_id"]) == (judged.run.id, PROJECT)
    assert counts.sink_errors == 0
    assert len(langsmith.bodies("/annotation-queues")) == (0 if there or named == QUEUE else 1)


@pytest.mark.parametrize("judge", [lambda case: abstain("no contexts"), lambda case: 1 / 0])
def test_so_do_runs_that_nobody_could_judge(langsmith: LangSmith, client: Client, judge: Any) -> None:
    langsmith.queues = [queue("review")]
    for one in (Judge.from_function(judge), Ensemble([judge], errors="propagate")):
        judged, _ = judge_one(client, one, annotation_queue="review")
        assert langsmith.bodies(f"/annotation-queues/{QUEUE}/runs/by-key")[-1][0]["run_id"] == judged.run.id


def test_other_runs_do_not(langsmith: LangSmith, client: Client) -> None:
    judge_one(client, a_jury(), annotation_queue="review")
    assert [path for path, _ in langsmith.posts] == ["/feedback"]


@pytest.mark.filterwarnings("ignore:The run_ids parameter")
def test_a_server_that_knows_no_keys_gets_the_id(langsmith: LangSmith, client: Client) -> None:
    langsmith.by_key = False
    judged, counts = judge_one(client, split_jury(), annotation_queue=UUID(QUEUE))
    assert langsmith.bodies(f"/annotation-queues/{QUEUE}/runs") == [[judged.run.id]]
    assert counts.sink_errors == 0


def test_a_run_that_is_not_there_yet_is_tried_again(langsmith: LangSmith, client: Client) -> None:
    langsmith.missing = 1
    _, counts = judge_one(client, a_jury())
    assert len(langsmith.bodies("/feedback")) == 1
    assert counts.sink_errors == 0


def test_the_same_verdict_twice_is_one_feedback(langsmith: LangSmith, client: Client) -> None:
    watched = Watched()
    chain().invoke({"question": "q"}, watched.config)
    sink = feedback(client)
    sink(watched.one())
    sink(watched.one())
    first, second = langsmith.bodies("/feedback")
    assert first["id"] == second["id"]


def test_a_report_of_background_runs_goes_to_the_runs(langsmith: LangSmith, client: Client) -> None:
    watched = Watched()
    for question in ("q", "r"):
        chain().invoke({"question": question}, watched.config)
    runs = watched.all()
    Report.from_results(runs).send_to(feedback(client, key="quality"))
    assert [body["run_id"] for body in langsmith.bodies("/feedback")] == [judged.run.id for judged in runs]


def test_results_without_a_run_of_langsmith_are_refused(langsmith: LangSmith, client: Client) -> None:
    report = Report.from_results(a_jury().judge_pairs([Case(question="q", answer="a")]))
    with pytest.raises(ConfigurationError, match="no id of LangSmith: 'case 1'; judge the runs with JuryCallbackH"):
        report.send_to(feedback(client))
    assert langsmith.posts == []


def test_a_slow_server_does_not_slow_the_application(langsmith: LangSmith, client: Client) -> None:
    langsmith.delay = 0.5
    with JuryCallbackHandler(a_jury(), on_verdict=feedback(client)) as handler:
        chain().invoke({"question": "q"}, {"callbacks": [handler]})
        assert handler.counts.judged == 0
    assert len(langsmith.bodies("/feedback")) == 1


@pytest.mark.slow
def test_a_server_that_is_down_is_an_error_of_the_sink_alone(caplog: pytest.LogCaptureFixture) -> None:
    with closing(
        Client(api_url="http://127.0.0.1:9", api_key="test", auto_batch_tracing=False, timeout_ms=500)
    ) as nowhere:
        _, counts = judge_one(nowhere, a_jury())
    assert (counts.judged, counts.sink_errors) == (1, 1)
    assert "test" not in [record.getMessage() for record in caplog.records]
