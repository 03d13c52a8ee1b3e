"""Cascades with a promise: of the cases they decide, at least so many agree with people."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import yaml

from jury_adapters.calibration.grant_rates import GrantRates
from jury_adapters.calibration.guards import guards_of, is_guard
from jury_adapters.calibration.identity import identity_of
from jury_adapters.core.cascade import CascadedJury, Tier
from jury_adapters.core.case import Case
from jury_adapters.core.copies import merged_sentence
from jury_adapters.core.errors import ConfigurationError, InputError
from jury_adapters.core.escalation import escalate_below
from jury_adapters.core.judge import PlainJudge
from jury_adapters.core.judgment import PASS_OR_FAIL, Judgment, abstain
from jury_adapters.core.jury import Jury
from jury_adapters.core.opinions import UNDECIDED
from jury_adapters.core.render import visible
from jury_adapters.core.values import JsonValue
from jury_adapters.yaml_files import read_source

if TYPE_CHECKING:
    from jury_adapters.calibration.thresholds import Method

Groups: TypeAlias = "str | Callable[[Case], object]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarantee:
    """What a calibrated cascade promises, and on what the promise rests.

    With probability ``1 - delta`` over the choice of the labelled cases, at least a share ``agreement`` of the cases
    that the cascade decides agrees with people, for cases like the labelled ones. It promises nothing of cases from
    elsewhere, of the cases on which it abstains, or of any group of cases taken alone.

    Guards that the cascade begins with are no part of it: they decide by rule, before any confidence counts. All shares
    are then of the cases that the guards let through, and what a guard decides is counted beside them.

    Attributes:
        agreement: the share promised, 0..1.
        delta: the probability with which the promise may fail, 0..1.
        method: how thresholds were looked for: ``"both"``, ``"path"`` or ``"per_tier"``.
        found_by: which of ``"path"`` and ``"per_tier"`` found them.
        thresholds: per tier the confidence from which it decides; None for a tier that decides nothing.
        n: independent labelled cases, without those that a guard decided.
        decided: how many of them the cascade decides.
        errors: how many of these disagree with people.
        bound: the upper confidence bound of the share of disagreement; at most ``1 - agreement``. Of ``path`` the
            Clopper-Pearson bound of all decided cases, of ``per_tier`` the largest of the tiers' own.
        coverage: ``decided / n``; on the rest the cascade abstains.
        tier_shares: per tier, which share of the cases it decides.
        cost_expected: US dollars per case, on average over all labelled ones, guards included; None when a price is
            unknown.
        guards: the names of the guards in front, which the promise does not cover.
        guarded: how many labelled cases these decided; not among ``n``.
        guarded_errors: how many of these disagree with people.
        merged: how many labelled cases repeat an item and were merged with the first; not among ``n``.
        granted_if_false: how often simulated calibrations of these sizes grant the guarantee to a jury whose agreement
            is just below the promised one, 0..1; it is ``delta`` at most, but for the luck of the simulation.
        granted_as_seen: how often they grant it to a jury that errs as often as this one did, 0..1.
        simulated_runs: the number of simulated calibrations of each kind.
        fingerprint: identifies the guards, tiers, jurors, rubrics and voting rules it was calibrated for.
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
    guards: tuple[str, ...] = ()
    guarded: int = 0
    guarded_errors: int = 0
    merged: int = 0
    granted_if_false: float
    granted_as_seen: float
    simulated_runs: int
    fingerprint: str = field(repr=False)

    @property
    def grants(self) -> GrantRates:
        """The simulated rates, with a sentence on them."""
        return GrantRates(self.granted_if_false, self.granted_as_seen, self.simulated_runs)

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
            ConfigurationError: other guards, tiers, jurors, rubrics, models or voting rules.
        """
        guards = [tier.name for tier in guards_of(cascade)]
        names = [tier.name for tier in cascade.tiers[len(guards) :]]
        if names != list(self.thresholds) or guards != list(self.guards):
            own, its = f"the tiers {', '.join(self.thresholds)}", ", ".join(names)
            if guards or self.guards:
                own, its = (
                    f"the guards {', '.join(first) or 'none'} and the tiers {', '.join(rest)}"
                    for first, rest in ((self.guards, self.thresholds), (guards, names))
                )
            raise ConfigurationError(
                f"the guarantee was calibrated for {own}, not for {its}; calibrate this cascade on labelled "
                "cases of its own"
            )
        if fingerprint_of(cascade) != self.fingerprint:
            raise ConfigurationError(
                f"the guarantee was calibrated for other {'guards, ' if guards else ''}jurors, rubrics, models or "
                "voting rules than this cascade has, and says nothing of it; calibrate it again, on labelled cases "
                "judged by it"
            )

    def to_dict(self) -> dict[str, JsonValue]:
        """Plain values, for a jury file or a report; :meth:`from_dict` reads them back."""
        plain = {each.name: getattr(self, each.name) for each in fields(self)}
        left_out = {*(() if self.guards else _OF_GUARDS), *(() if self.merged else ("merged",))}
        kept = {name: value for name, value in plain.items() if name not in left_out}
        return {
            name: dict(value) if isinstance(value, Mapping) else list(value) if isinstance(value, tuple) else value
            for name, value in kept.items()
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, object]) -> Guarantee:
        """Read what :meth:`to_dict` wrote.

        Raises:
            InputError: a value is missing, unknown or of the wrong kind.
        """
        known = {each.name for each in fields(cls)}
        wrong = [name for name in values if name not in known]
        missing = [each.name for each in fields(cls) if each.name not in {*values, *_OF_GUARDS, "merged"}]
        if wrong or missing:
            raise InputError(f"this is no guarantee: {', '.join(f'no {m}' for m in missing) or f'unknown {wrong[0]}'}")
        for name, kind in _KINDS.items():
            if name in values and (not isinstance(values[name], kind) or isinstance(values[name], bool)):
                raise InputError(f"this is no guarantee: {name} is {values[name]!r}")
        guards = tuple(map(str, values.get("guards", ())))  # type: ignore[call-overload]  # a list, as just checked
        return cls(**{**values, "guards": guards})  # type: ignore[arg-type]  # names and kinds have just been checked

    def to_yaml(self) -> str:
        """A YAML document with the key ``guarantee``; at the top of the jury file :func:`load_jury` applies it."""
        text = yaml.safe_dump({"guarantee": self.to_dict()}, sort_keys=False, allow_unicode=True)
        if not self.guards:
            return text
        names = visible(", ".join(self.guards))  # one line, whatever they are called
        told = f"  # Nothing is promised of the cases that the guards ({names}) decide.\n"
        return text.replace("\n", f"\n{told}", 1)

    @classmethod
    def from_yaml(cls, path_or_text: str | Path) -> Guarantee:
        """Read the guarantee of a YAML file, or of YAML text (a str with a line break or a ``: ``).

        Raises:
            InputError: the file cannot be read, or has no guarantee.
        """
        source = read_source(path_or_text, "a file with a guarantee is one mapping with `guarantee:`")
        found = source.content.get("guarantee") if isinstance(source.content, Mapping) else None
        if not isinstance(found, Mapping):
            raise InputError(source.problem((), "there is no guarantee here: expected the key `guarantee:`"))
        return cls.from_dict(found)

    def __str__(self) -> str:
        tiers = ", ".join(f"{name} {share:.0%}" for name, share in self.tier_shares.items())
        cost = f" Expected cost: US$ {self.cost_expected:.6g} a case." if self.cost_expected else ""
        through = " of the cases that the guards let through" if self.guards else ""
        before = (
            f" Before that, the guards ({', '.join(self.guards)}) decide {self.guarded} of {self.guarded + self.n} "
            f"labelled cases, {self.guarded_errors} of them unlike people; of these nothing is promised."
        )
        merged = f" {merged_sentence(self.merged, 'labelled case')}" if self.merged else ""
        return (
            f"At least {self.agreement:.1%} of the decided cases agree with people, with a confidence of "
            f"{1 - self.delta:.0%}. Seen on {self.n} labelled cases: {self.errors} of {self.decided} decided disagree "
            f"(at most {self.bound:.1%}). It decides {self.coverage:.1%}{through or ' of the cases'} ({tiers}) and "
            f"abstains on the rest.{before if self.guards else ''}{cost}{merged} {self.grants.sentence(self.agreement)}"
        )


class CalibratedJury(CascadedJury):
    """A cascade whose thresholds keep a promise. Where no tier is sure enough, the tier ``undecided`` abstains.

    Guards in front stay as they are. A tier that decides nothing under the guarantee is left out: its votes would be
    paid for and not used.

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
        guards = guards_of(cascade)
        used = list(guards)
        for tier in cascade.tiers[len(guards) :]:
            threshold = guarantee.thresholds[tier.name]
            if threshold is not None:
                used.append(Tier(tier.name, tier.judge, escalate_below(threshold)))
        super().__init__([*used, Tier(UNDECIDED, _Undecided(guarantee.agreement))], name=cascade.name)


