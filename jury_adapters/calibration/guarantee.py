"""Cascades with a guarantee: at least a given share of the cases that they decide agrees with human labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import yaml

from jury_adapters.calibration.abstaining_tier import AbstainingTier, why_no_juror_voted
from jury_adapters.calibration.broken_cases import broken_sentence
from jury_adapters.calibration.fingerprint import identity_of, seal_of
from jury_adapters.calibration.full_votes import OF_A_VOTE, full_votes_sentence
from jury_adapters.calibration.grant_rates import GrantRates
from jury_adapters.calibration.idle_tiers import idle_sentence
from jury_adapters.calibration.screening_tiers import is_screening_tier, name_screening_tiers, screening_tiers_of
from jury_adapters.core.cascade import CascadedJury, Tier
from jury_adapters.core.case import Case
from jury_adapters.core.duplicates import merged_sentence
from jury_adapters.core.errors import ConfigurationError, InputError, plain_repr
from jury_adapters.core.formatting import counted, percent
from jury_adapters.core.judgment import evolve
from jury_adapters.core.jury import Jury
from jury_adapters.core.opinions import ABSTAINED
from jury_adapters.core.tier_policies import Decision, TierOutcome, escalate_below
from jury_adapters.core.tolerance import exceeds
from jury_adapters.core.values import JsonValue
from jury_adapters.core.verdict import TierResult, Verdict
from jury_adapters.models.fingerprint import digest
from jury_adapters.yaml_files import read_source

if TYPE_CHECKING:
    from jury_adapters.calibration.thresholds import Method

Groups: TypeAlias = "str | Callable[[Case], object]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarantee:
    """Guarantee of a calibrated cascade, with the figures behind it.

    With probability ``1 - delta`` over the choice of the labelled cases, at least a share ``agreement`` of the cases
    that the cascade decides agrees with human labels, for cases like the labelled ones. Groups that were named count
    once each. It does not cover other kinds of cases, cases on which the cascade abstains, or any single group.

    Screening tiers at the start of the cascade are not covered: they decide by rule, before any confidence counts. All
    shares are then shares of the cases that these tiers let through, and their decisions are counted separately.

    Attributes:
        agreement: the guaranteed share, 0..1.
        delta: the probability with which the guarantee may fail, 0..1.
        method: the method of the search for thresholds: ``"both"``, ``"path"`` or ``"per_tier"``.
        found_by: the one of ``"path"`` and ``"per_tier"`` that found them.
        thresholds: per tier, the confidence from which it decides; None for a tier that decides nothing.
        n: the number of independent labelled cases, without those that a screening tier decided.
        decided: the number of these that the cascade decides.
        errors: the number of decided cases that disagree with human labels.
        bound: the upper confidence bound of the share of disagreement; at most ``1 - agreement``. For ``path``, the
            Clopper-Pearson bound of all decided cases; for ``per_tier``, the largest of the tiers' own bounds.
        coverage: ``decided / n``; on the rest the cascade abstains.
        tier_shares: per tier, the share of the cases that it decides.
        full_votes: the names of the tiers that stated no confidence on any labelled case. Each of their verdicts counts
            as the vote of a jury of one, with a confidence of 1.
        cost_expected: US dollars per case, on average over all labelled ones, screening tiers included; a case on which
            no model is asked costs nothing. None if a price is unknown.
        screening_tiers: the names of the screening tiers at the start, which the guarantee does not cover.
        screened: the number of labelled cases that the screening tiers decided; not part of ``n``.
        screened_errors: the number of these that disagree with human labels.
        merged: the number of labelled cases that repeat an item and were merged with the first; not part of ``n``.
        broken: the number of labelled cases on which a juror broke; they are not part of ``n`` or ``screened``, and the
            guarantee does not cover such cases.
        contradicting: the number of labelled cases that are left out because reviewers contradict each other; they are
            not part of ``n``, and the guarantee does not cover such cases.
        constant: the constant answer that agrees with most human labels of the decided cases; empty if it is unknown.
        constant_agreement: the share of the decided cases on which it agrees with them, 0..1; None if it is unknown.
        granted_if_false: the rate at which simulated calibrations of these sizes grant the guarantee to a jury whose
            agreement is just below the guaranteed one, 0..1; at most ``delta``, apart from the error of the simulation.
        granted_as_seen: the rate at which they grant it to a jury with the error rate of this one, 0..1.
        simulated_runs: the number of simulated calibrations of each kind.
        fingerprint: identifies the tiers, screening tiers included, with their jurors, rubrics and voting rules.
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
    full_votes: tuple[str, ...] = ()
    cost_expected: float | None = None
    screening_tiers: tuple[str, ...] = ()
    screened: int = 0
    screened_errors: int = 0
    merged: int = 0
    broken: int = 0
    contradicting: int = 0
    constant: str = ""
    constant_agreement: float | None = None
    granted_if_false: float
    granted_as_seen: float
    simulated_runs: int
    fingerprint: str = field(repr=False)

    @property
    def grants(self) -> GrantRates:
        """Simulated rates, with a sentence on them."""
        return GrantRates(self.granted_if_false, self.granted_as_seen, self.simulated_runs)

    @property
    def bound_delta(self) -> float:
        """Probability with which :attr:`bound` may be too low: ``delta``, divided among the methods and the tiers."""
        level = self.delta / 2 if self.method == "both" else self.delta
        return level if self.found_by == "path" else level / len(self.thresholds)

    def applied_to(self, jury: Jury) -> CalibratedJury:
        """Return the cascade with these thresholds; a jury without tiers is one tier, named ``jury``.

        Raises:
            ConfigurationError: it is not the cascade that was calibrated; the message says what differs.
        """
        cascade = cascade_of(jury)
        self.check(cascade)
        return CalibratedJury(cascade, self)

    def check(self, cascade: CascadedJury) -> None:
        """Check that the cascade is the one that was calibrated.

        Raises:
            ConfigurationError: it has other tiers, screening tiers, jurors, rubrics, models or voting rules.
        """
        screening = [tier.name for tier in screening_tiers_of(cascade)]
        names = [tier.name for tier in cascade.tiers[len(screening) :]]
        if names != list(self.thresholds) or screening != list(self.screening_tiers):
            own, its = f"the tiers {', '.join(self.thresholds)}", ", ".join(names)
            if screening or self.screening_tiers:
                own, its = (
                    f"the screening tiers {', '.join(first) or 'none'} and the tiers {', '.join(rest)}"
                    for first, rest in ((self.screening_tiers, self.thresholds), (screening, names))
                )
            raise ConfigurationError(
                f"the guarantee was calibrated for {own}, not for {its}; calibrate this cascade on labelled "
                "cases of its own"
            )
        if fingerprint_of(cascade) != self.fingerprint:
            raise ConfigurationError(
                f"the guarantee was calibrated for other {'screening tiers, ' if screening else ''}jurors, rubrics, "
                "models or voting rules than this cascade has, and says nothing of it; calibrate it again, on labelled "
                "cases judged by it"
            )

    def to_dict(self) -> dict[str, JsonValue]:
        """Return plain values, for a jury file or a report; :meth:`from_dict` reads them back.

        A seal of the values is added to the fingerprint, by which :meth:`from_dict` notices changes.
        """
        plain = _values_of(self)
        left_out = {
            *(() if self.screening_tiers else _OF_SCREENING),
            *(name for name in _OPTIONAL if not plain[name]),
        }
        plain["fingerprint"] += f"-{_seal(self)}"
        kept = {name: value for name, value in plain.items() if name not in left_out}
        return {
            name: dict(value) if isinstance(value, Mapping) else list(value) if isinstance(value, tuple) else value
            for name, value in kept.items()
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, object]) -> Guarantee:
        """Read the values that :meth:`to_dict` wrote.

        Raises:
            InputError: a value is missing, unknown or of the wrong kind, or was changed.
        """
        known = {each.name for each in fields(cls)}
        wrong = [name for name in values if name not in known]
        missing = [each.name for each in fields(cls) if each.name not in {*values, *_OF_SCREENING, *_OPTIONAL}]
        if wrong or missing:
            raise InputError(
                f"this is not a guarantee: {', '.join(f'no {m}' for m in missing) or f'unknown {wrong[0]}'}"
            )
        for name, kind in _KINDS.items():
            if name in values and (not isinstance(values[name], kind) or isinstance(values[name], bool)):
                raise InputError(f"this is not a guarantee: {name} is {plain_repr(values[name])}")
        lists = {name: tuple(map(str, values.get(name, ()))) for name in _LISTS}  # type: ignore[call-overload]  # lists, as checked
        identifier, _, seal = str(values["fingerprint"]).rpartition("-")
        found = cls(**{**values, **lists, "fingerprint": identifier})  # type: ignore[arg-type]  # names and kinds are checked
        if _seal(found) != seal:
            raise InputError(
                "the numbers of the guarantee are not those that the calibration found: they were changed by hand; "
                "calibrate again (jury calibrate)"
            )
        return found

    def to_yaml(self) -> str:
        """Return a YAML document with the key ``guarantee``, which :func:`load_jury` applies in a jury file."""
        text = yaml.safe_dump({"guarantee": self.to_dict()}, sort_keys=False, allow_unicode=True)
        comments = ""
        if len(self.thresholds) > 1:
            comments += "  # The tiers decide by these thresholds instead of their policies.\n"
        if self.screening_tiers:
            tiers = name_screening_tiers(self.screening_tiers)
            comments += f"  # The guarantee does not cover the decisions of {tiers}.\n"
        return text.replace("\n", f"\n{comments}", 1)

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

    @property
    def constant_sentence(self) -> str:
        """Warning that a constant answer would do as well as the jury on the decided cases; empty if it would not."""
        own = 1 - self.errors / self.decided if self.decided else 0.0
        if self.constant_agreement is None or exceeds(own, self.constant_agreement):
            return ""
        return (
            f"Warning: always answering {self.constant!r} agrees with human labels on "
            f"{percent(self.constant_agreement)} of the decided cases, and the jury on {percent(own)}, so it decides "
            "them no better than a constant answer."
        )

    @property
    def headline(self) -> str:
        """The guarantee in one line, for the summary of a run."""
        cases = "the cases decided after screening" if self.screening_tiers else "the decided cases"
        less = f" without {self.contradicting:,} on which reviewers contradict each other" if self.contradicting else ""
        return (
            f"at least {percent(self.agreement)} of {cases} agree with human labels, with a confidence of "
            f"{percent(1 - self.delta, 0)}, for cases like the labelled ones{less}; where no "
            "tier is sure enough, it abstains"
        )

    @property
    def cases(self) -> str:
        """The words for the cases of which the coverage is a share."""
        named = ["that screening lets through"] * bool(self.screening_tiers)
        named += ["on which reviewers agree"] * bool(self.contradicting)
        return f"the cases {' and '.join(named)}".strip()

    @property
    def left_out(self) -> str:
        """A sentence about the cases on which reviewers contradict each other; empty without any."""
        if not self.contradicting:
            return ""
        are = "is" if self.contradicting == 1 else "are"
        return (
            f"{counted(self.contradicting, 'labelled case')} on which reviewers contradict each other {are} left out, "
            "and the guarantee does not cover such cases; let one more reviewer settle them, and calibrate again"
        )

    def __str__(self) -> str:
        tiers = ", ".join(f"{name} {share:.0%}" for name, share in self.tier_shares.items())
        cost = f" Expected cost: US$ {self.cost_expected:.6g} a case." if self.cost_expected else ""
        before = ""
        if self.screening_tiers:
            before = (
                f" Before that, {name_screening_tiers(self.screening_tiers)} decided {self.screened} of "
                f"{self.screened + self.n} labelled cases, {self.screened_errors} of them unlike their human labels; "
                "the guarantee does not cover these."
            )
        broken = f" {broken_sentence(self.broken)}" if self.broken else ""
        merged = f" {merged_sentence(self.merged, 'labelled case')}" if self.merged else ""
        idle = idle_sentence(self.thresholds, self.tier_shares)
        said = (full_votes_sentence(self.full_votes), idle, self.constant_sentence)
        full_votes, idle, constant = (f" {each}" if each else "" for each in said)
        left_out = f" {self.left_out}." if self.left_out else ""
        return (
            f"At least {self.agreement:.1%} of the decided cases agree with human labels, with a confidence of "
            f"{1 - self.delta:.0%}. Seen on {self.n} labelled cases: {self.errors} of {self.decided} decided disagree "
            f"(at most {self.bound:.1%}). It decides {self.coverage:.1%} of {self.cases} ({tiers}) and "
            f"abstains on the rest.{full_votes}{before}{cost}{merged}{broken}{left_out}{idle}{constant} "
            f"{self.grants.sentence(self.agreement)}"
        )


