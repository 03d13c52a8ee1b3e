"""Guarantee, what a calibration found, as data; and CalibratedJury, the cascade that abstains where it is not sure."""

import json
from collections.abc import Mapping
from itertools import takewhile
from typing import TYPE_CHECKING, Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from jury_adapters.core.cascade import SCREENING, CascadedJury, Tier
from jury_adapters.core.case import Case
from jury_adapters.core.judge import Check, Judge, JudgeLike, Returned, judge_of
from jury_adapters.core.judgment import Judgment, Status, abstain
from jury_adapters.core.text import visible
from jury_adapters.core.values import (
    ROUNDING,
    ConfigurationError,
    Frozen,
    FrozenDict,
    JuryError,
    Share,
    Text,
)

if TYPE_CHECKING:
    from jury_adapters.stats.figures import Figure

ABSTAINED = "abstained"  # the name of the tier that ends a calibrated jury
_Number = Annotated[int, Field(strict=True, ge=0)]
_Between = Annotated[float, Field(strict=True, gt=0, lt=1)]


class CalibrationFailed(JuryError):
    """The labelled cases give no guarantee.

    Attributes:
        figures: how the tiers, and the best constant answer, agree with human labels.
    """

    def __init__(self, message: str, figures: "tuple[Figure, ...]" = ()) -> None:
        super().__init__("\n  ".join([message, *map(str, figures)]))
        self.figures = figures


class Guarantee(Frozen):
    """What :func:`calibrate` guarantees, with the counts behind it.

    With a probability of at least ``1 - delta`` over the labelled cases, at least a share ``agreement`` of the cases
    that the jury decides behind its screening tiers agrees with human labels, for cases like the labelled ones. Groups
    count once each. The guarantee is not about one group of cases, what a screening tier decides, or runs that failed.
    It is void for any other jury than that with the fingerprint.

    Attributes:
        agreement: the share that is guaranteed, between 0 and 1.
        delta: the probability with which the guarantee may fail, above 0 and at most 0.25.
        threshold: the confidence from which a tier decides, 0..1.
        tiers: the tiers that are asked, each with the number of labelled cases that it decides. Tiers between the
            screening tiers and these are not asked.
        n: the number of independent labelled cases that the screening tiers let through.
        decided: how many of these the jury decides; on the others it abstains.
        errors: how many of the decided cases disagree with the human label.
        bound: the upper confidence bound of the share that disagrees; at most ``1 - agreement``.
        constant: the constant answer that agrees most often with the labels of the decided cases.
        constant_agreement: how often it does, 0..1.
        screened: the number of independent labelled cases that the screening tiers decide.
        screened_errors: how many of these disagree with the human label.
        broken: the number of labelled cases on which a judge broke. A tier in which a judge broke decides nothing.
        cost_saved: the share of the cost that the jury saves on the labelled cases, against asking only the last tier;
            below 0 if it costs more. The cost is that in US dollars if it is known, else the number of judges asked.
        jury_file: the path of the file of the jury, if it has one.
        fingerprint: the fingerprint of the jury.
    """

    agreement: _Between
    delta: Annotated[float, Field(strict=True, gt=0, le=0.25)]
    threshold: Share
    tiers: Annotated[Mapping[Text, _Number], AfterValidator(FrozenDict)] = Field(min_length=1)
    n: _Number
    decided: _Number
    errors: _Number
    bound: Share
    constant: Text
    constant_agreement: Share
    screened: _Number = 0
    screened_errors: _Number = 0
    broken: _Number = 0
    cost_saved: float = Field(0.0, strict=True, le=1, allow_inf_nan=False)
    jury_file: Text = ""
    fingerprint: Text = Field(min_length=1)

    @model_validator(mode="after")
    def _adds_up(self) -> Self:
        counts = self.errors <= self.decided <= self.n and self.screened_errors <= self.screened and self.decided > 0
        shares = self.errors / max(1, self.decided) <= self.bound + ROUNDING <= 1 - self.agreement + 2 * ROUNDING
        if not counts or not shares or sum(self.tiers.values()) != self.decided:
            raise ValueError("the numbers contradict each other")
        return self

    @property
    def coverage(self) -> float:
        """The share of the labelled cases that the jury decides, after the screening tiers."""
        return self.decided / self.n

    def applied_to(self, jury: JudgeLike) -> "CalibratedJury":
        """Return the jury with this guarantee.

        Raises:
            ConfigurationError: it is not the jury that was calibrated.
        """
        judge = judge_of(jury)
        if judge.fingerprint != self.fingerprint:
            raise ConfigurationError(
                f"the guarantee is of the jury with the fingerprint {visible(self.fingerprint)}, and says nothing of "
                f"{visible(self.jury_file or judge.name)}, whose fingerprint is {judge.fingerprint}; calibrate it again"
            )
        return CalibratedJury(judge, self)

    def to_yaml(self) -> str:
        """Return the text of a jury file: the path of the file of the jury, and the guarantee.

        Raises:
            ConfigurationError: the guarantee names no file.
        """
        if not self.jury_file:
            raise ConfigurationError("the guarantee names no file of the jury: calibrate(..., jury_file='jury.yaml')")
        values = self.model_dump(mode="json", exclude={"jury_file"})
        lines = [f"  {name}: {json.dumps(value)}" for name, value in values.items()]
        return "\n".join([f"jury: {json.dumps(self.jury_file, ensure_ascii=False)}", "guarantee:", *lines, ""])

    def figures(self) -> "tuple[Figure, ...]":
        """Return coverage, agreement, that of the constant answer, and the cost saved; it needs NumPy."""
        from jury_adapters.stats.figures import Figure

        right, of_constant = self.decided - self.errors, round(self.constant_agreement * self.decided)
        of_screening = share_of(
            "agreement",
            self.screened - self.screened_errors,
            self.screened,
            of="screening tiers",
            note="not guaranteed",
        )
        return (
            share_of("coverage", self.decided, self.n),
            share_of("agreement", right, self.decided, note=f"guaranteed: {self.agreement:g}"),
            share_of("agreement", of_constant, self.decided, of=f"always {self.constant}"),
            Figure("cost saved", self.cost_saved, self.n, note="against asking only the last tier"),
            *([of_screening] if self.screened else []),
        )

    def __str__(self) -> str:
        return (
            f"at least {self.agreement:g} of the decided cases{' behind the screening tiers' * (self.screened > 0)} "
            f"agree with human labels (delta {self.delta:g}): of {self.n:,} independent labelled cases it decides "
            f"{self.decided:,}, of which {self.errors:,} disagree, so at most {self.bound:.3f} do; always answering "
            f"{visible(self.constant)} agrees with {self.constant_agreement:.3f}"
            + f"; not guaranteed: screening tiers decide {self.screened:,}, of which {self.screened_errors:,} disagree"
            * (self.screened > 0)
        )


