"""Statistics of jurors and systems: confidence, graded scores, repeated answers, differences, and sample sizes.

Importing this package loads nothing: each name is loaded when it is first used. All of it except
:func:`krippendorff_alpha` and :func:`pairwise_agreement` needs NumPy, which comes with the extra ``stats``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jury_adapters.core.lazy import load

if TYPE_CHECKING:
    from jury_adapters.core.agreement import Alpha, krippendorff_alpha, pairwise_agreement
    from jury_adapters.statistics.comparing import compare, compare_unpaired
    from jury_adapters.statistics.confidence import confidence_quality
    from jury_adapters.statistics.consistency import retest, retest_runs
    from jury_adapters.statistics.rating_agreement import graded_agreement
    from jury_adapters.statistics.reliability import ReliabilityBin, reliability_diagram
    from jury_adapters.statistics.report import full_report
    from jury_adapters.statistics.sample_size import (
        SampleSize,
        cases_for_difference,
        labels_for_guarantee,
        labels_for_interval,
    )

__all__ = [
    "Alpha",
    "ReliabilityBin",
    "SampleSize",
    "cases_for_difference",
    "compare",
    "compare_unpaired",
    "confidence_quality",
    "full_report",
    "graded_agreement",
    "krippendorff_alpha",
    "labels_for_guarantee",
    "labels_for_interval",
    "pairwise_agreement",
    "reliability_diagram",
    "retest",
    "retest_runs",
]

_HOMES = {
    "core.agreement": ("Alpha", "krippendorff_alpha", "pairwise_agreement"),
    "statistics.comparing": ("compare", "compare_unpaired"),
    "statistics.confidence": ("confidence_quality",),
    "statistics.consistency": ("retest", "retest_runs"),
    "statistics.rating_agreement": ("graded_agreement",),
    "statistics.reliability": ("ReliabilityBin", "reliability_diagram"),
    "statistics.report": ("full_report",),
    "statistics.sample_size": ("SampleSize", "cases_for_difference", "labels_for_guarantee", "labels_for_interval"),
}
_HOME_OF = {name: f"jury_adapters.{module}" for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = load(home, name, {"numpy": ("NumPy", "stats")})
    return value


def __dir__() -> list[str]:
    return list(__all__)
