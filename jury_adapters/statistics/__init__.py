"""Jurors against human labels, beyond agreement: confidence, graded scores, and repeated answers.

Importing this package loads nothing: each name is loaded when it is first used. All of it needs NumPy, which comes with
the extra ``stats``: ``pip install "jury-adapters[stats]"``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from jury_adapters.core.errors import ConfigurationError

if TYPE_CHECKING:
    from jury_adapters.statistics.confidence import confidence_quality
    from jury_adapters.statistics.consistency import retest, retest_runs
    from jury_adapters.statistics.graded import graded_agreement
    from jury_adapters.statistics.reliability import ReliabilityBin, reliability_diagram
    from jury_adapters.statistics.report import full_report

__all__ = [
    "ReliabilityBin",
    "confidence_quality",
    "full_report",
    "graded_agreement",
    "reliability_diagram",
    "retest",
    "retest_runs",
]

_HOMES = {
    "confidence": ("confidence_quality",),
    "consistency": ("retest", "retest_runs"),
    "graded": ("graded_agreement",),
    "reliability": ("ReliabilityBin", "reliability_diagram"),
    "report": ("full_report",),
}
_HOME_OF = {name: f"{__name__}.{module}" for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        value = getattr(import_module(home), name)
    except ModuleNotFoundError as error:
        if error.name != "numpy":
            raise
        raise ConfigurationError(f"{name} needs NumPy: pip install 'jury-adapters[stats]'") from error
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
