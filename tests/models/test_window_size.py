"""The size of a vendor's window, from the order of accepted and refused requests."""

import random

import pytest

from jury_adapters.models.window_size import WindowSize


def after(accepts, *, rate, seconds, shuffle=0):
    """The estimate after evenly spaced requests, of which ``accepts`` says which are accepted."""
    window = WindowSize()
    sent = [(number, number / rate) for number in range(1, int(rate * seconds))]
    refused = [(number, at) for number, at in sent if not accepts(number, at)]
    if shuffle:
        dice = random.Random(5)
        refused.sort(key=lambda refusal: refusal[0] + dice.uniform(0, shuffle))
    for number, at in refused:
        window.refuse(number, at)
    return window.requests


def fixed(size, phase):
    count = {}

    def accepts(_, at):
        second = int(at + phase)
        count[second] = count.get(second, 0) + 1
        return count[second] <= size

    return accepts


@pytest.mark.parametrize("phase", [0.0, 0.21, 0.5, 0.87])
@pytest.mark.parametrize(("size", "rate"), [(20, 30), (100, 160), (100, 1200), (57, 64)])
def test_a_fixed_window_is_measured_exactly_wherever_its_seconds_begin(size, rate, phase):
    assert after(fixed(size, phase), rate=rate, seconds=3.5) == size


def test_a_few_refusals_that_overtake_each_other_change_little():
    assert after(fixed(100, 0.3), rate=160, seconds=3.5, shuffle=4) == pytest.approx(100, abs=4)


def test_one_full_window_does_not_show_where_it_began():
    assert after(fixed(100, 0.0), rate=160, seconds=0.99) is None


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.02, 0.1, 0.3, 0.6])
def test_refusals_at_random_do_not_look_like_a_window_of_half_the_requests(share):
    for seed in range(20):
        dice = random.Random(seed)
        found = after(lambda _, at, dice=dice: dice.random() >= share, rate=200, seconds=30)
        window = WindowSize()
        window.requests = found
        assert window.correct(200 * (1 - share)) == 200 * (1 - share)


def test_a_token_bucket_refuses_one_by_one_and_shows_no_window():
    level, last = 1.0, 0.0

    def accepts(_, at):
        nonlocal level, last
        level, last = min(1.0, level + (at - last) * 100), at
        if level < 1:
            return False
        level -= 1
        return True

    assert after(accepts, rate=120, seconds=10) is None


def test_a_window_far_smaller_than_the_goodput_is_not_taken_for_it():
    window = WindowSize()
    window.requests = 20
    assert window.correct(100.0) == 100.0
    assert window.correct(40.0) == 20.0
    assert window.correct(15.0) == 15.0
