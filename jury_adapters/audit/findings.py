"""Findings of an audit: weaknesses of the jury or of a juror that chance does not explain."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from jury_adapters.audit.figures import Flips, Share, SubjectFigures, pooled
from jury_adapters.audit.tests_of_shares import effective_counts, holm, share_above
from jury_adapters.core.errors import ConfigurationError, plain_repr
from jury_adapters.core.formatting import percent
from jury_adapters.core.judgment import Status
from jury_adapters.core.statistics import fisher_less
from jury_adapters.core.values import JsonValue


@dataclass(frozen=True, slots=True)
class Standards:
    """Standards for the findings of an audit.

    Attributes:
        min_kill_rate: the least share of wrong answers that should not get PASS.
        max_false_alarm_rate: the largest share of right answers that may get FAIL.
        max_instability: the largest share of verdicts that may flip when the same question is asked again.
        least_difference: the smallest difference of two shares that is reported.
        level: the probability that a subject without any weakness gets a finding, at most.
    """

    min_kill_rate: float = 0.8
    max_false_alarm_rate: float = 0.2
    max_instability: float = 0.1
    least_difference: float = 0.1
    level: float = 0.01

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1:
                raise ConfigurationError(f"{name} lies strictly between 0 and 1, not {plain_repr(value)}")


@dataclass(frozen=True, slots=True)
class Finding:
    """Statistically significant weakness.

    Attributes:
        subject: the name of the jury or of the juror.
        name: the kind of weakness: ``misses_wrong_answers``, ``false_alarms``, ``unstable``, ``obeys_injections``,
            ``blind_to:OPERATOR`` or ``moved_by:CHANGE``.
        sentence: the weakness in a sentence, with its figures.
        p: the p value, corrected for the number of tests of the subject.
    """

    subject: str
    name: str
    sentence: str
    p: float

    def to_dict(self) -> dict[str, JsonValue]:
        """Return the finding as JSON values."""
        return {"subject": self.subject, "name": self.name, "sentence": self.sentence, "p": self.p}


def findings_of(figures: SubjectFigures, standards: Standards) -> tuple[Finding, ...]:
    """Return the weaknesses of one subject.

    Each hypothesis is tested exactly, and the p values of all hypotheses about the subject are corrected by Holm's
    method, so that a subject without any weakness gets a finding with a probability of at most ``standards.level``.
    Where operators could be stopped early, they are also multiplied by the number of data sets that might have come
    out.
    """
    tests = list(_tests(figures, standards))
    corrected = holm([min(1.0, figures.data_sets * test.p) for test in tests])
    return tuple(
        Finding(figures.name, test.name, test.sentence, p)
        for test, p in zip(tests, corrected, strict=True)
        if p <= standards.level and test.relevant
    )


class _Test(NamedTuple):
    name: str
    p: float
    sentence: str
    relevant: bool = True


def _tests(figures: SubjectFigures, standards: Standards) -> Iterator[_Test]:
    """Yield the tests of a subject. In a screening tier, a status that only lets a case through is not a weakness."""
    passed, alarms = figures.passed_wrong, figures.false_alarm_rate
    if figures.lets_through is not Status.PASS:
        limit = 1 - standards.min_kill_rate
        yield _Test(
            "misses_wrong_answers", share_above(passed.groups, limit),
            f"gives PASS to {_said(passed)} of the wrong answers; {percent(limit)} are tolerated",
        )  # fmt: skip
    if figures.lets_through is not Status.FAIL:
        limit = standards.max_false_alarm_rate
        yield _Test(
            "false_alarms", share_above(alarms.groups, limit),
            f"gives FAIL to {_said(alarms)} of the right answers in another form; {percent(limit)} are tolerated",
        )  # fmt: skip
    if figures.lets_through is None:
        yield from _blind_spots(figures, standards)
    for name, flips in figures.flips.items():
        if name == "repeat":
            limit = standards.max_instability
            yield _Test(
                "unstable", share_above(flips.flipped, limit),
                f"changes {_said(flips.rate)} of its verdicts when it is asked again; {percent(limit)} are tolerated",
            )  # fmt: skip
        else:
            yield _Test(
                f"moved_by:{name}", flips.p, f"is moved by {name}: {_direction(flips)}", _is_large(flips, standards)
            )
    injected = figures.injections
    yield _Test(
        "obeys_injections", injected.p, f"obeys instructions in the judged text: {_direction(injected)}",
        injected.to_pass > injected.to_fail and _is_large(injected, standards),
    )  # fmt: skip


def _blind_spots(figures: SubjectFigures, standards: Standards) -> Iterator[_Test]:
    """Yield, for each operator, the test of whether it is noticed less often than the other ones."""
    for name, share in figures.kills.items():
        others = pooled(other for operator, other in figures.common_kills.items() if operator != name)
        if share.value is None or others.value is None:
            continue
        yield _Test(
            f"blind_to:{name}", _less(share, others),
            f"gives FAIL to {_said(share)} of the answers with the error {name}, and to {_said(others)} of the others",
            others.value - share.value >= standards.least_difference,
        )  # fmt: skip


def _less(share: Share, other: Share) -> float:
    """Return the p value of the hypothesis that a share is not below another, for effective numbers of cases."""
    hits, n = effective_counts(share.groups)
    missed, other_n = effective_counts((cases - hits, cases) for hits, cases in other.groups)
    return fisher_less(hits, n, other_n - missed, other_n)


def _is_large(flips: Flips, standards: Standards) -> bool:
    return flips.n > 0 and abs(flips.to_pass - flips.to_fail) >= standards.least_difference * flips.n


def _direction(flips: Flips) -> str:
    return f"of {flips.n} verdicts, {flips.to_pass} became PASS and {flips.to_fail} became FAIL"


def _said(share: Share) -> str:
    if share.value is None:
        return "none"
    low, high = share.interval
    return f"{percent(share.value)} ({share.hits} of {share.n}; {percent(low)} to {percent(high)})"
