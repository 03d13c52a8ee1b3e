"""Juries with a guarantee: of the cases that they decide, at least a given share agrees with human labels.

:func:`calibrate` needs NumPy and SciPy (``pip install 'jury-adapters[stats]'``); a guarantee is loaded without them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from jury_adapters.calibrate.guarantee import CalibratedJury, CalibrationFailed, Guarantee

if TYPE_CHECKING:
    from jury_adapters.calibrate.calibrating import calibrate

__all__ = ["CalibratedJury", "CalibrationFailed", "Guarantee", "calibrate"]


def __getattr__(name: str) -> Any:
    if name != "calibrate":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import_module("jury_adapters.stats")  # which says what to install
    return import_module(f"{__name__}.calibrating").calibrate
