"""What goes to a server of LangSmith, here one of our own: verdicts as feedback, and no judge. Comparisons of runs."""

import asyncio
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from uuid import UUID, uuid4

import pytest
from langchain_core.runnables import RunnableLambda
from langchain_support import model
from langsmith import Client
from langsmith.evaluation.evaluator import comparison_evaluator
from langsmith.schemas import Example
from langsmith.schemas import Run as TracedRun
from scripted import HONEST, QUESTION, breaks

from jury_adapters import Ensemble, Run, Scorecard, abstain, judge
from jury_adapters.core.asking import JudgedRun
from jury_adapters.core.judgment import Judgment
from jury_adapters.langchain import (
    JuryCallbackHandler,
    JuryEvaluator,
    JuryPairwiseEvaluator,
    feedback_sink,
    offline_client,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore:'upload_.*' parameter is in beta"),
]


PROJECT = UUID("00000000-0000-4000-8000-000000000001")


@pytest.fixture
def server():
    """A server on this machine that keeps what it gets; requests to paths in ``refuses`` fail as often as it says."""
    got, refuses = [], {}

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self):
            size = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(size)
            if self.headers.get("Transfer-Encoding") == "chunked":
                while (length := int(self.rfile.readline().strip() or b"0", 16)) > 0:
                    body += self.rfile.read(length)
                    self.rfile.readline()
                self.rfile.readline()
            got.append((self.command, self.path, body))
            left = refuses.get(self.path, 0)
            refuses[self.path] = left - 1
            projects = [
                {
                    "id": str(PROJECT),
                    "name": "p",
                    "start_time": "2026-01-01T00:00:00",
                    "tenant_id": str(PROJECT),
                    "reference_dataset_id": None,
                }
            ]
            found = projects if self.path.startswith("/sessions") else {}
            said = json.dumps(found if left <= 0 else {"detail": "not there yet"}).encode()
            self.send_response(200 if left <= 0 else 404)
            self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        do_GET = do_POST = do_PATCH = _answer

        def log_message(self, *_):
            pass

    found = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=found.serve_forever, args=(0.01,), daemon=True).start()
    found.got, found.refuses = got, refuses
    found.client = Client(api_url=f"http://127.0.0.1:{found.server_port}", api_key="test", auto_batch_tracing=False)
    yield found
    found.shutdown()
    found.server_close()


def feedback_of(server):
    return {
        body["key"]: body
        for command, path, raw in server.got
        if (command, path) == ("POST", "/feedback") and (body := json.loads(raw))
    }


def card():
    return Scorecard(
        {"year": lambda case: ("2018" in case.answer, "looked for 2018"), "brief": lambda case: len(case.answer) < 5},
        name="card",
    )


def test_the_verdict_is_feedback_on_the_run_with_each_criterion(server):
    run_id = uuid4()
    handler = JuryCallbackHandler(card(), on_verdict=feedback_sink(server.client))
    RunnableLambda(lambda _: HONEST).invoke(QUESTION, {"callbacks": [handler], "run_id": run_id})
    handler.close()
    assert handler.counts == {"judged": 1}
    found = feedback_of(server)
    assert {key: (one["run_id"], one["score"], one["value"]) for key, one in found.items()} == {
        "card": (str(run_id), 0.5, "fail"),
        "card.year": (str(run_id), 1.0, "pass"),
        "card.brief": (str(run_id), 0.0, "fail"),
    }
    assert "looked for 2018" in found["card"]["comment"]
    assert found["card"]["feedback_source"]["metadata"]["status"] == "FAIL"
    assert found["card"]["feedback_source"]["type"] == "model"


def judged(judgment, run_id=None):
    return JudgedRun(Run(id=str(run_id or uuid4())), None, judgment)


def test_the_same_verdict_twice_is_one_feedback(server):
    one = judged(Judgment(status="PASS", critic="a"))
    send = feedback_sink(server.client, key="mine")
    send(one)
    send(one)
    ids = [json.loads(raw)["id"] for _, path, raw in server.got if path == "/feedback"]
    assert len(ids) == 2
    assert len(set(ids)) == 1


def test_jurors_are_feedback_on_request(server):
    jury = Ensemble({"a": lambda case: True, "b": breaks, "c": lambda case: True}, name="panel")
    feedback_sink(server.client, per_juror=True)(judged(jury.judge(answer=HONEST)))
    found = {key: (one.get("score"), one["value"]) for key, one in feedback_of(server).items()}
    assert found == {
        "panel": (1.0, "pass"),
        "panel.a": (1.0, "pass"),
        "panel.b": (None, "error"),
        "panel.c": (1.0, "pass"),
    }


