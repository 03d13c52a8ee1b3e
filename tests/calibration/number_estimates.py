"""Estimates of confidences, scores and repeated answers at the edges, and what is true of their numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from jury_adapters.calibration import Estimate, Votes
from jury_adapters.calibration.resampling import Resampling
from jury_adapters.statistics import confidence_quality, graded_agreement, retest

Rule = Callable[[Estimate], bool]

SENTENCES = {
    "statistics.confidence._overconfidence": "overconfidence",
    "statistics.confidence._auroc": "AUROC of confidence",
    "statistics.confidence._brier": "Brier score of confidence",
    "statistics.confidence._calibration_error": "expected calibration error",
    "statistics.consistency._same": "same answer again",
    "statistics.consistency._spread": "standard deviation within an item|ICC",
    "statistics.rating_agreement._estimate": "weighted kappa|spearman correlation|kendall tau-b",
}


def ends(estimate: Estimate) -> tuple[float, float]:
    """Return the interval as it is printed, with three decimals."""
    assert estimate.interval is not None
    return round(estimate.interval[0], 3), round(estimate.interval[1], 3)


def beside(value: float) -> dict[str, Rule]:
    """Return the rules of above, below, between and no interval, for a number that means chance."""
    return {
        "above": lambda f: f.interval is not None and ends(f)[0] > value,
        "below": lambda f: f.interval is not None and ends(f)[0] <= value and ends(f)[1] < value,
        "between": lambda f: f.interval is not None and ends(f)[0] <= value <= ends(f)[1],
        "none": lambda f: f.interval is None,
    }


ZERO, HALF = beside(0), beside(0.5)
GRADED = {
    "that is more than chance": ZERO["above"],
    "less than chance gives": ZERO["below"],
    "not shown to be more": ZERO["between"],
    "not tested": ZERO["none"],
}
DIRECTIONS: dict[str, dict[str, Rule]] = {
    "overconfidence": {
        "claims more than it delivers": ZERO["above"],
        "delivers more than it claims": ZERO["below"],
        "within chance": ZERO["between"],
        "without an interval": ZERO["none"],
    },
    "AUROC of confidence": {
        "does mean more often right": HALF["above"],
        "worse than chance": HALF["below"],
        "not shown to be better": HALF["between"],
        "without an interval": HALF["none"],
        "the same confidence": lambda f: f.value == 0.5 and f.interval is None,
    },
    "Brier score of confidence": {
        "larger than": lambda f: f.value > f.details["constant"],
        "smaller than": lambda f: f.value < f.details["constant"],
        "as large as": lambda f: abs(f.value - f.details["constant"]) < 1.001e-3,
    },
    "weighted kappa": GRADED,
    "kendall": GRADED,
    "spearman": GRADED,
    "spearman correlation": {
        "Scores rise": lambda f: f.value > 0,
        "Scores fall": lambda f: f.value < 0,
        "Scores do not rise or fall": lambda f: abs(f.value) < 0.00051,
    },
    "kendall tau-b": {
        "the same way more often": lambda f: f.value > 0,
        "the other way more often": lambda f: f.value < 0,
        "as often the same way": lambda f: abs(f.value) < 0.00051,
    },
    "ICC": {
        "is between items": lambda f: f.value > 0,
        "as much as those of different items": lambda f: f.value <= 0,
    },
}
PRINTED = {
    "overconfidence": lambda f: f"{f.details['confidence']:.3f}, and {f.details['accuracy']:.3f} of its",
    "AUROC": lambda f: f"{100 * f.value:.1f} %|the same confidence",
    "same answer again": lambda f: f"{100 * f.value:.1f} %",
    "Brier|expected|standard deviation": lambda f: f"{round(f.value, 3) + 0.0:.3f}",
    "ICC|weighted|spearman": lambda f: f"{round(f.value, 3) + 0.0:.3f}",
    "kendall tau-b": lambda f: f"{round(f.value, 3) + 0.0:.3f}|as often",
}


def of_numbers(random: np.random.Generator, seed: int) -> Iterator[Estimate]:
    """Yield the estimates of one batch of each kind."""
    how = Resampling(60, seed)
    items = int(random.choice([1, 2, 5, 30, 90, 400]))
    groups = [number // 3 for number in range(items)] if seed % 3 == 0 else []
    yield from confidence_quality(of_confidences(random, items, groups), resampling=how)
    yield from graded_agreement(of_grades(random, items, groups), resampling=how)
    base, spread = random.random((items, 1)), random.choice([0.0, 0.1, 1.0, 5.0])
    scores = base * random.choice([0.0, 0.2, 1.0]) + spread * random.random((items, 3))
    yield from retest(Votes.from_rows(scores.tolist(), groups=groups), "a", resampling=how)
    passed = random.random((items, 3)) < random.choice([0.0, 0.5, 0.9, 1.0])
    yield from retest(Votes.from_rows(passed.tolist(), groups=groups), "a", resampling=how)


def of_confidences(random: np.random.Generator, items: int, groups: list[int]) -> Votes:
    """Return answers whose confidence goes with being right, against it, or neither."""
    right = random.random(items) < random.choice([0.0, 0.3, 0.6, 0.9, 1.0])
    stated = random.choice([0.2, 0.5, 0.9]) + random.choice([-0.3, 0.0, 0.0, 0.3]) * right
    stated = np.clip(stated + random.choice([0.0, 0.1, 0.4]) * (random.random(items) - 0.5), 0.0, 1.0)
    rows = [
        {
            "item_id": str(number), "gold": "PASS", "group": (groups or range(items))[number],
            "votes": {"a": {"label": "PASS" if right[number] else "FAIL", "confidence": stated[number].item()}},
        }
        for number in range(items)
    ]  # fmt: skip
    return Votes.from_recorded(rows, group="group")


def of_grades(random: np.random.Generator, items: int, groups: list[int]) -> Votes:
    """Return scores that follow grades, oppose them, or neither."""
    grades = random.integers(1, 6, items)
    follow = random.choice([-1.0, 0.0, 0.0, 0.3, 1.0])
    scores = np.where(
        random.random(items) < abs(follow), grades if follow > 0 else 6 - grades, random.integers(1, 6, items)
    )
    return Votes.from_rows(scores[:, None].tolist(), gold=grades.tolist(), groups=groups)
