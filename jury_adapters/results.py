"""Parts of results: what judgments, verdicts and judged runs consist of. Import them for annotations and tests.

>>> from jury_adapters.results import JudgedRun
>>> def report_failure(judged: JudgedRun) -> None:
...     if not judged.judgment.passed:
...         print(judged.run.name, judged.judgment.reasoning)
"""

from jury_adapters.core.claims import Claim
from jury_adapters.core.cost_estimate import CostEstimateRow
from jury_adapters.core.gates import GateResult
from jury_adapters.core.judgment import Finding
from jury_adapters.core.runs import JudgedRun, Run
from jury_adapters.core.tally import Tally
from jury_adapters.core.tier_policies import TierPolicy
from jury_adapters.core.verdict import TierResult

__all__ = ["Claim", "CostEstimateRow", "Finding", "GateResult", "JudgedRun", "Run", "Tally", "TierPolicy", "TierResult"]
