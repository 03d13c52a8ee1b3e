"""Accuracy of the grounding screen on FaithBench, beside controls and published judges; prints a Markdown table.

    python tests/benchmarks/bench_grounding.py [--data DIR]

DIR holds ``faithbench_dev.jsonl.gz``. It defaults to the environment variable JURY_DATA, else to ``../shared/data``
beside the repository. FaithBench is CC BY-NC-SA: the data is read from there and never copied here.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import re
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from jury_adapters.grounding.screen import grounding_screen

BAD, GOOD, OPEN = "hallucinated", "consistent", "abstained"
SAYS = {"FAIL": BAD, "PASS": GOOD}


@dataclass(frozen=True)
class Row:
    """One answer to judge, and what people said of it."""

    item: str
    answer: str
    contexts: tuple[str, ...]
    gold: str
    votes: dict[str, str] = field(default_factory=dict)


@dataclass
class Line:
    """One line of the table: what somebody said (``votes``) beside the truth (``golds``)."""

    name: str
    golds: list[str]
    votes: list[str]

    def said(self, label: str) -> str:
        """Percentage of rows with a label, and percentage of these labels that are right, with its 95 % interval."""
        right = [gold == label for gold, vote in zip(self.golds, self.votes, strict=True) if vote == label]
        share = f"{100 * len(right) / len(self.votes):.1f}"
        if not right or len(set(self.golds)) == 1:
            return share
        low, high = wilson(sum(right), len(right))
        return f"{share}, {100 * sum(right) / len(right):.0f} [{100 * low:.0f}, {100 * high:.0f}]"

    def balanced(self) -> str:
        """The mean over both classes of the share judged rightly; an abstention counts one half, as a coin would."""
        if len(set(self.golds)) == 1:
            return "-"
        shares = []
        for label in (BAD, GOOD):
            votes = [vote for gold, vote in zip(self.golds, self.votes, strict=True) if gold == label]
            shares.append(statistics.mean(1.0 if vote == label else 0.5 if vote == OPEN else 0.0 for vote in votes))
        return f"{100 * statistics.mean(shares):.1f}"

    def __str__(self) -> str:
        left = 100 * Counter(self.votes)[OPEN] / len(self.votes)
        cells = [self.name, len(self.votes), self.said(BAD), self.said(GOOD), f"{left:.0f}", self.balanced()]
        return f"| {' | '.join(map(str, cells))} |"


def wilson(successes: int, trials: int, z: float = 1.96) -> tuple[float, float]:
    """The Wilson interval of a share, at 95 % by default."""
    share, square = successes / trials, z * z / trials
    centre = (share + square / 2) / (1 + square)
    half = z * (share * (1 - share) / trials + square / (4 * trials)) ** 0.5 / (1 + square)
    return centre - half, centre + half


def read(path: Path) -> list[Row]:
    """The rows of the file.

    Raises:
        SystemExit: it is not there; the message says what to do.
    """
    if not path.is_file():
        sys.exit(f"no {path.name} in {path.parent}; give its folder with --data DIR or in the variable JURY_DATA")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        found = [json.loads(line) for line in file]
    return [
        Row(
            row["item_id"],
            row["answer"],
            tuple(row["contexts"]),
            row["gold"],
            {judge: vote["label"] for judge, vote in row["votes"].items()},
        )
        for row in found
    ]


def screened(rows: Iterable[Row]) -> list[str]:
    """Label that the screen gives each row."""
    screen = grounding_screen()
    return [SAYS.get(str(screen.judge(answer=row.answer, contexts=row.contexts).status), OPEN) for row in rows]


def changed(rows: Iterable[Row], change: Callable[[Row, random.Random], str | None]) -> list[Row]:
    """Consistent answers made wrong by a rule; each row has its own seed, so the table is the same each time."""
    pairs = ((row, change(row, random.Random(row.item))) for row in rows if row.gold == GOOD)
    return [Row(row.item, answer, row.contexts, BAD) for row, answer in pairs if answer is not None]


NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{2,}\b(?! [A-Z])")
NUMBER = re.compile(r"(?<![\w.,$-])\d{2,4}(?![\w.,-]?\d|\w)")


def swap(row: Row, draw: random.Random) -> str | None:
    """Put another number, else another name, of the same context in the place of one in the answer."""
    text = " ".join(row.contexts)
    for kind in (NUMBER, NAME):
        others: list[str] = sorted({found for found in kind.findall(text) if found not in row.answer})
        places = [place for place in kind.finditer(row.answer) if place[0] in text]
        if others and places:
            place = draw.choice(places)
            return row.answer[: place.start()] + draw.choice(others) + row.answer[place.end() :]
    return None


def foreign_number(row: Row, draw: random.Random) -> str | None:
    """Put a number that the context has not in the place of one in the answer."""
    places = list(NUMBER.finditer(row.answer))
    if not places:
        return None
    place = draw.choice(places)
    known = "".join(row.contexts)
    low, high = 10 ** (len(place[0]) - 1) + 1, 10 ** len(place[0])
    numbers = [str(number) for number in range(low, high) if str(number) not in known]
    number: str = draw.choice(numbers)
    return row.answer[: place.start()] + number + row.answer[place.end() :]


def table(rows: list[Row]) -> str:
    """The whole table, with a line that says what it means."""
    golds = [row.gold for row in rows]
    started = time.perf_counter()
    votes = screened(rows)
    each = 1000 * (time.perf_counter() - started) / len(rows)
    lengths = [len(row.answer) for row in rows]
    middle = statistics.median(lengths)
    lines = [
        Line("`grounding_screen()`", golds, votes),
        Line("control: always hallucinated", golds, [BAD] * len(rows)),
        Line("control: longer than the median answer", golds, [BAD if length > middle else GOOD for length in lengths]),
    ]
    lines += [
        Line(f"{judge}, published labels", golds, [row.votes.get(judge, OPEN) for row in rows])
        for judge in ("gpt-4o", "gpt-4-turbo", "hhem-2.1")
    ]
    swapped, foreign = changed(rows, swap), changed(rows, foreign_number)
    lines.append(Line("screen on swap: name or number of the same context", [BAD] * len(swapped), screened(swapped)))
    lines.append(Line("screen on a number from elsewhere", [BAD] * len(foreign), screened(foreign)))
    same = {row.item for row in swapped}
    before = statistics.mean(vote == BAD for row, vote in zip(rows, votes, strict=True) if row.item in same)
    head = (
        "| on FaithBench (dev) | cases | not grounded %, right % | grounded %, right % | abstained % | balanced % |\n"
    )
    return f"{head}|---|---|---|---|---|---|\n" + "\n".join(map(str, lines)) + "\n\n" + _meaning(rows, each, before)


def _meaning(rows: list[Row], each: float, before: float) -> str:
    base = 100 * sum(row.gold == BAD for row in rows) / len(rows)
    return (
        f"How often each verdict is given, and how often rightly [95 % Wilson]; {base:.0f} % of these hand-picked "
        "answers are hallucinated. Balanced: 50 is chance, an abstention counts one half. "
        f"The screen took {each:.1f} ms a case. It decides little and leaves the rest to a judge that understands. "
        "A wrong name or number copied from the context is invisible to it: "
        f"{100 * before:.0f} % of the swapped answers were flagged before the swap, too. How it reads dates, initials "
        "and compounds was mended after looking at false alarms of this very set (before, it flagged 113 and was right "
        "on 63 %), so its line flatters a little."
    )


def main() -> None:
    """Read the arguments and print the table."""
    beside = Path(__file__).resolve().parents[3] / "shared" / "data"
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("JURY_DATA") or beside))
    print(table(read(parser.parse_args().data / "faithbench_dev.jsonl.gz")))


if __name__ == "__main__":
    main()
