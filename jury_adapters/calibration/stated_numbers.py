"""Numbers that judgments state in addition to their votes: confidences and scores, of the jurors and of the jury."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf, isfinite, nan

import numpy as np

from jury_adapters.calibration.items import DECIMAL, ItemVotes, plain
from jury_adapters.calibration.types import MISSING, Floats, Ints, Numbers, Raw
from jury_adapters.calibration.vote_scale import Scale, vote_codes
from jury_adapters.core.judgment import Judgment
from jury_adapters.core.verdict import SCORECARD, Verdict, is_pairwise_opinion

THE_JURY = "the jury"
"""Name of the jury among those of its jurors."""


@dataclass(frozen=True, eq=False, slots=True)
class Stated:
    """Numbers stated with the votes, one row per item and one column per voter.

    Attributes:
        voters: the jurors; if there are verdicts, the jury comes last.
        codes: the votes, as positions in the labels of the batch; -1 for none. A label that only the jury gives has a
            code above all positions.
        confidences: the confidence of each judgment, 0..1; NaN for none, infinity for one that is not from 0 to 1.
        scores: the rating of each judgment in the units of its rubric, else its score; NaN for none.
        ratings: per item, the human label as a number; NaN if it is not a number.
    """

    voters: tuple[str, ...] = ()
    codes: Ints = field(default_factory=lambda: np.empty((0, 0), dtype=np.int64))
    confidences: Floats = field(default_factory=lambda: np.empty((0, 0)))
    scores: Floats = field(default_factory=lambda: np.empty((0, 0)))
    ratings: Floats = field(default_factory=lambda: np.empty(0))

    def take(self, index: Ints) -> Stated:
        """Return only these items."""
        return replace(
            self,
            codes=self.codes[index],
            confidences=self.confidences[index],
            scores=self.scores[index],
            ratings=self.ratings[index],
        )

    def panel(self, jurors: Sequence[str], *, whole: bool) -> Stated:
        """Return only these jurors, in this order; with the jury if they are all of its jurors."""
        jury = [len(self.voters) - 1] if whole and len(self.voters) > len(jurors) else []
        columns = np.array([self.voters.index(name) for name in jurors] + jury, dtype=np.int64)
        return replace(
            self,
            voters=tuple(self.voters[column] for column in columns.tolist()),
            codes=self.codes[:, columns],
            confidences=self.confidences[:, columns],
            scores=self.scores[:, columns],
        )


def stated_by(items: Sequence[ItemVotes], jurors: Sequence[str], scale: Scale) -> Stated:
    """Return the numbers of the items that were read."""
    with_jury = any(item.jury is not None for item in items)
    shape = (len(items), len(jurors) + with_jury)
    codes = vote_codes(items, jurors, scale)
    confidences = np.empty(shape)
    scores = np.broadcast_to(nan, shape)  # takes no memory, as long as there are none
    for position, item in enumerate(items):
        stated = [_numbers_in(item, name) for name in jurors] + ([_of_jury(item)] if with_jury else [])
        for column, (confidence, score) in enumerate(stated):
            confidences[position, column] = confidence
            if score == score:  # noqa: PLR0124  only NaN differs from itself
                if not scores.flags.writeable:
                    scores = np.full(shape, nan)
                scores[position, column] = score
    if with_jury:
        of_jury = np.fromiter((_jury_code(item, scale) for item in items), np.int64, len(items))
        codes = np.column_stack([codes, of_jury])
    confidences[codes == MISSING] = nan  # the confidence of an abstention is not a confidence in an answer
    return Stated(
        voters=(*jurors, THE_JURY) if with_jury else tuple(jurors),
        codes=codes,
        confidences=confidences,
        scores=scores,
        ratings=np.fromiter((_number(plain(item.gold)) for item in items), np.float64, len(items)),
    )


def numbers_of(judgment: Judgment) -> Numbers:
    """Return the numbers of a judgment."""
    rating = _number(judgment.metadata.get("rating")) if judgment.metadata else nan
    return Numbers(
        nan if judgment.confidence is None or not judgment.valid else judgment.confidence,
        _number(judgment.score) if rating != rating else rating,  # noqa: PLR0124  only NaN differs from itself
    )


def recorded_numbers(vote: object, value: Raw) -> Numbers:
    """Return the numbers of a recorded vote.

    Args:
        vote: the vote as recorded: a mapping, or the bare answer.
        value: the answer; None for an abstention.
    """
    if value is None:
        return Numbers()
    stated = vote if isinstance(vote, Mapping) else {}
    recorded = stated.get("confidence")
    confidence = nan if isinstance(recorded, str) else _number(recorded)
    missing = recorded is None or recorded != recorded  # noqa: PLR0124  only NaN differs from itself
    if not missing and not 0 <= confidence <= 1:
        confidence = inf
    own = _number(value)
    return Numbers(confidence, own if isfinite(own) else _number(stated.get("score")))


def is_jury(judgment: Judgment) -> bool:
    """Return whether a judgment is the verdict of several voters on one question."""
    return (
        isinstance(judgment, Verdict)
        and bool(judgment.judgments or judgment.tiers)
        and not is_pairwise_opinion(judgment)
        and judgment.voting != SCORECARD
    )


def _jury_code(item: ItemVotes, scale: Scale) -> int:
    code = scale.code(item.jury)
    return len(scale.labels) if code == MISSING and plain(item.jury) is not None else code


def _numbers_in(item: ItemVotes, juror: str) -> Numbers:
    vote = item.votes.get(juror)
    return item.numbers.get(juror) or recorded_numbers(vote, plain(vote))


def _of_jury(item: ItemVotes) -> Numbers:
    return Numbers() if item.verdict is None else item.numbers[None]


def _number(value: object) -> float:
    """Return a finite number, which may also be text, such as ``"4"`` in a CSV file; NaN for everything else."""
    if value is None:  # the most frequent case
        return nan
    if isinstance(value, str) and DECIMAL.fullmatch(value):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return nan
    try:
        number = float(value)
    except OverflowError:
        return nan
    return number if isfinite(number) else nan
