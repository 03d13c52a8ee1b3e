"""Checks: judges that ask no model, of answers, tool calls, grounding and workspaces.

They are judges like any other, alone or in a jury. :data:`CHECKS` has them by their names in jury files.

>>> from jury_adapters import Ensemble
>>> from jury_adapters.checks import LengthBetween, NotEmpty
>>> Ensemble([NotEmpty(), LengthBetween(maximum=80)], voting="unanimous").judge(answer="Yes.").passed
True
"""

import re
from collections.abc import Mapping

from jury_adapters.core.judge import Check
from jury_adapters.grounding import ContextRelevance, NamesAndNumbers, SentenceAlignment, SentenceSupport
from jury_adapters.judges.refusal import RefusalCheck
from jury_adapters.judges.schema import ValidJSON
from jury_adapters.judges.text import Contains, Equals, LengthBetween, Matches, NotEmpty, Similar
from jury_adapters.judges.trajectory import ForbiddenTools, NoToolErrors, StepLimit, ToolCalls
from jury_adapters.workspace.commands import BuildPasses, Command, TestsPass
from jury_adapters.workspace.coverage import Coverage
from jury_adapters.workspace.files import FileContent, FileExists, FilesMatch

__all__ = [
    "CHECKS",
    "BuildPasses",
    "Command",
    "Contains",
    "ContextRelevance",
    "Coverage",
    "Equals",
    "FileContent",
    "FileExists",
    "FilesMatch",
    "ForbiddenTools",
    "LengthBetween",
    "Matches",
    "NamesAndNumbers",
    "NoToolErrors",
    "NotEmpty",
    "RefusalCheck",
    "SentenceAlignment",
    "SentenceSupport",
    "Similar",
    "StepLimit",
    "TestsPass",
    "ToolCalls",
    "ValidJSON",
]

CHECKS: Mapping[str, type[Check]] = {
    re.sub("(?<=[a-z])(?=[A-Z])", "_", name).lower(): globals()[name] for name in __all__ if name != "CHECKS"
}
"""The classes of all checks by their names in jury files, such as ``not_empty``."""
