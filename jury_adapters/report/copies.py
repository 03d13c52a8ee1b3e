"""Copies of cases in the runs of a comparison, which add no information."""

from __future__ import annotations

from collections.abc import Iterator

from jury_adapters.core.formatting import counted
from jury_adapters.report.run_facts import RunFacts


def group_copies(*runs: RunFacts) -> int:
    """Make groups of the copies in independent samples, and return the number of copies.

    Args:
        runs: the samples; their groups are set if any of them has copies.
    """
    names = [run.copies or run.index for run in runs]
    count = sum(map(len, names)) - sum(len(set(one)) for one in names)
    if count:
        for side, (run, one) in enumerate(zip(runs, names, strict=True)):
            run.groups = [(side, name) for name in one]  # different samples have no case in common
    return count


def warn_of_copies(copies: int) -> Iterator[str]:
    """Yield a sentence about the copies in independent samples, if there are any."""
    if copies:
        have = "has" if copies == 1 else "have"
        yield (
            f"{counted(copies, 'case')} {have} the id of an earlier case of the same run, or without ids its content; "
            "such copies count as one group."
        )
