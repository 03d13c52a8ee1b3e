"""The older voting strategies, over the verdicts of :mod:`.schema`."""

from __future__ import annotations

from collections.abc import Callable

from jury_adapters.compat import verdict_measures
from jury_adapters.compat.cross_judge._bridge import as_jury_verdict, counted
from jury_adapters.compat.cross_judge.schema import Verdict
from jury_adapters.core.voting.rules.first_disagreement import FirstDisagreement
from jury_adapters.core.voting.rules.majority import Majority
from jury_adapters.core.voting.rules.unanimous import Unanimous
from jury_adapters.core.voting.rules.weighted import Weighted

AggregationStrategy = Callable[..., tuple[str, bool]]
"""Function of the verdicts, errors included, and the panel's ``strategy_kwargs``; returns label and disagreement."""


def majority(
    verdicts: list[Verdict], *, priority: list[str] | None = None, fallback: str = "UNCLEAR"
) -> tuple[str, bool]:
    """Return the most frequent label, and whether there are others; see :func:`.voting.majority_vote`."""
    label, tally = counted(Majority(on="label", priority=tuple(priority or ())), verdicts, fallback)
    return label, bool(tally.valid_ballots) and not tally.unanimous


def unanimous(verdicts: list[Verdict], *, fallback: str = "UNCLEAR") -> tuple[str, bool]:
    """Return the label on which all agree, and whether they disagree."""
    label, tally = counted(Unanimous(on="label"), verdicts, fallback)
    return label, not tally.unanimous


def weighted(
    verdicts: list[Verdict],
    *,
    weights: dict[str, float] | None = None,
    use_confidence: bool = True,
    fallback: str = "UNCLEAR",
) -> tuple[str, bool]:
    """Return the label with the largest sum of weight x confidence, and whether there are others.

    Args:
        verdicts: in the reviewers' order.
        weights: by reviewer; the default weight is 1. A panel passes the weights of its reviewers.
        use_confidence: False for weights alone.
        fallback: the label if there are no votes, or none with any weight.

    Raises:
        ConfigurationError: a weight is negative or not a finite number.
    """
    given = weights or {}
    voters = [verdict for verdict in verdicts if verdict.error is None]
    by_voter = [float(given.get(verdict.reviewer_id, 1.0)) for verdict in voters]
    if voters and not any(by_voter):
        return fallback, as_jury_verdict(voters).disagreement
    label, tally = counted(Weighted(on="label", use_confidence=use_confidence), voters, fallback, by_voter)
    return label, bool(tally.valid_ballots) and not tally.unanimous


def first_disagreement(
    verdicts: list[Verdict], *, disagree_label: str = "DISAGREE", fallback: str = "UNCLEAR"
) -> tuple[str, bool]:
    """Return the label on which all agree, else ``disagree_label``; ``fallback`` if there are no votes."""
    label, tally = counted(FirstDisagreement(on="label"), verdicts, fallback)
    differ = bool(tally.valid_ballots) and not tally.unanimous
    return (disagree_label if differ else label), differ


STRATEGIES: dict[str, AggregationStrategy] = {
    "majority": majority,
    "unanimous": unanimous,
    "weighted": weighted,
    "first_disagreement": first_disagreement,
}


def get_strategy(name_or_fn: str | AggregationStrategy) -> AggregationStrategy:
    """Return a strategy by name, or the function itself.

    Raises:
        KeyError: there is no strategy of that name.
    """
    if callable(name_or_fn):
        return name_or_fn
    found = STRATEGIES.get(str(name_or_fn).lower())
    if found is None:
        raise KeyError(f"Unknown strategy '{name_or_fn}'. Known: {sorted(STRATEGIES)}.")
    return found


def avg_confidence(verdicts: list[Verdict]) -> float:
    """Return the mean confidence (0..1) of the verdicts without error; 0.0 if there are none."""
    return verdict_measures.avg_confidence(as_jury_verdict(verdicts))
