"""Strategies of critics and reviewers, and measures of agreement.

A strategy takes verdicts and options. It returns the label that won, and whether the verdicts without an error differ.
"""

from collections.abc import Callable, Mapping, Sequence

from jury_adapters.compat.cross_judge.verdict import AnyVerdict
from jury_adapters.core.values import ConfigurationError
from jury_adapters.core.votes import Majority, Rule, Unanimous, Vote

VotingStrategy = Callable[..., tuple[str, bool]]
AggregationStrategy = VotingStrategy


def majority_vote(
    verdicts: Sequence[AnyVerdict], *, priority: Sequence[str] | None = None, fallback: str = "UNCLEAR"
) -> tuple[str, bool]:
    """Return the most frequent label; a tie goes by ``priority``, then to the label that was given first."""
    valid = _valid(verdicts)
    rule = Majority(tie="first", priority=tuple(map(_ballot, priority or ())))
    return _won(rule, valid, fallback), len(_labels(valid)) > 1


def majority(
    verdicts: Sequence[AnyVerdict], *, priority: Sequence[str] | None = None, fallback: str = "UNCLEAR"
) -> tuple[str, bool]:
    """Return the most frequent label, like :func:`majority_vote`."""
    return majority_vote(verdicts, priority=priority, fallback=fallback)


def unanimous(verdicts: Sequence[AnyVerdict], *, fallback: str = "UNCLEAR") -> tuple[str, bool]:
    """Return the label of all, else ``fallback``; without a label that is a disagreement, as in cross-judge."""
    valid = _valid(verdicts)
    return _won(Unanimous(on_split="abstain"), valid, fallback), len(_labels(valid)) != 1


def first_disagreement(
    verdicts: Sequence[AnyVerdict], *, disagree_label: str = "DISAGREE", fallback: str = "UNCLEAR"
) -> tuple[str, bool]:
    """Return the label of all, ``disagree_label`` if they differ, and ``fallback`` if there is none."""
    labels = _labels(_valid(verdicts))
    return (disagree_label, True) if len(labels) > 1 else (next(iter(labels), fallback), False)


def weighted(
    verdicts: Sequence[AnyVerdict],
    *,
    weights: Mapping[str, float] | None = None,
    use_confidence: bool = True,
    fallback: str = "UNCLEAR",
) -> tuple[str, bool]:
    """Return the label with the largest sum of weight times confidence; a tie goes to the label given first.

    Args:
        verdicts: the verdicts.
        weights: weights from 0 by reviewer; 1.0 for those that are not listed.
        use_confidence: whether confidences count.
        fallback: the label without any weight.

    Raises:
        ConfigurationError: a weight is no number from 0.
    """
    found = {name: float(weight) for name, weight in (weights or {}).items()}
    if not all(0 <= weight < float("inf") for weight in found.values()):
        raise ConfigurationError(f"weights= has numbers from 0, not {weights!r}")
    valid, rule = _valid(verdicts), Majority(tie="first", use_confidence=use_confidence)
    return _won(rule, valid, fallback, found), len(_labels(valid)) > 1


def agreement_pct(verdicts: Sequence[AnyVerdict], consensus: str) -> float:
    """Return the share of the verdicts without an error that equals the consensus, 0..1; 0.0 without any."""
    valid = _valid(verdicts)
    return sum(one.verdict == consensus for one in valid) / len(valid) if valid else 0.0


def avg_confidence(verdicts: Sequence[AnyVerdict]) -> float:
    """Return the mean confidence of the verdicts without an error, 0..1; 0.0 without any."""
    valid = _valid(verdicts)
    return sum(one.confidence for one in valid) / len(valid) if valid else 0.0


def krippendorff_alpha(verdicts: Sequence[AnyVerdict]) -> float | None:
    """Return 1.0 if all verdicts without an error are alike, else 0.0; None below two.

    The observed and the expected disagreement of one query are the same number, so alpha says no more. Over many
    queries, use :func:`jury_adapters.voting.krippendorff_alpha`.
    """
    valid = _valid(verdicts)
    return None if len(valid) < 2 else float(len(_labels(valid)) == 1)


VOTING_STRATEGIES: dict[str, VotingStrategy] = {"majority": majority_vote, "unanimous": unanimous}
STRATEGIES: dict[str, AggregationStrategy] = {
    "majority": majority,
    "unanimous": unanimous,
    "weighted": weighted,
    "first_disagreement": first_disagreement,
}


def get_voting_strategy(name_or_fn: str | VotingStrategy) -> VotingStrategy:
    """Return a strategy of critics by its name; a function unchanged.

    Raises:
        KeyError: there is no strategy of this name.
    """
    return _strategy(name_or_fn, VOTING_STRATEGIES, "voting strategy")


def get_strategy(name_or_fn: str | AggregationStrategy) -> AggregationStrategy:
    """Return a strategy of reviewers by its name; a function unchanged.

    Raises:
        KeyError: there is no strategy of this name.
    """
    return _strategy(name_or_fn, STRATEGIES, "strategy")


def _strategy(given: str | VotingStrategy, known: Mapping[str, VotingStrategy], what: str) -> VotingStrategy:
    if not isinstance(given, str):
        return given
    if given.lower() not in known:
        raise KeyError(f"Unknown {what} '{given}'. Known: {sorted(known)}.")
    return known[given.lower()]


def name_of(strategy: str | VotingStrategy) -> str:
    """Return the name of a strategy, for results."""
    return strategy if isinstance(strategy, str) else getattr(strategy, "__name__", "custom")


def _valid(verdicts: Sequence[AnyVerdict]) -> list[AnyVerdict]:
    return [one for one in verdicts if one.error is None]


def _labels(verdicts: Sequence[AnyVerdict]) -> dict[str, None]:
    return dict.fromkeys(one.verdict for one in verdicts)


def _won(rule: Rule, verdicts: Sequence[AnyVerdict], fallback: str, weights: Mapping[str, float] = {}) -> str:
    """Return the label that wins by a rule of this package."""
    votes = [
        Vote(place, _ballot(one.verdict), 0.0, one.confidence, weights.get(one.reviewer_id, 1.0))
        for place, one in enumerate(verdicts)
    ]
    won = rule.count(votes).label if votes else None
    return fallback if won is None else won.removeprefix("=")


def _ballot(label: str) -> str:
    """Return a label as a ballot; the sign keeps PASS, FAIL and a blank label from meaning anything."""
    return f"={label}"
