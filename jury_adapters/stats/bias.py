"""Known biases of judges: position, length of the answer, and preference for their own answers."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import scipy  # whose stats, 70 MiB, are loaded when they are used

from jury_adapters.stats.figures import (
    FEW,
    Bools,
    Figure,
    Floats,
    Ints,
    figure,
    influence,
    over,
    share,
    sign_test,
    undefined,
    usual_disagreement,
    with_test,
    zero_test,
)
from jury_adapters.stats.votes import MISSING, Votes

_WORTH = {"PASS": 1.0, "FAIL": 0.0, "A": 1.0, "B": 0.0, "tie": 0.5}


def position_bias(votes: Votes) -> tuple[Figure, ...]:
    r"""Return, for each voter that judged pairs in both orders, how often the order decides.

    Returns:
        ``position consistency``, the share of pairs with one answer in both orders; and ``first position among flips``,
        the share of the other pairs in which the answer shown first wins. Without a preference that is one half, and
        ``p_value`` in its details is that of the exact binomial test, or for groups of a t test.

    >>> from jury_adapters import PairwiseCritic, judge
    >>> letter = judge(lambda case: "A" if "?" in case.question else "B", name="letter", labels=["A", "B", "tie"])
    >>> critic = PairwiseCritic(letter)
    >>> pairs = [{"question": text, "candidates": ["one", "two"]} for text in ("Which?", "This one.", "That one.")]
    >>> print(*position_bias(Votes.of(critic.judge_pairs(pairs))), sep="\n")
    the jury: position consistency 0.000 [0.000, 0.56...] (n = 3); rough, of 3 cases
    the jury: first position among flips 0.333 [0.061, 0.792] (n = 3); rough, of 3 cases
    """
    found: list[Figure] = []
    a, b = (votes.labels.index(label) if label in votes.labels else MISSING - 1 for label in ("A", "B"))
    for (first, second), voter in zip(votes.orders.transpose(1, 2, 0), votes.voters, strict=True):
        asked = (first != MISSING) & (second != MISSING)
        favour = 1 * (first == a) + (second == b) - (first == b) - (second == a)  # above 0: the one shown first
        if asked.any():
            flips = share("first position among flips", favour > 0, asked & (favour != 0), votes.groups, of=voter)
            p_value = sign_test(np.sign(1.0 * favour[asked]), votes.groups[asked])
            found += [
                share("position consistency", first == second, asked, votes.groups, of=voter),
                replace(flips, details={**flips.details, "p_value": p_value}),
            ]
    return tuple(found) or (undefined("position consistency", 0, "no pair was judged in both orders"),)


def length_bias(votes: Votes) -> tuple[Figure, ...]:
    """Return, for each voter, the rank correlation of its vote with the length of the answer.

    A vote is its score where the voter gives scores, else 1 for PASS and 0 for FAIL. Longer answers may be better, so
    with 30 human labels or more it is the correlation among the cases with one label: of the ranks within each label.
    Labels of two values do not tell a good answer from a better one, which may be longer, so a part of that remains.
    The interval excludes 0 only if a t test of the products of the ranks has p < 0.05, since a few rare votes are alike
    by chance.

    Source: P. van Elteren (1960), *On the combination of independent two-sample tests of Wilcoxon*, for ranks within
    strata.
    """
    found: list[Figure] = []
    for voter, points in zip(votes.voters, _points(votes).T, strict=True):
        known = ~np.isnan(points) & ~np.isnan(votes.lengths)
        labelled = known & (votes.gold != MISSING)
        rows, strata, note = (
            (labelled, votes.gold, "")
            if labelled.sum() >= FEW
            else (known, 0 * votes.gold, "too few human labels: longer answers may be better, or worse")
        )
        if rows.any():
            x, y = (ranks(values[rows], strata[rows]) for values in (points, votes.lengths))
            found.append(rank_correlation("length bias", x, y, votes.groups[rows], of=voter, note=note))
    return tuple(found) or (
        undefined("length bias", 0, "no vote of PASS or FAIL, or score, has an answer of known length"),
    )


def ranks(values: Floats, strata: Ints) -> Floats:
    """Return the ranks within each stratum, as shares of its size, less their mean."""
    found = np.zeros(len(values))
    for inside in (strata == stratum for stratum in np.unique(strata)):
        found[inside] = (scipy.stats.rankdata(values[inside]) - (inside.sum() + 1) / 2) / inside.sum()
    return found


def rank_correlation(name: str, x: Floats, y: Floats, groups: Ints, *, of: str, note: str = "") -> Figure:
    """Return the correlation of ranks, with a test of 0.

    Args:
        name: the name of the figure.
        x: the ranks of cases, by :func:`ranks`.
        y: likewise.
        groups: the groups of these cases; None if they are independent.
        of: whose figure it is.
        note: its note.
    """
    found = figure(
        name,
        np.column_stack([x * x, y * y, x * y]),
        lambda sums: over(sums[:, 2], np.sqrt(sums[:, 0] * sums[:, 1])),
        groups,
        added=np.array([[1, 1, 1], [1, 1, -1]])
        / 12  # the variance of uniform ranks
        * [[usual_disagreement((x - sign * y) ** 2, float((x @ x + y @ y) / len(x)) or 1.0)] for sign in (-1, 1)],
        chances=(1, 1),
        bounds=(-1, 1),
        of=of,
        note=note,
    )
    return with_test(found, zero_test(x * y, groups))


def same_model(judge: str, writer: str) -> bool:
    """Return whether two names are one model: the vendor before ``:`` or ``/`` does not matter, nor do capitals.

    >>> same_model("openai:gpt-4o", "gpt-4o"), same_model("gpt-4o", "gpt-4o-mini")
    (True, False)
    """
    one, other = (name.casefold().replace(":", "/").rpartition("/")[2] for name in (judge, writer))
    return one == other != ""


def self_preference(votes: Votes, own: Callable[[str, str], bool] = same_model) -> tuple[Figure, ...]:
    """Return, for each juror whose model also wrote answers, how much kinder it is to them than other jurors are.

    The value is a difference in differences: the juror's votes minus those of another juror on its own answers, minus
    the same on the answers of others; 1 for PASS and 0 for FAIL, or scores. It is the mean over the other jurors that
    voted on both and are neutral about the answer, and over the human labels, weighted by ``n m / (n + m)`` for n own
    and m other answers. So each is compared with itself, and a strict juror that voted on one side only is no bias.
    The interval excludes 0 only if a t test has p < 0.05.

    Args:
        votes: votes with models and generators.
        own: whether an answer is a juror's own: a function of the juror's model, or its name if that is not known, and
            the model that wrote the answer. Jurors are neutral about answers that are not their own. For a preference
            for answers of the same vendor, give a function that compares vendors.

    Returns:
        One figure per such juror; above 0 it favours its own answers. The details have the numbers of ``own`` and
        ``other`` answers, and the ``reference``, the jurors that it is compared with.

    Sources: A. Panickssery, S. R. Bowman and S. Feng (2024), *LLM Evaluators Recognize and Favor Their Own
    Generations*; J. D. Angrist and J.-S. Pischke (2009), *Mostly Harmless Econometrics*, section 5.2.
    """
    models = [model or name for name, model in zip(votes.jurors, votes.models, strict=False)]
    written, places = np.unique(votes.generators, return_inverse=True)
    table = [[bool(writer) and own(model, str(writer)) for model in models] for writer in written]
    mine = np.array(table, dtype=np.bool_).reshape(len(written), len(models))[places]
    points = np.where((votes.generators != "")[:, None], _points(votes)[:, :-1], np.nan)
    found = tuple(_preference(votes, points, mine, int(column)) for column in np.flatnonzero(mine.any(axis=0)))
    return found or (undefined("self-preference", 0, "no juror's model wrote an answer of known origin"),)


def _preference(votes: Votes, points: Floats, mine: Bools, column: int) -> Figure:
    """Return the preference of one juror; there is a column for each other juror and human label."""
    neutral, own = np.where(mine, np.nan, points), mine[:, [column]]
    neutral[:, column] = np.nan
    strata = [(votes.gold == label)[:, None] for label in np.unique(votes.gold)]
    apart = np.hstack([np.where(inside, points[:, [column]] - neutral, np.nan) for inside in strata])
    both = (~np.isnan(apart) & own).any(axis=0) & (~np.isnan(apart) & ~own).any(axis=0)
    known, gaps = ~np.isnan(apart) & both, np.where(np.isnan(apart) | ~both, 0.0, apart)
    rows = known.any(axis=1)
    items = np.hstack([gaps * own, known & own, gaps * ~own, known & ~own])[rows].astype(np.float64)
    if not rows.any():
        return undefined(
            "self-preference", 0, "no neutral juror voted on its own answers and on others", of=votes.jurors[column]
        )

    def finish(sums: Floats) -> Floats:
        of_own, n, of_other, m = np.split(sums, 4, axis=1)
        weights = np.where((n > 0) & (m > 0), over(n * m, n + m), 0.0)
        return over((weights * np.nan_to_num(over(of_own, n) - over(of_other, m))).sum(axis=1), weights.sum(axis=1))

    one, none = np.ones(len(both)) / 2, np.zeros(len(both))
    reference = both.reshape(len(strata), -1).any(axis=0)
    found = figure(
        "self-preference",
        items,
        finish,
        votes.groups[rows],
        added=[row for sign in (one, -one) for row in ([*sign, *one, *none, *none], [*none, *none, *sign, *one])],
        chances=(0.5,) * 4,
        bounds=(-2, 2),
        of=votes.jurors[column],
        note="" if (votes.gold[rows] != MISSING).all() else "without human labels, its own answers may be better",
        details={
            "own": int((rows & own[:, 0]).sum()),
            "other": int((rows & ~own[:, 0]).sum()),
            "reference": [other for other, counts in zip(votes.jurors, reference, strict=True) if counts],
        },
    )
    moves = influence(finish, items, items) + (found.value or 0.0) / len(items)  # they add up to the value
    return with_test(found, zero_test(moves, votes.groups[rows]))


def _points(votes: Votes) -> Floats:
    """Return cases x voters: scores where a voter gives any, else votes as numbers, in which more is better."""
    worth = np.array([*(_WORTH.get(label, np.nan) for label in votes.labels), np.nan])
    return np.where(np.isnan(votes.scores).all(axis=0), worth[votes.codes], votes.scores)
