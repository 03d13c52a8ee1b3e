"""Report of an audit as text, for the terminal and for ``print``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from jury_adapters.audit.comparison import JurorComparison
from jury_adapters.audit.figures import Flips, Share, SubjectFigures, screening_notes
from jury_adapters.audit.findings import Finding
from jury_adapters.audit.looks import Block
from jury_adapters.audit.probes import Probe
from jury_adapters.audit.unplaced import Unplaced
from jury_adapters.core.formatting import clip, counted, money, percent, visible
from jury_adapters.core.judgment import Status
from jury_adapters.core.usage import Usage

UNASKED = (
    "Left out, because the budget was used up: the probes from the first one on that it did not allow. Figures and "
    "findings are of the probes before that one, and may lack whole operators"
)
"""Heading of the probes that a spent budget left out."""

MOST_MISSED = 10
"""Number of missed wrong answers that a text report shows."""


class Results(Protocol):
    """Results that are reported; see :class:`jury_adapters.audit.Audit`."""

    @property
    def subjects(self) -> Sequence[SubjectFigures]: ...
    @property
    def findings(self) -> Sequence[Finding]: ...
    @property
    def comparison(self) -> JurorComparison: ...
    @property
    def missed(self) -> Sequence[Probe]: ...
    @property
    def probes(self) -> int: ...
    @property
    def planned(self) -> int: ...
    @property
    def stopped(self) -> Sequence[Block]: ...
    @property
    def usage(self) -> Usage: ...
    @property
    def unplaced(self) -> Unplaced: ...
    @property
    def kill_scope(self) -> str: ...


def text_report(audit: Results) -> str:
    """Return the report of an audit as plain text. Names and changes come from files, so they are made visible."""
    return "\n".join(_lines(audit)) + "\n"


def _lines(audit: Results) -> Iterator[str]:
    jury = audit.subjects[0]
    usage = audit.usage
    cost = money(usage.cost_usd, complete=usage.cost_complete)
    yield f"Audit of {visible(jury.name)}: {counted(audit.probes, 'probe')}, {counted(usage.calls, 'call')}, {cost}"
    if audit.stopped:
        asked = f"{audit.probes:,} of {audit.planned:,} probes were asked"
        yield f"Stopped early, where the rate is known well enough: {asked}"
        yield f"  {', '.join(visible(name or kind) for kind, name in audit.stopped)}"
        yield "  intervals and p values allow for that; 'all' counts the part that was asked of every operator"
    yield ""
    yield "Findings"
    if 2 * jury.broken > jury.asked:
        yield "  nothing is known of the jury, because it broke on most probes"
    elif jury.unasked and not (jury.kill_rate.n or jury.flip_rate.n):
        yield "  nothing is known of the jury, because the budget was used up before its first changed answer"
    elif audit.unplaced.lack:
        yield f"  nothing is known of the kill rate, because {audit.unplaced.lack}"
    elif not audit.findings:
        yield "  none beyond chance; this is not proof that there is no weakness"
    for finding in audit.findings:
        yield f"  ! {visible(finding.subject)} {visible(finding.sentence)} (corrected p {finding.p:.2g})"
    yield from (f"  {note}" for note in (*audit.unplaced.sentences, *screening_notes(audit.subjects)))
    yield ""
    names = [one.name for one in audit.subjects]
    yield from _unasked(audit.subjects)
    yield from _broken(audit.subjects)
    yield from _unusable(audit.subjects)
    kills = [(one.kills, one.kill_rate) for one in audit.subjects]
    scope = f", of {audit.kill_scope}" if audit.kill_scope else ""
    yield from _table(f"Wrong answers that got FAIL (kill rate{scope})", names, kills)
    yield "  A column leaves out the cases whose given answer got FAIL. Intervals allow for answers made from one case."
    yield ""
    alarms = [(one.false_alarms, one.false_alarm_rate) for one in audit.subjects]
    yield from _table("Right answers in another form that got FAIL (false alarms)", names, alarms)
    yield from _flip_table(audit.subjects)
    yield from _comparison(audit)
    yield from _missed(audit)


def unasked_notes(subjects: Sequence[SubjectFigures]) -> list[str]:
    """Return for which subjects a spent budget left probes out."""
    return [
        f"{visible(one.name)}: {one.unasked:,} of {counted(one.asked + one.unasked, 'probe')}"
        for one in subjects
        if one.unasked
    ]


def _unasked(subjects: Sequence[SubjectFigures]) -> Iterator[str]:
    found = unasked_notes(subjects)
    if found:
        yield UNASKED
        yield from (f"  {note}" for note in found)
        yield ""


def _broken(subjects: Sequence[SubjectFigures]) -> Iterator[str]:
    """Say which subjects gave no opinion because of errors; these probes are in no figure of theirs."""
    found = [one for one in subjects if one.broken]
    if not found:
        return
    yield "Not judged because of errors; these probes are in no figure"
    for one in found:
        yield f"  {visible(one.name)}: {one.broken:,} of {one.asked:,} probes; {clip(one.error, _LONGEST_ERROR)}"
    yield ""


def _unusable(subjects: Sequence[SubjectFigures]) -> Iterator[str]:
    """Say which subjects fail so many of the given answers that little can be said about changes to them."""
    found = [
        one
        for one in subjects
        if one.lets_through is not Status.FAIL and 2 * one.originals_passed.hits < one.originals_passed.n
    ]
    if not found:
        return
    yield "Given answers, which are right, that got FAIL; what is made from them does not count"
    for one in found:
        failed = one.originals_passed.n - one.originals_passed.hits
        yield f"  {visible(one.name)}: {failed:,} of {one.originals_passed.n:,}; give cases whose answers it passes"
    yield ""


def _table(title: str, names: Sequence[str], shares: Sequence[tuple[Mapping[str, Share], Share]]) -> Iterator[str]:
    rows = [["", *(visible(name) for name in names)]]
    operators = dict.fromkeys(operator for one, _ in shares for operator in one)
    rows.extend([operator, *(_cell(one.get(operator)) for one, _ in shares)] for operator in operators)
    rows.append(["all", *(_cell(total) for _, total in shares)])
    yield title
    yield from _aligned(rows)
    yield ""


def _flip_table(subjects: Sequence[SubjectFigures]) -> Iterator[str]:
    names = dict.fromkeys(name for one in subjects for name in one.flips)
    rows = [["", *(visible(one.name) for one in subjects)]]
    rows += [[name, *(_flip_cell(one.flips.get(name)) for one in subjects)] for name in names]
    rows.append(["injection", *(_flip_cell(one.injections) for one in subjects)])
    yield "Verdicts that flipped (to PASS / to FAIL) after a change that must not matter"
    yield from _aligned(rows)
    yield ""


def _comparison(audit: Results) -> Iterator[str]:
    found = audit.comparison
    if sum(one.lets_through is None for one in audit.subjects) < 3:
        return
    yield "What the jury adds"
    if not found.best_juror:
        yield "  unknown, because no juror decided both wrong and right answers"
        yield ""
        return
    yield (
        f"  best juror, by its errors on wrong and on right answers: {visible(found.best_juror)}; the jury was right "
        "where it was wrong "
        f"{counted(found.jury_better, 'time')}, and wrong where it was right {counted(found.juror_better, 'time')}, "
        f"among the answers that both decided (p {found.p:.2g})"
    )
    for line in found.advice:
        yield f"  - {visible(line)}"
    yield ""


def _missed(audit: Results) -> Iterator[str]:
    if not audit.missed:
        return
    yield f"Wrong answers that the jury passed ({min(MOST_MISSED, len(audit.missed))} of {len(audit.missed)})"
    for probe in audit.missed[:MOST_MISSED]:
        where = probe.case.item_id or f"case {probe.group + 1}"
        yield f"  {visible(where)}, {probe.name}: {visible(_short(probe.change))}"


def _cell(share: Share | None) -> str:
    if share is None or share.value is None:
        return "-"
    low, high = share.interval
    undecided = f", {share.abstained} abstained" if share.abstained else ""
    undecided += f", {share.undecided} broken" if share.undecided else ""
    return f"{percent(share.value, 0)} of {share.n} ({percent(low, 0)} - {percent(high, 0)}){undecided}"


def _flip_cell(flips: Flips | None) -> str:
    if flips is None or not flips.n:
        return "-"
    return f"{flips.to_pass} / {flips.to_fail} of {flips.n}"


def _aligned(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    table = [list(row) for row in rows]
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    for row in table:
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _short(text: str, most: int = 100) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 3] + "..."


_LONGEST_ERROR = 160
