"""The soak at full size: ``python tests/reliability/soak_nightly.py --judgments 100000``."""

from __future__ import annotations

import argparse
import logging
import platform
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.reliability.panel import JURORS
from tests.reliability.soak import Mark, soak

TABLE = Path(__file__).parents[2] / "docs" / "reliability" / "soak.md"
MORE_BLOCKS, MORE_MB, MORE_FILES = 30_000, 16, 16
ABOUT = """# A hundred thousand judgments

{judgments:,} judgments in one process, by a panel of {jurors} critics through the real SDKs. Of a hundred requests two
get a 500, one a 429, one a hang-up and one half a body. Every judgment was checked and is right. The local server runs
in the same process, so its end of each connection counts too.

`python tests/reliability/soak_nightly.py --judgments {asked}` makes this table (Python {python}). It fails when a
judgment is missing or wrong, when memory grows by {blocks:,} blocks or {mb} MB from the second row to the last, or when
the most open files and sockets of the second half are {files} more than those of the first. How many are open at one
moment goes up and down with the requests in flight.

"""


def main() -> None:
    """Judge, print a line for each tenth, check that nothing grows, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judgments", type=int, default=100_000)
    parser.add_argument("--write", type=Path, default=TABLE)
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    print(Mark.HEAD, flush=True)
    marks = soak(10 * -(-options.judgments // (10 * JURORS)), show=True)
    early, late = marks[1], marks[-1]
    assert late.blocks - early.blocks < MORE_BLOCKS, "memory grows with the number of judgments"
    assert late.peak_mb - early.peak_mb < MORE_MB, "memory grows with the number of judgments"
    before, after = (max(mark.files for mark in half) for half in (marks[: len(marks) // 2], marks[len(marks) // 2 :]))
    assert after - before < MORE_FILES, "files or sockets stay open"
    about = ABOUT.format(
        judgments=late.judgments, jurors=JURORS, asked=options.judgments, python=platform.python_version(),
        blocks=MORE_BLOCKS, mb=MORE_MB, files=MORE_FILES,
    )  # fmt: skip
    table = [Mark.HEAD, "| ---: | ---: | ---: | ---: | ---: |", *map(str, marks)]
    options.write.parent.mkdir(parents=True, exist_ok=True)
    options.write.write_text(about + "\n".join(table) + "\n", encoding="utf-8")
    print("flat")


if __name__ == "__main__":
    main()
