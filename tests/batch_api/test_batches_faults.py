"""Batches when the vendor, the network or a row of the results misbehaves: nothing is lost, and nothing sent twice."""

import asyncio
import logging

import pytest
from support.asking import complete
from support.batch_vendor import BROKEN, CANCELLED, EXPIRED, MISSING, BatchServer, Fault
from support.batches import KEY, batch_critic, batch_model, cases
from support.vendor import Act, error

from jury_adapters import Status
from jury_adapters.testing import no_waiting

pytestmark = pytest.mark.corpus

BOTH = pytest.mark.parametrize("vendor", ["openai", "anthropic"])


@pytest.fixture
def server():
    with BatchServer() as running:
        yield running


@pytest.fixture(autouse=True)
def _quick():
    with no_waiting():
        yield


def judged(server, folder, vendor, count=10, **options):
    pace = {"batch_window_s": 0.3, "max_requests": count} | options
    return list(batch_critic(server, folder, vendor, **pace).judge_many(cases(count), max_concurrency=100))


def all_pass(verdicts):
    return [verdict.status for verdict in verdicts] == [Status.PASS] * len(verdicts)


def left_behind(server, folder, vendor, count):
    """A batch that is out, and that nobody waits for any more."""
    server.polls = 10**9

    async def run():
        critic = batch_critic(server, folder, vendor, batch_window_s=1.0, max_requests=count)
        tasks = [asyncio.create_task(critic.ajudge(case)) for case in cases(count)]
        while not server.calls["poll"]:
            await asyncio.sleep(0.01)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)

    asyncio.run(run())
    server.polls = 0


# Calls that fail


