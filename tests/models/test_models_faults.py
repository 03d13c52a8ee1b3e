"""One table of what can go wrong with an answer, over real HTTP: both protocols, by the SDKs and by wire.py."""

import asyncio
import gzip
import json
import pickle
import socket
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import pytest
from model_asking import ask, failed, failure, prompt
from model_server import CLOSE, KEY, RESET, Pieces, Received, Server, answer, error, response, well

from jury_adapters.models import ModelError, open_model

MIB = 2**20
CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
FRAMING = "unavailable or bad_reply or timeout"  # the packets decide which is noticed first


@dataclass(frozen=True)
class Fault:
    """A wrong answer, the kind of its error, and whether it may be billed."""

    name: str
    plan: Callable[[Received], Pieces]
    kind: str
    billed: bool = False

    def __str__(self):
        return self.name


def body(data, status="200 OK", **headers):
    return lambda request: [response(data, status, **headers)]


def status(line, kind, **detail):
    name = " ".join([line, *map(str, detail.values())])
    return Fault(name, lambda request: error(line, f"no: {request.key}", **detail)(request), kind)


def in_200(kind, name, said):
    return Fault(f"error in a 200: {name}", lambda request: [response({"error": said})], kind)


def bad(name, plan, kind="bad_reply"):
    return Fault(name, plan, kind, billed=True)


def data_of(request):
    return json.dumps(answer(request)).encode()


def changed(change, extra=0, end=None, **headers):
    """The good answer with another body, and a length that is wrong by `extra`."""

    def plan(request):
        data = change(data_of(request))
        yield response(data, **{"content_length": str(len(data) + extra), **headers}).replace(
            b"content-length: " + str(len(data)).encode() + b"\r\n", b"", 1
        )
        if end:
            yield 0.02
            yield end

    return plan


def cut(share, end):
    """The head of the good answer, cut off."""
    return lambda request: [response(data_of(request))[: int(120 * share)], 0.02, end]


def head(*lines):
    return lambda request: ["\r\n".join([*lines, "", ""]).encode() + data_of(request)]


def chunks(*pieces):
    return lambda request: [CHUNKED + b"%x\r\n%b\r\n" % (20, data_of(request)[:20]), *pieces]


def endless(request):
    yield CHUNKED
    for _ in range(64):
        yield b"100000\r\n" + b"0" * MIB + b"\r\n"


def drip(request):
    yield b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"
    for _ in range(100):
        yield 0.05
        yield b" "


def page(line):
    return lambda request: [response(f"<html>Bad gateway for {request.key}</html>", line, content_type="text/html")]


def empty(request):
    return [response(answer(request) | ({"content": None} if request.vendor == "anthropic" else {"choices": []}))]


