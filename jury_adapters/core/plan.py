"""What judging many cases may take at most, estimated before anything is sent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from jury_adapters.core.batch import as_case
from jury_adapters.core.cascade import CascadedJury
from jury_adapters.core.case import Case
from jury_adapters.core.judge import CaseLike, Judge
from jury_adapters.core.judgment import NO_USAGE, Usage
from jury_adapters.core.jury import unique_names


@dataclass(frozen=True, slots=True)
class PlanRow:
    """What one tier of a cascade, or one juror of a panel, may take.

    Attributes:
        name: the tier or juror, as it is called in verdicts.
        cases: how many of the cases it would ask a model about; 0 for a check that asks none.
        calls: requests to models.
        input_tokens: input tokens, at three characters a token.
        output_tokens: all the output that is allowed.
        cost_usd: US dollars, as far as prices are known.
        cost_complete: False when a price is unknown, so that ``cost_usd`` is only a part.
    """

    name: str
    cases: int
    calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float
    cost_complete: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """What judging these cases may take; see :meth:`Judge.plan`. Print it for a table.

    Attributes:
        rows: per tier of a cascade, per juror of any other jury; one row for a single judge.
        cases: how many cases there are.
        unreadable: how many rows of the input make no case; they cost nothing and get an ERROR.
        per_tier: True when a row says what its tier takes *if every case gets there*. The totals say the same: a
            cascade that stops early takes less.
    """

    rows: tuple[PlanRow, ...]
    cases: int
    unreadable: int = 0
    per_tier: bool = False

    @property
    def calls(self) -> int:
        return sum(row.calls for row in self.rows)

    @property
    def input_tokens(self) -> int:
        return sum(row.input_tokens for row in self.rows)

    @property
    def output_tokens(self) -> int:
        return sum(row.output_tokens for row in self.rows)

    @property
    def cost_usd(self) -> float:
        """The sum of the known costs, in US dollars."""
        return sum(row.cost_usd for row in self.rows)

    @property
    def cost_complete(self) -> bool:
        """False when the price of any juror is unknown."""
        return all(row.cost_complete for row in self.rows)

    def __str__(self) -> str:
        total = PlanRow(
            "total", self.cases, self.calls, self.input_tokens, self.output_tokens, self.cost_usd, self.cost_complete
        )
        head = ("tier" if self.per_tier else "juror", "cases", "calls", "input tokens", "output tokens", "US$")
        table = [head, *(_cells(row) for row in (*self.rows, total))]
        widths = [max(len(line[column]) for line in table) for column in range(len(head))]
        lines = [
            "  ".join(
                [line[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(line[1:], widths[1:], strict=True))]
            )
            for line in table
        ]
        lines.insert(1, "-" * len(lines[0]))
        lines.insert(-1, "-" * len(lines[0]))
        return "\n".join([*lines, *self._notes()])

    def _notes(self) -> Iterable[str]:
        yield "At most, without retries, repair requests and what a store already holds."
        if self.per_tier:
            yield "Each tier as if every case got there; a case that is decided earlier takes less."
        if not self.cost_complete:
            yield "+ : the price of a juror is unknown; set_price('vendor:model', input=..., output=...)."
        if self.unreadable:
            yield f"{self.unreadable} rows of the input make no case and cost nothing."


def plan_of(judge: Judge, cases: Iterable[CaseLike]) -> Plan:
    """Estimate what judging these cases may take; see :meth:`Judge.plan`."""
    parts = _parts(judge)
    used = [NO_USAGE] * len(parts)
    asked = [0] * len(parts)
    count = unreadable = 0
    for row in cases:
        case = as_case(row)
        if not isinstance(case, Case):
            unreadable += 1
            continue
        count += 1
        for position, (_, part) in enumerate(parts):
            estimate = part.estimate(case)
            used[position] = used[position] + estimate
            asked[position] += estimate.calls > 0
    rows = (
        _row(name, used_here, asked_here) for (name, _), used_here, asked_here in zip(parts, used, asked, strict=True)
    )
    return Plan(tuple(rows), count, unreadable, isinstance(judge, CascadedJury))


def _parts(judge: Judge) -> list[tuple[str, Judge]]:
    if isinstance(judge, CascadedJury):
        return [(tier.name, tier.judge) for tier in judge.tiers]
    members = judge.members or (judge,)
    return list(zip(unique_names([member.name for member in members]), members, strict=True))


def _row(name: str, used: Usage, asked: int) -> PlanRow:
    return PlanRow(name, asked, used.calls, used.input_tokens, used.output_tokens, used.cost_usd, used.cost_complete)


def _cells(row: PlanRow) -> tuple[str, ...]:
    numbers = (row.cases, row.calls, row.input_tokens, row.output_tokens)
    cost = f"{row.cost_usd:,.4f}" if row.cost_complete else f"{row.cost_usd:,.4f}+" if row.cost_usd else "?+"
    return (row.name, *(f"{number:,}" for number in numbers), cost)
