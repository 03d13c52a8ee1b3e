"""The report as Markdown for a pull-request comment; model-written text is in code spans, where it is inert."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jury_adapters.core.formatting import counted, money, percent, to_word, two_decimals, visible
from jury_adapters.core.judgment import Status
from jury_adapters.core.label_scores import headings
from jury_adapters.core.over_budget import over_budget_note
from jury_adapters.report.counters import empty_answers_note, failed_runs_note
from jury_adapters.report.flips import FLIPS_SHOWN
from jury_adapters.report.human_rate import HOW_TO_CORRECT, human_rate
from jury_adapters.report.model_calls import model_calls
from jury_adapters.report.stopped_runs import describe_missing, missing_cases

if TYPE_CHECKING:
    from jury_adapters.core.label_comparison import LabelComparison
    from jury_adapters.report.comparison import Comparison
    from jury_adapters.report.figures import Figures
    from jury_adapters.report.summary import Summary

_LONGEST = 240
_LONGEST_NOTE = 1000


def markdown(figures: Figures, *, title: str, compared: Comparison | None = None) -> str:
    """Return the whole comment."""
    return "\n".join(_lines(figures, title, compared)) + "\n"


def comparison_markdown(compared: Comparison) -> str:
    """Return a comparison as a separate comment."""
    return "\n".join(["### Jury comparison", *_compared(compared)]) + "\n"


def code(text: str, longest: int = _LONGEST) -> str:
    r"""Return untrusted text as a code span, without links, mentions or HTML, also in a table.

    >>> print(code("see @team | <b>`x`</b>"))
    `see @team \| <b>'x'</b>`
    """
    line = visible(text[: longest + 1]).strip()
    if len(line) > longest:  # cut between words if possible
        line = (line[:longest].rsplit(" ", 1)[0] if " " in line[longest // 2 : longest] else line[:longest]) + "…"
    line = line.replace("`", "'").replace("\\", "/").replace("|", "\\|")
    return f"`{line}`" if line else ""


def _lines(figures: Figures, title: str, compared: Comparison | None) -> Iterator[str]:
    summary = figures.summary
    yield f"### Jury report{f': {code(title)}' if title else ''}\n"
    yield from _label_comparison(summary.label_comparison)
    yield _headline(summary)
    if (rate := human_rate(summary.label_comparison)) is not None:
        yield f"\nThe rate is that of the verdicts: {rate}; {HOW_TO_CORRECT}."
    if summary.pass_rate_warning:
        yield f"\n**Warning**: {code(summary.pass_rate_warning, _LONGEST_NOTE)}"
    if compared is not None:
        yield from _compared(compared)
    total = summary.usage.total
    paid = bool(total.cost_usd) or not total.cost_complete
    yield from _tiers(figures, paid=paid)
    yield from _criteria(summary)
    if figures.jurors:
        headings = ("asked", "pass rate", "dissent", "kappa with the rest", "abstained", "errors")
        yield _cells("\n| juror", *headings, *(["cost"] if paid else []))
        yield _cells("| ---", *("---:" for _ in headings), *(["---:"] if paid else []))
        for juror in figures.jurors:
            cost = money(juror.usage.cost_usd, complete=juror.usage.cost_complete)
            decided = juror.count.votes[Status.PASS] + juror.count.votes[Status.FAIL]
            cells = (
                f"{juror.asked:,}",
                percent(juror.pass_rate) + (f" of {decided:,}" if decided else ""),
                percent(juror.count.dissent),
                two_decimals(juror.kappa) + (f" of {juror.compared:,}" if juror.kappa is not None else ""),
                f"{juror.count.abstained:,}",
                f"{juror.errors:,}",
            )
            yield _cells(f"| {code(juror.name)}", *cells, *([cost] if paid else []))
    if figures.criteria_note:
        yield f"\n{figures.criteria_note}"
    if summary.fallback_votes:
        yield ""
    for path, count in summary.fallback_votes.items():
        name = code(" / ".join(path)) or "the judge itself"
        yield f"- {name}: {count.fallback_share}: {code(count.fallback_names)}"
    concerns = summary.look_first.cases()
    if concerns:
        of = f"{len(concerns)} of {summary.look_first.total:,}"
        yield f"\n<details><summary>Cases to look at first ({of})</summary>\n"
        yield "| case | verdict | why |\n| --- | --- | --- |"
        for concern in concerns:
            asked = f" {code(concern.asked, 80)}" if concern.asked else ""
            yield f"| {code(concern.where, 60)}{asked} | {code(to_word(concern.judgment), 40)} | {code(concern.why)} |"
        yield "\n</details>"


def _tiers(figures: Figures, *, paid: bool) -> Iterator[str]:
    """Yield the table of the tiers, if there are any."""
    if not figures.tiers:
        return
    undecided = any(tier.count.undecided for tier in figures.tiers)
    headings = ("reached", "decided", *(["undecided"] if undecided else []), *(["cost"] if paid else []))
    yield _cells("\n| tier", *headings)
    yield _cells("| ---", *("---:" for _ in headings))
    for tier in figures.tiers:
        counts = [tier.count.reached, tier.count.decided, *([tier.count.undecided] if undecided else [])]
        cost = money(tier.usage.cost_usd, complete=tier.usage.cost_complete)
        yield _cells(f"| {code(tier.name)}", *(f"{count:,}" for count in counts), *([cost] if paid else []))


def _criteria(summary: Summary) -> Iterator[str]:
    """Yield the table of the criteria, and how many runs no criterion judged."""
    if not summary.by_criterion:
        return
    agreed = any(count.with_agreement for count in summary.by_criterion.values())
    headings = ("pass rate", "passed", "failed", "abstained", "errors", *(["agreement"] if agreed else []))
    yield _cells("\n| criterion", *headings)
    yield _cells("| ---", *("---:" for _ in headings))
    for path, count in summary.by_criterion.items():
        rate = percent(count.pass_rate) if count.pass_rate is not None or not count.label_words else ""
        numbers = (count.votes[Status.PASS], count.votes[Status.FAIL], count.abstained, count.errors)
        yield _cells(
            f"| {code(' / '.join(path))}",
            rate or code(count.label_words),
            *(f"{number:,}" for number in numbers),
            *([count.agreement_words or "-"] if agreed else []),
        )
    if summary.failed_runs:
        yield f"\n{failed_runs_note(summary.failed_runs)}: FAIL in the rate of all cases, and judged by no criterion."


def _label_comparison(against: LabelComparison) -> Iterator[str]:
    """Yield the comparison of the jury, its jurors and constant answers with human labels."""
    if not against.cases:
        return
    if against.problem:
        yield f"**Against human labels**: no figures: {code(against.problem, _LONGEST_NOTE)}\n"
        return
    heads = headings(pass_fail=against.pass_fail)
    yield f"**Against human labels**: {code(against.headline)}\n"
    yield _cells("| ", *heads)
    yield _cells("| ---", *("---:" for _ in heads))
    for row in against.rows:
        cells = (
            " ".join(filter(None, (cell.value, cell.counts, cell.interval and f"({cell.interval})")))
            for cell in row.cells()
        )
        yield _cells(f"| {code(' / '.join((*row.within, row.name)))}", *cells)
    yield f"\n{against.legend}\n"
    yield from (f"- {code(note, _LONGEST_NOTE)}" for note in against.notes)
    yield ""


def _cells(*cells: str) -> str:
    return f"{' | '.join(cells)} |"


def _headline(summary: Summary) -> str:
    parts = [counted(summary.cases, "case")]
    if summary.pass_rate is not None:
        span = ""
        if summary.pass_interval is not None:
            low, high = summary.pass_interval
            span = f" ({summary.interval_words} {percent(low)} to {percent(high)})"
        parts.insert(0, f"**{percent(summary.pass_rate)} passed**{span}")
    missing = missing_cases(summary.cases, summary.planned, summary.decision)
    parts += filter(None, [describe_missing(summary.cases, missing)])
    if summary.decision is not None:
        parts.append(str(summary.decision))
    parts += [f"{code(label, 40)} {times:,}" for label, times in summary.labels.most_common(4)]
    for status, what in ((Status.FAIL, "failed"), (Status.ABSTAIN, "abstained"), (Status.ERROR, "errors")):
        if summary.statuses[status]:
            parts.append(f"{summary.statuses[status]:,} {what}")
    parts += filter(None, [failed_runs_note(summary.failed_runs), empty_answers_note(summary.empty_answers)])
    if summary.failed_by_errors:
        parts.append(f"{summary.failed_by_errors:,} failed only because jurors broke")
    parts += filter(None, [over_budget_note(summary.over_budget, summary.decided_over_budget)])
    if summary.broken_tiers:
        parts.append(f"a tier broke in {summary.broken_tiers:,}")
    if summary.unreadable:
        parts.append(f"{summary.unreadable:,} not read")
    if summary.review:
        parts.append(f"{summary.review:,} to review")
    if summary.same_family_note:
        parts.append(summary.same_family_note)
    if calls := model_calls(summary, code):
        parts.append(f"model calls {calls}")
    return " · ".join(parts)


def _compared(compared: Comparison) -> Iterator[str]:
    """Yield the lines of a comparison, for a report or a separate comment."""
    yield f"\na: {code(compared.before)} · b: {code(compared.after)}\n"
    yield from (f"- {remark}" for remark in compared.remarks)
    if not compared.flips:
        return
    shown = compared.flips[:FLIPS_SHOWN]
    yield f"\n<details><summary>What changed ({len(shown)} of {compared.changed:,})</summary>\n"
    yield "| case | a | b | what lies behind it |\n| --- | --- | --- | --- |"
    for flip in shown:
        yield f"| {code(flip.where, 60)} | {code(flip.before, 40)} | {code(flip.after, 40)} | {code(flip.why)} |"
    yield "\n</details>"
