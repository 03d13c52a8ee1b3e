"""Offline means offline: what is sent during an evaluation, and what is not."""

import asyncio
import http.server
import inspect
import json
import os
import socket
import threading
import uuid
from datetime import UTC, datetime

import pytest
import requests
from langchain_core.runnables import RunnableLambda
from langsmith import Client, tracing_context, utils
from langsmith.schemas import Example, Run
from support.judge_model import judge_model

from jury_adapters import ConfigurationError, Critic, Ensemble, Judge
from jury_adapters.checks import NotEmpty
from jury_adapters.core.context import run_context
from jury_adapters.judges.presets import panel
from jury_adapters.langchain import JuryEvaluator
from jury_adapters.langchain.langsmith import examples, offline_client
from jury_adapters.models.langchain import LangChainModel

pytestmark = pytest.mark.filterwarnings("ignore:'upload_(results|runs)' parameter is in beta")

NEW_NAME = "upload_runs" in inspect.signature(Client.evaluate).parameters  # instead of upload_results
SECRET = "the-secret-question"
DATA = [Example(id=uuid.uuid4(), inputs={"question": f"{SECRET} {i}"}, outputs={"answer": "4"}) for i in range(3)]


def critic(model=None):
    return Critic(model or judge_model(), "answer_relevance", name="critic")


def a_run():
    return Run(
        id=uuid.uuid4(), name="app", start_time=datetime.now(UTC), run_type="chain", trace_id=uuid.uuid4(),
        dotted_order="", inputs=DATA[0].inputs, outputs={"answer": "4"},
    )  # fmt: skip


@pytest.fixture(autouse=True)
def no_environment(monkeypatch):
    for name in os.environ:
        if name.startswith(("LANGSMITH", "LANGCHAIN")):
            monkeypatch.delenv(name)


@pytest.fixture
def attempts(monkeypatch):
    """Every attempt to reach anything, refused and written down."""
    found = []

    def refuse(what):
        def refused(*args, **kwargs):
            found.append((what, args[1:] if what.startswith("connect") else args))
            raise OSError("the network is refused")

        return refused

    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, refuse(name))
    monkeypatch.setattr(socket, "getaddrinfo", refuse("getaddrinfo"))
    return found


class Intake:
    """A local server in LangSmith's place, which writes down what it is sent."""

    def __init__(self):
        self.bodies = []
        intake = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self):
                intake.bodies.append((self.command, self.path, self.body()))
                reply = {}
                if self.path.endswith("/info"):
                    limits = {"size_limit": 100, "size_limit_bytes": 20_000_000, "scale_up_nthreads_limit": 1}
                    reply = {
                        "version": "0.14",
                        "batch_ingest_config": {
                            "use_multipart_endpoint": True, "scale_up_qsize_trigger": 1000, **limits
                        },
                    }  # fmt: skip
                data = json.dumps(reply).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(data)))
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.write(data)

            def body(self):
                if self.headers.get("Transfer-Encoding") != "chunked":
                    return self.rfile.read(int(self.headers.get("Content-Length") or 0))
                parts = []
                while size := int(self.rfile.readline(), 16):
                    parts.append(self.rfile.read(size))
                    self.rfile.readline()
                self.rfile.readline()
                return b"".join(parts)

            do_GET = do_POST = do_PATCH = answer

            def log_message(self, *args):
                return None

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()
        self.client = Client(api_url=f"http://127.0.0.1:{self.server.server_port}", api_key="k")

    def leaked(self):
        """Whether the secret has arrived, once everything has been sent."""
        self.client.flush()
        return any(SECRET.encode() in body for _, _, body in self.bodies)

    def close(self):
        self.client.flush()
        self.client.close()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture
def intake():
    running = Intake()
    yield running
    running.close()


EVALUATORS = {
    "run evaluator": lambda: JuryEvaluator(Ensemble([critic(), critic(judge_model(model_name="two"))], name="jury")),
    "function": lambda: JuryEvaluator(critic(), key="function"),
    "asynchronous function": lambda: JuryEvaluator(critic(), key="function").acall,
    "ready": lambda: JuryEvaluator(
        panel("faithfulness", judge_model()),
        key="faithfulness",
        field_map={"answer": "outputs.answer", "contexts": "outputs.context"},
    ),
}
EACH = pytest.mark.parametrize("make", EVALUATORS.values(), ids=EVALUATORS)


def target(inputs):
    """An application with a LangChain model in a LangChain chain."""
    answer = (RunnableLambda(lambda text: text) | judge_model("4")).invoke(inputs["question"])
    return {"answer": answer.content, "context": ["4 is the answer"]}


async def atarget(inputs):
    answer = await (RunnableLambda(lambda text: text) | judge_model("4")).ainvoke(inputs["question"])
    return {"answer": answer.content, "context": ["4 is the answer"]}


def plain_target(inputs):
    return {"answer": "4", "context": ["4 is the answer"]}


def evaluated(client, evaluators, target=target):
    rows = client.evaluate(target, data=DATA, evaluators=evaluators, upload_results=False)
    return [row["evaluation_results"]["results"][0] for row in rows]