class CalibratedJury(CascadedJury):
    """Cascade with calibrated thresholds. If no tier is certain enough, the tier ``abstained`` abstains.

    If no juror voted, such as for lack of contexts, it abstains with the reasons of the jurors.

    Screening tiers at the start are kept unchanged. A tier that decides nothing under the guarantee is dropped, because
    its votes would cost money and not be used.

    Args:
        cascade: the cascade that was calibrated.
        guarantee: its guarantee.

    Attributes:
        guarantee: the guarantee.
        calibrated: the cascade as it was before calibration.
        labels: the human labels of the ``guarantee.n`` cases, counted by :func:`calibrate`; empty if it was read.
    """

    def __init__(self, cascade: CascadedJury, guarantee: Guarantee, labels: Mapping[str, int] | None = None) -> None:
        self.guarantee = guarantee
        self.labels = dict(labels or {})
        self.calibrated = cascade
        screening_tiers = screening_tiers_of(cascade)
        used = list(screening_tiers)
        for tier in cascade.tiers[len(screening_tiers) :]:
            threshold = guarantee.thresholds[tier.name]
            if threshold is not None:
                used.append(Tier(tier.name, tier.judge, escalate_below(threshold)))
        super().__init__([*used, Tier(ABSTAINED, AbstainingTier(guarantee.agreement))], name=cascade.name)

    @property
    def uncalibrated(self) -> CascadedJury:
        return self.calibrated

    def _decide(self, tier: Tier, outcome: TierOutcome) -> tuple[Decision | None, str]:
        judgment = outcome.judgment
        if tier.name in self.guarantee.full_votes and judgment.valid and judgment.confidence is None:
            return "accepted", f"a judge that states no confidence counts as a jury of one, with {OF_A_VOTE:g}"
        return super()._decide(tier, outcome)

    def _verdict(self, case: Case, run: Sequence[TierResult], outcome: TierOutcome, decision: Decision) -> Verdict:
        if isinstance(self.tiers[len(run) - 1].judge, AbstainingTier) and (why := why_no_juror_voted(run[:-1])):
            judgment = evolve(outcome.judgment, reasoning=why)
            outcome = outcome._replace(judgment=judgment, individuals=(judgment,))
            run = [*run[:-1], replace(run[-1], judgment=judgment)]
        return super()._verdict(case, run, outcome, decision)


