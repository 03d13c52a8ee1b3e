"""Permissions that a user grants a jury file."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Permissions:
    """Permissions that a jury file needs for features that could harm the user who loads it.

    Attributes:
        commands: whether checks may run programs.
        base_url: whether a key from the environment may go to an address in the file.
    """

    commands: bool = False
    base_url: bool = False


NO_PERMISSIONS = Permissions()


def how_to_allow(permission: str) -> str:
    """Return the end of an error message: how to grant a permission, such as ``"commands"``.

    >>> how_to_allow("commands").partition(", or")[0]
    'if you trust it: load_jury(..., allow_commands=True)'
    """
    option = permission.replace("_", "-")
    return (
        f"if you trust it: load_jury(..., allow_{permission}=True), or `jury judge --allow-{option}`, "
        f"or `pytest --jury-allow-{option}`"
    )
