"""Stores of judgments, so that no judgment is paid for twice.

A store is the cache (a judgment found there is returned), the record from which a run resumes after a crash, and the
source of votes for replays under other voting rules. A judgment is durable before its verdict is returned.

There are two: :class:`Store`, an SQLite file, and :class:`jury_adapters.store.postgres.PostgresStore`, for many
machines. :func:`open_store` takes the path of the former or the URL of the latter, as every ``store=`` does.
"""

from jury_adapters.store.entry import Entry
from jury_adapters.store.opening import AnyStore, existing_store, is_url, open_store, place_name, place_of
from jury_adapters.store.sqlite import SCHEMA_VERSION, Store

__all__ = [
    "SCHEMA_VERSION",
    "AnyStore",
    "Entry",
    "Store",
    "existing_store",
    "is_url",
    "open_store",
    "place_name",
    "place_of",
]
