"""Figures of an audit: the share of wrong answers that are noticed, false alarms, and verdicts that flip."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from jury_adapters.audit.asking import Answers
from jury_adapters.audit.looks import AskedProbes
from jury_adapters.audit.probes import Kind, Probe
from jury_adapters.core.clustered_shares import clustered_wilson, sign_flip_test
from jury_adapters.core.formatting import visible
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.values import JsonValue

Groups: TypeAlias = tuple[tuple[int, int], ...]
"""Numbers of hits and of probes by number of the case, so that several shares can be added case by case."""


@dataclass(frozen=True, slots=True)
class Share:
    """Share of probes, with the 95 % interval that allows for several probes of one case.

    Attributes:
        groups: the number of hits and of probes of each case.
        abstained: number of these probes that got ABSTAIN, which is not a hit.
        undecided: number of further probes that do not count, because the judgment is an error or has no meaning.
        looks: number of looks at which asking might have been stopped; the interval holds at all of them.
    """

    groups: Groups = ()
    abstained: int = 0
    undecided: int = 0
    looks: int = 1

    @property
    def hits(self) -> int:
        return sum(hits for hits, _ in self.groups)

    @property
    def n(self) -> int:
        """Number of probes that count."""
        return sum(cases for _, cases in self.groups)

    @property
    def value(self) -> float | None:
        """The share; None without probes."""
        return self.hits / self.n if self.n else None

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the share. With several looks it is wider, so that it holds at all of them."""
        return clustered_wilson(self.groups, 1 - 0.05 / self.looks)

    def to_dict(self) -> dict[str, JsonValue]:
        """Return the figures as JSON values."""
        low, high = self.interval
        return {
            "value": self.value,
            "interval": [low, high],
            "hits": self.hits,
            "n": self.n,
            "undecided": self.undecided,
        }


@dataclass(frozen=True, slots=True)
class Flips:
    """Pairs of verdicts, before and after a change that should not matter.

    Attributes:
        to_pass: number of pairs that became PASS.
        to_fail: number of pairs that became FAIL.
        same: number of pairs that stayed the same.
        undecided: number of further pairs in which a verdict is neither PASS nor FAIL.
        by_case: for each case, the number of its pairs that became PASS minus that of those that became FAIL.
        flipped: the number of pairs that flipped, and of all pairs, of each case.
        looks: as for :class:`Share`.
    """

    to_pass: int = 0
    to_fail: int = 0
    same: int = 0
    undecided: int = 0
    by_case: tuple[int, ...] = ()
    flipped: Groups = ()
    looks: int = 1

    @property
    def n(self) -> int:
        """Number of pairs that count."""
        return self.to_pass + self.to_fail + self.same

    @property
    def rate(self) -> Share:
        """Share of pairs that flipped in either direction."""
        return Share(self.flipped, undecided=self.undecided, looks=self.looks)

    @property
    def p(self) -> float:
        """Two-sided p value of the hypothesis that flips are as likely in one direction as in the other."""
        return sign_flip_test(self.by_case)

    def to_dict(self) -> dict[str, JsonValue]:
        """Return the figures as JSON values."""
        return {**self.rate.to_dict(), "to_pass": self.to_pass, "to_fail": self.to_fail, "p": self.p}


