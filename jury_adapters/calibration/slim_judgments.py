"""Judgments without texts and usage, which take little memory; equal ones are one object.

Analyses of votes keep the judgments of all cases. They read the votes, confidences and scores of the jurors, and no
reasons, findings, costs or times.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

from jury_adapters.core.judgment import Judgment, evolve
from jury_adapters.core.usage import NO_USAGE
from jury_adapters.core.values import EMPTY
from jury_adapters.core.verdict import Verdict

K = TypeVar("K")
V = TypeVar("V")

_MOST = 1 << 14  # different objects that are remembered, because confidences may be different every time
_LEFT_OUT: dict[str, Any] = {
    "probabilities": None, "reasoning": "", "findings": (), "claims": (), "family": None, "usage": NO_USAGE,
    "elapsed_s": None, "error": None, "raw_response": None,
}  # fmt: skip
_LEFT_OUT_OF_VERDICTS: dict[str, Any] = {"case_id": None, "case_metadata": EMPTY, "skipped": (), "weights": ()}


class SlimJudgments:
    """Judgments and mappings; equal ones are kept once."""

    def __init__(self) -> None:
        self._known: dict[Any, Any] = {}

    def of(self, judgment: Judgment) -> Judgment:
        """Return a judgment without texts, usage and case, and with the same votes and metadata."""
        if isinstance(judgment, Verdict):
            return evolve(
                judgment,
                **_LEFT_OUT,
                **_LEFT_OUT_OF_VERDICTS,
                judgments=tuple(map(self.of, judgment.judgments)),
                tiers=tuple(replace(tier, judgment=self.of(tier.judgment), why="") for tier in judgment.tiers),
                tally=self._known_as(judgment.tally, judgment.tally),
            )
        if judgment.metadata:
            return evolve(judgment, **_LEFT_OUT)
        rest = (judgment.status, judgment.label, judgment.score, judgment.confidence, judgment.critic, judgment.model)
        if (known := self._known.get(rest)) is None:
            known = self._known_as(rest, evolve(judgment, **_LEFT_OUT))
        return known  # type: ignore[no-any-return]

    def mapping(self, values: dict[K, V]) -> Mapping[K, V]:
        """Return an equal mapping that was seen before, in the same order, or this one."""
        return self._known_as(tuple(values.items()), values)  # type: ignore[no-any-return]

    def _known_as(self, key: object, value: Any) -> Any:
        try:
            if len(self._known) < _MOST:
                return self._known.setdefault(key, value)
            return self._known.get(key, value)
        except TypeError:  # ballots of a results file that cannot be hashed
            return value
