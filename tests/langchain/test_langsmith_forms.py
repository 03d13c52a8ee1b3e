"""Every form in which LangSmith takes an evaluator, and what an experiment that is uploaded tells the server."""

import asyncio
import functools
import json
import subprocess
import sys
import uuid
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from time import monotonic, sleep

import pytest
from langchain_core.tracers.langchain import wait_for_all_tracers
from langsmith import Client, tracing_context
from langsmith.schemas import Example
from support.judge_model import judge_model

from jury_adapters import Critic, Ensemble
from jury_adapters.checks import Equals
from jury_adapters.langchain import JuryEvaluator
from jury_adapters.langchain.langsmith import offline_client, summary

pytestmark = pytest.mark.filterwarnings("ignore:'upload_(results|runs)' parameter is in beta")

WHEN = "2026-01-01T00:00:00+00:00"
PROJECT, DATA_SET = str(uuid.uuid4()), uuid.uuid4()
DATA = [
    Example(id=uuid.uuid4(), inputs={"question": f"{i} + 1?"}, outputs={"answer": str(i + 1)}, dataset_id=DATA_SET)
    for i in range(3)
]
EXACT = JuryEvaluator(Equals(), key="exact")
ASYNC_EXACT = JuryEvaluator(Equals(), key="exact").acall


class Held:
    """An object of the user's that has evaluators as methods."""

    def __init__(self):
        self.jury = JuryEvaluator(Equals(), key="exact")

    async def judged(self, run, example):
        return await self.jury.aevaluate_run(run, example)

    async def by_parts(self, inputs, outputs, reference_outputs):
        return await ASYNC_EXACT(inputs=inputs, outputs=outputs, reference_outputs=reference_outputs)


def target(inputs):
    return {"answer": str(int(inputs["question"].split()[0]) + 1)}


async def atarget(inputs):
    return target(inputs)


def results(evaluator, *, asynchronous, **options):
    """The results of an experiment on this machine alone."""

    async def rows():
        found = await offline_client().aevaluate(
            atarget, data=DATA, evaluators=[evaluator], upload_results=False, **options
        )
        return [row async for row in found]

    if asynchronous:
        found = asyncio.run(rows())
    else:
        found = offline_client().evaluate(target, data=DATA, evaluators=[evaluator], upload_results=False, **options)
    return [result for row in found for result in row["evaluation_results"]["results"]]


FORMS = {
    "function": EXACT,
    "asynchronous function": ASYNC_EXACT,
    "lambda": lambda inputs, outputs, reference_outputs: EXACT(
        inputs=inputs, outputs=outputs, reference_outputs=reference_outputs
    ),
    "partial": functools.partial(EXACT, further="something"),
    "partial of an asynchronous function": functools.partial(ASYNC_EXACT, further="something"),
    "bound asynchronous method": Held().judged,
    "bound asynchronous method of parts": Held().by_parts,
    "bound method": JuryEvaluator(Equals(), key="exact").evaluate_run,
    "run evaluator": JuryEvaluator(Equals(), key="exact"),
}


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_awaited_and_keeps_its_key(form, asynchronous):
    found = results(FORMS[form], asynchronous=asynchronous)
    assert [(one.key, one.score) for one in found] == [("exact", 1.0)] * len(DATA)


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("most", [None, 0, 2])
def test_any_number_of_rows_may_be_judged_at_once(most, asynchronous):
    jury = JuryEvaluator(Critic(judge_model(), "answer_relevance", name="truth"), key="truth")
    found = results(jury, asynchronous=asynchronous, max_concurrency=most)
    assert [(one.key, one.score) for one in found] == [("truth", 1.0)] * len(DATA)


