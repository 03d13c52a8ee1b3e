"""Rank measures of a retriever: with documents that are known to be relevant, or with a judge of each passage.

The functions take the retrieved documents, best first, and the relevant ones. A document is any hashable value, such as
an id or a text; one that was retrieved twice counts at its first place. The measures are those of trec_eval
(https://github.com/usnistgov/trec_eval).
"""

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from math import log2
from typing import Any

from jury_adapters.core.case import Case
from jury_adapters.core.judge import Check, Judge, JudgeLike, ask, ask_together, judge_of
from jury_adapters.core.judgment import NO_USAGE, Finding, Judgment, Status, Usage, abstain, broken, total_usage
from jury_adapters.core.values import ROUNDING, ConfigurationError

Relevant = Collection[Hashable] | Mapping[Hashable, float]
"""The relevant documents, or a mapping of documents to grades, of which a grade above 0 is relevant."""


def hit_rate(retrieved: Sequence[Hashable], relevant: Relevant, k: int | None = None) -> float:
    """Return 1.0 if a relevant document is among the first ``k``, else 0.0 (trec_eval: ``success``).

    Args:
        retrieved: the documents, best first.
        relevant: the relevant documents; see :data:`Relevant`.
        k: how many documents count; None for all.

    Raises:
        ConfigurationError: no document is relevant, ``k`` is below 1, or a grade is negative or infinite.

    >>> hit_rate(["a", "b", "c"], {"c"}, k=2)
    0.0
    """
    return float(any(_hits(retrieved, relevant, k)[0]))


def precision(retrieved: Sequence[Hashable], relevant: Relevant, k: int | None = None) -> float:
    """Return the share of relevant documents among the first ``k``, or of the retrieved ones (trec_eval: ``P``).

    With fewer documents than ``k`` it is still a share of ``k``. Arguments and errors are those of :func:`hit_rate`.

    >>> precision(["a", "b", "c"], {"a", "c"}, k=2)
    0.5
    """
    hits, _ = _hits(retrieved, relevant, k)
    return sum(hits) / (k or max(1, len(hits)))


def recall(retrieved: Sequence[Hashable], relevant: Relevant, k: int | None = None) -> float:
    """Return the share of the relevant documents that are among the first ``k`` (trec_eval: ``recall``).

    Arguments and errors are those of :func:`hit_rate`.

    >>> recall(["a", "b", "c"], {"a", "d"})
    0.5
    """
    hits, grades = _hits(retrieved, relevant, k)
    return sum(hits) / len(grades)


def reciprocal_rank(retrieved: Sequence[Hashable], relevant: Relevant, k: int | None = None) -> float:
    """Return 1 / rank of the first relevant document, or 0.0; its mean over cases is MRR (trec_eval: ``recip_rank``).

    Arguments and errors are those of :func:`hit_rate`.

    >>> reciprocal_rank(["a", "b", "c"], {"b", "c"})
    0.5
    """
    hits, _ = _hits(retrieved, relevant, k)
    return 1 / (hits.index(True) + 1) if True in hits else 0.0


def average_precision(retrieved: Sequence[Hashable], relevant: Relevant, k: int | None = None) -> float:
    """Return the mean, over the relevant documents, of the precision at the rank of each (trec_eval: ``map``).

    One that is not among the first ``k`` contributes 0. The mean over cases is MAP. Arguments and errors are those of
    :func:`hit_rate`.

    >>> average_precision(["a", "b", "c"], {"a", "c"}) == (1 / 1 + 2 / 3) / 2
    True
    """
    hits, grades = _hits(retrieved, relevant, k)
    return sum(sum(hits[:rank]) / rank for rank, hit in enumerate(hits, start=1) if hit) / len(grades)


