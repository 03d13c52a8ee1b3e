"""Memory is flat however many cases there are; the nightly run adds critics and a store at 100,000 cases."""

from tests.reliability.memory import blocks_grown, bytes_grown, critic, waiting_judge


def test_30_000_cases_take_no_more_memory_than_3_000():
    assert blocks_grown(waiting_judge(), 30_000) < 3_000  # of 27,000 cases between


def test_critics_keep_nothing_of_the_cases_they_have_judged():
    assert bytes_grown(critic(), 3000) < 2_000_000  # the 2,700 cases between are 2.7 MB of text alone
