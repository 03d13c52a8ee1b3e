"""Every fault of an HTTP answer as one table: ``python tests/reliability/wire_table.py``."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.support.wire import VENDORS, WireServer
from tests.support.wire_faults import ATTEMPTS, FAULTS, Fault, judged

TABLE = Path(__file__).parents[2] / "docs" / "reliability" / "wire.md"
HEAD = ("Fault", "vendor", "requests", "judgment", "requests while it lasts", "judgment while it lasts")
ABOUT = f"""# Faults of a single answer

A critic asks a local server that writes one wrong HTTP answer and then a good one, or wrong answers only. FAIL is the
right judgment of each case. A model may be asked {ATTEMPTS} times (`Limits(attempts={ATTEMPTS})`).

- The first *requests* and *judgment* are those of one wrong answer before a good one. A fault that may pass costs one
  more request and never the judgment. A final error is not repeated.
- *While it lasts* every answer is wrong, and the judgment is an ERROR of the kind that is shown.

`python tests/reliability/wire_table.py` runs every fault for both vendors and writes this table. It fails when a row is
not as `tests/support/wire_faults.py` expects, and `tests/models/test_wire_faults.py` asserts the same expectations.

"""
Seen: TypeAlias = "tuple[tuple[int, str], tuple[int, str]]"


def page(seen: Callable[[Fault, str], Seen]) -> Iterator[str]:
    """Yield the lines of the page.

    Args:
        seen: the requests and the judgment of a fault and a vendor, for one wrong answer and for wrong answers only.
    """
    yield from ABOUT.splitlines()
    yield _line(*HEAD)
    yield _line("---", "---", "---:", "---", "---:", "---")
    for fault in FAULTS:
        for vendor in VENDORS:
            once, lasting = seen(fault, vendor)
            yield _line(fault.name, vendor, *map(str, once + lasting))


def expected(fault: Fault, vendor: str) -> Seen:
    """Return what the list of faults expects; it is the same for every vendor."""
    return fault.once, fault.lasting


def main() -> int:
    """Run every fault, write the page, and report the rows that are not as expected."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, default=TABLE)
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    wrong: list[str] = []
    with WireServer() as server:

        def measured(fault: Fault, vendor: str) -> Seen:
            once, requests = judged(server, fault, vendor), len(server.requests)
            lasting = judged(server, fault, vendor, lasting=True)
            seen = (requests, fault.shown(once)), (len(server.requests), fault.shown(lasting))
            if seen != expected(fault, vendor):
                wrong.append(f"{fault.name} ({vendor}): {seen}, expected {expected(fault, vendor)}: {lasting.error}")
            return seen

        lines = list(page(measured))
    print("\n".join(wrong) or f"{len(lines)} lines, every row as expected")
    if not wrong:
        options.write.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 1 if wrong else 0


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main())
