"""Keys and addresses of LangChain models: refused where they cannot be sent, hidden where an answer repeats them."""

from urllib.parse import unquote

import httpx
import pytest
from langchain_core.runnables import RunnableLambda
from langchain_openai import AzureChatOpenAI, ChatOpenAI
from pydantic import SecretStr
from support.bad_keys import ADDRESSES, BAD, SECRET, refusal
from support.leaked_keys import BODIES, KEY, assert_body_hidden, assert_hidden, judged, plain_body
from support.vendor import Act

from jury_adapters import Critic, Status
from jury_adapters.models.langchain import LangChainModel


def by_langchain(monkeypatch, key="k", url="http://localhost:1"):
    return Critic(ChatOpenAI(model="m", api_key=SecretStr(key), base_url=url), "faithfulness", name="c")


def by_langchains_fallback(monkeypatch, key="k", url="http://localhost:1"):
    first = ChatOpenAI(model="m", api_key=SecretStr("k"), base_url="http://localhost:1")
    return LangChainModel(first.with_fallbacks([ChatOpenAI(model="m", api_key=SecretStr(key), base_url=url)]))


MAKERS = (by_langchain, by_langchains_fallback)


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("fault", BAD)
def test_a_key_that_cannot_be_sent_is_refused_at_construction(make, fault, monkeypatch):
    told = refusal(make, monkeypatch, key=BAD[fault])
    assert "a key is printable ASCII on one line" in told
    assert SECRET not in told


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("kind", ADDRESSES)
def test_an_address_with_user_information_is_refused_at_construction(make, kind, monkeypatch):
    told = refusal(make, monkeypatch, url=ADDRESSES[kind])
    assert "contains a user name or a password" in told
    assert SECRET not in told


@pytest.mark.parametrize("make", MAKERS)
def test_other_keys_and_addresses_are_taken(make, monkeypatch):
    make(monkeypatch, key="correct horse battery staple")


def test_a_message_names_the_source(monkeypatch):
    assert "openai_api_key of ChatOpenAI" in refusal(by_langchain, monkeypatch, key=BAD["line feed"])


def test_a_model_without_fields_is_taken():
    assert LangChainModel(RunnableLambda(lambda messages: "YES")).address == ""


def chat(server, **options):
    return ChatOpenAI(**{"model": "m", "api_key": SecretStr(KEY), "base_url": server.openai, **options})


WAYS = {"sent by us": chat, "called": lambda server: LangChainModel(chat(server), traced=True)}


@pytest.mark.corpus
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("body", BODIES)
def test_no_result_store_or_log_has_a_key_that_the_answer_repeats(server, tmp_path, caplog, way, body):
    assert_body_hidden(server, body, {"model": WAYS[way](server)}, tmp_path, caplog)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("header", ["x-request-id", "request-id"])
def test_the_request_id_of_an_error_is_without_the_key(server, tmp_path, caplog, way, header):
    server.plan = lambda ask: Act(status=400, error={"message": "no", "param": KEY}, headers={header: f"r-{KEY}"})
    judgment, texts = judged({"model": WAYS[way](server)}, tmp_path, caplog)
    assert judgment.status is Status.ERROR
    assert_hidden(texts)


def test_a_key_in_a_header_of_a_model_is_hidden_too(server, tmp_path, caplog):
    server.plan = lambda ask: Act(raw=plain_body(ask.headers["x-gateway-token"]))
    model = chat(server, api_key=SecretStr("k"), default_headers={"x-gateway-token": KEY})
    _, texts = judged({"model": model}, tmp_path, caplog)
    assert_hidden(texts)


async def provided():
    return KEY


@pytest.mark.parametrize(
    "make",
    [
        lambda server: ChatOpenAI(model="m", api_key=provided, base_url=server.openai),
        lambda server: ChatOpenAI(model="m", api_key=lambda: KEY, base_url=server.openai),
        lambda server: AzureChatOpenAI(  # old versions want a provider for their synchronous client too
            azure_endpoint=server.url,
            api_version="2024-10-21",
            azure_ad_async_token_provider=provided,
            azure_ad_token_provider=lambda: KEY,
        ),
        lambda server: chat(server, api_key="none-0123", default_query={"api_key": KEY}),
        lambda server: chat(server, api_key="none-0123", http_async_client=httpx.AsyncClient(headers={"x-key": KEY})),
    ],
    ids=["a key of an async function", "a key of a function", "a token for Azure", "a parameter", "an HTTP client"],
)
def test_other_secrets_that_a_model_sends_are_hidden_too(server, tmp_path, caplog, make):
    server.plan = lambda ask: Act(raw=plain_body(KEY))
    _, texts = judged({"model": make(server)}, tmp_path, caplog)
    (ask,) = server.asks
    assert KEY in f"{ask.headers} {unquote(ask.query)}"
    assert "says [key]" in texts["json"]
    assert_hidden(texts)
