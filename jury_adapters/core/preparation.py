"""Preparation for the first judgment: what a model loads at its first use is loaded before any time limit begins."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator


class Preparable(ABC):
    """Part of a model that loads something at its first use, such as the SDK of a vendor.

    A model has it as its attribute ``preparable``. An error of the preparation is not raised: the first request meets
    it again and reports it.
    """

    @property
    @abstractmethod
    def prepared(self) -> bool:
        """Whether there is nothing left to load."""

    @abstractmethod
    def load(self) -> None:
        """Import what the model needs, in the calling thread, so that Ctrl-C can interrupt it."""

    @abstractmethod
    async def prepare(self) -> None:
        """Load everything that the first request needs, without blocking the event loop."""


def load_models(judge: object) -> None:
    """Import what the models inside a judge need, in the calling thread."""
    for part in _unprepared(judge):
        part.load()


async def prepare_models(judge: object) -> None:
    """Load everything that the first requests of the models inside a judge need."""
    for part in _unprepared(judge):
        await part.prepare()


async def prepare_model(model: object) -> None:
    """Load everything that the first request of a model needs."""
    for part in _unprepared_part(model):
        await part.prepare()


def _unprepared(judge: object) -> Iterator[Preparable]:
    yield from _unprepared_part(getattr(judge, "model", None))
    for member in getattr(judge, "members", ()):
        yield from _unprepared(member)


def _unprepared_part(model: object) -> Iterator[Preparable]:
    part = getattr(model, "preparable", None)
    if isinstance(part, Preparable) and not part.prepared:
        yield part
