"""Faults of one HTTP answer, each with what a judgment must make of it.

One list for the tests and for the table in ``docs/reliability/wire.md``. The rule behind the kinds of error: what goes
wrong up to the end of the headers is ``connection``; what goes wrong with the body of a 200 is ``broken_body``. Where
the framing of the body is wrong, the packets decide which of the two is noticed first, so either will do.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from jury_adapters import Critic, Judgment, Limits, Status
from jury_adapters.testing import a_case, no_waiting

from .wire import End, Pieces, Received, WireServer, reply, response, well

KEY = "wire-key-that-matches-no-known-pattern"
ATTEMPTS = 3
FRAMING = "connection or broken_body"
MIB = 2**20


@dataclass(frozen=True)
class Fault:
    """One way in which an answer can be wrong.

    Attributes:
        name: the name in the table.
        answer: what the server writes.
        kind: the kind of the error while the fault lasts; several are joined with "or".
        final: whether the request is not repeated.
    """

    name: str
    answer: Callable[[Received], Pieces]
    kind: str
    final: bool = False

    @property
    def once(self) -> tuple[int, str]:
        """The requests and the judgment when the first answer alone is wrong."""
        return (1, f"ERROR {self.kind}") if self.final else (2, "FAIL")

    @property
    def lasting(self) -> tuple[int, str]:
        """The requests and the judgment when every answer is wrong."""
        return (1 if self.final else ATTEMPTS), f"ERROR {self.kind}"

    def shown(self, judgment: Judgment) -> str:
        """Return a judgment as the table has it: its status, and the kind of its error or all that are expected."""
        if judgment.status is not Status.ERROR:
            return str(judgment.status)
        kind = str(judgment.error).partition(":")[0]
        return f"ERROR {self.kind if kind in self.kind.split(' or ') else kind}"


def critic(server: WireServer, vendor: str, **options: Any) -> Critic:
    """Return a critic that asks the server with the key of these tests; no circuit breaker gets in the way."""
    settings: dict[str, Any] = {
        "base_url": server.base_url(vendor), "api_key": KEY, "request_timeout": 5.0,
        "limits": Limits(attempts=ATTEMPTS, open_after=None),
    }  # fmt: skip
    return Critic(f"{vendor}:m", "faithfulness", name="truth", **settings | options)


def critic_at(vendor: str, url: str) -> Critic:
    """Return a critic that asks the server at an address; for tests in processes of their own."""
    return Critic(f"{vendor}:m", "faithfulness", name="truth", base_url=url, api_key=KEY, request_timeout=20.0)


def status_at(vendor: str, url: str, number: int) -> str:
    """Return the status of one judgment, whose truth is FAIL."""
    return str(critic_at(vendor, url).judge(a_case(question=f"{number}?", answer="TRUTH=NO")).status)


def judged(server: WireServer, fault: Fault, vendor: str, *, lasting: bool = False) -> Judgment:
    """Judge a case whose truth is NO, while the first answer or every answer has the fault."""
    server.reset(lambda request: fault.answer(request) if lasting or request.attempt == 0 else well(request))
    with no_waiting():
        return critic(server, vendor).judge(a_case(answer="Lyon. TRUTH=NO"))


# Answers --------------------------------------------------------------------------------------------------------------


def _body(body: bytes | str, status: str = "200 OK", **headers: str) -> Callable[[Received], Pieces]:
    return lambda request: [response(body, status, **headers)]


def _good_body(request: Received) -> bytes:
    return json.dumps(reply(request)).encode()


def _changed(
    change: Callable[[bytes], bytes], length: int = 0, end: End | None = None, **headers: str
) -> Callable[[Received], Pieces]:
    """The good answer with another body; ``length`` is added to the stated one."""

    def answer(request: Received) -> Pieces:
        data = change(_good_body(request))
        yield response(data, **{"content_length": str(len(data) + length), **headers})
        if end is not None:
            yield 0.05  # so that what was written has been read
            yield end

    return answer


def _head(*lines: str) -> Callable[[Received], Pieces]:
    """A good body behind headers of our own."""

    def answer(request: Received) -> Pieces:
        yield "\r\n".join([line.format(key=request.key) for line in lines]).encode() + b"\r\n\r\n" + _good_body(request)

    return answer


def _cut(share: float, end: End) -> Callable[[Received], Pieces]:
    """The head of the good answer, cut off after a share of it."""

    def answer(request: Received) -> Pieces:
        head = response(_good_body(request)).partition(b"{")[0]
        yield head[: int(len(head) * share)]
        yield 0.05
        yield end

    return answer


def _bad_chunk(pause: float) -> Callable[[Received], Pieces]:
    """The good body in two chunks; the size of the second one, in the same packet or a later one, is no number."""

    def answer(request: Received) -> Pieces:
        data = _good_body(request)
        half = len(data) // 2
        first, second = b"%x\r\n%b\r\n" % (half, data[:half]), b"zz\r\n%b\r\n0\r\n\r\n" % data[half:]
        return [CHUNKED + first, pause, second] if pause else [CHUNKED + first + second]

    return answer


def _missing_chunk(request: Received) -> Pieces:
    half = _good_body(request)[:200]
    return [CHUNKED + b"%x\r\n%b\r\n" % (len(half), half), 0.05, End.CLOSE]


def _old_protocol(request: Received) -> Pieces:
    yield b"<html>" + _good_body(request)
    yield End.CLOSE


def _both_lengths(request: Received) -> Pieces:
    data = _good_body(request)
    yield b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n" % (len(data) - 7)
    yield b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n\r\n" % (len(data), data)
    yield End.CLOSE


def _nothing_in_it(request: Received) -> Pieces:
    empty = {"content": None} if request.vendor == "anthropic" else {"choices": []}
    return [response(json.dumps(reply(request) | empty))]


def _error(status: str = "200 OK", **said: Any) -> Callable[[Received], Pieces]:
    """An error as the vendors write it, with the key in its message."""

    def answer(request: Received) -> Pieces:
        error = {"message": f"upstream saw {request.key}", **said}
        return [response(json.dumps({"type": "error", "error": error}), status)]

    return answer


def _typed(openai: str, anthropic: str) -> Callable[[Received], Pieces]:
    """An error in a 200 that says what it is by the vendor's own word."""

    def answer(request: Received) -> Pieces:
        return _error(**({"type": anthropic} if request.vendor == "anthropic" else {"code": openai}))(request)

    return answer


