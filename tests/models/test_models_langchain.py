"""LangChain chat models as models, with the real packages against the local server."""

import asyncio
import copy
import importlib
import json
import pickle
from typing import Any

import pytest
from fact_tables import run_by
from langchain_core.caches import InMemoryCache
from langchain_core.callbacks import BaseCallbackHandler, get_usage_metadata_callback
from langchain_core.globals import set_llm_cache
from langchain_core.language_models import BaseChatModel, FakeListChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableLambda
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.graph import START, MessagesState, StateGraph
from langsmith.run_helpers import get_current_run_tree
from model_asking import SCHEMA, ask, failed, failure, prompt
from model_server import KEY, answer, error, response, well
from pydantic import Field

from jury_adapters import Budget, ConfigurationError, Critic, Image
from jury_adapters.core.context import context
from jury_adapters.models import ModelError, Options, model_of
from jury_adapters.models.limits import ask_model

USAGE = {"input_tokens": 11, "output_tokens": 4, "total_tokens": 15}


class Fake(BaseChatModel):
    """Chat model of our own, which follows a schema by a tool call, as many packages do."""

    text: Any = "plain"
    arguments: Any = None
    error: Any = None
    details: Any = Field(default_factory=dict)
    heard: Any = Field(default_factory=list)

    @property
    def _llm_type(self):
        return "fake"

    def bind_tools(self, tools, *, tool_choice=None, **options):
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools])

    def _generate(self, messages, stop=None, run_manager=None, tools=None, **options):
        self.heard.append((messages, tools, context().judging))
        if self.error is not None:
            raise self.error
        calls = [{"name": tools[0]["function"]["name"], "args": self.arguments, "id": "c"}] if tools else []
        message = AIMessage(
            self.text, tool_calls=calls if self.arguments else [], usage_metadata=USAGE, response_metadata=self.details
        )
        return ChatResult(generations=[ChatGeneration(message=message)])


class Recorder(BaseCallbackHandler):
    def __init__(self):
        self.events = []

    def on_chat_model_start(self, *arguments, **options):
        self.events.append("start")

    def on_llm_end(self, *arguments, **options):
        self.events.append("end")

    def on_llm_new_token(self, *arguments, **options):
        self.events.append("token")


def chat(vendor, server, **options):
    given = {"base_url": server.base_url(vendor), "api_key": KEY, "max_retries": 0, **options}
    kind, name = ("ChatAnthropic", "claude") if vendor == "anthropic" else ("ChatOpenAI", "gpt-4o-mini")
    return getattr(importlib.import_module(f"langchain_{vendor}"), kind)(model=name, **given)


@pytest.fixture(params=["openai", "anthropic"])
def package(request):
    return request.param


# Replies


def test_the_reply_of_a_package_over_http(server, package):
    reply = ask(model_of(chat(package, server)))
    assert (
        (reply.text, reply.finish),
        (reply.usage.calls, reply.usage.input_tokens, reply.usage.output_tokens),
        reply.model,
    ) == (("echo: Is it so?", "stop"), (1, 11, 7), "gpt-test" if package == "openai" else "claude-test")


def test_the_limit_on_replies_is_that_of_the_model(server):
    """ChatAnthropic has one of its own, ChatOpenAI none."""
    case = {"question": "Is it so?", "answer": "Yes.", "contexts": ["Yes."]}
    for package, own, sent in (("openai", {}, 0), ("openai", {"max_tokens": 900}, 1), ("anthropic", {}, 1)):
        budget, critic = Budget(max_tokens=10**6), Critic(chat(package, server, **own), "faithfulness")
        next(critic.judge_many([case], budget=budget))
        assert (budget.refused, budget.spent.calls > 0) == (1 - sent, bool(sent)), (package, own)


def test_the_name_says_whose_prices_apply(server, package):
    model = model_of(chat(package, server))
    assert model.name == ("openai:gpt-4o-mini" if package == "openai" else "anthropic:claude")
    cost = ask(model).usage.cost_usd
    assert cost == pytest.approx(11 * 0.15e-6 + 7 * 0.6e-6 if package == "openai" else 0.0)


def test_the_object_keeps_its_settings(server):
    ask(model_of(chat("openai", server, temperature=0.7, max_tokens=9)), options=Options(0.0, 500, True))
    body = server.requests[0].body
    assert (body["temperature"], body.get("max_completion_tokens")) == (0.7, 9)
    assert "logprobs" not in body


