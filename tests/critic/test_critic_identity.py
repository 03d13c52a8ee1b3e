"""A store never serves the answer of one model for another, and serves that of the same one in every process."""

import asyncio
import functools
import json
import pickle

import pytest
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI
from support.batch_vendor import BatchServer
from support.identity import astatus_of, check_told_apart, critic, status_of
from support.scripts import run_script
from support.vendor import VendorServer

from jury_adapters import CascadedJury, ConfigurationError, Critic, Ensemble, PairwiseCritic, Status
from jury_adapters import judge as a_judge
from jury_adapters.batch_api import BatchModel
from jury_adapters.core.background.judge_queue import JudgeQueue
from jury_adapters.core.cascade import Tier
from jury_adapters.decision import DecisionCritic
from jury_adapters.judges import llm
from jury_adapters.models.base import Reply
from jury_adapters.models.function import FunctionModel
from jury_adapters.models.registry import resolve_model
from jury_adapters.store import Store
from jury_adapters.testing import ScriptedModel, a_case

pytestmark = pytest.mark.corpus

KEY = "sk-test-0123456789"
YES = '{"reasoning": "so it says", "answer": "YES"}'
NO = '{"reasoning": "so it says", "answer": "NO"}'


def named(server):
    return critic("gpt-4o-mini", base_url=server.openai)


def named_with_vendor(server):
    return critic("openai:gpt-4o-mini", base_url=server.openai, api_key=KEY)


def claude(server):
    return critic("anthropic:claude-x", base_url=server.anthropic, api_key=KEY)


def in_a_jury(server):
    return Ensemble([named(server)])


@pytest.mark.parametrize("make", [named, named_with_vendor, claude, in_a_jury])
def test_another_server_is_asked_although_the_store_has_an_answer(make, two_servers, tmp_path):
    check_told_apart(lambda server: status_of(make(server), tmp_path / "runs.db"), two_servers)


@pytest.mark.parametrize(
    ("model", "kind", "address"),
    [
        ("gpt-4o-mini", AsyncOpenAI, lambda server: server.openai),
        ("claude-x", AsyncAnthropic, lambda server: server.anthropic),
    ],
)
def test_another_server_of_a_client_is_asked(model, kind, address, two_servers, tmp_path):
    async def run(server):
        async with kind(api_key=KEY, base_url=address(server)) as client:
            return await astatus_of(critic(model, client=client), tmp_path / "runs.db")

    check_told_apart(lambda server: asyncio.run(run(server)), two_servers)


@pytest.mark.parametrize(
    ("model", "variable", "address"),
    [
        ("openai:gpt-4o-mini", "OPENAI_BASE_URL", lambda server: server.openai),
        ("anthropic:claude-x", "ANTHROPIC_BASE_URL", lambda server: server.anthropic),
    ],
)
def test_another_server_in_the_environment_is_asked(model, variable, address, two_servers, tmp_path, monkeypatch):
    def judge(server):
        monkeypatch.setenv(variable, address(server))
        return status_of(critic(model, api_key=KEY), tmp_path / "runs.db")

    check_told_apart(judge, two_servers)


def test_a_decision_model_is_known_by_its_address(tmp_path):
    with VendorServer() as first, VendorServer() as second:
        for server in (first, second, first, second):
            asked = DecisionCritic("decider", "faithfulness", base_url=server.openai)
            assert status_of(asked, tmp_path / "runs.db") is Status.PASS
        assert (first.count, second.count) == (1, 1)


def test_how_the_address_was_given_makes_no_difference(server, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.openai}/")
    given = [
        critic("openai:gpt-4o-mini", api_key=KEY),
        critic("openai:gpt-4o-mini", api_key="sk-another-0123456789"),
        critic("openai:gpt-4o-mini", api_key=KEY, base_url=server.openai),
        critic("openai:gpt-4o-mini", api_key=KEY, base_url=server.openai.replace("http://", "HTTP://")),
        critic("gpt-4o-mini", client=AsyncOpenAI(api_key=KEY)),
    ]
    assert len({one.fingerprint for one in given}) == 1


def test_the_headers_of_a_client_may_choose_another_model():
    def asked(**headers):
        return critic("m", client=AsyncOpenAI(api_key=KEY, base_url="http://localhost:1", default_headers=headers))

    assert asked(**{"x-provider": "a"}).fingerprint != asked(**{"x-provider": "b"}).fingerprint
    assert asked(**{"X-Api-Key": "a"}).fingerprint == asked(**{"X-Api-Key": "b"}).fingerprint


