"""Comparison of two runs: the difference of their pass rates, and the cases that changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from jury_adapters.calibration.estimates import Estimate
from jury_adapters.core.clustered_shares import IntraclassCorrelation
from jury_adapters.core.errors import InputError
from jury_adapters.core.formatting import clip, counted, percent
from jury_adapters.core.judge import CaseLike
from jury_adapters.core.sequential_gate import GateDecision
from jury_adapters.core.values import JsonValue
from jury_adapters.report.answer_labels import AnswerLabels
from jury_adapters.report.comparison_warnings import (
    warn_of_contradictions,
    warn_of_failed_runs,
    warn_of_groups_and_juries,
    warn_of_unused_labels,
)
from jury_adapters.report.copies import group_copies, warn_of_copies
from jury_adapters.report.corrected_difference import corrected_difference
from jury_adapters.report.entries import Entries
from jury_adapters.report.flips import FLIPS_SHOWN, Flip, by_urgency, flips_of
from jury_adapters.report.matching import match
from jury_adapters.report.run_facts import RunFacts
from jury_adapters.report.stopped_runs import warn_of_missing, warn_of_stops
from jury_adapters.statistics.differences import (
    PairedCounts,
    counts_by_group,
    paired_difference,
    share,
    shared_groups,
    shares_by_group,
    unpaired_difference,
)
from jury_adapters.statistics.labelled_pairs import Opinions


@dataclass(frozen=True, slots=True)
class Comparison:
    """Comparison of two runs: the first is called a, the second b, and every difference is b minus a.

    ``str(comparison)`` gives it as text. Cases that are in both runs are compared as pairs. If no case is in both, or
    if cases cannot be paired because they have neither ids nor questions of their own, the pass rates are compared as
    those of independent samples.

    Attributes:
        before: the title of the first run, a.
        after: the title of the second run, b.
        paired: the number of cases that are in both runs.
        only_before: the number of cases that are only in the first run. Cases that pass only there are :attr:`worse`.
        only_after: the number of cases that are only in the second run. Cases that pass only there are :attr:`better`.
        decided: paired cases that are PASS or FAIL in both; without any paired cases, the decided cases of both runs.
        rate_before: pass rate of the decided cases in the first run, in 0..1; None without any.
        rate_after: pass rate of the decided cases in the second run, in 0..1; None without any.
        found: the difference of the pass rates from the verdicts alone; see :func:`jury_adapters.statistics.compare`.
        corrected: the difference corrected by human labels; None without labels.
        unmatched_labels: number of labels that belong to no compared answer.
        unused_labels: number of paired cases of which both runs hold a human label, where no labels were given to
            correct the difference; a warning says how to give them.
        same_answers: whether both runs judged the same answers, so that two juries are compared and not two systems.
        changed: number of paired cases whose verdict changed.
        better: number of paired cases that fail in a and pass in b.
        worse: number of paired cases that pass in a and fail in b.
        flips: the paired cases whose verdict changed: first those between PASS and FAIL, the most contested of them
            first. They are all there, unless the comparison was made to have only the first.
        outages: for each run, the sentences of :attr:`Summary.pass_rate_warning` about all its cases; empty for a run
            whose pass rate is not known to be biased by judges that broke.
        other_questions: the number of pairs whose questions differ, so that two different cases are compared.
        other_contexts: the number of pairs without questions whose contexts differ; they may be different cases.
        warnings: sentences about doubtful pairs and different juries, which come first in every form of the report.
        why_unpaired: why cases are not compared as pairs, although the runs may have common ones; empty if they are.
    """

    before: str
    after: str
    paired: int
    only_before: int
    only_after: int
    decided: int
    rate_before: float | None
    rate_after: float | None
    found: Estimate
    corrected: Estimate | None
    unmatched_labels: int
    same_answers: bool
    changed: int
    better: int
    worse: int
    flips: tuple[Flip, ...]
    outages: tuple[str, str] = ("", "")
    other_questions: int = 0
    other_contexts: int = 0
    warnings: tuple[str, ...] = ()
    why_unpaired: str = ""
    unused_labels: int = 0

    @property
    def difference(self) -> float | None:
        """Pass rate of b minus that of a, from the verdicts alone, in -1..1; None if nothing is decided."""
        return self.found.value

    @property
    def interval(self) -> tuple[float, float] | None:
        """95 % interval of the difference; None without a difference."""
        return self.found.interval

    @property
    def p_value(self) -> float | None:
        """P value of the exact McNemar test or, for groups, of the sign-flip test; None for independent samples."""
        p = self.found.details.get("p_value")
        return p if isinstance(p, float) else None

    @property
    def groups(self) -> int | None:
        """Number of groups of the decided cases; None if the cases have no groups."""
        groups = self.found.details.get("groups")
        return groups if isinstance(groups, int) else None

    @property
    def sentence(self) -> str:
        """Sentence about the difference, for a reader without statistics; with labels, about the corrected one."""
        if self.corrected is not None and self.corrected.value is not None:
            return self.corrected.sentence
        if self.found.value is None:
            return f"There is nothing to compare: {self.found.reason}."
        return self.found.sentence

    @property
    def remarks(self) -> tuple[str, ...]:
        """Sentences about the cases and the difference, with warnings; the same in every form of the report."""
        sentences = [*(f"Warning: {warning}" for warning in self.warnings), self._cases(), self.sentence]
        shown = self.found
        if self.corrected is not None and self.corrected.value is not None:
            shown = self.corrected
        elif self.corrected is not None:
            sentences.append(f"The labels do not correct the difference: {self.corrected.reason}.")
        icc, size = (self.found.details.get(name) for name in ("icc", "group_size"))
        if isinstance(icc, float) and isinstance(size, float):
            sentences.append(
                f"The differences of two cases of a group correlate by {icc:.2g}; to plan another comparison over the "
                f"same cases: jury sample-size {IntraclassCorrelation(size, icc).options}."
            )
        if self.unmatched_labels:
            one = self.unmatched_labels == 1
            belong = "belongs" if one else "belong"
            sentences.append(
                f"{counted(self.unmatched_labels, 'label')} {belong} to no compared answer and "
                f"{'is' if one else 'are'} left out."
            )
        sentences += [f"Warning: of {run}, {why}" for run, why in zip("ab", self.outages, strict=True) if why]
        return (*sentences, *(f"Warning: {warning}." for warning in shown.warnings))

    def to_dict(self) -> dict[str, JsonValue]:
        """Return the comparison as JSON values."""
        return {
            "a": self.before, "b": self.after,
            "before": self.before, "after": self.after, "direction": "after minus before",
            "paired": self.paired,
            "only_before": self.only_before, "only_after": self.only_after, "decided": self.decided,
            "rate_before": self.rate_before, "rate_after": self.rate_after, "difference": self.difference,
            "interval": None if self.interval is None else list(self.interval), "p_value": self.p_value,
            "groups": self.groups,
            "sentence": self.sentence, "found": self.found.to_dict(),
            "corrected": None if self.corrected is None else self.corrected.to_dict(),
            "unmatched_labels": self.unmatched_labels, "unused_labels": self.unused_labels,
            "same_answers": self.same_answers,
            "other_questions": self.other_questions, "other_contexts": self.other_contexts,
            "warnings": list(self.warnings), "why_unpaired": self.why_unpaired,
            "pass_rate_warnings": {"a": self.outages[0], "b": self.outages[1]},
            "flips": [
                {"where": flip.where, "before": flip.before, "after": flip.after, "why": flip.why}
                for flip in self.flips
            ],
        }  # fmt: skip

    def __str__(self) -> str:
        lines = [f"a: {clip(self.before, _LONGEST)}", f"b: {clip(self.after, _LONGEST)}", *self.remarks]
        for flip in self.flips[:FLIPS_SHOWN]:
            lines.append(clip(f"  {flip.where}: {flip.before} -> {flip.after} ({flip.why})", _LONGEST))
            lines += [clip(f"    {text}", _LONGEST) for text in flip.texts]
        more = self.changed - FLIPS_SHOWN
        return "\n".join([*lines, *([f"  and {counted(more, 'more changed case')}"] if more > 0 else [])])

    def _cases(self) -> str:
        a, b = percent(self.rate_before), percent(self.rate_after)
        if not self.paired:
            why = "No case is in both runs, so"
            if self.why_unpaired:
                why = f"Cases cannot be paired: {self.why_unpaired}. So"
            return (
                f"{why} {counted(self.only_before, 'case')} of a{self._decided_of('a', self.only_before)} and "
                f"{self.only_after:,} of b{self._decided_of('b', self.only_after)} are compared as independent "
                f"samples: a passes {a}, b {b}. Give both answers to a question the same id to compare them as pairs."
            )
        both = f"{counted(self.paired, 'case')} in both runs"
        if self.decided:
            of = f"of the {self.decided:,} decided in both, " if self.decided < self.paired else ""
            both += f": {of}a passes {a}, b {b}; {self.better:,} pass in b only, {self.worse:,} in a only"
        alone = "" if not (self.only_before or self.only_after) else (
            f" {counted(self.only_before, 'case is', 'cases are')} in a only and {self.only_after:,} in b only; "
            f"{'it is' if self.only_before + self.only_after == 1 else 'they are'} left out."
        )  # fmt: skip
        same = " Both judged the same answers, so the difference is one between juries." if self.same_answers else ""
        return f"{both}.{alone}{same}"

    def _decided_of(self, run: str, cases: int) -> str:
        decided = self.found.details.get(f"decided_{run}", cases)
        return "" if decided == cases else f" ({decided:,} decided)"


def compare(
    before: Entries,
    after: Entries,
    *,
    titles: tuple[str, str] = ("before", "after"),
    labels: Iterable[CaseLike | tuple[CaseLike, str | bool]] | None = None,
    pass_labels: Collection[str] = (),
    group: str = "",
    needs_groups: bool = True,
    by_id: bool = False,
    gates: tuple[GateDecision | None, GateDecision | None] = (None, None),
    planned: tuple[int | None, int | None] = (None, None),
    use_labels: str = "jury compare --labels, or labels= in Python, corrects it",
    most_flips: int | None = None,
) -> Comparison:
    """Compare two runs case by case.

    Cases are matched as :func:`jury_adapters.report.matching.match` does.

    Args:
        before: the first run.
        after: the second run.
        titles: the titles of the runs.
        labels: cases of either run with human labels; they correct the difference.
        pass_labels: the labels that mean PASS.
        group: the field that identifies the group of a case; empty for independent cases. For pairs it is read from the
            second run, or from the first if the second does not have it.
        needs_groups: whether a case of independent samples without a group is an error; otherwise there is a warning,
            and the interval takes no account of groups.
        by_id: whether, without a group, the pairs of one id are a group, such as copies of a case or several answers to
            a question, and of independent samples the copies of a case. They are alike, and taken as independent they
            would make the interval too narrow.
        gates: for each run, the decision of a gate that may have ended it early.
        planned: for each run, the number of cases that it was to judge; None if it is unknown.
        use_labels: how to correct the difference by the human labels that the runs hold, for a warning.
        most_flips: the maximum number of changed cases in the result, which need to be read again; None for all.

    Raises:
        ConfigurationError: the labels cannot be read, none of them belongs to a compared answer, a case has no such
            group, or there are labels and no case is in both runs.
    """
    known = None
    if labels is not None:
        known = AnswerLabels.of(labels, (entry.judgment for entry in chain(before, after)), pass_labels)
    first, second = (RunFacts.of(run, group=group, labels=known) for run in (before, after))
    matching = match(first, second)
    pairs, same = matching.pairs, matching.same_answers
    copies = 0 if pairs or group or not by_id else group_copies(first, second)
    ungrouped = [] if pairs else _without_group(first, second)
    if needs_groups and ungrouped:
        raise ungrouped[0]
    groups = (
        [_group(first.groups[a], second.groups[b]) for a, b in pairs] if group else [*matching.ids] if by_id else []
    )
    verdicts = [first.passed[a] for a, _ in pairs], [second.passed[b] for _, b in pairs]
    found, passed = _difference(first, second, verdicts, groups, same_answers=same)
    corrected = None
    if known is not None:
        of_both = known.of_pairs([(first.labels[a], second.labels[b]) for a, b in pairs])
        corrected = corrected_difference(verdicts, of_both, known, groups, matching)
    unused = 0 if same or known is not None else sum(first.labelled[a] and second.labelled[b] for a, b in pairs)
    changed = by_urgency(first, second, pairs, after)
    words = Counter((first.verdict[a], second.verdict[b]) for a, b in changed)
    comparison = Comparison(
        *_distinguish(titles),
        paired=len(pairs),
        only_before=len(first) - len(pairs),
        only_after=len(second) - len(pairs),
        decided=found.n,
        rate_before=passed[0],
        rate_after=passed[1],
        found=found,
        corrected=corrected,
        unmatched_labels=0 if known is None else known.unmatched,
        same_answers=same,
        changed=len(changed),
        better=words["FAIL", "PASS"],
        worse=words["PASS", "FAIL"],
        flips=(),
        outages=(first.outage_bias.warning, second.outage_bias.warning),
        other_questions=matching.other_questions,
        other_contexts=matching.other_contexts,
        warnings=(
            *warn_of_groups_and_juries(ungrouped, group, [] if same else list(first.jury.differences(second.jury))),
            *warn_of_copies(copies),
            *matching.warnings(group, by_id=by_id and not group),
            *warn_of_failed_runs(first, second, pairs),
            *warn_of_missing((len(first), len(second)), planned, gates),
            *warn_of_stops(*gates),
            *warn_of_unused_labels(unused, use_labels),
            *warn_of_contradictions(known),
        ),
        why_unpaired=matching.why_unpaired,
        unused_labels=unused,
    )
    del first, second, matching, pairs, groups, verdicts, ungrouped  # the changed cases may take as much memory
    return replace(comparison, flips=flips_of(before, after, changed[:most_flips]))


def _difference(
    before: RunFacts,
    after: RunFacts,
    verdicts: tuple[Opinions, Opinions],
    groups: Sequence[Hashable],
    *,
    same_answers: bool,
) -> tuple[Estimate, tuple[float | None, float | None]]:
    """Return the difference from the verdicts alone, and both pass rates."""
    if not verdicts[0]:
        counts = [
            (opinions.count(True), opinions.count(True) + opinions.count(False))
            for opinions in (before.passed, after.passed)
        ]
        runs = () if _without_group(before, after) else (before, after)
        by_group = [shares_by_group(run.passed, run.groups) for run in runs] or [[], []]
        shared = shared_groups(before.passed, before.groups, after.passed, after.groups) if runs else 0
        found = unpaired_difference(
            *counts[0], *counts[1], groups_a=by_group[0], groups_b=by_group[1], shared=shared,
            cases=(len(before), len(after)),
        )  # fmt: skip
        return found, (share(*counts[0]), share(*counts[1]))
    judged = list(zip(*verdicts, strict=True))
    count = PairedCounts.of(judged)
    found = paired_difference(count, by_group=counts_by_group(judged, groups), same_answers=same_answers)
    return found, (share(count.both + count.a_only, count.decided), share(count.both + count.b_only, count.decided))


def _without_group(*runs: RunFacts) -> list[InputError]:
    """Return the errors of the cases without a group."""
    return [group for run in runs for group in run.groups if isinstance(group, InputError)]


def _group(before: Hashable | InputError, after: Hashable | InputError) -> Hashable:
    found = before if isinstance(after, InputError) else after
    if isinstance(found, InputError):
        raise found
    return found


def _distinguish(titles: tuple[str, str]) -> tuple[str, str]:
    before, after = titles
    return (f"{before} (first)", f"{after} (second)") if before == after else titles


_LONGEST = 240  # characters of a line about a changed case