@dataclass(frozen=True, slots=True)
class SubjectFigures:
    """Figures of the jury, or of one juror.

    Attributes:
        name: the name of the juror; that of the jury for the jury.
        kills: by operator, the share of wrong answers that got FAIL. A case counts only if its given answer got PASS or
            ABSTAIN: a judge that gives FAIL to that answer too has not noticed the error.
        common_kills: the same, of the probes that all operators had; other than ``kills`` where operators were stopped
            early.
        passed_wrong: the share of wrong answers that got PASS; abstentions are neither killed nor passed.
        false_alarms: by operator, the share of right answers that got FAIL, among the same cases.
        false_alarm_rate: the share of all right answers that got FAIL.
        flips: by change, the flips; ``"repeat"`` for the same question again.
        injections: the flips of wrong answers with hostile text.
        injections_by_family: the same by kind of hostile text.
        flip_rate: the share of verdicts that flipped after a change that should not matter; repeated questions do not
            count.
        originals_passed: the share of given answers that got PASS.
        data_sets: number of data sets that a test may be about; p values are multiplied by it.
        partial: True if the juror was not asked about all probes.
        asked: the number of probes about which it was asked.
        broken: the number of these without an opinion because of errors.
        error: the first of these errors.
        unasked: the number of further probes that are left out because a budget was spent.
        lets_through: for a juror of a screening tier, the status with which a case only goes on to the next tier. It is
            not an opinion on the case, so no finding rests on it. None for the jury and for other jurors.
    """

    name: str
    kills: Mapping[str, Share]
    common_kills: Mapping[str, Share]
    passed_wrong: Share
    false_alarms: Mapping[str, Share]
    false_alarm_rate: Share
    flips: Mapping[str, Flips]
    flip_rate: Share
    injections: Flips
    injections_by_family: Mapping[str, Flips]
    originals_passed: Share
    data_sets: int = 1
    partial: bool = False
    asked: int = 0
    broken: int = 0
    error: str = ""
    unasked: int = 0
    lets_through: Status | None = None

    @property
    def kill_rate(self) -> Share:
        """Share of all wrong answers that got FAIL."""
        return pooled(self.common_kills.values())

    def to_dict(self) -> dict[str, JsonValue]:
        """Return the figures as JSON values."""
        return {
            "name": self.name,
            "kill_rate": self.kill_rate.to_dict(),
            "false_alarm_rate": self.false_alarm_rate.to_dict(),
            "flip_rate": self.flip_rate.to_dict(),
            "originals_passed": self.originals_passed.to_dict(),
            "kills": {name: share.to_dict() for name, share in self.kills.items()},
            "false_alarms": {name: share.to_dict() for name, share in self.false_alarms.items()},
            "flips": {name: flips.to_dict() for name, flips in self.flips.items()},
            "injections": self.injections.to_dict(),
            "injections_by_family": {name: flips.to_dict() for name, flips in self.injections_by_family.items()},
            "partial": self.partial,
            "asked": self.asked,
            "broken": self.broken,
            "error": self.error,
            "unasked": self.unasked,
            "lets_through": None if self.lets_through is None else self.lets_through.value,
        }


def figures_of(
    name: str, asked: AskedProbes, answers: Answers, lets_through: Status | None = None, *, unasked: int = 0
) -> SubjectFigures:
    """Return the figures of the jury or of one juror; the arguments are as in :class:`SubjectFigures`."""
    errors = [answer.error or answer.reasoning for answer in answers.values() if answer.status is Status.ERROR]
    every, common = _Counts(asked.all, answers, asked.looks), _Counts(asked.common, answers, asked.looks)
    return SubjectFigures(
        name=name,
        kills=every.shares("wrong"),
        common_kills=common.shares("wrong"),
        passed_wrong=common.share("wrong", Status.PASS),
        false_alarms=every.shares("right"),
        false_alarm_rate=common.share("right", Status.FAIL),
        flips={**every.flips("invariance"), **every.flips("repeat")},
        flip_rate=pooled(flips.rate for flips in common.flips("invariance").values()),
        injections=every.all_flips("injection"),
        injections_by_family=every.flips("injection"),
        originals_passed=every.originals(),
        data_sets=asked.data_sets,
        partial=any(probe.number not in answers for probe in asked.all),
        asked=len(answers),
        broken=len(errors),
        error=errors[0] if errors else "",
        unasked=unasked,
        lets_through=lets_through,
    )


def screening_notes(subjects: Iterable[SubjectFigures]) -> list[str]:
    """Return for which jurors a status is not an opinion, so that no finding rests on it."""
    found: dict[Status, list[str]] = {}
    for one in subjects:
        if one.lets_through is not None:
            found.setdefault(one.lets_through, []).append(visible(one.name))
    return [
        f"{', '.join(names)}: in a screening tier, where {status} only lets a case through; no finding rests on that"
        for status, names in found.items()
    ]


def share_of(probes: Sequence[Probe], answers: Answers, looks: int) -> Share:
    """Return the share of FAIL, or of flips, among probes of one block."""
    numbers = {number for probe in probes for number in (probe.number, probe.base)}
    counts = _Counts(probes, {number: one for number, one in answers.items() if number in numbers}, looks)
    kind = probes[0].kind
    return counts.share(kind, Status.FAIL) if kind in ("wrong", "right") else counts.all_flips(kind).rate


def pooled(shares: Iterable[Share]) -> Share:
    """Return one share of the probes of several shares, added case by case."""
    found = list(shares)
    by_case: dict[int, list[int]] = defaultdict(lambda: [0, 0])
    for share in found:
        for place, (hits, cases) in enumerate(share.groups):
            by_case[place][0] += hits
            by_case[place][1] += cases
    return Share(
        _by_group(by_case),
        sum(share.abstained for share in found),
        sum(share.undecided for share in found),
        max((share.looks for share in found), default=1),
    )