def test_batches_and_direct_requests_share_judgments(tmp_path):
    with BatchServer() as server:
        address = server.base_url("openai")
        model = BatchModel("gpt-4o-mini", base_url=address, folder=tmp_path / "batches")
        assert critic(model).fingerprint == critic("gpt-4o-mini", base_url=address).fingerprint
        other = BatchModel("gpt-4o-mini", base_url=f"{address}/other", folder=tmp_path / "batches")
        assert critic(model).fingerprint != critic(other).fingerprint


# In other processes.

# For each line a process of its own, forked before anything of the package has run.
SCRIPT = """
import json, os, sys
from support.identity import critic, status_of
from jury_adapters.config import load_jury
for store, jury, variables in json.loads(sys.argv[1]):
    if os.fork() == 0:
        os.environ.update(variables)
        judge = load_jury(jury) if jury else critic("openai:gpt-4o-mini")
        print(judge.fingerprint, status_of(judge, store), flush=True)
        os._exit(0)
    assert os.wait()[1] == 0
"""


def in_processes(*runs, jury=None, **variables):
    """Fingerprint and status from one process after another, each given a store and its environment."""
    told = [[str(store), jury and str(jury), {"OPENAI_API_KEY": KEY, **environment}] for store, environment in runs]
    ran = run_script(SCRIPT, json.dumps(told), env=variables)
    assert ran.code == 0, ran.err
    return [line.split() for line in ran.out.splitlines()]


@pytest.mark.slow
def test_the_environment_of_a_process_decides_and_its_key_does_not(two_servers, tmp_path):
    first, second = two_servers
    store = tmp_path / "runs.db"
    one, other = in_processes(
        (store, {"OPENAI_BASE_URL": first.openai}), (store, {"OPENAI_BASE_URL": second.openai}), PYTHONHASHSEED="3"
    )
    assert one[1] == "PASS"
    assert other[1] == "FAIL"
    assert one[0] != other[0]
    rotated = {"OPENAI_BASE_URL": first.openai, "OPENAI_API_KEY": "sk-rotated-0123456789"}
    assert in_processes((store, rotated), PYTHONHASHSEED="7") == [one]
    assert (first.count, second.count) == (1, 1)


@pytest.mark.slow
def test_a_jury_file_is_served_in_another_process(two_servers, tmp_path):
    first, second = two_servers
    store, jury = tmp_path / "runs.db", tmp_path / "jury.yaml"
    jury.write_text("jurors:\n  - {rubric: faithfulness, model: 'openai:gpt-4o-mini'}\n")
    said = in_processes(*((store, {"OPENAI_BASE_URL": one.openai}) for one in (first, second, first)), jury=jury)
    assert [status for _, status in said] == ["PASS", "FAIL", "PASS"]
    assert (first.count, second.count) == (1, 1)


def test_a_pickled_critic_keeps_its_address(two_servers, tmp_path, monkeypatch):
    first, second = two_servers
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", first.openai)
    asked = critic("openai:gpt-4o-mini")
    packed = pickle.dumps(asked)
    monkeypatch.setenv("OPENAI_BASE_URL", second.openai)
    loaded = pickle.loads(packed)
    assert loaded.fingerprint == asked.fingerprint
    assert status_of(loaded, tmp_path / "runs.db") is Status.PASS
    assert (first.count, second.count) == (1, 0)


# Functions and objects without an identity.


async def ask(prompt):
    return YES


async def refuse(prompt, reply=NO):
    return reply


class Asked:
    async def __call__(self, prompt):
        return YES


NAMELESS = [
    ask,
    functools.partial(refuse, reply=YES),
    Asked(),
    FunctionModel(lambda prompt, reply=YES: refuse(prompt, reply)),
]
NEEDS_NAME = r"a store cannot tell the model 'function:.*Give the critic a name: Critic\(model, ..., name='name'\)"


@pytest.mark.parametrize("model", NAMELESS)
def test_a_bare_function_needs_a_name_in_a_store(model, tmp_path):
    store = tmp_path / "runs.db"
    with pytest.raises(ConfigurationError, match=NEEDS_NAME):
        critic(model, store=store)
    plain = critic(model)
    assert status_of(plain) is Status.PASS  # without a store it needs none
    for judge in (plain, Ensemble([plain]), PairwiseCritic(critic_of_pairs(model)), plain.with_fallbacks([plain])):
        with pytest.raises(ConfigurationError, match=NEEDS_NAME):
            next(judge.judge_many([a_case()], store=store))
    with pytest.raises(ConfigurationError, match=NEEDS_NAME):
        JudgeQueue(CascadedJury([Tier("only", plain, "final")]), store=store)


