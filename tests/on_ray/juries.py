"""Juries and cases of the tests of `jury_adapters.ray`; functions, so that workers can build them."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jury_adapters import Case, Critic, Ensemble, Judge, Judgment, Limits
from jury_adapters.replay import RecordedCritic

VOTES = Path(__file__).parents[1] / "data" / "votes" / "codefeedback.jsonl.gz"
JURORS = ("gpt-4o", "claude_3.5_haiku", "gemini-1.5-flash", "deepseek-chat", "gpt-4.1-mini")
LABELS = {"valid": "pass", "invalid": "fail"}


class Slow(Judge):
    """A recorded juror that takes its time, so that a run can be disturbed."""

    def __init__(self, inner: Judge, seconds: float) -> None:
        self.name = inner.name
        self._inner = inner
        self._seconds = seconds

    async def assess(self, case: Case) -> Judgment:
        await asyncio.sleep(self._seconds)
        return await self._inner.ajudge(case)


def recorded() -> Ensemble:
    """Five recorded jurors; each case brings its votes."""
    return Ensemble([RecordedCritic(name, labels=LABELS) for name in JURORS])


def slow(pids: str, seconds: float) -> Ensemble:
    """The same, slowly; the process that builds it leaves its number in a folder."""
    Path(pids, str(os.getpid())).touch()
    return Ensemble([Slow(RecordedCritic(name, labels=LABELS), seconds) for name in JURORS])


def panel(url: str, pids: str, limits: Limits) -> Ensemble:
    """Two critics of one vendor through the real SDK."""
    Path(pids, str(os.getpid())).touch()
    models = ("openai:gpt-4o-mini", "openai:gpt-4o")
    return Ensemble(
        [
            Critic(model, "correctness_without_reference", name=model, base_url=url, api_key="none", limits=limits)
            for model in models
        ]
    )


def missing_file() -> Judge:
    """A jury that needs a file which no worker has."""
    return Critic("openai:gpt-4o", Path("nowhere.txt").read_text(), name="a")


def recorded_rows(count: int) -> Iterator[dict[str, Any]]:
    """Rows of recorded votes, each with an item_id of its own."""
    with gzip.open(VOTES, "rt") as lines:
        rows = [json.loads(line) for line in lines]
    for number in range(count):
        row = rows[number % len(rows)]
        yield {**row, "item_id": f"{row['item_id']}/{number // len(rows)}"}


def written(path: Path, rows: Iterator[dict[str, Any]]) -> Path:
    """The rows as JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def numbered_rows(count: int) -> Iterator[dict[str, Any]]:
    """Rows for the local server, with another framework's column names; the right verdict stands in the answer."""
    for number in range(count):
        word = "NO" if number % 3 == 0 else "YES"
        yield {"user_input": "Which item is it?", "response": f"It is item number {number} and TRUTH={word}"}
