"""The recipe that ranks systems: its fit is the maximum of Davidson's likelihood, and finds what is simulated."""

from itertools import combinations
from math import exp, log, sqrt

import numpy as np
import pytest
from doc_pages import ROOT, blocks_of
from scipy.optimize import minimize

PAGE = (ROOT / "docs/how_to/rank_systems.md").read_text(encoding="utf-8")
FUNCTIONS = next(block.code for block in blocks_of(PAGE) if "def fit(" in block.code).partition("\n\n\nsystems =")[0]
RECIPE: dict = {}
exec(FUNCTIONS, RECIPE)


def games_of(worths, tie, questions, random):
    """Draw games by Davidson's own formula, in terms of worths."""
    for number in range(questions):
        for a, b in combinations(worths, 2):
            shares = np.array([worths[a], worths[b], tie * sqrt(worths[a] * worths[b])])
            yield number, a, b, ["A", "B", "tie"][random.choice(3, p=shares / shares.sum())]


def negative_log_likelihood(parameters, games, systems):
    """Davidson (1970), equation (1), written down for each game."""
    worths, tie = dict(zip(systems, map(exp, parameters), strict=False)), exp(parameters[-1])
    total = 0.0
    for _, a, b, label in games:
        drawn = tie * sqrt(worths[a] * worths[b])
        total -= log({"A": worths[a], "B": worths[b], "tie": drawn}[label] / (worths[a] + worths[b] + drawn))
    return total


@pytest.mark.parametrize("seed", range(3))
def test_the_fit_is_the_maximum_of_the_likelihood(seed):
    random = np.random.default_rng(seed)
    systems = ["a", "b", "c", "d"]
    games = list(games_of(dict(zip(systems, (3.0, 1.5, 1.0, 0.4), strict=True)), 0.6, 25, random))
    ours = RECIPE["fit"](*RECIPE["design"](games, systems), np.ones(len(games)), ridge=1e-12)
    start = np.append(random.normal(size=4), 0.0)
    theirs = minimize(negative_log_likelihood, start, args=(games, systems), method="BFGS", options={"gtol": 1e-9}).x
    assert ours[:-1] == pytest.approx(theirs[:-1] - theirs[:-1].mean(), abs=1e-5)
    assert ours[-1] == pytest.approx(theirs[-1], abs=1e-5)


@pytest.mark.slow
def test_many_games_give_the_worths_that_were_drawn_from():
    worths = {"a": 4.0, "b": 2.0, "c": 1.0}
    games = list(games_of(worths, 0.5, 3000, np.random.default_rng(7)))
    found = RECIPE["fit"](*RECIPE["design"](games, list(worths)), np.ones(len(games)))
    assert found[:-1] == pytest.approx(np.log([4, 2, 1]) - np.log([4, 2, 1]).mean(), abs=0.1)
    assert found[-1] == pytest.approx(log(0.5), abs=0.1)


def test_a_system_that_always_wins_has_a_finite_strength():
    games = [(number, "a", "b", "A") for number in range(50)]
    found = RECIPE["fit"](*RECIPE["design"](games, ["a", "b"]), np.ones(50))
    assert np.isfinite(found).all()
    assert found[0] > 2 > 0 > found[1]
