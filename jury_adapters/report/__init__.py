"""Reports of verdicts: for the terminal, as an HTML file, as Markdown, as rows; and comparisons of two runs.

Importing this package loads no further module: each name is loaded when it is first used. The page needs Jinja2, the
terminal summary rich, and the analysis of agreement NumPy; all come with the extra ``report``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jury_adapters.report.comparison import Comparison
    from jury_adapters.report.entries import Entry
    from jury_adapters.report.figures import Figures
    from jury_adapters.report.flips import Flip
    from jury_adapters.report.pass_rates import PassRates, pass_rates_by
    from jury_adapters.report.report import Report

__all__ = ["Comparison", "Entry", "Figures", "Flip", "PassRates", "Report", "pass_rates_by"]

_HOME_OF = {"Comparison": "comparison", "Flip": "flips", "Entry": "entries", "Figures": "figures",
            "PassRates": "pass_rates", "Report": "report", "pass_rates_by": "pass_rates"}  # fmt: skip


def __getattr__(name: str) -> object:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{home}"), name)
    return value


def __dir__() -> list[str]:
    return list(__all__)
