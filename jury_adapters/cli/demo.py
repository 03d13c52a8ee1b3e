"""``jury demo``: a jury at work, on data that comes with the package."""

from __future__ import annotations

from jury_adapters.cli.streams import show


def demo() -> None:
    """Show a real jury at work: recorded votes of LLM judges, and a screen for RAG answers. Needs no key."""
    from jury_adapters.cli.showcase import run_demo

    show(run_demo)
