"""Common parts of coverage simulations: the least coverage, the command line, and the cells that cover too little."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from math import sqrt
from typing import Protocol, TypeVar

LEAST = 0.93
"""Coverage that a 95 % interval must reach in each cell of a grid."""


class Simulated(Protocol):
    """The result of one cell."""

    @property
    def coverage(self) -> float:
        """Share of the intervals that hold the truth, in 0..1."""


Result = TypeVar("Result", bound=Simulated)


def run_grid(
    arguments: Sequence[str] | None,
    description: str | None,
    repetitions: int,
    simulate: Callable[[int], Sequence[Result]],
    table: Callable[[Sequence[Result]], str],
    allowed: Callable[[int], float] = lambda repetitions: 0.0,
) -> int:
    """Simulate a grid, print its table and the cells that cover less than :data:`LEAST`; return the exit code.

    Args:
        arguments: command line; that of the process by default.
        description: text of ``--help``.
        repetitions: batches of a cell, by default.
        simulate: returns the results of a grid whose cells have so many batches.
        table: returns the table of the page.
        allowed: coverage below :data:`LEAST` that is taken for the luck of so many batches; none by default.
    """
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=repetitions, help=f"batches of a cell ({repetitions})")
    given = parser.parse_args(arguments)
    results = simulate(given.repetitions)
    print(table(results))
    least = LEAST - allowed(given.repetitions)
    low = [result for result in results if result.coverage < least]
    for result in low:
        print(f"below {least:.3f}: {result}")
    return 1 if low else 0


def three_standard_errors(repetitions: int) -> float:
    """Return three standard errors of a coverage of :data:`LEAST` in so many batches.

    In a grid of 640 cells whose coverage is exactly :data:`LEAST`, half lie below it, and about one lies three standard
    errors below.
    """
    return 3 * sqrt(LEAST * (1 - LEAST) / repetitions)
