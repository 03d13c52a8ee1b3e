"""Report on all measures that votes allow."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from jury_adapters.calibration import DRAWS
from jury_adapters.calibration.agreement import alpha, cohen_kappa, fleiss_kappa, gwet_ac, label_shares, raw_agreement
from jury_adapters.calibration.bias import position_consistency, verbosity
from jury_adapters.calibration.estimates import FEW_ITEMS, Estimate, FewItems, number, span
from jury_adapters.calibration.independence import effective_votes, residual_agreement
from jury_adapters.calibration.juror_drift import drift
from jury_adapters.calibration.juror_stats import dissent, leniency
from jury_adapters.calibration.label_comparison import compare_with_labels
from jury_adapters.calibration.label_samples import NOT_CORRECTED
from jury_adapters.calibration.pass_fail import as_pass_fail
from jury_adapters.calibration.pass_rate import LEFT_OUT, true_pass_rate
from jury_adapters.calibration.preferences import self_preference
from jury_adapters.calibration.resampling import Resampling
from jury_adapters.calibration.votes import Votes
from jury_adapters.core.agreement import Level
from jury_adapters.core.duplicates import merged_sentence
from jury_adapters.core.formatting import counted, percent, visible_lines
from jury_adapters.core.label_comparison import LabelComparison
from jury_adapters.core.label_reading import describe_sample
from jury_adapters.core.values import JsonValue

RATES = "Rates"
"""Section of a report on agreement that depends on the choice of the labelled items."""

_OWN: tuple[Literal["model", "family"], ...] = ("model", "family")
_MANY_VALUES = 20
_COUNT_ROWS = (
    "The figures are those of the distinct items. To count each row, such as each run of an application, give the rows "
    "ids of their own, and name what repeats as the group (--group question)."
)
_SELECTED = (
    "the votes are selected: a cascade or early stopping asked some jurors only where the votes before were open, so "
    "this number is biased; measure agreement with a panel that asks every juror about every case"
)
_FEWEST = 5  # with fewer items, a chance-corrected figure is not part of the summary
_BEYOND_CHANCE = ("krippendorff alpha", "effective number of votes", "residual agreement")


@dataclass(frozen=True, slots=True)
class AgreementReport:
    """Result of :func:`agreement_report`. As text: ``str(report)``; as JSON values: :meth:`to_dict`.

    Attributes:
        items: the number of items.
        jurors: the jurors' names.
        votes: the number of votes cast.
        missing: the share of votes that are missing.
        labelled: the number of items with a gold label.
        merged: the number of rows that repeat an item and were merged with its first row; not part of ``items``.
        failed_runs: the number of failed runs of the application, which no juror judged; not part of ``items``.
        label_comparison: the comparison of the jury and its jurors with human labels; None without labels.
        sections: estimates by section title, in reading order.
        remarks: sentences about what the votes are, where the figures are not those that one may expect.
        tables: by section title, lines of text that follow its estimates.
    """

    items: int
    jurors: tuple[str, ...]
    votes: int
    missing: float
    labelled: int
    sections: dict[str, tuple[Estimate, ...]]
    merged: int = 0
    failed_runs: int = 0
    remarks: tuple[str, ...] = ()
    tables: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    label_comparison: LabelComparison | None = None

    @property
    def estimates(self) -> tuple[Estimate, ...]:
        """All estimates, section after section."""
        return tuple(estimate for section in self.sections.values() for estimate in section)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Each warning once, with one warning for all estimates that are based on few items."""
        return tuple(self._warned())

    @property
    def in_short(self) -> tuple[str, ...]:
        """Most important results in three sentences: the agreement, its value, and its reliability."""
        if not self.votes:
            return ("There are no votes.",)
        agreed = self._first("raw agreement", "krippendorff alpha")
        worth = self._first("true pass rate", "effective number of votes", "residual agreement")
        return tuple(line for line in (agreed, worth, self._trust()) if line)

    @property
    def failed_runs_note(self) -> str:
        """Sentence that says that :attr:`failed_runs` are left out; empty if there are none."""
        if not self.failed_runs:
            return ""
        them = "it" if self.failed_runs == 1 else "them"
        return f"{counted(self.failed_runs, *LEFT_OUT)} of the figures, because no juror judged {them}."

    def find(self, name: str, subject: str = "") -> Estimate:
        """Return the estimate with this name (and this subject).

        Raises:
            KeyError: there is no such estimate.
        """
        for estimate in self.estimates:
            if estimate.name == name and (not subject or estimate.subject == subject):
                return estimate
        raise KeyError(name if not subject else f"{name} of {subject}")

    def to_dict(self) -> dict[str, JsonValue]:
        """Return the report as JSON values."""
        return {
            "label_comparison": None if self.label_comparison is None else self.label_comparison.to_dict(),
            "items": self.items,
            "jurors": list(self.jurors),
            "votes": self.votes,
            "missing": self.missing,
            "labelled": self.labelled,
            "merged": self.merged,
            "failed_runs": self.failed_runs,
            "remarks": list(self.remarks),
            "in_short": list(self.in_short),
            "sections": {title: [estimate.to_dict() for estimate in found] for title, found in self.sections.items()},
        }

    def __str__(self) -> str:
        return visible_lines("\n".join(_lines(self)))

    def _first(self, *names: str) -> str:
        """Return the sentence of the first of these estimates that says something; empty if none does."""
        known = [estimate for estimate in self.estimates if not _says_nothing(estimate)]
        return next((one.sentence for name in names for one in known if one.name.startswith(name)), "")

    def _warned(self) -> dict[str, list[str]]:
        """Return each warning with its subjects, in order; those on few items as one, at the position of the first."""
        found = [(one.subject or one.name, warning) for one in self.estimates for warning in one.warnings]
        few = {warning.items for _, warning in found if isinstance(warning, FewItems)}
        least, most = min(few, default=0), max(few, default=0)
        together = f"some numbers rest on {least:,} to {most:,} items only, so they can move a lot with the next few"
        warned: dict[str, list[str]] = {}
        for about, warning in found:
            folded = isinstance(warning, FewItems) and len(few) > 1
            warned.setdefault(together if folded else warning, []).append(about)
        return warned

    def _trust(self) -> str:
        if self.items < FEW_ITEMS:
            return (
                f"{counted(self.items, 'item')} {'is' if self.items == 1 else 'are'} few: every number can move a lot "
                f"with the next ones. Below {FEW_ITEMS}, drift and verbosity bias are not looked for."
            )
        doubts = len(self.warnings)
        return f"{counted(doubts, 'warning')} on these numbers: see where they mislead, at the end." if doubts else ""


