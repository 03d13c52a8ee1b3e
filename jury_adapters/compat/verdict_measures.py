"""Measures of a verdict that other packages have, as functions of a :class:`jury_adapters.Verdict`.

>>> from jury_adapters import Ensemble
>>> verdict = Ensemble([lambda case: True, lambda case: True, lambda case: False]).judge("q")
>>> str(consensus(verdict)), round(agreement_pct(verdict), 2)
('PASS', 0.67)
"""

from __future__ import annotations

from jury_adapters.core.judgment import Judgment
from jury_adapters.core.verdict import Verdict


def consensus(verdict: Verdict) -> str | None:
    """Return the label of the verdict, also a default label, else PASS or FAIL; None if there is neither."""
    return verdict.opinion if verdict.label is None else verdict.label


def agreement_pct(verdict: Verdict) -> float:
    """Return the share (0..1) of the votes that equal the consensus; 0.0 without votes."""
    if verdict.tally.on == "label":
        votes: tuple[object, ...] = verdict.tally.valid_ballots
        chosen: object = verdict.label
    else:
        votes = tuple(one.status for one in verdict.judgments if one.status is not None and one.valid)
        chosen = verdict.status
    return sum(vote == chosen for vote in votes) / len(votes) if votes else 0.0


def avg_confidence(verdict: Verdict) -> float:
    """Return the mean confidence of the valid jurors that gave one; 0.0 if none did."""
    given = [one.confidence for one in verdict.judgments if one.valid and one.confidence is not None]
    return sum(given) / len(given) if given else 0.0


def sub_verdicts(verdict: Verdict) -> tuple[Judgment, ...]:
    """Return the nested results: one per tier that ran, or one per juror that is itself a jury."""
    if verdict.tiers:
        return tuple(tier.judgment for tier in verdict.tiers)
    return tuple(one for one in verdict.judgments if isinstance(one, Verdict))
