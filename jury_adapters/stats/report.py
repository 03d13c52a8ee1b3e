"""All figures of a batch, as one list and as one text table."""

from collections.abc import Callable, Iterable

import numpy as np

from jury_adapters.core.text import visible
from jury_adapters.stats.agreement import alpha, alpha_of_scores, effective_votes, gwet_ac1, raw_agreement
from jury_adapters.stats.bias import length_bias, position_bias, self_preference
from jury_adapters.stats.confidence import confidence_quality, graded_agreement
from jury_adapters.stats.figures import Figure
from jury_adapters.stats.jurors import against_labels
from jury_adapters.stats.rates import pass_rate, true_pass_rate
from jury_adapters.stats.votes import MISSING, Votes


def figures_of(votes: Votes) -> tuple[Figure, ...]:
    """Return the figures of a batch, as far as it has the data for them.

    >>> votes = Votes.from_rows([["yes", "yes"], ["yes", "no"], ["no", "no"]] * 10)
    >>> [found.name for found in figures_of(votes)]
    ['raw agreement', "Krippendorff's alpha", "Gwet's AC1"]
    """
    panel, labelled = len(votes.jurors) > 1, bool((votes.gold != MISSING).any())
    judged = votes.binary and bool((votes.codes[:, -1] != MISSING).any())
    voted, scored = (
        (panel and bool(known.any())) for known in (votes.codes[:, :-1] >= 0, ~np.isnan(votes.scores[:, :-1]))
    )
    single: dict[Callable[[Votes], Figure], bool] = {
        pass_rate: judged,
        true_pass_rate: judged and labelled,
        raw_agreement: voted,
        alpha: voted,
        gwet_ac1: voted,
        alpha_of_scores: scored,
        effective_votes: voted and labelled,
    }
    found = [part(votes) for part, known in single.items() if known]
    for several in (against_labels, confidence_quality, graded_agreement, position_bias, length_bias, self_preference):
        found += [one for one in several(votes) if one.n]
    return tuple(found)


def table(figures: Iterable[Figure]) -> str:
    """Return figures as a text table: whose, name, value, interval, n and note.

    >>> print(table([Figure("accuracy", 0.75, 40, (0.598, 0.858), of="GPT-4"), Figure("pass rate", None, 0)]))
    of     figure     value  95 % interval    n  note
    GPT-4  accuracy   0.750  [0.598, 0.858]  40
           pass rate      -                   0
    """
    cells = [
        ("of", "figure", "value", "95 % interval", "n", "note"),
        *((one.of, one.name, *one.texts, f"{one.n:,}", one.note) for one in figures),
    ]
    rows = [[visible(cell, 400) for cell in row] for row in cells]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map("{:{}{}}".format, row, "<<><><", widths)).rstrip() for row in rows)
