"""Estimate of what judging would cost, before anything is sent."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from jury_adapters.core.case import Case, CaseLike, refuse_one
from jury_adapters.core.judgment import NO_USAGE, Usage


@dataclass(frozen=True)
class CostEstimate:
    """Upper estimate: every tier and every juror is asked about every case and uses all the output that it may.

    Attributes:
        cases: the number of cases.
        parts: the usage per tier or juror, by name.
    """

    cases: int
    parts: Mapping[str, Usage]

    @property
    def total(self) -> Usage:
        """The usage of all parts together."""
        return sum(self.parts.values(), NO_USAGE)

    def __str__(self) -> str:
        width = max(map(len, [*self.parts, "total"]))
        lines = [
            f"{name:{width}}  {one.calls:9,} calls  {one.input_tokens:12,} in  {one.output_tokens:11,} out  "
            f"${one.cost_usd:,.4f}{'' if one.cost_complete else ' or more: a price is unknown, or a reply unlimited'}"
            for name, one in {**self.parts, "total": self.total}.items()
        ]
        return "\n".join(
            [*lines, f"{self.cases:,} cases; an upper limit without retries. Cascades and early stopping ask fewer."]
        )


def estimate_cost(parts: Mapping[str, Callable[[Case], Usage]], cases: Iterable[CaseLike]) -> CostEstimate:
    """Return the estimate of judging cases, given how each part estimates one case."""
    refuse_one(cases)
    usages, number = dict.fromkeys(parts, NO_USAGE), 0
    for row in cases:
        case, number = Case.of(row), number + 1
        usages = {name: used + parts[name](case) for name, used in usages.items()}
    return CostEstimate(number, usages)
