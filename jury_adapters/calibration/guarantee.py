"""Cascades with a promise: of the cases they decide, at least so many agree with people."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, Unpack

import yaml

from jury_adapters.calibration.identity import identity_of
from jury_adapters.core.cascade import CascadedJury, Policy, Tier, escalate_below
from jury_adapters.core.case import Case
from jury_adapters.core.errors import ConfigurationError, InputError
from jury_adapters.core.judge import CaseLike, PlainJudge
from jury_adapters.core.judgment import Judgment, abstain
from jury_adapters.core.jury import Jury
from jury_adapters.core.values import JsonValue

if TYPE_CHECKING:
    from jury_adapters.calibration.thresholds import Method
    from jury_adapters.core.batch import BatchOptions

Groups: TypeAlias = "str | Callable[[Case], object]"

UNDECIDED = "undecided"
"""The name of the tier that a calibrated cascade ends with: it abstains."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarantee:
    """What a calibrated cascade promises, and on what the promise rests.

    With probability ``1 - delta`` over the choice of the labelled cases, at least a share ``agreement`` of the cases
    that the cascade decides agrees with people, for cases like the labelled ones. It promises nothing of cases from
    elsewhere, of the cases on which it abstains, or of any group of cases taken alone.

    Attributes:
        agreement: the share promised, 0..1.
        delta: the probability with which the promise may fail, 0..1.
        method: how thresholds were looked for: ``"both"``, ``"path"`` or ``"per_tier"``.
        found_by: which of ``"path"`` and ``"per_tier"`` found them.
        thresholds: per tier the confidence from which it decides; None for a tier that decides nothing.
        n: independent labelled cases.
        decided: how many of them the cascade decides.
        errors: how many of these disagree with people.
        bound: the upper confidence bound of the share of disagreement; at most ``1 - agreement``. Of ``path`` the
            Clopper-Pearson bound of all decided cases, of ``per_tier`` the largest of the tiers' own.
        coverage: ``decided / n``; on the rest the cascade abstains.
        tier_shares: per tier, which share of the cases it decides.
        cost_expected: US dollars per case, on average over the labelled ones; None when no price is known.
        fingerprint: identifies the tiers, jurors, rubrics and voting rules it was calibrated for.
    """

    agreement: float
    delta: float
    method: Method
    found_by: Literal["path", "per_tier"]
    thresholds: Mapping[str, float | None]
    n: int
    decided: int
    errors: int
    bound: float
    coverage: float
    tier_shares: Mapping[str, float]
    cost_expected: float | None = None
    fingerprint: str = field(repr=False)

    def applied_to(self, jury: Jury) -> CalibratedJury:
        """The cascade with these thresholds; a jury without tiers is one tier, named ``jury``.

        Raises:
            ConfigurationError: it is not the cascade that was calibrated; the message says what differs.
        """
        cascade = cascade_of(jury)
        self.check(cascade)
        return CalibratedJury(cascade, self)

    def check(self, cascade: CascadedJury) -> None:
        """Complain when the cascade is not the one that was calibrated.

        Raises:
            ConfigurationError: other tiers, jurors, rubrics, models or voting rules.
        """
        names = [tier.name for tier in cascade.tiers]
        if names != list(self.thresholds):
            raise ConfigurationError(
                f"the guarantee was calibrated for the tiers {', '.join(self.thresholds)}, not for {', '.join(names)}; "
                "calibrate this cascade on labelled cases of its own"
            )
        if fingerprint_of(cascade) != self.fingerprint:
            raise ConfigurationError(
                "the guarantee was calibrated for other jurors, rubrics, models or voting rules than this cascade has, "
                "and says nothing of it; calibrate it again, on labelled cases judged by it"
            )

    def to_dict(self) -> dict[str, JsonValue]:
        """Plain values, for a jury file or a report; :meth:`from_dict` reads them back."""
        plain = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: dict(value) if isinstance(value, Mapping) else value for name, value in plain.items()}

    @classmethod
    def from_dict(cls, values: Mapping[str, object]) -> Guarantee:
        """Read what :meth:`to_dict` wrote.

        Raises:
            InputError: a value is missing, unknown or of the wrong kind.
        """
        known = {each.name: each for each in fields(cls)}
        wrong = [name for name in values if name not in known]
        missing = [name for name in known if name not in values]
        if wrong or missing:
            raise InputError(f"this is no guarantee: {', '.join(f'no {m}' for m in missing) or f'unknown {wrong[0]}'}")
        for name, kind in _KINDS.items():
            if not isinstance(values[name], kind) or isinstance(values[name], bool):
                raise InputError(f"this is no guarantee: {name} is {values[name]!r}")
        return cls(**values)  # type: ignore[arg-type]  # names and kinds have just been checked

    def to_yaml(self) -> str:
        """A YAML document with the key ``guarantee``; at the top of the jury file :func:`load_jury` applies it."""
        return yaml.safe_dump({"guarantee": self.to_dict()}, sort_keys=False, allow_unicode=True)

    @classmethod
    def from_yaml(cls, path_or_text: str | Path) -> Guarantee:
        """Read the guarantee of a YAML file, or of YAML text (a str with a line break).

        Raises:
            InputError: the file cannot be read, or holds no guarantee.
        """
        try:
            is_text = isinstance(path_or_text, str) and "\n" in path_or_text
            text = str(path_or_text) if is_text else Path(path_or_text).read_text(encoding="utf-8")
            content = yaml.safe_load(text)
        except (OSError, ValueError, yaml.YAMLError) as error:
            raise InputError(f"the guarantee cannot be read: {' '.join(str(error).split())}") from error
        found = content.get("guarantee") if isinstance(content, Mapping) else None
        if not isinstance(found, Mapping):
            raise InputError("there is no guarantee here: expected the key `guarantee:` with a mapping")
        return cls.from_dict(found)

    def __str__(self) -> str:
        tiers = ", ".join(f"{name} {share:.0%}" for name, share in self.tier_shares.items())
        cost = "" if self.cost_expected is None else f" Expected cost: US$ {self.cost_expected:.6g} a case."
        return (
            f"At least {self.agreement:.1%} of the decided cases agree with people, with a confidence of "
            f"{1 - self.delta:.0%}. Seen on {self.n} labelled cases: {self.errors} of {self.decided} decided disagree "
            f"(at most {self.bound:.1%}). It decides {self.coverage:.1%} of the cases ({tiers}) and abstains on the "
            f"rest.{cost}"
        )


