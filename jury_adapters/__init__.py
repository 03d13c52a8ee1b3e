"""Juries of LLM judges for LangChain and LlamaIndex.

A :class:`Judge` judges a :class:`Case` and returns a :class:`Judgment`. A :class:`Critic` asks a language model. An
:class:`Ensemble`, a :class:`Scorecard` and a :class:`CascadedJury` are judges made of judges. Names are loaded when
they are used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # for type checkers and editors; a test holds it to the table below
    from jury_adapters.config.jury_file import load_jury
    from jury_adapters.core.asking import JudgedRun
    from jury_adapters.core.budget import Budget
    from jury_adapters.core.cascade import CascadedJury, Tier
    from jury_adapters.core.case import Case, Image, Message, Step
    from jury_adapters.core.combinators import all_of, any_of
    from jury_adapters.core.ensemble import Ensemble, Scorecard
    from jury_adapters.core.estimate import CostEstimate
    from jury_adapters.core.judge import Check, Judge, judge
    from jury_adapters.core.judgment import Finding, Judgment, Status, Usage, Verdict, abstain
    from jury_adapters.core.queue import JudgeQueue
    from jury_adapters.core.results import Result, ResultsFile, read_results
    from jury_adapters.core.values import ConfigurationError, GateFailed, InputError, JuryError
    from jury_adapters.critic.answers import Labels, Scale
    from jury_adapters.critic.critic import Critic
    from jury_adapters.critic.pairwise import PairwiseCritic
    from jury_adapters.critic.recorded import RecordedCritic
    from jury_adapters.critic.rubric import Rubric
    from jury_adapters.inputs.run import Run, default_case
    from jury_adapters.judges.external import from_evaluator
    from jury_adapters.judges.panels import panel, rag_jury
    from jury_adapters.judges.turns import EachTurn
    from jury_adapters.models.base import ModelError
    from jury_adapters.models.limits import Limits
    from jury_adapters.models.names import open_model
    from jury_adapters.report.report import Report
    from jury_adapters.store import ReadOnly, Store, open_store

_NAMES = {
    "config.jury_file": "load_jury",
    "core.asking": "JudgedRun",
    "core.budget": "Budget",
    "core.cascade": "CascadedJury Tier",
    "core.case": "Case Image Message Step",
    "core.combinators": "all_of any_of",
    "core.ensemble": "Ensemble Scorecard",
    "core.estimate": "CostEstimate",
    "core.judge": "Check Judge judge",
    "core.judgment": "Finding Judgment Status Usage Verdict abstain",
    "core.queue": "JudgeQueue",
    "core.results": "Result ResultsFile read_results",
    "core.values": "ConfigurationError GateFailed InputError JuryError",
    "critic.answers": "Labels Scale",
    "critic.critic": "Critic",
    "critic.pairwise": "PairwiseCritic",
    "critic.recorded": "RecordedCritic",
    "critic.rubric": "Rubric",
    "inputs.run": "Run default_case",
    "judges.external": "from_evaluator",
    "judges.panels": "panel rag_jury",
    "judges.turns": "EachTurn",
    "models.base": "ModelError",
    "models.limits": "Limits",
    "models.names": "open_model",
    "report.report": "Report",
    "store": "ReadOnly Store open_store",
}
_HOMES = {name: f"{__name__}.{module}" for module, names in _NAMES.items() for name in names.split()}
__all__ = [
    "Budget",
    "CascadedJury",
    "Case",
    "Check",
    "ConfigurationError",
    "CostEstimate",
    "Critic",
    "EachTurn",
    "Ensemble",
    "Finding",
    "GateFailed",
    "Image",
    "InputError",
    "Judge",
    "JudgeQueue",
    "JudgedRun",
    "Judgment",
    "JuryError",
    "Labels",
    "Limits",
    "Message",
    "ModelError",
    "PairwiseCritic",
    "ReadOnly",
    "RecordedCritic",
    "Report",
    "Result",
    "ResultsFile",
    "Rubric",
    "Run",
    "Scale",
    "Scorecard",
    "Status",
    "Step",
    "Store",
    "Tier",
    "Usage",
    "Verdict",
    "abstain",
    "all_of",
    "any_of",
    "default_case",
    "from_evaluator",
    "judge",
    "load_jury",
    "open_model",
    "open_store",
    "panel",
    "rag_jury",
    "read_results",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return found


def __dir__() -> list[str]:
    return [*__all__]
