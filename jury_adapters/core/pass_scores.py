"""Threshold of a vote on scores: the score from which the jurors themselves pass."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias, cast

from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.formatting import clip
from jury_adapters.core.tolerance import equal
from jury_adapters.core.voting import STRATEGIES, Voting, VotingOptions
from jury_adapters.core.voting.registry import normal_name

PassScores: TypeAlias = frozenset[float]

_MOST_NAMED = 6


def with_threshold_of_jurors(
    voting: Voting, options: VotingOptions, jurors: Iterable[tuple[str, PassScores]]
) -> VotingOptions:
    """Return the options of a voting rule, with the threshold of its jurors where the rule needs one.

    A rule on scores that is given by name, and without ``threshold=``, passes from the score from which its jurors
    pass. So three ratings that all fail cannot pass by their average. Jurors without such a score, which say PASS or
    FAIL, fit every threshold. If no juror has one, the rule keeps its own default.

    Args:
        voting: the rule; an object and a function keep what they have.
        options: the options that were given.
        jurors: the name of each juror with its :attr:`jury_adapters.Judge.pass_scores`.

    Raises:
        ConfigurationError: the jurors pass from different scores, so that no threshold decides as they do.
    """
    rule = STRATEGIES.get(normal_name(voting)) if isinstance(voting, str) else None
    if rule is None or not rule.threshold_of_jurors or "threshold" in options:
        return options
    by_juror = [(name, scores) for name, scores in jurors if scores]
    found = [score for _, scores in by_juror for score in sorted(scores)]
    if not found:
        return options
    if not all(equal(score, found[0]) for score in found):
        raise ConfigurationError(_conflict(rule.name, by_juror))
    return cast(VotingOptions, {**cast(dict[str, Any], options), "threshold": found[0]})


def _conflict(rule: str, by_juror: list[tuple[str, PassScores]]) -> str:
    told = [f"{clip(name, 60)} from {' and '.join(f'{score:.3g}' for score in sorted(s))}" for name, s in by_juror]
    listed = ", ".join([*told[:_MOST_NAMED], *(["..."] if len(told) > _MOST_NAMED else [])])
    return (
        f"the jurors pass from different scores ({listed}), so the rule {rule} does not know from which score the jury "
        "passes; give threshold=, a score from 0 to 1, or let their own PASS and FAIL vote with voting='majority'"
    )