SLOW = ("an answer that drips", "no answer in time")
FAULTS = (
    status("400 Bad Request", "refused"),
    Fault("400 without credit", error("400 Bad Request", "Your credit balance is too low"), "account"),
    status("401 Unauthorized", "account"),
    status("402 Payment Required", "account"),
    status("403 Forbidden", "refused"),
    status("403 Forbidden", "account", type="permission_error"),
    status("404 Not Found", "refused"),
    status("408 Timeout", "timeout"),
    status("409 Conflict", "unavailable"),
    status("413 Too Large", "refused"),
    status("422 Unprocessable", "refused"),
    status("429 Too Many Requests", "rate_limited"),
    status("429 Too Many Requests", "account", code="insufficient_quota"),
    status("500 Oops", "unavailable"),
    status("503 Busy", "unavailable"),
    status("529 Overloaded", "unavailable"),
    Fault("502 with an HTML page", page("502 Bad Gateway"), "unavailable"),
    Fault("500 with an empty body", body("", "500 Oops"), "unavailable"),
    Fault("401 with a gzip body that is none", body("no", "401 No", content_encoding="gzip"), "account"),
    Fault("401 with a body of 40 MiB", body(b" " * 40 * MIB, "401 No"), "account"),
    Fault("404 with an HTML page", page("404 Not Found"), "refused"),
    bad("204", lambda request: [b"HTTP/1.1 204 No Content\r\n\r\n"]),
    bad("an empty 200", body("")),
    bad("an HTML page as a 200", page("200 OK")),
    bad("truncated JSON", changed(lambda data: data[: len(data) // 2])),
    bad("invalid UTF-8", changed(lambda data: data.replace(b"echo", b"\xff\xe9"))),
    *(bad(f"`{text}`", body(text)) for text in ("null", "[]", '"text"', "{}", "7", "NaN")),
    bad("no choices, or no content", empty),
    bad("JSON nested 100,000 deep", body("[" * 100_000 + "]" * 100_000)),
    bad("an integer of 5,000 digits", body("1" * 5000)),
    bad("gzip", changed(gzip.compress, content_encoding="gzip")),
    bad("a gzip bomb of 100 MB", body(gzip.compress(b"0" * 10**8, 1), content_encoding="gzip")),
    bad("an unknown encoding", changed(bytes, content_encoding="x-hidden")),
    bad("a body of 33 MiB", body(b" " * 33 * MIB)),
    bad("an endless body", endless),
    in_200("unavailable", "no code", {"message": KEY}),
    in_200("unavailable", "a text", KEY),
    in_200("unavailable", "code 503", {"message": KEY, "code": "503"}),
    in_200("rate_limited", "code 429", {"message": KEY, "code": 429}),
    in_200("unavailable", "overloaded", {"message": KEY, "type": "overloaded_error"}),
    in_200("rate_limited", "rate limit", {"message": KEY, "type": "rate_limit_error"}),
    in_200("account", "code 401", {"message": KEY, "code": 401}),
    in_200("account", "invalid key", {"message": KEY, "code": "invalid_api_key"}),
    in_200("refused", "invalid request", {"message": KEY, "type": "invalid_request_error"}),
    bad("closed without an answer", lambda request: [CLOSE], "unavailable"),
    bad("reset without an answer", lambda request: [RESET], "unavailable"),
    bad("closed in the headers", cut(0.6, CLOSE), "unavailable"),
    bad("reset in the headers", cut(0.6, RESET), "unavailable"),
    bad("a bad status line", head("HTTP/1.1 two-hundred", "Content-Length: 2"), "unavailable"),
    bad("no HTTP", lambda request: [b"<html>\r\n\r\n", CLOSE], "unavailable"),
    bad("a header of 256 KB", head("HTTP/1.1 200 OK", "X-Long: " + "x" * 2**18), "unavailable"),
    bad("a negative length", head("HTTP/1.1 200 OK", "Content-Length: -1"), FRAMING),
    bad("a length that is too long", changed(bytes, 100, CLOSE), FRAMING),
    bad("a length that is too short", changed(bytes, -20), FRAMING),
    bad("reset in the body", changed(bytes, 200, RESET), FRAMING),
    bad("a bad chunk size", chunks(b"zz\r\n12\r\n0\r\n\r\n"), FRAMING),
    bad("chunks that stop", chunks(0.02, CLOSE), FRAMING),
    bad("an answer that drips", drip, "timeout"),
    bad("no answer in time", lambda request: [3.0], "timeout"),
)  # fmt: skip


def checked(found, fault):
    """Assert that an error is what a fault gives, and that neither it nor anything that goes with it shows the key."""
    assert found.kind in fault.kind.split(" or ")
    assert found.transient == (found.kind not in ("refused", "account"))
    assert found.sent == fault.billed
    assert found.__cause__ is None
    assert found.__context__ is None
    again = pickle.loads(pickle.dumps(found))
    assert (again.kind, again.transient, str(again)) == (found.kind, found.transient, str(found))
    shown = "".join(traceback.format_exception(found)) + pickle.dumps(found).decode("latin-1")
    assert KEY not in shown


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_a_fault_is_an_error_of_its_kind_and_the_next_answer_is_its_own(server, fault, monkeypatch):
    for vendor, way in (("openai", "wire"), ("openai", "sdk"), ("anthropic", "sdk")):
        if way == "sdk":
            monkeypatch.setenv("FTP_PROXY", "http://127.0.0.1:9")  # any proxy leaves requests to the SDK
        seconds = 1.0 if fault.name in SLOW or fault.kind == FRAMING else 5.0
        model = open_model(f"{vendor}:m", base_url=server.base_url(vendor), api_key=KEY, timeout=seconds)
        server.plan = fault.plan
        found, text = asyncio.run(before_and_after(server, model, fault))
        checked(found, fault)
        assert text == "echo: second"


async def before_and_after(server, model, fault):
    found = await failed(model.complete(prompt("first")))
    server.plan = well
    if fault.kind == FRAMING:  # what is left of the answer may break the connection, but is nobody's answer
        with suppress(ModelError):
            assert (await model.complete(prompt("between"))).text == "echo: between"
    return found, (await model.complete(prompt("second"))).text


@pytest.mark.parametrize("vendor", ["openai-wire", "openai-sdk", "anthropic-sdk"], indirect=True)
def test_a_redirect_is_not_followed(server, opened, vendor):
    """Trap 3: the key and the texts would go along."""
    with Server() as elsewhere:
        for line in ("301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"):
            server.plan = body("", line, location=f"{elsewhere.base_url(vendor)}/chat?k={KEY}")
            found = failure(opened())
            assert (found.kind, found.transient, found.sent) == ("refused", False, False)
            assert f"a redirect ({line[:3]}), which is not followed; give the right address as base_url=" in str(found)
        assert elsewhere.requests == []


def test_a_port_that_nobody_listens_on_is_unavailable_and_costs_nothing(opened, vendor):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        found = failure(opened(base_url=f"http://127.0.0.1:{free.getsockname()[1]}"))
    assert (found.kind, found.transient, found.sent) == ("unavailable", True, False)


def test_a_host_that_does_not_exist_is_unavailable(opened):
    found = failure(opened(base_url="http://no-such-host.invalid/v1"))
    assert (found.kind, found.sent) == ("unavailable", False)


WAITS = [
        ({"retry_after": "3"}, 3.0), ({"retry_after_ms": "250", "retry_after": "9"}, 0.25), ({}, None),
        ({"retry_after": "soon"}, None), ({"retry_after": "-1"}, None), ({"retry_after": "inf"}, None),
        ({"retry_after": "nan"}, None), ({"retry_after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
]  # fmt: skip


def test_the_vendor_says_how_long_to_wait(server, opened):
    for headers, seconds in WAITS:
        server.plan = error("429 Slow Down", **headers)
        assert failure(opened()).retry_after == seconds


def test_a_date_to_wait_for_becomes_seconds(server, opened):
    server.plan = error("503 Busy", retry_after="Tue, 01 Jan 2999 00:00:00 GMT")
    assert failure(opened()).retry_after > 1e9


def test_a_long_message_of_a_vendor_is_shortened_after_the_key_is_removed(server, opened):
    server.plan = error("400 Bad Request", "x" * 490 + KEY + "y" * 10_000)
    message = str(failure(opened()))
    assert len(message) < 600
    assert KEY[:8] not in message


def test_an_answer_in_the_last_moment_counts(server, opened):
    server.plan = lambda request: [0.3, response(answer(request))]
    assert ask(opened(timeout=3.0), "late").text == "echo: late"