def ndcg(retrieved: Sequence[Hashable], relevant: Relevant, k: int | None = None) -> float:
    """Return the discounted cumulative gain over that of the best order of all relevant documents.

    The gain of a document is its grade, or 1, divided by ``log2(rank + 1)`` (trec_eval: ``ndcg_cut``). Arguments and
    errors are those of :func:`hit_rate`.

    Source: K. Järvelin and J. Kekäläinen (2002), *Cumulated gain-based evaluation of IR techniques*.

    >>> ndcg(["a", "b"], {"a": 3, "b": 1}), round(ndcg(["b", "a"], {"a": 3, "b": 1}), 4)
    (1.0, 0.7967)
    """
    _, grades = _hits(retrieved, relevant, k)
    gains, best = (
        [grades.get(document, 0.0) for document in dict.fromkeys(documents)][:k]
        for documents in (retrieved, sorted(grades, key=grades.__getitem__, reverse=True))
    )
    found, most = (sum(gain / log2(rank + 1) for rank, gain in enumerate(one, start=1)) for one in (gains, best))
    return found / most


MEASURES: Mapping[str, Callable[[Sequence[Hashable], Relevant, int | None], float]] = {
    one.__name__: one for one in (hit_rate, precision, recall, reciprocal_rank, average_precision, ndcg)
}


def _hits(retrieved: Sequence[Hashable], relevant: Relevant, k: int | None) -> tuple[list[bool], dict[Hashable, float]]:
    """Return whether each document that counts is relevant, and the grades of the relevant ones."""
    given = dict(relevant) if isinstance(relevant, Mapping) else dict.fromkeys(relevant, 1.0)
    grades = {document: grade for document, grade in given.items() if grade > 0}
    wrong = (
        isinstance(relevant, str)
        or (k is not None and (not isinstance(k, int) or k < 1))
        or not all(0 <= one < 1e100 for one in given.values())
    )
    if wrong or not grades:
        raise ConfigurationError(
            f"relevant documents are a collection, or a mapping to grades from 0, with one above 0, and k= is a number "
            f"from 1; not {relevant!r:.200} and {k!r}"
        )
    return [document in grades for document in dict.fromkeys(retrieved)][:k], grades


class RetrievalMeasure(Check):
    """The retriever returned the documents that are known to be relevant, by a rank measure.

    Ids are in the metadata of the case: ``retrieved_ids``, best first, and ``relevant_ids``, a list or a mapping to
    grades. Without relevant ids, the contexts are compared with the texts in ``relevant_contexts``, but for white
    space. A case that lacks them is ABSTAIN; without contexts, relevant texts score 0.

    Args:
        measure: ``hit_rate``, ``precision``, ``recall``, ``reciprocal_rank``, ``average_precision`` or ``ndcg``.
        k: how many documents count, best first; None for all.
        threshold: the score from which a case passes, 0..1.
        name: the name in verdicts; by default the measure, such as ``recall@5``.

    Raises:
        ConfigurationError: there is no such measure, ``k`` is below 1, or the threshold is out of range.

    >>> metadata = {"retrieved_ids": ["d7", "d1"], "relevant_ids": ["d1", "d2"]}
    >>> RetrievalMeasure("recall").judge(question="When?", metadata=metadata).score
    0.5
    """

    def __init__(
        self, measure: str = "recall", *, k: int | None = None, threshold: float = 0.5, name: str = ""
    ) -> None:
        _check(measure, threshold)
        self.measure, self.k, self.pass_mark = measure, k, threshold
        self.name = name or measure + (f"@{k}" if k else "")
        MEASURES[measure](["a"], ["a"], k)  # refuses a wrong k

    def check(self, case: Case) -> Any:
        """Compare the documents."""
        relevant, retrieved = case.metadata.get("relevant_ids"), case.metadata.get("retrieved_ids")
        if not relevant and case.metadata.get("relevant_contexts"):
            relevant, retrieved = case.metadata["relevant_contexts"], case.contexts
        if not relevant or retrieved is None:
            return abstain("the metadata have no relevant_ids with retrieved_ids, and no relevant_contexts")
        plain = {_plain(one): 1.0 if not isinstance(relevant, Mapping) else relevant[one] for one in relevant}
        found = [_plain(one) for one in retrieved]
        score = MEASURES[self.measure](found, plain, self.k)
        hits, grades = _hits(found, plain, self.k)
        findings = [Finding(name=one, passed=one in [*dict.fromkeys(found)][: self.k]) for one in grades]
        said = f"{self.name} is {score:.3g}: {sum(hits)} of {len(grades)} relevant among {len(hits)} retrieved"
        status = Status.PASS if score >= self.pass_mark - ROUNDING else Status.FAIL
        return Judgment(status=status, score=min(1.0, score), reasoning=said, findings=tuple(findings))


