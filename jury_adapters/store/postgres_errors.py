"""Meaning of the errors of a PostgreSQL server, by their SQLSTATE codes."""

from __future__ import annotations

from sqlalchemy.exc import DBAPIError

# 08 connection, 40 deadlock and the like, 53 out of disk, memory or connections, 57P shut down, killed or starting up,
# 25006 a standby that is about to be promoted, 55P03 and 57014 a lock or a statement that took too long.
_TRANSIENT_CLASSES = frozenset({"08", "40", "53"})
_TRANSIENT = frozenset({"57P01", "57P02", "57P03", "57P05", "25006", "55P03", "57014"})


def transient(error: BaseException) -> bool:
    """Return whether the same statement may succeed later: the server is down, starting, or short of a resource."""
    if not isinstance(error, DBAPIError):
        return False
    state = state_of(error)
    if state is None:  # errors of the connection itself have no code
        return error.connection_invalidated or type(error.orig).__name__ in ("OperationalError", "InterfaceError")
    return state in _TRANSIENT or state[:2] in _TRANSIENT_CLASSES


def state_of(error: BaseException) -> str | None:
    """Return the server's code of an error; None if the error is not the server's."""
    state = getattr(error.orig, "sqlstate", None) if isinstance(error, DBAPIError) else None
    return state if isinstance(state, str) else None
