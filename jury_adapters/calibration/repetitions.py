"""Answers of jurors that were asked the same question several times, in a verdict."""

from __future__ import annotations

from collections.abc import Iterator

from jury_adapters.calibration.slim_judgments import Part, parts_in
from jury_adapters.core.judgment import Judgment
from jury_adapters.core.opinions import Path
from jury_adapters.core.verdict import SCORECARD, Verdict, is_pairwise_opinion

_RUBRIC = "rubric_fingerprint"


def repeated_by_place(judgment: Judgment) -> dict[Path, Part]:
    """Return the votes over the answers of each juror of a verdict that was asked several times, by its path."""
    return dict(_repeated_in((0, judgment), ()))


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


def _repeated_in(part: Part, around: Path) -> Iterator[tuple[Path, Part]]:
    _, judgment = part
    if not isinstance(judgment, Verdict):
        return
    if is_repeated(judgment):
        yield (*around, judgment.critic or judgment.judgments[0].critic), part
        return
    jurors, of_tiers = parts_in(part)
    for tier, inside in zip(judgment.tiers, of_tiers, strict=True):
        yield from _repeated_in(inside, (*around, tier.name))
    for at, juror in () if judgment.tiers else jurors:
        below = isinstance(juror, Verdict) and not is_repeated(juror)
        yield from _repeated_in((at, juror), (*around, juror.critic) if below else around)
