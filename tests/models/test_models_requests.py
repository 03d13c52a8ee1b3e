"""What is sent, and how answers are read: both protocols, by the SDKs and by wire.py."""

import asyncio
import json
import math

import pytest
from fact_tables import each_row
from hypothesis import given, settings
from hypothesis import strategies as st
from model_asking import SCHEMA, ask, failed, failure, prompt
from model_server import KEY, answer, error, response, well

from jury_adapters import Image
from jury_adapters.models import Options, Prompt, Turn, open_model
from jury_adapters.models.protocols import ANTHROPIC, OPENAI, text_of, tokens_of

ALL = Options(temperature=0.0, max_tokens=50, logprobs=True)
PNG = Image(data=b"\x89PNG", media_type="image/png")
LINK = Image(url="https://example.com/a.png")


def refusing(*words, message="Unsupported parameter: {} is not supported with this model.", line="400 Bad", named=True):
    """Refuse requests that have one of the parameters."""

    def plan(request):
        found = next((word for word in words if word in request.body), None)
        if found is None:
            return well(request)
        detail = {"param": found} if named else {}
        return error(line, message.format(found), **detail)(request)

    return plan


# Requests


def test_a_request_of_openai(server):
    model = open_model("openai:gpt", base_url=server.base_url("openai"), api_key=KEY)
    text = ask(model, "Zoë?", SCHEMA, ALL).text
    sent = server.requests[0]
    assert text == "echo: Zoë?"
    assert sent.target == "/v1/chat/completions"
    assert sent.headers["authorization"] == f"Bearer {KEY}"
    assert sent.headers["accept-encoding"] == "identity"
    assert sent.body == {
        "model": "gpt", "temperature": 0.0, "max_completion_tokens": 50, "logprobs": True, "top_logprobs": 20,
        "messages": [{"role": "system", "content": "You judge."}, {"role": "user", "content": "Zoë?"}],
        "response_format": {
            "type": "json_schema", "json_schema": {"name": "judgment", "strict": True, "schema": SCHEMA},
        },
    }  # fmt: skip


def test_a_request_of_anthropic(server):
    model = open_model("anthropic:claude", base_url=server.base_url("anthropic"), api_key=KEY)
    text = ask(model, "Zoë?", SCHEMA, ALL).text
    sent = server.requests[0]
    assert text == "echo: Zoë?"
    assert sent.target == "/v1/messages"
    assert sent.key == KEY
    assert "anthropic-version" in sent.headers
    assert sent.body == {
        "model": "claude", "max_tokens": 50, "system": "You judge.", "temperature": 0.0,
        "messages": [{"role": "user", "content": "Zoë?"}],
        "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}},
    }  # fmt: skip


def test_without_options_nothing_is_sent_but_what_the_vendor_requires(server, opened, vendor):
    asyncio.run(opened().complete(Prompt("", (Turn("user", "hi"),))))
    required = {"model", "messages", "max_tokens"} if vendor == "anthropic" else {"model", "messages"}
    assert server.requests[0].body.keys() == required


def test_a_repair_request_is_a_conversation(server, opened, vendor):
    asyncio.run(opened().complete(prompt("one").followed_by("no JSON", "JSON, please")))
    roles = [message["role"] for message in server.requests[0].body["messages"]]
    assert roles[-3:] == ["user", "assistant", "user"]


def test_images_come_before_the_text(server, opened, vendor):
    asyncio.run(opened().complete(prompt("what?", images=[PNG, LINK])))
    content = server.requests[0].body["messages"][-1]["content"]
    assert content[-1] == {"type": "text", "text": "what?"}
    sources = [one.get("source") or one["image_url"] for one in content[:2]]
    assert (
        sources
        == {
            "openai": [{"url": "data:image/png;base64,iVBORw=="}, {"url": "https://example.com/a.png"}],
            "anthropic": [
                {"type": "base64", "media_type": "image/png", "data": "iVBORw=="},
                {"type": "url", "url": "https://example.com/a.png"},
            ],
        }[vendor]
    )


