"""Warnings of a comparison about the juries, the groups, failed runs and labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from jury_adapters.core.errors import InputError
from jury_adapters.core.formatting import counted, percent, visible
from jury_adapters.report.answer_labels import AnswerLabels
from jury_adapters.report.run_facts import RunFacts
from jury_adapters.statistics.differences import PairedCounts, share


def warn_of_groups_and_juries(ungrouped: Sequence[InputError], group: str, juries: Sequence[str]) -> Iterator[str]:
    """Yield sentences about missing groups, and about what differs between the juries."""
    if ungrouped:
        yield (
            f"the interval takes no account of groups ({visible(group)}), because {counted(len(ungrouped), 'case')} "
            f"{'has' if len(ungrouped) == 1 else 'have'} none, and is too narrow."
        )
    if juries:
        more = f"; and {len(juries) - _CLAUSES} more" if len(juries) > _CLAUSES else ""
        yield (
            "different juries judged a and b, so the difference is not one of the systems alone: "
            f"{visible('; '.join(juries[:_CLAUSES]))}{more}."
        )


def warn_of_failed_runs(before: RunFacts, after: RunFacts, pairs: Sequence[tuple[int, int]]) -> Iterator[str]:
    """Yield a sentence about runs of the application that failed, with the pass rates of the pairs without them."""
    compared = [*zip(*pairs, strict=True)] if pairs else [range(len(before)), range(len(after))]  # others are left out
    failed = [sum(run.run_failed[at] for at in places) for run, places in zip((before, after), compared, strict=True)]
    if not any(failed):
        return
    runs = " and ".join(f"{counted(n, 'run')} of {name}" for n, name in zip(failed, "ab", strict=True) if n)
    answered = [(a, b) for a, b in pairs if not (before.run_failed[a] or after.run_failed[b])]
    judged = PairedCounts.of([(before.passed[a], after.passed[b]) for a, b in answered])
    without = ""
    if judged.decided:
        rates = (share(judged.both + only, judged.decided) for only in (judged.a_only, judged.b_only))
        rate_a, rate_b = map(percent, rates)
        of = counted(judged.decided, "case")
        without = f" Without them, a passes {rate_a} and b {rate_b} of the {of} decided in both."
    yield f"the application failed in {runs}, which count as FAIL although no juror judged them.{without}"


def warn_of_unused_labels(cases: int, use_labels: str) -> Iterator[str]:
    """Yield a sentence about cases whose human labels correct nothing, with what corrects the difference by them."""
    if cases:
        yield (
            f"human labels of both answers of {counted(cases, 'case')} are in the results, and do not correct this "
            f"difference; {use_labels}."
        )


def warn_of_contradictions(known: AnswerLabels | None) -> Iterator[str]:
    """Yield a sentence about answers whose human labels contradict each other."""
    if known is not None and known.contradicting:
        have = "has" if known.contradicting == 1 else "have"
        yield (
            f"{counted(known.contradicting, 'answer')} {have} human labels that contradict each other. Where such an "
            "answer is that of both a and b, it makes no difference between them; other cases with such an answer are "
            "left out of the correction."
        )


_CLAUSES = 4
