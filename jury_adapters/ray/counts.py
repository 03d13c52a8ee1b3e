"""Progress of a run: counts that can be added, and the estimated time to the end."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Self

from jury_adapters.core.formatting import counted, money
from jury_adapters.core.judgment import Judgment, Status


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of verdicts, which can be added with ``+``.

    Attributes:
        cases: verdicts, including those of invalid rows.
        errors: number of verdicts with status ERROR.
        escalated: number of verdicts that need review: those without a decision, and those for which the jury asks for
            review.
        skipped: rows that an earlier run has judged.
        calls: calls that models answered.
        input_tokens: of all calls.
        output_tokens: of all calls.
        cost_usd: the sum of the known costs.
        unpriced: verdicts with an unknown price, so that the cost is a lower bound.
    """

    cases: int = 0
    errors: int = 0
    escalated: int = 0
    skipped: int = 0
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    unpriced: int = 0

    @classmethod
    def of(cls, judgment: Judgment) -> Self:
        """Return the counts of one judgment."""
        usage = judgment.usage
        return cls(
            cases=1,
            errors=int(judgment.status is Status.ERROR),
            escalated=int(judgment.needs_review),
            calls=usage.calls,
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            cost_usd=usage.cost_usd,
            unpriced=int(not usage.cost_complete),
        )

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Read the output of :meth:`to_json`."""
        return cls(**json.loads(text))

    @classmethod
    def from_columns(cls, columns: Mapping[str, list[float]]) -> Self:
        """Return the sum of the rows of a table of counts."""
        whole = {f.name: sum(columns[f.name]) for f in fields(cls)}
        return cls(**{name: value if name == "cost_usd" else int(value) for name, value in whole.items()})  # type: ignore[arg-type]

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    def to_columns(self) -> dict[str, list[float]]:
        """Return one row of a table of counts."""
        return {name: [value] for name, value in asdict(self).items()}

    def __add__(self, other: Counts) -> Counts:
        return Counts(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a run, passed to ``progress=`` after each part, and once more at the end.

    Attributes:
        counts: the counts of this run so far.
        elapsed_s: seconds since it began.
        total: the number of all rows, or None if it is unknown.
        parts: the number of finished batches.
        ended: whether the run has ended.
    """

    counts: Counts
    elapsed_s: float
    total: int | None = None
    parts: int = 0
    ended: bool = False

    @property
    def per_second(self) -> float:
        """Average number of verdicts per second."""
        return self.counts.cases / self.elapsed_s if self.elapsed_s > 0 else 0.0

    @property
    def eta_s(self) -> float | None:
        """Seconds to the end at the average rate; None if the total is unknown or nothing has been judged yet."""
        if self.total is None or self.per_second <= 0:
            return None
        return max(0, self.total - self.counts.cases - self.counts.skipped) / self.per_second

    def __str__(self) -> str:
        counts = self.counts
        cost = money(counts.cost_usd, complete=not counts.unpriced)
        earlier = f", {counts.skipped:,} judged before" if counts.skipped else ""
        left = "" if self.eta_s is None or self.eta_s == 0 else f", {self.eta_s:,.0f} s left"
        errors, calls = counted(counts.errors, "error"), counted(counts.calls, "call")
        return (
            f"{counted(counts.cases, 'case')} judged in {self.elapsed_s:,.1f} s ({self.per_second:,.0f} per second)"
            f"{earlier}, {errors}, {counts.escalated:,} to review, {calls}, {cost}{left}"
        )
