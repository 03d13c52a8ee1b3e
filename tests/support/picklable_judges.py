"""Judges at the top level of a module, for tests that send them to other processes."""

from __future__ import annotations

import asyncio

from jury_adapters import Case, judge


@judge
def polite(case: Case) -> tuple[bool, str]:
    """Whether the answer says please."""
    return "please" in (case.answer or ""), "looked for please"


@judge(name="brief", threshold=0.7, timeout=20, cost=0.5)
def length_score(case: Case) -> float:
    """A score of 0.6 for short answers."""
    return 0.6 if len(case.answer or "") < 80 else 0.1


@judge
async def patient(case: Case) -> bool:
    """Waits a little."""
    await asyncio.sleep(0.001)
    return True


class Checks:
    """Judges in a class."""

    @judge
    def ends_well(case: Case) -> bool:  # type: ignore[misc]
        """Whether the answer ends in a full stop."""
        return (case.answer or "").endswith(".")


def lower(case: Case) -> bool:
    """A function that is made a judge under another name."""
    return (case.answer or "").islower()


lower_case = judge(lower)
