"""Votes over verdicts, and measures of agreement."""

from __future__ import annotations

from collections.abc import Callable

from jury_adapters.compat import verdict_measures
from jury_adapters.compat.cross_judge._bridge import as_jury_verdict, counted
from jury_adapters.compat.cross_judge.verdict import Verdict
from jury_adapters.core.voting.rules.majority import Majority
from jury_adapters.core.voting.rules.unanimous import Unanimous

VotingStrategy = Callable[..., tuple[str, bool]]
"""Function of the verdicts, errors included, and the ``voting_kwargs``; returns the label and whether any differ."""


def majority_vote(
    verdicts: list[Verdict], *, priority: list[str] | None = None, fallback: str = "UNCLEAR"
) -> tuple[str, bool]:
    """Return the most frequent label, and whether there are others.

    Args:
        verdicts: in the critics' order.
        priority: labels that win a tie, best first; without it, the tied label that was given first.
        fallback: the label if there are no votes.
    """
    label, tally = counted(Majority(on="label", priority=tuple(priority or ())), verdicts, fallback)
    return label, bool(tally.valid_ballots) and not tally.unanimous


def unanimous(verdicts: list[Verdict], *, fallback: str = "UNCLEAR") -> tuple[str, bool]:
    """Return the label on which all agree, and whether they disagree.

    Args:
        verdicts: in the critics' order.
        fallback: the label if they disagree, or if there are no votes.
    """
    label, tally = counted(Unanimous(on="label"), verdicts, fallback)
    return label, not tally.unanimous


def agreement_pct(verdicts: list[Verdict], consensus: str) -> float:
    """Return the share (0..1) of the verdicts without error that are the consensus; 0.0 if there are none."""
    return verdict_measures.agreement_pct(as_jury_verdict(verdicts, consensus))


def krippendorff_alpha(verdicts: list[Verdict]) -> float | None:
    """Return exactly 1.0 if all agree, 0.0 if not, None below two verdicts without error.

    On a single query, alpha has no further meaning. It measures the critics if there are many queries::

        from jury_adapters.statistics import krippendorff_alpha

        krippendorff_alpha([v.kind for v in r.verdicts if v.error is None] for r in results).value
    """
    return as_jury_verdict(verdicts).krippendorff_alpha


VOTING_STRATEGIES: dict[str, VotingStrategy] = {"majority": majority_vote, "unanimous": unanimous}


def get_voting_strategy(name_or_fn: str | VotingStrategy) -> VotingStrategy:
    """Return a strategy by name, or the function itself.

    Raises:
        KeyError: there is no strategy of that name.
    """
    if callable(name_or_fn):
        return name_or_fn
    found = VOTING_STRATEGIES.get(str(name_or_fn).lower())
    if found is None:
        raise KeyError(f"Unknown voting strategy '{name_or_fn}'. Known: {sorted(VOTING_STRATEGIES)}.")
    return found
