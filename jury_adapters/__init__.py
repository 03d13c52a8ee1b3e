"""Juries of LLM judges.

Importing this package loads no further module: each name is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jury_adapters.core.agreement import Alpha, krippendorff_alpha, pairwise_agreement
    from jury_adapters.core.background.judge_queue import JudgeQueue
    from jury_adapters.core.budget import Budget
    from jury_adapters.core.cascade import CascadedJury, Tier
    from jury_adapters.core.case import Case
    from jury_adapters.core.case_parts import Message, Step
    from jury_adapters.core.combinators import all_of, always_fail, always_pass, any_of
    from jury_adapters.core.context import judging
    from jury_adapters.core.cost_estimate import CostEstimate, CostEstimateRow
    from jury_adapters.core.ensemble import Ensemble, combine
    from jury_adapters.core.errors import ConfigurationError, GateFailed, InputError, JuryError, ModelError
    from jury_adapters.core.escalation import Policy, TierPolicy, escalate_below
    from jury_adapters.core.function_judge import judge
    from jury_adapters.core.judge import Judge, PlainJudge
    from jury_adapters.core.judgment import Check, Judgment, Status, abstain
    from jury_adapters.core.jury import Jury
    from jury_adapters.core.model_families import family_of
    from jury_adapters.core.runs import JudgedRun, Run
    from jury_adapters.core.scorecard import Scorecard
    from jury_adapters.core.tally import Tally
    from jury_adapters.core.transcript import Transcript
    from jury_adapters.core.usage import Usage
    from jury_adapters.core.values import normalise_score
    from jury_adapters.core.verdict import TierResult, Verdict, needs_review
    from jury_adapters.critic.answers import Labels, Scale
    from jury_adapters.critic.critic import Critic
    from jury_adapters.critic.decision import DecisionCritic
    from jury_adapters.critic.pairwise import PairwiseCritic
    from jury_adapters.critic.recorded import RecordedCritic, recorded_jury
    from jury_adapters.critic.rubric import Rubric
    from jury_adapters.judges.commands import BuildPasses, Command, TestsPass
    from jury_adapters.judges.coverage import CoverageImproved, CoverageKept
    from jury_adapters.judges.diffs import compares
    from jury_adapters.judges.files import DirectorySuperset, FileContent, FileExists, FilesMatch
    from jury_adapters.judges.llm import rag_jury
    from jury_adapters.judges.rag import (
        ContextRelevance,
        NamesAndNumbers,
        SentenceAlignment,
        SentenceSupport,
        Undecided,
        grounding_screen,
    )
    from jury_adapters.judges.text import (
        Contains,
        Equals,
        LengthBetween,
        Matches,
        NotEmpty,
        RefusalCheck,
        ValidJSON,
    )
    from jury_adapters.judges.toolcalls import ToolCall
    from jury_adapters.judges.trajectory import (
        CostLimit,
        FinalAnswer,
        ForbiddenTools,
        NoToolErrors,
        StepLimit,
        ToolCalls,
    )
    from jury_adapters.models.batches.model import BatchModel
    from jury_adapters.models.prices import set_price
    from jury_adapters.models.retries import Limits
    from jury_adapters.observe import trace_juries
    from jury_adapters.progress import progress_bar
    from jury_adapters.sinks import log_verdicts, otel_events
    from jury_adapters.store.sqlite import Store

__version__ = "0.1.0"

__all__ = [
    "Alpha",
    "BatchModel",
    "Budget",
    "BuildPasses",
    "CascadedJury",
    "Case",
    "Check",
    "Command",
    "ConfigurationError",
    "Contains",
    "ContextRelevance",
    "CostEstimate",
    "CostEstimateRow",
    "CostLimit",
    "CoverageImproved",
    "CoverageKept",
    "Critic",
    "DecisionCritic",
    "DirectorySuperset",
    "Ensemble",
    "Equals",
    "FileContent",
    "FileExists",
    "FilesMatch",
    "FinalAnswer",
    "ForbiddenTools",
    "GateFailed",
    "InputError",
    "Judge",
    "JudgeQueue",
    "JudgedRun",
    "Judgment",
    "Jury",
    "JuryError",
    "Labels",
    "LengthBetween",
    "Limits",
    "Matches",
    "Message",
    "ModelError",
    "NamesAndNumbers",
    "NoToolErrors",
    "NotEmpty",
    "PairwiseCritic",
    "PlainJudge",
    "Policy",
    "RecordedCritic",
    "RefusalCheck",
    "Rubric",
    "Run",
    "Scale",
    "Scorecard",
    "SentenceAlignment",
    "SentenceSupport",
    "Status",
    "Step",
    "StepLimit",
    "Store",
    "Tally",
    "TestsPass",
    "Tier",
    "TierPolicy",
    "TierResult",
    "ToolCall",
    "ToolCalls",
    "Transcript",
    "Undecided",
    "Usage",
    "ValidJSON",
    "Verdict",
    "abstain",
    "all_of",
    "always_fail",
    "always_pass",
    "any_of",
    "combine",
    "compares",
    "escalate_below",
    "family_of",
    "grounding_screen",
    "judge",
    "judging",
    "krippendorff_alpha",
    "log_verdicts",
    "needs_review",
    "normalise_score",
    "otel_events",
    "pairwise_agreement",
    "progress_bar",
    "rag_jury",
    "recorded_jury",
    "set_price",
    "trace_juries",
]

_HOMES = {
    "core.agreement": ("Alpha", "krippendorff_alpha", "pairwise_agreement"),
    "core.budget": ("Budget",),
    "core.cascade": ("CascadedJury", "Tier"),
    "core.case": ("Case",),
    "core.case_parts": ("Message", "Step"),
    "core.combinators": ("all_of", "always_fail", "always_pass", "any_of"),
    "core.background.judge_queue": ("JudgeQueue",),
    "core.ensemble": ("Ensemble", "combine"),
    "core.errors": ("ConfigurationError", "GateFailed", "InputError", "JuryError", "ModelError"),
    "core.escalation": ("Policy", "TierPolicy", "escalate_below"),
    "core.model_families": ("family_of",),
    "core.function_judge": ("judge",),
    "core.judge": ("Judge", "PlainJudge"),
    "core.judgment": ("Check", "Judgment", "Status", "abstain"),
    "core.usage": ("Usage",),
    "core.jury": ("Jury",),
    "core.cost_estimate": ("CostEstimate", "CostEstimateRow"),
    "core.runs": ("JudgedRun", "Run"),
    "core.scorecard": ("Scorecard",),
    "core.context": ("judging",),
    "core.tally": ("Tally",),
    "core.transcript": ("Transcript",),
    "core.values": ("normalise_score",),
    "core.verdict": ("TierResult", "Verdict", "needs_review"),
    "critic.critic": ("Critic",),
    "critic.decision": ("DecisionCritic",),
    "critic.pairwise": ("PairwiseCritic",),
    "critic.recorded": ("RecordedCritic", "recorded_jury"),
    "critic.rubric": ("Rubric",),
    "critic.answers": ("Labels", "Scale"),
    "judges.commands": ("BuildPasses", "Command", "TestsPass"),
    "judges.coverage": ("CoverageImproved", "CoverageKept"),
    "judges.diffs": ("compares",),
    "judges.files": ("DirectorySuperset", "FileContent", "FileExists", "FilesMatch"),
    "judges.llm": ("rag_jury",),
    "judges.rag": (
        "ContextRelevance", "NamesAndNumbers", "SentenceAlignment", "SentenceSupport", "Undecided", "grounding_screen",
    ),
    "judges.text": ("Contains", "Equals", "LengthBetween", "Matches", "NotEmpty", "RefusalCheck", "ValidJSON"),
    "judges.toolcalls": ("ToolCall",),
    "judges.trajectory": ("CostLimit", "FinalAnswer", "ForbiddenTools", "NoToolErrors", "StepLimit", "ToolCalls"),
    "models.batches.model": ("BatchModel",),
    "models.retries": ("Limits",),
    "models.prices": ("set_price",),
    "progress": ("progress_bar",),
    "observe": ("trace_juries",),
    "sinks": ("log_verdicts", "otel_events"),
    "store.sqlite": ("Store",),
}  # fmt: skip
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
