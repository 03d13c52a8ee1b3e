"""Agreement of the jurors of a run, as :mod:`jury_adapters.calibration` measures it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.label_comparison import LabelComparison
from jury_adapters.core.sequential_gate import GateDecision
from jury_adapters.report.entries import Entry
from jury_adapters.report.stopped_runs import with_stop

if TYPE_CHECKING:
    from jury_adapters.calibration.estimates import Estimate
    from jury_adapters.calibration.report import AgreementReport
    from jury_adapters.calibration.types import On

_COUNT = re.compile(r"\b([\d,]+)(?= (?:items|groups) only)")
_NAMED = 4  # estimates that a warning names before it counts the rest


@dataclass(frozen=True, slots=True)
class Analysis:
    """Estimates about the jurors of a run, from their votes.

    Attributes:
        report: the estimates with their warnings; None if there are none.
        note: why there are none, or what was omitted; empty otherwise.
    """

    report: AgreementReport | None
    note: str = ""

    @property
    def sections(self) -> Mapping[str, tuple[Estimate, ...]]:
        """Estimates by section; if no measure of agreement has a number, only the sections that have one."""
        if self.report is None or not self.nothing:
            return {} if self.report is None else self.report.sections
        all_sections = self.report.sections.items()
        return {title: found for title, found in all_sections if any(estimate.value is not None for estimate in found)}

    @property
    def nothing(self) -> str:
        """Sentence that says why no agreement can be measured; empty if it can."""
        found = () if self.report is None else self.report.sections.get("Agreement", ())
        if not found or any(estimate.value is not None for estimate in found):
            return ""
        why = "; ".join(dict.fromkeys(estimate.reason for estimate in found))
        return f"There is nothing to agree on: {why}. That a screening tier lets a case through is not a vote."

    @property
    def failed_runs_note(self) -> str:
        """Sentence that says that failed runs of the application are left out; empty if there are none."""
        return "" if self.report is None else self.report.failed_runs_note

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings about misleading numbers, and the numbers they concern: one sentence each.

        Warnings that differ only in the number of items behind them are combined, with the smallest and the largest
        number.
        """
        alike: dict[str, list[tuple[str, str]]] = {}
        for estimate in () if self.report is None else self.report.estimates:
            who = f"{estimate.name} of {estimate.subject}" if estimate.subject else estimate.name
            for warning in estimate.warnings:
                alike.setdefault(_COUNT.sub("", warning), []).append((warning, who))
        return tuple(_together(found) for found in alike.values())


class CollectedVotes:
    """Votes behind the entries of a run, collected one by one, without the texts of the entries.

    Args:
        group: the field that identifies the group of a case; empty for independent cases.
    """

    def __init__(self, group: str = "") -> None:
        self._problem = ""
        try:
            from jury_adapters.calibration.judged_items import JudgedItems
        except ConfigurationError as error:  # NumPy is missing; the message says what to install
            self._problem = str(error)
        else:
            self._items = JudgedItems(group)

    def noting(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        """Yield the entries, and collect the votes behind each."""
        for entry in entries:
            if not self._problem:
                try:
                    self._items.add(entry.index, entry.case, entry.judgment, answer=entry.answer)
                except ConfigurationError as error:
                    self._problem = str(error)
            yield entry

    def analysed(self, against: LabelComparison, decision: GateDecision | None = None) -> Analysis:
        """Analyse the votes.

        The votes are read as the jury counted them. If the gold labels use other words, the votes are read as labels.
        If these do not match either, the gold labels are omitted, and the note says so. The figures are those of
        ``jury report --agreement``.

        Args:
            against: the comparison with human labels, for those that mean PASS and for how labelled cases were chosen.
            decision: that of a gate which may have ended the run early.
        """
        attempts: tuple[tuple[bool, On | None], ...] = ((True, None), (True, "label"), (False, None))
        problem = self._problem
        for labelled, on in attempts if not problem else ():
            try:
                from jury_adapters.calibration.report import with_selection_of_labels
                from jury_adapters.calibration.votes import assemble
                from jury_adapters.statistics import full_report

                passing = against.pass_labels if labelled else ()
                cast = self._items.votes(on, labelled=labelled, pass_labels=passing)
                votes = assemble(cast.items, pass_label=cast.pass_labels, failed_runs=cast.failed_runs)
                del cast  # they take more memory than the votes, and are not needed for the report
                votes = replace(votes, contradicting=against.contradicting)
                figures = full_report(votes, random_sample=not against.picked)
                report = with_selection_of_labels(with_stop(figures, decision), against.selected)
            except ConfigurationError as error:
                problem = problem or str(error)
            else:
                return Analysis(report, "" if labelled else f"The gold labels were left out: {problem}.")
        return Analysis(None, f"The agreement could not be analysed: {problem}.")


def _together(found: Sequence[tuple[str, str]]) -> str:
    """Return equivalent warnings as one sentence."""
    text = found[0][0]
    counts = sorted({int(count.replace(",", "")) for warning, _ in found for count in _COUNT.findall(warning)})
    if len(counts) > 1:
        text = _COUNT.sub(f"{counts[0]:,} to {counts[-1]:,}", text)
    about = list(dict.fromkeys(who for _, who in found))
    more = f" and {len(about) - _NAMED} more" if len(about) > _NAMED else ""
    return f"{text[0].upper()}{text[1:]}. ({', '.join(about[:_NAMED])}{more})"