def test_any_text_can_be_sent(server, opened):
    for text in ("\x00\x1b", "a" * 200_000, "\u2028 \U0001f600"):
        assert ask(opened(), text).text == f"echo: {text}"
        assert server.requests[-1].question == text


def test_headers_of_the_environment_go_to_the_vendor_alone(server, opened, vendor, monkeypatch):
    for name in ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.setenv(name, "secret-of-the-environment")
    for name in ("OPENAI_CUSTOM_HEADERS", "ANTHROPIC_CUSTOM_HEADERS"):
        monkeypatch.setenv(name, "X-Team: secret-of-the-environment\nAuthorization: Bearer secret-of-the-environment")
    ask(opened())
    if vendor == "openai":
        ask(open_model("vllm:m", base_url=server.base_url("openai")))
        assert server.requests[1].headers["authorization"] == "Bearer unused"
    assert server.requests[0].key == KEY
    assert "secret-of-the-environment" not in str([request.headers for request in server.requests])


def test_an_address_of_the_environment_is_the_vendors_own(server, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url("openai") + "/")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    model = open_model("openai:m")
    ask(model)
    assert model.identity == f"openai:m at {server.base_url('openai')}"
    assert server.requests[0].headers["openai-organization"] == "org-1"


def test_tls_uses_the_certificates_of_the_environment(tls_server, vendor, monkeypatch):
    options = {"base_url": tls_server.base_url(vendor), "api_key": KEY}
    refused = failure(open_model(f"{vendor}:m", **options))
    assert (refused.kind, refused.sent) == ("unavailable", False)
    monkeypatch.setenv("SSL_CERT_FILE", tls_server.certificate)
    assert ask(open_model(f"{vendor}:m", **options)).text == "echo: Is it so?"


# What a model refuses


@pytest.mark.parametrize(
    ("name", "word", "line", "named"),
    [
        ("openai", "temperature", "400 Bad Request", True),
        ("openai", "temperature", "422 Unprocessable", False),
        ("openai", "response_format", "400 Bad Request", True),
        ("openai", "response_format", "404 No endpoints", False),
        ("openai", "response_format", "500 Oops", False),
        ("openai", "logprobs", "400 Bad Request", True),
        ("openai", "logprobs", "501 Not Implemented", False),
        ("anthropic", "temperature", "400 Bad Request", False),
        ("anthropic", "output_config", "400 Bad Request", False),
    ],
)
def test_a_refused_parameter_is_left_out_now_and_later(server, name, word, line, named):
    server.plan = refusing(word, line=line, named=named)
    model = open_model(f"{name}:without-{word}-{line}", base_url=server.base_url(name), api_key=KEY)
    assert ask(model, "one", SCHEMA, ALL).text == "echo: one"
    assert ask(model, "two", SCHEMA, ALL).text == "echo: two"
    assert [word in request.body for request in server.requests] == [True, False, False]
    assert "top_logprobs" not in server.requests[1].body or word != "logprobs"


@pytest.mark.parametrize("name", ["openai:old", "vllm:new"])
def test_the_limit_on_tokens_takes_its_other_name(server, name):
    ours, theirs = ("max_completion_tokens", "max_tokens")[:: 1 if name == "openai:old" else -1]
    server.plan = refusing(ours, message="Unsupported parameter: '{}'. Use '" + theirs + "' instead.")
    model = open_model(name, base_url=server.base_url("openai"), api_key=KEY)
    for _ in range(2):
        assert ask(model, options=Options(max_tokens=9)).text == "echo: Is it so?"
    assert [request.body.get(theirs) for request in server.requests] == [None, 9, 9]


def test_several_refusals_are_learned_one_after_the_other(server, opened, vendor):
    server.plan = refusing("temperature", "response_format", "output_config", "logprobs")
    ask(opened(), "one", SCHEMA, ALL)
    assert len(server.requests) == (3 if vendor == "anthropic" else 4)
    assert not server.requests[-1].body.keys() & {"temperature", "response_format", "output_config", "logprobs"}


