"""Names, objects and functions as models, and prices."""

import asyncio
import subprocess
import sys

import openai
import pytest
from fact_tables import each_row
from model_asking import failed, prompt
from model_server import KEY

from jury_adapters import Budget, Case, ConfigurationError, Critic, Image
from jury_adapters.models import ChatModel, FunctionModel, ModelError, model_of, open_model, prices, set_price
from jury_adapters.models.prices import PRICES, price, usage_of
from jury_adapters.models.vendors import VENDORS
from jury_adapters.testing import ScriptedModel


async def yes(text):
    return f"yes to {text}"


def test_every_vendor_opens(monkeypatch):
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://mine.example.com/")
    for name, vendor in VENDORS.items():
        model = open_model(f"{name.upper()}:the/model:8b", api_key=KEY)
        assert isinstance(model, ChatModel)
        assert (model.name, model.model) == (f"{name}:the/model:8b", "the/model:8b")
        assert model.identity == f"{name}:the/model:8b at {vendor.address.format('https://mine.example.com')}"


@each_row("name", ["gpt-4o", "nobody:m", "openai:", ":m", "", "openai/gpt-4o"])
def test_a_name_without_a_vendor_lists_the_vendors(name):
    with pytest.raises(
        ConfigurationError, match="is not 'vendor:model' with one of the vendors openai, anthropic, azure"
    ):
        open_model(name)


def test_azure_needs_an_address():
    with pytest.raises(ConfigurationError, match="AZURE_OPENAI_ENDPOINT"):
        open_model("azure:m", api_key=KEY)
    assert open_model("azure:m", api_key=KEY, base_url="https://x.example/v1/").identity.endswith(
        "https://x.example/v1"
    )


ADDRESSES = (
    "localhost:8000", "ftp://host/v1", "http://", "http://user:secret-word@host/v1", "http://host/v1?key=secret-word",
    "http://host/#secret-word", "http://host:notaport/v1", "http://[host/v1",
)  # fmt: skip


def test_an_address_that_is_none_or_holds_a_secret_is_refused():
    for address in ADDRESSES:
        with pytest.raises(ConfigurationError, match=r"^base_url= is an http:// or https:// address") as caught:
            open_model("vllm:m", base_url=address)
        assert "secret-word" not in str(caught.value)


@pytest.mark.parametrize("client", [openai.OpenAI(api_key=KEY), "a client", object()])
def test_a_client_is_an_asynchronous_one_of_the_right_sdk(client):
    with pytest.raises(ConfigurationError, match="client= takes an asynchronous client of the openai SDK"):
        open_model("openai:m", client=client)
    with pytest.raises(ConfigurationError, match="of the anthropic SDK, not AsyncOpenAI"):
        open_model("anthropic:m", client=openai.AsyncOpenAI(api_key=KEY))


def test_a_client_brings_its_address_and_key():
    client = openai.AsyncOpenAI(api_key=KEY)
    for other in ({"base_url": "http://host/v1"}, {"api_key": KEY}):
        with pytest.raises(ConfigurationError, match="client= brings its own address and key"):
            open_model("openai:m", client=client, **other)


def test_what_distinguishes_clients_is_in_the_identity_without_secrets():
    def identity(**options):
        return open_model("openai:m", client=openai.AsyncOpenAI(api_key=KEY, **options)).identity

    plain = identity()
    assert identity(default_headers={"Authorization": "Bearer x", "X-Api-Key": "y"}) == plain
    assert identity(default_headers={"x-portkey-provider": "@a"}) != identity(
        default_headers={"x-portkey-provider": "@b"}
    )
    routed = identity(default_headers={"X-Route": "to-the-large-one"})
    assert routed != plain
    assert identity(default_headers={"X-Route": "to-the-large-one"}) == routed
    assert identity(default_query={"api-version": "1"}) != identity(default_query={"api-version": "2"})
    assert identity(base_url="http://elsewhere/v1") != plain


