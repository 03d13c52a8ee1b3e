"""Judge for long through the real SDKs, over a vendor that fails now and then, and watch what it takes."""

from __future__ import annotations

import gc
import os
import resource
import sys
import time
from dataclasses import dataclass
from itertools import islice
from typing import ClassVar

from tests.reliability.panel import JURORS, cases, panel, truth
from tests.support.vendor import WELL, Act, Ask, VendorServer, error


@dataclass(frozen=True)
class Mark:
    """Resources that the process held at one moment.

    Attributes:
        judgments: judgments so far.
        blocks: blocks of memory allocated by Python; any data kept of a case takes at least one.
        peak_mb: the most memory the process has had so far, in MB.
        files: open files and sockets, of the server in the same process too.
        seconds: since the start.
    """

    judgments: int
    blocks: int
    peak_mb: float
    files: int
    seconds: float

    HEAD: ClassVar[str] = "| judgments | blocks of memory | peak memory, MB | open files and sockets | seconds |"

    def __str__(self) -> str:
        return f"| {self.judgments:,} | {self.blocks:,} | {self.peak_mb:.0f} | {self.files} | {self.seconds:.0f} |"


def weather(ask: Ask) -> Act:
    """Of a hundred requests two get a 500, one a 429, one a hang-up, and one breaks off in mid-body."""
    number = ask.number % 100
    if number in (10, 60):
        return error(500, "oops")
    if number == 20:
        return Act(status=429, error={"message": "slow down"}, headers={"retry-after": "0.01"})
    if number == 30:
        return Act(drop=True)
    return Act(cut=40) if number == 40 else WELL


def soak(count: int, *, marks: int = 10, in_flight: int = 64, show: bool = False) -> list[Mark]:
    """Judge ``count`` cases by three critics in equal parts, and take a mark after each, with nothing in flight.

    Raises:
        AssertionError: a verdict is missing or wrong.
    """
    found: list[Mark] = []
    started = time.monotonic()
    with VendorServer(weather, keep=False) as server:
        done = 0
        jury, rest = panel(server.openai, server.anthropic), cases(count)
        for _ in range(marks):
            for verdict in jury.judge_many(islice(rest, count // marks), max_concurrency=in_flight):
                assert [j.status for j in verdict.judgments] == [truth(done)] * JURORS, (done, verdict)
                done += 1
            del verdict
            found.append(_mark(done * JURORS, started))
            if show:
                print(found[-1], flush=True)
        assert done == count
    return found


def _mark(judgments: int, started: float) -> Mark:
    gc.collect()
    unit = 1e6 if sys.platform == "darwin" else 1e3
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
    return Mark(judgments, sys.getallocatedblocks(), peak, len(os.listdir("/dev/fd")), time.monotonic() - started)  # noqa: PTH208  a number
