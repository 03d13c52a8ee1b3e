"""Behaviour that the handlers of all frameworks share: the checks of their options, and closing."""

import pytest
from support.judge_queues import CASE, passing

from jury_adapters import ConfigurationError
from jury_adapters.core.background.counts import Counts
from jury_adapters.core.background.judge_queue import Run
from jury_adapters.core.background.watch import RunWatch, queue_of


class Watch(RunWatch):
    """A watch of no framework."""

    def __init__(self, **options):
        self._queue = queue_of(passing(), 5, (), **options)
        self.detached = 0

    def _open_runs(self):
        return 2

    def _detach(self):
        self.detached += 1


def test_a_misspelt_option_is_refused_with_the_one_that_was_meant():
    with pytest.raises(ConfigurationError, match=r"unknown option 'smple'. Did you mean 'sample'\?.*runs"):
        queue_of(passing(), 5, ("runs",), smple=3)
    with pytest.raises(ConfigurationError, match="share of runs"):
        queue_of(passing(), 5, (), sample=3)
    with queue_of(passing(), 5, (), sample=0.0) as queue:
        assert not queue.put(CASE, run=Run("1"))


@pytest.mark.parametrize("max_open", [0, True, 2.0, "5"])
def test_a_bound_is_a_whole_number_from_1(max_open):
    with pytest.raises(ConfigurationError, match="max_open is a whole number from 1"):
        queue_of(passing(), max_open, ())


def test_the_end_of_a_block_detaches_and_waits_for_what_is_pending():
    with Watch() as watch:
        watch._queue.put(CASE, run=Run("1"))
        assert watch.counts in (Counts(open=2, pending=1), Counts(open=2, judged=1))
    assert (watch.counts, watch.detached) == (Counts(open=2, judged=1), 1)
    assert not watch._queue.put(CASE, run=Run("2"))
    assert watch.counts.dropped == 1
