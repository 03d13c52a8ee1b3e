"""Rates at which calibrations of the same sizes grant a guarantee, and their meaning for a given guarantee."""

from __future__ import annotations

from typing import NamedTuple

from jury_adapters.core.formatting import percent


class GrantRates(NamedTuple):
    """Rates at which calibrations of the same sizes and the same target grant a guarantee.

    Attributes:
        if_false: rate for a jury whose agreement is just below the target, whatever its confidence, so that each
            granted guarantee is false, in 0..1. It is at most ``delta``, apart from the error of the simulation.
        as_seen: rate for a jury with the error rate of this one, in 0..1.
        runs: number of simulated calibrations for each.
        good_enough: whether the jury seems to reach the target, at the strictest or the most lenient threshold tested.
    """

    if_false: float
    as_seen: float
    runs: int
    good_enough: bool = True

    @property
    def lucky(self) -> float | None:
        """Share of granted guarantees that are false if juries of both kinds are equally common.

        It is None if no guarantee is granted to either kind. If the jury itself does not seem good enough, it is 1.
        """
        if not self.good_enough:
            return 1.0
        both = self.if_false + self.as_seen
        return self.if_false / both if both else None

    def sentence(self, agreement: float) -> str:
        """Return the meaning of the rates for a guarantee of this agreement."""
        head = (
            f"Of {self.runs:,} simulated calibrations like this one, {percent(self.if_false)} grant the guarantee to a "
            f"jury that agrees on just less than {percent(agreement)}, and {percent(self.as_seen)} grant it to a jury "
            "as good as this one seems."
        )
        if not self.good_enough:
            return f"{head} This jury itself seems to agree on less, so a guarantee would be false."
        if self.lucky is None:
            return head
        return f"{head} If such juries were equally common, {percent(self.lucky)} of the guarantees would be false."
