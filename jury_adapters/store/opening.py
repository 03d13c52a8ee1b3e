"""Opening of stores: a path means an SQLite file, a URL a PostgreSQL server."""

from __future__ import annotations

import atexit
import re
import threading
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from jury_adapters.core.errors import ConfigurationError, InputError, plain_repr
from jury_adapters.store.base import BaseStore
from jury_adapters.store.sqlite import Store
from jury_adapters.store.url_schemes import check_scheme

if TYPE_CHECKING:
    from jury_adapters.store.postgres import PostgresStore

AnyStore: TypeAlias = "Store | PostgresStore"


def open_store(store: AnyStore | str | PathLike[str]) -> AnyStore:
    """Return a store, or open the one at a path or URL. There is one per path or URL and process.

    Args:
        store: a store, the path of an SQLite file (created if it is missing), or the URL of a PostgreSQL database:
            ``"postgresql+psycopg://user@host/database"``.

    Raises:
        ConfigurationError: the store cannot be opened, is not a store, or was written by a newer version; the message
            says what to do.

    >>> open_store("runs.db")  # doctest: +SKIP
    Store('/home/me/runs.db')
    """
    if isinstance(store, BaseStore):
        return store
    if not isinstance(store, str | PathLike):
        raise ConfigurationError(f"a store is a path, a URL, or an open store; not {plain_repr(store)}")
    place = place_of(store)
    with _LOCK:
        found = _OPEN.get(place)
        if found is None or not found.usable:
            found = _OPEN[place] = Store(place) if isinstance(place, Path) else _postgres(place)
        return found


def existing_store(store: str | PathLike[str]) -> AnyStore:
    """Open an existing store for one reader; close it after use.

    Raises:
        InputError: there is no such store.
        ConfigurationError: as in :func:`open_store`; a store that cannot be written is refused here, too.
    """
    place = place_of(store)
    if isinstance(place, str):
        return _postgres(place, make=False)
    if not place.exists():
        raise InputError(f"{fspath(store)}: there is no such store")
    return Store(Path(store))


def is_url(store: object) -> bool:
    """Return whether this is a URL, and not a path.

    >>> is_url("postgresql+psycopg://me@host/juries"), is_url("runs.db"), is_url(Path("runs.db"))
    (True, False, False)
    """
    return isinstance(store, str) and _URL.match(store) is not None


def place_of(store: str | PathLike[str]) -> Path | str:
    """Return the URL, or the absolute path. It means the same store in every process and folder.

    Raises:
        ConfigurationError: a URL was converted to a ``Path``, which makes one slash of two.
    """
    if isinstance(store, str) and is_url(store):
        return store
    if isinstance(store, PathLike) and _URL_IN_PATH.match(fspath(store)):
        scheme = fspath(store).partition(":")[0]
        raise ConfigurationError(f"a store's URL is text, {scheme}://..., and no Path; give it as a str")
    return Path(store).absolute()


def place_name(store: str | PathLike[str]) -> str:
    """Return a short name for headings: that of the file or the database, without any secret part of a URL.

    >>> place_name("runs/today.db"), place_name("postgresql+psycopg://me:secret@host/juries?sslmode=require")
    ('today.db', 'juries')
    """
    if is_url(store):
        return fspath(store).partition("?")[0].partition("://")[2].partition("/")[2] or "store"
    return Path(store).name


def _postgres(url: str, *, make: bool = True) -> PostgresStore:
    check_scheme(url)  # before the driver is needed
    from jury_adapters.store.postgres import PostgresStore

    return PostgresStore(url, make=make)


@atexit.register
def _close_all() -> None:
    """Close the open stores at the end of the process. An SQLite store is then one file without a log, easy to copy."""
    for store in _OPEN.values():
        if store.usable:
            store.close()


_URL = re.compile(r"[A-Za-z][\w+.-]+://")
_URL_IN_PATH = re.compile(r"postgres(ql)?(\+\w+)?:/")
_LOCK = threading.Lock()
_OPEN: dict[Path | str, AnyStore] = {}