class LangSmith(ThreadingHTTPServer):
    """Answers as LangSmith does, as far as an experiment goes; ``sent`` is all that it was sent."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Answering)
        self.sent = []

    def told(self):
        """The feedback so far."""
        return [json.loads(body) for command, path, body in self.sent if (command, path) == ("POST", "/feedback")]


class Answering(BaseHTTPRequestHandler):
    def log_message(self, *_):
        return

    def answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.sent.append((self.command, self.path, body))
        session = {"id": PROJECT, "name": "experiment", "start_time": WHEN, "tenant_id": PROJECT,
                   "reference_dataset_id": str(DATA_SET)}  # fmt: skip
        reply = {"version": "0.14", "batch_ingest_config": {"use_multipart_endpoint": False, "size_limit": 100}}
        if self.path.startswith("/sessions"):
            reply = session if self.command != "GET" or PROJECT in self.path else [session]
        elif self.path.startswith("/datasets"):
            reply = {"id": str(DATA_SET), "name": "data", "created_at": WHEN, "url": f"{self.path}"}
        data = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_PATCH = answer


@pytest.fixture
def langsmith():
    with LangSmith() as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The following arguments are no longer used")  # LangSmith warns of its own doing
def test_an_experiment_that_is_uploaded_has_the_verdicts_and_no_prompts(langsmith):
    jury = Ensemble([Critic(judge_model(), "answer_relevance", name=name) for name in ("a", "b")], name="panel")
    evaluator = JuryEvaluator(jury, per_juror=True)
    address = f"http://127.0.0.1:{langsmith.server_address[1]}"
    with closing(Client(api_url=address, api_key="x", auto_batch_tracing=False)) as client:
        rows = list(client.evaluate(
            target, data=DATA, evaluators=[evaluator], summary_evaluators=[summary(evaluator)], blocking=True
        ))  # fmt: skip
        until = monotonic() + 10
        while len(told := langsmith.told()) < 4 * len(DATA) and monotonic() < until:  # posted from threads of its own
            sleep(0.01)
    assert len(rows) == len(DATA)
    rated = {key: [one["score"] for one in told if one["key"] == key] for key in {one["key"] for one in told}}
    assert rated == {
        "panel": [1.0] * 3, "panel.a": [1.0] * 3, "panel.b": [1.0] * 3,
        "panel.agreement": [1.0], "panel.pass_rate": [1.0], "panel.cost_usd": [0.0],
    }  # fmt: skip
    one = next(one for one in told if one["key"] == "panel")
    assert one["value"] == "pass"
    assert one["comment"] == "2 of 2 voted PASS\nit fits"
    assert one["feedback_source"]["metadata"]["votes"] == {"a": "pass", "b": "pass"}
    assert {one["run_id"] for one in told if one["key"] == "panel"} == {str(row["run"].id) for row in rows}
    everything = b"".join(body for _, _, body in langsmith.sent)
    assert b"2 + 1?" in everything  # the target's runs are there
    prompt = jury.members[0].model.inner._chat_model.seen[0]
    assert json.dumps(prompt[:60]).strip('"').encode() not in everything


PLUGIN_TEST = """
import pytest
from langsmith import testing
from jury_adapters.checks import Equals
from jury_adapters.langchain import JuryEvaluator

@pytest.mark.langsmith
def test_sum():
    inputs, outputs, wanted = {"question": "2 + 2?"}, {"answer": "4"}, {"answer": "4"}
    testing.log_inputs(inputs)
    testing.log_outputs(outputs)
    testing.log_reference_outputs(wanted)
    with testing.trace_feedback():
        result = JuryEvaluator(Equals(), key="exact")(inputs=inputs, outputs=outputs, reference_outputs=wanted)
        testing.log_feedback(key=result["key"], score=result["score"])
    assert result["score"] == 1.0
"""


@pytest.mark.slow
def test_a_jury_judges_in_tests_of_langsmiths_pytest_plugin(tmp_path, monkeypatch):
    (tmp_path / "test_sum.py").write_text(PLUGIN_TEST, "utf-8")
    monkeypatch.setenv("LANGSMITH_TEST_TRACKING", "false")
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # all others that are installed take seconds
    plugins = ("-p", "no:cacheprovider", "-p", "langsmith.pytest_plugin")
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *plugins, str(tmp_path)],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert "1 passed" in ran.stdout, ran.stdout + ran.stderr


@pytest.mark.parametrize("traced", [True, False])
def test_trace_sends_the_prompts_of_the_judges_to_langsmith(traced):
    with LangSmith() as server:
        Thread(target=server.serve_forever, daemon=True).start()
        client = Client(api_url=f"http://127.0.0.1:{server.server_address[1]}", api_key="key", auto_batch_tracing=False)
        critic = Critic(judge_model(), "answer_relevance", name="truth")
        with tracing_context(enabled=True, client=client):
            for evaluate in (JuryEvaluator(critic, trace=traced), JuryEvaluator(critic, trace=not traced)):
                assert evaluate(inputs="Why is the sky blue?", outputs="Rayleigh.")["score"] == 1.0
        wait_for_all_tracers()
        client.flush()
        prompts = [body for command, path, body in server.sent if command == "POST" and b"Why is the sky" in body]
        server.shutdown()
    assert len(prompts) == 1
