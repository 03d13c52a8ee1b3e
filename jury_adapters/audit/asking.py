"""Verdicts of a jury, and judgments of each of its jurors, about the probes of an audit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike
from typing import NamedTuple

from jury_adapters.audit.probes import LABEL_ORDER, Probe
from jury_adapters.core.batch import stream
from jury_adapters.core.budget import Budget
from jury_adapters.core.cache import JudgmentCache
from jury_adapters.core.cascade import CascadedJury
from jury_adapters.core.case import Case
from jury_adapters.core.context import changed_context, run_context
from jury_adapters.core.ensemble import Ensemble
from jury_adapters.core.judge import Judge
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.jury import Jury, unique_names
from jury_adapters.core.over_budget import is_over_budget
from jury_adapters.core.runner import run_judge
from jury_adapters.core.scorecard import Scorecard
from jury_adapters.core.tier_policies import Policy
from jury_adapters.core.usage import NO_USAGE, Usage
from jury_adapters.core.verdict import Verdict
from jury_adapters.core.verdict_facts import outage_as_error
from jury_adapters.critic.answers import Labels
from jury_adapters.critic.changed_rubrics import rubrics_in, with_changed_rubrics

Answers = dict[int, Judgment]
"""Judgments by number of the probe."""


class Juror(NamedTuple):
    """Single judge inside a jury.

    Attributes:
        name: its name, with the names of the juries around it: ``"panel/gpt"``.
        judge: the judge.
        lets_through: in a screening tier, the status with which a case only goes on to the next tier, which is not an
            opinion on it; None elsewhere.
    """

    name: str
    judge: Judge
    lets_through: Status | None = None


class JurorAnswers:
    """Judgments of one juror.

    Attributes:
        name: as for :class:`Juror`.
        judge: the juror.
        lets_through: as for :class:`Juror`.
        answers: its judgments by number of the probe.
        unasked: number of probes that are left out because a budget was spent.
    """

    def __init__(self, juror: Juror) -> None:
        self.name, self.judge, self.lets_through = juror
        self.answers: Answers = {}
        self.unasked = 0


def jurors_of(judge: Judge, prefix: str = "", lets_through: Status | None = None) -> Iterator[Juror]:
    """Yield the single judges inside a jury; nothing for a judge that is not a jury.

    Judges that ask others about parts of a case, or in two orders, count as single judges.
    """
    if not isinstance(judge, Ensemble | Scorecard | CascadedJury):
        return
    through = [lets_through] * len(judge.members)
    if isinstance(judge, CascadedJury):
        through = [lets_through or _LET_THROUGH.get(tier.policy.kind) for tier in judge.tiers]
    for name, member, status in zip(_names(judge), judge.members, through, strict=True):
        nested = list(jurors_of(member, f"{prefix}{name}/", status))
        yield from nested or [Juror(prefix + name, member, status)]


class Asking:
    """Answers of a jury and of its jurors to the probes that were asked so far.

    A juror's judgment is taken from the verdict. A juror that the jury did not ask about a probe (a later tier, early
    stopping) is asked by itself, so that all are measured on the same probes.

    Args:
        jury: the jury, or a single judge.
        every_juror: whether to ask jurors that the jury did not ask.
        store: as in ``judge_many``; with it, an audit that was interrupted continues without paying twice.
        budget: as in ``judge_many``.
        max_concurrency: as in ``judge_many``.

    Attributes:
        verdicts: the verdicts of the jury.
        jurors: the jurors with their judgments.
        asked: the numbers of the probes, in the order in which the jury was asked.
        unasked: number of probes that are left out of the verdicts because a budget was spent.
        usage: the total usage.
    """

    def __init__(
        self,
        jury: Judge,
        *,
        every_juror: bool = True,
        store: JudgmentCache | str | PathLike[str] | None = None,
        budget: Budget | None = None,
        max_concurrency: int | None = None,
    ) -> None:
        self.verdicts: Answers = {}
        named = list(jurors_of(jury))
        names = unique_names([jury.name or "jury", *(juror.name for juror in named)])[1:]
        self.jurors = [JurorAnswers(juror._replace(name=name)) for name, juror in zip(names, named, strict=True)]
        self.asked: list[int] = []
        self.unasked = 0
        self.usage = NO_USAGE
        self._jury = jury
        self._every_juror = every_juror
        self._options = {"store": store, "budget": budget, "max_concurrency": max_concurrency}

    def ask(self, probes: Sequence[Probe]) -> None:
        """Ask the jury about further probes."""
        self.asked.extend(probe.number for probe in probes)
        verdicts = self._answers(self._jury, probes)
        self.verdicts.update({number: outage_as_error(verdict) for number, verdict in verdicts.items()})
        for number, verdict in verdicts.items():
            for juror, judgment in zip(self.jurors, _judgments_in(self._jury, verdict), strict=True):
                if judgment is not None:
                    juror.answers[number] = outage_as_error(judgment)
        if self._every_juror:
            for juror in self.jurors:
                missing = [probe for probe in probes if probe.number not in juror.answers]
                juror.answers.update(self._answers(juror.judge, missing) if missing else {})

    def leave_out_unasked(self) -> None:
        """Leave out, for the jury and each juror, the probes from the first one on that a spent budget left unasked.

        The later ones that are judged nevertheless are a selection: those that a screening tier decided, for which no
        model was needed, or those about which the jury asked the juror.
        """
        place = {number: at for at, number in enumerate(self.asked)}
        self.verdicts, self.unasked = _until_unasked(self.verdicts, place)
        for juror in self.jurors:
            juror.answers, juror.unasked = _until_unasked(juror.answers, place)

    def _answers(self, judge: Judge, probes: Sequence[Probe]) -> Answers:
        answers, usage = _ask(judge, probes, self._options)
        self.usage = self.usage + usage
        return answers


class _Again(Judge):
    """Judge that asks another one as a further sample, which a store keeps apart from the first."""

    def __init__(self, judge: Judge) -> None:
        self.name = judge.name
        self.cost = judge.cost
        self._judge = judge

    @property
    def members(self) -> tuple[Judge, ...]:
        return (self._judge,)

    @property
    def inline(self) -> bool:
        return self._judge.inline and self._judge.timeout is None

    async def assess(self, case: Case) -> Judgment:
        with changed_context(sample=f"{run_context().sample}.9"):
            return await run_judge(self._judge, case)


def _ask(judge: Judge, probes: Sequence[Probe], options: Mapping[str, object]) -> tuple[Answers, Usage]:
    answers: Answers = {}
    usage = NO_USAGE
    by_way: dict[str, list[Probe]] = {}
    for probe in probes:
        by_way.setdefault(probe.name if probe.name in _OTHER_WAYS else "", []).append(probe)
    for way, chosen in by_way.items():
        asked = _OTHER_WAYS[way](judge) if way else judge
        for probe, item in zip(chosen, stream(asked, [probe.case for probe in chosen], **options), strict=True):  # type: ignore[arg-type]
            answers[probe.number] = item.judgment
            usage = usage + item.judgment.usage
    return answers, usage


def _until_unasked(answers: Answers, place: Mapping[int, int]) -> tuple[Answers, int]:
    """Return the answers before the first one that a spent budget prevented, and the number of the others."""
    unasked = [place[number] for number, judgment in answers.items() if is_over_budget(judgment)]
    if not unasked:
        return answers, 0
    first = min(unasked)
    kept = {number: judgment for number, judgment in answers.items() if place[number] < first}
    return kept, len(answers) - len(kept)


def with_labels_reversed(judge: Judge) -> Judge:
    """Return a copy of a judge whose critics list the labels of their rubrics in the opposite order."""
    changed = {}
    for rubric in rubrics_in(judge):
        if isinstance(rubric.answers, Labels):
            turned = rubric.answers.model_copy(update={"labels": rubric.answers.labels[::-1]})
            changed[rubric.fingerprint] = rubric.model_copy(update={"answers": turned})
    return with_changed_rubrics(judge, changed)


def _judgments_in(judge: Judge, judgment: Judgment | None) -> Iterator[Judgment | None]:
    """Yield the judgments of all jurors of :func:`jurors_of`, in its order; None for a juror that was not asked."""
    if not isinstance(judge, Ensemble | Scorecard | CascadedJury):
        return
    found = _by_member(judge, judgment)
    for name, member in zip(_names(judge), judge.members, strict=True):
        inner = found.get(name)
        if any(True for _ in jurors_of(member)):
            yield from _judgments_in(member, inner)
        else:
            yield inner


def _names(judge: Ensemble | Scorecard | CascadedJury) -> Sequence[str]:
    return [tier.name for tier in judge.tiers] if isinstance(judge, CascadedJury) else judge.names


def _by_member(judge: Jury, judgment: Judgment | None) -> Mapping[str, Judgment]:
    if not isinstance(judgment, Verdict):
        return {}
    if isinstance(judge, CascadedJury):
        return {tier.name: tier.judgment for tier in judgment.tiers}
    return judgment.by_name


_LET_THROUGH: Mapping[Policy, Status] = {
    Policy.REJECT_ON_ANY_FAIL: Status.PASS,
    Policy.ACCEPT_ON_ALL_PASS: Status.FAIL,
}
"""Status that has no effect in a screening tier, by its policy."""
_OTHER_WAYS: Mapping[str, Callable[[Judge], Judge]] = {"repeat": _Again, LABEL_ORDER: with_labels_reversed}
"""Ways of asking about a case that differ from that of its base, by the name of the probe."""
