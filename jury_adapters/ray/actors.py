"""Ray actors that the workers share: the server, and the ledger of the judged rows."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from typing import Any

import ray

from jury_adapters.models.limits import Limits
from jury_adapters.ray.ledger import Ledger
from jury_adapters.ray.parts import Folder
from jury_adapters.ray.rates import PermitGrant, PermitRequest, RateServer

RATE_SERVER_NAME = "jury_adapters.rates"


class RateActor:
    """Actor that keeps the limits of all models of a run. After a crash it restarts without permits."""

    def __init__(self) -> None:
        self._servers: dict[str, RateServer] = {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # raised by a deprecated call inside Ray
            self._restarted = bool(ray.get_runtime_context().was_current_actor_reconstructed)

    def exchange(self, key: str, limits: Limits, worker: str, ask: PermitRequest) -> PermitGrant:
        """See :meth:`RateServer.exchange`."""
        now = time.monotonic()
        server = self._servers.get(key)
        if server is None:
            server = self._servers[key] = RateServer(limits, now, restarted=self._restarted)
        return server.exchange(worker, ask, now)


class LedgerActor:
    """Actor that records the rows that earlier runs have judged. After a crash it reads the same parts again."""

    def __init__(self, folder: Folder, parts: Sequence[str]) -> None:
        self._ledger = Ledger(identity for part in folder.row_ids(parts) for identity in part)

    def claim(self, token: str, identities: Sequence[str]) -> list[bool]:
        """See :meth:`Ledger.claim`."""
        return self._ledger.claim(token, identities)


class ActorPermitSource:
    """Source of permits from the rate actor in the cluster; a :class:`jury_adapters.ray.sharing.Source`."""

    def __init__(self, actor: Any) -> None:
        self._actor = actor

    async def exchange(self, key: str, limits: Limits, worker: str, ask: PermitRequest) -> PermitGrant:
        grant: PermitGrant = await self._actor.exchange.remote(key, limits, worker, ask)
        return grant


def rate_actor() -> Any:
    """Return the rate actor of this program, which all its runs share."""
    options = {"name": RATE_SERVER_NAME, "get_if_exists": True, "num_cpus": 0, "max_restarts": -1}
    return ray.remote(RateActor).options(**options).remote()


def ledger_actor(folder: Folder, parts: Sequence[str]) -> Any:
    """Create a ledger for one run."""
    options = {"num_cpus": 0, "max_restarts": -1, "max_task_retries": -1}
    return ray.remote(LedgerActor).options(**options).remote(folder, list(parts))