def test_the_schema_reaches_openai_strictly(server):
    """Trap 15."""
    ask(model_of(chat("openai", server)), schema=SCHEMA)
    sent = server.requests[0].body["response_format"]["json_schema"]
    assert (sent["strict"], sent["name"], sent["schema"]["properties"]) == (True, "judgment", SCHEMA["properties"])


def test_the_schema_reaches_anthropic_as_a_tool(server):
    tool = {"type": "tool_use", "id": "t", "name": "judgment", "input": {"answer": "YES"}}
    server.plan = lambda request: [response(answer(request, content=[tool], stop_reason="tool_use"))]
    reply = ask(model_of(chat("anthropic", server)), schema=SCHEMA)
    assert (
        (json.loads(reply.text), reply.finish),
        server.requests[0].body["tools"][0]["input_schema"]["properties"],
    ) == (({"answer": "YES"}, "stop"), SCHEMA["properties"])


def test_a_schema_by_a_tool_of_any_package():
    model = Fake(arguments={"answer": "YES"})
    assert (
        json.loads(ask(model_of(model), schema=SCHEMA).text),
        ask(model_of(Fake(text="NO, I think")), schema=SCHEMA).text,
    ) == ({"answer": "YES"}, "NO, I think")


def test_a_model_without_schemas_is_asked_in_text():
    model = model_of(FakeListChatModel(responses=["YES"]))
    assert ask(model, schema=SCHEMA).text == "YES"


@pytest.mark.parametrize("plain", ["Invalid schema for response_format", "this model does not support tools"])
def test_a_refused_schema_is_left_out_now_and_later(server, package, plain):
    def plan(request):
        return error("400 Bad", plain)(request) if request.body.keys() & {"response_format", "tools"} else well(request)

    server.plan = plan
    model = model_of(chat(package, server))
    assert (ask(model, "one", SCHEMA).text, ask(model, "two", SCHEMA).text, len(server.requests)) == (
        "echo: one",
        "echo: two",
        3,
    )


def test_another_refusal_leaves_the_schema(server, package):
    server.plan = error("400 Bad", "the prompt is flagged")
    model = model_of(chat(package, server))
    found = failure(model, schema=SCHEMA)
    assert (found.kind, len(server.requests)) == ("refused", 1)


def test_a_reply_that_is_cut_off_under_a_schema_is_a_reply(server):
    choice = {"index": 0, "finish_reason": "length", "message": {"role": "assistant", "content": '{"ans'}}
    server.plan = lambda request: [response(answer(request, choices=[choice]))]
    reply = ask(model_of(chat("openai", server)), schema=SCHEMA)
    assert (reply.finish, reply.usage.input_tokens) == ("length", 11)


def test_a_refusal_is_a_reply(server):
    message = {"role": "assistant", "content": None, "refusal": "I will not."}
    server.plan = lambda request: [response(answer(request, choices=[{"message": message, "finish_reason": "stop"}]))]
    for schema in (None, SCHEMA):
        reply = ask(model_of(chat("openai", server)), schema=schema)
        assert (reply.finish, reply.detail[-11:]) == ("refusal", "I will not.")


@pytest.mark.parametrize(
    ("details", "finish"),
    [({"finish_reason": "MAX_TOKENS"}, "length"), ({"done_reason": "stop"}, "stop"), ({"stop_reason": "odd"}, "other")],
)
def test_why_it_ended(details, finish):
    assert ask(model_of(Fake(details=details))).finish == finish


def test_a_refusal_block_is_a_refusal():
    reply = ask(model_of(Fake(text=[{"type": "text", "text": "a"}, {"type": "refusal", "refusal": "no"}])))
    assert (reply.text, reply.finish, reply.detail) == ("a", "refusal", "no")


def test_probabilities_that_the_object_asks_for_are_read(server):
    token = {"token": "Y", "logprob": -0.1, "bytes": None, "top_logprobs": []}
    choice = {
        "index": 0, "finish_reason": "stop", "logprobs": {"content": [token], "refusal": None},
        "message": {"role": "assistant", "content": "Y"},
    }  # fmt: skip
    server.plan = lambda request: [response(answer(request, choices=[choice]))]
    tokens = ask(model_of(chat("openai", server, logprobs=True))).logprobs
    assert [(one.text, one.logprob) for one in tokens] == [("Y", -0.1)]


