"""The victim of the kill tests: judges cases with a store and writes each verdict as soon as it has it.

``python kill_resume.py OPENAI_URL ANTHROPIC_URL STORE CASES IN_FLIGHT`` writes ``<number> <status>`` lines.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.reliability.panel import cases, panel


def main() -> None:
    """Judge; every line is with the operating system before the next verdict is asked for."""
    openai_url, anthropic_url, store, count, in_flight = sys.argv[1:]
    verdicts = panel(openai_url, anthropic_url).judge_many(
        cases(int(count)), store=store, max_concurrency=int(in_flight)
    )
    for number, verdict in enumerate(verdicts):
        os.write(1, f"{number} {verdict.status} {len(verdict.judgments)}\n".encode())


if __name__ == "__main__":
    main()
