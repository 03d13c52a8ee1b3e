"""The body of an answer has a limit, however it comes, and so has the memory that an answer takes."""

import gzip
import json
import struct
import time
import zlib
from functools import cache

import pytest
from support.examples import SLOW
from support.scripts import run_script
from support.wire import VENDORS, End, WireServer, reply, response, well
from support.wire_faults import KEY, MIB, critic

from jury_adapters import Status
from jury_adapters.testing import a_case, no_waiting

pytestmark = pytest.mark.corpus

VENDOR = pytest.mark.parametrize("vendor", VENDORS)
PIECE = b" " * 2**16
MOST_MIB = 200  # what an endless answer sends before it stalls, so that a test cannot take the machine with it
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
GROWTH_MIB = 150
BOMB_MIB = 1024 if SLOW else 256


@cache
def spaces():
    """Spaces, of which deflate makes a thousandth, and their checksum."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    # After a full flush nothing refers back, so that one packed MiB can be repeated.
    packed = packer.compress(b" " * MIB) + packer.flush(zlib.Z_FULL_FLUSH)
    checksum = 0
    for _ in range(BOMB_MIB):
        checksum = zlib.crc32(b" " * MIB, checksum)
    return packed * BOMB_MIB, checksum


def bomb(request, coding):
    """The good answer behind many MiB of spaces."""
    data = json.dumps(reply(request)).encode()
    packed, checksum = spaces()
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    packed += packer.compress(data) + packer.flush()
    if coding == "gzip":
        end = struct.pack("<II", zlib.crc32(data, checksum), BOMB_MIB * MIB + len(data))
        packed = b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + packed + end
    return [response(packed, content_encoding=coding)]


def endless(head, piece, after=b""):
    def answer(request):
        yield head
        for _ in range(MOST_MIB * MIB // len(piece)):
            yield piece
        yield after
        yield 60.0

    return answer


def plain(request, *, length):
    yield HEAD + (b"Content-Length: %d\r\n\r\n" % (100 * MIB) if length else b"Connection: close\r\n\r\n")
    for _ in range(100 * MIB // len(PIECE)):
        yield PIECE
    yield End.CLOSE


def dripping(request):
    whole = response(json.dumps(reply(request)))
    for at in range(len(whole)):
        yield whole[at : at + 1]
        yield 1.0


BODIES = {
    "gzip bomb": (lambda request: bomb(request, "gzip"), "broken_body"),
    "deflate bomb": (lambda request: bomb(request, "deflate"), "broken_body"),
    "100 MB": (lambda request: plain(request, length=True), "broken_body"),
    "100 MB until the close": (lambda request: plain(request, length=False), "broken_body"),
    "Content-Length of 10 TB": (endless(HEAD + b"Content-Length: 10000000000000\r\n\r\n", PIECE), "broken_body"),
    "endless chunks": (
        endless(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"10000\r\n" + PIECE + b"\r\n"), "broken_body",
    ),
    "endless chunk": (
        endless(HEAD + b"Transfer-Encoding: chunked\r\n\r\nffffffffff\r\n", PIECE), "broken_body",
    ),
    "endless size of a chunk": (
        endless(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"0" * 2**16), "connection or broken_body or timeout",
    ),
    "endless chunk extension": (
        endless(HEAD + b"Transfer-Encoding: chunked\r\n\r\n5;", b"x" * 2**16), "connection or broken_body or timeout",
    ),
    "endless trailers": (
        endless(HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"X-More: y\r\n" * 2**12),
        "connection or broken_body",
    ),
    "endless headers": (endless(HEAD, b"X-More: y\r\n" * 2**12), "connection"),
    "endless header": (endless(HEAD + b"X-Long: ", b"y" * 2**16), "connection"),
    "endless status line": (endless(b"HTTP/1.1 200 ", b"y" * 2**16), "connection"),
    "endless hints": (endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 2**11), "connection or timeout"),
    "an error of 100 MB": (
        lambda request: [response(b"x" * 100 * MIB, "500 Oops")], "server",
    ),
    "a drip of a byte a second": (dripping, "timeout"),
}  # fmt: skip

# One process for each vendor, forked from one that has the SDKs.
JUDGE = """
import anthropic, json, openai, os, resource, sys
import jury_adapters.critic.critic
from jury_adapters import Critic, Limits
from jury_adapters.testing import a_case

names, addresses = map(json.loads, sys.argv[1:])
for vendor, url in addresses.items():
    if os.fork() == 0:
        break
    assert os.wait()[1] == 0
else:
    sys.exit()

