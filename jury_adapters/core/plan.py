"""Estimate of what judging many cases takes, made before anything is sent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from jury_adapters.core.batch import as_case
from jury_adapters.core.cascade import CascadedJury
from jury_adapters.core.case import Case
from jury_adapters.core.judge import CaseLike, Judge
from jury_adapters.core.jury import Jury, unique_names
from jury_adapters.core.usage import NO_USAGE


@dataclass(frozen=True, slots=True)
class PlanRow:
    """Estimate for one tier of a cascade, or one juror of a panel.

    Attributes:
        name: the tier or juror, as it is called in verdicts.
        cases: number of cases about which it would ask a model; 0 for a check that asks none.
        calls: calls to models, each counted once.
        input_tokens: input tokens, at three characters a token.
        output_tokens: all the output that is allowed.
        cost_usd: US dollars, as far as prices are known.
        cost_complete: False when a price is unknown, so that ``cost_usd`` is only a part.
        tokens_complete: False when another package makes calls whose tokens are unknown, so that the tokens are only a
            part.
    """

    name: str
    cases: int
    calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float
    cost_complete: bool
    tokens_complete: bool = True


@dataclass(frozen=True, slots=True)
class Plan:
    """Estimate of what judging these cases takes; see :meth:`Judge.plan`. Print it for a table.

    It counts one request for each call. A retry or a repair request is a further request, and what a store already
    holds needs none. The table marks each number that is only a part with ``+``, and says why.

    Attributes:
        rows: per tier of a cascade, per juror of any other jury; one row for a single judge.
        cases: how many cases there are.
        unreadable: how many rows of the input make no case; they cost nothing and get an ERROR.
        per_tier: True when the rows and the totals are those of a run in which every case gets to every tier. A
            cascade that decides a case earlier takes less.
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

    @property
    def tokens_complete(self) -> bool:
        """False when another package makes calls whose tokens are unknown."""
        return all(row.tokens_complete for row in self.rows)

    def __str__(self) -> str:
        total = PlanRow(
            "total", self.cases, self.calls, self.input_tokens, self.output_tokens, self.cost_usd, self.cost_complete,
            self.tokens_complete,
        )  # fmt: skip
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
        yield "An estimate: each call once, with all the output that is allowed. Retries and repair requests add to it,"
        yield "and judgments that a store already holds take nothing."
        if self.per_tier:
            yield "Each tier is estimated as if every case got there; a case that is decided earlier takes less."
        unpriced = ", ".join(row.name for row in self.rows if not row.cost_complete)
        if unpriced:
            yield f"+ : the cost is not known in full, because a price is missing: {unpriced}."
            yield "    For a model: set_price('vendor:model', input=..., output=...)."
            yield "    For an evaluator of another package: cost=, in US dollars per judgment."
        uncounted = ", ".join(row.name for row in self.rows if not row.tokens_complete)
        if uncounted:
            yield f"+ : the tokens are not known in full, because another package makes the calls: {uncounted}."
        if self.unreadable:
            yield f"{self.unreadable} rows of the input make no case and cost nothing."


def plan_of(judge: Judge, cases: Iterable[CaseLike]) -> Plan:
    """Estimate what judging these cases takes; see :meth:`Judge.plan`."""
    parts = _parts(judge)
    used = [NO_USAGE] * len(parts)
    asked = [0] * len(parts)
    count = unreadable = 0
    for row in cases:
        case = as_case(row, judge)
        if not isinstance(case, Case):
            unreadable += 1
            continue
        count += 1
        for position, (_, part) in enumerate(parts):
            estimate = part.estimate(case)
            used[position] = used[position] + estimate
            asked[position] += estimate.calls > 0
    rows = tuple(
        PlanRow(
            name, asked_here, usage.calls, usage.input_tokens, usage.output_tokens, usage.cost_usd,
            usage.cost_complete, part.metered or not usage.calls,
        )
        for (name, part), usage, asked_here in zip(parts, used, asked, strict=True)
    )  # fmt: skip
    return Plan(rows, count, unreadable, isinstance(judge, CascadedJury))


def _parts(judge: Judge) -> list[tuple[str, Judge]]:
    if isinstance(judge, CascadedJury):
        return [(tier.name, tier.judge) for tier in judge.tiers]
    members = judge.members or (judge,)
    names = judge.names if isinstance(judge, Jury) else unique_names([member.name for member in members])
    return list(zip(names, members, strict=True))


def _cells(row: PlanRow) -> tuple[str, ...]:
    tokens = [_cell(amount, ",", row.tokens_complete) for amount in (row.input_tokens, row.output_tokens)]
    return (row.name, f"{row.cases:,}", f"{row.calls:,}", *tokens, _cell(row.cost_usd, ",.4f", row.cost_complete))


def _cell(amount: float, form: str, complete: bool) -> str:
    """The amount, marked where it is only a part; ``?`` where nothing of it is known."""
    if complete:
        return format(amount, form)
    return f"{format(amount, form) if amount else '?'}+"