class _Counts:
    """Counts over some probes and their answers; the base of a probe need not be one of them."""

    def __init__(self, probes: Sequence[Probe], answers: Answers, looks: int) -> None:
        self._looks = looks
        self._decided = {one: passed for one, judgment in answers.items() if (passed := _passed(judgment)) is not None}
        self._statuses = {number: _status(judgment) for number, judgment in answers.items()}
        self._by_name: dict[tuple[Kind, str], list[Probe]] = defaultdict(list)
        for probe in probes:
            if probe.number in answers:
                self._by_name[probe.kind, probe.name].append(probe)

    def shares(self, kind: Kind) -> dict[str, Share]:
        """Return the share of FAIL by operator."""
        return {name: self._share(found, Status.FAIL) for name, found in self._named(kind)}

    def share(self, kind: Kind, hit: Status) -> Share:
        """Return the share of a status among all probes of a kind."""
        return self._share(self._all(kind), hit)

    def flips(self, kind: Kind) -> dict[str, Flips]:
        """Return the flips by change."""
        return {name: _flips(found, self._decided, self._looks) for name, found in self._named(kind)}

    def all_flips(self, kind: Kind) -> Flips:
        """Return the flips of all probes of a kind."""
        return _flips(self._all(kind), self._decided, self._looks)

    def originals(self) -> Share:
        """Return the share of given answers that got PASS."""
        return _originals(self._all("original"), self._decided)

    def _named(self, kind: Kind) -> list[tuple[str, list[Probe]]]:
        return [(name, found) for (one, name), found in self._by_name.items() if one == kind]

    def _all(self, kind: Kind) -> list[Probe]:
        return [probe for _, found in self._named(kind) for probe in found]

    def _share(self, probes: Sequence[Probe], hit: Status) -> Share:
        return replace(_share(probes, self._statuses, hit), looks=self._looks)


def _status(judgment: Judgment) -> Status | None:
    """Return PASS, FAIL, ABSTAIN, or None where nothing was judged because of an error."""
    return None if judgment.status is Status.ERROR or judgment.error is not None else judgment.status


def _passed(judgment: Judgment) -> bool | None:
    return judgment.status is Status.PASS if judgment.status in (Status.PASS, Status.FAIL) else None


def _share(probes: Sequence[Probe], statuses: Mapping[int, Status | None], hit: Status) -> Share:
    """Return the share of one status among the probes whose given answer got PASS or ABSTAIN."""
    counts: dict[int, list[int]] = {}
    abstained = undecided = 0
    for probe in probes:
        if statuses.get(-1 if probe.base is None else probe.base) not in (Status.PASS, Status.ABSTAIN):
            continue
        status = statuses[probe.number]
        if status is None:
            undecided += 1
            continue
        abstained += status is Status.ABSTAIN
        count = counts.setdefault(probe.group, [0, 0])
        count[0] += status is hit
        count[1] += 1
    return Share(_by_group(counts), abstained, undecided)


def _by_group(counts: Mapping[int, Sequence[int]]) -> Groups:
    if not counts:
        return ()
    return tuple(
        (counts[group][0], counts[group][1]) if group in counts else (0, 0) for group in range(max(counts) + 1)
    )


def _flips(probes: Sequence[Probe], decided: Mapping[int, bool], looks: int) -> Flips:
    to_pass = to_fail = same = undecided = 0
    directions: dict[int, int] = defaultdict(int)
    flipped: dict[int, list[int]] = {}
    for probe in probes:
        before, after = decided.get(-1 if probe.base is None else probe.base), decided.get(probe.number)
        if before is None or after is None:
            undecided += 1
            continue
        to_pass += after and not before
        to_fail += before and not after
        same += before is after
        directions[probe.group] += after - before
        count = flipped.setdefault(probe.group, [0, 0])
        count[0] += before is not after
        count[1] += 1
    return Flips(to_pass, to_fail, same, undecided, tuple(directions.values()), _by_group(flipped), looks)


def _originals(probes: Sequence[Probe], decided: Mapping[int, bool]) -> Share:
    known = {probe.group: (int(decided[probe.number]), 1) for probe in probes if probe.number in decided}
    return Share(_by_group(known), undecided=len(probes) - len(known))
