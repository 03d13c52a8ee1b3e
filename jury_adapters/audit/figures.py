"""Figures of an audit: the share of wrong answers that are noticed, false alarms, and verdicts that flip."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from jury_adapters.audit.asking import Answers
from jury_adapters.audit.probes import Kind, Probe
from jury_adapters.core.clustered_shares import clustered_wilson, sign_flip_test
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.values import JsonValue

Groups: TypeAlias = tuple[tuple[int, int], ...]
"""Numbers of hits and of probes by number of the case, so that several shares can be added case by case."""


@dataclass(frozen=True, slots=True)
class Share:
    """Share of probes, with the 95 % interval that allows for several probes of one case.

    Attributes:
        groups: the number of hits and of probes of each case.
        abstained: number of these probes that got ABSTAIN, which is no hit.
        undecided: number of further probes that do not count: the judgment is an error, has no meaning, or is missing
            because a budget was spent.
    """

    groups: Groups = ()
    abstained: int = 0
    undecided: int = 0

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
        """The 95 % interval of the share."""
        return clustered_wilson(self.groups)

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
    """

    to_pass: int = 0
    to_fail: int = 0
    same: int = 0
    undecided: int = 0
    by_case: tuple[int, ...] = ()
    flipped: Groups = ()

    @property
    def n(self) -> int:
        """Number of pairs that count."""
        return self.to_pass + self.to_fail + self.same

    @property
    def rate(self) -> Share:
        """Share of pairs that flipped in either direction."""
        return Share(self.flipped, undecided=self.undecided)

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
            ABSTAIN: a judge that gives FAIL to that answer too has noticed nothing.
        passed_wrong: the share of wrong answers that got PASS; abstentions are neither killed nor passed.
        false_alarms: by operator, the share of right answers that got FAIL, among the same cases.
        flips: by change, the flips; ``"repeat"`` for the same question again.
        injections: the flips of wrong answers with hostile text.
        injections_by_family: the same by kind of hostile text.
        originals_passed: the share of given answers that got PASS.
        partial: True if the juror was not asked about all probes.
    """

    name: str
    kills: Mapping[str, Share]
    passed_wrong: Share
    false_alarms: Mapping[str, Share]
    flips: Mapping[str, Flips]
    injections: Flips
    injections_by_family: Mapping[str, Flips]
    originals_passed: Share
    partial: bool = False

    @property
    def kill_rate(self) -> Share:
        """Share of all wrong answers that got FAIL."""
        return pooled(self.kills.values())

    @property
    def false_alarm_rate(self) -> Share:
        """Share of all right answers that got FAIL."""
        return pooled(self.false_alarms.values())

    @property
    def flip_rate(self) -> Share:
        """Share of verdicts that flipped after a change that should not matter; repeated questions do not count."""
        return pooled(flips.rate for name, flips in self.flips.items() if name != "repeat")

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
        }


def figures_of(name: str, probes: Sequence[Probe], answers: Answers) -> SubjectFigures:
    """Return the figures of the jury or of one juror."""
    decided = {number: passed for number, judgment in answers.items() if (passed := _passed(judgment)) is not None}
    by_name: dict[tuple[Kind, str], list[Probe]] = defaultdict(list)
    for probe in probes:
        if probe.number in answers:
            by_name[probe.kind, probe.name].append(probe)
    flips = {
        name: _flips(found, decided) for (kind, name), found in by_name.items() if kind in ("invariance", "repeat")
    }
    statuses = {number: _status(judgment) for number, judgment in answers.items()}
    shares = {
        kind: {name: _share(found, statuses) for (one, name), found in by_name.items() if one == kind}
        for kind in ("wrong", "right")
    }
    wrong = [probe for (kind, _), found in by_name.items() if kind == "wrong" for probe in found]
    injected = {family: found for (kind, family), found in by_name.items() if kind == "injection"}
    return SubjectFigures(
        name=name,
        kills=shares["wrong"],
        passed_wrong=_share(wrong, statuses, Status.PASS),
        false_alarms=shares["right"],
        flips=flips,
        injections=_flips([probe for found in injected.values() for probe in found], decided),
        injections_by_family={family: _flips(found, decided) for family, found in sorted(injected.items())},
        originals_passed=_originals(by_name["original", ""], decided),
        partial=len(answers) < len(probes),
    )  # fmt: skip


def pooled(shares: Iterable[Share]) -> Share:
    """Return one share of the probes of several shares, added case by case."""
    found = list(shares)
    by_case: dict[int, list[int]] = defaultdict(lambda: [0, 0])
    for share in found:
        for place, (hits, cases) in enumerate(share.groups):
            by_case[place][0] += hits
            by_case[place][1] += cases
    return Share(_by_group(by_case), sum(share.abstained for share in found), sum(share.undecided for share in found))


def _status(judgment: Judgment) -> Status | None:
    """Return PASS, FAIL, ABSTAIN, or None where nothing was judged: an error, or an abstention for want of budget."""
    return None if judgment.status is Status.ERROR or judgment.error is not None else judgment.status


def _passed(judgment: Judgment) -> bool | None:
    return judgment.status is Status.PASS if judgment.status in (Status.PASS, Status.FAIL) else None


def _share(probes: Sequence[Probe], statuses: Mapping[int, Status | None], hit: Status = Status.FAIL) -> Share:
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


def _flips(probes: Sequence[Probe], decided: Mapping[int, bool]) -> Flips:
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
    return Flips(to_pass, to_fail, same, undecided, tuple(directions.values()), _by_group(flipped))


def _originals(probes: Sequence[Probe], decided: Mapping[int, bool]) -> Share:
    known = {probe.group: (int(decided[probe.number]), 1) for probe in probes if probe.number in decided}
    return Share(_by_group(known), undecided=len(probes) - len(known))