def test_images_are_standard_blocks(server, package):
    images = [Image(data=b"\x89PNG", media_type="image/png"), Image(url="https://example.com/a.png")]
    asyncio.run(model_of(chat(package, server)).complete(prompt("what?", images=images)))
    sent = json.dumps(server.requests[0].body["messages"][-1]["content"])
    assert sent.index("iVBORw==") < sent.index("https://example.com/a.png") < sent.index("what?")


# Outside the application


def test_callbacks_of_the_application_and_of_the_object_hear_nothing(server, package):
    """Trap 6."""
    own, outer = Recorder(), Recorder()
    object_ = chat(package, server, callbacks=[own])
    model = model_of(object_)

    async def app(_):
        return (await model.complete(prompt(), SCHEMA)).text + (await model.complete(prompt())).text

    asyncio.run(RunnableLambda(app).ainvoke("x", {"callbacks": [outer]}))
    assert own.events == outer.events == []
    assert object_.callbacks == [own]


@run_by(asyncio.run)
async def test_hooks_of_the_context_hear_nothing():
    model = model_of(Fake(details={"model_name": "fake-1"}))
    with get_usage_metadata_callback() as usage:
        await model.complete(prompt())
    assert usage.usage_metadata == {}


def test_no_token_of_a_judge_is_in_a_stream_of_the_application(server):
    model = model_of(chat("openai", server))

    async def node(state):
        judged = await model.complete(prompt("a secret judgment"))
        return {"messages": [AIMessage(f"judged {len(judged.text)} characters")]}

    graph = StateGraph(MessagesState).add_node("judge", node).add_edge(START, "judge").compile()

    async def main():
        found = [str(one) async for one in graph.astream({"messages": ["hi"]}, stream_mode="messages")]
        found += [str(one) async for one in graph.astream_events({"messages": ["hi"]}, version="v2")]
        return " ".join(found)

    streamed = asyncio.run(main())
    assert "judged 23 characters" in streamed
    assert "secret" not in streamed


def test_nothing_is_traced(monkeypatch):
    monkeypatch.setenv("LANGSMITH_TRACING", "true")
    monkeypatch.setenv("LANGSMITH_API_KEY", "nothing-is-sent")
    monkeypatch.setenv("LANGSMITH_ENDPOINT", "http://127.0.0.1:9")
    trees = []

    class Watching(Fake):
        def _generate(self, messages, stop=None, run_manager=None, **options):
            trees.append((get_current_run_tree(), run_manager.handlers))
            return super()._generate(messages, stop, run_manager, **options)

    ask(model_of(Watching()))
    assert trees == [(None, [])]


def test_the_call_is_marked_as_a_judges_own(server):
    model = Fake()
    ask(model_of(model))
    assert [judging for _, _, judging in model.heard] == [True]
    assert not context().judging


def test_a_client_that_the_first_call_makes_is_not_kept_in_the_object():
    class Lazy(Fake):
        client: Any = None

        def _generate(self, *arguments, **options):
            self.client = self.client or object()
            return super()._generate(*arguments, **options)

    model = Lazy()
    ask(model_of(model))
    assert (len(model.heard), model.client) == (1, None)


@pytest.mark.parametrize("where", ["own", "global"])
def test_caches_do_not_make_samples_equal(where):
    cache = InMemoryCache()
    model = Fake(cache=cache if where == "own" else None)
    if where == "global":
        set_llm_cache(cache)
    try:
        for _ in range(3):
            ask(model_of(model))
    finally:
        set_llm_cache(None)
    assert len(model.heard) == 3


# Event loops, errors, identity


def test_an_object_works_in_one_loop_after_another(server, package):
    """Trap 5: the packages share one pool of connections between objects and loops."""
    objects = [chat(package, server) for _ in range(2)]
    models = [model_of(one) for one in objects]
    for number in range(6):
        assert ask(models[number % 2], f"{number}", SCHEMA if number > 3 else None).text == f"echo: {number}"


