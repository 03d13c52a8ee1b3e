"""The requests on the wire are those that the vendor's SDK would send."""

import asyncio
import gzip
import json
import zlib
from functools import partial

import anthropic
import openai
import pytest
from support.asking import complete
from support.wire import VENDORS, WireServer, reply, response
from support.wire_faults import KEY, critic

from jury_adapters import Critic, Rubric, Status
from jury_adapters.models.base import Options
from jury_adapters.models.registry import resolve_model
from jury_adapters.testing import a_case

VENDOR = pytest.mark.parametrize("vendor", VENDORS)
CLIENTS = {"openai": openai.AsyncOpenAI, "anthropic": anthropic.AsyncAnthropic}
PATHS = {"openai": "/chat/completions", "anthropic": "/v1/messages"}
SCHEMA = Rubric.bundled("faithfulness").reply_schema()
ODD = 'é \u2028 \x00 \U0001f600 "quotes" \\ </script> \x7f 日本'
# What belongs to the connection or to the SDK's own way of sending.
OWN = {"host", "connection", "content-length", "accept-encoding", "user-agent", "accept"}


@pytest.fixture
def wire():
    with WireServer() as server:
        yield server


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch):
    for name in ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)


def sent_by_sdk(wire, vendor, body):
    """The request of the SDK itself with this body."""

    async def post():
        async with CLIENTS[vendor](api_key=KEY, base_url=wire.base_url(vendor), max_retries=0) as client:
            await client.post(PATHS[vendor], body=body, cast_to=object)

    asyncio.run(post())
    return wire.requests[-1]


def ask(wire, vendor, prompt="Is it so?"):
    model = resolve_model(f"{vendor}:m", base_url=wire.base_url(vendor), api_key=KEY)
    complete(model, prompt, schema=SCHEMA, options=Options(max_tokens=300))
    return wire.requests[-1]


def without_own(headers):
    return {name: value for name, value in headers.items() if name not in OWN and not name.startswith("x-stainless")}


@VENDOR
@pytest.mark.parametrize("settings", [{}, {"OPENAI_ORG_ID": "org-1", "OPENAI_PROJECT_ID": "proj-2"}], ids=["", "org"])
def test_a_request_has_the_headers_of_the_sdk(wire, vendor, settings, monkeypatch):
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    ours = ask(wire, vendor)
    theirs = sent_by_sdk(wire, vendor, ours.json)
    assert (ours.method, ours.target) == (theirs.method, theirs.target)
    assert without_own(ours.headers) == without_own(theirs.headers)
    assert ours.key == KEY
    assert ours.headers["host"] == theirs.headers["host"]
    assert ours.headers["user-agent"]
    assert ours.headers["content-type"] == "application/json"


@VENDOR
@pytest.mark.parametrize("prompt", ["Is it so?", ODD, "long " * 300_000], ids=["plain", "odd", "1.5 MB"])
def test_a_request_has_the_body_that_the_sdk_would_send(wire, vendor, prompt):
    ours = ask(wire, vendor, prompt)
    theirs = sent_by_sdk(wire, vendor, ours.json)
    assert ours.json == theirs.json
    assert ours.body == theirs.body
    assert ours.json["messages"][-1]["content"] == prompt


def test_openai_is_told_organisation_and_project(wire, monkeypatch):
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-2")
    headers = ask(wire, "openai").headers
    assert headers["authorization"] == f"Bearer {KEY}"
    assert (headers["openai-organization"], headers["openai-project"]) == ("org-1", "proj-2")


def test_anthropic_is_told_its_version(wire):
    assert ask(wire, "anthropic").headers["anthropic-version"]


@VENDOR
@pytest.mark.parametrize("end", ["", "/"])
def test_the_address_may_come_from_the_environment(wire, vendor, end, monkeypatch):
    monkeypatch.setenv(f"{vendor.upper()}_BASE_URL", wire.base_url(vendor) + end)
    judgment = Critic(f"{vendor}:m", "faithfulness", name="truth", api_key=KEY).judge(a_case(answer="TRUTH=NO"))
    assert judgment.status is Status.FAIL, judgment.error
    assert wire.requests[0].target == ("/v1/messages" if vendor == "anthropic" else "/v1/chat/completions")


@VENDOR
def test_only_what_can_be_unpacked_is_asked_for(wire, vendor):
    accepted = ask(wire, vendor).headers.get("accept-encoding", "identity")
    packers = {"gzip": gzip.compress, "deflate": zlib.compress, "identity": bytes}  # another would need a package
    for coding in (part.partition(";")[0].strip() for part in accepted.split(",")):
        wire.reset(partial(packed, packers[coding], coding))
        judgment = critic(wire, vendor).judge(a_case(answer="TRUTH=NO"))
        assert judgment.status is Status.FAIL, judgment.error


def packed(pack, coding, request):
    return [response(pack(json.dumps(reply(request)).encode()), content_encoding=coding)]


@VENDOR
def test_a_lone_surrogate_in_the_judged_text_does_no_harm(wire, vendor):
    judgment = critic(wire, vendor).judge(a_case(answer="half an emoji: \ud83d TRUTH=NO"))
    assert judgment.status is Status.FAIL, judgment.error


@VENDOR
def test_cookies_are_not_sent_back(wire, vendor):
    wire.reset(lambda request: [response(json.dumps(reply(request)), set_cookie="session=1; Path=/")])
    asked = critic(wire, vendor)
    for number in range(3):
        assert asked.judge(a_case(question=f"{number}?", answer="TRUTH=NO")).status is Status.FAIL
    assert not any("cookie" in request.headers for request in wire.requests)


@VENDOR
def test_two_keys_at_one_server_are_never_mixed(wire, vendor):
    """And every case has its own answer, whichever connection that comes on."""

    async def judge():
        critics = [critic(wire, vendor, api_key=f"{KEY}-{number}") for number in range(4)]
        cases = [a_case(question=f"Question {n:02}?", answer=f"TRUTH={'YES' if n % 3 else 'NO'}") for n in range(24)]
        return cases, await asyncio.gather(*(critics[number % 4].ajudge(case) for number, case in enumerate(cases)))

    cases, judgments = asyncio.run(judge())
    assert [judgment.label for judgment in judgments] == ["YES" if n % 3 else "NO" for n in range(24)]
    for request in wire.requests:
        number = next(n for n, case in enumerate(cases) if case.question in request.body.decode())
        assert request.key == f"{KEY}-{number % 4}"


def test_without_a_key_nothing_of_the_environment_is_sent(wire, monkeypatch):
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-2")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Gateway: secret-3\nAuthorization: Bearer secret-3")
    complete(resolve_model("m", base_url=wire.base_url("openai")), "Is it so?")
    headers = wire.requests[-1].headers
    assert headers["authorization"] == "Bearer none"
    assert not {"openai-organization", "openai-project", "x-gateway"} & headers.keys()
    assert "secret-3" not in repr(headers)