@BOTH
@pytest.mark.parametrize(
    ("call", "faults"),
    [
        ("list", [Fault(500), Fault(0)]),
        ("create", [Fault(429), Fault(429)]),
        ("poll", [Fault(500)] * 8 + [Fault(0)]),
        ("content", [Fault(503), Fault(0), Fault(0, midway=True)]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_call_that_fails_is_made_again(server, tmp_path, vendor, call, faults):
    server.faults[call] = faults
    assert all_pass(judged(server, tmp_path, vendor))
    assert not server.faults[call]
    assert len(server.sent) == sum(server.sent.values()) == 10


def test_an_upload_that_fails_is_made_again(server, tmp_path):
    server.faults["files"] = [Fault(500), Fault(0), Fault(0, after=True)]
    assert all_pass(judged(server, tmp_path, "openai"))
    assert len(server.batches) == 1


@BOTH
@pytest.mark.parametrize("fault", [Fault(0, after=True), Fault(500, after=True), Fault(0, midway=True)])
def test_a_batch_whose_creation_was_not_confirmed_is_found_and_not_sent_again(server, tmp_path, vendor, fault):
    server.faults["create"] = [fault]
    server.polls = 3
    server.new_batch_of_others(vendor, 10)
    assert all_pass(judged(server, tmp_path, vendor))
    assert set(server.sent.values()) == {1}


@BOTH
def test_a_batch_that_is_being_sent_when_everybody_leaves_is_recorded(server, tmp_path, vendor):
    server.faults["create"] = [Fault(200, after=True, delay=0.4)]

    async def run():
        task = asyncio.create_task(batch_critic(server, tmp_path, vendor).ajudge(cases(1)[0]))
        while not server.calls["create"]:
            await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.wait((task,))

    asyncio.run(run())
    assert all_pass(judged(server, tmp_path, vendor, count=1))
    assert list(server.sent.values()) == [1]
    assert server.calls["list"] == 1  # nothing had to be looked for


@pytest.mark.slow
@BOTH
def test_a_batch_that_was_not_created_is_sent_again(server, tmp_path, vendor):
    server.faults["create"] = [Fault(500), Fault(0)]
    assert all_pass(judged(server, tmp_path, vendor))
    assert set(server.sent.values()) == {1}


@BOTH
def test_a_batch_of_somebody_else_is_not_taken_for_ours(server, tmp_path, vendor):
    server.faults["create"] = [Fault(0)]
    server.polls = 2
    server.on_create = lambda: server.new_batch_of_others(vendor, 10)  # at the same moment, and of the same size
    assert all_pass(judged(server, tmp_path, vendor))
    assert len([batch for batch in server.batches.values() if batch.requests.keys() & server.sent.keys()]) == 1


@BOTH
def test_a_wrong_key_is_said_and_not_shown(server, tmp_path, vendor, caplog):
    caplog.set_level(logging.DEBUG, "jury_adapters")
    server.faults["create"] = [Fault(401, message=f"Incorrect API key provided: {KEY}")]
    (verdict,) = judged(server, tmp_path, vendor, count=1)
    assert verdict.status is Status.ERROR
    assert verdict.error.startswith("authentication: ")
    assert KEY not in verdict.error + caplog.text
    assert all_pass(judged(server, tmp_path, vendor, count=1))  # nothing stands in the way of the next run


@BOTH
def test_a_batch_that_the_account_does_not_know_is_not_sent_anew(server, tmp_path, vendor):
    left_behind(server, tmp_path, vendor, count=1)
    lost = server.batches.popitem()
    (verdict,) = judged(server, tmp_path, vendor, count=1)
    assert verdict.error.startswith("refused_request: ")
    server.batches.update([lost])
    assert all_pass(judged(server, tmp_path, vendor, count=1))
    assert list(server.sent.values()) == [1]


# Batches that fail as a whole


def test_a_batch_that_fails_as_a_whole_says_why(server, tmp_path):
    server.fail_with = [[{"code": "model_not_found", "message": "The model does not exist.", "line": 1, "param": None}]]
    verdicts = judged(server, tmp_path, "openai", count=3)
    assert {verdict.status for verdict in verdicts} == {Status.ERROR}
    assert "model_not_found: The model does not exist." in verdicts[0].error
    assert all_pass(judged(server, tmp_path, "openai", count=3))


@pytest.mark.slow
def test_a_batch_for_which_the_queue_has_no_room_goes_out_again_later(server, tmp_path):
    problem = {"code": "token_limit_exceeded", "message": "Enqueued token limit reached.", "line": None, "param": None}
    server.fail_with = [[problem]] * 4
    assert all_pass(judged(server, tmp_path, "openai"))
    assert len(server.batches) == 5


# Rows without an answer


@BOTH
@pytest.mark.parametrize("row", [EXPIRED, MISSING, BROKEN, error(500, "overloaded"), error(429, "slow down")])
def test_a_row_that_may_succeed_later_goes_into_the_next_batch(server, tmp_path, vendor, row):
    unlucky = ("Answer 1.", "Answer 4.")
    server.plan = lambda ask: row if not ask.attempt and any(text in ask.text for text in unlucky) else Act()
    assert all_pass(judged(server, tmp_path, vendor))
    assert [len(batch.requests) for batch in server.batches.values()] == [10, 2]


@BOTH
def test_a_row_that_was_cancelled_is_an_error_and_asked_again_by_the_next_run(server, tmp_path, vendor):
    server.plan = lambda ask: CANCELLED if not ask.attempt and "Answer 1." in ask.text else Act()
    verdicts = judged(server, tmp_path, vendor)
    assert [verdict.status for verdict in verdicts].count(Status.ERROR) == 1
    assert "was cancelled" in verdicts[1].error
    assert all_pass(judged(server, tmp_path, vendor))
    assert [len(batch.requests) for batch in server.batches.values()] == [10, 1]


@BOTH
def test_a_row_that_cannot_succeed_is_an_error_at_once(server, tmp_path, vendor):
    server.plan = lambda ask: error(400, f"your prompt is too long, {KEY}") if "Answer 1." in ask.text else Act()
    verdicts = judged(server, tmp_path, vendor)
    assert verdicts[1].error.startswith("refused_request: ")
    assert "your prompt is too long, [key]" in verdicts[1].error
    assert verdicts[1].metadata["request_id"].startswith("req_")
    assert all_pass(verdicts[:1] + verdicts[2:])
    assert len(server.batches) == 1


@BOTH
def test_what_the_vendor_never_gets_to_is_an_error_in_the_end(server, tmp_path, vendor):
    server.plan = lambda ask: EXPIRED
    (verdict,) = judged(server, tmp_path, vendor, count=1, attempts=3)
    assert verdict.error.startswith("timeout: ")
    assert "expired" in verdict.error
    assert len(server.batches) == 3


@BOTH
def test_results_that_are_no_longer_kept_are_asked_for_again(server, tmp_path, vendor):
    left_behind(server, tmp_path, vendor, count=3)
    (old,) = server.batches.values()
    server.faults["content"] = [Fault(404)] * 3
    assert all_pass(judged(server, tmp_path, vendor, count=3))
    assert next(iter(server.batches.values())) is old
    assert len(server.batches) == 2


@BOTH
def test_an_answer_may_hold_any_character(server, tmp_path, vendor):
    odd = "one\u2028two\u0085three\x0bfour\x1cfive\u2029 Answer: YES"
    server.plan = lambda ask: Act(text=odd)
    model = batch_model(server, tmp_path, vendor)
    assert complete(model).text == odd
    assert len(server.batches) == 1


@BOTH
def test_a_refusal_and_a_cut_off_answer_read_as_in_direct_calls(server, tmp_path, vendor):
    server.plan = lambda ask: Act(finish="refusal") if "Answer 0." in ask.text else Act(text="It", finish="length")
    refused, cut = judged(server, tmp_path, vendor, count=2)
    assert refused.status is Status.ABSTAIN
    assert cut.status in (Status.ABSTAIN, Status.ERROR)
    assert len(server.sent) >= 2
