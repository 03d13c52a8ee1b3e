"""Measures of a ranked list of documents against the documents that are known to be relevant.

Every function takes the retrieved documents in their order, best first, and the relevant documents. A document is any
hashable value, such as an id or a text. A document that was retrieved twice, such as two chunks of one page, counts at
its first place. The measures are those of trec_eval (https://github.com/usnistgov/trec_eval).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from math import log2
from typing import Literal, TypeAlias

from jury_adapters.core.errors import ConfigurationError, plain_repr

Relevant: TypeAlias = Collection[Hashable] | Mapping[Hashable, float]
Measure: TypeAlias = Literal["hit_rate", "precision", "recall", "reciprocal_rank", "average_precision", "ndcg"]


def hit_rate(retrieved: Sequence[Hashable], relevant: Relevant, k: int | None = None) -> float:
    """Return 1.0 if at least one relevant document is among the first ``k``, else 0.0 (trec_eval: ``success``).

    Args:
        retrieved: the documents in their order, best first.
        relevant: the relevant documents, or a mapping from documents to grades, where a grade above 0 is relevant.
        k: how many documents count; None for all.

    Raises:
        ConfigurationError: no document is relevant, ``k`` is not a positive whole number, or a grade is negative or
            not finite.

    >>> hit_rate(["a", "b", "c"], {"c"}, k=2)
    0.0
    """
    found, _ = _hits(retrieved, relevant, k)
    return float(any(found))


def precision(retrieved: Sequence[Hashable], relevant: Relevant, k: int | None = None) -> float:
    """Return the share of relevant documents among the first ``k`` (trec_eval: ``P``).

    With ``k``, the share is of ``k`` documents, even if fewer were retrieved. Without it, the share is of the retrieved
    documents, and 0.0 if there are none. Arguments and errors are those of :func:`hit_rate`.

    >>> precision(["a", "b", "c"], {"a", "c"}, k=2)
    0.5
    """
    found, _ = _hits(retrieved, relevant, k)
    size = len(found) if k is None else k
    return sum(found) / size if size else 0.0


def recall(retrieved: Sequence[Hashable], relevant: Relevant, k: int | None = None) -> float:
    """Return the share of the relevant documents that are among the first ``k`` (trec_eval: ``recall``).

    Arguments and errors are those of :func:`hit_rate`.

    >>> recall(["a", "b", "c"], {"a", "d"})
    0.5
    """
    found, grades = _hits(retrieved, relevant, k)
    return sum(found) / len(grades)


def reciprocal_rank(retrieved: Sequence[Hashable], relevant: Relevant, k: int | None = None) -> float:
    """Return 1 / rank of the first relevant document, or 0.0 if there is none among the first ``k``.

    The mean over cases is the mean reciprocal rank, MRR (trec_eval: ``recip_rank``). Arguments and errors are those of
    :func:`hit_rate`.

    >>> reciprocal_rank(["a", "b", "c"], {"b", "c"})
    0.5
    """
    found, _ = _hits(retrieved, relevant, k)
    return 1 / (found.index(True) + 1) if True in found else 0.0


def average_precision(retrieved: Sequence[Hashable], relevant: Relevant, k: int | None = None) -> float:
    """Return the mean, over all relevant documents, of the precision at the rank of each (trec_eval: ``map``).

    A relevant document that is not among the first ``k`` contributes 0. The mean over cases is the mean average
    precision, MAP. Arguments and errors are those of :func:`hit_rate`.

    >>> average_precision(["a", "b", "c"], {"a", "c"}) == (1 / 1 + 2 / 3) / 2
    True
    """
    found, grades = _hits(retrieved, relevant, k)
    at_hits = (sum(found[:rank]) / rank for rank, hit in enumerate(found, start=1) if hit)
    return sum(at_hits) / len(grades)


def ndcg(retrieved: Sequence[Hashable], relevant: Relevant, k: int | None = None) -> float:
    """Return the discounted cumulative gain, divided by that of the best possible order (trec_eval: ``ndcg_cut``).

    The gain of a document is its grade (1 where no grades are given), divided by log2(rank + 1), as in Järvelin and
    Kekäläinen 2002. The best order is of all relevant documents, also of those that were not retrieved. Arguments and
    errors are those of :func:`hit_rate`.

    >>> ndcg(["a", "b"], {"a": 3, "b": 1}), round(ndcg(["b", "a"], {"a": 3, "b": 1}), 4)
    (1.0, 0.7967)
    """
    _, grades = _hits(retrieved, relevant, k)
    gains = [grades.get(document, 0.0) for document in _ranked(retrieved, k)]
    best = sorted(grades.values(), reverse=True)[:k]
    return _discounted(gains) / _discounted(best)


MEASURES: Mapping[str, Callable[[Sequence[Hashable], Relevant, int | None], float]] = {
    "hit_rate": hit_rate,
    "precision": precision,
    "recall": recall,
    "reciprocal_rank": reciprocal_rank,
    "average_precision": average_precision,
    "ndcg": ndcg,
}


_GREATEST = 1e100  # of a grade; a sum of such grades is still a number


def check_k(k: object) -> None:
    """Refuse a number of documents that is not a positive whole number or None.

    Raises:
        ConfigurationError: it is something else.
    """
    if k is not None and (not isinstance(k, int) or isinstance(k, bool) or k < 1):
        raise ConfigurationError(
            f"k is the number of documents that count, from 1, or None for all; not {plain_repr(k)}"
        )


def _hits(
    retrieved: Sequence[Hashable], relevant: Relevant, k: int | None
) -> tuple[list[bool], Mapping[Hashable, float]]:
    """Return whether each of the documents that count is relevant, and the grades of the relevant ones."""
    check_k(k)
    grades = _grades(relevant)
    return [document in grades for document in _ranked(retrieved, k)], grades


def _ranked(retrieved: Sequence[Hashable], k: int | None) -> list[Hashable]:
    if isinstance(retrieved, str):
        raise ConfigurationError(f"retrieved is a list of documents; for one write [{plain_repr(retrieved)}]")
    return list(dict.fromkeys(retrieved))[:k]


def _grades(relevant: Relevant) -> dict[Hashable, float]:
    if isinstance(relevant, str):
        raise ConfigurationError(f"relevant is a collection of documents; for one write [{plain_repr(relevant)}]")
    if not isinstance(relevant, Mapping):
        grades = dict.fromkeys(relevant, 1.0)
    else:
        for document, grade in relevant.items():
            number = isinstance(grade, int | float) and not isinstance(grade, bool)
            if not number or not 0 <= grade < _GREATEST:
                raise ConfigurationError(
                    f"the grade of {plain_repr(document)} is a number from 0 (irrelevant), not {plain_repr(grade)}"
                )
        grades = {document: float(grade) for document, grade in relevant.items() if grade > 0}
    if not grades:
        raise ConfigurationError("no document is relevant: the measures are defined with at least one")
    return grades


def _discounted(gains: Sequence[float]) -> float:
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, start=1))
