"""How often a calibration grants a false guarantee, and how many cases it decides, by simulation.

`false` draws labelled cases whose tiers err at a constant rate just above the limit, whatever their confidence: every
guarantee that they are granted is false. `kept` draws them from populations in which the confidence means something, or
misleads, and counts a guarantee as false if the share of errors among all cases that it decides is above the limit.
`coverage` draws labelled cases from recorded votes, which are the population, and counts what is decided of all of
them; beside it is what version 0.2 decided on the same draws. A calibration that is refused decides nothing. The seeds
are fixed.

The exit code is 1 if a rate of false guarantees is above delta by more than two standard errors, or a coverage below
that of version 0.2.

Usage: python benchmarks/guarantees.py [DRAWS] [false | kept | coverage ...]
"""

import csv
import gzip
import hashlib
import sys
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from math import sqrt
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jury_adapters.calibrate.thresholds import Choice, choose, decider
from jury_adapters.stats import Votes, reliabilities
from jury_adapters.stats.votes import MISSING

DRAWS = 1000
DELTA = 0.1
TESTS = Path(__file__).parents[1] / "tests"
Array = NDArray[Any]


class Trials(NamedTuple):
    """Confidences of the tiers, and whether they agree with the human label; cases x tiers."""

    confidences: Array
    correct: Array

    def outcome(self, choice: Choice) -> tuple[float, float]:
        """Return the share of cases that is decided, and the share of these that is wrong."""
        by = decider(self.confidences, choice)
        decided = by >= 0
        right = np.take_along_axis(self.correct, by.clip(0)[:, None], axis=1)[:, 0]
        return float(decided.mean()), float((decided & ~right).sum() / max(1, decided.sum()))


class Line(NamedTuple):
    """Line of the table.

    Attributes:
        part: the part of the simulation.
        kind: the population.
        labels: the labelled cases of a draw.
        agreement: the agreement that is to be guaranteed.
        granted: the share of draws that are granted a guarantee.
        false: the share of draws that are granted a false one.
        coverage: the mean share of the population that is decided.
        before: that of version 0.2; None where it is not compared.
    """

    part: str
    kind: str
    labels: int
    agreement: float
    granted: float
    false: float
    coverage: float
    before: float | None = None

    def holds(self, draws: int) -> bool:
        """Return whether the line is as it should be, within two standard errors of its rate."""
        limit = DELTA + 2 * sqrt(DELTA * (1 - DELTA) / draws)
        return self.false <= limit and round(self.coverage, 4) >= (self.before or 0.0)


def simulate(line: Line, draw: Callable[[np.random.Generator], Trials], population: Trials | None, draws: int) -> Line:
    """Return a line with the rates of so many draws; without a population, every guarantee is false."""
    random, alpha = np.random.default_rng(0), 1 - line.agreement
    granted, false, coverage = 0, 0, 0.0
    for _ in range(draws):
        choice = choose(*draw(random), alpha, DELTA)
        if choice is not None:
            decided, wrong = population.outcome(choice) if population else (choice.decided / line.labels, 1.0)
            granted, false, coverage = granted + 1, false + (wrong > alpha + 1e-9), coverage + decided
    return line._replace(granted=granted / draws, false=false / draws, coverage=coverage / draws)


def false_lines(draws: int) -> Iterator[Line]:
    """Twenty kinds of tiers that err at a constant rate, just above the limit."""
    shapes = [
        *product((1, 2, 3), (60, 200, 1000), ("any confidence", "vote shares")),
        (2, 300, "opposed confidences"),
        (3, 300, "equal tiers"),
    ]
    for tiers, labels, shape in shapes:
        agreement = 0.95 if labels == 1000 else 0.9

        def draw(random: np.random.Generator, given: Any = (tiers, labels, shape, agreement)) -> Trials:
            tiers, labels, shape, agreement = given
            sure = random.random((labels, tiers))
            if shape == "vote shares":
                sure = np.array([1.0, 0.8, 0.6])[(3 * sure).astype(int)]
            elif shape == "opposed confidences":
                sure[:, 1] = 1 - sure[:, 0]
            luck = random.random((labels, tiers))
            if shape == "equal tiers":
                sure, luck = np.tile(sure[:, :1], tiers), np.tile(luck[:, :1], tiers)
            return Trials(sure, luck > 1 - agreement + 1e-4)

        kind = f"{tiers} {'tier' if tiers == 1 else 'tiers'}, {shape}"
        yield simulate(Line("false", kind, labels, agreement, 0, 0, 0), draw, None, draws)


