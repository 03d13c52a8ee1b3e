"""Estimate of the calls, tokens and costs of judging many cases, made before anything is sent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from jury_adapters.core.batch import as_case, refuse_one
from jury_adapters.core.budget import judges_without_price
from jury_adapters.core.cascade import CascadedJury
from jury_adapters.core.case import Case
from jury_adapters.core.ensemble import Ensemble
from jury_adapters.core.formatting import clip
from jury_adapters.core.judge import CaseLike, Judge
from jury_adapters.core.jury import Jury, unique_names
from jury_adapters.core.usage import NO_USAGE


@dataclass(frozen=True, slots=True)
class CostEstimateRow:
    """Estimate for one tier of a cascade, or one juror of a panel.

    Attributes:
        name: the name of the tier or juror in verdicts.
        cases: number of cases for which it would ask a model; 0 for a check that asks none.
        calls: number of calls to models, without retries.
        input_tokens: number of input tokens, at three characters per token.
        output_tokens: the maximum number of output tokens.
        cost_usd: cost in US dollars, as far as prices are known.
        cost_complete: False if a price is unknown, so that ``cost_usd`` is incomplete.
        tokens_complete: False if another package makes calls with unknown tokens, so that the token counts are
            incomplete.
        without_price: the judges with an unknown price, each with its model.
    """

    name: str
    cases: int
    calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float
    cost_complete: bool
    tokens_complete: bool = True
    without_price: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CostEstimate:
    """Estimate of the calls, tokens and costs of judging cases; see :meth:`Judge.estimate_cost`. It prints as a table.

    Each call counts as one request. Retries and repair requests add to the estimate, and judgments that are already in
    a store reduce it. The table marks each incomplete number with ``+`` and gives the reason.

    Attributes:
        rows: one row per tier of a cascade, or per juror of another jury; one row for a single judge.
        cases: number of cases.
        unreadable: number of input rows that are not valid cases; they cost nothing and get an ERROR.
        per_tier: True if the rows and the totals assume that every case reaches every tier. A cascade that decides
            cases earlier takes less.
        stops_early: True if the judge, or a jury inside it, has ``schedule="early_stop"``. The estimate is that of
            asking every juror.
        heading: the heading of the rows in the table; by default ``"tier"`` or ``"juror"``.
        first_problem: the reason that the first unreadable row is not a valid case; empty if there is none.
    """

    rows: tuple[CostEstimateRow, ...]
    cases: int
    unreadable: int = 0
    per_tier: bool = False
    heading: str = ""
    stops_early: bool = False
    first_problem: str = ""

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
        """False if the price of any juror is unknown."""
        return all(row.cost_complete for row in self.rows)

    @property
    def tokens_complete(self) -> bool:
        """False if another package makes calls with unknown tokens."""
        return all(row.tokens_complete for row in self.rows)

    def __str__(self) -> str:
        total = CostEstimateRow(
            "total", self.cases, self.calls, self.input_tokens, self.output_tokens, self.cost_usd, self.cost_complete,
            self.tokens_complete,
        )  # fmt: skip
        heading = self.heading or ("tier" if self.per_tier else "juror")
        head = (heading, "cases", "calls", "input tokens", "output tokens", "US$")
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
        yield "An estimate: each call once, with all the output that is allowed, so the bill is usually far lower."
        yield "Retries and repair requests add to it, and judgments that a store already holds take nothing."
        if self.calls and any(row.cases < self.cases for row in self.rows):
            yield "The cases of a row are those about which a model is asked; checks and plain functions ask none."
        if self.per_tier:
            yield "Each tier is estimated as if every case got there; a case that is decided earlier takes less."
        if self.stops_early:
            yield "Every juror is estimated as if it were asked; early stopping asks no more once the vote is settled."
        missing = (row.without_price or (row.name,) for row in self.rows if not row.cost_complete)
        unpriced = ", ".join(dict.fromkeys(name for names in missing for name in names))
        if unpriced:
            yield f"+ : the cost is not known in full, because a price is missing: {unpriced}."
            yield "    For a model: set_price('vendor:model', input=..., output=...); for a command:"
            yield "    --price vendor:model=INPUT,OUTPUT. Both are in US dollars per million tokens."
            yield "    For an evaluator of another package: cost=, in US dollars per judgment."
        uncounted = ", ".join(row.name for row in self.rows if not row.tokens_complete)
        if uncounted:
            yield f"+ : the tokens are not known in full, because another package makes the calls: {uncounted}."
        if self.unreadable:
            makes = "row makes no case and costs" if self.unreadable == 1 else "rows make no case and cost"
            yield f"{self.unreadable:,} input {makes} nothing."
            if self.first_problem:
                yield f"    The first one: {clip(self.first_problem, 200)}"


def estimate_cost_of(judge: Judge, cases: Iterable[CaseLike]) -> CostEstimate:
    """Return the estimate for judging these cases; see :meth:`Judge.estimate_cost`."""
    refuse_one(cases)
    parts = _parts(judge)
    used = [NO_USAGE] * len(parts)
    asked = [0] * len(parts)
    count, unreadable, first_problem = 0, 0, ""
    for row in cases:
        case = as_case(row, judge)
        if not isinstance(case, Case):
            unreadable, first_problem = unreadable + 1, first_problem or case.reasoning
            continue
        count += 1
        if case.run_error is not None:  # no judge is asked
            continue
        for position, (_, part) in enumerate(parts):
            estimate = part.estimate(case)
            used[position] = used[position] + estimate
            asked[position] += estimate.calls > 0
    rows = tuple(
        CostEstimateRow(
            name, asked_here, usage.calls, usage.input_tokens, usage.output_tokens, usage.cost_usd,
            usage.cost_complete, part.metered or not usage.calls,
            () if part.priced else tuple(judges_without_price(part)),
        )
        for (name, part), usage, asked_here in zip(parts, used, asked, strict=True)
    )  # fmt: skip
    return CostEstimate(
        rows, count, unreadable, isinstance(judge, CascadedJury), stops_early=_stops_early(judge),
        first_problem=first_problem,
    )  # fmt: skip


def _stops_early(judge: Judge) -> bool:
    return (isinstance(judge, Ensemble) and judge.schedule == "early_stop") or any(map(_stops_early, judge.members))


def _parts(judge: Judge) -> list[tuple[str, Judge]]:
    if isinstance(judge, CascadedJury):
        return [(tier.name, tier.judge) for tier in judge.tiers]
    members = (judge,) if judge.estimated_whole else judge.members or (judge,)
    names = judge.names if isinstance(judge, Jury) else unique_names([member.name for member in members])
    return list(zip(names, members, strict=True))


def _cells(row: CostEstimateRow) -> tuple[str, ...]:
    tokens = [_cell(amount, ",", row.tokens_complete) for amount in (row.input_tokens, row.output_tokens)]
    return (row.name, f"{row.cases:,}", f"{row.calls:,}", *tokens, _cell(row.cost_usd, ",.4f", row.cost_complete))


def _cell(amount: float, form: str, complete: bool) -> str:
    """Return the amount, with ``+`` if it is incomplete, and ``?`` instead of the number if nothing is known."""
    if complete:
        return format(amount, form)
    return f"{format(amount, form) if amount else '?'}+"
