"""Judgments of a batch without texts and usage, in little memory.

Analyses of votes keep the judgments of all cases. They read the votes, confidences and scores of the jurors, and no
reasons, findings, costs or times. Without the numbers, many judgments are equal, so each such form is kept once.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import nan
from typing import Any, Final, TypeAlias

from jury_adapters.calibration.stated_numbers import numbers_of
from jury_adapters.calibration.types import Numbers
from jury_adapters.core.forms import Form, form_of
from jury_adapters.core.judgment import Judgment, evolve
from jury_adapters.core.tally import Tally
from jury_adapters.core.unasked import EMPTY_ANSWER
from jury_adapters.core.usage import NO_USAGE
from jury_adapters.core.values import EMPTY, FrozenDict
from jury_adapters.core.verdict import Verdict

_MOST = 1 << 14  # forms that are recognised again, because labels may be different every time
_MOST_WHOLE = 1 << 10  # forms with a whole judgment, which take more memory
_PER_PART = 3  # confidence, rating or score, score
_KEPT: Final = ("position_consistent", "rubric_fingerprint", EMPTY_ANSWER)
"""Entries of the metadata that analyses read, apart from the rating, which is a number."""
_LEFT_OUT: dict[str, Any] = {
    "score": None, "probabilities": None, "confidence": None, "reasoning": "", "findings": (), "claims": (),
    "family": None, "usage": NO_USAGE, "elapsed_s": None, "error": None, "raw_response": None,
}  # fmt: skip
_LEFT_OUT_OF_VERDICTS: dict[str, Any] = {
    "weights": (), "same_family": None, "band_on": "pairs", "calls_saved": 0, "skipped": (), "stopped_at": None,
    "decision": None, "case_id": None, "case_metadata": EMPTY,
}  # fmt: skip


class SlimJudgments:
    """Judgments of a batch, added one by one.

    Attributes:
        forms: the judgments without texts, usage and numbers, each once, in the order of their first occurrence. Their
            metadata has only what analyses read.
    """

    def __init__(self) -> None:
        self.forms: list[Judgment] = []
        self._known: dict[object, int] = {}
        self._by_form: dict[Form, int] = {}
        self._single: dict[object, Judgment] = {}
        self._form_of = array("L")
        self._starts = array("Q")
        self._numbers = array("d")
        self._scored = bytearray()  # whether a judgment has all numbers of each part; many have only confidences

    def add(self, judgment: Judgment) -> None:
        """Add one judgment."""
        self._starts.append(len(self._numbers))
        numbers: list[float] = []
        _collect_numbers(judgment, numbers)
        scored = any(number == number for place, number in enumerate(numbers) if place % _PER_PART)  # noqa: PLR0124
        self._scored.append(scored)
        self._numbers.extend(numbers if scored else numbers[::_PER_PART])
        form = form_of(judgment)
        known = self._by_form.get(form)
        if known is None:
            if len(self._by_form) >= _MOST_WHOLE:
                self._by_form.clear()
            known = self._by_form[form] = self._place_of(judgment)
        self._form_of.append(known)

    def __len__(self) -> int:
        return len(self._form_of)

    def form(self, position: int) -> int:
        """Return the position in :attr:`forms` of the form of a judgment."""
        return self._form_of[position]

    def numbers(self, position: int, parts: Mapping[str | None, int]) -> StatedNumbers:
        """Return the numbers of some parts of a judgment.

        Args:
            position: the position of the judgment.
            parts: the positions of the parts in the form, by name.
        """
        per_part = _PER_PART if self._scored[position] else 1
        return StatedNumbers(parts, self._numbers, self._starts[position], per_part)

    def _place_of(self, judgment: Judgment) -> int:
        """Return the place of the form of a judgment in :attr:`forms`, which is longer if the form is new."""
        key = self._key(judgment)
        place = self._known.get(key)
        if place is None:
            place = len(self.forms)
            self.forms.append(self._form(judgment))
            if place < _MOST:
                self._known[key] = place
        return place

    def _key(self, judgment: Judgment) -> object:
        """Return a value that is equal for judgments of one form."""
        own = _own_key(judgment)
        if not isinstance(judgment, Verdict):
            return own
        inside = tuple([self._key(juror) for juror in judgment.judgments])
        tiers = tuple([
            (tier.name, tier.policy, tier.stopped, tier.broken, self._key(tier.judgment)) for tier in judgment.tiers
        ])  # fmt: skip
        return own, judgment.voting, _slim_tally(judgment), judgment.partial, inside, tiers

    def _form(self, judgment: Judgment) -> Judgment:
        """Return a judgment without texts, usage, case and numbers; equal ones of single judges are one object."""
        kept = _kept(judgment)
        metadata = FrozenDict(kept) if kept else EMPTY
        if not isinstance(judgment, Verdict):
            known = self._single.get(key := _own_key(judgment))
            if known is None:
                known = evolve(judgment, **_LEFT_OUT, metadata=metadata)
                if len(self._single) < _MOST:
                    self._single[key] = known
            return known
        on, eligible, errors_decided = _slim_tally(judgment)
        return evolve(
            judgment,
            **_LEFT_OUT,
            **_LEFT_OUT_OF_VERDICTS,
            metadata=metadata,
            judgments=tuple(map(self._form, judgment.judgments)),
            tiers=tuple(replace(tier, judgment=self._form(tier.judgment), why="") for tier in judgment.tiers),
            tally=Tally(on, eligible=int(eligible), errors_decided=errors_decided),
        )


class StatedNumbers(Mapping[str | None, Numbers]):
    """Numbers of the opinions in one judgment, by the name of the juror; those of the judgment itself are under None.

    Args:
        parts: the position of each opinion among the parts of the judgment.
        values: the numbers of all judgments of the batch.
        start: the position of the judgment's own numbers.
        per_part: the number of values of each part; if it is 1, no part has a rating or a score.
    """

    __slots__ = ("_parts", "_per_part", "_start", "_values")

    def __init__(self, parts: Mapping[str | None, int], values: Sequence[float], start: int, per_part: int) -> None:
        self._parts = parts
        self._values = values
        self._start = start
        self._per_part = per_part

    def __getitem__(self, name: str | None) -> Numbers:
        return self.at(self._parts[name])

    def at(self, part: int) -> Numbers:
        """Return the numbers of a part, by its position in the form."""
        place = self._start + part * self._per_part
        return Numbers(self._values[place], self._values[place + 1] if self._per_part > 1 else nan)

    def score(self, part: int, otherwise: object) -> object:
        """Return the score of a part, or another value if it has none."""
        if self._per_part == 1:
            return otherwise
        score = self._values[self._start + part * self._per_part + 2]
        return otherwise if score != score else score  # noqa: PLR0124  only NaN differs from itself

    def __iter__(self) -> Iterator[str | None]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)


def _collect_numbers(judgment: Judgment, numbers: list[float]) -> None:
    """Add the numbers of a judgment and of those inside it to a list, in the order of the parts."""
    score = judgment.score
    numbers += (*numbers_of(judgment), nan if score is None else score)
    if isinstance(judgment, Verdict):
        for juror in judgment.judgments:
            _collect_numbers(juror, numbers)
        for tier in judgment.tiers:
            _collect_numbers(tier.judgment, numbers)


Part: TypeAlias = tuple[int, Judgment]
"""Judgment with its position in a form."""


def parts_in(part: Part) -> tuple[list[Part], list[Part]]:
    """Return the judgments of the jurors in a part, and those of its tiers."""
    at, judgment = part
    if not isinstance(judgment, Verdict):
        return [], []
    following = at + 1
    found: list[Part] = []
    for inside in (*judgment.judgments, *(tier.judgment for tier in judgment.tiers)):
        found.append((following, inside))
        following += _size(inside)
    return found[: len(judgment.judgments)], found[len(judgment.judgments) :]


def _size(judgment: Judgment) -> int:
    """Return the number of judgments in a judgment, itself included."""
    if not isinstance(judgment, Verdict):
        return 1
    return 1 + sum(map(_size, judgment.judgments)) + sum(_size(tier.judgment) for tier in judgment.tiers)


def _own_key(judgment: Judgment) -> tuple[object, ...]:
    return judgment.status, judgment.label, judgment.critic, judgment.model, _kept(judgment)


def _kept(judgment: Judgment) -> tuple[tuple[str, Any], ...]:
    metadata = judgment.metadata
    return tuple([(name, metadata[name]) for name in _KEPT if name in metadata]) if metadata else ()


def _slim_tally(verdict: Verdict) -> tuple[Any, bool, bool]:
    tally = verdict.tally
    return tally.on, bool(tally.eligible), bool(tally.errors_decided)
