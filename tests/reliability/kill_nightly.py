"""The full promise about kills: ``python tests/reliability/kill_nightly.py --kills 20 --cases 2000``."""

from __future__ import annotations

import argparse
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.reliability.killing import run


def main() -> None:
    """Run it and print what it came to; the seed makes a failure repeatable."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--in-flight", type=int, default=16)
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    print(run(options.kills, options.cases, seed=options.seed, in_flight=options.in_flight))


if __name__ == "__main__":
    main()
