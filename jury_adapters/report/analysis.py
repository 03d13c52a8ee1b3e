"""How far the jurors of a run agree, as :mod:`jury_adapters.calibration` measures it, where that can be measured."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jury_adapters.core.batch import Judged
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.report.entries import Entry

if TYPE_CHECKING:
    from jury_adapters.calibration.findings import Finding
    from jury_adapters.calibration.report import AgreementReport
    from jury_adapters.calibration.types import On

_COUNT = re.compile(r"\b([\d,]+)(?= (?:items|groups) only)")
_NAMED = 4  # how many findings a warning names before it counts the rest


@dataclass(frozen=True, slots=True)
class Analysis:
    """What the votes of a run tell of its jurors.

    Attributes:
        report: the findings with their warnings; None where there are none to give.
        note: why there are none, or what was left out of them; empty otherwise.
    """

    report: AgreementReport | None
    note: str = ""

    @property
    def sections(self) -> Mapping[str, tuple[Finding, ...]]:
        """The findings by section; where no measure of agreement has a number, only sections that have one."""
        if self.report is None or not self.nothing:
            return {} if self.report is None else self.report.sections
        told = self.report.sections.items()
        return {title: found for title, found in told if any(finding.value is not None for finding in found)}

    @property
    def nothing(self) -> str:
        """Why there is nothing to agree on, in a sentence; empty where there is something."""
        found = () if self.report is None else self.report.sections.get("Agreement", ())
        if not found or any(finding.value is not None for finding in found):
            return ""
        why = "; ".join(dict.fromkeys(finding.reason for finding in found))
        return f"There is nothing to agree on: {why}. That a guard lets a case through is no vote."

    @property
    def warnings(self) -> tuple[str, ...]:
        """Where the numbers mislead, and which: a sentence each.

        Those that differ only in how many items they rest on are told once, with the least and the most.
        """
        alike: dict[str, list[tuple[str, str]]] = {}
        for finding in () if self.report is None else self.report.findings:
            who = f"{finding.name} of {finding.subject}" if finding.subject else finding.name
            for warning in finding.warnings:
                alike.setdefault(_COUNT.sub("", warning), []).append((warning, who))
        return tuple(_together(found) for found in alike.values())


def analysed(entries: Sequence[Entry], pass_labels: Collection[str] = (), group: str = "") -> Analysis:
    """Analyse the votes behind these entries.

    The votes are read as the jury counted them; where the gold labels are in other words, as labels; and where these
    do not match either, without the gold labels, which the note then says. The figures are those of ``jury agreement``.

    Args:
        entries: the judged cases.
        pass_labels: the human labels that mean PASS.
        group: field that says which cases belong together; empty for independent cases.
    """
    verdicts = [Judged(entry.index, entry.case, entry.judgment) for entry in entries]
    unlabelled = [None] * len(verdicts)
    attempts: tuple[tuple[Sequence[None], On | None], ...] = (((), None), ((), "label"), (unlabelled, None))
    problem = ""
    for position, (gold, on) in enumerate(attempts):
        try:
            from jury_adapters.calibration import Votes
            from jury_adapters.statistics import full_report

            passing = () if gold else pass_labels
            votes = Votes.from_verdicts(verdicts, on=on, gold=gold, group=group, pass_label=passing)
            report = full_report(votes)
        except ConfigurationError as error:  # also when NumPy is missing, with what to install
            problem = problem or str(error)
        else:
            left_out = position == len(attempts) - 1
            return Analysis(report, f"The gold labels were left out: {problem}." if left_out else "")
    return Analysis(None, f"The agreement could not be analysed: {problem}.")


def _together(found: Sequence[tuple[str, str]]) -> str:
    """Warnings that say the same, as one sentence."""
    text = found[0][0]
    counts = sorted({int(count.replace(",", "")) for warning, _ in found for count in _COUNT.findall(warning)})
    if len(counts) > 1:
        text = _COUNT.sub(f"{counts[0]:,} to {counts[-1]:,}", text)
    about = list(dict.fromkeys(who for _, who in found))
    more = f" and {len(about) - _NAMED} more" if len(about) > _NAMED else ""
    return f"{text[0].upper()}{text[1:]}. ({', '.join(about[:_NAMED])}{more})"