def test_an_azure_object_works_in_several_loops(server):
    model = model_of(importlib.import_module("langchain_openai").AzureChatOpenAI(
        azure_deployment="judge", api_version="2024-10-21", azure_endpoint=f"http://127.0.0.1:{server.port}",
        api_key=KEY, max_retries=0,
    ))  # fmt: skip
    for number in range(3):
        assert ask(model, f"{number}").text == f"echo: {number}"
    assert server.requests[0].target.startswith("/openai/deployments/judge/chat/completions")


@run_by(asyncio.run)
async def test_connections_are_kept_within_a_loop(server, package):
    model, begun = model_of(chat(package, server)), server.connections
    for _ in range(5):
        await model.complete(prompt())
    assert server.connections - begun == 1


ERRORS = [
        ("429 Slow", "rate_limited", True), ("401 No", "account", False), ("500 Oops", "unavailable", True),
        ("400 Bad", "refused", False), ("307 Moved", "refused", False), ("404 None", "refused", False),
]  # fmt: skip


def test_errors_of_the_packages_have_their_kind_and_no_key(server, package):
    """Trap 7."""
    for line, kind, transient in ERRORS:
        server.plan = error(line, f"no: {KEY}", retry_after="7")
        found = failure(model_of(chat(package, server)))
        assert ((found.kind, found.transient, found.sent), found.retry_after) == (
            (kind, transient, False),
            None if "Moved" in line else 7.0,
        )


@pytest.mark.parametrize(
    ("raised", "kind"),
    [(TimeoutError("slow"), "timeout"), (ConnectionError("gone"), "unavailable"), (ValueError("bug"), "refused")],
)
def test_errors_of_other_packages(raised, kind):
    assert failure(model_of(Fake(error=raised))).kind == kind


@run_by(asyncio.run)
async def test_a_refused_call_is_tried_again_and_a_cancelled_one_ends(server, package):
    server.plans(error("500 Oops"), well, lambda request: [5.0])
    model = model_of(chat(package, server))
    assert (await ask_model(model, prompt("again"))).text == "echo: again"
    task = asyncio.create_task(model.complete(prompt("slow")))
    await asyncio.sleep(0.2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def test_a_reply_that_repeats_the_key_loses_it(server, package):
    server.plan = lambda request: [response(answer(request, f"key {KEY}"))]
    assert ask(model_of(chat(package, server))).text == "key [key]"


def test_the_identity_is_that_of_the_answers(server, package):
    def identity(**options):
        return model_of(chat(package, server, **options)).identity

    assert (identity(), identity(api_key="another-key-of-mine")) == (identity(), identity())
    assert KEY not in identity()
    others = {identity(temperature=0.5), identity(max_tokens=7), identity(base_url="http://elsewhere/v1"), identity()}
    assert len(others) == 4
    assert model_of(Fake(text="a")).identity != model_of(FakeListChatModel(responses=["a"])).identity


def test_an_address_of_the_environment_is_in_the_identity(monkeypatch):
    found = []
    for host in ("one", "two"):
        monkeypatch.setenv("OPENAI_BASE_URL", f"http://{host}.example/v1")
        monkeypatch.setenv("OPENAI_API_BASE", f"http://{host}.example/v1")
        found.append(model_of(importlib.import_module("langchain_openai").ChatOpenAI(model="m", api_key=KEY)).identity)
    assert found[0] != found[1]


def test_a_model_of_an_object_can_be_copied(server):
    model = model_of(Fake())
    ask(model)
    assert copy.deepcopy(model).identity == model.identity
    fake = model_of(FakeListChatModel(responses=["a"]))
    assert pickle.loads(pickle.dumps(fake)).identity == fake.identity


def test_wrappers_of_chat_models_are_refused(server):
    chat_model = FakeListChatModel(responses=["a"])
    for wrapped in (chat_model.with_retry(), chat_model.with_fallbacks([chat_model]), chat_model.bind(stop=["x"])):
        with pytest.raises(ConfigurationError, match="without with_retry"):
            model_of(wrapped)


def test_a_model_that_returns_no_message_says_so():
    class Odd(FakeListChatModel):
        async def ainvoke(self, *arguments, **options):
            return 7

    found = asyncio.run(failed(model_of(Odd(responses=["a"])).complete(prompt())))
    assert isinstance(found, ModelError)
    assert (found.kind, str(found)) == (
        "bad_reply",
        f"{model_of(Odd(responses=['a'])).name}: the model returned int, not a message",
    )