def cascade_of(jury: Jury) -> CascadedJury:
    """Return the jury itself if it has tiers, else a cascade with the jury as its only tier.

    Raises:
        ConfigurationError: ``jury`` is not a jury.
    """
    if isinstance(jury, CascadedJury):
        return jury
    if not isinstance(jury, Jury):
        raise ConfigurationError(f"a guarantee is of a jury, such as CascadedJury([...]), not of {plain_repr(jury)}")
    return CascadedJury([Tier("jury", jury)], name=jury.name)


def fingerprint_of(cascade: CascadedJury) -> str:
    """Return an identifier of the tiers of a cascade with their jurors, models, rubrics and voting rules.

    Policies do not count, because thresholds replace them, except those of screening tiers, which are kept.
    """
    content = [
        [tier.name, identity_of(tier.judge), *([str(tier.policy), tier.if_broken] if is_screening_tier(tier) else [])]
        for tier in cascade.tiers
    ]
    # The prefix keeps YAML from reading 12e4567890123456 as a number.
    return f"jury-{digest(content)}"


def _values_of(guarantee: Guarantee) -> dict[str, Any]:
    return {each.name: getattr(guarantee, each.name) for each in fields(guarantee)}


def _seal(guarantee: Guarantee) -> str:
    return seal_of({name: value for name, value in _values_of(guarantee).items() if name != "fingerprint"})


_OF_SCREENING = ("screening_tiers", "screened", "screened_errors")  # omitted if there are no screening tiers
# omitted if 0, empty or unknown
_OPTIONAL = ("full_votes", "merged", "broken", "contradicting", "constant", "constant_agreement")
_LISTS = ("full_votes", "screening_tiers")
_NUMBER = (int, float)
_KINDS: dict[str, type | tuple[type, ...]] = {
    "agreement": _NUMBER,
    "delta": _NUMBER,
    "method": str,
    "found_by": str,
    "thresholds": Mapping,
    "n": int,
    "broken": int,
    "constant": str,
    "constant_agreement": _NUMBER,
    "decided": int,
    "errors": int,
    "bound": _NUMBER,
    "coverage": _NUMBER,
    "tier_shares": Mapping,
    "full_votes": (list, tuple),
    "cost_expected": (int, float, type(None)),
    "screening_tiers": (list, tuple),
    "screened": int,
    "screened_errors": int,
    "merged": int,
    "contradicting": int,
    "granted_if_false": _NUMBER,
    "granted_as_seen": _NUMBER,
    "simulated_runs": int,
    "fingerprint": str,
}