def aevaluated(client, evaluators, target=atarget):
    async def run():
        rows = await client.aevaluate(target, data=DATA, evaluators=evaluators, upload_results=False)
        return [row["evaluation_results"]["results"][0] async for row in rows]

    return asyncio.run(run())


LOOPS = pytest.mark.parametrize("loop", [evaluated, aevaluated], ids=["evaluate", "aevaluate"])


@EACH
@LOOPS
def test_with_our_client_nothing_is_attempted(attempts, loop, make):
    client = offline_client()
    found = loop(client, [make()])
    client.flush()
    assert [result.score for result in found] == [1.0] * 3
    assert attempts == []


@LOOPS
def test_nor_when_the_environment_asks_for_tracing(attempts, monkeypatch, loop):
    monkeypatch.setenv("LANGSMITH_TRACING", "true")
    monkeypatch.setenv("LANGSMITH_API_KEY", "k")
    client = offline_client()
    found = loop(client, [EVALUATORS["run evaluator"]()])
    client.flush()
    assert [result.score for result in found] == [1.0] * 3
    assert attempts == []


def test_the_refusal_itself_works(attempts):
    """The control: what LangSmith's client is made of is refused and written down."""
    with pytest.raises(requests.ConnectionError):
        requests.get("http://127.0.0.1:9", timeout=1)
    assert attempts


@EACH
def test_our_critics_are_not_traced_even_by_an_ordinary_client(intake, make):
    found = evaluated(intake.client, [make()], plain_target)
    assert [result.score for result in found] == [1.0] * 3
    assert not intake.leaked()


def test_other_judges_are(intake):
    model = judge_model("Y")

    def theirs(inputs, outputs):
        return {"key": "theirs", "score": model.invoke(f"Judge {inputs}").content == "Y"}

    evaluated(intake.client, [theirs], plain_target)
    assert intake.leaked()


def test_aevaluate_of_older_versions_uploads_the_target_itself(intake):
    async def plain(inputs):
        return {"answer": "4"}

    aevaluated(intake.client, [JuryEvaluator(critic())], plain)
    assert intake.leaked() is not NEW_NAME


def test_the_new_name_of_the_parameter_keeps_an_evaluation_local_too(attempts):
    options = {"upload_runs" if NEW_NAME else "upload_results": False}
    results = offline_client().evaluate(plain_target, data=DATA, evaluators=[JuryEvaluator(critic())], **options)
    assert len(list(results)) == 3
    assert attempts == []


@pytest.mark.parametrize("options", [{}, {"upload_results": True}, {"upload_runs": True}])
def test_results_cannot_be_uploaded_offline(options):
    with pytest.raises(ConfigurationError, match="offline and can upload nothing"):
        offline_client().evaluate(plain_target, data=DATA, evaluators=[JuryEvaluator(critic())], **options)


@pytest.mark.parametrize("trace", [True, False])
@pytest.mark.parametrize("asynchronous", [True, False])
def test_traces_are_kept_when_asked_for(intake, trace, asynchronous):
    """As one run per row, which the result names as its source, with the model's run inside."""
    evaluator = JuryEvaluator(critic(LangChainModel(judge_model(), traced=True)), key="a-traced-jury", trace=trace)
    run_id = uuid.uuid4()
    with tracing_context(enabled=True, client=intake.client):
        if asynchronous:
            result = asyncio.run(evaluator.aevaluate_run(a_run(), DATA[0], run_id))
        else:
            result = evaluator.evaluate_run(a_run(), DATA[0], run_id)
    assert result.score == 1.0
    assert result.source_run_id == (run_id if trace else None)
    assert intake.leaked() is trace
    sent = b"".join(body for _, _, body in intake.bodies)
    assert (b"a-traced-jury" in sent, str(run_id).encode() in sent) == (trace, trace)


def test_while_judging_tracing_is_off_and_the_work_is_marked_as_ours():
    seen = []

    def watch(case):
        seen.append((utils.tracing_is_enabled(), run_context().judging))
        return True

    evaluated(offline_client(), [JuryEvaluator(Judge.from_function(watch, name="watch"))], plain_target)
    assert seen == [(False, True)] * 3
    assert run_context().judging is False


def test_the_client_takes_no_key_from_the_environment(monkeypatch):
    monkeypatch.setenv("LANGSMITH_API_KEY", "a-real-key")
    monkeypatch.setenv("LANGSMITH_ENDPOINT", "https://example.org")
    client = offline_client()
    assert client.api_key == "offline"
    assert client.api_url == "http://127.0.0.1:1"


@pytest.mark.parametrize("options", [
    {"evaluators": [Ensemble([lambda case: True], name="j")]}, {"summary_evaluators": [NotEmpty()]},
])  # fmt: skip
def test_a_judge_among_the_evaluators_is_refused_with_the_evaluator_to_make(options):
    client, data = offline_client(), examples([{"question": "?"}])
    with pytest.raises(ConfigurationError, match=r"is a judge; evaluators=\[JuryEvaluator\(judge\)\]"):
        client.evaluate(lambda inputs: inputs, data=data, upload_results=False, **options)
    with pytest.raises(ConfigurationError, match="is a judge"):
        asyncio.run(client.aevaluate(lambda inputs: inputs, data=data, upload_results=False, **options))
