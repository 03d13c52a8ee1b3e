"""Memory is flat however many cases there are; the nightly run adds critics and a store at 100,000 cases.

Whatever is kept of a case is a block of memory at least, so that a leak allocates a block for each case. A table that
grows once allocates a few. The text of a case is too long for such a block: its bytes are measured, against texts so
long that nothing else compares with them.
"""

import pytest

from tests.reliability.memory import blocks_grown, bytes_grown, critic, waiting_judge
from tests.support.examples import SLOW


@pytest.mark.slow
@pytest.mark.parametrize(
    ("judge", "count", "most"),
    [(waiting_judge, 30_000 if SLOW else 6000, 1 / 9), (critic, 1500, 1 / 2)],  # the first critic loads modules too
)
def test_no_block_is_kept_of_a_case(judge, count, most):
    between = count - count // 10 - 2 * 8
    assert blocks_grown(judge(), count, max_concurrency=8) < most * between


@pytest.mark.slow
@pytest.mark.parametrize("judge", [waiting_judge, critic])
def test_no_text_is_kept_of_a_case(judge):
    assert bytes_grown(judge(), 1500, max_concurrency=4, size=5000) < 1350 * 5000 / 4
