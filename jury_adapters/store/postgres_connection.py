"""Connections to the PostgreSQL server of a store, and advice on its errors. Its password is never shown."""

from __future__ import annotations

from sqlalchemy import URL, Engine, create_engine, make_url
from sqlalchemy.exc import DBAPIError, NoSuchModuleError

from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.installation import needs_extra
from jury_adapters.store.postgres_errors import state_of
from jury_adapters.store.url_schemes import DRIVER, EXAMPLE, check_scheme


class Server:
    """Engine of one database.

    Args:
        url: ``postgresql+psycopg://user:password@host:port/database``; ``postgresql://`` and ``postgres://`` mean the
            same. All parameters of libpq may follow as a query, such as ``?sslmode=verify-full``.

    Raises:
        ConfigurationError: SQLAlchemy's driver is missing, or the URL is invalid; the message says what to write.

    Attributes:
        engine: SQLAlchemy's engine.
        shown: the URL without passwords.
        has_password: whether the URL contains one.
    """

    def __init__(self, url: str) -> None:
        parsed = _parsed(url)
        hidden = {name: _last(parsed.query[name]) for name in _SECRET if name in parsed.query}
        self._secrets = [secret for secret in (parsed.password, *hidden.values()) if secret]
        self.has_password = bool(self._secrets)
        # The engine does not get a URL with a secret in its query, because it would show it.
        plain = parsed.difference_update_query(_SECRET)
        self.shown = plain.update_query_dict(dict.fromkeys(hidden, "***")).render_as_string().replace("%2A", "*")
        settings = {name: value for name, value in _CONNECT.items() if name not in parsed.query}
        try:
            self.engine: Engine = create_engine(
                plain, connect_args=settings | hidden, pool_size=3, max_overflow=-1, hide_parameters=True,
                isolation_level=_ISOLATION,
            )  # fmt: skip
        except (ImportError, NoSuchModuleError) as error:
            raise ConfigurationError(
                f"psycopg cannot be loaded: {error}; {needs_extra('the store', 'it', 'postgres')}"
            ) from None

    def message_of(self, error: Exception) -> str:
        """Return the driver's message on one line, without passwords and without the data that was sent."""
        cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
        text = " ".join(str(cause).split()) or type(cause).__name__
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text

    def advice(self, error: Exception) -> str:
        """Return advice on an error."""
        text, state = self.message_of(error), state_of(error)
        if state in ("42501", "3F000") or "permission denied" in text:
            return "let the database's owner open the store once, then GRANT SELECT, INSERT on its tables to this user"
        if state == "53100":
            return "the server's disk is full; make room and run again, what is recorded is kept"
        if state == "42P01":
            return "another program has changed the database; restore a copy, or give another database"
        advice = {
            "authentication": "see the user and the password: in the URL, in PGPASSWORD, or in ~/.pgpass",
            "password": "give the password in the URL, in PGPASSWORD, or in ~/.pgpass",
            "role": "see the user in the URL",
            "does not exist": "make the database first: createdb NAME",
            "too many clients": "raise max_connections at the server, or run fewer processes; each takes two to three",
            "invalid connection option": "see what follows the question mark in the URL",
        }
        other = "see that the server runs at that address" if state is None else f"see the server's log (code {state})"
        return next((hint for sign, hint in advice.items() if sign in text), other)


def _parsed(url: str) -> URL:
    check_scheme(url)
    try:
        parsed = make_url(url)
    except Exception:  # its message may contain the password
        raise ConfigurationError(
            f"the URL of the store cannot be read; write {EXAMPLE}, with %40 for an @ and %2F for a / in a password"
        ) from None
    return parsed.set(drivername=DRIVER)


def _last(value: str | tuple[str, ...]) -> str:
    return value if isinstance(value, str) else value[-1]


_SECRET = ("password", "sslpassword")
# Detect a server that does not answer. Do not prepare statements, because connection poolers mix them up.
_CONNECT: dict[str, object] = {"connect_timeout": 5, "tcp_user_timeout": 15_000, "prepare_threshold": None}
# PostgreSQL's default unless a database is configured otherwise. A stricter level would not see what another process
# has just written, and fails if two processes write the same rows.
_ISOLATION = "READ COMMITTED"
