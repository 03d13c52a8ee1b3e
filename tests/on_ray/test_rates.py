from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import SLOW, examples

from jury_adapters.models.limits import Limits
from jury_adapters.ray.rates import FORGET_S, LEASE_S, PermitRequest, Rate, RateServer, fair_shares


@dataclass
class Visit:
    """A worker comes after a while, wants calls of these sizes, and uses so much of what it gets, so late."""

    worker: str
    after: float
    estimates: tuple[int, ...]
    used: float
    late: float


visits = st.lists(
    st.builds(
        Visit,
        worker=st.sampled_from(["a", "b", "c"]),
        after=st.sampled_from([0.0, 0.02, 0.25, 1.0, 7.0, 59.0, 61.0]) | st.floats(0, 5),
        estimates=st.lists(st.integers(1, 900), max_size=12).map(tuple),
        used=st.floats(0, 1),
        late=st.floats(0, 1),
    ),
    max_size=60,
)


def played(rate_server: RateServer, plan: list[Visit]) -> list[tuple[float, int]]:
    """Time at which each call reached the vendor, with its tokens; permits are used at any time of their lease."""
    now, reached = 0.0, []
    unused: dict[str, tuple[int, int]] = {}
    for visit in plan:
        now += visit.after
        calls, tokens = unused.pop(visit.worker, (0, 0))
        ask = PermitRequest(visit.estimates, len(visit.estimates), 0, calls, tokens)
        grant = rate_server.exchange(visit.worker, ask, now)
        got = visit.estimates[: grant.calls]
        used = got[: round(visit.used * len(got))]
        reached += [(now + visit.late * LEASE_S, tokens) for tokens in used]
        unused[visit.worker] = (len(got) - len(used), sum(got) - sum(used))
    return sorted(reached)


def busiest_minute(reached: list[tuple[float, int]]) -> tuple[int, int]:
    """The most calls, and the most tokens, in any minute."""
    most_calls = most_tokens = first = tokens = 0
    for last, (now, size) in enumerate(reached):
        tokens += size
        while now - reached[first][0] >= 60 - 1e-6:  # times are rounded
            tokens -= reached[first][1]
            first += 1
        most_calls, most_tokens = max(most_calls, last - first + 1), max(most_tokens, tokens)
    return most_calls, most_tokens


@given(visits, st.integers(1, 2000), st.integers(2000, 60_000))
@examples(100)
def test_no_minute_has_more_than_the_limit_however_late_permits_are_used(plan, requests, tokens):
    limits = Limits(requests_per_minute=requests, tokens_per_minute=tokens)
    calls, sizes = busiest_minute(played(RateServer(limits, 0.0), plan))
    assert calls <= requests
    assert sizes <= tokens


@pytest.mark.slow
@given(visits, visits, st.integers(1, 300))
@examples(100)
def test_also_when_the_rate_server_is_lost_and_another_begins(before, after, requests):
    limits = Limits(requests_per_minute=requests)
    first = played(RateServer(limits, 0.0), before)
    end = sum(visit.after for visit in before)
    second = [(at + end, size) for at, size in played(RateServer(limits, 0.0, restarted=True), after)]
    assert busiest_minute(sorted(first + second))[0] <= requests


@pytest.mark.parametrize("per_minute", [1, 3, 60, 600, 12_000])
def test_nearly_all_of_a_rate_is_used(per_minute):
    rate, now, taken = Rate(per_minute, 0.0, whole=True), 0.0, 0
    minutes = 60 if SLOW or per_minute < 1000 else 4
    while now < 60 * minutes:
        now += max(0.001, rate.wait(1, now))
        taken += rate.take(1, now)
    assert taken <= minutes * per_minute
    assert taken >= 0.95 * minutes * per_minute - 1


def test_a_call_larger_than_the_limit_waits_for_a_full_bucket_and_is_then_paid_off():
    rate = Rate(600, 0.0)
    assert not rate.take(1000, 0.0)
    now = rate.wait(1000, 0.0)
    assert rate.take(1000, now)
    assert not rate.take(1, now)
    assert rate.wait(1, now) > 60