class NothingToPromise(ConfigurationError):
    """The labelled cases cannot show the agreement asked for: too few, or the jury is not that good.

    Args:
        message: why, and what would help.
        grants: how often calibrations of these sizes grant the guarantee; None where the labels are too few for any.

    Attributes:
        grants: the same.
    """

    def __init__(self, message: str, grants: GrantRates | None = None) -> None:
        self.grants = grants
        super().__init__(message)


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
    """Identifies the tiers of a cascade with their jurors, models, rubrics and voting rules.

    Policies do not count, for thresholds replace them; except those of guards, which stay.
    """
    content = [
        [tier.name, identity_of(tier.judge), *([str(tier.policy), tier.on_error] if is_guard(tier) else [])]
        for tier in cascade.tiers
    ]
    # The word in front keeps YAML from reading 12e4567890123456 as a number.
    return f"jury-{hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]}"


class _Undecided(PlainJudge):
    """Abstains, and says why."""

    opinion_statuses = PASS_OR_FAIL
    name = UNDECIDED

    def __init__(self, agreement: float) -> None:
        self._agreement = agreement

    @property
    def size(self) -> int:
        """Return 0: this tier asks no juror, so a cascade that stops before it saves no call."""
        return 0

    def examine(self, case: Case) -> Judgment:
        return abstain(f"no tier is sure enough to keep the promised agreement of {self._agreement:g}")


_OF_GUARDS = ("guards", "guarded", "guarded_errors")  # left out where there are none
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
    "guards": (list, tuple),
    "guarded": int,
    "guarded_errors": int,
    "merged": int,
    "granted_if_false": _NUMBER,
    "granted_as_seen": _NUMBER,
    "simulated_runs": int,
    "fingerprint": str,
}
