"""``jury --version``, which needs neither typer nor rich."""

from __future__ import annotations

from jury_adapters import __version__
from jury_adapters.cli.streams import send


def print_version() -> None:
    """Print the version of the package."""
    send(f"jury {__version__}\n")
