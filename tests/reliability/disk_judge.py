"""Judges with a store in a process of its own: ``python disk_judge.py STORE COUNT [--file-limit BYTES] [--as-nobody]``.

Prints one JSON object: the numbers that were asked for (paid), those kept without ``store_error``, and what was said.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import os
import resource
import signal
import sys
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from jury_adapters import ConfigurationError, Judgment, Store
from jury_adapters.core.cache import CacheKey, get_or_run
from jury_adapters.testing import a_case, passed


@dataclass
class Told:
    """Result of judging.

    Attributes:
        asked: numbers that a model would have been paid for.
        kept: numbers whose judgment was returned as durable.
        wrong: numbers that were served with another content.
        said: the messages about problems.
    """

    asked: list[int] = field(default_factory=list)
    kept: list[int] = field(default_factory=list)
    wrong: list[int] = field(default_factory=list)
    said: list[str] = field(default_factory=list)


def key_of(number: int) -> CacheKey:
    """A key as critics make them."""
    return CacheKey(hashlib.sha256(str(number).encode()).hexdigest(), "critic", "rubric", "0")


def opinion(number: int) -> Judgment:
    """The right judgment; it takes from one line to a few pages of the file."""
    return passed(reasoning=f"{number} " + "because of this " * (number * 37 % 600))


def judge(path: Path, count: int, *, at_once: int = 16) -> Told:
    """Judge the numbers below ``count``, with the store at the path. Nothing is raised."""
    told = Told()
    try:
        with Store(path) as store:
            asyncio.run(_judge(store, count, at_once, told))
    except ConfigurationError as error:
        told.said.append(str(error))
    return told


async def _judge(store: Store, count: int, at_once: int, told: Told) -> None:
    numbers = iter(range(count))

    async def worker() -> None:
        for number in numbers:
            await _judge_one(store, number, told)

    await asyncio.gather(*(worker() for _ in range(at_once)))


async def _judge_one(store: Store, number: int, told: Told) -> None:
    async def ask() -> Judgment:
        told.asked.append(number)
        return opinion(number)

    try:
        judgment = await get_or_run(key_of(number), a_case(question=str(number)), store, ask)
    except ConfigurationError as error:
        told.said.append(str(error))
        return
    trouble = judgment.metadata.get("store_error")
    if trouble is not None:
        told.said.append(str(trouble))
    else:
        told.kept.append(number)
    if judgment.reasoning != opinion(number).reasoning:
        told.wrong.append(number)


def main() -> None:
    """Judge under the limits that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("store", type=Path)
    parser.add_argument("count", type=int)
    parser.add_argument("--file-limit", type=int, help="no file may grow beyond so many bytes")
    parser.add_argument("--as-nobody", action="store_true", help="give up the right of root to write everything")
    options = parser.parse_args()
    logging_off()
    if options.file_limit:
        sys.dont_write_bytecode = True  # a file of bytecode that is cut off would break every later import
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (options.file_limit, options.file_limit))
    if options.as_nobody and os.geteuid() == 0:
        os.setuid(65534)
    json.dump(vars(judge(options.store, options.count)), sys.stdout)


def logging_off() -> None:
    """The log repeats what the judgments say."""
    import logging

    logging.disable(logging.CRITICAL)


if __name__ == "__main__":
    main()
