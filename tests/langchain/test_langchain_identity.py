"""A store tells LangChain's chat models apart by server, model and settings, also in another process."""

import os
import subprocess
import sys

import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.runnables import ConfigurableField
from langchain_openai import AzureChatOpenAI, ChatOpenAI
from support.identity import check_told_apart, critic, status_of

from jury_adapters import ConfigurationError, Critic, Status
from jury_adapters.models.langchain import LangChainModel

KEY = "sk-test-0123456789"
YES = '{"reasoning": "so it says", "answer": "YES"}'
ADDRESS = "http://localhost:1/v1"


def chat(base_url=ADDRESS, **settings):
    return ChatOpenAI(**{"model": "gpt-4o-mini", "base_url": base_url, "api_key": KEY, **settings})


def fingerprint(model):
    return critic(model).fingerprint


WRAPPINGS = {
    "plain": lambda model: model,
    "with_retry": lambda model: model.with_retry(),
    "bind": lambda model: model.bind(stop=["END"]),
    "with_fallbacks": lambda model: model.with_fallbacks([chat(model="other")]),
    "configurable": lambda model: model.configurable_fields(temperature=ConfigurableField(id="temperature")),
}


@pytest.mark.parametrize("wrap", WRAPPINGS.values(), ids=WRAPPINGS)
def test_another_server_is_asked_although_the_store_has_an_answer(wrap, two_servers, tmp_path):
    def judge(server):
        return status_of(critic(wrap(chat(server.openai))), tmp_path / "runs.db")

    check_told_apart(judge, two_servers)


@pytest.mark.parametrize("variable", ["OPENAI_API_BASE", "OPENAI_BASE_URL"])
def test_another_server_in_the_environment_is_asked(variable, two_servers, tmp_path, monkeypatch):
    def judge(server):
        monkeypatch.setenv(variable, server.openai)
        return status_of(critic(ChatOpenAI(model="gpt-4o-mini", api_key=KEY)), tmp_path / "runs.db")

    check_told_apart(judge, two_servers)


def test_how_the_address_was_given_makes_no_difference(monkeypatch):
    given = {fingerprint(chat())}
    for variable in ("OPENAI_API_BASE", "OPENAI_BASE_URL"):
        with monkeypatch.context() as patched:
            patched.setenv(variable, f"{ADDRESS}/")
            given.add(fingerprint(ChatOpenAI(model="gpt-4o-mini", api_key=KEY)))
    assert len(given) == 1


def test_the_address_is_told():
    assert LangChainModel(chat("https://gate.example/v1/?key=secret-word")).address == "https://gate.example/v1"
    azure = AzureChatOpenAI(
        azure_endpoint="https://ours.openai.azure.com/", azure_deployment="judge", api_version="2024-10-21", api_key=KEY
    )
    assert LangChainModel(azure).address == "https://ours.openai.azure.com"


@pytest.mark.parametrize(
    "other",
    [
        chat("http://localhost:2/v1"),
        chat(model="gpt-4o"),
        chat(temperature=0.7),
        chat(seed=1),
        chat(model_kwargs={"prediction": "YES"}),
        chat(extra_body={"reasoning": {"effort": "high"}}),
        chat(default_headers={"x-provider": "a"}),
        chat(reasoning_effort="high"),
        chat().bind(stop=["END"]),
        chat().with_fallbacks([chat(model="gpt-4o")]),
        chat().with_fallbacks([chat("http://localhost:2/v1")]),
        chat().configurable_fields(temperature=ConfigurableField(id="t")).with_config(configurable={"t": 0.7}),
    ],
    ids=lambda model: type(model).__name__,
)
def test_what_decides_the_answers_tells_models_apart(other):
    assert fingerprint(chat()) != fingerprint(other)


def test_deployments_and_versions_of_azure_are_told_apart():
    def azure(**settings):
        given = {"azure_deployment": "judge", "api_version": "2024-10-21", **settings}
        return fingerprint(AzureChatOpenAI(azure_endpoint="https://ours.openai.azure.com/", api_key=KEY, **given))

    assert len({azure(), azure(azure_deployment="other"), azure(api_version="2025-01-01"), azure()}) == 3


@pytest.mark.parametrize(
    "same",
    [
        {"api_key": "sk-another-0123456789"},
        {"default_headers": {"Authorization": "Basic c2VjcmV0"}},
        {"max_retries": 7, "timeout": 3.0, "tags": ["judge"], "metadata": {"run": "1"}},
        {"organization": "org-1"},
    ],
)
def test_keys_and_how_a_call_is_made_make_no_difference(same):
    empty = {"default_headers": {}} if "default_headers" in same else {}
    assert fingerprint(chat(**empty)) == fingerprint(chat(**same))


def test_asking_makes_no_difference(server, tmp_path):
    model = chat(server.openai)
    before = fingerprint(model)
    assert status_of(critic(model)) is Status.PASS
    assert fingerprint(model) == before


SCRIPT = """
import sys
from langchain_openai import ChatOpenAI
from support.identity import critic, status_of
model = ChatOpenAI(model="gpt-4o-mini", temperature=0.5, seed=1).bind(stop=["END"])
print(critic(model).fingerprint, status_of(critic(model), sys.argv[1]))
"""


def served(store):
    """Fingerprint and status, by the server and with the key of the environment."""
    model = ChatOpenAI(model="gpt-4o-mini", temperature=0.5, seed=1).bind(stop=["END"])
    return [critic(model).fingerprint, str(status_of(critic(model), store))]


def in_a_process(store, **variables):
    paths = os.pathsep.join([".", "tests", os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(store)],
        capture_output=True, text=True, check=False, timeout=120,
        env={**os.environ, "PYTHONPATH": paths, **variables},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.slow
def test_another_process_is_served(two_servers, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    first, second = two_servers
    found = []
    for server in (second, first):
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai)
        found.append(served(tmp_path / "runs.db"))
    other, one = found
    assert (one[1], other[1]) == ("PASS", "FAIL")
    again = in_a_process(tmp_path / "runs.db", PYTHONHASHSEED="2", OPENAI_API_KEY="sk-rotated-0123456789")
    assert again == one
    assert (first.count, second.count) == (1, 1)


def test_a_model_without_an_identity_needs_a_name(tmp_path):
    store = tmp_path / "runs.db"
    nameless = FakeListChatModel(responses=[YES])
    for model in (nameless, nameless.with_retry(), nameless.bind(stop=["END"]), chat().with_fallbacks([nameless])):
        with pytest.raises(
            ConfigurationError, match=r"a store cannot tell the model 'langchain:.*Give the critic a name"
        ):
            critic(model, store=store)
    assert status_of(critic(nameless)) is Status.PASS  # without a store it needs none
    assert status_of(Critic(nameless, "faithfulness", name="one"), store) is Status.PASS
    other = FakeListChatModel(responses=[YES.replace("YES", "NO")])
    assert status_of(Critic(other, "faithfulness", name="two"), store) is Status.FAIL
    assert status_of(Critic(nameless, "faithfulness", name="one"), store) is Status.PASS
