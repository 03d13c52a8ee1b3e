"""The command tree of ``jury``, built once: typer builds all of it anew at each call, which takes most of the time."""

from __future__ import annotations

from functools import cache

import typer.main
import typer.testing

if not hasattr(typer.main.get_command, "cache_info"):
    typer.main.get_command = typer.testing._get_command = cache(typer.main.get_command)  # type: ignore[attr-defined]
