"""Jury files given to a command."""

from __future__ import annotations

from pathlib import Path
from typing import TypedDict

from jury_adapters.core.jury import Jury


class Permissions(TypedDict):
    """Permissions that the options of a command give to a jury file; see :func:`jury_adapters.config.load_jury`."""

    allow_commands: bool
    allow_base_url: bool


def read_jury(path: Path, permissions: Permissions, *, calibrated: bool = True, replay: bool = False) -> Jury:
    """Read a jury file; importing the configuration takes a while, so this does it on use.

    Raises:
        ConfigurationError: it is not a jury file, or needs a permission that it does not have.
    """
    from jury_adapters.config import load_jury

    return load_jury(path, **permissions, calibrated=calibrated, replay=replay)