def critic_of_pairs(model):
    return Critic(model, "pairwise")


def test_the_name_of_a_ready_judge_is_not_the_users(tmp_path):
    with pytest.raises(ConfigurationError, match=NEEDS_NAME):
        llm.faithfulness(ask, store=tmp_path / "runs.db")
    with pytest.raises(ConfigurationError, match=NEEDS_NAME):
        next(llm.rag_jury(ask).judge_many([a_case()], store=tmp_path / "runs.db"))
    assert llm.faithfulness(ask).name == "faithfulness"
    assert status_of(llm.faithfulness(ask, name="ours"), tmp_path / "runs.db") is Status.PASS


@pytest.mark.parametrize(
    "make",
    [
        lambda function, name: Critic(function, "faithfulness", name=name),
        lambda function, name: critic(FunctionModel(function, name=name)),
    ],
)
def test_functions_are_known_by_the_names_given_to_them(make, tmp_path):
    def of(answer):
        async def function(prompt):
            return answer

        return function

    store = tmp_path / "runs.db"
    assert status_of(make(of(YES), "one"), store) is Status.PASS
    assert status_of(make(of(NO), "two"), store) is Status.FAIL
    assert status_of(make(of(NO), "one"), store) is Status.PASS  # from the store: it goes by the name


def test_the_name_of_a_critic_makes_no_difference_to_a_model_with_an_identity():
    model = resolve_model("m", base_url="http://localhost:1/v1")
    assert len({Critic(model, "faithfulness", name=name).fingerprint for name in ("", "one", "two")}) == 1


def test_two_nameless_functions_at_once_do_not_share_an_answer():
    def of(answer):
        async def function(prompt):
            await asyncio.sleep(0.05)
            return answer

        return critic(function)

    async def run():
        return await asyncio.gather(of(YES).ajudge(a_case()), of(NO).ajudge(a_case()))

    assert [judgment.status for judgment in asyncio.run(run())] == [Status.PASS, Status.FAIL]


def test_a_nameless_function_inside_a_function_is_asked_and_not_recorded(tmp_path):
    inner = critic(ask)

    @a_judge(name="outer")
    async def outer(case):
        return await inner.ajudge(case)

    assert status_of(outer, tmp_path / "runs.db") is Status.PASS
    with Store(tmp_path / "runs.db") as store:
        assert store.count() == 0


class Ours:
    """A model of the user's own: named as the protocol demands, with an address where it has one."""

    def __init__(self, answer, **attributes):
        self.name, self.model, self.answer = "ours:judge-1", "judge-1", answer
        vars(self).update(attributes)

    async def complete(self, prompt, schema=None, options=None):
        return Reply(self.answer)


def test_a_model_of_ones_own_is_known_by_name_and_address(tmp_path):
    store = tmp_path / "runs.db"
    assert status_of(critic(Ours(YES)), store) is Status.PASS
    assert status_of(critic(Ours(NO)), store) is Status.PASS  # from the store: it has the same name
    assert status_of(critic(Ours(NO, base_url="http://localhost:1")), store) is Status.FAIL
    assert status_of(critic(Ours(YES, address="http://localhost:2")), store) is Status.PASS
    assert critic(ScriptedModel([YES])).fingerprint != critic(Ours(YES)).fingerprint


def test_a_client_that_does_not_say_its_address_needs_a_name(tmp_path):
    class AsyncOurs:
        api_key = KEY

        async def post(self, path, **arguments):
            return {"choices": [{"message": {"content": YES}}]}

    with pytest.raises(ConfigurationError, match="a store cannot tell the model 'openai:m' from others"):
        critic("m", client=AsyncOurs(), store=tmp_path / "runs.db")
    assert status_of(Critic("m", "faithfulness", name="c", client=AsyncOurs()), tmp_path / "runs.db") is Status.PASS


def test_no_secret_stands_in_the_store(server, tmp_path):
    secret = "sk-secret-0123456789abcdef"

    async def judged():
        hidden = {"key": "hidden-word"}
        async with AsyncOpenAI(api_key=secret, base_url=server.openai, default_query=hidden) as client:
            judge = critic("openai:m", client=client)
            await astatus_of(judge, tmp_path / "runs.db")
            return judge

    judge = asyncio.run(judged())
    written = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert json.dumps(judge.fingerprint).encode()[1:10] in written
    assert secret.encode() not in written
    assert b"hidden-word" not in written