def test_a_missing_sdk_is_one_sentence():
    program = (
        "import sys; sys.modules['anthropic'] = None\n"
        "from jury_adapters.models import open_model\n"
        "open_model('anthropic:m', api_key='k')"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert run.stderr.splitlines()[-1].endswith(
        "ConfigurationError: this model needs the anthropic SDK: pip install 'jury-adapters[anthropic]'"
    )


def test_the_port_loads_no_sdk_and_no_framework():
    program = (
        "import sys; import jury_adapters.models.names, jury_adapters.models.limits\n"
        "print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    heavy = {"openai", "anthropic", "langchain_core", "llama_index", "aiohttp", "httpx", "httpx2", "genai_prices"}
    assert not heavy & set(run.stdout.split())


# Objects and functions


def test_what_is_a_model():
    scripted = ScriptedModel(["x"])
    assert model_of(scripted) is scripted
    assert model_of("ollama:m").name == "ollama:m"
    assert isinstance(model_of(yes), FunctionModel)

    class Callable:
        async def __call__(self, text):
            return text

    assert asyncio.run(model_of(Callable()).complete(prompt("a", ""))).text == "a"


@each_row("given", [None, 7, len, ScriptedModel, lambda text: text, ["openai:m"]])
def test_what_is_no_model(given):
    with pytest.raises(ConfigurationError, match=r"^a model is 'vendor:model', a LangChain chat model"):
        model_of(given)


def test_a_function_gets_the_text_and_its_usage_is_unknown():
    model = FunctionModel(yes)
    reply = asyncio.run(model.complete(prompt("it?")))
    assert reply.text == "yes to You judge.\n\nit?"
    assert (reply.usage.calls, reply.usage.cost_complete) == (1, False)
    assert (model.name, model.model, repr(model)) == ("function:yes", "yes", "FunctionModel('function:yes')")


def test_a_function_with_a_price_of_nothing_is_free():
    async def local(text):
        return text

    model = FunctionModel(local)
    set_price(model.name, input_per_million=0.0, output_per_million=0.0)
    assert asyncio.run(model.complete(prompt())).usage.cost_complete


@each_row(
    ("error", "kind", "transient"),
    [
        (ValueError("bug"), "refused", False), (TimeoutError("late"), "timeout", True),
        (ConnectionResetError("gone"), "unavailable", True), (OSError("disk"), "unavailable", True),
        (ModelError("wait", "rate_limited", transient=True, retry_after=3.0, sent=False), "rate_limited", True),
        (openai.APIConnectionError(request=None), "unavailable", True),
    ],
    ids=repr,
)  # fmt: skip
def test_the_exception_of_a_function_is_converted(error, kind, transient):
    async def broken(text):
        raise error

    found = asyncio.run(failed(FunctionModel(broken).complete(prompt())))
    assert (found.kind, found.transient) == (kind, transient)
    assert found.retry_after == getattr(error, "retry_after", None)


def test_a_function_takes_no_images_and_returns_a_text():
    async def number(text):
        return 7

    with pytest.raises(ModelError, match="a function takes no images"):
        asyncio.run(FunctionModel(yes).complete(prompt(images=[Image(url="https://a/b.png")])))
    with pytest.raises(ModelError, match="the function returned int, not a text"):
        asyncio.run(FunctionModel(number).complete(prompt()))


def test_a_cancelled_function_ends():
    ended = []

    async def slow(text):
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(True)

    async def main():
        task = asyncio.create_task(FunctionModel(slow).complete(prompt()))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert ended == [True]


# Prices


COSTS = {
    "openai:gpt-4o-mini": 0.75, "openai:gpt-4o-mini-2024-07-18": 0.75, "anthropic:claude-haiku-4-5": 6.0,
    "anthropic:claude-haiku-4-5-20251001": 6.0, "google_genai:gemini-2.5-flash": 2.8, "ollama:anything": 0.0,
    "openai:no-such-model": None, "nobody:gpt-4o-mini": None, "openai:gpt-4o-mini-tuned": None,
}  # fmt: skip


def test_the_price_of_a_model():
    found = {name: price(name, 1_000_000, 1_000_000) for name in COSTS}
    assert found == pytest.approx(COSTS)


def test_our_table_agrees_with_genai_prices():
    known = {name: prices._of_package(*name.split(":")) for name in PRICES}
    differing = {
        name: (PRICES[name], found) for name, found in known.items() if found and found != pytest.approx(PRICES[name])
    }
    assert len([found for found in known.values() if found]) >= 15
    assert differing == {}


def test_without_genai_prices_our_table_counts():
    program = (
        "import sys; sys.modules['genai_prices'] = None\n"
        "from jury_adapters.models.prices import price\n"
        "print(price('openai:gpt-4o-2024-08-06', 10**6, 0), price('openai:new', 1, 1))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["2.5", "None"]


def test_a_price_that_is_set_comes_first(monkeypatch):
    monkeypatch.setattr(prices, "SET", {})
    set_price("openai:gpt-4o-mini", input_per_million=1.0, output_per_million=2.0)
    assert price("openai:gpt-4o-mini", 10**6, 10**6) == 3.0
    assert usage_of("openai:gpt-4o-mini", 1000, 500).cost_usd == pytest.approx(0.002)


def test_a_server_on_another_machine_has_no_price_before_it_is_set():
    for address in ("http://localhost:8000/v1", "http://127.0.0.1:9/v1", "https://[::1]/v1", "http://LOCALHOST/v1"):
        assert open_model("vllm:at-home", base_url=address).price(1000, 10) == 0.0
    for number, host in enumerate(
        ("http://gpu-box:8000", "http://192.0.2.2", "https://host.ai", "http://localhost.ai")
    ):
        away = open_model(f"vllm:away-{number}", base_url=f"{host}/v1")
        assert away.price(1000, 10) is None
    case = {"answer": "Yes.", "contexts": ["Yes."]}
    (judgment,) = Critic(away, "faithfulness").judge_many([case], budget=(budget := Budget(max_usd=1.0)))
    assert ("price of the call is unknown" in judgment.error, budget.refused) == (True, 1)
    claude = open_model("anthropic:claude-haiku-4-5", api_key=KEY)  # whose API requires a limit on replies
    assert Critic(claude, "faithfulness", max_tokens=None).estimate(Case.of(case)).cost_complete
    set_price(away.name, input_per_million=1.0, output_per_million=2.0)
    assert away.price(10**6, 0) == 1.0


@each_row(("name", "given", "taken"), [
    ("gpt", 1.0, 1.0), ("a:b", -1.0, 1.0), ("a:b", 1.0, float("nan")), ("a:b", float("inf"), 1.0),
])  # fmt: skip
def test_a_price_is_a_finite_number_for_a_vendors_model(name, given, taken):
    with pytest.raises(ConfigurationError, match=r"^a price is two numbers from 0 for 'vendor:model'"):
        set_price(name, input_per_million=given, output_per_million=taken)


def test_a_stated_cost_that_cannot_be_is_ignored():
    for stated in (-1.0, float("nan"), 1e9, "0.1", None, 0):  # OpenRouter says 0 where another vendor bills the call
        assert usage_of("ollama:m", 5, 5, stated).cost_usd == 0.0
        assert usage_of("openrouter:m", 5, 5, stated).cost_complete is False
