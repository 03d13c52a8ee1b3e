"""Redirects are not followed: the judged text and the key go to the server that was named, and to no other."""

import asyncio
import logging
import unicodedata
from contextlib import contextmanager
from importlib.util import find_spec

import pytest
from support.asking import failure
from support.batches import batch_critic
from support.wire import VENDORS, WireServer, response
from support.wire_faults import KEY, critic

from jury_adapters import Critic, ModelError, Status
from jury_adapters.decision.registry import resolve_decision_model
from jury_adapters.models.base import Question
from jury_adapters.models.registry import resolve_model
from jury_adapters.testing import a_case, no_waiting

VENDOR = pytest.mark.parametrize("vendor", VENDORS)
STATUS = pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
CASE = a_case(answer="Lyon. TRUTH=NO")
SECRETS = ("secret-user", "secret-password", "secret-path", "secret-token", "secret-fragment")
# "localhost" leads to the second server, whose answers would be taken; the first server is "127.0.0.1".
FULL = "http://secret-user:secret-password@localhost:{other}/secret-path/messages?token=secret-token#secret-fragment"
LOCATIONS = {
    "another host": (FULL, "localhost"),
    "another port of the same host": ("http://127.0.0.1:{other}/v1/messages?token=secret-token", "127.0.0.1"),
    "another path of the same host": ("http://127.0.0.1:{own}/v1/secret-path/messages", "127.0.0.1"),
    "the same address": ("http://127.0.0.1:{own}{target}", "127.0.0.1"),
    "without a scheme": ("//localhost:{other}/v1/messages?token=secret-token", "localhost"),
    "relative": ("/secret-path/messages?token=secret-token", ""),
    "relative without a slash": ("../../secret-path/messages", ""),
    "missing": (None, ""),
    "empty": ("", ""),
    "a script": ("javascript:alert('secret-token')", ""),
    "a file": ("file:///etc/secret-path", ""),
    "an impossible port": ("http://localhost:99999999/secret-path", ""),
    "an unclosed bracket": ("http://[::1/secret-path", ""),
    "huge": ("http://localhost:{other}/secret-path/messages?" + "x" * 6000, "localhost"),
    "a huge host": ("http://" + "x" * 6000 + ".invalid/", ""),
    "control characters": ("http://elsewhere.invalid\x9b31m/\x85\x9bsecret-path", ""),
}


@pytest.fixture(scope="module")
def wire():
    with WireServer() as server:
        yield server


@pytest.fixture(scope="module")
def other():
    with WireServer() as server:
        yield server


@pytest.fixture(autouse=True)
def _quick(wire, other):
    wire.reset()
    other.reset()
    with no_waiting():
        yield


def redirecting(wire, other, status, location):
    def plan(request):
        if location is None:
            return [response("", f"{status} Elsewhere")]
        to = location.format(other=other.port, own=wire.port, target=request.target)
        return [response("", f"{status} Elsewhere", location=to)]

    wire.reset(plan)


def assert_refused(error, wire, other, host=""):
    """The error is final and names the host alone, and no other request was made."""
    assert error.startswith("refused_request: "), error
    assert (len(wire.requests), len(other.requests)) == (1, 0)
    assert host in error
    assert not [secret for secret in (*SECRETS, KEY[:12]) if secret in error]
    assert len(error) < 1000
    assert not [sign for sign in error if unicodedata.category(sign) == "Cc"]


@pytest.mark.corpus
@VENDOR
@STATUS
@pytest.mark.parametrize("place", LOCATIONS)
def test_a_redirect_is_a_final_error_that_names_the_host(wire, other, vendor, status, place, caplog):
    location, host = LOCATIONS[place]
    redirecting(wire, other, status, location)
    caplog.set_level(logging.DEBUG, "jury_adapters")
    judgment = critic(wire, vendor).judge(CASE)
    assert judgment.status is Status.ERROR
    assert_refused(judgment.error, wire, other, host)
    assert str(status) in judgment.error
    assert not [secret for secret in SECRETS if secret in caplog.text]


@VENDOR
def test_a_key_in_the_name_of_the_host_is_not_shown(wire, other, vendor):
    key = "A1b2C3d4E5f60718293a4b5c6d7e8f90"
    redirecting(wire, other, 302, f"http://{key}.invalid/")
    error = critic(wire, vendor, api_key=key).judge(CASE).error
    assert error.startswith("refused_request: ")
    assert "[key].invalid" in error.replace("?", "[", 1).replace("?", "]", 1)
    assert key.lower() not in error.lower()


@VENDOR
@pytest.mark.parametrize("status", [300, 304, 305, 306, 399])
def test_any_other_3xx_is_a_final_error_too(wire, other, vendor, status):
    redirecting(wire, other, status, FULL)
    assert_refused(critic(wire, vendor).judge(CASE).error, wire, other)


@VENDOR
def test_the_caller_of_a_model_reads_kind_and_status(wire, other, vendor):
    redirecting(wire, other, 307, FULL)
    caught = failure(resolve_model(f"{vendor}:m", base_url=wire.base_url(vendor), api_key=KEY))
    assert (caught.kind, caught.status, caught.transient) == ("refused_request", 307, False)


@VENDOR
def test_a_redirect_in_a_batch_of_cases_is_an_error_of_its_case_alone(wire, other, vendor):
    def plan(request):
        if "AWAY" in str(request.json):
            return [response("", "302 Found", location=FULL.format(other=other.port))]
        return well_answered(request)

    well_answered = wire.plan
    wire.reset(plan)
    cases = [a_case(question=f"{n} {'AWAY' if n % 3 == 0 else ''}", answer="TRUTH=NO") for n in range(9)]
    judgments = list(critic(wire, vendor).judge_many(cases))
    assert [judgment.status for judgment in judgments] == [Status.ERROR, Status.FAIL, Status.FAIL] * 3
    assert (len(wire.requests), len(other.requests)) == (9, 0)


# Requests that the SDKs send for us


@STATUS
def test_a_decision_model_follows_no_redirect(wire, other, status):
    redirecting(wire, other, status, FULL)
    model = resolve_decision_model("openai:d", base_url=wire.base_url("openai"), api_key=KEY)
    with pytest.raises(ModelError) as caught:
        asyncio.run(model.decide("TRUTH=NO", [Question("Is it true?")]))
    assert caught.value.status == status
    assert_refused(f"{caught.value.kind}: {caught.value}", wire, other, "localhost")


@VENDOR
@STATUS
def test_the_apis_of_batches_follow_no_redirect(wire, other, vendor, status, tmp_path):
    """The first call of a batch lists the batches of the account; it is a GET, and carries the key."""
    redirecting(wire, other, status, FULL)
    judgment = batch_critic(wire, tmp_path, vendor).judge(CASE)
    assert judgment.status is Status.ERROR
    assert_refused(judgment.error, wire, other, "localhost")


if find_spec("langchain_openai"):
    from langchain_openai import ChatOpenAI

    @contextmanager
    def chat(wire):
        model = ChatOpenAI(model="m", base_url=wire.base_url("openai"), api_key=KEY)
        yield Critic(model, "faithfulness", name="truth")
        model.root_client.close()

    @STATUS
    def test_a_chat_openai_follows_no_redirect(wire, other, status):
        redirecting(wire, other, status, FULL)
        with chat(wire) as asked:
            judgment = asyncio.run(asked.ajudge(CASE))
        assert judgment.status is Status.ERROR
        assert_refused(judgment.error, wire, other, "localhost")
