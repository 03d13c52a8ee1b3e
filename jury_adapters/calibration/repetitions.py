"""Answers of jurors that were asked the same question several times, in a verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from jury_adapters.calibration.stated_numbers import numbers_of
from jury_adapters.calibration.types import Answer, Raw
from jury_adapters.core.judgment import Judgment
from jury_adapters.core.opinions import Path
from jury_adapters.core.verdict import SCORECARD, Verdict, is_pairwise_opinion

_RUBRIC = "rubric_fingerprint"


def answers_by_place(judgment: Judgment, ballot: Callable[[Judgment], Raw]) -> dict[Path, tuple[Answer, ...]]:
    """Return the answers of each juror of a verdict that was asked several times, by the juror's path.

    Args:
        judgment: the verdict.
        ballot: returns the vote of a judgment.
    """
    return {
        path: tuple(Answer(ballot(one), numbers_of(one)) for one in verdict.judgments)
        for path, verdict in _repeated_in(judgment, ())
    }


def is_repeated(judgment: Judgment) -> bool:
    """Return whether a judgment is the vote over the answers of one juror that was asked several times.

    ``judge.with_samples(3)`` and a critic with ``samples=3`` name the answers ``judge``, ``judge-2`` and ``judge-3``,
    and the vote over them ``judge`` or ``judge x3``. Under another name, the answers must be of one model.
    """
    if not isinstance(judgment, Verdict) or judgment.tiers or len(judgment.judgments) < 2:
        return False
    if is_pairwise_opinion(judgment) or judgment.voting == SCORECARD:
        return False
    answers = judgment.judgments
    base = answers[0].critic
    if not base or [one.critic for one in answers] != [base, *(f"{base}-{n}" for n in range(2, len(answers) + 1))]:
        return False
    if len({one.metadata.get(_RUBRIC) for one in answers if one.valid}) > 1:
        return False
    models = {one.model for one in answers if one.valid}
    own_name = judgment.critic in (base, f"{base} x{len(answers)}")
    return own_name or (len(models) == 1 and None not in models)


def _repeated_in(judgment: Judgment, around: Path) -> Iterator[tuple[Path, Verdict]]:
    if not isinstance(judgment, Verdict):
        return
    if is_repeated(judgment):
        yield (*around, judgment.critic or judgment.judgments[0].critic), judgment
        return
    for tier in judgment.tiers:
        yield from _repeated_in(tier.judgment, (*around, tier.name))
    for juror in () if judgment.tiers else judgment.judgments:
        inside = isinstance(juror, Verdict) and not is_repeated(juror)
        yield from _repeated_in(juror, (*around, juror.critic) if inside else around)