@given(
    st.integers(0, 50),
    st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 30), min_size=1),
    st.integers(0, 1000),
)
def test_fair_shares_are_whole_within_the_demand_and_leave_nothing_wanted(total, demands, turn):
    shares = fair_shares(total, demands, turn)
    assert sum(shares.values()) == min(total, sum(demands.values()))
    assert all(0 <= shares[name] <= demand for name, demand in demands.items())
    unmet = [shares[name] for name, demand in demands.items() if shares[name] < demand]
    assert not unmet or max(shares.values()) - min(unmet) <= 1


def test_slots_of_all_workers_together_are_the_limit_and_go_where_they_are_wanted():
    rate_server = RateServer(Limits(max_concurrency=10), 0.0)
    waiting = PermitRequest((0,) * 30, 30)
    assert rate_server.exchange("a", waiting, 0.0).slots == 10
    assert rate_server.exchange("b", waiting, 0.1).slots == 0, "they are still a's"
    assert rate_server.exchange("a", PermitRequest((0,) * 20, 20, 10), 0.2).slots == 5, (
        "it starts none until it has fewer"
    )
    assert rate_server.exchange("b", waiting, 0.3).slots == 0
    assert rate_server.exchange("a", PermitRequest((0,) * 20, 20, 5), 0.4).slots == 5
    assert rate_server.exchange("b", waiting, 0.5).slots == 5


def test_one_slot_goes_round():
    rate_server = RateServer(Limits(max_concurrency=1), 0.0)
    held = {"a": 0, "b": 0}
    turns = set()
    for tick in range(40):
        for name in held:
            grant = rate_server.exchange(name, PermitRequest((0,) * 3, 3, 0), tick * 0.25)
            held[name] = grant.slots
            turns.add(name if grant.slots else None)
        assert sum(held.values()) <= 1
    assert {"a", "b"} <= turns


def test_slots_of_a_lost_worker_are_kept_for_a_while_then_others_get_them():
    rate_server = RateServer(Limits(max_concurrency=4), 0.0)
    rate_server.exchange("lost", PermitRequest((0,) * 9, 9), 0.0)
    assert rate_server.exchange("left", PermitRequest((0,) * 9, 9), FORGET_S - 1).slots == 0
    assert rate_server.exchange("left", PermitRequest((0,) * 9, 9), FORGET_S + 1).slots == 4


def test_a_restarted_rate_server_gives_no_slots_until_those_of_the_one_before_have_run_out():
    rate_server = RateServer(Limits(max_concurrency=4), 100.0, restarted=True)
    assert rate_server.exchange("a", PermitRequest((0,) * 9, 9, 3), 100.5).slots == 3
    assert rate_server.exchange("b", PermitRequest((0,) * 9, 9, 0), 101.0).slots == 0
    rate_server.exchange("a", PermitRequest((0,) * 9, 9, 3), 105.5)
    assert rate_server.exchange("b", PermitRequest((0,) * 9, 9, 0), 106.0).slots == 1


@pytest.mark.slow
def test_workers_get_permits_by_turns():
    rate_server = RateServer(Limits(requests_per_minute=60), 0.0)
    got = dict.fromkeys("abc", 0)
    eager = {"a": 5, "b": 1, "c": 1}  # a comes five times as often
    for tick in range(1, 1200):
        for name, times in eager.items():
            for again in range(times):
                grant = rate_server.exchange(name, PermitRequest((0,) * 5, 5), tick * 0.25 + again * 0.01)
                got[name] += grant.calls or 0
    assert min(got.values()) > 0.8 * max(got.values())


def test_a_permit_that_comes_back_late_is_lost():
    """It was given a minute ago; the bucket has filled again since, and would hold two for the same minute."""
    plan = [
        Visit("b", 66.0, (1,), 0.0, 0.0),
        Visit("a", 62.0, (1,), 1.0, 0.0),
        Visit("b", 1.0, (), 0.0, 0.0),
        Visit("a", 1.0, (1,), 1.0, 0.0),
    ]
    assert busiest_minute(played(RateServer(Limits(requests_per_minute=1), 0.0), plan))[0] == 1