def agreement_report(
    votes: Votes, level: Level | None = None, *, draws: int = DRAWS, seed: int = 0, random_sample: bool = True
) -> AgreementReport:
    """Analyse a batch of votes: agreement, independence, jurors, biases, and the true pass rate.

    Analyses that the votes do not allow (no gold labels, no generators, one order only) are omitted; so are drift and
    verbosity bias below 30 items.

    Args:
        votes: the batch.
        level: the level of measurement for a second alpha beside the nominal one; by default ``"interval"`` for
            numbers, ``"ordinal"`` for labels in a given order, nominal only otherwise.
        draws: bootstrap draws per interval; 0 for no bootstrap.
        seed: equal seeds give equal reports.
        random_sample: as in :func:`~jury_adapters.calibration.true_pass_rate`; False for labelled items that were
            picked.

    >>> report = agreement_report(Votes.from_rows([["PASS", "PASS"], ["PASS", "FAIL"], ["FAIL", "FAIL"]] * 20))
    >>> round(report.find("raw agreement").value, 3)
    0.667
    """
    how = Resampling(draws, seed)
    answered = votes.answered
    sections = {
        "Agreement": with_selection(votes, _agreement(votes, level, how)),
        "Labels": with_selection(
            votes, label_shares(votes, resampling=how) if len(votes.labels) <= _MANY_VALUES else ()
        ),
        "Independence": tuple(_independence(votes, how)),
        "Jurors": tuple(_jurors(votes, how)),
        "Biases": with_selection(votes, _biases(votes, how)),
        RATES: tuple(_rates(votes, random_sample=random_sample)),
    }
    return AgreementReport(
        items=len(votes.items),
        jurors=votes.jurors,
        votes=int(answered.sum()),
        missing=float(1 - answered.mean()) if answered.size else 0.0,
        labelled=votes.labelled,
        sections={title: found for title, found in sections.items() if found},
        merged=votes.merged,
        failed_runs=votes.failed_runs,
        label_comparison=compare_with_labels(votes),
    )


def with_selection(votes: Votes, estimates: Iterable[Estimate], *, compared: bool = True) -> tuple[Estimate, ...]:
    """Add a warning if jurors were asked because of the votes of others, so their votes are not a random sample.

    Args:
        votes: the batch.
        estimates: the estimates.
        compared: whether an estimate depends on the votes of several jurors. If not, only the estimates of jurors whose
            cases are selected have the warning.
    """
    return tuple(
        replace(one, warnings=(*one.warnings, _SELECTED))
        if (votes.selected if compared else one.subject in votes.selected)
        else one
        for one in estimates
    )


