"""Voting: the strategies behind ``Ensemble(voting=...)``, and judges that combine judges by a logical rule.

A strategy is given by its name and options, or as an object:

>>> from jury_adapters import Ensemble
>>> from jury_adapters.checks import LengthBetween, NotEmpty
>>> from jury_adapters.voting import Quorum, any_of
>>> Ensemble([NotEmpty(), LengthBetween(maximum=2)], voting=Quorum(quorum=0.5)).judge(answer="Yes.").status.value
'PASS'
>>> any_of(NotEmpty(), LengthBetween(maximum=2)).judge(answer="Yes.").status.value
'PASS'
"""

from jury_adapters.core.combinators import all_of, any_of
from jury_adapters.core.voting import Voting, VotingOptions
from jury_adapters.core.voting.base import ErrorPolicy, VoteResult, VotingStrategy
from jury_adapters.core.voting.custom import FunctionVote
from jury_adapters.core.voting.rules.average import Average
from jury_adapters.core.voting.rules.bayes import Bayes
from jury_adapters.core.voting.rules.first_disagreement import FirstDisagreement
from jury_adapters.core.voting.rules.k_veto import KVeto
from jury_adapters.core.voting.rules.majority import Majority
from jury_adapters.core.voting.rules.median import Median
from jury_adapters.core.voting.rules.quorum import Quorum
from jury_adapters.core.voting.rules.unanimous import Unanimous
from jury_adapters.core.voting.rules.weighted import Weighted
from jury_adapters.core.voting.rules.weighted_average import WeightedAverage

__all__ = [
    "Average",
    "Bayes",
    "ErrorPolicy",
    "FirstDisagreement",
    "FunctionVote",
    "KVeto",
    "Majority",
    "Median",
    "Quorum",
    "Unanimous",
    "VoteResult",
    "Voting",
    "VotingOptions",
    "VotingStrategy",
    "Weighted",
    "WeightedAverage",
    "all_of",
    "any_of",
]
