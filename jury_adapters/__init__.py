"""Juries of LLM judges.

Importing this package loads no further module: each name is loaded when it is first used. Other names are in
``jury_adapters.checks`` (judges that ask no model), ``.results``, ``.voting``, ``.statistics``,
``.calibration``, ``.models``, ``.observability``, ``.replay``, and the adapters ``.langchain`` and ``.llama_index``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jury_adapters.config import load_jury
    from jury_adapters.core.background.judge_queue import JudgeQueue
    from jury_adapters.core.budget import Budget
    from jury_adapters.core.cascade import CascadedJury, Tier
    from jury_adapters.core.case import Case
    from jury_adapters.core.case_parts import Message, Step
    from jury_adapters.core.cost_estimate import CostEstimate
    from jury_adapters.core.ensemble import Ensemble
    from jury_adapters.core.errors import ConfigurationError, GateFailed, InputError, JuryError, ModelError
    from jury_adapters.core.function_judge import judge
    from jury_adapters.core.images import Image
    from jury_adapters.core.judge import Judge
    from jury_adapters.core.judgment import Judgment, Status, abstain
    from jury_adapters.core.jury import Jury
    from jury_adapters.core.scorecard import Scorecard
    from jury_adapters.core.tier_policies import escalate_below
    from jury_adapters.core.usage import Usage
    from jury_adapters.core.verdict import Verdict
    from jury_adapters.critic.answers import Labels, Scale
    from jury_adapters.critic.critic import Critic
    from jury_adapters.critic.pairwise import PairwiseCritic
    from jury_adapters.critic.rubric import Rubric
    from jury_adapters.grounding.screen import grounding_screen
    from jury_adapters.judges.llm import rag_jury
    from jury_adapters.judges.presets import panel
    from jury_adapters.models.limits import Limits
    from jury_adapters.report.report import Report
    from jury_adapters.store.sqlite import Store

__version__ = "0.2.0"

__all__ = [
    "Budget",
    "CascadedJury",
    "Case",
    "ConfigurationError",
    "CostEstimate",
    "Critic",
    "Ensemble",
    "GateFailed",
    "Image",
    "InputError",
    "Judge",
    "JudgeQueue",
    "Judgment",
    "Jury",
    "JuryError",
    "Labels",
    "Limits",
    "Message",
    "ModelError",
    "PairwiseCritic",
    "Report",
    "Rubric",
    "Scale",
    "Scorecard",
    "Status",
    "Step",
    "Store",
    "Tier",
    "Usage",
    "Verdict",
    "abstain",
    "escalate_below",
    "grounding_screen",
    "judge",
    "load_jury",
    "panel",
    "rag_jury",
]

_HOMES = {
    "config": ("load_jury",),
    "core.background.judge_queue": ("JudgeQueue",),
    "core.budget": ("Budget",),
    "core.cascade": ("CascadedJury", "Tier"),
    "core.case": ("Case",),
    "core.case_parts": ("Message", "Step"),
    "core.cost_estimate": ("CostEstimate",),
    "core.ensemble": ("Ensemble",),
    "core.errors": ("ConfigurationError", "GateFailed", "InputError", "JuryError", "ModelError"),
    "core.images": ("Image",),
    "core.tier_policies": ("escalate_below",),
    "core.function_judge": ("judge",),
    "core.judge": ("Judge",),
    "core.judgment": ("Judgment", "Status", "abstain"),
    "core.jury": ("Jury",),
    "core.scorecard": ("Scorecard",),
    "core.usage": ("Usage",),
    "core.verdict": ("Verdict",),
    "critic.answers": ("Labels", "Scale"),
    "critic.critic": ("Critic",),
    "critic.pairwise": ("PairwiseCritic",),
    "critic.rubric": ("Rubric",),
    "grounding.screen": ("grounding_screen",),
    "judges.llm": ("rag_jury",),
    "judges.presets": ("panel",),
    "models.limits": ("Limits",),
    "report.report": ("Report",),
    "store.sqlite": ("Store",),
}
_HOME_OF = {name: f"{__name__}.{module}" for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
