"""A short soak: sockets are used again and nothing is kept. The nightly one makes 100,000 judgments."""

from itertools import pairwise

from jury_adapters.testing import no_waiting
from tests.reliability.panel import JURORS
from tests.reliability.soak import soak
from tests.support.examples import SLOW

CASES = 2400 if SLOW else 800


def test_a_soak_is_right_and_keeps_neither_sockets_nor_memory():
    with no_waiting():
        marks = soak(CASES, marks=8, in_flight=32)
    assert marks[-1].judgments == CASES * JURORS
    assert marks[-1].files <= marks[1].files + 16
    # A leak grows between all marks, by a block per judgment or more. What grows once is left out: a module that is
    # imported late, or the source lines that are kept when a traceback is formatted for the first time.
    growths = sorted(later.blocks - earlier.blocks for earlier, later in pairwise(marks[1:]))
    assert sum(growths[:-1]) < 0.8 * (len(growths) - 1) * CASES * JURORS / 8, growths