class CalibratedJury(CascadedJury):
    """A cascade whose thresholds keep a promise. Where no tier is sure enough, the tier ``undecided`` abstains.

    A tier that decides nothing under the guarantee is left out: its votes would be paid for and not used.

    Args:
        cascade: the cascade that was calibrated.
        guarantee: its promise.

    Attributes:
        guarantee: the promise.
        calibrated: the cascade as it was before.
    """

    def __init__(self, cascade: CascadedJury, guarantee: Guarantee) -> None:
        self.guarantee = guarantee
        self.calibrated = cascade
        used = []
        for tier in cascade.tiers:
            threshold = guarantee.thresholds[tier.name]
            if threshold is not None:
                used.append(Tier(tier.name, tier.judge, escalate_below(threshold)))
        super().__init__([*used, Tier(UNDECIDED, _Undecided(guarantee.agreement))], name=cascade.name)


class NothingToPromise(ConfigurationError):
    """The labelled cases cannot show the agreement asked for: too few, or the jury is not that good."""


def calibrate(
    cascade: Jury,
    labelled_cases: Iterable[CaseLike | tuple[CaseLike, str | bool]],
    agreement: float = 0.9,
    delta: float = 0.1,
    method: Method = "both",
    *,
    groups: Groups | None = None,
    pass_labels: Collection[str] = (),
    seed: int = 0,
    **options: Unpack[BatchOptions],
) -> CalibratedJury:
    """Choose a cascade's thresholds so that what it decides agrees with people, and say how sure that is.

    Every tier judges every labelled case. Then thresholds of confidence are tested, strict ones first, each with
    ``p = P(Bin(decided, 1 - agreement) <= errors)``, until one fails (fixed-sequence testing; Learn then Test,
    arXiv 2110.01052; Trust or Escalate, arXiv 2407.18370). The confidences need not mean anything: where they mislead,
    little or nothing passes.

    Args:
        cascade: tiers from cheap to costly. Their policies are replaced by thresholds; jurors and voting rules stay.
            A jury without tiers is one tier, named ``jury``.
        labelled_cases: with what people said in ``metadata["gold"]`` (a column ``gold``), or pairs ``(case, gold)``.
            They must be like the cases to come, independent, and not used to fit reliabilities or prompts.
        agreement: the share of decided cases that is to agree with people, 0..1.
        delta: the probability with which the promise may fail, 0..1.
        method: ``"path"``: one threshold common to all tiers, which is best where their confidences are on one scale.
            ``"per_tier"``: one for each, at ``delta / tiers``, best where one tier is much better or its confidences
            mean little; it follows the published procedure, whose proof holds for each tier by itself. ``"both"``:
            each at ``delta / 2``, and the one that decides more.
        groups: what belongs together, such as ``"meta.program"`` (a path in the case's metadata) or a function of
            the case. Cases of one group are not independent, so one of each group is drawn and the others are left
            out.
        pass_labels: the labels of people that mean PASS, when juries vote PASS and FAIL and people used other words.
            Not needed where a juror's own label shows it.
        seed: for the draw from groups.
        **options: as for :meth:`Judge.judge_many`, such as ``store=``.

    Raises:
        NothingToPromise: too few labelled cases, or no threshold that keeps the promise; the message says what would
            help.
        ConfigurationError: labels that cannot be compared, a guard tier, or a wrong option.

    >>> calibrated = calibrate(cascade, cases, agreement=0.9)  # doctest: +SKIP
    >>> print(calibrated.guarantee)  # doctest: +SKIP
    At least 90.0% of the decided cases agree with people, with a confidence of 90%. ...
    """
    try:
        from jury_adapters.calibration.promising import promised
    except ModuleNotFoundError as error:
        if error.name != "numpy":
            raise
        raise ConfigurationError("calibrate needs NumPy: pip install 'jury-adapters[stats]'") from error
    tiers = cascade_of(cascade)
    _check_tiers(tiers)
    guarantee = promised(
        tiers, labelled_cases, agreement, delta, method, fingerprint=fingerprint_of(tiers), groups=groups,
        pass_labels=pass_labels, seed=seed, **options,
    )  # fmt: skip
    return CalibratedJury(tiers, guarantee)


