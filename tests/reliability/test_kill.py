"""`kill -9` loses no durable judgment and pays for none twice. The nightly run does the same at full size."""

import pytest

from tests.reliability.killing import run


@pytest.mark.slow
def test_a_run_killed_twice_is_resumed_without_losing_or_paying_again():
    report = run(kills=2, count=150, seed=11)
    assert report.kills == 2
    assert report.judgments == 450
    assert report.paid_again == 0
    assert all(report.durable)
