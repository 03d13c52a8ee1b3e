"""One of many processes that write to one PostgreSQL store.

``python postgres_writer.py URL NAME FIRST LAST`` writes the judgments of the numbers from FIRST to LAST, exclusive, and
a line per judgment once it is durable: ``<number>``, or ``<number> <error>`` when the store did not take it. Every
twentieth is an ERROR, which is recorded and never served. NAME tells whose judgment was kept.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from jury_adapters import ConfigurationError, Judgment
from jury_adapters.core.cache import CacheKey
from jury_adapters.store import open_store
from jury_adapters.testing import a_case, errored, passed

IN_FLIGHT = 128


def key_of(number: int) -> CacheKey:
    """The key of a judgment."""
    return CacheKey(f"case {number:06}", "critic", "rubric", "0")


def judgment_of(number: int, name: str) -> Judgment:
    """The judgment of a number by the process NAME."""
    return errored() if is_error(number) else passed(reasoning=f"{name} of {number}")


def is_error(number: int) -> bool:
    """Whether the judgment of this number is an ERROR."""
    return number % 20 == 0


async def main() -> None:
    """Write, many at a time."""
    url, name, first, last = sys.argv[1:]
    store = open_store(url)
    numbers = iter(range(int(first), int(last)))

    async def writer() -> None:
        for number in numbers:
            try:
                await store.put(key_of(number), a_case(question=str(number)), judgment_of(number, name))
                told = f"{number}\n"
            except ConfigurationError as error:
                told = f"{number} {error}\n"
            os.write(1, told.encode())

    await asyncio.gather(*(writer() for _ in range(IN_FLIGHT)))
    store.close()


if __name__ == "__main__":
    asyncio.run(main())
