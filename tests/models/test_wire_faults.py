"""Wrong answers on the wire: one costs a request and never the judgment, a lasting one is an error with a name."""

import json
import logging
import threading
import time

import pytest
from support.wire import VENDORS, End, WireServer, reply, response, well
from support.wire_faults import FAULTS, KEY, critic, judged

from jury_adapters import Status
from jury_adapters.testing import a_case, no_waiting

pytestmark = pytest.mark.corpus

FAULT = pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
VENDOR = pytest.mark.parametrize("vendor", VENDORS)
CASE = a_case(answer="Lyon. TRUTH=NO")


@pytest.fixture(scope="module")
def wire():
    with WireServer() as server:
        yield server


@pytest.fixture
def log(caplog):
    """Everything that is logged; but the oldest Anthropic SDK cannot log a request with the oldest pydantic."""
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.INFO, "anthropic")
    return caplog


@pytest.mark.corpus
@VENDOR
@FAULT
def test_one_wrong_answer_costs_one_request_and_not_the_judgment(wire, fault, vendor, log):
    judgment = judged(wire, fault, vendor)
    assert (len(wire.requests), fault.shown(judgment)) == fault.once, judgment.error
    assert KEY[:12] not in judgment.to_json() + log.text
    if not fault.final:
        assert judgment.usage.calls == 1


@pytest.mark.corpus
@VENDOR
@FAULT
def test_a_fault_that_lasts_is_an_error_with_a_kind(wire, fault, vendor, log):
    judgment = judged(wire, fault, vendor, lasting=True)
    assert (len(wire.requests), fault.shown(judgment)) == fault.lasting, judgment.error
    assert KEY[:12] not in judgment.to_json() + log.text
    assert len(judgment.error) < 1000
    assert not [record for record in log.records if record.levelno >= logging.ERROR]


# Oddities that are no faults


def chunked(data, size):
    pieces = [data[start : start + size] for start in range(0, len(data), size)]
    chunks = b"".join(b"%x;ext=1\r\n%b\r\n" % (len(piece), piece) for piece in pieces)
    return (
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        + chunks
        + b"0\r\n\r\n"
    )


def in_single_bytes(request):
    whole = response(json.dumps(reply(request)))
    return [whole[at : at + 1] for at in range(len(whole))]


ODDITIES = {
    "HTTP/1.0, ended by the close": lambda request: [
        b"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n" + json.dumps(reply(request)).encode(), End.CLOSE,
    ],
    "chunks of 7 bytes with extensions": lambda request: [chunked(json.dumps(reply(request)).encode(), 7)],
    "one byte at a time": in_single_bytes,
    "an early hint before the answer": lambda request: [
        b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n", *well(request),
    ],
    "no reason phrase": lambda request: [response(json.dumps(reply(request)), "200 ")],
    "spaces around the JSON": lambda request: [response(f"\n  {json.dumps(reply(request))}\r\n\r\n")],
    "Connection: close": lambda request: [response(json.dumps(reply(request)), connection="close"), End.CLOSE],
    "another charset's name": lambda request: [
        response(json.dumps(reply(request)), content_type="application/json; charset=utf8"),
    ],
}  # fmt: skip


@VENDOR
@pytest.mark.parametrize("answer", ODDITIES.values(), ids=ODDITIES)
def test_an_odd_answer_that_http_allows_is_an_answer(wire, answer, vendor):
    wire.reset(answer)
    judgment = critic(wire, vendor).judge(CASE)
    assert (judgment.status, len(wire.requests)) == (Status.FAIL, 1), judgment.error


# One answer is never taken for another


@VENDOR
def test_bytes_behind_an_answer_do_not_answer_the_next_request(wire, vendor):
    wire.reset(lambda request: [response(json.dumps(reply(request))) + response(forged(request))])
    asked = critic(wire, vendor)
    with no_waiting():
        for number in range(4):
            judgment = asked.judge(a_case(question=f"Question {number}?", answer="TRUTH=NO"))
            assert judgment.status is Status.FAIL, judgment.error


@VENDOR
def test_bytes_that_arrive_on_an_idle_connection_do_not_answer_the_next_request(wire, vendor):
    arrived = threading.Event()

    def plan(request):
        yield response(json.dumps(reply(request)))
        if request.number == 0:
            yield 0.1
            yield response(forged(request))
            arrived.set()

    wire.reset(plan)
    asked = critic(wire, vendor)
    assert asked.judge(CASE).status is Status.FAIL
    assert arrived.wait(10)
    time.sleep(0.1)  # for the client to see them
    for number in range(3):
        judgment = asked.judge(a_case(question=f"Question {number}?", answer="TRUTH=NO"))
        assert judgment.status is Status.FAIL, judgment.error


def forged(request):
    """An answer that says YES."""
    return json.dumps(reply(request)).replace("NO", "YES")
