"""Better rubrics from human labels: examples and clearer criteria, accepted only if a test shows that they help."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jury_adapters.core.lazy import load

if TYPE_CHECKING:
    from jury_adapters.align.aligning import Aligner, align
    from jury_adapters.align.alignment import Alignment, CandidateResult
    from jury_adapters.align.estimating import estimate_alignment
    from jury_adapters.align.labelled import LabelledCase, labelled_cases

__all__ = ["Aligner", "Alignment", "CandidateResult", "LabelledCase", "align", "estimate_alignment", "labelled_cases"]

_HOMES = {
    "aligning": ("Aligner", "align"),
    "alignment": ("Alignment", "CandidateResult"),
    "estimating": ("estimate_alignment",),
    "labelled": ("LabelledCase", "labelled_cases"),
}
_HOME_OF = {name: f"{__name__}.{module}" for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = load(home, name, {})
    return value


def __dir__() -> list[str]:
    return list(__all__)
