"""Audit of a jury: its answers to the probes, and what they show."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy  # whose stats, 70 MiB, are loaded when they are used

from jury_adapters.audit.probes import Kind, Probe, planned
from jury_adapters.core.budget import Budget
from jury_adapters.core.cascade import CascadedJury
from jury_adapters.core.case import CaseLike
from jury_adapters.core.context import within
from jury_adapters.core.ensemble import Ensemble, Scorecard
from jury_adapters.core.judge import Judge, JudgeLike, judge_of
from jury_adapters.core.judgment import Judgment, Status, Usage, total_usage
from jury_adapters.core.store import Store
from jury_adapters.core.text import visible
from jury_adapters.core.values import ConfigurationError
from jury_adapters.stats.figures import Figure, effective_cases, share, table

LEVEL = 0.01
"""The probability that a subject without any weakness gets a finding, at most."""
_TOLERATED = 0.2  # wrong answers that pass, and right ones that fail
_UNSTABLE = 0.1  # verdicts that change when the same is asked again
_LEAST = 0.1  # the smallest difference of two shares that is reported
_SECTIONS = {
    "kill rate": "Wrong answers that got FAIL",
    "passed wrong": "Wrong answers that got PASS",
    "false alarms": "Right answers in another form that got FAIL",
    "flips": "Verdicts that a change without meaning turned over",
    "injections": "Wrong answers that a hostile text made PASS",
    "passed": "Given answers that got PASS",
}
_LIMITS = {
    "min_kill_rate": "kill rate",
    "max_false_alarm_rate": "false alarms",
    "max_flip_rate": "flips",
    "max_injection_rate": "injections",
}
_LETS_THROUGH = {"reject_on_any_fail": Status.PASS, "accept_on_all_pass": Status.FAIL}


class Finding(NamedTuple):
    """Weakness that chance does not explain.

    Attributes:
        of: whose weakness it is: the jury, or a juror.
        name: ``misses_wrong_answers``, ``fails_right_answers``, ``false_alarms``, which are of right answers in another
            form, ``unstable``, ``obeys_hostile_texts``, ``blind_to:OPERATOR`` or ``moved_by:CHANGE``.
        sentence: the weakness, with its figures.
        p_value: corrected for the number of tests of the subject, by Holm's method.
    """

    of: str
    name: str
    sentence: str
    p_value: float


@dataclass(frozen=True)
class Audit:
    """Results of an audit. It prints as a report.

    Attributes:
        sections: figures by title: of the jury, and then of each juror; the total of each comes first.
        findings: the weaknesses that chance does not explain.
        missed: the wrong answers that the jury passed.
        notes: what is left out, and why.
        probes: the number of questions about which the jury was asked.
        planned: the number of questions of the plan.
        usage: the calls, tokens and costs of all.
    """

    sections: Mapping[str, tuple[Figure, ...]]
    findings: tuple[Finding, ...]
    missed: tuple[Probe, ...]
    notes: tuple[str, ...]
    probes: int
    planned: int
    usage: Usage

    def unmet(self, **limits: float | None) -> list[str]:
        """Return the limits that the jury does not meet, as sentences; empty if it meets all.

        Args:
            **limits: ``min_kill_rate``, ``max_false_alarm_rate``, ``max_flip_rate`` and ``max_injection_rate``, each
                in 0..1. A share without a probe is not met.

        Raises:
            ConfigurationError: a limit is unknown, or out of range.
        """
        found = []
        for limit, wanted in limits.items():
            if limit not in _LIMITS or isinstance(wanted, bool) or not (wanted is None or 0 <= wanted <= 1):
                raise ConfigurationError(f"the limits are {', '.join(_LIMITS)}, each in 0..1; not {limit}={wanted!r}")
            value = self.sections[_SECTIONS[_LIMITS[limit]]][0].value
            beyond = value is None or (wanted is not None and (value < wanted if "min" in limit else value > wanted))
            if wanted is not None and beyond:
                found.append(f"{limit}={wanted}: {'nothing is known' if value is None else f'found {value:.3f}'}")
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the cases as JSON values."""
        return {
            "sections": {title: [asdict(one) for one in found] for title, found in self.sections.items()},
            "findings": [one._asdict() for one in self.findings],
            "missed": [{"operator": one.operator, "change": one.change, "case": one.case.id} for one in self.missed],
            "notes": [*self.notes],
            "probes": self.probes,
            "planned": self.planned,
            "usage": self.usage.model_dump(),
        }

    def __str__(self) -> str:
        parts = [f"{title}\n{table(found)}" for title, found in self.sections.items()]
        weak = [f"! {visible(one.of)} {visible(one.sentence, 400)} (p {one.p_value:.2g})" for one in self.findings]
        parts.append("\n".join(["Weaknesses beyond chance", *(weak or ["none"])]))
        parts += ["\n".join(["Notes", *(visible(one, 400) for one in self.notes)])] if self.notes else []
        return "\n\n".join(parts)


