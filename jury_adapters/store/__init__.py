"""The journal of judgments: what was paid for once is never paid for twice.

A store is the cache (a judgment found there is served), the record to resume from after a crash, and the ballots to
replay under other voting rules. A judgment is durable before its verdict is handed out.

There are two: :class:`Store`, a file of the embedded SQLite, and
:class:`jury_adapters.store.postgres.PostgresStore`, for many machines. :func:`open_store` takes the path of the one or
the URL of the other, as every ``store=`` does.
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
