"""Reports of results: figures counted once, and shown in the terminal, as Markdown, as a page and as JSON.

Names are loaded when they are used, because they need NumPy and SciPy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # for type checkers and editors; a test holds it to the table below
    from jury_adapters.report.comparison import Comparison, compare
    from jury_adapters.report.render import Table
    from jury_adapters.report.report import Report
    from jury_adapters.report.summary import Summary

_HOMES = {
    "Comparison": "comparison",
    "Report": "report",
    "Summary": "summary",
    "Table": "render",
    "compare": "comparison",
}
__all__ = ["Comparison", "Report", "Summary", "Table", "compare"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
