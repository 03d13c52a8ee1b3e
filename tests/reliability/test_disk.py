"""Nothing durable is lost or judged twice, whatever befalls the file, or it is said; `disk_table.py` has more."""

import pytest

from tests.reliability.disk_runs import damaged, disk_full, not_writable, other_versions, torn_log, two_processes


@pytest.mark.slow
@pytest.mark.parametrize(
    ("run", "size"),
    [
        (disk_full, {}),
        (not_writable, {}),
        (damaged, {"count": 60, "every": 6}),
        (torn_log, {"commits": 6, "every": 5}),
        (two_processes, {"count": 20, "held_s": 0.3}),
        (other_versions, {}),
    ],
)
def test_nothing_durable_is_lost_or_judged_twice_or_it_is_said(run, size):
    for row in run(**size):
        assert row.good, row