def made_up(kind: str, size: int = 20_000) -> Trials:
    """Return a population of three tiers in which the confidence is as good as the kind says."""
    random = np.random.default_rng(7)
    sure = random.beta(6, 2, (size, 3)) * 0.5 + 0.5
    risks = {
        "honest": 1 - sure,
        "too sure": np.clip(3 * (1 - sure), 0, 0.5),
        "backwards": 0.4 * (sure - 0.5) + 0.02,
        "one bad tier": np.column_stack([np.full(size, 0.4), 1 - sure[:, 1], (1 - sure[:, 2]) / 2]),
        "coarse": 1 - sure.round(1),
        "rash at the top": np.where(sure > 0.97, 0.3, 0.07),
    }
    return Trials(sure.round(1) if kind == "coarse" else sure, random.random(sure.shape) >= risks[kind])


def kept_lines(draws: int) -> Iterator[Line]:
    """Populations in which the confidence means something, or misleads."""
    kinds = ("honest", "too sure", "backwards", "one bad tier", "coarse", "rash at the top")
    for kind, labels in product(kinds, (150, 400)):
        yield drawn_from(Line("kept", kind, labels, 0.9, 0, 0, 0), made_up(kind), draws)


def drawn_from(line: Line, population: Trials, draws: int) -> Line:
    """Return a line whose labelled cases are drawn from a population, with replacement."""

    def draw(random: np.random.Generator) -> Trials:
        chosen = random.integers(0, len(population.correct), line.labels)
        return Trials(population.confidences[chosen], population.correct[chosen])

    return simulate(line, draw, population, draws)


@cache
def rows(path: str) -> list[dict[str, str]]:
    """Return the rows of a file of recorded votes."""
    with gzip.open(TESTS / path, "rt", encoding="utf-8") as file:
        return list(csv.DictReader(file))


SMALL3 = ("gpt-4o-mini", "gemini-1.5-flash", "claude_3.5_haiku")
SMALL7 = (*SMALL3, "deepseek-chat", "qwen-coder-plus", "gpt-4.1-mini", "gemini-2.5-flash")


@cache
def codefeedback(panel: tuple[str, ...], fold: int | None = None) -> Votes:
    """Return the votes of a panel on feedback to programs; half of the programs (fold 0) may fit, half report."""
    found = [
        row
        for row in rows("data/codefeedback_votes.csv.gz")
        if fold is None or int(hashlib.sha256(f"fit{row['program']}".encode()).hexdigest()[:8], 16) % 2 == fold
    ]
    names = panel or tuple(found[0])[4:]
    votes = [[row[name] for name in names] for row in found]
    return Votes.from_rows(votes, jurors=names, human_labels=[row["gold"] for row in found], pass_labels=["valid"])


def shares(panel: tuple[str, ...]) -> tuple[Array, Array]:
    """Return the share of the majority of a panel, and whether it is right."""
    votes = codefeedback(panel)
    passed, failed = ((votes.codes[:, :-1] == code).sum(axis=1) for code in (1, 0))
    sure = np.where(passed + failed, np.maximum(passed, failed) / np.maximum(passed + failed, 1), -1.0)
    return sure, ((passed > failed) == votes.gold) & (sure >= 0)


def posteriors(panel: tuple[str, ...]) -> tuple[Array, Array]:
    """Return the posterior of a panel on one half of the programs, with reliabilities that the other half shows."""
    votes = codefeedback(panel, 1)
    codes = votes.codes[:, :-1]
    found = reliabilities(codefeedback(panel, 0)).posterior(codes)
    sure = np.where((codes != MISSING).any(axis=1), found.max(axis=1), -1.0)
    return sure, (found.argmax(axis=1) == votes.gold) & (sure >= 0)


