"""Secrets that clients send beside a literal key: a server that repeats them, in any form, and what is kept of that."""

import base64
import html
import json
import re
from urllib.parse import quote

import httpx
import pytest
from anthropic import AsyncAnthropic
from openai import AsyncAzureOpenAI, AsyncOpenAI
from support.leaked_keys import judged
from support.vendor import Act, Ask

from jury_adapters import Status
from jury_adapters.models.credentials import (
    keys_in_client,
    secrets_in_client,
    secrets_in_headers,
    secrets_in_query,
    secrets_in_request,
)
from jury_adapters.models.redaction import Secrets

KEY = "tok_Zr9aQ7wLp7xmN4vK2sD8"  # unlike the key of any vendor
OTHER = "none-0123456789"
BASIC = base64.b64encode(f"somebody:{KEY}".encode()).decode()


async def provided():
    return KEY


async def adds_a_header(request):
    request.headers["Authorization"] = f"Bearer {KEY}"


def openai(server, **options):
    return {"model": "m", "client": AsyncOpenAI(**{"api_key": OTHER, "base_url": server.openai, **options})}


def azure(server, **options):
    client = AsyncAzureOpenAI(azure_endpoint=server.url, api_version="2024-10-21", azure_deployment="m", **options)
    return {"model": "m", "client": client}


def anthropic(server, **options):
    return {"model": "m", "client": AsyncAnthropic(base_url=server.anthropic, **options)}


def over(server, **options):
    return {"model": "m", "base_url": server.openai, "client": httpx.AsyncClient(**options)}


WAYS = {
    "a key that a function provides": lambda s: openai(s, api_key=provided),
    "a default header of any name": lambda s: openai(s, default_headers={"x-custom": KEY}),
    "a default parameter": lambda s: openai(s, default_query={"api_key": KEY}),
    "an HTTP client in a client": lambda s: openai(s, http_client=httpx.AsyncClient(headers={"x-api-key": KEY})),
    "a token that a function provides to Azure": lambda s: azure(s, azure_ad_token_provider=provided),
    "a token for Azure": lambda s: azure(s, azure_ad_token=KEY),
    "a key for Azure": lambda s: azure(s, api_key=KEY),
    "a token for Anthropic": lambda s: anthropic(s, auth_token=KEY),
    "a default header for Anthropic": lambda s: anthropic(s, api_key=OTHER, default_headers={"x-custom": KEY}),
    "user and password": lambda s: over(s, auth=("somebody", KEY)),
    "a header": lambda s: over(s, headers={"x-gateway-token": KEY}),
    "a header of any name": lambda s: over(s, headers={"x-custom": KEY}),
    "a cookie": lambda s: over(s, cookies={"session": KEY}),
    "a parameter": lambda s: over(s, params={"key": KEY}),
    "a hook": lambda s: over(s, event_hooks={"request": [adds_a_header]}),
}


def echo(ask: Ask) -> str:
    """Everything that came with a request, and the password of a Basic authorization in the clear."""
    said = " ".join(f"{name}={value}" for name, value in ask.headers.items() if "stainless" not in name)
    said = f"{said} ?{ask.query}"
    scheme, _, rest = ask.headers.get("authorization", "").partition(" ")
    return said + (f" {base64.b64decode(rest).decode()}" if scheme == "Basic" else "")


def reply(ask: Ask) -> Act:
    return Act(text=json.dumps({"reasoning": echo(ask), "answer": "YES"}), headers={"x-request-id": f"r-{KEY}"})


def refusal(ask: Ask) -> Act:
    return Act(status=401, error={"message": f"no: {echo(ask)}", "param": KEY}, headers={"x-request-id": f"r-{KEY}"})


@pytest.mark.corpus
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("plan", [reply, refusal])
def test_what_a_client_sent_is_in_no_result_store_or_log(server, tmp_path, caplog, way, plan):
    server.plan = plan
    judgment, texts = judged(WAYS[way](server), tmp_path, caplog)
    assert any(KEY in echo(ask) for ask in server.asks)
    assert judgment.status is (Status.PASS if plan is reply else Status.ERROR)
    assert "[key]" in texts["json"]
    for where, text in texts.items():
        assert KEY not in text, where
        assert BASIC not in text, where
        assert BASIC.rstrip("=") not in text, where


