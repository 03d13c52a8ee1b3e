"""Voting strategies: rules that combine judgments into one.

Each strategy is a frozen dataclass with a pure ``tally(judgments, weights)``. Its ``settled`` says whether the missing
votes could still change the outcome. The named rules are the files of ``rules/``; :mod:`.registry` finds them. The
population rule, which decides who votes and applies to all strategies, is in :mod:`.base`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, Unpack

from jury_adapters.core.errors import ConfigurationError, unknown
from jury_adapters.core.voting.base import ErrorPolicy, VoteResult, VotingStrategy, weights_in_order
from jury_adapters.core.voting.custom import FunctionVote
from jury_adapters.core.voting.names import VotingName, VotingOptions
from jury_adapters.core.voting.registry import STRATEGIES, normal_name, options_of
from jury_adapters.core.voting.shares import parse_share

__all__ = [
    "STRATEGIES", "ErrorPolicy", "FunctionVote", "VoteResult", "Voting", "VotingName", "VotingOptions",
    "VotingStrategy", "options_of", "parse_share", "resolve", "weights_in_order",
]  # fmt: skip

Voting: TypeAlias = VotingName | VotingStrategy | Callable[..., Any]


def resolve(voting: Voting | str, **options: Unpack[VotingOptions]) -> VotingStrategy:
    """Return the strategy for a name (in any case) or a function; return a strategy object unchanged.

    Raises:
        ConfigurationError: the name is unknown, the strategy does not have an option, or a required one is missing.

    >>> resolve("Quorum", quorum="2/3").name
    'quorum'
    """
    if isinstance(voting, VotingStrategy):
        if options:
            raise ConfigurationError(f"give {', '.join(options)} to {type(voting).__name__}(...) itself")
        return voting
    if isinstance(voting, str):
        kind = STRATEGIES.get(normal_name(voting))
        if kind is None:
            raise ConfigurationError(unknown("voting strategy", voting, STRATEGIES))
        given: dict[str, Any] = dict(options)
    else:
        kind, given = FunctionVote, {"function": voting, **options}
    known = options_of(kind)
    ignored = [name for name in given if name not in known]
    if ignored:
        raise ConfigurationError(unknown(f"option of {voting if isinstance(voting, str) else 'a function'}", ignored[0],
                                         [name for name in known if name != "function"]))  # fmt: skip
    for option in known.values():
        if option.required and option.name not in given:
            raise ConfigurationError(
                f"{voting} needs {option.name}=, {option.about.partition('. ')[0].replace('``', '')}"
            )
    return kind(**given)
