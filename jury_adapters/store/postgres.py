"""Store in a PostgreSQL database, for many machines. It needs the extra ``postgres``."""

import re
from functools import partial
from typing import Any

from jury_adapters.core.values import ConfigurationError
from jury_adapters.store.sql import Connection, SqlStore

_URL = re.compile(r"(postgresql://)(?:[^/?#@]*@)?([^/?#@]*/[^/?#@]*)(?:\?[^#@]*)?")
# Codes and classes of errors after which the same may succeed. While a store is being opened: several processes make
# its tables at once. Later: 08 and errors without a code are the connection, 40 is a deadlock and the like, 53 a lack
# of memory or connections, 57P a server that shuts down, was killed or starts, 25006 a standby that is about to be
# promoted, 55P03 and 57014 a lock or a statement that took too long.
_AT_FIRST = ("42P07", "42710", "23505", "40")
_LATER = ("OperationalError", "InterfaceError", "ConnectionTimeout", "08", "40", "53", "57P", "25006", "55P03", "57014")
# Find out about a server that does not answer. Prepare no statements, which connection poolers mix up.
_SETTINGS: dict[str, Any] = {"connect_timeout": 5, "tcp_user_timeout": 15_000, "client_encoding": "utf8"}
_FORM = "the URL of a store is postgresql://user@host/database, with %40 for an @ and %2F for a / in a password"


class PostgresStore(SqlStore):
    """Store of judgments in a PostgreSQL database, for any number of machines, processes, threads and event loops.

    A judgment is on the disk of the server when :meth:`put` returns. A server that does not answer is tried again for
    30 seconds. Once the tables exist, a user with ``SELECT`` and ``INSERT`` on ``jury_store``, ``jury_cases`` and
    ``jury_judgments`` is enough.

    Args:
        url: ``postgresql://user@host/database``. The password may be in it, or in ``PGPASSWORD`` or ``~/.pgpass``.

    Raises:
        ConfigurationError: psycopg is missing, the server refuses the connection, or the database is not a store.
    """

    _placeholder = "%s"
    _begin = (
        "BEGIN ISOLATION LEVEL READ COMMITTED; SELECT set_config('synchronous_commit', 'on', true) "
        "WHERE current_setting('synchronous_commit') = 'off'",
    )
    _list_tables = """SELECT relname FROM pg_catalog.pg_class
        WHERE relname IN ('jury_store', 'jury_cases', 'jury_judgments') AND pg_table_is_visible(oid)"""

    def __init__(self, url: str) -> None:
        try:
            import psycopg
            from psycopg.conninfo import conninfo_to_dict
        except ImportError:
            raise ConfigurationError(
                'a store in PostgreSQL needs psycopg: pip install "jury-adapters[postgres]"'
            ) from None
        parts = _URL.fullmatch(url)
        try:
            given: dict[str, Any] = {**conninfo_to_dict(url)} if parts else {}
        except psycopg.Error:  # its message may quote the password
            given = {}
        if not parts or not given:
            raise ConfigurationError(_FORM)
        self._errors, self._is_open = (psycopg.Error,), False
        settings = {**_SETTINGS, **given, "autocommit": True, "prepare_threshold": None}
        super().__init__("".join(parts.groups()), partial(psycopg.connect, **settings))
        self._is_open = True

    def _check(self, connection: Connection) -> None:
        (encoding,) = connection.execute("SHOW server_encoding").fetchone()
        if encoding != "UTF8":
            raise ConfigurationError(f"the database of {self.name} has the encoding {encoding}; a store needs UTF8")

    def _is_transient(self, error: BaseException) -> bool:
        code = getattr(error, "sqlstate", None) or type(error).__name__
        return isinstance(error, self._errors) and code.startswith(_LATER if self._is_open else _AT_FIRST)
