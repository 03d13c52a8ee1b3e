"""The summary of a run on the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from jury_adapters.core.early_stops import early_stops_note
from jury_adapters.core.formatting import (
    clip,
    counted,
    duration,
    money,
    percent,
    to_word,
    two_decimals,
    visible,
)
from jury_adapters.core.judgment import Status
from jury_adapters.core.label_comparison import LabelComparison
from jury_adapters.core.verdict import Verdict
from jury_adapters.report.counters import GateCount, empty_answers_note, failed_runs_note
from jury_adapters.report.human_rate import human_rate
from jury_adapters.report.model_calls import model_calls
from jury_adapters.report.stopped_runs import describe_missing, missing_cases
from jury_adapters.report.summary import Summary


def print_summary(
    console: Console,
    summary: Summary,
    *,
    heading: str = "",
    jury: str = "",
    seconds: float | None = None,
    guarantee: str = "",
) -> None:
    """Print a summary.

    Args:
        console: the console to print to.
        summary: the figures.
        heading: the title of a report, which begins the first line.
        jury: the name of the jury, for the first line.
        seconds: the duration of the run, in seconds.
        guarantee: the guarantee of a calibrated jury in one line; empty without one.
    """
    head = f"{visible(heading)}: " if heading else ""
    head += f"{counted(summary.cases, 'case')} judged"
    head += f" by {visible(jury)}" if jury else ""
    head += f" in {duration(seconds)}" if seconds is not None else ""
    console.print(Text(head, style="bold"))
    print_label_comparison(console, summary.label_comparison)
    for line in (*_figures(summary), *([_line("guarantee", guarantee)] if guarantee else [])):
        console.print(line)
    tables = (
        _tier_table(summary) if summary.tiers else None,
        _criteria_table(summary) if summary.by_criterion else None,
        _juror_table(summary) if summary.jurors else None,
        _gates_table(summary.gates) if summary.gates is not None and summary.gates.missed else None,
        _look_first_table(summary) if summary.look_first.total else None,
    )
    for table in tables:
        if table is not None:
            console.print()
            console.print(table)


def print_label_comparison(console: Console, against: LabelComparison) -> None:
    """Print the comparison of the jury and its jurors with human labels; nothing if there is no label."""
    if against.cases:
        console.print(Text(f"\n{against}\n"), soft_wrap=True)


_STYLES = {"PASS": "green", "FAIL": "red", "ABSTAIN": "yellow", "ERROR": "magenta"}
_GATE_STYLES = {True: "green", False: "red", None: ""}
_MOST_COLUMNS = 6  # labels with a column of their own
_LONGEST = 160
_ABSTAINS_FROM = 3  # times asked; with fewer, the same reason in all cases proves nothing


def _figures(summary: Summary) -> Iterable[Text]:
    """Return the lines above the tables."""
    yield from _outcomes(summary)
    yield from _circumstances(summary)


def _outcomes(summary: Summary) -> Iterable[Text]:
    """Yield lines on the decided cases, and on those that need review."""
    count = summary.statuses
    if summary.decided or not summary.labels:
        yield _line("passed", _share(summary, summary.passed, summary.decided, "decided"), "green")
        if (alike := summary.intraclass_correlation) is not None:
            alike_by = f"cases of a group correlate by {alike.correlation:.2g}"
            yield _line("groups", f"{alike_by}; to plan: jury sample-size {alike.options}")
        if (rate := human_rate(summary.label_comparison)) is not None:
            yield _line("human labels", rate.line, "yellow")
        of_these = f" ({failed_runs_note(summary.failed_runs)}: not judged)" if summary.failed_runs else ""
        yield _line("failed", f"{count[Status.FAIL]:,}{of_these}", "red" if count[Status.FAIL] else "")
    if summary.failed_by_errors:
        yield _line("failed by errors", f"{summary.failed_by_errors:,}, not in the pass rate", "magenta")
    labelled = summary.labels.total()
    for label, times in summary.labels.most_common(_MOST_COLUMNS):
        yield _line(f"label {clip(label, 40)}", _share(summary, times, labelled, "labelled", label))
    abstained = count[Status.ABSTAIN]
    if abstained:
        yield _line("abstained", f"{abstained:,}, {percent(abstained / summary.cases)} of all", "yellow")
    if count[Status.ERROR]:
        causes = "; ".join(f"{times} x {clip(message, 80)}" for message, times in summary.errors.most_common(3))
        yield _line("errors", f"{count[Status.ERROR]:,} ({causes})", "magenta")
    yield from _outages(summary)
    if summary.unreadable:
        yield _line("unreadable rows", f"{summary.unreadable:,}, not judged", "magenta")
    missing = missing_cases(summary.cases, summary.planned, summary.decision)
    if missing:
        yield _line("incomplete", describe_missing(summary.cases, missing), "magenta")
    if summary.decision is not None:
        yield _line("decision", str(summary.decision), _GATE_STYLES[summary.decision.met])
    if summary.decision is not None and summary.cases_saved:
        of = f"{summary.cases_saved:,} of {counted(summary.decision.cases, 'case')}"
        cost = money(summary.cost_saved_usd, complete=summary.usage.cost_complete)
        saved = f", about {cost}" if summary.cost_saved_usd else "" if summary.usage.cost_complete else f", {cost}"
        yield _line("cases saved", f"{of}, {percent(summary.cases_saved / summary.decision.cases)}{saved}")
        yield _line("random order", f"seed {summary.decision.seed}")
    if summary.review:
        yield _line("needs review", f"{summary.review:,}, {percent(summary.review / summary.cases)} of all")


def _outages(summary: Summary) -> Iterable[Text]:
    """Yield lines on models, jurors and tiers that were not asked or broke, and on what this means for the rate."""
    for model, given_up in summary.given_up.items():
        affected = f"{clip(model, 40)} in {given_up.cases:,} of {counted(summary.cases, 'case')}"
        yield _line("not asked", f"{affected}: {clip(given_up.error, 120)}", "magenta")
    if summary.over_budget:
        of = f"{summary.over_budget:,} of {counted(summary.cases, 'case')} judged without every juror"
        yield _line("over budget", f"{of}; {summary.decided_over_budget:,} of them decided by the others", "magenta")
    if summary.broken_tiers:
        names = ", ".join(clip(path, 80) for path in summary.broken_by_path)
        yield _line(
            "broken tiers", f"{names} in {summary.broken_tiers:,} of {counted(summary.cases, 'case')}", "magenta"
        )
    if summary.pass_rate_warning:
        yield _line("warning", summary.pass_rate_warning, "magenta")


def _circumstances(summary: Summary) -> Iterable[Text]:
    """Yield lines on agreement, gates, cost and jurors that never vote."""
    if summary.mean_agreement is not None:
        before = " before escalation" if summary.escalated else ""
        of = f"the {counted(summary.with_agreement, 'case')} with two votes or more{before}"
        split = f"; {summary.split:,} split" if summary.split else ""
        stopped = f"; {early_stops_note(summary.stopped_early)}" if summary.stopped_early else ""
        yield _line("agreement", f"{two_decimals(summary.mean_agreement)} on average of {of}{split}{stopped}")
    if summary.same_family_note:
        yield _line("same family", summary.same_family_note)
    if summary.gates is not None:
        missed = ", ".join(f"{gate} {counted(n, 'time')}" for gate, n in summary.gates.by_gate.most_common())
        met = "missed by no verdict" if summary.gates.not_measured else "met by every verdict"
        result = f"missed by {counted(summary.gates.missed, 'verdict')} ({missed})" if missed else met
        yield _line("gates", result, "red" if missed else "green")
        for gate, n in summary.gates.not_measured.most_common():
            result = f"{gate} could not be measured on {n:,} of {counted(summary.gates.verdicts, 'verdict')}"
            yield _line("gates", result, "yellow")
    if calls := model_calls(summary):
        yield _line("model calls", calls)
    for path, juror in summary.jurors.items():
        if juror.only_reason is not None and (juror.errors or juror.asked >= _ABSTAINS_FROM):
            asked = f"asked {counted(juror.asked, 'time')}"
            what = "always breaks" if juror.errors == juror.asked else "always abstains"
            what = "broke" if juror.errors == juror.asked == 1 else what
            yield _line(what, f"{clip(path[-1], 40)}, {asked}: {clip(juror.only_reason, 80)}", "yellow")
        elif juror.errors:
            times = f"{juror.errors:,} of {counted(juror.asked, 'time')}"
            yield _line("broke", f"{clip(path[-1], 40)}, {times}", "yellow")
    for path, juror in summary.fallback_votes.items():
        name = clip(" / ".join(path), 60) or "(the judge itself)"
        yield _line("fallbacks", f"{name}: {juror.fallback_share}: {clip(juror.fallback_names, 80)}", "yellow")
    if empty := empty_answers_note(summary.empty_answers):
        yield _line("not asked", empty)
    if summary.calls_saved:
        yield _line("calls saved", f"{counted(summary.calls_saved, 'juror call was', 'juror calls were')} not needed")


def _tier_table(summary: Summary) -> Table:
    table = _table("Who stopped where", "tier", "stops by", "#reached", "#decided", "stopped as")
    for name, tier in summary.tiers.items():
        outcomes = ", ".join(f"{clip(opinion, 30)} {n:,}" for opinion, n in tier.stopped.most_common())
        broken = f" (broken: {tier.broken:,})" if tier.broken else ""
        table.add_row(
            Text(clip(name, 40)), Text(clip(tier.policy, 40)), f"{tier.reached:,}",
            f"{tier.decided:,}  {percent(tier.decided / summary.cases)}",
            Text(outcomes + broken),
        )  # fmt: skip
    return table


def _criteria_table(summary: Summary) -> Table:
    not_judged = f" ({failed_runs_note(summary.failed_runs)}: in no rate below)" if summary.failed_runs else ""
    agreed = any(criterion.with_agreement for criterion in summary.by_criterion.values())
    headings = ("#passed", "#FAIL", "#ABSTAIN", "#ERROR", *(["#agreement"] if agreed else []))
    table = _table(f"Criteria{not_judged}", "criterion", *headings)
    for path, criterion in summary.by_criterion.items():
        passed, failed = criterion.votes[Status.PASS], criterion.votes[Status.FAIL]
        rate = f"{passed:,} of {passed + failed:,}: {percent(criterion.pass_rate)}" if passed + failed else ""
        rate = rate or criterion.label_words or "-"
        table.add_row(
            Text(clip(" / ".join(path), 60)), Text(rate, style="green" if passed else ""),
            Text(f"{failed:,}", style="red" if failed else ""), f"{criterion.abstained:,}", f"{criterion.errors:,}",
            *([criterion.agreement_words or "-"] if agreed else []),
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
    headings = [f"#{clip(column, 20)}" for column in columns]
    refused = any(juror.over_budget for juror in summary.jurors.values())
    headings += ["#over budget"] if refused else []
    table = _table("Jurors", *(["in"] if nested else []), "juror", *headings, "#differs from the verdict")
    for path, juror in summary.jurors.items():
        dissent = "" if juror.dissent is None else f"{percent(juror.dissent)} of {juror.compared:,}"
        if path in summary.screening_jurors:
            dissent = "screening"
        elif path in summary.criteria:
            dissent = "a criterion"
        place = [Text(clip(" / ".join(path[:-1]), 40))] if nested else []
        votes = [Text(f"{juror.votes[column]:,}", style=_STYLES.get(column, "")) for column in columns]
        votes += [Text(f"{juror.over_budget:,}")] if refused else []
        table.add_row(*place, Text(clip(path[-1] or "(the jury itself)", 40)), *votes, dissent)
    return table


def _gates_table(gates: GateCount) -> Table:
    table = _table(
        f"Gates missed ({len(gates.first)} of {counted(gates.missed, 'verdict')})", "case", "asked and found"
    )
    for where, unmet in gates.first:
        table.add_row(Text(clip(where, 40)), Text(clip("; ".join(unmet), _LONGEST)))
    return table


def _look_first_table(summary: Summary) -> Table:
    cases = summary.look_first.cases()
    table = _table(f"Cases to look at first ({len(cases)} of {summary.look_first.total:,})",
                   "case", "verdict", "#agreement", "why")  # fmt: skip
    for concern in cases:
        word = to_word(concern.judgment)
        agreement = concern.judgment.agreement if isinstance(concern.judgment, Verdict) else None
        table.add_row(
            Text(clip(concern.where, 40) + (f"\n{clip(concern.asked, 80)}" if concern.asked else "")),
            Text(clip(word, 30), style=_STYLES.get(word, "")),
            "" if agreement is None else two_decimals(agreement), Text(clip(concern.why, _LONGEST)),
        )  # fmt: skip
    return table


def _table(title: str, *headings: str) -> Table:
    """Return an empty table; a heading that begins with # is above numbers."""
    table = Table(title=Text(title, style="bold"), title_justify="left", box=box.SIMPLE_HEAD, show_edge=False)
    for heading in headings:
        number = heading.startswith("#")
        last = heading is headings[-1]
        table.add_column(
            Text(heading[1:] if number else heading), justify="right" if number else "left",
            no_wrap=number and not last, overflow="fold",  # on a narrow terminal, names are wrapped and numbers are not
        )  # fmt: skip
    return table


def _line(name: str, value: str, style: str = "") -> Text:
    return Text.assemble(f"  {name:<17}", (value, style))


def _share(summary: Summary, part: int, whole: int, of: str, label: str | None = None) -> str:
    """Return a share with the number of cases and the interval."""
    if not whole:
        return f"nothing {of}"
    bounds = summary.pass_interval if label is None else summary.label_interval(label)
    share = f"{part:,} of {whole:,} {of}: {percent(part / whole)}"
    if bounds is None:
        return share
    return f"{share} ({summary.interval_words} {100 * bounds[0]:.1f} to {100 * bounds[1]:.1f} %)"
