"""Names and options of the voting rules, for type checkers and editors.

Written from the rules by ``JURY_DOCS_WRITE=1 pytest tests/docs/test_derived_texts.py``. A rule works without it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Literal, TypeAlias, TypedDict

VotingName: TypeAlias = Literal[
    "average", "bayes", "first_disagreement", "k_veto", "majority", "plurality", "median", "quorum", "unanimous",
    "consensus", "weighted", "weighted_average",
]  # fmt: skip


class VotingOptions(TypedDict, total=False):
    """Options of all voting rules; each rule takes its own and refuses the others."""

    errors: Literal["fail", "abstain", "ignore", "propagate"] | None
    min_votes: int
    threshold: float
    reliabilities: Mapping[str, float | tuple[float, float]] | Sequence[float | tuple[float, float]]
    prior: float
    on: Literal["auto", "status", "label"]
    default_label: str | None
    disagree_label: str | str | None
    error_label: str | None
    k: int
    tie: Literal["fail", "pass", "abstain", "first"] | None
    priority: Sequence[str]
    min_share: float | str | tuple[int, int] | Fraction | None
    quorum: float | str | tuple[int, int] | Fraction
    on_split: Literal["fail", "abstain"] | None
    use_confidence: bool