FORMS = {
    "as it is": lambda key: key,
    "percent-encoded": lambda key: quote(key, safe=""),
    "percent-encoded in lower case": lambda key: "".join(f"%{one:02x}" for one in key.encode()),
    "percent-encoded twice": lambda key: quote(quote(key, safe=""), safe=""),
    "HTML-escaped": html.escape,
    "HTML-escaped twice": lambda key: html.escape(html.escape(key)),
    "HTML-escaped by number": lambda key: "".join(f"&#{ord(one)};" for one in key),
    "HTML-escaped by hexadecimal number": lambda key: "".join(f"&#x{ord(one):X};" for one in key),
    "as a Python escape": lambda key: "".join(f"\\x{ord(one):02x}" for one in key),
    "as a JavaScript escape": lambda key: "".join(f"\\u{{{ord(one):x}}}" for one in key),
    "in base64": lambda key: base64.b64encode(key.encode()).decode(),
    "with a user in base64": lambda key: base64.b64encode(f"somebody:{key}".encode()).decode(),
    "with one character before it in base64": lambda key: base64.b64encode(f"x{key}yz".encode()).decode(),
    "with two characters before it in base64": lambda key: base64.b64encode(f"xx{key}".encode()).decode(),
    "in base64 for URLs": lambda key: base64.urlsafe_b64encode(f"?{key}".encode()).decode(),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("key", [KEY, "a/b+c=d'e\"f&g<h>0123 56789", "pässwörd-0123"])
def test_a_form_of_a_key_is_redacted_in_replies_and_messages(form, key):
    secrets = Secrets(key)
    written = FORMS[form](key)
    for redacted in (secrets.redacted, secrets.hidden_in):
        text = redacted(f"so: {written} it is")
        # In base64 the text around the key remains, and up to two characters of the key.
        most = 16 if "base64" in form else 0
        assert re.fullmatch(rf"so: \S{{0,{most}}}\[key\]\S{{0,{most // 2}}} it is", text)


def test_a_form_of_a_key_in_a_reply_is_redacted(server, tmp_path, caplog):
    written = [form(KEY) for form in FORMS.values()]
    server.plan = lambda ask: Act(text=json.dumps({"reasoning": " ".join(written), "answer": "YES"}))
    judgment, texts = judged(openai(server, api_key=KEY), tmp_path, caplog)
    assert judgment.reasoning.count("[key]") == len(written)
    assert not [form for form in written for text in texts.values() if form[4:-4] in text]


def test_texts_with_signs_of_encodings_are_left_alone():
    text = "90 % of C:\\users &amp; \\u0041 %20 &#65; stay"
    assert Secrets(KEY).redacted(text) == text


def test_of_the_secrets_of_single_requests_the_latest_are_redacted():
    secrets = Secrets("given-0123456789")
    for number in range(100):
        secrets.add_sent([f"nonce-{number:08}"])
    assert secrets.redacted("nonce-00000099 nonce-00000000 given-0123456789") == "[key] nonce-00000000 [key]"


def test_which_headers_are_secret_by_their_look():
    headers = {
        "x-custom": KEY, "x-words": f"a {KEY}", "x-model": "gpt-4o-mini-2024-07-18", "x-region": "europe-west4",
        "x-trace": "123e4567-e89b-12d3-a456-426614174000", "traceparent": f"00-{'4bf92f3577b34da6' * 2}-01",
        "openai-organization": "org-0123456789abcdefghij", "http-referer": f"https://{'a1' * 20}.example",
        "x-word": "internationalization", "x-number": "12345678901234567890",
    }  # fmt: skip
    assert list(secrets_in_headers(headers)) == [KEY]


def test_which_authorizations_and_cookies_are_secret():
    assert set(secrets_in_headers({"authorization": f"Basic {BASIC}"})) == {BASIC, "somebody", KEY}
    assert list(secrets_in_headers({"authorization": f'Digest username="a", response="{"0a" * 16}"'})) == []
    assert set(secrets_in_headers({"cookie": f"a=b; session={KEY}"})) == {f"a=b; session={KEY}", KEY}


def test_which_parameters_are_secret():
    assert list(secrets_in_query({"key": "short-1", "api-version": "2024-10-21", "x": KEY, "n": 5})) == ["short-1", KEY]
    assert list(secrets_in_query(httpx.QueryParams([("sig", "a b"), ("sig", "c")]))) == ["a b", "c"]
    assert list(secrets_in_query(None)) == []
    assert list(secrets_in_request(f"http://h/v1?token={quote('a/b')}", {})) == ["a/b"]


def test_the_password_of_a_digest_is_known_before_it_is_used():
    client = httpx.AsyncClient(auth=httpx.DigestAuth("me", KEY))
    assert list(secrets_in_client(client)) == [KEY]


def test_keys_in_a_client_are_those_given_as_text():
    assert set(keys_in_client(AsyncOpenAI(api_key=KEY, base_url="http://localhost:1"))) == {KEY}
    assert list(keys_in_client(AsyncOpenAI(api_key=provided, base_url="http://localhost:1"))) == []
    assert list(secrets_in_client(None)) == []