def test_a_run_that_is_not_there_yet_is_tried_again(server):
    server.refuses["/feedback"] = 1
    feedback_sink(server.client)(judged(Judgment(status="PASS", critic="a")))
    assert [path for _, path, _ in server.got].count("/feedback") == 2
    assert feedback_of(server)["a"]["session_id"] == str(PROJECT)
    feedback_sink(server.client, project="other")(judged(Judgment(status="PASS", critic="a")))
    asked = [path for _, path, _ in server.got if path.startswith("/sessions")]
    assert len(asked) == 2
    assert ("name=default" in asked[0], "name=other" in asked[1]) == (True, True)


def test_a_server_that_is_down_is_an_error_of_the_sink_alone():
    client = Client(api_url="http://127.0.0.1:1", api_key="x", auto_batch_tracing=False, timeout_ms=100)
    handler = JuryCallbackHandler(lambda case: True, on_verdict=feedback_sink(client))
    handler.on_verdict = lambda one: feedback_sink(client)(JudgedRun(Run(id="no id of LangSmith"), None, one.judgment))
    assert RunnableLambda(str.upper).invoke("q", {"callbacks": [handler]}) == "Q"
    handler.close()
    assert handler.counts == {"judged": 1, "sink_errors": 1}


def test_a_slow_server_does_not_slow_the_application():
    def slow(one):
        time.sleep(0.3)

    handler = JuryCallbackHandler(lambda case: True, on_verdict=slow)
    started = time.perf_counter()
    for _ in range(5):
        RunnableLambda(str.upper).invoke("q", {"callbacks": [handler]})
    assert time.perf_counter() - started < 0.25
    assert handler.close()


@pytest.mark.parametrize("trace", [False, True])
def test_trap_13_judges_are_not_uploaded_unless_asked_for(server, trace):
    """An ordinary client, and a judge that asks a model of LangChain: its prompt is sent only with trace=True."""
    critic = model("yes")
    client = Client(api_url=f"http://127.0.0.1:{server.server_port}", api_key="test")

    def asks(case):
        return critic.invoke("PROMPT OF THE JUDGE").text == "yes"

    evaluator = JuryEvaluator(asks, key="k", trace=trace)
    data = [Example(id=uuid4(), inputs={"question": QUESTION}, outputs={})]
    (row,) = client.evaluate(lambda inputs: {"answer": HONEST}, data=data, evaluators=[evaluator], upload_results=False)
    client.flush()
    assert row["evaluation_results"]["results"][0].score == 1.0
    assert (b"PROMPT OF THE JUDGE" in b"".join(raw for _, _, raw in server.got)) is trace
    client.cleanup()