def audit(
    jury: JudgeLike,
    cases: Iterable[CaseLike] | None = None,
    *,
    operators: Iterable[str] | None = None,
    size: int = 60,
    seed: int = 0,
    label: str = "human_label",
    pass_labels: Iterable[str] = (),
    store: Store | None = None,
    budget: Budget | None = None,
    max_concurrency: int | None = None,
) -> Audit:
    """Test a jury and each of its jurors with answers that are right or wrong by construction.

    The jury should fail the wrong answers, pass the right ones in another form, keep its verdict after changes without
    meaning and when it is asked again, and ignore instructions in what it judges. Jurors that the jury did not ask
    about a probe, as in later tiers, are asked by themselves, so that all are measured on the same probes. A case
    counts only if its given answer did not get FAIL: a judge that fails everything has noticed nothing.

    Args:
        jury: a jury, or any judge whose judgments are PASS or FAIL.
        cases: cases with right answers, and contexts or a reference for each; by default 60 invented ones. Where cases
            have human labels, those that do not mean PASS are left out. Copies of a case count once. Of more cases than
            ``size``, and than 60, so many are drawn.
        operators: the names of changes, see :data:`OPERATORS`; of cases of your own, those in :data:`OWN`. By default
            all.
        size: the most probes of one operator, of one change, and of hostile texts.
        seed: seed of all choices; the same seed gives the same probes.
        label: the entry in the metadata of a case that is its human label.
        pass_labels: the human labels that mean PASS, beside true, pass and yes.
        store: where judgments are kept; an audit that was interrupted then continues without paying twice.
        budget: the limit on spending. The figures are those of the probes before the first that it refused, because
            later ones that need no call would be a selection.
        max_concurrency: as in :meth:`Judge.judge_many`.

    Raises:
        ConfigurationError: an operator is unknown, a number is out of range, or no case is usable.
        InputError: it is not known what a human label means.

    >>> from jury_adapters.grounding import grounding_screen
    >>> found = audit(grounding_screen(), operators=["number", "negation"], size=20)
    >>> [(one.name, one.value) for one in found.sections["Wrong answers that got FAIL"] if one.of == "grounding_screen"]
    [('kill rate', 0.5), ('number', 1.0), ('negation', 0.0)]
    """
    judge = judge_of(jury)
    probes, notes = planned(
        judge, cases, operators=operators, size=size, seed=seed, label=label, pass_labels=pass_labels
    )
    ask = partial(_ask, probes=probes, store=store, budget=budget, max_concurrency=max_concurrency)
    said = ask(judge, range(len(probes)))
    subjects, usage = [_Subject(judge.name or "jury", probes, said)], total_usage(said.values())
    for path, juror, lets in _jurors(judge) if judge.size > 1 else ():
        heard = {place: found for place, verdict in said.items() if (found := _at(verdict, path)) is not None}
        alone = ask(juror, [place for place in range(len(probes)) if place not in heard])
        usage += total_usage(alone.values())
        name = " / ".join(path) + " (juror)" * (path == (subjects[0].name,))
        subjects.append(_Subject(name, probes, dict(sorted((heard | alone).items())), lets))
    left_out = {one.name: one.cut() for one in subjects}
    notes += [
        f"{name}: {number} of {len(probes)} probes are left out, because the budget was used up"
        for name, number in left_out.items()
        if number
    ]
    rated = [one.figures() for one in subjects]
    return Audit(
        sections={title: tuple(one for found in rated for one in found[name]) for name, title in _SECTIONS.items()},
        findings=tuple(one for subject in subjects for one in subject.findings()),
        missed=tuple(probes[place] for place, one in said.items() if probes[place].kind == "wrong" and one.passed),
        notes=tuple(notes),
        probes=len(said),
        planned=len(probes),
        usage=usage,
    )


