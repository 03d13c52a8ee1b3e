"""Check of the retrieved documents against those that are known to be relevant."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import cast

from jury_adapters.core.case import Case
from jury_adapters.core.errors import ConfigurationError, plain_repr, unknown
from jury_adapters.core.field_names import RELEVANT_IDS, RELEVANT_TEXTS, RETRIEVED_IDS
from jury_adapters.core.judge import Judge
from jury_adapters.core.judgment import PASS_OR_FAIL, Finding, Judgment, Status, abstain
from jury_adapters.core.loose_values import texts_of
from jury_adapters.retrieval.measures import MEASURES, Measure, Relevant, check_k


@dataclass(frozen=True)
class RetrievalMeasure(Judge):
    """The retriever returned the relevant documents, by one of the usual measures.

    The documents are in the metadata of the case, where other columns of a row go; ``Case(...)`` and ``field_map=``
    accept them by name. By id: ``metadata["retrieved_ids"]``, in the order of the retriever, and
    ``metadata["relevant_ids"]``, a list, or a mapping from ids to grades. Without relevant ids, the texts of
    ``contexts`` are compared with ``metadata["relevant_contexts"]``; differences of white space do not matter, and
    neither do accents in characters of their own, also in ids. The names of LlamaIndex (``expected_ids``) and ragas
    (``reference_context_ids``, ``reference_contexts``) work too. Of the row of a run, the relevant documents are read
    from ``reference_outputs``, and the ids of the retrieved ones from ``outputs``.

    A case without known relevant documents is ABSTAIN, and so is one with relevant ids but without retrieved ids. A
    case with relevant texts and no contexts scores 0: nothing was retrieved.

    Args:
        measure: ``hit_rate``, ``precision``, ``recall``, ``reciprocal_rank``, ``average_precision`` or ``ndcg``; see
            :mod:`jury_adapters.retrieval.measures` for each. The mean score over cases is MRR or MAP for two of them.
        k: how many documents count, best first; None for all.
        threshold: the lowest score that passes, from 0 to 1.
        name: the check's name in verdicts; by default the measure, such as ``"recall@5"``.

    Raises:
        ConfigurationError: the measure is unknown, or ``k`` or the threshold is out of range.

    >>> RetrievalMeasure("reciprocal_rank").judge(retrieved_ids=["d7", "d1"], relevant_ids={"d1": 3, "d2": 1}).score
    0.5
    """

    opinion_statuses = PASS_OR_FAIL
    measure: Measure = "recall"
    k: int | None = None
    threshold: float = 0.5
    name: str = ""

    def __post_init__(self) -> None:
        if self.measure not in MEASURES:
            meant = _OTHER_NAMES.get(self.measure) if isinstance(self.measure, str) else None
            raise ConfigurationError(unknown("measure", self.measure, MEASURES, meant))
        check_k(self.k)
        number = isinstance(self.threshold, int | float) and not isinstance(self.threshold, bool)
        if not number or not 0 <= self.threshold <= 1:
            raise ConfigurationError(f"the threshold is a score from 0 to 1, not {plain_repr(self.threshold)}")
        if not self.name:
            object.__setattr__(self, "name", self.measure + (f"@{self.k}" if self.k else ""))

    @property
    def pass_scores(self) -> frozenset[float]:
        return frozenset({float(self.threshold)})

    def assess(self, case: Case) -> Judgment:
        relevant, retrieved, what = _documents(case)
        if relevant is None:
            names = f"metadata[{RELEVANT_IDS[0]!r}] or metadata[{RELEVANT_TEXTS[0]!r}]"
            return abstain(
                f"no relevant documents are known: the case has no {names}; those of a run are in its reference outputs"
            )
        if retrieved is None:
            return abstain(f"the case has relevant ids but no metadata[{RETRIEVED_IDS[0]!r}]")
        try:
            score = MEASURES[self.measure](retrieved, relevant, self.k)
        except ConfigurationError as error:  # what is wrong is in the case: no relevant document, or a negative grade
            return abstain(str(error))
        return Judgment(
            Status.PASS if score >= self.threshold else Status.FAIL,
            score=score,
            reasoning=self._reasoning(score, retrieved, relevant, what),
            findings=tuple(_findings(retrieved, relevant, self.k)),
        )

    def _reasoning(self, score: float, retrieved: Sequence[Hashable], relevant: Relevant, what: str) -> str:
        counted = list(dict.fromkeys(retrieved))[: self.k]
        found = sum(1 for document in counted if _grade(relevant, document) > 0)
        known = sum(1 for document in relevant if _grade(relevant, document) > 0)
        least = f"; asked for at least {self.threshold:g}" if score < self.threshold else ""
        return f"{self.name} is {score:.3g}: {found} of {known} relevant {what} among {len(counted)} retrieved{least}"


_OTHER_NAMES = {
    "mrr": "reciprocal_rank", "map": "average_precision", "ap": "average_precision", "hit": "hit_rate",
    "success": "hit_rate",
}  # fmt: skip


def _documents(case: Case) -> tuple[Relevant | None, Sequence[Hashable] | None, str]:
    """Return the relevant documents, the retrieved ones, and what they are; None for those that are not known."""
    ids, retrieved = _given(case, RELEVANT_IDS, _ids_of), _given(case, RETRIEVED_IDS, _ids_of)
    texts = _given(case, RELEVANT_TEXTS, texts_of)
    if ids is not None and (retrieved is not None or texts is None):
        return ids, None if retrieved is None else tuple(retrieved), "ids"
    if texts is None:
        return None, None, ""
    grades = {text: _grade(texts, text) for text in texts}
    plain: dict[str, float] = {}
    for text, grade in grades.items():
        plain[_plain(text)] = max(grade, plain.get(_plain(text), grade))
    return plain, tuple(map(_plain, case.contexts)), "texts"


def _given(
    case: Case, names: Sequence[str], read: Callable[[object], tuple[str, ...]]
) -> Collection[str] | Mapping[str, float] | None:
    """Return the documents, or their grades, of the first of these names that has any; None if none is given.

    A cell of a CSV file may hold a JSON list or a JSON object.
    """
    found: Collection[str] | Mapping[str, float] | None = None
    for name in names:
        value = case.metadata.get(name)
        if isinstance(value, str) and value.lstrip().startswith(("{", "[")):
            with suppress(ValueError):
                value = json.loads(value)
        if isinstance(value, Mapping):
            found = {one: cast(float, grade) for document, grade in value.items() for one in read(document)}
        elif value is not None:
            found = tuple(dict.fromkeys(read(value)))
        if found:
            break
    return found


def _ids_of(value: object) -> tuple[str, ...]:
    """Return ids as texts: one file may have the id 7 as a number, as 7.0 and as a text. Empty ids are left out."""
    if isinstance(value, Mapping):
        return _ids_of(value.get("id"))
    if isinstance(value, list | tuple):
        return tuple(one for item in value for one in _ids_of(item))
    if value is None:
        return ()
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = unicodedata.normalize("NFC", str(value).strip())
    return (text,) if text else ()


def _plain(text: object) -> str:
    return " ".join(unicodedata.normalize("NFC", str(text)).split())


def _grade(relevant: Relevant, document: Hashable) -> float:
    if isinstance(relevant, Mapping):
        return relevant.get(document, 0)
    return 1 if document in relevant else 0


def _findings(retrieved: Sequence[Hashable], relevant: Relevant, k: int | None) -> list[Finding]:
    ranks = {document: rank for rank, document in enumerate(dict.fromkeys(retrieved), start=1)}
    findings = []
    for document in relevant:
        if _grade(relevant, document) > 0:
            rank = ranks.get(document)
            found = rank is not None and (k is None or rank <= k)
            findings.append(
                Finding(f"retrieved {document}", found, "not retrieved" if rank is None else f"rank {rank}")
            )
    return findings