def test_trap_13_nor_are_those_of_a_handler_in_a_traced_application(server, monkeypatch):
    monkeypatch.setenv("LANGSMITH_TRACING", "true")
    monkeypatch.setenv("LANGSMITH_API_KEY", "test")
    monkeypatch.setenv("LANGSMITH_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
    critic = model("yes")

    def asks(case):
        return critic.invoke("PROMPT OF THE JUDGE").text == "yes"

    handler = JuryCallbackHandler(asks)
    from langchain_core.tracers import LangChainTracer

    tracer = LangChainTracer(client=Client(api_url=f"http://127.0.0.1:{server.server_port}", api_key="test"))
    RunnableLambda(lambda _: "WORDS OF THE APPLICATION").invoke(QUESTION, {"callbacks": [handler, tracer]})
    handler.close()
    tracer.client.flush()
    sent = b"".join(raw for _, _, raw in server.got)
    assert handler.counts == {"judged": 1}
    assert b"WORDS OF THE APPLICATION" in sent
    assert b"PROMPT OF THE JUDGE" not in sent
    tracer.client.cleanup()


# Comparisons


def traced_run(answer, error=None, example=None):
    return TracedRun(
        id=uuid4(), name="target", start_time="2026-01-01T00:00:00", run_type="chain", trace_id=uuid4(),
        inputs={"question": QUESTION}, outputs=None if error else {"answer": answer}, error=error,
        reference_example_id=example,
    )  # fmt: skip


@judge(labels=["A", "B", "tie"])
def newer(case):
    first, second = case.candidates
    return ("tie" if first == second else "A" if first > second else "B"), f"{first} against {second}"


def compare(evaluator, runs, example=None, how="call"):
    if how == "call":
        return evaluator(runs, example)
    if how == "acall":
        return asyncio.run(evaluator.acall(runs, example))
    found = comparison_evaluator(evaluator).compare_runs(runs, example)
    return {"key": found.key, "scores": found.scores, "comment": found.comment}


FORMS = pytest.mark.parametrize("how", ["call", "acall", "LangSmith"])


@FORMS
def test_trap_15_the_better_run_wins_in_either_order(how):
    evaluator = JuryPairwiseEvaluator(newer, key="newer")
    old, new = traced_run("In 2017."), traced_run("In 2018.")
    for runs in ([old, new], [new, old]):
        found = compare(evaluator, runs, how=how)
        assert found["key"] == "newer"
        assert found["scores"] == {old.id: 0.0, new.id: 1.0}
    assert "A in both orders: In 2018. against In 2017." in found["comment"]


@FORMS
def test_trap_15_a_preference_for_a_place_is_a_tie(how):
    first = JuryPairwiseEvaluator(judge(lambda case: "A", labels=["A", "B", "tie"]))
    runs = [traced_run("In 2017."), traced_run("In 2018.")]
    found = compare(first, runs, how=how)
    assert set(found["scores"].values()) == {0.5}
    assert "the position decided" in found["comment"]


@FORMS
def test_trap_15_a_tie_is_a_half(how):
    runs = [traced_run("In 2018."), traced_run("In 2018.")]
    assert set(compare(JuryPairwiseEvaluator(newer), runs, how=how)["scores"].values()) == {0.5}


def test_trap_15_a_jury_that_broke_a_tie_by_its_first_juror_says_tie():
    labels = ["A", "B", "tie"]
    jury = Ensemble(
        [newer, judge(lambda case: "B" if newer(case)[0] == "A" else "A", labels=labels, name="older")], tie="first"
    )
    runs = [traced_run("In 2017."), traced_run("In 2018.")]
    assert set(JuryPairwiseEvaluator(jury)(runs)["scores"].values()) == {0.5}


def test_a_plain_function_says_a_b_or_tie():
    evaluator = JuryPairwiseEvaluator(lambda case: "A" if "2018" in case.candidates[0] else "B")
    runs = [traced_run("In 2017."), traced_run("In 2018.")]
    assert list(evaluator(runs)["scores"].values()) == [0.0, 1.0]
    assert evaluator.__name__ == "preference"


@FORMS
@pytest.mark.parametrize("jury", [breaks, lambda case: abstain("cannot say"), lambda case: True, lambda case: "C"])
def test_without_a_preference_there_is_no_score(jury, how):
    runs = [traced_run("In 2017."), traced_run("In 2018.")]
    found = compare(JuryPairwiseEvaluator(jury), runs, how=how)
    assert set(found["scores"].values()) == {None}
    assert "no decision" in found["comment"]


@FORMS
def test_a_run_that_failed_loses_and_the_jury_is_not_asked(how):
    asked = []
    evaluator = JuryPairwiseEvaluator(lambda case: asked.append(case) or "A")
    fine, down = traced_run("In 2018."), traced_run(None, error="Bearer abcdefgh12345678 refused")
    found = compare(evaluator, [down, fine], how=how)
    assert found["scores"] == {down.id: 0.0, fine.id: 1.0}
    assert "abcdefgh" not in found["comment"]
    found = compare(evaluator, [down, traced_run(None, error="ValueError: too")], how=how)
    assert set(found["scores"].values()) == {None}
    assert asked == []


def test_each_is_compared_with_each_of_three():
    runs = [traced_run(f"In 201{year}.") for year in (7, 9, 8)]
    found = JuryPairwiseEvaluator(newer)(runs)
    assert list(found["scores"].values()) == [0.0, 1.0, 0.5]
    assert len(found["comment"].splitlines()) == 3


def test_fewer_than_two_runs_are_said():
    one = traced_run("In 2018.")
    assert JuryPairwiseEvaluator(newer)([one]) == {
        "key": "newer",
        "scores": {one.id: None},
        "comment": "there is no second run",
    }


def test_the_case_has_the_question_the_reference_and_both_answers():
    cases = []
    evaluator = JuryPairwiseEvaluator(lambda case: cases.append(case) or "A")
    example = Example(id=uuid4(), inputs={"question": "When?"}, outputs={"answer": HONEST})
    evaluator([traced_run("x"), traced_run("y")], example)
    assert sorted((one.question, one.reference, one.candidates, one.answer) for one in cases) == [
        ("When?", HONEST, ("x", "y"), None),
        ("When?", HONEST, ("y", "x"), None),
    ]


def test_runs_without_an_answer_or_of_strange_shape_have_no_score():
    strange = traced_run("x")
    strange.outputs = {"covered": True, "reason": "theft"}
    found = JuryPairwiseEvaluator(newer)([strange, traced_run("y")])
    assert set(found["scores"].values()) == {None}
    assert "give case=" in found["comment"]


def test_runs_of_different_examples_are_not_compared():
    runs = [traced_run("In 2017.", example=uuid4()), traced_run("In 2018.", example=uuid4())]
    found = JuryPairwiseEvaluator(newer)(runs)
    assert set(found["scores"].values()) == {None}
    assert "different examples" in found["comment"]


def test_an_offline_client_has_no_key_of_the_environment(monkeypatch):
    monkeypatch.setenv("LANGSMITH_API_KEY", "secret of the environment")
    client = offline_client()
    assert (client.api_key, client.api_url) == ("offline", "http://127.0.0.1:1")
    assert UUID(str(uuid4()))