def _page(status: str) -> Callable[[Received], Pieces]:
    return lambda request: [response(f"<html>Bad gateway for {request.key}</html>", status, content_type="text/html")]


def _redirect(status: str) -> Callable[[Received], Pieces]:
    return _body("", status, location="http://elsewhere.invalid/v1?secret=1")


def _hidden(data: bytes) -> bytes:
    return bytes(byte ^ 0x55 for byte in data)


CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
LONG_HEADER = "X-Long: " + 8 * "{key}" + 256 * 1024 * "x"
PADDING = b" " * 40 * MIB  # JSON allows spaces around it


@cache
def packed_padding() -> bytes:
    return gzip.compress(PADDING, 1)


MANY_HEADERS = [f"X-Many-{number:05}: {'x' * 40}" for number in range(256 * 1024 // 56)]

FAULTS = (
    # Before the headers are complete
    Fault("connection closed without an answer", lambda request: [End.CLOSE], "connection"),
    Fault("connection reset without an answer", lambda request: [End.RESET], "connection"),
    Fault("connection closed in the headers", _cut(0.6, End.CLOSE), "connection"),
    Fault("connection reset in the headers", _cut(0.6, End.RESET), "connection"),
    Fault("bad status line", _head("HTTP/1.1 two-hundred {key}", "Content-Length: 2"), "connection"),
    Fault("no HTTP at all", _old_protocol, "connection"),
    Fault("a header line of 256 KB", _head("HTTP/1.1 200 OK", LONG_HEADER), "connection"),
    Fault("256 KB of headers", _head("HTTP/1.1 200 OK", *MANY_HEADERS), "connection"),
    Fault("a header line without a name", _head("HTTP/1.1 200 OK", ": {key}", "Content-Length: 2"), "connection"),
    Fault(
        "conflicting Content-Length headers",
        _head("HTTP/1.1 200 OK", "Content-Length: 2", "Content-Length: 3000"), "connection",
    ),
    Fault("Content-Length that is not a number", _head("HTTP/1.1 200 OK", "Content-Length: -1"), "connection"),
    Fault("Content-Length beside Transfer-Encoding", _both_lengths, FRAMING),
    # In the body
    Fault("connection closed before the body", _cut(1.0, End.CLOSE), FRAMING),
    Fault("connection reset before the body", _cut(1.0, End.RESET), FRAMING),
    Fault("Content-Length too long", _changed(bytes, 100, End.CLOSE), FRAMING),
    Fault("Content-Length too short", _changed(bytes, -20), FRAMING),
    Fault("connection reset in the body", _changed(lambda data: data[:200], 200, End.RESET), FRAMING),
    Fault("bad chunk size", _bad_chunk(0.0), FRAMING),
    Fault("bad chunk size, a moment later", _bad_chunk(0.05), FRAMING),
    Fault("chunks that stop", _missing_chunk, FRAMING),
    Fault("gzip that is none", _changed(bytes, content_encoding="gzip"), "broken_body"),
    Fault("truncated gzip", _changed(lambda data: gzip.compress(data)[:-30], content_encoding="gzip"), "broken_body"),
    Fault("unknown Content-Encoding", _changed(_hidden, content_encoding="x-hidden"), "broken_body"),
    Fault("gzip that unpacks to 40 MiB", _changed(lambda data: packed_padding() + gzip.compress(data),
          content_encoding="gzip"), "broken_body"),
    Fault("body of 40 MiB", _changed(lambda data: PADDING + data), "broken_body"),
    # Whole bodies of a 200 that are no answer
    Fault("empty 200", _body(""), "broken_body"),
    Fault("204", lambda request: [b"HTTP/1.1 204 No Content\r\n\r\n"], "broken_body"),
    Fault("HTML page as a 200", _page("200 OK"), "broken_body"),
    Fault("HTML page as JSON", lambda request: [response(f"<html>{request.key}</html>")], "broken_body"),
    Fault("truncated JSON", _changed(lambda data: data[: len(data) // 2]), "broken_body"),
    Fault("invalid UTF-8", _changed(lambda data: data.replace(b"so it says", b"so \xff\xe9 says")), "broken_body"),
    *(Fault(f"`{text}`", _body(text), "broken_body") for text in ("null", "[]", '"text"', "{}", "7", "NaN")),
    Fault("no choices (OpenAI), no content (Anthropic)", _nothing_in_it, "broken_body"),
    Fault("JSON nested 100,000 deep", _body("[" * 100_000 + "]" * 100_000), "broken_body"),
    Fault("unfinished JSON nested 100,000 deep", _body('{"a":' * 100_000), "broken_body"),
    Fault("integer of 5,000 digits", _body("1" * 5000), "broken_body"),
    # Errors that come as a 200
    Fault("error in a 200", _error(), "server"),
    Fault("error in a 200, a text", lambda request: [response(json.dumps({"error": request.key}))], "server"),
    Fault("error in a 200, code 500", _error(code=500), "server"),
    Fault("error in a 200, code \"503\"", _error(code="503"), "server"),
    Fault("error in a 200, code 429", _error(code=429), "rate_limited"),
    Fault("error in a 200, overloaded", _typed("server_error", "overloaded_error"), "server"),
    Fault("error in a 200, rate limit", _typed("rate_limit_exceeded", "rate_limit_error"), "rate_limited"),
    Fault("error in a 200, code 401", _error(code=401), "authentication", final=True),
    Fault("error in a 200, invalid key", _typed("invalid_api_key", "authentication_error"), "authentication",
          final=True),
    Fault("error in a 200, code 400", _error(code=400), "refused_request", final=True),
    Fault("error in a 200, invalid request", _error(type="invalid_request_error"), "refused_request", final=True),
    # Statuses
    *(Fault(status, _error(status), "server") for status in ("409 Conflict", "500 Oops", "503 Busy", "529 Overloaded")),
    Fault("502 with an HTML page", _page("502 Bad Gateway"), "server"),
    Fault("500 with an empty body", _body("", "500 Oops"), "server"),
    Fault("503 with a gzip body that is none", _body("busy", "503 Busy", content_encoding="gzip"), "server"),
    Fault("408 Timeout", _error("408 Timeout"), "timeout"),
    Fault("429 Too Many Requests", _error("429 Too Many Requests"), "rate_limited"),
    Fault("400 Bad Request", _error("400 Bad Request"), "refused_request", final=True),
    Fault("401 with a gzip body that is none", _body("no", "401 Unauthorized", content_encoding="gzip"),
          "authentication", final=True),
    Fault("401 with a body of 40 MiB", lambda request: [response(PADDING, "401 Unauthorized")], "authentication",
          final=True),
    Fault("302 with a gzip body that is none", _body("x", "302 Found", content_encoding="gzip", location="/x"),
          "refused_request", final=True),
    Fault("401 Unauthorized", _error("401 Unauthorized"), "authentication", final=True),
    Fault("404 with an HTML page", _page("404 Not Found"), "refused_request", final=True),
    *(
        Fault(f"{status} to another host", _redirect(status), "refused_request", final=True)
        for status in ("301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent")
    ),
)  # fmt: skip
