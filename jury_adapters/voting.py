"""The voting rules, the votes that they count, and the agreement of jurors."""

from jury_adapters.core.agreement import krippendorff_alpha, pairwise_agreement
from jury_adapters.core.votes import (
    Average,
    Bayes,
    Count,
    Majority,
    Median,
    Outcome,
    Quorum,
    Rule,
    Unanimous,
    Veto,
    Vote,
)

__all__ = [
    "Average",
    "Bayes",
    "Count",
    "Majority",
    "Median",
    "Outcome",
    "Quorum",
    "Rule",
    "Unanimous",
    "Veto",
    "Vote",
    "krippendorff_alpha",
    "pairwise_agreement",
]
