"""Figures of one judge, juror or constant answer against human labels, and their formatting."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Literal

from jury_adapters.core.clustered_shares import clustered_wilson
from jury_adapters.core.formatting import percent, percent_span, two_decimals, visible
from jury_adapters.core.kappa_intervals import kappa_interval
from jury_adapters.core.statistics import Score, wilson
from jury_adapters.core.values import JsonValue

PASS, FAIL = "PASS", "FAIL"
Kind = Literal["jury", "juror", "constant"]


@dataclass(frozen=True, slots=True)
class Rate:
    """Share of cases with its counts.

    Attributes:
        hits: number of cases that have the property.
        n: number of all cases.
        groups: the same two numbers for each group of cases; empty for independent cases.
    """

    hits: int
    n: int
    groups: tuple[tuple[int, int], ...] = ()

    @property
    def share(self) -> float | None:
        """``hits / n``; None without cases."""
        return self.hits / self.n if self.n else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % Wilson interval of the share, for groups from :func:`clustered_wilson`; None without cases."""
        if not self.n:
            return None
        return clustered_wilson(self.groups) if self.groups else wilson(self.hits, self.n)

    def to_dict(self) -> dict[str, JsonValue]:
        """Return JSON values."""
        return {"count": self.hits, "of": self.n, "share": self.share, "interval": _listed(self.interval)}


@dataclass(frozen=True, slots=True)
class Cell:
    """Formatted figure: its value, its counts and its 95 % interval; empty texts for missing ones."""

    value: str
    counts: str = ""
    interval: str = ""


