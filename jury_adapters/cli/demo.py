"""``jury demo``: a jury at work, on data included in the package."""

from __future__ import annotations

from jury_adapters.cli.options import AsJson
from jury_adapters.cli.streams import show, write_json


def demo(*, as_json: AsJson = False) -> None:
    """Show a real jury at work: recorded votes of LLM judges, and a screen for RAG answers. Needs no key."""
    from jury_adapters.cli.showcase import demo_figures, run_demo

    if as_json:
        write_json(demo_figures())
    else:
        show(run_demo)
