"""The summary of a batch: counted verdict by verdict, printed for a person or written as JSON."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from jury_adapters.calibration.guards import guards_in
from jury_adapters.cli.counters import (
    GateCount,
    GivenUp,
    JurorCount,
    LookFirst,
    TierCount,
    add_bounded,
    deciding_votes,
    models_not_asked,
    votes_in,
    why_unusable,
)
from jury_adapters.core.case import Case
from jury_adapters.core.gates import GateResult
from jury_adapters.core.judgment import NO_USAGE, Judgment, Status, abstain
from jury_adapters.core.render import counted, visible
from jury_adapters.core.statistics import wilson
from jury_adapters.core.values import JsonValue
from jury_adapters.core.verdict import Verdict, needs_review


class Summary:
    """What became of many cases; takes their verdicts one by one and stays small.

    Args:
        look_first: how many of the cases that deserve a look are kept.

    Attributes:
        cases: how many were judged.
        statuses: how many are PASS, FAIL, ABSTAIN and ERROR.
        labels: of verdicts whose label has no PASS/FAIL meaning, how many have which.
        errors: the messages of broken verdicts.
        answered: cases that are decided by an opinion of at least one juror, and not by errors that count as FAIL.
        causes: in the other cases, why jurors broke or had no usable reply.
        jurors: votes per juror, by the tiers and juries it stands in and its name.
        guards: which of the jurors stand in guard tiers. Their PASS or FAIL is no opinion of the verdict, so it is
            not compared with it.
        tiers: what happened at each tier, in order (cascades only).
        usage: tokens, calls and cost of all.
        calls_saved: juror calls that were not needed.
        review: cases for a person: undecided, or the jury asks for one.
        with_agreement: verdicts with two votes or more, so that there is an agreement.
        same_family: verdicts with a juror of the vendor family of the answer's author.
        unreadable: rows of the input that were no case; set by who reads them.
        gates: verdicts that miss a gate of their jury; None while no jury with gates was counted.
        given_up: models that were no longer asked, by name.

    >>> summary = Summary()
    >>> summary.add(Case(answer="4"), Judgment("PASS"), "line 1")
    >>> summary.passed, summary.decided
    (1, 1)
    """

    def __init__(self, *, look_first: int = 10) -> None:
        self.cases = 0
        self.unreadable = 0
        self.statuses: Counter[Status] = Counter()
        self.labels: Counter[str] = Counter()
        self.errors: Counter[str] = Counter()
        self.answered = 0
        self.causes: Counter[str] = Counter()
        self.jurors: dict[tuple[str, ...], JurorCount] = {}
        self.guards: set[tuple[str, ...]] = set()
        self.tiers: dict[str, TierCount] = {}
        self.usage = NO_USAGE
        self.calls_saved = 0
        self.review = 0
        self.same_family = 0
        self.gates: GateCount | None = None
        self.given_up: dict[str, GivenUp] = {}
        self.look_first = LookFirst(look_first)
        self._agreement = 0.0
        self.with_agreement = 0

    def add(self, case: Case | None, judgment: Judgment, where: str) -> None:
        """Take in one verdict.

        Args:
            case: what was judged; None where no case could be made.
            judgment: what was said of it.
            where: how a person finds the case again: the item's id, or its line.
        """
        self.cases += 1
        if judgment.status is None:
            add_bounded(self.labels, judgment.label or "")
        else:
            self.statuses[judgment.status] += 1
        if judgment.status is Status.ERROR:
            add_bounded(self.errors, judgment.error or judgment.reasoning)
        self._add_causes(judgment)
        self.usage = self.usage + judgment.usage
        self.review += needs_review(judgment)
        self.look_first.add(where, judgment)
        for model, error in models_not_asked(judgment).items():
            self.given_up.setdefault(model, GivenUp(error)).cases += 1
        if isinstance(judgment, Verdict):
            self._add_verdict(judgment)

    def add_gates(self, where: str, unmet: Sequence[GateResult]) -> None:
        """Take in the gates that a verdict misses, none of them perhaps."""
        if self.gates is None:
            self.gates = GateCount()
        self.gates.add(where, unmet)

    @property
    def passed(self) -> int:
        return self.statuses[Status.PASS]

    @property
    def decided(self) -> int:
        """Cases that are PASS or FAIL."""
        return self.statuses[Status.PASS] + self.statuses[Status.FAIL]

    @property
    def pass_rate(self) -> float | None:
        """The share of PASS among PASS and FAIL; None when nothing was decided."""
        return self.passed / self.decided if self.decided else None

    @property
    def mean_agreement(self) -> float | None:
        """The mean of the verdicts' own agreement, over the cases with two votes or more.

        Of a cascade that is the agreement in the tier that decided; votes in different tiers are not compared, and what
        a guard decides has none.
        """
        return self._agreement / self.with_agreement if self.with_agreement else None

    def to_dict(self) -> dict[str, JsonValue]:
        """The summary as JSON values."""
        low, high = wilson(self.passed, self.decided)
        return {
            "cases": self.cases,
            "unreadable_rows": self.unreadable,
            **{name: self.statuses[status] for name, status in _COUNTED.items()},
            "labels": dict(self.labels),
            "pass_rate": self.pass_rate,
            "pass_rate_interval": [low, high] if self.decided else None,
            "errors_by_message": dict(self.errors),
            "given_up": {
                model: {"cases_not_asked": count.cases, "error": count.error} for model, count in self.given_up.items()
            },
            "mean_agreement": self.mean_agreement,
            "needs_review": self.review,
            "same_family": self.same_family,
            "calls": self.usage.calls,
            "cost_usd": self.usage.cost_usd,
            "cost_complete": self.usage.cost_complete,
            "calls_saved": self.calls_saved,
            "gates": None if self.gates is None else {
                "missed": self.gates.missed, "by_gate": dict(self.gates.by_gate),
                "first": [{"where": where, "unmet": unmet} for where, unmet in self.gates.first],
            },
            "jurors": [
                {"in": list(path[:-1]), "juror": path[-1], "votes": dict(count.votes), "dissent": count.dissent,
                 "compared": count.compared, "guard": path in self.guards}
                for path, count in self.jurors.items()
            ],
            "tiers": [
                {"tier": name, "policy": tier.policy, "reached": tier.reached, "stopped": dict(tier.stopped),
                 "broken": tier.broken}
                for name, tier in self.tiers.items()
            ],
            "look_first": [
                {"where": concern.where, "verdict": _word(concern.judgment), "why": concern.why}
                for concern in self.look_first.cases()
            ],
        }  # fmt: skip

    def _add_causes(self, judgment: Judgment) -> None:
        votes = deciding_votes(judgment)
        if judgment.valid and any(vote.valid for vote in votes):
            self.answered += 1
            return
        for why in filter(None, map(why_unusable, votes)):
            add_bounded(self.causes, _REQUEST_ID.sub("", why))

    def _add_verdict(self, verdict: Verdict) -> None:
        self.calls_saved += verdict.calls_saved
        self.same_family += verdict.same_family
        if verdict.agreement is not None:
            self._agreement += verdict.agreement
            self.with_agreement += 1
        for name in (*(tier.name for tier in verdict.tiers), *(verdict.skipped if verdict.tiers else ())):
            self.tiers.setdefault(name, TierCount())
        for tier in verdict.tiers:
            self.tiers[tier.name].add(tier, verdict)
        if verdict.judgments or verdict.tiers:
            guards = tuple(guards_in(verdict))
            for path, vote in votes_in(verdict):
                guarded = any(path[: len(guard)] == guard for guard in guards)
                if guarded:
                    self.guards.add(path)
                self.jurors.setdefault(path, JurorCount()).add(vote, _NOT_COMPARED if guarded else verdict)


def print_summary(console: Console, summary: Summary, *, title: str = "", seconds: float | None = None) -> None:
    """Print a summary for a person.

    Args:
        console: where to.
        summary: what was counted.
        title: what judged, for the first line.
        seconds: how long it took.
    """
    head = f"{counted(summary.cases, 'case')} judged"
    head += f" by {visible(title)}" if title else ""
    head += f" in {_duration(seconds)}" if seconds is not None else ""
    console.print(Text(head, style="bold"))
    for line in _figures(summary):
        console.print(line)
    tables = (
        _tier_table(summary) if summary.tiers else None,
        _juror_table(summary) if summary.jurors else None,
        _gates_table(summary.gates) if summary.gates is not None and summary.gates.missed else None,
        _look_first_table(summary) if summary.look_first.total else None,
    )
    for table in tables:
        if table is not None:
            console.print()
            console.print(table)


_NOT_COMPARED = abstain("what a guard lets through is no verdict")
_COUNTED = {"passed": Status.PASS, "failed": Status.FAIL, "undecided": Status.ABSTAIN, "errors": Status.ERROR}
_STYLES = {"PASS": "green", "FAIL": "red", "ABSTAIN": "yellow", "ERROR": "magenta"}
_REQUEST_ID = re.compile(r", request [^\s,()]+(?=\)$)| \(request [^\s,()]+\)$")  # another one in each error
_MOST_COLUMNS = 6  # labels that get a column of their own
_LONGEST = 160
_SILENT_FROM = 3  # times asked; over fewer, one reason for all is no sign of anything


def _figures(summary: Summary) -> Iterable[Text]:
    """The lines above the tables."""
    yield from _outcomes(summary)
    yield from _circumstances(summary)


def _outcomes(summary: Summary) -> Iterable[Text]:
    """What was decided, and what is left for a person."""
    count = summary.statuses
    if summary.decided or not summary.labels:
        yield _line("passed", _share(summary.passed, summary.decided, "decided"), "green")
        yield _line("failed", _number(count[Status.FAIL]), "red" if count[Status.FAIL] else "")
    labelled = summary.labels.total()
    for label, times in summary.labels.most_common(_MOST_COLUMNS):
        yield _line(f"label {_clip(label, 40)}", _share(times, labelled, "labelled"))
    undecided = count[Status.ABSTAIN]
    if undecided:
        yield _line("undecided", f"{_number(undecided)}, {_percent(undecided / summary.cases)} of all", "yellow")
    if count[Status.ERROR]:
        causes = "; ".join(f"{times} x {_clip(message, 80)}" for message, times in summary.errors.most_common(3))
        yield _line("errors", f"{_number(count[Status.ERROR])} ({causes})", "magenta")
    for model, given_up in summary.given_up.items():
        told = f"{_clip(model, 40)} in {_number(given_up.cases)} of {counted(summary.cases, 'case')}"
        yield _line("not asked", f"{told}: {_clip(given_up.error, 120)}", "magenta")
    if summary.unreadable:
        yield _line("unreadable rows", f"{_number(summary.unreadable)}, not judged", "magenta")
    if summary.review:
        yield _line("for a person", f"{_number(summary.review)}, {_percent(summary.review / summary.cases)} of all")


def _circumstances(summary: Summary) -> Iterable[Text]:
    """How far jurors agree, what the gates say, what it cost, and who said nothing."""
    if summary.mean_agreement is not None:
        where = "in the deciding tier" if summary.tiers else "or more"
        of = f"the {counted(summary.with_agreement, 'case')} with two votes {where}"
        yield _line("agreement", f"{summary.mean_agreement:.2f} on average of {of}")
    if summary.same_family:
        yield _line(
            "same family", f"{counted(summary.same_family, 'answer')} by a model of a juror's own vendor family"
        )
    if summary.gates is not None:
        missed = ", ".join(f"{gate} {counted(n, 'time')}" for gate, n in summary.gates.by_gate.most_common())
        told = f"missed by {counted(summary.gates.missed, 'verdict')} ({missed})" if missed else "met by every verdict"
        yield _line("gates", told, "red" if missed else "green")
    if summary.usage.calls:
        bound = "" if summary.usage.cost_complete else " or more (a price is unknown)"
        yield _line("model calls", f"{_number(summary.usage.calls)}, ${summary.usage.cost_usd:.4f}{bound}")
    for path, juror in summary.jurors.items():
        if juror.silence is not None and juror.votes.total() >= _SILENT_FROM:
            asked = f"asked {counted(juror.votes.total(), 'time')}"
            yield _line("silent", f"{_clip(path[-1], 40)}, {asked}: {_clip(juror.silence, 80)}", "yellow")
    if summary.calls_saved:
        yield _line("calls saved", f"{counted(summary.calls_saved, 'juror call was', 'juror calls were')} not needed")


def _tier_table(summary: Summary) -> Table:
    table = _table("Who stopped where", "tier", "stops by", "#reached", "#decided", "as")
    for name, tier in summary.tiers.items():
        outcomes = ", ".join(f"{_clip(opinion, 30)} {_number(n)}" for opinion, n in tier.stopped.most_common())
        broken = f" (broken: {_number(tier.broken)})" if tier.broken else ""
        table.add_row(
            Text(_clip(name, 40)), Text(_clip(tier.policy, 40)), _number(tier.reached),
            f"{_number(tier.stopped.total())}  {_percent(tier.stopped.total() / summary.cases)}",
            Text(outcomes + broken),
        )  # fmt: skip
    return table


def _juror_table(summary: Summary) -> Table:
    opinions: Counter[str] = Counter()
    for juror in summary.jurors.values():
        opinions.update(juror.votes)
    fixed = [status for status in ("PASS", "FAIL") if opinions[status]]
    labels = [opinion for opinion, _ in opinions.most_common() if opinion not in _STYLES][:_MOST_COLUMNS]
    columns = [*fixed, *labels, *(status for status in ("ABSTAIN", "ERROR") if opinions[status])]
    nested = any(len(path) > 1 for path in summary.jurors)
    headings = [f"#{_clip(column, 20)}" for column in columns]
    table = _table("Jurors", *(["in"] if nested else []), "juror", *headings, "#differs from the verdict")
    for path, juror in summary.jurors.items():
        dissent = "" if juror.dissent is None else f"{_percent(juror.dissent)} of {_number(juror.compared)}"
        dissent = "a guard" if path in summary.guards else dissent
        place = [Text(_clip(" / ".join(path[:-1]), 40))] if nested else []
        votes = [Text(_number(juror.votes[column]), style=_STYLES.get(column, "")) for column in columns]
        table.add_row(*place, Text(_clip(path[-1] or "(the jury itself)", 40)), *votes, dissent)
    return table


def _gates_table(gates: GateCount) -> Table:
    table = _table(
        f"Gates missed ({len(gates.first)} of {counted(gates.missed, 'verdict')})", "case", "asked and found"
    )
    for where, unmet in gates.first:
        table.add_row(Text(_clip(where, 40)), Text(_clip("; ".join(unmet), _LONGEST)))
    return table


def _look_first_table(summary: Summary) -> Table:
    cases = summary.look_first.cases()
    table = _table(f"Cases to look at first ({len(cases)} of {_number(summary.look_first.total)})",
                   "case", "verdict", "#agreement", "why")  # fmt: skip
    for concern in cases:
        word = _word(concern.judgment)
        agreement = concern.judgment.agreement if isinstance(concern.judgment, Verdict) else None
        table.add_row(
            Text(_clip(concern.where, 40)), Text(_clip(word, 30), style=_STYLES.get(word, "")),
            "" if agreement is None else f"{agreement:.2f}", Text(_clip(concern.why, _LONGEST)),
        )  # fmt: skip
    return table


def _table(title: str, *headings: str) -> Table:
    """An empty table; a heading that begins with # stands over numbers."""
    table = Table(title=Text(title, style="bold"), title_justify="left", box=box.SIMPLE_HEAD, show_edge=False)
    for heading in headings:
        number = heading.startswith("#")
        last = heading is headings[-1]
        table.add_column(
            Text(heading[1:] if number else heading), justify="right" if number else "left",
            no_wrap=number and not last, overflow="fold",  # on a narrow terminal names give way, numbers stay
        )  # fmt: skip
    return table


def _line(name: str, value: str, style: str = "") -> Text:
    return Text.assemble(f"  {name:<17}", (value, style))


def _share(part: int, whole: int, of: str) -> str:
    """A share with what is needed to judge it: the number of cases, and the interval they leave."""
    if not whole:
        return f"nothing {of}"
    low, high = wilson(part, whole)
    interval = f"95 % interval {100 * low:.1f} to {100 * high:.1f} %"
    return f"{_number(part)} of {_number(whole)} {of}: {_percent(part / whole)} ({interval})"


def _word(judgment: Judgment) -> str:
    return judgment.opinion or str(judgment.status)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _number(number: int) -> str:
    return f"{number:,}"


def _duration(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 120 else f"{seconds / 60:.1f} min"


def _clip(text: str, longest: int) -> str:
    line = visible(text[: longest + 1])
    return line if len(line) <= longest else line[: longest - 1] + "…"
