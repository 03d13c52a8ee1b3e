"""A store tells LlamaIndex LLMs apart by server, model and settings; LlamaIndex's own where they are installed."""

import asyncio
import json
import os
import subprocess
import sys
from importlib.util import find_spec
from typing import Any

import pytest
from llama_index.core.llms import ChatMessage, ChatResponse, CustomLLM, LLMMetadata, MockLLM
from openai import AsyncOpenAI
from pydantic import Field, PrivateAttr
from support.identity import check_told_apart, critic, status_of

from jury_adapters import ConfigurationError, Critic
from jury_adapters.models.llama_index import LlamaIndexModel

KEY = "sk-test-0123456789"


class SmallOpenAI(CustomLLM):
    """An LLM with the fields of LlamaIndex's ``OpenAI``; it makes its client when it is first asked."""

    model: str = "gpt-4o-mini"
    temperature: float = 0.1
    max_tokens: int | None = None
    additional_kwargs: dict[str, Any] = Field(default_factory=dict)
    reasoning_effort: str | None = None
    default_headers: dict[str, str] | None = None
    api_key: str = KEY
    api_base: str = "http://localhost:1/v1"
    max_retries: int = 3
    timeout: float = 60.0
    _aclient: Any = PrivateAttr(default=None)

    @property
    def metadata(self):
        return LLMMetadata(model_name=self.model, is_chat_model=True)

    def complete(self, prompt, formatted=False, **kwargs):
        raise AssertionError("a critic asks by achat")

    stream_complete = complete

    async def achat(self, messages, **kwargs):
        if self._aclient is None:
            self._aclient = AsyncOpenAI(api_key=self.api_key, base_url=self.api_base)
        sent = [{"role": one.role.value, "content": one.content} for one in messages]
        raw = await self._aclient.chat.completions.create(model=self.model, messages=sent)
        return ChatResponse(message=ChatMessage(role="assistant", content=raw.choices[0].message.content), raw=raw)


def openai_kinds():
    kinds = [SmallOpenAI]
    if find_spec("llama_index.llms") and find_spec("llama_index.llms.openai_like"):
        from llama_index.llms.openai import OpenAI
        from llama_index.llms.openai_like import OpenAILike

        kinds += [OpenAI, lambda **fields: OpenAILike(**{"is_chat_model": True, **fields})]
    return kinds


@pytest.fixture(params=openai_kinds())
def make(request):
    usual = {"model": "gpt-4o-mini", "api_base": "http://localhost:1/v1", "api_key": KEY}
    return lambda **fields: request.param(**{**usual, **fields})


def fingerprint(llm):
    return critic(llm).fingerprint


def test_another_server_is_asked_although_the_store_has_an_answer(make, two_servers, tmp_path):
    def judge(server):
        return status_of(critic(make(api_base=server.openai)), tmp_path / "runs.db")

    check_told_apart(judge, two_servers)


@pytest.mark.parametrize(
    "other",
    [
        {"api_base": "http://localhost:2/v1"}, {"model": "gpt-4o"}, {"temperature": 0.7}, {"max_tokens": 17},
        {"additional_kwargs": {"seed": 1}}, {"reasoning_effort": "high"}, {"default_headers": {"x-provider": "a"}},
    ],
    ids=json.dumps,
)  # fmt: skip
def test_what_decides_the_answers_tells_llms_apart(make, other):
    assert fingerprint(make()) != fingerprint(make(**other))


def test_keys_and_how_a_call_is_made_make_no_difference(make):
    assert fingerprint(make()) == fingerprint(make(api_key="sk-another-0123456789", max_retries=7, timeout=3.0))
    assert fingerprint(make()) == fingerprint(make(api_base="HTTP://LOCALHOST:1/v1/?key=secret-word"))
    assert LlamaIndexModel(make(api_base="http://localhost:1/v1?key=secret-word")).address == "http://localhost:1/v1"


def test_a_client_of_the_users_own_gives_the_address(make):
    llm = make()
    llm._aclient = AsyncOpenAI(api_key=KEY, base_url="http://localhost:2/v1")
    assert LlamaIndexModel(llm).address == "http://localhost:2/v1"
    assert fingerprint(llm) != fingerprint(make())


def test_asking_makes_no_difference(make, server):
    llm = make(api_base=server.openai)
    before = fingerprint(llm)

    async def ask():
        await llm.achat([ChatMessage(role="user", content="hello")])
        after = fingerprint(llm)
        if llm._aclient is not None:
            await llm._aclient.close()
        return after

    assert asyncio.run(ask()) == before


def served(store, address):
    """Fingerprint and status by each kind of LLM, as a line of text."""
    extra = {"seed": 1, "extra_body": {"b": 1, "a": 2}}
    llms = [kind(model="gpt-4o-mini", api_base=address, additional_kwargs=extra) for kind in openai_kinds()]
    return [f"{critic(llm).fingerprint} {status_of(critic(llm), store)}" for llm in llms]


SCRIPT = """
import sys
from test_llama_identity import served
print(*served(*sys.argv[1:]), sep="\\n")
"""


def in_a_process(store, address, **variables):
    paths = os.pathsep.join([".", "tests", "tests/llama_index", os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(store), address],
        capture_output=True, text=True, check=False, timeout=120,
        env={**os.environ, "OPENAI_API_KEY": KEY, "PYTHONPATH": paths, **variables},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.slow
def test_another_process_is_served(two_servers, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    first, second = two_servers
    one, other = (served(tmp_path / "runs.db", server.openai) for server in (first, second))
    assert {line.split()[1] for line in one} == {"PASS"}
    assert {line.split()[1] for line in other} == {"FAIL"}
    asked = (first.count, second.count)
    again = in_a_process(tmp_path / "runs.db", first.openai, PYTHONHASHSEED="2", OPENAI_API_KEY="sk-rotated-0123456789")
    assert again == one
    assert (first.count, second.count) == asked


def test_an_llm_without_an_identity_needs_a_name(tmp_path):
    with pytest.raises(ConfigurationError, match=r"a store cannot tell the model 'llama_index:MockLLM' from others"):
        critic(MockLLM(max_tokens=3), store=tmp_path / "runs.db")
    critic(MockLLM(max_tokens=3))  # without a store it needs none
    named = [Critic(MockLLM(), "faithfulness", name=name, store=tmp_path / "runs.db") for name in ("one", "two")]
    assert named[0].fingerprint != named[1].fingerprint


if find_spec("llama_index.llms") and find_spec("llama_index.llms.anthropic"):
    from llama_index.llms.anthropic import Anthropic

    def test_another_server_of_claude_is_asked(two_servers, tmp_path):
        def judge(server):
            llm = Anthropic(model="claude-sonnet-4-6", base_url=server.anthropic, api_key=KEY)
            return status_of(critic(llm), tmp_path / "runs.db")

        check_told_apart(judge, two_servers)

    def test_another_server_of_claude_in_the_environment_is_asked(two_servers, tmp_path, monkeypatch):
        def judge(server):
            monkeypatch.setenv("ANTHROPIC_BASE_URL", server.anthropic)
            return status_of(critic(Anthropic(model="claude-sonnet-4-6", api_key=KEY)), tmp_path / "runs.db")

        check_told_apart(judge, two_servers)
