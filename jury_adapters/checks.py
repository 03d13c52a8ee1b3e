"""Checks: deterministic judges of answers, tool calls, grounding and workspaces. None asks a model.

They are judges like any other, alone or in a jury:

>>> from jury_adapters import Ensemble
>>> from jury_adapters.checks import LengthBetween, NotEmpty
>>> Ensemble([NotEmpty(), LengthBetween(maximum=80)], voting="unanimous").judge(answer="Yes.").passed
True

``jury show checks`` lists them with their names in jury files.
"""

from jury_adapters.core.combinators import always_fail, always_pass
from jury_adapters.grounding.screen import ContextRelevance, NamesAndNumbers, SentenceAlignment, SentenceSupport
from jury_adapters.judges.refusal_check import RefusalCheck
from jury_adapters.judges.text import Contains, Equals, LengthBetween, Matches, NotEmpty, ValidJSON
from jury_adapters.judges.toolcalls import ToolCall
from jury_adapters.judges.trajectory import CostLimit, FinalAnswer, ForbiddenTools, NoToolErrors, StepLimit, ToolCalls
from jury_adapters.retrieval.known_documents import RetrievalMeasure
from jury_adapters.workspace.commands import BuildPasses, Command, TestsPass
from jury_adapters.workspace.coverage import CoverageImproved, CoverageKept
from jury_adapters.workspace.diffs import compares
from jury_adapters.workspace.files import DirectorySuperset, FileContent, FileExists, FilesMatch

__all__ = [
    "BuildPasses",
    "Command",
    "Contains",
    "ContextRelevance",
    "CostLimit",
    "CoverageImproved",
    "CoverageKept",
    "DirectorySuperset",
    "Equals",
    "FileContent",
    "FileExists",
    "FilesMatch",
    "FinalAnswer",
    "ForbiddenTools",
    "LengthBetween",
    "Matches",
    "NamesAndNumbers",
    "NoToolErrors",
    "NotEmpty",
    "RefusalCheck",
    "RetrievalMeasure",
    "SentenceAlignment",
    "SentenceSupport",
    "StepLimit",
    "TestsPass",
    "ToolCall",
    "ToolCalls",
    "ValidJSON",
    "always_fail",
    "always_pass",
    "compares",
]
