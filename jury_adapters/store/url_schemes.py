"""Schemes of the URLs of stores, which are checked before a driver is imported."""

from __future__ import annotations

from typing import Final

from jury_adapters.core.errors import ConfigurationError

DRIVER: Final = "postgresql+psycopg"
EXAMPLE: Final = f"{DRIVER}://user@host/database"

_SCHEMES = ("postgres", "postgresql", DRIVER)


def check_scheme(url: str) -> None:
    """Check that a URL is that of a PostgreSQL database.

    Raises:
        ConfigurationError: it has another scheme; the message says what to write.
    """
    scheme, separator, _ = url.partition("://")
    if not separator:  # no URL, and it may contain a password
        raise ConfigurationError(f"the URL of the store cannot be read; write {EXAMPLE}")
    if scheme.startswith("sqlite"):
        raise ConfigurationError("for an SQLite file give its path and no URL: store='runs.db'")
    if scheme not in _SCHEMES:
        raise ConfigurationError(f"{scheme}:// is not a store; give a path, or {EXAMPLE}")