def share_of(name: str, hits: int, n: int, *, of: str = "", note: str = "") -> "Figure":
    """Return the figure of a share of independent cases."""
    import numpy as np

    from jury_adapters.stats.figures import share

    places = np.arange(n)
    return share(name, places < hits, places < n, places, of=of, note=note)


def sureness(judgment: Judgment) -> float:
    """Return the confidence that counts: 1.0 if none is stated; -1.0 without a decision, and where a judge broke."""
    if not judgment.decided or judgment.rests_on_broken:
        return -1.0
    return 1.0 if judgment.confidence is None else judgment.confidence


def tiers_of(jury: JudgeLike) -> tuple[list[Tier], list[Tier]]:
    """Return the screening tiers at the start of a jury, and the tiers that are calibrated.

    Raises:
        ConfigurationError: the jury cannot be calibrated.
    """
    judge = judge_of(jury)
    if isinstance(judge, CalibratedJury):
        raise ConfigurationError("the jury has a guarantee already; calibrate its .jury")
    tiers = judge.tiers if isinstance(judge, CascadedJury) else (Tier("jury", judge),)
    screening = [*takewhile(lambda tier: tier.policy in SCREENING, tiers)]
    rest = [*tiers[len(screening) :]]
    for tier in rest:
        if tier.policy in SCREENING:
            raise ConfigurationError(
                f"the tier {tier.name!r} ({tier.policy}) decides by rule and has no confidence; it goes before all "
                "tiers that are calibrated"
            )
        if judge_of(tier.judge).stops_early:
            raise ConfigurationError(f"the tier {tier.name!r} stops early, so its verdicts have no confidence")
    if any(tier.name == ABSTAINED for tier in tiers):
        raise ConfigurationError(f"a calibrated jury has a tier {ABSTAINED!r} of its own; give yours another name")
    return screening, rest


class CalibratedJury(CascadedJury):
    """Cascade whose verdicts have a guarantee: where no tier is sure enough, it abstains.

    The screening tiers are as they were. A threshold of confidence replaces the policies of the others. A judge that
    states no confidence counts as sure, and a tier in which a judge broke decides nothing. :func:`calibrate` and
    :meth:`Guarantee.applied_to` make it.

    Attributes:
        jury: the jury that was calibrated.
        guarantee: its guarantee.
    """

    def __init__(self, jury: Judge, guarantee: Guarantee) -> None:
        screening, tiers = tiers_of(jury)
        asked = [
            _SureTier(tier.name, tier.judge, "escalate_below", guarantee.threshold)
            for tier in tiers
            if tier.name in guarantee.tiers
        ]
        last = Tier(ABSTAINED, _Abstains(guarantee.agreement))
        super().__init__([*screening, *asked, last], name=jury.name)
        self.jury, self.guarantee = jury, guarantee
        self.pass_mark, self.timeout = jury.pass_mark, jury.timeout


class _SureTier(Tier):
    """Tier that decides where its judge is sure enough."""

    def decide(self, judgment: Judgment) -> tuple[Status | None, str]:
        sure = sureness(judgment)
        if sure < 0:
            return None, "a judge broke" if judgment.rests_on_broken else "no verdict"
        return super().decide(judgment.model_copy(update={"confidence": sure}))


class _Abstains(Check):
    """Judge that ends a calibrated jury."""

    def __init__(self, agreement: float) -> None:
        self.name, self.agreement = ABSTAINED, agreement

    def check(self, _: Case) -> Returned:
        return abstain(f"no tier is sure enough to keep the guaranteed agreement of {self.agreement:g}")
