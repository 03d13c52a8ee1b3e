"""Voting strategies: rules that turn judgments into one.

Each is a frozen dataclass with a pure ``tally(judgments, weights)``, and can say whether the jurors still out could
change the outcome (``settled``). The population rule, one for all of them, is in :mod:`.base`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any, Literal, TypeAlias, TypedDict, Unpack

from jury_adapters.core.errors import ConfigurationError, unknown
from jury_adapters.core.voting.ballots import FirstDisagreement, Majority, On, TiePolicy, Unanimous, Weighted
from jury_adapters.core.voting.base import ErrorPolicy, VoteResult, VotingStrategy, weights_in_order
from jury_adapters.core.voting.bayes import Bayes, Reliability
from jury_adapters.core.voting.custom import FunctionVote
from jury_adapters.core.voting.kveto import KVeto
from jury_adapters.core.voting.scores import Average, Median, Quorum, WeightedAverage
from jury_adapters.core.voting.shares import Share, parse_share

__all__ = [
    "STRATEGIES", "Average", "Bayes", "ErrorPolicy", "FirstDisagreement", "FunctionVote", "KVeto", "Majority", "Median",
    "Quorum", "Unanimous", "VoteResult", "Voting", "VotingName", "VotingOptions", "VotingStrategy", "Weighted",
    "WeightedAverage", "parse_share", "resolve", "weights_in_order",
]  # fmt: skip

VotingName: TypeAlias = Literal[
    "majority", "plurality", "unanimous", "consensus", "average", "weighted_average", "median", "quorum", "weighted",
    "first_disagreement", "bayes", "k_veto",
]  # fmt: skip
Voting: TypeAlias = VotingName | VotingStrategy | Callable[..., Any]

STRATEGIES: dict[str, type[VotingStrategy]] = {
    "majority": Majority,
    "plurality": Majority,
    "unanimous": Unanimous,
    "consensus": Unanimous,
    "average": Average,
    "weighted_average": WeightedAverage,
    "median": Median,
    "quorum": Quorum,
    "weighted": Weighted,
    "first_disagreement": FirstDisagreement,
    "bayes": Bayes,
    "k_veto": KVeto,
}


class VotingOptions(TypedDict, total=False):
    """Every option of every built-in strategy; each strategy takes its own and refuses the others."""

    errors: ErrorPolicy
    min_valid: int
    on: On
    tie: TiePolicy
    priority: Sequence[str]
    min_share: Share
    fallback: str
    disagree_label: str
    error_label: str
    on_split: Literal["fail", "abstain"]
    threshold: float
    quorum: Share
    use_confidence: bool
    reliabilities: Mapping[str, Reliability] | Sequence[Reliability]
    prior: float
    k: int


def resolve(voting: Voting | str, **options: Unpack[VotingOptions]) -> VotingStrategy:
    """The strategy of a name (in any case), a ready strategy, or a function.

    Raises:
        ConfigurationError: an unknown name, or an option the strategy does not have.

    >>> resolve("Quorum", quorum="2/3").name
    'quorum'
    """
    if isinstance(voting, VotingStrategy):
        if options:
            raise ConfigurationError(f"give {', '.join(options)} to {type(voting).__name__}(...) itself")
        return voting
    if isinstance(voting, str):
        kind = STRATEGIES.get(voting.strip().lower().replace("-", "_"))
        if kind is None:
            raise ConfigurationError(unknown("voting strategy", voting, STRATEGIES))
        given: dict[str, Any] = dict(options)
    else:
        kind, given = FunctionVote, {"function": voting, **options}
    known = [f.name for f in fields(kind) if f.init]
    ignored = [name for name in given if name not in known]
    if ignored:
        raise ConfigurationError(unknown(f"option of {voting if isinstance(voting, str) else 'a function'}", ignored[0],
                                         [name for name in known if name != "function"]))  # fmt: skip
    if kind is Bayes and "reliabilities" not in given:
        raise ConfigurationError("bayes needs reliabilities=, one per juror: {'gpt': 0.9, 'claude': (0.95, 0.8)}")
    return kind(**given)