@pytest.mark.parametrize(
    ("message", "param"),
    [
        ("This model's maximum context length is 8192 tokens; max_tokens is too large", "max_tokens"),
        ("max_tokens: 90000 > 64000, which is the maximum allowed", None),
        ("your text on the temperature in Paris violates our policy", None),
        ("Invalid value", "messages"),
        ("model 'm' does not exist", "model"),
    ],
)
def test_other_refusals_teach_nothing(server, message, param):
    server.plan = error("400 Bad Request", message, **({"param": param} if param else {}))
    model = open_model(f"vllm:{message}", base_url=server.base_url("openai"))
    assert failure(model, options=ALL).kind == "refused"
    assert len(server.requests) == 1
    server.plan = well
    ask(model, options=ALL)
    assert server.requests[1].body.keys() == server.requests[0].body.keys()


def test_a_refusal_is_remembered_only_if_the_model_then_answers(server, opened):
    server.plan = error("400 Bad Request", "unsupported value: temperature", param="temperature")
    model = opened()
    failure(model, options=ALL)
    assert len(server.requests) == 2
    server.plan = well
    ask(model, options=ALL)
    assert "temperature" in server.requests[2].body


# Answers


def test_the_reply_has_text_usage_and_the_model_that_answered(server, opened, vendor):
    reply = ask(opened())
    assert (reply.text, reply.finish, reply.detail) == ("echo: Is it so?", "stop", "")
    assert reply.model == ("gpt-test" if vendor == "openai" else "claude-test")
    assert (reply.usage.calls, reply.usage.input_tokens, reply.usage.output_tokens) == (1, 11, 7)
    assert not reply.usage.cost_complete  # nobody knows the price


REASONS = {
    "stop": "stop", None: "stop", "length": "length", "max_tokens": "length", "content_filter": "filter",
    "SAFETY": "filter", "refusal": "refusal", "pause_turn": "other", "model_context_window_exceeded": "length",
    "error": "other", "something_new": "other", "end_turn": "stop", "stop_sequence": "stop",
}  # fmt: skip


def test_why_a_reply_ended():
    """Trap 16: an unknown reason is "other", so that a filtered or cut reply does not vote."""
    for reason, finish in REASONS.items():
        first = OPENAI.read({"choices": [{"finish_reason": reason, "message": {"content": "x"}}]}, "openai:m")
        second = ANTHROPIC.read({"content": [{"type": "text", "text": "x"}], "stop_reason": reason}, "anthropic:m")
        for found in (first, second):
            assert (found.finish, found.detail) == (finish, "" if finish == "stop" else reason)


def test_a_refusal_of_openai(server):
    message = {"role": "assistant", "content": None, "refusal": "I cannot judge that."}
    server.plan = lambda request: [
        response(answer(request, choices=[{"message": message, "finish_reason": "stop", "index": 0}]))
    ]
    reply = ask(open_model("openai:m", base_url=server.base_url("openai"), api_key=KEY))
    assert (reply.text, reply.finish, reply.detail) == ("", "refusal", "I cannot judge that.")


USAGES = [
    None, {}, [], "many", {"prompt_tokens": -1, "completion_tokens": 7, "input_tokens": -1, "output_tokens": 7},
     {"prompt_tokens": 10**12, "completion_tokens": 7, "input_tokens": 10**12, "output_tokens": 7},
     {"prompt_tokens": True, "completion_tokens": 7, "input_tokens": True, "output_tokens": 7},
     {"prompt_tokens": "11", "completion_tokens": 7, "input_tokens": "11", "output_tokens": 7},
     {"prompt_tokens": 0, "completion_tokens": 0, "input_tokens": 0, "output_tokens": 0},
]  # fmt: skip


def test_a_reply_without_plausible_counts_is_paid_for(server, opened):
    for usage in USAGES:
        server.plan = lambda request, usage=usage: [response(answer(request, usage=usage))]
        reply = ask(opened())
        assert reply.text == "echo: Is it so?"
        assert (reply.usage.calls, reply.usage.input_tokens, reply.usage.cost_complete) == (1, 0, False)


