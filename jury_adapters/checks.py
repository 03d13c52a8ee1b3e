"""Checks: judges that ask no model, of answers, tool calls, grounding and workspaces.

They are judges like any other, alone or in a jury. :data:`CHECKS` has them by their names in jury files.

>>> from jury_adapters import Ensemble
>>> from jury_adapters.checks import LengthBetween, NotEmpty
>>> Ensemble([NotEmpty(), LengthBetween(maximum=80)], voting="unanimous").judge(answer="Yes.").passed
True
"""

import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from jury_adapters.core.judge import Check

if TYPE_CHECKING:  # for type checkers and editors; a test holds it to the table below
    from jury_adapters.grounding import ContextRelevance, NamesAndNumbers, SentenceAlignment, SentenceSupport
    from jury_adapters.judges.refusal import RefusalCheck
    from jury_adapters.judges.schema import ValidJSON
    from jury_adapters.judges.text import Contains, Equals, LengthBetween, Matches, NotEmpty, Similar
    from jury_adapters.judges.trajectory import ForbiddenTools, NoToolErrors, StepLimit, ToolCalls
    from jury_adapters.workspace.commands import BuildPasses, Command, TestsPass
    from jury_adapters.workspace.coverage import Coverage
    from jury_adapters.workspace.files import FileContent, FileExists, FilesMatch

_NAMES = {
    "grounding": "ContextRelevance NamesAndNumbers SentenceAlignment SentenceSupport",
    "judges.refusal": "RefusalCheck",
    "judges.schema": "ValidJSON",
    "judges.text": "Contains Equals LengthBetween Matches NotEmpty Similar",
    "judges.trajectory": "ForbiddenTools NoToolErrors StepLimit ToolCalls",
    "workspace.commands": "BuildPasses Command TestsPass",
    "workspace.coverage": "Coverage",
    "workspace.files": "FileContent FileExists FilesMatch",
}
_HOMES = {name: f"jury_adapters.{module}" for module, names in _NAMES.items() for name in names.split()}
_CLASSES = {re.sub("(?<=[a-z])(?=[A-Z])", "_", name).lower(): name for name in _HOMES}
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


class _Checks(Mapping[str, type[Check]]):
    """The classes, which are loaded when they are asked for."""

    def __getitem__(self, name: str) -> type[Check]:
        found: type[Check] = __getattr__(_CLASSES[name])
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(_CLASSES)

    def __len__(self) -> int:
        return len(_CLASSES)


CHECKS: Mapping[str, type[Check]] = _Checks()
"""The classes of all checks by their names in jury files, such as ``not_empty``."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return found


def __dir__() -> list[str]:
    return [*__all__]