@dataclass(frozen=True, slots=True)
class LabelScore:
    """Figures of one judge, juror or constant answer against human labels.

    All figures except the coverage are computed over the cases that it decided.

    Attributes:
        name: its name.
        kind: ``"jury"``, ``"juror"``, or ``"constant"`` for an answer that is always the same.
        score: the counts, by human label and opinion.
        pass_fail: whether the labels are PASS and FAIL; only then are there false passes and false fails.
        within: the tiers and juries that contain a juror.
        by_group: the counts of each group of cases; empty for independent cases.
    """

    name: str
    kind: Kind
    score: Score
    pass_fail: bool
    within: tuple[str, ...] = ()
    by_group: tuple[Score, ...] = ()

    @property
    def coverage(self) -> Rate:
        """Share of decided cases among the labelled cases about which it was asked."""
        return self._rate(lambda score: (score.decided, score.cases))

    @property
    def accuracy(self) -> Rate:
        """Share of the decided cases on which it agrees with the human label."""
        return self._rate(lambda score: (score.right, score.decided))

    @property
    def balanced_accuracy(self) -> float | None:
        """Mean, over the human labels, of the share of correct opinions on decided cases with that label."""
        return self.score.balanced_accuracy

    @property
    def balanced_interval(self) -> tuple[float, float] | None:
        """The 95 % interval of :attr:`balanced_accuracy`; see :func:`mean_interval`. A constant answer has none."""
        if self.kind == "constant" or self.balanced_accuracy is None:
            return None
        return mean_interval(
            self._said(truth, truth) for truth in dict.fromkeys(truth for truth, _ in self.score.pairs)
        )

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa with the human labels; see :attr:`Score.kappa`."""
        return self.score.kappa

    @property
    def kappa_interval(self) -> tuple[float, float] | None:
        """The 95 % interval of :attr:`kappa`; see :func:`kappa_interval`. A constant answer has none."""
        if self.kind == "constant":
            return None
        return kappa_interval(self.score.decided_pairs, [score.decided_pairs for score in self.by_group])

    @property
    def false_passes(self) -> Rate | None:
        """Share of PASS opinions on decided cases with the human label FAIL; None without PASS and FAIL labels."""
        return self._said(FAIL, PASS) if self.pass_fail else None

    @property
    def false_fails(self) -> Rate | None:
        """Share of FAIL opinions on decided cases with the human label PASS; None without PASS and FAIL labels."""
        return self._said(PASS, FAIL) if self.pass_fail else None

    def cells(self) -> tuple[Cell, ...]:
        """Return the formatted figures, in the order of :func:`headings`."""
        constant = self.kind == "constant"  # decides everything and errs on one side only, so some intervals are void
        decided, accuracy = (_cell(rate) for rate in (self.coverage, self.accuracy))
        balanced = Cell(percent(self.balanced_accuracy), interval=percent_span(self.balanced_interval))
        mistakes = [_cell(rate) for rate in (self.false_passes, self.false_fails) if rate is not None]
        if constant:
            decided, *mistakes = (replace(cell, interval="") for cell in (decided, *mistakes))
        kappa = Cell(two_decimals(self.kappa), interval=_span(self.kappa_interval))
        return (decided, accuracy, balanced, kappa, *mistakes)

    def to_dict(self) -> dict[str, JsonValue]:
        """Return JSON values."""
        passes, fails = self.false_passes, self.false_fails
        return {
            "name": self.name,
            **({"in": list(self.within)} if self.kind == "juror" else {}),
            "cases": self.score.cases,
            "decided": self.score.decided,
            "coverage": self.coverage.share,
            "coverage_interval": _listed(self.coverage.interval),
            "accuracy": self.accuracy.share,
            "accuracy_interval": _listed(self.accuracy.interval),
            "balanced_accuracy": self.balanced_accuracy,
            "balanced_accuracy_interval": _listed(self.balanced_interval),
            "kappa": self.kappa,
            "kappa_interval": _listed(self.kappa_interval),
            "false_passes": None if passes is None else passes.to_dict(),
            "false_fails": None if fails is None else fails.to_dict(),
        }

    def _said(self, truth: Hashable, said: Hashable) -> Rate:
        """Return the share of this opinion among the decided cases with this human label."""

        def count(score: Score) -> tuple[int, int]:
            decided = sum(times for (label, one), times in score.pairs.items() if label == truth and one is not None)
            return score.pairs[truth, said], decided

        return self._rate(count)

    def _rate(self, count: Callable[[Score], tuple[int, int]]) -> Rate:
        return Rate(*count(self.score), tuple(count(score) for score in self.by_group))


def mean_interval(rates: Iterable[Rate]) -> tuple[float, float] | None:
    """Return the 95 % interval of the mean of independent shares, such as the recalls of balanced accuracy.

    The squared distances from each share to the limits of its interval are added (square-and-add method, MOVER). By
    exact calculation for two shares of 10 to 97 %, each over 9 to 100 independent cases, the interval covers the mean
    in 90 to 100 % of the batches, and in 95 % on average.

    Args:
        rates: the shares; shares without a case are left out.

    Sources: R. G. Newcombe (1998), *Interval estimation for the difference between independent proportions*,
    Statistics in Medicine 17, method 10; for sums of several shares G. Y. Zou, W. Huang and X. Zhang (2009), *A note on
    confidence interval estimation for a linear function of binomial proportions*, Computational Statistics & Data
    Analysis 53.

    >>> [round(limit, 3) for limit in mean_interval([Rate(180, 183), Rate(5, 17)])]
    [0.557, 0.758]
    """
    shares = [(rate.hits / rate.n, *rate.interval) for rate in rates if rate.interval is not None]
    if not shares:
        return None
    mean = sum(share for share, _, _ in shares) / len(shares)
    below = sqrt(sum((share - low) ** 2 for share, low, _ in shares)) / len(shares)
    above = sqrt(sum((high - share) ** 2 for share, _, high in shares)) / len(shares)
    return max(0.0, mean - below), min(1.0, mean + above)


def headings(*, pass_fail: bool) -> tuple[str, ...]:
    """Return the headings of :meth:`LabelScore.cells`."""
    return ("decided", "accuracy", "balanced", "kappa", *(("false passes", "false fails") if pass_fail else ()))


def constant_score(answer: str, human: Mapping[tuple[str, Hashable], int], *, pass_fail: bool) -> LabelScore:
    """Return the figures of a constant answer, from the number of cases by human label and group."""
    score, by_group = Score(), dict[Hashable, Score]()
    for (label, group), times in human.items():
        score.pairs[label, answer] += times
        if group is not None:
            by_group.setdefault(group, Score()).pairs[label, answer] += times
    return LabelScore(f"always {answer}", "constant", score, pass_fail, by_group=tuple(by_group.values()))


def table_lines(rows: Iterable[LabelScore]) -> list[str]:
    """Return a table as lines of plain text; each row has its figures, and below them their 95 % intervals."""
    found = list(rows)
    if not found:
        return []
    heads = ("", *headings(pass_fail=found[0].pass_fail))
    upper, lower = [], []
    for row in found:
        decided, accuracy, balanced, kappa, *mistakes = row.cells()
        shares = (cell.value for cell in (decided, accuracy, balanced, kappa))
        upper.append((_name(row), *shares, *(f"{cell.counts} {cell.value:>7}" for cell in mistakes)))
        spans = (cell.interval.replace(" to ", "-") for cell in (accuracy, balanced, kappa, *mistakes))
        lower.append(("", decided.counts, *(span.removesuffix(" %") for span in spans)))
    widths = [max(map(len, column)) for column in zip(heads, *upper, *lower, strict=True)]
    lines = [_aligned(heads, widths), "─" * (sum(widths) + 2 * len(widths))]
    for above, below in zip(upper, lower, strict=True):
        lines += [_aligned(above, widths), _aligned(below, widths)]
    return [line.rstrip() for line in lines]


def warn_of_constants(rows: Sequence[LabelScore]) -> Iterator[str]:
    """Yield a warning if a constant answer is right at least as often as the jury, or as some of the jurors."""
    best = max((row for row in rows if row.kind == "constant"), key=_accuracy)
    compared = [row for row in rows if row.kind == "jury"] or [row for row in rows if row.kind == "juror"]
    beaten = [row for row in compared if row.score.decided and _accuracy(row) <= _accuracy(best)]
    if not beaten:
        return
    who = f"{len(beaten)} of these {len(compared)} {'is' if len(beaten) == 1 else 'are'} no more often right"
    if len(beaten) == len(compared):
        who = f"none of these {len(compared)} is right more often"
    if len(compared) == 1:
        who = f"{'the jury' if compared[0].kind == 'jury' else visible(compared[0].name)} is no more often right"
    figures = "balanced accuracy, kappa and the false passes" if best.pass_fail else "balanced accuracy and kappa"
    yield (
        f"A{visible(best.name)[1:]} is right on {percent(_accuracy(best))} of all labelled cases; {who} on the cases "
        f"that {'it decides' if len(compared) == 1 else 'they decide'}. So accuracy says little here: read {figures}."
    )


_LONGEST_NAME = 28


def _name(row: LabelScore) -> str:
    name = visible(" / ".join((*row.within, row.name)))
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"


def _aligned(cells: Iterable[str], widths: Iterable[int]) -> str:
    first, *rest = zip(cells, widths, strict=True)
    return "  ".join([f" {first[0]:<{first[1]}}", *(f"{cell:>{width}}" for cell, width in rest)])


def _cell(rate: Rate) -> Cell:
    return Cell(percent(rate.share), f"{rate.hits:,}/{rate.n:,}" if rate.n else "", percent_span(rate.interval))


def _span(interval: tuple[float, float] | None) -> str:
    return "" if interval is None else f"{two_decimals(interval[0])} to {two_decimals(interval[1])}"


def _listed(interval: tuple[float, float] | None) -> list[JsonValue] | None:
    return None if interval is None else list(interval)


def _accuracy(row: LabelScore) -> float:
    return row.accuracy.share or 0.0
