"""Coverage of the 95 % intervals of `jury_adapters.stats`, by simulation: how often they hold the truth.

Each *kind* is a population of cases with a known truth. Batches are drawn from it, and their intervals are looked at. A
line of the table pools the kinds of one figure and one size: their mean coverage, the kind that covers least, the least
that is allowed, and the mean width. The least of many estimates is too low by chance, so batches of that kind are drawn
again, five times as many; that is the coverage shown. Cases in groups share a part of their luck. The seeds are fixed.

The exit code is 1 if a shown coverage is below the allowed one by more than two standard errors.

Usage: python benchmarks/coverage.py [REPETITIONS] [PART ...]
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jury_adapters.stats import (
    Figure,
    Votes,
    against_labels,
    alpha,
    alpha_of_scores,
    cohen_kappa,
    compare,
    confidence_quality,
    graded_agreement,
    gwet_ac1,
    pass_rate,
    raw_agreement,
    self_preference,
    true_pass_rate,
)
from jury_adapters.stats.rates import random_sample_test

REPETITIONS = 200
Array = NDArray[Any]
Found = dict[str, tuple[Figure, float]]
"""Figures of a batch by the name in the table, each with the truth."""


class Kind(NamedTuple):
    """A kind of batches.

    Attributes:
        line: the size, which tells the line of the table.
        name: what tells it from other kinds of the line.
        least: the least coverage that is allowed.
        draw: draws a batch and returns its figures.
    """

    line: str
    name: str
    least: float
    draw: Callable[[np.random.Generator], Found]


def votes_of(codes: Array, groups: Array, **columns: Any) -> Votes:
    """Return votes of PASS (1) and FAIL (0) made of arrays; the last column is the jury."""
    n, voters = codes.shape
    names = tuple("abcdefg"[: voters - 1])
    made = Votes.from_rows([[True] * len(names)], jurors=names, human_labels=[True], verdicts=[True])
    nothing, none = np.full(n, np.nan), np.full(codes.shape, np.nan)
    whole = {
        "codes": codes.astype(np.int64),
        "asked": np.ones(codes.shape, dtype=bool),
        "confidences": none,
        "scores": none,
        "orders": np.full((*codes.shape, 2), -1),
        "gold": np.full(n, -1),
        "grades": nothing,
        "groups": groups,
        "contents": 0 * groups,
        "keys": np.arange(n).astype(str),
        "lengths": nothing,
        "generators": np.full(n, ""),
    }
    return replace(made, **{**whole, **columns})


def jury_of(verdicts: Array, groups: Array, **columns: Any) -> Votes:
    """Return the votes of a jury without jurors."""
    return votes_of(np.column_stack([verdicts, verdicts]), groups, **columns)


def outcomes(random: np.random.Generator, shares: Any, correlation: float, groups: Array) -> Array:
    """Return an outcome per case: each group has shares of its own, so that two of its cases have the correlation."""
    shares, number = np.asarray(shares), int(groups.max()) + 1
    if correlation == 0:
        own = np.tile(shares, (number, 1))
    elif correlation == 1:
        own = np.eye(len(shares))[random.choice(len(shares), number, p=shares)]
    else:
        own = random.gamma(shares * (1 / correlation - 1), size=(number, len(shares))) + 1e-300
        own = own / own.sum(axis=1, keepdims=True)
    return (random.random(len(groups))[:, None] > own.cumsum(axis=1)[groups]).sum(axis=1).clip(0, len(shares) - 1)


def size(number: int, of: int, what: str = "cases") -> str:
    """Return the words for a size; groups of 0 are unequal."""
    return f"{number} {what}" if of == 1 else f"{number} groups of {of or '1 to 40'}"


def agreement_kinds() -> Iterator[Kind]:
    """Jurors give a case one label with the chance kappa, and else vote each for itself."""
    rates = product((30, 100, 200), (1, 5), (0.5, 0.9, 0.95), (0.2, 0.8, 0.95), (2, 3))
    for cases, of, passes, kappa, jurors in rates:
        by_chance = passes**2 + (1 - passes) ** 2
        agree = kappa + (1 - kappa) * by_chance
        truth = {"raw agreement": agree, "alpha": kappa, "AC1": (agree - 1 + by_chance) / by_chance, "kappa": kappa}

        def draw(random: np.random.Generator, given: Any = (cases, of, passes, kappa, jurors, truth)) -> Found:
            cases, of, passes, kappa, jurors, truth = given
            groups = np.arange(cases) // of
            copied = np.where(random.random(cases) < (0.6 if of > 1 else 0), groups * of, np.arange(cases))
            together, alone = random.random((cases, 1)) < passes, random.random((cases, jurors)) < passes
            said = np.where(random.random((cases, 1)) < kappa, together, alone)[copied]
            votes = votes_of(np.column_stack([said, said[:, 0]]), groups)
            found = {"raw agreement": raw_agreement(votes), "alpha": alpha(votes), "AC1": gwet_ac1(votes)}
            found |= {"kappa": cohen_kappa(votes, "a", "b")} if jurors == 2 else {}
            return {name: (one, truth[name]) for name, one in found.items()}

        yield Kind(size(cases // of, of), f"{passes:g} pass, kappa {kappa:g}, {jurors} jurors", 0.92, draw)


def graded_kinds() -> Iterator[Kind]:
    """Scores of jurors that are normal, with a common part of each case; grades of people are one of them."""
    for cases, common, jurors in product((30, 100), (0.5, 0.9, 0.98), (2, 3)):

        def draw(random: np.random.Generator, given: Any = (cases, common, jurors)) -> Found:
            cases, common, jurors = given
            shared, own = random.normal(size=(cases, 1)), random.normal(size=(cases, jurors + 1))
            scores, none = np.sqrt(common) * shared + np.sqrt(1 - common) * own, np.full((cases, jurors + 1), -1)
            votes = votes_of(none, np.arange(cases), scores=scores[:, [*range(jurors), 0]], grades=scores[:, -1])
            kappa, spearman = graded_agreement(votes)[:2]
            return {
                "alpha of scores": (alpha_of_scores(votes), common),
                "quadratic kappa": (kappa, common),
                "Spearman": (spearman, 6 / np.pi * np.arcsin(common / 2)),
            }

        yield Kind(size(cases, 1), f"agreement {common:g}, {jurors} jurors", 0.87, draw)


def share_kinds() -> Iterator[Kind]:
    """Pass rates of verdicts, and differences between two systems on the same cases."""
    pairs = ((0.7, 0.05, 0.05, 0.2), (0.85, 0.02, 0.08, 0.05), (0.4, 0.1, 0.3, 0.2), (0.95, 0.02, 0.02, 0.01))
    alone = product(((30, 1), (200, 1)), pairs, (0.0,))
    for (number, of), shares, correlation in [
        *alone,
        *product(product((8, 20, 40), (5, 28, 0)), pairs, (0.0, 0.3, 0.8, 1.0)),
    ]:

        def draw(random: np.random.Generator, given: Any = (number, of, shares, correlation)) -> Found:
            number, of, shares, correlation = given
            counts = random.choice((1, 1, 2, 3, 5, 8, 20, 40), number) if of == 0 else np.full(number, of)
            groups = np.repeat(np.arange(number), counts)
            found = outcomes(random, shares, correlation, groups)
            a, b = (jury_of(np.isin(found, passes), groups) for passes in ((0, 1), (0, 2)))
            return {
                "pass rate of verdicts": (pass_rate(a), shares[0] + shares[1]),
                "paired difference": (compare(a, b), shares[2] - shares[1]),
            }

        yield Kind(size(number, of), f"{shares}, correlation {correlation:g}", 0.9 if number == 8 else 0.93, draw)


def unpaired_kinds() -> Iterator[Kind]:
    """Differences between two systems on different cases."""
    rates = ((0.5, 0.5), (0.5, 0.8), (0.8, 0.97), (0.97, 0.97))
    for cases, of, both in product(((30, 30), (30, 300), (200, 200)), (1, 5), rates):

        def draw(random: np.random.Generator, given: Any = (cases, of, both)) -> Found:
            cases, of, both = given
            found = []
            for n, rate in zip(cases, both, strict=True):
                groups = np.arange(n) // of
                said = outcomes(random, (rate, 1 - rate), 0.3 if of > 1 else 0.0, groups) == 0
                found.append(jury_of(said, groups))
            return {"unpaired difference": (compare(*found, paired=False), both[1] - both[0])}

        line = f"{cases[0]} and {cases[1]} cases{' in groups of 5' if of > 1 else ''}"
        yield Kind(line, f"rates {both}", 0.92, draw)


def label_kinds() -> Iterator[Kind]:
    """Pass rates corrected by human labels, and a jury against human labels."""
    juries = ((0.95, 0.5), (0.98, 0.7), (1.0, 0.9))
    alone = product((30, 100, 200), (1,), (100, 1000), (0.5, 0.7, 0.9, 0.97), (0.0,), juries)
    grouped = product((8, 20, 40), (5, 28), (0,), (0.5, 0.9), (0.0, 0.3, 0.8), ((0.6, 0.8), (0.95, 0.7)))
    for number, of, others, rate, correlation, (tpr, tnr) in [*alone, *grouped]:

        def draw(random: np.random.Generator, given: Any = (number, of, others, rate, correlation, tpr, tnr)) -> Found:
            number, of, others, rate, correlation, tpr, tnr = given
            n = number * of + others
            groups = np.arange(n) // of
            good = outcomes(random, (rate, 1 - rate), correlation, groups) == 0
            said = random.random(n) < np.where(good, tpr, 1 - tnr)
            known = random.permutation(n) < (number if of == 1 else round(0.4 * n))
            votes = jury_of(said, groups, gold=np.where(known, good, -1))
            found: Found = {"true pass rate": (true_pass_rate(votes), rate)}
            if others == 100:
                of_jury = {one.name: one for one in against_labels(votes, ["the jury"])}
                found["balanced accuracy"] = (of_jury["balanced accuracy"], (tpr + tnr) / 2)
            return found

        name = f"rate {rate:g}, TPR {tpr:g}, TNR {tnr:g}, {others} others, correlation {correlation:g}"
        yield Kind(size(number, of, "labels"), name, 0.93, draw)


def corrected_kinds() -> Iterator[Kind]:
    """Differences corrected by human labels of both answers; half of the cases are as hard for both systems."""
    juries = (((0.95, 0.7), (0.95, 0.7)), ((0.99, 0.4), (0.8, 0.9)))
    for labels, rates, both, of in product((30, 100, 200), ((0.5, 0.5), (0.7, 0.8), (0.95, 0.97)), juries, (1, 5)):

        def draw(random: np.random.Generator, given: Any = (labels, rates, both, of)) -> Found:
            labels, rates, both, of = given
            n = labels + 500
            groups, known = np.arange(n) // of, random.permutation(n) < labels
            of_group = random.random(n)[groups]
            hard = np.where(random.random(n) < (0.5 if of > 1 else 0), of_group, random.random(n))
            found = []
            for rate, (tpr, tnr) in zip(rates, both, strict=True):
                good = np.where(random.random(n) < 0.5, hard, random.random(n)) < rate
                said = random.random(n) < np.where(good, tpr, 1 - tnr)
                found.append(jury_of(said, groups, gold=np.where(known, good, -1)))
            difference = compare(*found)  # that of verdicts if the labels do not differ
            return {difference.name: (difference, rates[1] - rates[0])}

        yield Kind(f"{labels} labels{' in groups of 5' if of > 1 else ''}", f"rates {rates}, juries {both}", 0.93, draw)


AREAS = {0.0: 0.5, 1.0: 0.7602499, 2.0: 0.9213504}  # the normal probability of distance / sqrt(2)


def confidence_kinds() -> Iterator[Kind]:
    """Confidence whose logit is normal around a higher mean for right votes, so that the AUROC is known."""
    for cases, accuracy, distance, of in product((50, 200), (0.6, 0.9), AREAS, (1, 5)):

        def draw(random: np.random.Generator, given: Any = (cases, accuracy, distance, of)) -> Found:
            cases, accuracy, distance, of = given
            groups = np.arange(cases) // of
            right = outcomes(random, (accuracy, 1 - accuracy), 0.3 if of > 1 else 0.0, groups) == 0
            sure = 1 / (1 + np.exp(-(random.normal(size=cases) + distance * right)))
            said, confidences = np.ones(cases), np.column_stack([sure, sure])
            votes = jury_of(said, groups, gold=right.astype(int), confidences=confidences)
            return {"AUROC of confidence": (confidence_quality(votes)[0], AREAS[distance])}

        yield Kind(size(cases // of, of), f"accuracy {accuracy:g}, AUROC {AREAS[distance]:.2f}", 0.92, draw)


def alarm_kinds() -> Iterator[Kind]:
    """Jurors without a preference for their own answers; and labels that are a random sample."""
    for cases, fails, of in product((100, 400), (0.5, 0.05), (1, 5)):

        def draw(random: np.random.Generator, given: Any = (cases, fails, of)) -> Found:
            cases, fails, of = given
            groups = np.arange(cases) // of
            good = outcomes(random, (fails, 1 - fails), 0.3 if of > 1 else 0.0, groups) == 1
            said = np.where(random.random((cases, 4)) < 0.9, good[:, None], ~good[:, None])
            wrote = np.where(np.arange(cases) % 3 == 0, "a", "another")
            found = self_preference(votes_of(said, groups, generators=wrote, gold=good.astype(int)))
            return {"self-preference of a juror without": (found[0], 0.0)}

        yield Kind(size(cases // of, of), f"{fails:g} fail", 0.93, draw)
    for number, of, passes, whole in product((10, 40), (3, 10), (0.5, 0.95), (False, True)):

        def sample(random: np.random.Generator, given: Any = (number, of, passes, whole)) -> Found:
            number, of, passes, whole = given
            groups = np.repeat(np.arange(number), of)
            said = outcomes(random, (passes, 1 - passes), 0.3, groups) == 0
            chosen = np.isin(groups, random.permutation(number)[: number // 3])
            labelled = chosen if whole else random.random(len(groups)) < 0.3
            refused = random_sample_test(labelled, said, groups) < 0.001
            return {"random samples that are accepted": (Figure("", 0.0, 1, (0.0, 0.0)), float(refused))}

        yield Kind(size(number, of), f"{passes:g} pass, whole groups: {whole}", 0.995, sample)


PARTS = {
    "agreement": agreement_kinds,
    "graded": graded_kinds,
    "shares": share_kinds,
    "unpaired": unpaired_kinds,
    "labels": label_kinds,
    "corrected": corrected_kinds,
    "confidence": confidence_kinds,
    "alarms": alarm_kinds,
}


class Line(NamedTuple):
    """Line of the table: the kinds of one figure and one size.

    Attributes:
        figure: the name of the figure.
        size: the size of its batches.
        kinds: their number.
        mean: the mean coverage.
        lowest: the coverage of the kind that covers least, of batches drawn again.
        least: the least that is allowed.
        width: the mean width of the intervals.
        worst: the kind that covers least.
    """

    figure: str
    size: str
    kinds: int
    mean: float
    lowest: float
    least: float
    width: float
    worst: str


def held(kind: Kind, repetitions: int, seed: list[int]) -> dict[str, tuple[float, float]]:
    """Return the coverage and the mean width of each figure that is defined in half of the batches."""
    random = np.random.default_rng(seed)
    found: dict[str, list[tuple[bool, float]]] = {}
    for _ in range(repetitions):
        for name, (one, truth) in kind.draw(random).items():
            if one.interval is not None:
                low, high = one.interval
                found.setdefault(name, []).append((low - 1e-9 <= truth <= high + 1e-9, high - low))
    return {name: tuple(np.mean(rows, axis=0)) for name, rows in found.items() if len(rows) >= repetitions / 2}


def simulate(parts: list[str], repetitions: int, every: int = 1, again: int = 5) -> list[Line]:
    """Return the lines of these parts; of each part every so many kinds."""
    found: dict[tuple[str, str], list[tuple[float, float, Kind]]] = {}
    for part in parts:
        for number, kind in enumerate([*PARTS[part]()][::every]):
            for name, (coverage, width) in held(kind, repetitions, [number, *part.encode()]).items():
                found.setdefault((name, kind.line), []).append((coverage, width, kind))
    lines = []
    for (name, line), kinds in found.items():
        lowest, _, worst = min(kinds, key=lambda one: one[0])
        lowest = held(worst, again * repetitions, [1, *worst.name.encode()])[name][0] if again else lowest
        coverage, width = (float(np.mean([one[at] for one in kinds])) for at in (0, 1))
        lines.append(Line(name, line, len(kinds), coverage, float(lowest), worst.least, width, worst.name))
    return lines


def table(lines: list[Line]) -> str:
    """Return the table, as Markdown."""
    head = [
        "| figure | size | kinds | coverage | least | allowed | width | kind that covers least |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | --- |",
    ]
    body = [
        f"| {one.figure} | {one.size} | {one.kinds} | {one.mean:.3f} | {one.lowest:.3f} | {one.least:g} "
        f"| {one.width:.3f} | {one.worst} |"
        for one in lines
    ]
    return "\n".join([*head, *body])


def main(arguments: list[str]) -> int:
    """Simulate, print the table, and return the exit code."""
    repetitions = int(arguments[0]) if arguments else REPETITIONS
    lines = simulate(arguments[1:] or [*PARTS], repetitions)
    print(table(lines))
    batches = 5 * repetitions
    return int(any(line.lowest < line.least - 2 * sqrt(line.least * (1 - line.least) / batches) for line in lines))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