def with_selection_of_labels(report: AgreementReport, selected: Collection[str]) -> AgreementReport:
    """Add to the figures that depend on human labels how the labelled cases were chosen, unless it was at random."""
    notes = tuple(describe_sample(0, selected))
    rates = tuple(
        replace(
            one,
            sentence=" ".join((one.sentence, *notes)),
            warnings=(*one.warnings, *(note.removesuffix(".") for note in notes)),
        )
        for one in report.sections.get(RATES, ())
    )
    return replace(report, sections={**report.sections, RATES: rates}) if rates and notes else report


def _says_nothing(estimate: Estimate) -> bool:
    """Whether a figure is missing, or a chance-corrected one is based on so few items that it is meaningless.

    That labels do not correct the pass rate, because they are not a random sample, does say something.
    """
    if estimate.value is None:
        return not estimate.sentence.startswith(NOT_CORRECTED)
    return estimate.n < _FEWEST and estimate.name.startswith(_BEYOND_CHANCE)


def _agreement(votes: Votes, level: Level | None, how: Resampling) -> Iterator[Estimate]:
    if level is None:
        level = "interval" if votes.numeric else "ordinal" if votes.ordered else "nominal"
    labels = len(votes.labels) <= _MANY_VALUES  # with more, equal scores are too rare to be meaningful
    if labels:
        yield raw_agreement(votes, resampling=how)
        yield alpha(votes, resampling=how)
    if level != "nominal" or not labels:
        yield alpha(votes, level, resampling=how)
    if labels:
        yield gwet_ac(votes, resampling=how)
    if votes.ordered:
        yield gwet_ac(votes, "quadratic", resampling=how)
    if labels:
        yield fleiss_kappa(votes, resampling=how)
        yield cohen_kappa(votes, resampling=how)


def _independence(votes: Votes, how: Resampling) -> Iterator[Estimate]:
    if len(votes.jurors) < 2 or len(votes.labels) > _MANY_VALUES:
        return
    if votes.has_gold:
        yield effective_votes(votes, resampling=how)
    elif len(votes.jurors) > 2:
        yield residual_agreement(votes, resampling=how)


def _jurors(votes: Votes, how: Resampling) -> Iterator[Estimate]:
    labels = len(votes.labels) <= _MANY_VALUES
    if votes.has_gold and labels:
        yield from with_selection(votes, leniency(votes), compared=False)
    if labels and len(votes.jurors) > 1:
        yield from with_selection(votes, dissent(votes))
    if len(votes.items) >= FEW_ITEMS:
        yield from with_selection(votes, drift(votes, resampling=how))


def _biases(votes: Votes, how: Resampling) -> Iterator[Estimate]:
    pairwise = {"A", "B"} <= set(votes.labels)
    graded = votes.numeric or votes.pass_code is not None
    if votes.orders is not None and pairwise:
        yield from position_consistency(votes)
    if graded and any(votes.generators):
        for match in _OWN:
            yield from (estimate for estimate in self_preference(votes, match=match, resampling=how) if estimate.n)
    if (graded or pairwise) and int(np.isfinite(votes.lengths).sum()) >= FEW_ITEMS:
        yield from verbosity(votes, resampling=how)


def _rates(votes: Votes, *, random_sample: bool) -> Iterator[Estimate]:
    if as_pass_fail(votes).pass_code is not None and votes.has_gold:
        yield true_pass_rate(votes, random_sample=random_sample)


def _lines(report: AgreementReport) -> Iterator[str]:
    yield (
        f"{counted(report.items, 'item')}, {counted(len(report.jurors), 'juror')}, {counted(report.votes, 'vote')} "
        f"({percent(report.missing)} missing), {counted(report.labelled, 'item')} with a human label"
    )
    if report.failed_runs:
        yield report.failed_runs_note
    yield from report.remarks
    if report.merged:
        yield f"{merged_sentence(report.merged)} {_COUNT_ROWS}"
    if report.label_comparison is not None:
        yield f"\n{report.label_comparison}"
    yield "\nIn short\n--------"
    yield from (f"- {line}" for line in report.in_short)
    for title, found in report.sections.items():
        yield f"\n{title}\n{'-' * len(title)}"
        for estimate in found:
            who = f"{estimate.subject}: " if estimate.subject else ""
            yield f"{who}{estimate.name} = {number(estimate.value)}{span(estimate.interval)} (n = {estimate.n:,})"
            yield f"  {estimate.sentence}"
        yield from report.tables.get(title, ())
    if warned := report._warned():
        yield "\nWhere these numbers mislead\n---------------------------"
        for warning, about in warned.items():
            shown = ", ".join(dict.fromkeys(about))
            yield f"- {warning[0].upper()}{warning[1:]}. ({shown})"
