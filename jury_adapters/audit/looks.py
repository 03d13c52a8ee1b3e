"""Looks at the results of an audit, after which operators whose rates are known well enough are asked about no more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TypeAlias

from jury_adapters.audit.probes import Kind, Probe

PARTS = (0.5, 1.0)
"""The share of the probes of an operator that was asked at each look. In simulations, a look after a quarter saved
hardly more and missed more weaknesses."""

LOOKS = len(PARTS)

Block: TypeAlias = tuple[Kind, str]
"""Probes that are stopped together: those of an operator, of a change, or all with hostile text."""


def block_of(probe: Probe) -> Block:
    """Return the block of a probe."""
    return (probe.kind, "" if probe.kind == "injection" else probe.name)


def looks_of(probes: Iterable[Probe]) -> dict[int, int]:
    """Return the look, from 0, at which each probe has been asked, by number of the probe.

    The probes of an operator come in random order, each case once before a case has a second one. So the first part of
    them is a fair sample.
    """
    found = list(probes)
    sizes = Counter(block_of(probe) for probe in found)
    places: Counter[Block] = Counter()
    looks = {}
    for probe in found:
        block = block_of(probe)
        ends = [ceil(part * sizes[block]) for part in PARTS]
        looks[probe.number] = (
            0 if probe.kind == "original" else next(look for look, end in enumerate(ends) if places[block] < end)
        )
        places[block] += 1
    return looks


@dataclass(frozen=True, slots=True)
class AskedProbes:
    """Probes that count, after some operators were stopped early.

    Attributes:
        all: the probes that were asked, except those that were only asked as the base of another one.
        common: those of the looks that every operator of the same kind had. Only they are added up over operators: an
            operator that was stopped early would weigh less than the others, and is stopped because of its rate.
        looks: the number of looks that were planned; 1 if all probes were asked at once.
        stopped: the blocks that were stopped early.
    """

    all: Sequence[Probe]
    common: Sequence[Probe]
    looks: int = 1
    stopped: tuple[Block, ...] = ()

    @property
    def data_sets(self) -> int:
        """Number of data sets that a test may be about: pairs of a last look of one operator and one of all.

        A p value that is multiplied by it is valid whatever the reason for stopping was (Bonferroni).
        """
        return self.looks * (self.looks + 1) // 2


def asked_probes(probes: Sequence[Probe], last: Mapping[Block, int]) -> AskedProbes:
    """Return the probes that count, given the last look of each block."""
    looks = looks_of(probes)
    counted = [probe for probe in probes if looks[probe.number] <= last[block_of(probe)]]
    left_out = {block_of(probe) for probe in probes if looks[probe.number] > last[block_of(probe)]}
    common: dict[Kind, int] = {}
    for kind, name in left_out:
        common[kind] = min(last[kind, name], common.get(kind, LOOKS))
    return AskedProbes(
        counted,
        [probe for probe in counted if looks[probe.number] <= common.get(probe.kind, LOOKS)],
        LOOKS,
        tuple(block for block in last if block in left_out),
    )
