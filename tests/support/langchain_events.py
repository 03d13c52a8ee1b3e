"""Events of LangChain that are fed to a collector directly."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

from jury_adapters.langchain.collector import Collector
from jury_adapters.langchain.finished_runs import FinishedRun


class Ear:
    """A collector, and what it delivered."""

    def __init__(self, chosen: Any = lambda run, around, inside: around is None, max_open: int = 100) -> None:
        self.heard: list[FinishedRun] = []
        self.counted: list[str] = []
        self.collector = Collector(chosen, self.heard.append, self.counted.append, max_open=max_open)

    def start(self, kind: Any = "chain", parent: UUID | None = None, inputs: Any = "in", **about: Any) -> UUID:
        run_id = about.pop("run_id", None) or uuid4()
        about = {"name": None, "tags": None, "metadata": None, **about}
        self.collector.start(kind, run_id, parent, inputs, **about)
        return run_id

    def end(self, run_id: UUID, outputs: Any = "out", **more: Any) -> None:
        self.collector.end(run_id, outputs, **more)

    def fail(self, run_id: UUID, error: BaseException) -> None:
        self.collector.fail(run_id, error)

    def remembers_nothing(self) -> bool:
        return self.collector.open == 0 and self.collector.remembered == 0
