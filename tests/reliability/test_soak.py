"""A short soak: sockets are used again and nothing is kept. The nightly one makes 100,000 judgments."""

from jury_adapters.testing import no_waiting
from tests.reliability.soak import soak


def test_a_soak_is_right_and_keeps_neither_sockets_nor_memory():
    with no_waiting():
        marks = soak(600, marks=6, in_flight=32)
    assert marks[-1].judgments == 1800
    assert marks[-1].files <= marks[1].files + 16
    assert marks[-1].blocks - marks[1].blocks < 20_000
