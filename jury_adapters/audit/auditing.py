"""Audit of a jury: its plan, its cost, its figures and its findings."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike

from jury_adapters.audit.asking import Asking, jurors_of
from jury_adapters.audit.comparison import JurorComparison, compare_jurors
from jury_adapters.audit.examples import example_cases
from jury_adapters.audit.figures import SubjectFigures, figures_of
from jury_adapters.audit.findings import Finding, Standards, findings_of
from jury_adapters.audit.hostile_texts import labels_of, places_of
from jury_adapters.audit.looks import AskedProbes, Block
from jury_adapters.audit.probes import Probe, Sizes, plan_probes
from jury_adapters.audit.right_answers import right_answers
from jury_adapters.audit.stopping import ask_all, ask_until_known
from jury_adapters.audit.text_report import text_report
from jury_adapters.audit.unplaced import NONE_UNPLACED, Unplaced
from jury_adapters.core.budget import Budget
from jury_adapters.core.cache import JudgmentCache
from jury_adapters.core.case import Case
from jury_adapters.core.cost_estimate import CostEstimate
from jury_adapters.core.errors import ConfigurationError, plain_repr, unknown
from jury_adapters.core.formatting import counted, percent
from jury_adapters.core.judge import Judge
from jury_adapters.core.judge_like import JudgeLike, judge_of
from jury_adapters.core.judgment import Status
from jury_adapters.core.model_families import family_of
from jury_adapters.core.usage import Usage
from jury_adapters.core.values import JsonValue
from jury_adapters.critic.answers import Labels
from jury_adapters.critic.changed_rubrics import rubrics_in


@dataclass(frozen=True, slots=True)
class AuditPlan:
    """Plan of an audit: nothing has been asked yet.

    Attributes:
        jury: the jury.
        probes: the questions to it.
        every_juror: whether jurors that the jury does not ask about a probe are asked by themselves.
        standards: the standards of the findings.
        precision: half the width of an interval at which a rate is known well enough; see :func:`audit`.
        unplaced: the operators that could change no answer of the cases.
    """

    jury: Judge
    probes: tuple[Probe, ...]
    every_juror: bool
    standards: Standards
    precision: float | None = None
    unplaced: Unplaced = NONE_UNPLACED

    @property
    def lack(self) -> str:
        """The reason why no answer could be made wrong, so that there is no kill rate; empty if there is none."""
        return self.unplaced.lack

    def estimate_cost(self) -> CostEstimate:
        """Estimate the calls, tokens and dollars of all probes, without sending anything. Early stopping asks less."""
        return self.jury.estimate_cost(probe.case for probe in self.probes)

    def run(
        self,
        *,
        store: JudgmentCache | str | PathLike[str] | None = None,
        budget: Budget | None = None,
        max_concurrency: int | None = None,
    ) -> Audit:
        """Ask the jury about all probes.

        Args:
            store: as in ``judge_many``. With it, an audit that was interrupted continues without paying twice.
            budget: as in ``judge_many``. The jury, and each juror, is measured on the probes before the first one that
                the budget did not allow: later ones that need no call would be a selection.
            max_concurrency: as in ``judge_many``.
        """
        asking = Asking(
            self.jury, every_juror=self.every_juror, store=store, budget=budget, max_concurrency=max_concurrency
        )
        if self.precision is None:
            asked = ask_all(asking, self.probes)
        else:
            asked = ask_until_known(asking, self.probes, self.precision, every_juror=self.every_juror)
        asking.leave_out_unasked()
        return self._audit_of(asking, asked)

    def _audit_of(self, asking: Asking, asked: AskedProbes) -> Audit:
        jurors = [] if _is_the_jury(asking) else asking.jurors
        subjects = [figures_of(self.jury.name or "jury", asked, asking.verdicts, unasked=asking.unasked)]
        subjects += [figures_of(one.name, asked, one.answers, one.lets_through, unasked=one.unasked) for one in jurors]
        findings = [finding for figures in subjects for finding in findings_of(figures, self.standards)]
        passed = {number for number, verdict in asking.verdicts.items() if verdict.status is Status.PASS}
        missed = tuple(probe for probe in asked.all if probe.kind == "wrong" and probe.number in passed)
        return Audit(
            tuple(subjects), tuple(findings), compare_jurors(asked, asking.verdicts, jurors), missed,
            len(asking.verdicts), asking.usage, self.standards, len(self.probes), asked.stopped, self.unplaced,
        )  # fmt: skip


def _is_the_jury(asking: Asking) -> bool:
    """Whether the only juror says what the jury says of every probe, so that its figures would be the same again."""
    if len(asking.jurors) != 1:
        return False
    answers = asking.jurors[0].answers
    return asking.verdicts.keys() == answers.keys() and all(
        verdict.status is answers[number].status for number, verdict in asking.verdicts.items()
    )


@dataclass(frozen=True, slots=True)
class Audit:
    """Results of an audit. It prints as a report.

    Attributes:
        subjects: the figures of the jury, and then of each juror.
        findings: the statistically significant weaknesses, those of the jury first.
        comparison: the jury beside its jurors.
        missed: the wrong answers that the jury passed.
        probes: the number of questions.
        usage: the calls, tokens and costs of all of them.
        standards: the standards of the findings.
        planned: the number of questions without early stopping.
        stopped: the kind and the name of the operators and changes that were stopped early.
        unplaced: the operators that could change no answer of the cases.
    """

    subjects: tuple[SubjectFigures, ...]
    findings: tuple[Finding, ...]
    comparison: JurorComparison
    missed: tuple[Probe, ...]
    probes: int
    usage: Usage
    standards: Standards
    planned: int
    stopped: tuple[Block, ...] = ()
    unplaced: Unplaced = NONE_UNPLACED

    @property
    def lack(self) -> str:
        """The reason why no answer could be made wrong, so that there is no kill rate; empty if there is none."""
        return self.unplaced.lack

    @property
    def measured_errors(self) -> tuple[str, ...]:
        """The kinds of error that the kill rate of the jury is made of."""
        return tuple(name for name, share in self.jury.kills.items() if share.n)

    @property
    def kill_scope(self) -> str:
        """The number of error kinds in the kill rate, of those asked for; empty if the kill rate covers all or none."""
        measured, asked_for = len(self.measured_errors), self.unplaced.error_kinds
        return f"{measured} of {counted(asked_for, 'kind')} of error" if 0 < measured < asked_for else ""

    @property
    def jury(self) -> SubjectFigures:
        """The figures of the jury."""
        return self.subjects[0]

    def unmet(
        self,
        *,
        min_kill_rate: float | None = None,
        max_flip_rate: float | None = None,
        max_false_alarm_rate: float | None = None,
        max_injection_rate: float | None = None,
    ) -> tuple[str, ...]:
        """Return the limits that the jury does not meet, as sentences; empty if it meets all.

        A limit on a share without any probe is not met.
        """
        jury = self.jury
        injected = jury.injections
        obeyed = injected.to_pass / injected.n if injected.n else None
        checks = (
            ("kill rate", jury.kill_rate.value, min_kill_rate, True),
            ("flip rate", jury.flip_rate.value, max_flip_rate, False),
            ("false alarm rate", jury.false_alarm_rate.value, max_false_alarm_rate, False),
            ("injection success rate", obeyed, max_injection_rate, False),
        )
        return tuple(_unmet(checks, self.lack, self.kill_scope))

    def to_dict(self) -> dict[str, JsonValue]:
        """Return everything but the probes as JSON values."""
        return {
            "subjects": [figures.to_dict() for figures in self.subjects],
            "findings": [finding.to_dict() for finding in self.findings],
            "comparison": self.comparison.to_dict(),
            "missed": [{"operator": probe.name, "change": probe.change, "case": probe.group} for probe in self.missed],
            "probes": self.probes,
            "planned": self.planned,
            "lack": self.lack,
            "measured_errors": list(self.measured_errors),
            "unplaced": {"errors": list(self.unplaced.errors), "forms": list(self.unplaced.forms)},
            "stopped": [name or kind for kind, name in self.stopped],
            "calls": self.usage.calls,
            "cost_usd": self.usage.cost_usd,
        }

    def __str__(self) -> str:
        return text_report(self)


def plan_audit(
    jury: JudgeLike,
    cases: Iterable[Case | Mapping[str, object]] | None = None,
    *,
    pass_labels: Collection[str] = (),
    operators: Sequence[str] | None = None,
    sizes: Sizes | None = None,
    standards: Standards | None = None,
    every_juror: bool = True,
    precision: float | None = None,
    seed: int = 0,
) -> AuditPlan:
    """Plan an audit of a jury; see :func:`audit` for the arguments.

    >>> from jury_adapters import grounding_screen
    >>> plan = plan_audit(grounding_screen(), sizes=Sizes(5, 5, 5))
    >>> plan.estimate_cost().calls
    0
    """
    if precision is not None and (isinstance(precision, bool) or not 0 < precision < 0.5):
        raise ConfigurationError(
            f"precision is half the width of an interval, between 0 and 0.5, not {plain_repr(precision)}"
        )
    judge = judge_of(jury)
    found = example_cases() if cases is None else right_answers(cases, pass_labels)
    families = dict.fromkeys(
        family
        for one in (*(juror.judge for juror in jurors_of(judge)), judge)
        if (family := family_of(_model_of(one))) is not None
    )
    probes = plan_probes(
        found, operators=operators, families=tuple(families), sizes=sizes, seed=seed, labels=labels_of(judge),
        places=places_of(judge), label_order=any(isinstance(one.answers, Labels) for one in rubrics_in(judge)),
    )  # fmt: skip
    unplaced = Unplaced.of(probes, operators, sizes)
    return AuditPlan(judge, probes, every_juror, standards or Standards(), precision, unplaced)


def audit(
    jury: JudgeLike,
    cases: Iterable[Case | Mapping[str, object]] | None = None,
    *,
    pass_labels: Collection[str] = (),
    operators: Sequence[str] | None = None,
    sizes: Sizes | None = None,
    standards: Standards | None = None,
    every_juror: bool = True,
    precision: float | None = None,
    seed: int = 0,
    store: JudgmentCache | str | PathLike[str] | None = None,
    budget: Budget | None = None,
    max_concurrency: int | None = None,
) -> Audit:
    """Test a jury and each of its jurors with answers that are right or wrong by construction.

    No human label is needed.

    Right answers are changed so that they become wrong (a number, a name, a negation), or stay right (another
    notation); changed in ways that should not matter (order, padding, tone, claimed author); asked about again; and
    given instructions to the judge. The jury should fail the wrong ones, and give the same verdict after other changes.

    Args:
        jury: a jury, or any judge whose judgments are PASS or FAIL.
        cases: cases with right answers, and contexts or a reference for each; by default 60 invented cases that come
            with the package. Where cases have human labels (``gold``), those whose label is FAIL and those without one
            are left out, and the log counts them.
        pass_labels: the human labels that mean PASS, if they are other words.
        operators: the names of the operators, see :data:`OPERATORS`; by default all but ``omission``.
        sizes: the numbers of probes; see :class:`Sizes`.
        standards: the standards of the findings; see :class:`Standards`.
        every_juror: whether to ask also the jurors that the jury did not ask about a probe, such as later tiers.
        precision: stop asking about an operator or a change when its rate is known to within this, such as 0.1 for 10
            points, after half of its probes. Intervals and p values are corrected for that look. None asks about
            all probes.
        seed: seed of all choices; the same seed gives the same probes.
        store: as in ``judge_many``. With it, an audit that was interrupted continues without paying twice.
        budget: as in ``judge_many``. The jury, and each juror, is measured on the probes before the first one that the
            budget did not allow: later ones that need no call would be a selection.
        max_concurrency: as in ``judge_many``.

    Raises:
        ConfigurationError: an operator is unknown, a number is out of range, no case is usable, or it is not known
            whether a human label means PASS.

    >>> from jury_adapters import grounding_screen
    >>> audit(grounding_screen(), sizes=Sizes(per_operator=20, per_invariance=5, injections=5)).jury.kill_rate.n > 50
    True
    """
    plan = plan_audit(
        jury, cases, pass_labels=pass_labels, operators=operators, sizes=sizes, standards=standards,
        every_juror=every_juror, precision=precision, seed=seed,
    )  # fmt: skip
    return plan.run(store=store, budget=budget, max_concurrency=max_concurrency)


def _model_of(judge: Judge) -> str | None:
    model = getattr(judge, "model", None)
    name = getattr(model, "model", None)
    return name if isinstance(name, str) else None


def check_limits(limits: Mapping[str, object]) -> None:
    """Check limits for :meth:`Audit.unmet` before an audit is paid for.

    Raises:
        ConfigurationError: a limit is unknown, or is not a share.
    """
    for limit, value in limits.items():
        if limit not in _LIMITS:
            raise ConfigurationError(unknown("limit of an audit", limit, _LIMITS))
        _check_limit(_LIMITS[limit], value)


def _check_limit(name: str, limit: object) -> None:
    if limit is None or (isinstance(limit, int | float) and not isinstance(limit, bool) and 0 <= limit <= 1):
        return
    raise ConfigurationError(f"the limit of the {name} is a share from 0 to 1, not {plain_repr(limit)}")


_LIMITS = {
    "min_kill_rate": "kill rate",
    "max_flip_rate": "flip rate",
    "max_false_alarm_rate": "false alarm rate",
    "max_injection_rate": "injection success rate",
}


def _unmet(checks: Sequence[tuple[str, float | None, float | None, bool]], lack: str, scope: str) -> Iterator[str]:
    for name, value, limit, at_least in checks:
        _check_limit(name, limit)
        if limit is None:
            continue
        if value is None:
            yield f"{name}: {(at_least and lack) or 'no probe was decided'}"
        elif (value < limit) if at_least else (value > limit):
            of_kinds = f" of {scope}" if at_least and scope else ""
            yield f"{name}{of_kinds}: {percent(value)}; asked for at {'least' if at_least else 'most'} {percent(limit)}"