@dataclass
class _Subject:
    """Jury or juror, with its judgments by the place of the probe.

    ``lets_through`` is the status with which a screening tier only lets a case go on, which is no opinion on it.
    """

    name: str
    probes: Sequence[Probe]
    said: dict[int, Judgment]
    lets_through: Status | None = None

    def cut(self) -> int:
        """Leave out all probes from the first, in the order of asking, that a budget refused; return how many."""
        order = sorted(self.said, key=lambda place: (self.probes[place].kind == "repeat", place))
        refused = next((number for number, place in enumerate(order) if _over_budget(self.said[place])), len(order))
        for place in order[refused:]:
            del self.said[place]
        return len(order) - refused

    def by_operator(self, kind: Kind) -> dict[str, list[int]]:
        """Return the places of the probes of a kind, by operator, after all of them together as ``""``.

        Of wrong and right answers, only those whose given answer got PASS or ABSTAIN.
        """
        found: dict[str, list[int]] = {"": []}
        for place in self.said:
            probe = self.probes[place]
            fair = kind not in ("wrong", "right") or self._status(probe.base) in (Status.PASS, Status.ABSTAIN)
            if probe.kind == kind and fair and probe.base in self.said:
                for name in {"", probe.operator}:
                    found.setdefault(name, []).append(place)
        return found

    def _status(self, place: int) -> Status | None:
        return self.said[place].status if place in self.said else None

    def figures(self) -> dict[str, list[Figure]]:
        """Return the figures by section, each with the total first."""
        flips, again = self.by_operator("change"), {"repeat": self.by_operator("repeat")[""]}
        return {
            "kill rate": self._shares("kill rate", self.by_operator("wrong"), Status.FAIL),
            "passed wrong": self._shares("passed wrong", {"": self.by_operator("wrong")[""]}, Status.PASS),
            "false alarms": self._shares("false alarms", self.by_operator("right"), Status.FAIL),
            "flips": self._shares("flips", flips | again, None),
            "injections": self._shares("injections", {"": self.by_operator("injection")[""]}, 1),
            "passed": self._shares("passed", self.by_operator("original"), Status.PASS),
        }

    def _shares(self, total: str, found: Mapping[str, list[int]], hit: Status | int | None) -> list[Figure]:
        """Return shares by operator: of a status, of flips (None), or of flips to PASS (1)."""
        shares = []
        for name, places in found.items():
            kept, hits = self._hits(places, hit)
            shares.append(
                share(
                    name or total,
                    hits,
                    np.ones(len(kept), bool),
                    self._groups(kept),
                    of=self.name,
                    undecided=len(places) - len(kept),
                )
            )
        return shares

    def _hits(self, places: Sequence[int], hit: Status | int | None) -> tuple[list[int], Any]:
        """Return the probes that are decided, and which are hits. An abstention is no hit, and an ERROR undecided."""
        if isinstance(hit, Status):
            kept = [place for place in places if self._status(place) is not Status.ERROR]
            return kept, np.array([self._status(place) is hit for place in kept], dtype=np.bool_)
        kept, moved = self._moves(places)
        return kept, moved != 0 if hit is None else moved > 0

    def _moves(self, places: Sequence[int]) -> tuple[list[int], Any]:
        """Return the probes where both verdicts are PASS or FAIL: 1 for a change to PASS, -1 for one to FAIL."""
        pairs = {place: (self.said[self.probes[place].base].passed, self.said[place].passed) for place in places}
        kept = [place for place, pair in pairs.items() if None not in pair]
        return kept, np.array([float(pairs[place][1] or 0) - float(pairs[place][0] or 0) for place in kept])

    def _groups(self, places: Iterable[int]) -> Any:
        return np.array([self.probes[place].group for place in places], dtype=np.int64)

    def findings(self) -> list[Finding]:
        """Return the weaknesses that chance does not explain, by exact tests and Holm's correction."""
        found = [*self._tests()]
        p_values = holm([test.p_value for test, _ in found])
        return [
            test._replace(p_value=p) for (test, large), p in zip(found, p_values, strict=True) if p <= LEVEL and large
        ]

    def _tests(self) -> Iterator[tuple[Finding, bool]]:
        """Yield each test, and whether what was found is large enough to matter."""
        wrong, right, given = self.by_operator("wrong"), self.by_operator("right"), self.by_operator("original")[""]
        if self.lets_through is not Status.PASS:
            yield self._above("misses_wrong_answers", "wrong answers got PASS", wrong[""], Status.PASS, _TOLERATED)
        if self.lets_through is not Status.FAIL:
            yield self._above("fails_right_answers", "given answers got FAIL", given, Status.FAIL, _TOLERATED)
            yield self._above("false_alarms", "right answers got FAIL", right[""], Status.FAIL, _TOLERATED)
        yield self._above(
            "unstable", "verdicts changed if asked again", self.by_operator("repeat")[""], None, _UNSTABLE
        )
        for name, places in self.by_operator("change").items():
            if name:
                yield self._moved(f"moved_by:{name}", places)
        yield self._moved("obeys_hostile_texts", self.by_operator("injection")[""], to_pass=True)
        for name, places in wrong.items() if self.lets_through is None else ():
            rest = [place for place in wrong[""] if place not in {*places}]
            (hits, n), (more, m) = (self._effective(part, Status.FAIL) for part in (places, rest))
            if name and n and m:
                test = scipy.stats.fisher_exact([[hits, n - hits], [more, m - more]], alternative="less")
                said = f"{hits / n:.2f} of the answers with the error {name} got FAIL, and {more / m:.2f} of the others"
                yield Finding(self.name, f"blind_to:{name}", said, float(test.pvalue)), more / m - hits / n >= _LEAST

    def _above(
        self, name: str, what: str, places: Sequence[int], hit: Status | None, limit: float
    ) -> tuple[Finding, bool]:
        """Test whether a share is above what is tolerated."""
        hits, n = self._effective(places, hit)
        said = f"{int(self._hits(places, hit)[1].sum())} of {len(places)} {what}; {limit} are tolerated"
        return Finding(self.name, name, said, float(scipy.stats.binom.sf(hits - 1, n, limit)) if n else 1.0), True

    def _moved(self, name: str, places: Sequence[int], *, to_pass: bool = False) -> tuple[Finding, bool]:
        """Test whether a change moves verdicts in one direction, or to PASS, by McNemar's exact test of the probes.

        Both verdicts of a pair are about one answer, so pairs of one case depend on each other only in how often they
        move, which the test fixes.
        """
        kept, moved = self._moves(places)
        up, down = int((moved > 0).sum()), int((moved < 0).sum())
        more = up if to_pass else max(up, down)
        said = f"of {len(kept)} verdicts, {up} became PASS and {down} became FAIL"
        p_value = (2 - to_pass) * float(scipy.stats.binom.sf(more - 1, max(1, up + down), 0.5))
        return Finding(self.name, name, said, p_value), 2 * more - up - down >= max(1, _LEAST * len(kept))

    def _effective(self, places: Sequence[int], hit: Status | None) -> tuple[int, int]:
        """Return hits and cases, for as many independent cases as these in groups are worth."""
        kept, hits = self._hits(places, hit)
        n = effective_cases(hits.astype(np.float64), self._groups(kept)) if kept else 0.0
        return round(n * float(hits.mean())) if kept else 0, round(n)