class EachPassage(Judge):
    """Judge of a retriever that asks another judge about each context alone, and scores the ranks of those that pass.

    A case without contexts is ABSTAIN. If the judge does not decide about a passage, the score is unknown: ERROR if it
    broke, else ABSTAIN.

    Args:
        judge: the judge of one passage, such as a critic or a panel.
        measure: ``average_precision``, ``precision``, ``hit_rate`` or ``reciprocal_rank``.
        threshold: the score from which a case passes, 0..1.
        name: the name in verdicts.

    Raises:
        ConfigurationError: there is no such measure, or the threshold is out of range.

    >>> relevant = EachPassage(lambda case: "1998" in case.contexts[0], measure="reciprocal_rank")
    >>> relevant.judge(question="When?", contexts=["The bridge is red.", "It opened in 1998."]).score
    0.5
    """

    def __init__(
        self, judge: JudgeLike, *, measure: str = "average_precision", threshold: float = 0.5, name: str = ""
    ) -> None:
        _check(measure, threshold, "recall", "ndcg")
        self.member, self.measure, self.pass_mark, self.name = judge_of(judge), measure, threshold, name or measure
        self.cost = self.member.cost

    @property
    def members(self) -> tuple[Judge, ...]:
        """The judge of one passage."""
        return (self.member,)

    def estimate(self, case: Case) -> Usage:
        """Estimate the usage of asking about each passage."""
        return sum((self.member.estimate(one) for one in _passages(case)), NO_USAGE)

    async def assess(self, case: Case) -> Any:
        """Ask about each passage."""
        passages = enumerate(_passages(case), start=1)
        said = await ask_together(ask(self.member, one, f"passage {number}") for number, one in passages)
        details: dict[str, Any] = {"judgments": tuple(said), "usage": total_usage(said)}
        open_ = [one for one in said if one.passed is None]
        if lost := [one for one in open_ if one.status is Status.ERROR]:
            return broken(f"{lost[0].critic}: {lost[0].error}", **details)
        if open_ or not said:
            return abstain(f"{open_[0].critic} is undecided" if open_ else "the case has no contexts", **details)
        passing = [place for place, one in enumerate(said) if one.passed]
        score = MEASURES[self.measure](range(len(said)), passing, None) if passing else 0.0
        status = Status.PASS if score >= self.pass_mark - ROUNDING else Status.FAIL
        reasoning = f"{self.measure} is {score:.3g}: {len(passing)} of {len(said)} passages are relevant"
        return Judgment(status=status, score=min(1.0, score), reasoning=reasoning, **details)


def _passages(case: Case) -> list[Case]:
    return [case.model_copy(update={"contexts": (text,)}) for text in case.contexts]


def _plain(document: object) -> str:
    return " ".join(str(document).split())


def _check(measure: str, threshold: float, *without: str) -> None:
    known = [name for name in MEASURES if name not in without]
    if measure not in known or not 0 <= threshold <= 1:
        raise ConfigurationError(
            f"measure= is {', '.join(known)}, and threshold= in 0..1; not {measure!r}, {threshold!r}"
        )
