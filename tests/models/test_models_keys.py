"""No key in any error, repr, log record, pickle, reply or identity. (test_models_faults.py has it for every fault.)"""

import asyncio
import copy
import importlib
import logging
import pickle

import anthropic
import openai
import pytest
from model_asking import SCHEMA, ask, failed, failure, prompt
from model_server import KEY, answer, error, response
from pydantic import SecretStr

from jury_adapters import ConfigurationError
from jury_adapters.models import FunctionModel, ModelError, Options, Reply, Token, open_model
from jury_adapters.models.keys import Key, Keys
from jury_adapters.models.names import model_of


def test_a_reply_that_repeats_the_key_loses_it(server, opened):
    changes = {"model": f"model of {KEY}"}
    server.plan = lambda request: [response(answer(request, f"your key is {request.key}.", **changes))]
    reply = ask(opened())
    assert reply.text == "your key is [key]."
    assert KEY not in repr(reply)


def test_a_reply_that_repeats_the_key_loses_its_tokens():
    tokens = (Token("secret-", -0.1), Token("key", -0.1))
    assert Keys(["secret-key"]).hidden_in_reply(Reply("secret-key", logprobs=tokens)).logprobs is None
    assert Keys(["secret-key"]).hidden_in_reply(Reply("fine", logprobs=tokens)).logprobs == tokens


def test_what_a_client_sends_in_headers_of_its_owner_is_removed_from_errors_and_replies(server):
    held = {"x-gateway": KEY, "cf-authorization": f"Bearer {KEY}-2"}
    url, chat = server.base_url("openai"), importlib.import_module("langchain_openai").ChatOpenAI
    for client in (
        chat(model="m", api_key="k", base_url=url, default_headers=held, max_retries=0),
        openai.AsyncOpenAI(api_key="k", base_url=url, default_headers=held),
        openai.AsyncOpenAI(api_key="k", base_url=url, default_query={"code": KEY}),
        anthropic.AsyncAnthropic(auth_token=KEY, base_url=server.base_url("anthropic")),
    ):
        prefix = type(client).__module__.partition(".")[0]
        model = model_of(client) if prefix == "langchain_openai" else open_model(f"{prefix}:m", client=client)
        server.plan = lambda request: [response(answer(request, f"{request.target} {request.headers}"))]
        assert "[key]" in (said := ask(model).text)
        assert KEY not in said
        server.plan = lambda request: error("403 No", f"{request.target} {[*request.headers.values()][-20:]}")(request)
        assert "[key]" in str(failure(model))


def test_a_key_is_hidden_also_where_json_escapes_it():
    for spelt in ("\\u0073ecret/key", "secret\\/key", "\\u0073\\u0065cret\\u002fkey"):
        assert "[key]" in Keys(["secret/key"]).hidden_in(f'{{"reasoning": "{spelt}"}}')


def test_placeholders_are_not_removed_from_replies():
    assert Keys(["none", ""]).hidden_in("none of it") == "none of it"


def test_no_key_in_what_describes_a_model(server, opened):
    model = opened()
    ask(model)
    shown = f"{model!r} {model} {model.identity} {model.account} {model.name} {Key(KEY, None, 'v').__dict__}"
    assert KEY not in shown


def test_no_key_in_log_records_of_ours_or_of_the_sdk(server, opened, caplog):
    with caplog.at_level(logging.DEBUG):
        ask(opened())
        server.plan = error("401 No", f"wrong key: {KEY}")
        failure(opened())
    assert not any(KEY in record.getMessage() + str(record.exc_text) for record in caplog.records)


def test_a_model_with_its_key_in_the_environment_is_pickled_without_it(server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    model = open_model("openai:m", base_url=server.base_url("openai"))
    ask(model)
    packed = pickle.dumps(model)
    assert KEY.encode() not in packed
    again = pickle.loads(packed)
    assert (again.identity, ask(again).text) == (model.identity, "echo: Is it so?")
    assert copy.deepcopy(model).identity == model.identity


def test_a_model_with_a_given_key_refuses_to_be_pickled(server):
    for model in (
        open_model("openai:m", base_url=server.base_url("openai"), api_key=KEY),
        open_model("openai:m", client=openai.AsyncOpenAI(api_key=KEY)),
    ):
        with pytest.raises(TypeError, match="cannot be pickled") as caught:
            pickle.dumps(model)
        assert KEY not in str(caught.value)


def test_errors_of_models_survive_pickling():
    found = ModelError("slow", "rate_limited", transient=True, retry_after=2.0, sent=False, status=429, parameter="p")
    again = pickle.loads(pickle.dumps(found))
    assert vars(again) == vars(found)
    assert str(again) == "slow"


@pytest.mark.parametrize("given", [KEY, SecretStr(KEY), f"  {KEY}\n"])
def test_a_key_is_a_text_or_a_secret(server, given):
    ask(open_model("openai:m", base_url=server.base_url("openai"), api_key=given))
    assert server.requests[0].key == KEY


@pytest.mark.parametrize("given", ["abc\ndefghij", "schlüssel-1", "a\x00bcdefgh"])
def test_a_key_that_no_header_can_hold_is_refused_without_showing_it(given):
    with pytest.raises(ConfigurationError, match="the key of openai has a character") as caught:
        open_model("openai:m", api_key=given)
    assert given not in str(caught.value)


@pytest.mark.parametrize("given", [None, "", "  "])
def test_a_missing_key_names_the_variable(given):
    with pytest.raises(ConfigurationError, match=r"^groq needs a key: set the environment variable GROQ_API_KEY"):
        open_model("groq:m", api_key=given)


def test_an_empty_variable_is_no_key(monkeypatch):
    monkeypatch.setenv("GROQ_API_KEY", " ")
    with pytest.raises(ConfigurationError, match="GROQ_API_KEY"):
        open_model("groq:m")


def test_the_key_of_a_vendor_goes_to_no_other(server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    ask(open_model("ollama:m", base_url=server.base_url("openai")), schema=SCHEMA, options=Options(0.0))
    assert KEY not in str(server.requests[0])


def test_a_function_that_shows_a_key_of_the_environment_loses_it(monkeypatch):
    monkeypatch.setenv("MY_API_KEY", KEY)

    async def leaky(text):
        raise ValueError(f"cannot ask with {KEY}")

    found = asyncio.run(failed(FunctionModel(leaky).complete(prompt())))
    assert str(found).endswith("ValueError: cannot ask with [key]")
    assert found.__context__ is None
