"""The API of the package cross-judge 0.1.0: same names, arguments, results and messages to the model.

A migration takes one import line. All critics of an ensemble are asked at once, temporary failures are tried again, and
:meth:`Critic.as_judge` makes a critic a judge of this package, for cascades, stores, budgets and other voting rules.
What differs is wrong in cross-judge:

- Alpha of one query is exactly 1.0 or 0.0. (There, what should be 0 is a rounding error, which may be negative.)
- A template must not read attributes: ``{settings.api_key}`` would put the key into the prompt.
- A reply that cannot be JSON in any way is ``PARSE_FAIL``, also where parsing crashes there. A confidence that is not a
  number is 0.0, and a null counts as if its key were not there.
- A critic of the caller's own class that raises is an ``ERROR``, and the others vote. A bad template still raises.
- A panel with the strategy ``weighted`` uses ``Reviewer.weight``. Weights are numbers from 0, and equal sums are a tie.

Only here a critic has a default vendor, DeepSeek, as there.
"""

from jury_adapters.compat.cross_judge.core import VENDOR_DEFAULTS, Critic, Ensemble
from jury_adapters.compat.cross_judge.reviewer import (
    VENDORS,
    JudgePanel,
    Reviewer,
    VendorConfig,
    get_vendor,
    make_client,
)
from jury_adapters.compat.cross_judge.verdict import (
    EnsembleResult,
    EnsembleVerdict,
    LegacyVerdict,
    Verdict,
    VerdictKind,
)
from jury_adapters.compat.cross_judge.voting import (
    VOTING_STRATEGIES,
    AggregationStrategy,
    VotingStrategy,
    agreement_pct,
    avg_confidence,
    first_disagreement,
    get_strategy,
    get_voting_strategy,
    krippendorff_alpha,
    majority,
    majority_vote,
    unanimous,
    weighted,
)

__version__ = "0.1.0"  # of the API that this package provides
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