def test_anthropic_counts_cached_input_apart(server):
    usage = {"input_tokens": 10, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 1, "output_tokens": 2}
    server.plan = lambda request: [response(answer(request, usage=usage))]
    model = open_model("anthropic:claude-haiku-4-5", base_url=server.base_url("anthropic"), api_key=KEY)
    used = ask(model).usage
    assert (used.input_tokens, used.output_tokens) == (111, 2)
    assert used.cost_usd == pytest.approx(121e-6)


@each_row(("name", "cost"), [("openrouter:m", 0.25), ("openai:gpt-4.1", 78e-6), ("vllm:m", 0.0)])
def test_the_cost_that_a_server_states_counts_if_its_vendor_documents_it(server, name, cost):
    usage = {"prompt_tokens": 11, "completion_tokens": 7, "cost": 0.25}
    server.plan = lambda request: [response(answer(request, usage=usage))]
    used = ask(open_model(name, base_url=server.base_url("openai"), api_key=KEY)).usage
    assert (used.cost_usd, used.cost_complete) == (pytest.approx(cost), True)


def test_thinking_is_no_text():
    content = [{"type": "thinking", "thinking": "hm", "text": "hm"}, {"type": "text", "text": "a"}, {"text": "b"}]
    assert text_of([*content, None, 7, {"type": "text", "text": None}]) == "ab"
    assert text_of(None) == text_of(7) == ""


def test_probabilities_of_tokens(server):
    listed = [
        {"token": "Y", "logprob": -0.1, "top_logprobs": [{"token": "N", "logprob": -2}, {"token": "?"}, None]},
        {"token": "ES", "logprob": float("-inf")}, {"token": "no number"}, {"token": "!", "logprob": math.nan}, "x",
    ]  # fmt: skip
    choice = {"message": {"content": "YES"}, "finish_reason": "stop", "logprobs": {"content": listed}}
    server.plan = lambda request: [response(answer(request, choices=[choice]))]
    tokens = ask(open_model("vllm:m", base_url=server.base_url("openai")), options=ALL).logprobs
    assert [(token.text, token.logprob, token.alternatives) for token in tokens] == [
        ("Y", -0.1, (("N", -2.0),)), ("ES", -math.inf, ()),
    ]  # fmt: skip
    assert tokens_of({"content": []}) is tokens_of(None) is tokens_of({"content": "x"}) is None


odd = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=5), inside, max_size=3),
    max_leaves=8,
)
fields = st.sampled_from([
    "choices", "message", "content", "text", "type", "refusal", "finish_reason", "stop_reason", "usage", "model",
    "logprobs", "token", "logprob", "top_logprobs", "prompt_tokens", "completion_tokens", "input_tokens",
    "output_tokens", "cost", "error",
])  # fmt: skip
answers = st.recursive(
    odd, lambda inside: st.lists(inside, max_size=3) | st.dictionaries(fields, inside, max_size=5), max_leaves=30
)


@settings(max_examples=50, deadline=None)
@given(st.dictionaries(fields, answers, max_size=8))
def test_odd_answers_give_a_reply_or_none(found):
    for protocol in (OPENAI, ANTHROPIC):
        reply = protocol.read(found, "vllm:m")
        assert reply is None or (isinstance(reply.text, str) and reply.usage.calls == 1)
        json.dumps(None if reply is None else reply.usage.model_dump())


def test_many_questions_at_once_get_their_own_answers(server, opened):
    model = opened(timeout=60.0)
    server.plan = lambda request: [0.001 * (request.number % 7), response(answer(request))]

    async def main():
        return await asyncio.gather(*(model.complete(prompt(str(number))) for number in range(60)))

    assert [reply.text for reply in asyncio.run(main())] == [f"echo: {number}" for number in range(60)]


def test_a_timeout_says_how_long_it_was(server, opened):
    server.plan = lambda request: [1.0]
    found = asyncio.run(failed(opened(timeout=0.1).complete(prompt())))
    assert str(found).endswith("no whole answer within 0.1 s")
