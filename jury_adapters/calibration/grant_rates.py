"""Rates at which calibrations of the same sizes grant a guarantee, and their meaning for a guarantee at hand."""

from __future__ import annotations

from typing import NamedTuple

from jury_adapters.core.render import percent


class GrantRates(NamedTuple):
    """Rates at which calibrations of the same sizes and the same target grant a guarantee.

    Attributes:
        if_false: rate for a jury whose agreement is just below the target, whatever its confidence, so that each
            guarantee granted is false, in 0..1. It is ``delta`` at most, but for the luck of the simulation.
        as_seen: rate for a jury that errs as often as this one did, in 0..1.
        runs: number of simulated calibrations for each.
        good_enough: whether the jury seems to keep the target, at the strictest or the most lenient threshold tested.
    """

    if_false: float
    as_seen: float
    runs: int
    good_enough: bool = True

    @property
    def lucky(self) -> float | None:
        """Share of the guarantees granted that are false where juries of both kinds are equally common.

        None where neither kind is granted any. Where the jury itself does not seem good enough, all of them are.
        """
        if not self.good_enough:
            return 1.0
        both = self.if_false + self.as_seen
        return self.if_false / both if both else None

    def sentence(self, agreement: float) -> str:
        """Return what the rates mean for a guarantee of this agreement."""
        told = (
            f"Of {self.runs:,} simulated calibrations like this one, {percent(self.if_false)} grant the guarantee to a "
            f"jury that agrees on just less than {percent(agreement)}, and {percent(self.as_seen)} grant it to a jury "
            "as good as this one seems."
        )
        if not self.good_enough:
            return f"{told} This jury itself seems to agree on less, so a guarantee would be false."
        if self.lucky is None:
            return told
        return f"{told} If such juries were equally common, {percent(self.lucky)} of the guarantees would be false."
