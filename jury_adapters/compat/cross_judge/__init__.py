"""The API of the package cross-judge 0.1.0, based on the critics, juries and votes of this package.

Migration takes one import line: ``from jury_adapters.compat.cross_judge import Critic, Ensemble``. Every public name is
here under the same submodule, with the same arguments and the same results; ``cookbook/cross_judge.md`` lists the
differences, all of them where cross-judge is wrong. Only here, a critic without a vendor uses deepseek.

New features: all critics of a panel are asked concurrently, temporary failures are retried, and
:meth:`Critic.as_judge` makes a critic a judge of this package, for cascades, budgets and stores.

    >>> from jury_adapters.compat.cross_judge import Critic, Ensemble
    >>> critics = [Critic("strict", "deepseek-chat"), Critic("second", "gpt-4o-mini", vendor="openai")]
    >>> Ensemble(critics).judge("Is a whale a fish?").consensus  # doctest: +SKIP
    'REJECT'
"""

from __future__ import annotations

from jury_adapters.compat.cross_judge.aggregation import (
    AggregationStrategy,
    avg_confidence,
    first_disagreement,
    get_strategy,
    majority,
    weighted,
)
from jury_adapters.compat.cross_judge.core import VENDOR_DEFAULTS, Critic
from jury_adapters.compat.cross_judge.ensemble import Ensemble
from jury_adapters.compat.cross_judge.panel import JudgePanel
from jury_adapters.compat.cross_judge.reviewer import Reviewer
from jury_adapters.compat.cross_judge.schema import EnsembleResult
from jury_adapters.compat.cross_judge.schema import Verdict as LegacyVerdict
from jury_adapters.compat.cross_judge.vendors import VENDORS, VendorConfig, get_vendor, make_client
from jury_adapters.compat.cross_judge.verdict import EnsembleVerdict, Verdict, VerdictKind
from jury_adapters.compat.cross_judge.voting import (
    VOTING_STRATEGIES,
    VotingStrategy,
    agreement_pct,
    get_voting_strategy,
    krippendorff_alpha,
    majority_vote,
    unanimous,
)

__version__ = "0.1.0"  # version of the API that this package provides

__all__ = [
    "VENDORS",
    "VENDOR_DEFAULTS",
    "VOTING_STRATEGIES",
    "AggregationStrategy",
    "Critic",
    "Ensemble",
    "EnsembleResult",
    "EnsembleVerdict",
    "JudgePanel",
    "LegacyVerdict",
    "Reviewer",
    "VendorConfig",
    "Verdict",
    "VerdictKind",
    "VotingStrategy",
    "__version__",
    "agreement_pct",
    "avg_confidence",
    "first_disagreement",
    "get_strategy",
    "get_vendor",
    "get_voting_strategy",
    "krippendorff_alpha",
    "majority",
    "majority_vote",
    "make_client",
    "unanimous",
    "weighted",
]