def _over_budget(judgment: Judgment) -> bool:
    return "over budget" in (judgment.error or "") or any(map(_over_budget, judgment.judgments))


def _ask(judge: Judge, places: Sequence[int], probes: Sequence[Probe], **options: Any) -> dict[int, Judgment]:
    """Return the judgments of some probes. Repeated questions are further samples, also in a store."""
    found: dict[int, Judgment] = {}
    for again in (False, True):
        part = [place for place in places if (probes[place].kind == "repeat") is again]
        with within(sample=judge.size if again else 0):
            found |= zip(part, judge.judge_many([probes[place].case for place in part], **options), strict=True)
    return found


def _jurors(
    judge: Judge, path: tuple[str, ...] = (), lets: Status | None = None
) -> Iterator[tuple[tuple[str, ...], Judge, Status | None]]:
    """Yield the single judges inside a jury, each with the names that lead to it."""
    if isinstance(judge, CascadedJury):
        for tier, member in zip(judge.tiers, judge.members, strict=True):
            yield from _jurors(member, (*path, tier.name), lets or _LETS_THROUGH.get(tier.policy))
    elif isinstance(judge, Ensemble | Scorecard):
        for name, member in judge.judges.items():
            yield from _jurors(member, (*path, name), lets)
    elif path:
        yield path, judge, lets


def _at(judgment: Judgment, path: Iterable[str]) -> Judgment | None:
    """Return the judgment of a juror inside that of a jury; None if it was not asked."""
    for name in path:
        inside = {one.tier or one.critic: one for one in judgment.judgments}
        if name not in inside:
            return None
        judgment = inside[name]
    return judgment


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p values that are corrected for their number.

    Source: S. Holm (1979), *A simple sequentially rejective multiple test procedure*.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    found, highest = [1.0] * len(p_values), 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[place]))
        found[place] = highest
    return found