def judged(name, timeout=6.0):
    # A model's name tells the server what to send.
    asked = Critic(
        f"{vendor}:{name}", "faithfulness", name="truth", base_url=url, api_key="none", request_timeout=timeout,
        limits=Limits(attempts=1),
    )
    return asked.judge(a_case(answer="TRUTH=NO"))

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

results = {"good": [str(judged("good").status), 0]}
for name, timeout in names[vendor].items():
    before = peak()
    error = judged(name, timeout=timeout).error
    results[name] = [error, peak() - before]
print(json.dumps([vendor, results]), flush=True)
os._exit(0)
"""


@pytest.fixture(scope="module")
def wire():
    with WireServer() as server:
        yield server


@pytest.fixture(scope="module")
def judged_by_vendor(wire, request):
    """Result for each body that a test of this run asks for, by vendor."""
    wire.reset(
        lambda request: well(request) if request.json["model"] == "good" else BODIES[request.json["model"]][0](request)
    )
    # What is only stopped by the time limit gets a short one.
    names = {vendor: {} for vendor in VENDORS}
    for item in request.session.items:
        chosen = item.callspec.params if hasattr(item, "callspec") else {}
        if item.path == request.path and "name" in chosen:
            kinds = BODIES[chosen["name"]][1]
            names[chosen["judged"]][chosen["name"]] = 2.0 if "timeout" in kinds else 8.0
    ran = run_script(JUDGE, json.dumps(names), json.dumps({vendor: wire.base_url(vendor) for vendor in VENDORS}))
    assert ran.code == 0, ran.err
    found = dict(map(json.loads, ran.out.splitlines()))
    for vendor in VENDORS:
        found[vendor]["requests"] = [one.json["model"] for one in wire.requests if one.vendor == vendor]
    return found


@pytest.fixture(scope="module", params=VENDORS)
def judged(request, judged_by_vendor):
    """The error and the growth of the peak memory in KiB of each body, all in one process."""
    return judged_by_vendor[request.param]


@pytest.mark.slow
@pytest.mark.parametrize("name", BODIES)
def test_a_body_without_end_is_cut_off(judged, name):
    error, growth = judged[name]
    assert judged["good"][0] == "FAIL"
    assert error is not None
    assert error.partition(":")[0] in BODIES[name][1].split(" or "), error
    assert growth < GROWTH_MIB * 1024
    assert judged["requests"].count(name) == 1
    assert len(error) < 1000


@pytest.mark.slow
def test_all_of_them_together_take_no_more_memory(judged):
    assert sum(found[1] for name, found in judged.items() if name not in ("good", "requests")) < GROWTH_MIB * 1024


@pytest.mark.slow
@VENDOR
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize("size", [20, 31])
def test_a_large_answer_within_the_limit_is_read(wire, vendor, packed, size):
    def plan(request):
        data = json.dumps(reply(request, system_fingerprint="x" * (size * MIB))).encode()
        return [response(gzip.compress(data, 1), content_encoding="gzip") if packed else response(data)]

    wire.reset(plan)
    judgment = critic(wire, vendor, request_timeout=60.0).judge(a_case(answer="TRUTH=NO"))
    assert (judgment.status, len(wire.requests)) == (Status.FAIL, 1), judgment.error


@pytest.mark.slow
@VENDOR
def test_a_body_just_over_the_limit_is_broken_and_the_message_says_so(wire, vendor):
    wire.reset(lambda request: [response(b" " * (32 * MIB) + json.dumps(reply(request)).encode())])
    with no_waiting():
        judgment = critic(wire, vendor, request_timeout=60.0).judge(a_case(answer="TRUTH=NO"))
    assert judgment.error.startswith("broken_body")
    assert "32 MiB" in judgment.error


@VENDOR
def test_the_connection_of_a_body_that_was_cut_off_is_closed(wire, vendor):
    """Otherwise the rest of it would come in, or stand in front of the next answer."""
    wire.reset(lambda request: endless(HEAD + b"Content-Length: 10000000000000\r\n\r\n", PIECE)(request)
               if request.number == 0 else well(request))  # fmt: skip
    before = wire.closed
    with no_waiting():
        judgment = critic(wire, vendor).judge(a_case(answer="TRUTH=NO"))
    assert (judgment.status, len(wire.requests)) == (Status.FAIL, 2)
    assert wire.requests[0].connection != wire.requests[1].connection
    for _ in range(100):
        if wire.closed > before:
            return
        time.sleep(0.1)
    raise AssertionError("the connection is still open")


@pytest.mark.slow
def test_the_key_is_in_no_error_of_a_body(wire):
    wire.reset(lambda request: [response((request.key + "\n") * 2**20)])
    with no_waiting():
        assert KEY[:12] not in critic(wire, "openai").judge(a_case()).error