def cascade_of(jury: Jury) -> CascadedJury:
    """The jury itself when it has tiers, else a cascade with the jury as its one tier.

    Raises:
        ConfigurationError: it is no jury.
    """
    if isinstance(jury, CascadedJury):
        return jury
    if not isinstance(jury, Jury):
        raise ConfigurationError(f"a guarantee is of a jury, such as CascadedJury([...]), not of {jury!r}")
    return CascadedJury([Tier("jury", jury)], name=jury.name)


def fingerprint_of(cascade: CascadedJury) -> str:
    """Identifies the tiers of a cascade with their jurors, models, rubrics and voting rules; policies do not count."""
    content = [[tier.name, identity_of(tier.judge)] for tier in cascade.tiers]
    # The word in front keeps YAML from reading 12e4567890123456 as a number.
    return f"jury-{hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]}"


class _Undecided(PlainJudge):
    """Abstains, and says why."""

    name = UNDECIDED

    def __init__(self, agreement: float) -> None:
        self._agreement = agreement

    def examine(self, case: Case) -> Judgment:
        return abstain(f"no tier is sure enough to keep the promised agreement of {self._agreement:g}")


def _check_tiers(cascade: CascadedJury) -> None:
    if isinstance(cascade, CalibratedJury):
        raise ConfigurationError("this cascade is calibrated already; calibrate its .calibrated again")
    for tier in cascade.tiers:
        if tier.policy.kind in (Policy.REJECT_ON_ANY_FAIL, Policy.ACCEPT_ON_ALL_PASS):
            raise ConfigurationError(
                f"tier {tier.name!r} is {tier.policy}, and a threshold of confidence would take its place; calibrate "
                "the cascade without it, and put it in front: CascadedJury([guard, Tier('rest', calibrated)])"
            )
        if tier.name == UNDECIDED:
            raise ConfigurationError(f"the name {UNDECIDED!r} is taken by the tier that abstains; rename yours")


_NUMBER = (int, float)
_KINDS: dict[str, type | tuple[type, ...]] = {
    "agreement": _NUMBER,
    "delta": _NUMBER,
    "method": str,
    "found_by": str,
    "thresholds": Mapping,
    "n": int,
    "decided": int,
    "errors": int,
    "bound": _NUMBER,
    "coverage": _NUMBER,
    "tier_shares": Mapping,
    "cost_expected": (int, float, type(None)),
    "fingerprint": str,
}