@cache
def recorded(kind: str) -> Trials:
    """Return the trials of a cascade of recorded votes.

    `llmbar` has, for 419 pairs of LLMBar (Zeng et al., ICLR 2024; princeton-nlp/LLMBar, MIT licence), how many votes of
    PaLM2, of PaLM2, ChatGPT and LLaMA2, and of GPT-4 prefer each answer, over all prompts and both orders.
    """
    if kind == "llmbar":
        counts = np.array([[int(row[name]) for name in list(row)[1:]] for row in rows("calibrate/llmbar_tiers.csv.gz")])
        a, b = counts[:, ::2], counts[:, 1::2]
        gold = np.array([[row["gold"] == "A"] for row in rows("calibrate/llmbar_tiers.csv.gz")])
        return Trials(np.maximum(a, b) / np.maximum(a + b, 1), (a >= b) == gold)
    tiers = {
        "3 small -> with pro -> all, Bayes": map(posteriors, (SMALL3, (*SMALL3, "gemini-2.5-pro"), ())),
        "3 small -> all": map(shares, (SMALL3, ())),
        "1 -> all": map(shares, (("gemini-2.5-flash",), ())),
        "1 -> 7 small": map(shares, (("gpt-4o-mini",), SMALL7)),
        "all": map(shares, ((),)),
    }[kind]
    return Trials(*(np.column_stack(part) for part in zip(*tiers, strict=True)))


BEFORE: dict[tuple[str, int], dict[float, float]] = {
    ("3 small -> with pro -> all, Bayes", 1000): {
        0.86: 1.0,
        0.87: 0.9999,
        0.88: 0.9983,
        0.89: 0.9896,
        0.9: 0.9697,
        0.91: 0.9279,
        0.92: 0.8583,
        0.93: 0.7855,
        0.94: 0.6255,
        0.95: 0.2982,
        0.96: 0.0641,
    },
    ("llmbar", 300): {0.8: 0.9847, 0.85: 0.8581, 0.9: 0.7007},
    ("3 small -> all", 100): {0.9: 0.4598, 0.94: 0.0685},
    ("3 small -> all", 300): {0.9: 0.9408, 0.94: 0.33},
    ("1 -> all", 100): {0.9: 0.4241, 0.94: 0.068},
    ("1 -> all", 300): {0.9: 0.9355, 0.94: 0.3301},
    ("1 -> 7 small", 100): {0.9: 0.2912, 0.94: 0.0383},
    ("1 -> 7 small", 300): {0.9: 0.8947, 0.94: 0.1363},
    ("all", 100): {0.9: 0.5484, 0.94: 0.0766},
    ("all", 300): {0.9: 0.9617, 0.94: 0.4436},
}
"""Coverage of version 0.2 (``method="both"``, its default) on the first 200 draws, by kind, labels and agreement."""


def coverage_lines(_: int) -> Iterator[Line]:
    """Recorded votes, in every configuration in which version 0.2 was measured."""
    for (kind, labels), before in BEFORE.items():
        for agreement, found in before.items():
            yield drawn_from(Line("coverage", kind, labels, agreement, 0, 0, 0, found), recorded(kind), 200)


PARTS = {"false": false_lines, "kept": kept_lines, "coverage": coverage_lines}


def table(lines: list[Line]) -> str:
    """Return the table, as Markdown."""
    head = [
        "| part | kind | labels | agreement | granted | false | coverage | 0.2 |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    body = [
        f"| {one.part} | {one.kind} | {one.labels} | {one.agreement:g} | {one.granted:.3f} | {one.false:.3f} "
        f"| {one.coverage:.3f} | {'' if one.before is None else f'{one.before:.3f}'} |"
        for one in lines
    ]
    return "\n".join([*head, *body])


def main(arguments: list[str]) -> int:
    """Simulate, print the table, and return the exit code."""
    draws = int(arguments[0]) if arguments else DRAWS
    lines = [line for part in arguments[1:] or PARTS for line in PARTS[part](draws)]
    print(table(lines))
    return int(not all(line.holds(200 if line.part == "coverage" else draws) for line in lines))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
