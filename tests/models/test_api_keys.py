"""Keys and addresses that cannot be sent, or would be stored: refused at construction, and never repeated."""

import pickle

import pytest
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI
from support.bad_keys import ADDRESSES, BAD, QUERIES, SECRET, refusal

from jury_adapters import ConfigurationError, Critic
from jury_adapters.config import load_jury
from jury_adapters.decision import DecisionCritic
from jury_adapters.models.registry import resolve_model
from jury_adapters.testing import a_case


def by_argument(monkeypatch, key="k", url="http://localhost:1"):
    return Critic("m", "faithfulness", name="c", api_key=key, base_url=url)


def by_environment(monkeypatch, key="k", url="http://localhost:1"):
    monkeypatch.setenv("OPENAI_API_KEY", key)
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    return Critic("openai:m", "faithfulness", name="c")


def by_anthropics_environment(monkeypatch, key="k", url="http://localhost:1"):
    monkeypatch.setenv("ANTHROPIC_API_KEY", key)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
    return Critic("anthropic:m", "faithfulness", name="c")


def by_client(monkeypatch, key="k", url="http://localhost:1"):
    return Critic("m", "faithfulness", name="c", client=AsyncOpenAI(api_key=key, base_url=url))


def by_anthropic_client(monkeypatch, key="k", url="http://localhost:1"):
    client = AsyncAnthropic(auth_token=key, base_url=url)
    return Critic("m", "faithfulness", name="c", client=client, api_key="sk-other")


def by_decision_model(monkeypatch, key="k", url="http://localhost:1"):
    return DecisionCritic("m", "faithfulness", api_key=key, base_url=url)


WAYS = (
    by_argument, by_environment, by_anthropics_environment, by_client, by_anthropic_client, by_decision_model,
)  # fmt: skip


@pytest.mark.parametrize("make", WAYS)
@pytest.mark.parametrize("fault", BAD)
def test_a_key_that_cannot_be_sent_is_refused_at_construction(make, fault, monkeypatch):
    told = refusal(make, monkeypatch, key=BAD[fault])
    assert "a key is printable ASCII on one line" in told
    assert SECRET not in told


@pytest.mark.parametrize("make", WAYS)
@pytest.mark.parametrize("kind", ADDRESSES)
def test_an_address_with_user_information_is_refused_at_construction(make, kind, monkeypatch):
    told = refusal(make, monkeypatch, url=ADDRESSES[kind])
    assert "contains a user name or a password" in told
    assert SECRET not in told


@pytest.mark.parametrize("make", WAYS)
@pytest.mark.parametrize("kind", QUERIES)
def test_an_address_with_a_query_or_a_fragment_is_refused_at_construction(make, kind, monkeypatch):
    told = refusal(make, monkeypatch, url=QUERIES[kind])
    assert "contains a query or a fragment" in told
    assert SECRET not in told


def test_a_jury_file_whose_address_has_a_query_is_refused():
    with pytest.raises(ConfigurationError, match=r"jurors\[0\]: base_url contains a query") as caught:
        load_jury(f"jurors: [{{criterion: x, model: 'ollama:m', base_url: '{QUERIES['with a query']}'}}]\n")
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("make", WAYS)
def test_other_keys_and_addresses_are_taken(make, monkeypatch):
    make(monkeypatch, key="correct horse battery staple")


def test_a_message_names_the_source(monkeypatch):
    assert "OPENAI_API_KEY contains a line break" in refusal(by_environment, monkeypatch, key=BAD["line feed"])
    assert "api_key= contains a character outside ASCII" in refusal(by_argument, monkeypatch, key=BAD["not ASCII"])
    assert "OPENAI_BASE_URL contains" in refusal(by_environment, monkeypatch, url=ADDRESSES["with a name"])


def test_a_key_that_was_replaced_by_a_bad_one_is_refused_too(server, monkeypatch):
    critic = by_environment(monkeypatch, url=server.openai)
    monkeypatch.setenv("OPENAI_API_KEY", BAD["line feed"])
    judgment = critic.judge(a_case())
    assert judgment.error is not None
    assert SECRET not in judgment.to_json()
    assert server.count == 0


def test_a_pickle_has_no_user_information_and_no_key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    data = pickle.dumps(resolve_model("openai:m", base_url="http://localhost:1/v1"))
    assert SECRET.encode() not in data
    assert b"http://localhost:1/v1" in data
