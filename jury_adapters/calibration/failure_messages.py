"""Messages that explain why no guarantee is possible, and what would help."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

from jury_adapters.calibration.failure import CalibrationFailed
from jury_adapters.calibration.gold import FEWEST_LABELS
from jury_adapters.calibration.more_labels import labels_for_power
from jury_adapters.calibration.power import POWER
from jury_adapters.calibration.thresholds import Method, Trials, choose_thresholds, fewest_labels
from jury_adapters.core.formatting import clip, counted, percent, visible


class Baseline(NamedTuple):
    """Agreement with human labels of always giving the most frequent label.

    Attributes:
        label: that label.
        share: the share of the labelled cases that have it, in 0..1.
    """

    label: str
    share: float

    @classmethod
    def of(cls, truths: Sequence[str], pass_labels: Collection[str] = ()) -> Self:
        """Count the human labels; with ``pass_labels``, all of these are one label, and all others are another one."""
        said = [("PASS" if truth in pass_labels else "FAIL") if pass_labels else truth for truth in truths]
        ((label, times),) = Counter(said).most_common(1)
        return cls(label, times / len(said))


@dataclass(frozen=True, slots=True)
class Target:
    """Target of a calibration.

    Attributes:
        agreement: the share of decided cases that is to agree with human labels, 0..1.
        delta: the probability with which the guarantee may fail, 0..1.
        method: the method of the search for thresholds.
        tiers: the names of the tiers that are calibrated.
        grouped: whether only one case of each group counts.
    """

    agreement: float
    delta: float
    method: Method
    tiers: tuple[str, ...]
    grouped: bool

    def check_number(self, reached: int, screened: int = 0, broken: str = "") -> None:
        """Refuse so few labelled cases that not even a perfect jury could pass.

        Args:
            reached: the number of cases that reach the calibrated tiers.
            screened: the number of cases that do not, because a screening tier decides them.
            broken: a sentence about the cases that are left out because a juror broke, if there are any.

        Raises:
            CalibrationFailed: there are too few cases.
        """
        fewest = fewest_labels(1 - self.agreement, self.delta, self.method, len(self.tiers))
        if reached >= fewest:
            return
        what = self._labelled
        why, advice = "even if not one disagrees", "Label more, or guarantee less"
        if fewest == FEWEST_LABELS:
            why, advice = (
                "for any guarantee, because fewer show little",
                f"Label more {'groups' if self.grouped else 'cases'}",
            )
        if broken:
            advice = f"{broken[0].upper()}{broken[1:]}; repair it and calibrate again"
        if screened:
            what += f" that reach the calibrated tiers (of {reached + screened}; screening decides {screened})"
        raise CalibrationFailed(
            f"{reached} {what} are too few: to guarantee an agreement of {self.agreement:g} with delta={self.delta:g}, "
            f"at least {fewest} are needed {why}. {advice}"
        )

    def check_verdicts(self, trials: Trials, reasons: Sequence[str]) -> None:
        """Refuse a jury none of whose tiers gave a verdict that could decide: nothing is known of its agreement.

        Args:
            trials: the labelled cases.
            reasons: the reasons of the abstentions.

        Raises:
            CalibrationFailed: no tier gave a verdict on any of the cases.
        """
        if (trials.confidences >= 0).any():
            return
        why = f"; the first reason is: {clip(visible(reasons[0]), _LONGEST_REASON)}" if reasons else ""
        raise CalibrationFailed(
            f"no tier gave a verdict on any of the {len(trials.correct)} {self._labelled}, so nothing is known of how "
            f"often the jury agrees with human labels{why}. Give it cases that it can judge"
        )

    def refusal(
        self, trials: Trials, baseline: Baseline, screened: int = 0, unstated: Sequence[int] | None = None
    ) -> str:
        """Return why these trials do not show the agreement, and what would help.

        A lower guarantee is suggested only if it is above the baseline: below it, a jury that always gives the same
        label would reach it too.

        Args:
            trials: the labelled cases.
            baseline: the agreement of always giving the same label.
            screened: the number of further cases that screening tiers decided.
            unstated: per tier, the number of verdicts that lack a confidence, and so never decide.
        """
        numbers = (trials.correct.sum(axis=0), (trials.confidences >= 0).sum(axis=0), unstated or [0] * len(self.tiers))
        shares = [_agreement_of(name, *each) for name, *each in zip(self.tiers, *numbers, strict=True)]
        through = f" that screening lets through (of {len(trials.correct) + screened})" if screened else ""
        advice = ", or ".join(self._ways_out(trials, baseline, screened))
        share = f"{baseline.share:.1%} of the labelled cases{' that screening lets through' if screened else ''}"
        usual = f"always answering {baseline.label!r} agrees with human labels on {share}"
        return (
            f"no threshold keeps an agreement of {self.agreement:g} with delta={self.delta:g} on {len(trials.correct)} "
            f"{self._labelled}{through}: {'; '.join(shares)}; {usual}. {advice[0].upper()}{advice[1:]}"
        )

    @property
    def _labelled(self) -> str:
        return "independent labelled cases (one per group)" if self.grouped else "labelled cases"

    def _ways_out(self, trials: Trials, baseline: Baseline, screened: int) -> Iterator[str]:
        """Yield ways out: fewer tiers, more labels or a lower guarantee, if they would pass; and a better tier."""
        for position, name in enumerate(self.tiers if len(self.tiers) > 1 else ()):
            if self._passes(trials.without(position), self.agreement):
                yield f"leave out the tier {name} (these labels would do without it; then calibrate on new ones)"
                break
        items = len(trials.correct)
        enough = labels_for_power(trials, self.agreement, self.delta, self.method, POWER)
        if enough is not None:
            number = round(enough[0] * (items + screened) / items)  # screening will decide its share of them too
            yield (
                f"label more (about {number:,} {'groups' if self.grouped else 'cases'}: if they come out like these, "
                f"they get the guarantee with a probability of {percent(enough[1], 0)})"
            )
        for lower in (round(self.agreement - 0.01 * step, 4) for step in range(1, 41)):
            if lower <= max(baseline.share, _COIN):
                break
            if self._passes(trials, lower):
                yield (
                    f"guarantee less (these labels would do for {lower:g}; the guarantee of a second target tried on "
                    "the same labels is somewhat too strong: confirm it on new ones)"
                )
                break
        yield "add a tier that agrees more with human labels"

    def _passes(self, trials: Trials, agreement: float) -> bool:
        return choose_thresholds(trials, 1 - agreement, self.delta, self.method)[0].decided > 0


def _agreement_of(tier: str, right: int, verdicts: int, unstated: int) -> str:
    """Return how often a tier agrees with human labels.

    Args:
        tier: its name.
        right: the number of verdicts that agree.
        verdicts: the number of verdicts that could decide.
        unstated: the number of further verdicts that lack a confidence.
    """
    if not verdicts:
        return f"{tier} gave no verdict"
    if not unstated:
        return f"{tier} agrees on {right / verdicts:.1%} of the {verdicts} cases on which it has a verdict"
    return (
        f"{tier} agrees on {right / verdicts:.1%} of the {verdicts} cases on which it has a verdict with a confidence "
        f"({counted(unstated, 'more verdict')} without one can never decide)"
    )


_COIN = 0.5  # agreement of a coin with two labels
_LONGEST_REASON = 120
