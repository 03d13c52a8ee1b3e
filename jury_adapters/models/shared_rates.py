"""Request rates of models that may share a quota, because they have the same address and key."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Hashable, Iterable
from weakref import WeakSet, WeakValueDictionary

from jury_adapters.models.adaptive_rate import AdaptiveRate
from jury_adapters.models.cohorts import Sent


class SharedRate:
    """Rate of all models of one address and key, except those that turn out to have a quota of their own.

    Some vendors count the requests of a key, others those of a model. Three jurors that share a quota must not each
    test a higher rate: each would see a third of the refusals, too few to count. So models of the same address and key
    begin with a common :class:`~jury_adapters.models.adaptive_rate.AdaptiveRate`. A model gets a rate of its own when
    it has not been refused for at least 4 seconds in which, at the share of the other models, 12 refusals of its
    requests were to be expected. With a common quota, the probability of that is below 0.001 %.

    Args:
        clock: monotonic time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._common = AdaptiveRate(clock=clock)
        self._models: WeakSet[ModelRate] = WeakSet()
        self._refused = 0
        self._last_refused = clock()

    def join(self, name: str) -> ModelRate:
        """Return the rate of one more model.

        Args:
            name: name of the model in the log.
        """
        with self._lock:
            model = ModelRate(self, name, self._common)
            self._mark(model)
            self._models.add(model)
            self._rename()
        return model

    def refused(self, model: ModelRate) -> None:
        """Count a 429 to a model, and give a rate of their own to the models that have another quota."""
        with self._lock:
            if model not in self._models:
                return
            now = self._clock()
            if now > self._last_refused + _QUIET_S:
                for one in self._models:
                    self._mark(one)
            self._last_refused = now
            self._refused += 1
            self._mark(model)
            for one in [one for one in self._models if self._has_another_quota(one, now)]:
                self._models.remove(one)
                one.rate = AdaptiveRate(one.name, self._clock)
                self._rename()

    def _mark(self, model: ModelRate) -> None:
        """Begin to count the requests and refusals since the last refusal of a model."""
        model.since = self._clock()
        model.sent_before, model.all_sent_before, model.all_refused_before = (
            model.sent,
            self._common.sent,
            self._refused,
        )

    def _has_another_quota(self, model: ModelRate, now: float) -> bool:
        sent = model.sent - model.sent_before
        sent_by_others = self._common.sent - model.all_sent_before - sent
        refused = self._refused - model.all_refused_before  # all of them of other models
        return now - model.since >= _LEAST_S and refused * sent >= _EXPECTED * max(1, sent_by_others)

    def _rename(self) -> None:
        """Name the models of the common rate for the log."""
        names = sorted({model.name for model in self._models})
        more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
        self._common.name = ", ".join(names[:_MOST_NAMES]) + more


class ModelRate:
    """Rate of one model, which it may share with others.

    Attributes:
        name: name of the model in the log.
        rate: the rate, common or its own.
        sent: number of requests sent.
        since: time of the last refusal, or from which refusals are counted.
        sent_before: number of requests sent until then.
        all_sent_before: number of requests that all models with the common rate had sent until then.
        all_refused_before: number of them that were refused.
    """

    def __init__(self, shared: SharedRate, name: str, rate: AdaptiveRate) -> None:
        self.name = name
        self.rate = rate
        self.sent = 0
        self.since = 0.0
        self.sent_before = self.all_sent_before = self.all_refused_before = 0
        self._shared = shared

    def refused(self, rate: AdaptiveRate, sent: Sent) -> None:
        """Count a 429.

        Args:
            rate: the rate at which the request was sent; it may no longer be that of the model.
            sent: what :meth:`AdaptiveRate.start` returned.
        """
        rate.refused(sent)
        self._shared.refused(self)


def shared_rate(quota: Hashable | None) -> SharedRate:
    """Return the rate that all models with this quota share.

    Args:
        quota: as :func:`quota_of` returns it; with None, the rate is new.
    """
    if quota is None:
        return SharedRate()
    with _LOCK:
        rate = _RATES.get(quota)
        if rate is None:
            rate = _RATES[quota] = SharedRate()
    return rate


def quota_of(address: str, hashed_keys: frozenset[str]) -> Hashable | None:
    """Return a value that is equal for models that may share a quota; None for a model whose address is not known."""
    return (address, hashed_keys) if address else None


def hashed(keys: Iterable[str]) -> frozenset[str]:
    """Return hashes of keys, which tell models with different keys apart. They are kept in memory only."""
    return frozenset(hashlib.sha256(key.encode()).hexdigest() for key in keys)


_LEAST_S = 4.0  # without a refusal; bursts of one model after the other are over by then
_EXPECTED = 12  # refusals
_QUIET_S = 10.0  # without any refusal, after which the count begins anew
_MOST_NAMES = 3
_LOCK = threading.Lock()
_RATES: WeakValueDictionary[Hashable, SharedRate] = WeakValueDictionary()
