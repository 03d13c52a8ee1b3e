"""Table of all names of the fields of a case in frameworks, CSV files and dictionaries.

The readers of files, ``Case.from_row``, the LangChain adapter and the LlamaIndex adapter use this table. To add a name,
add it only here.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, NamedTuple

from jury_adapters.core.values import is_missing


@dataclass(frozen=True, slots=True)
class FieldNames:
    """Names of one field, in order of priority.

    Attributes:
        exact: unambiguous names, which ``Case(...)`` accepts too. The first one is the field's own name.
        loose: ambiguous names of columns. They are used in rows and in the parts of a run if no exact name is given.
        in_part: names that are used only in the part of a run where the field is expected: the answer in ``outputs``,
            the reference in ``reference_outputs``. In a flat row they are metadata, because they are ambiguous there.
        unless: another field; if a row has it, loose names are metadata. For example, a ``prompt`` in a row with
            ``messages`` is not the question.
    """

    exact: tuple[str, ...]
    loose: tuple[str, ...] = ()
    in_part: tuple[str, ...] = ()
    unless: str = ""

    @property
    def everywhere(self) -> tuple[str, ...]:
        """The names that are used in a flat row and in every part of a run."""
        return self.exact + self.loose

    @property
    def in_its_part(self) -> tuple[str, ...]:
        """The names that are used in the part of a run where the field is expected."""
        return self.exact + self.loose + self.in_part


RETRIEVED_IDS: Final = ("retrieved_ids", "retrieved_context_ids", "retrieved_doc_ids")
RELEVANT_IDS: Final = ("relevant_ids", "expected_ids", "reference_context_ids", "relevant_doc_ids")
RELEVANT_TEXTS: Final = ("relevant_contexts", "expected_texts", "reference_contexts")
"""Columns of the retrieved and the relevant documents, which stay metadata; also as LlamaIndex and ragas name them."""
METADATA_NAMES: Final[Mapping[str, str]] = {
    **{name: names[0] for names in (RETRIEVED_IDS, RELEVANT_IDS, RELEVANT_TEXTS) for name in names},
    **{name: name for name in ("item_id", "id", "gold")},
}
"""Entry of the metadata for each of these names, which ``Case(...)`` and a field map accept beside the fields."""

FIELD_NAMES: Final[Mapping[str, FieldNames]] = {
    "question": FieldNames(
        ("question", "input", "query", "user_input", "goal"),
        ("prompt", "user_query", "instruction", "task", "q", "main_input", "rag.question", "attributes.input.value"),
        unless="messages",
    ),
    "answer": FieldNames(
        ("answer", "response", "output", "prediction", "actual_output"),
        (
            "completion",
            "generation",
            "result",
            "final_answer",
            "final_output",
            "agent_output",
            "main_output",
            "output_text",
            "rag.answer",
            "predictions",
            "attributes.output.value",
        ),
        ("text", "content"),
        unless="candidates",
    ),
    "contexts": FieldNames(
        ("contexts", "retrieved_contexts", "retrieval_context", "context"),
        (
            "documents",
            "docs",
            "source_documents",
            "retrieved_documents",
            "retrieved_docs",
            "passages",
            "sources",
            "source_nodes",
            "input_documents",
            "rag.context",
            "rag.contexts",
        ),
    ),
    "reference": FieldNames(
        ("reference", "expected", "ground_truth", "reference_outputs"),
        ("expected_output", "expected_answer", "expected_response", "reference_answer", "ground_truths"),
        ("target",),  # in a flat row it may be a target language
    ),
    "candidates": FieldNames(("candidates", "answers")),
    "messages": FieldNames(("messages",), ("chat_history", "history")),
    "trajectory": FieldNames(("trajectory",)),
    "attachments": FieldNames(("attachments", "images")),
    "workspace": FieldNames(("workspace",)),
    "generator": FieldNames(("generator",)),
    "metadata": FieldNames(("metadata",)),
}
PAIRS: Final[Mapping[str, str]] = {"second_response": "response", "prediction_b": "prediction"}
"""Names of the second answer of a pair, with the name of the first; together they are the candidates."""
PARTS: Final = ("inputs", "outputs", "reference_outputs")
"""Parts of a run or an example: its inputs, its actual outputs, and the expected outputs."""
TRACES: Final = "resourceSpans"
"""Key of a row that is an export request of OpenTelemetry; its spans are read, not its columns."""
EARLIER: Final = FIELD_NAMES["messages"].loose
"""Names of messages that all precede the question."""

ALIASES: Final[Mapping[str, str]] = {
    alias: field for field, names in FIELD_NAMES.items() for alias in names.exact if alias != field
}
"""Field for each exact name that is not the field's own."""
FORMAT_COLUMNS: Final = frozenset({"tools_called", "expected_tools", "reference_tool_calls", "expectations", "vars"})
"""Columns of other packages that :mod:`.row_formats` converts."""
OWN_COLUMNS: Final = frozenset({"id", "item_id", "gold", "votes"})
"""Columns that are not fields, and that commands look up in the metadata."""

LABELS: Final = frozenset({
    "id", "object", "type", "model", "role", "status", "name", "provider", "finish_reason", "created_at", "run_id",
    "thread_id", "session_id", "request_id",
})  # fmt: skip
"""Names of texts that describe a reply and are not the answer itself."""


class _Place(NamedTuple):
    field: str
    kind: str
    rank: int


_PLACES: Final[Mapping[str, _Place]] = {
    name: _Place(field, kind, rank)
    for field, names in FIELD_NAMES.items()
    for rank, (kind, name) in enumerate(
        (kind, name) for kind in ("exact", "loose", "in_part") for name in getattr(names, kind)
    )
}
_KNOWN: Final = frozenset(
    {
        *(name for name, place in _PLACES.items() if place.kind != "in_part"),
        *PAIRS,
        *PARTS,
        *OWN_COLUMNS,
        *FORMAT_COLUMNS,
    }
)


@dataclass(frozen=True, slots=True)
class Columns:
    """Columns of a mapping, by field.

    Attributes:
        of: the column of each field.
        conflicts: sentences for the report. Each names a column that was ignored although it has another value and its
            name is as clear as that of the column used, or a column that was used because a better one is empty.
    """

    of: Mapping[str, str]
    conflicts: tuple[str, ...] = ()


def columns_of(row: Mapping[str, Any], fields: Collection[str], *, part_of: str = "") -> Columns:
    """Return the column of each field: the best of its names that has a value in the row.

    The order of the columns does not matter.

    Args:
        row: a row, or a part of a run.
        fields: the fields to look for.
        part_of: the field that is expected in this part of a run; its ``in_part`` names are used too.

    >>> columns_of({"prompt": "2 + 2?", "output": "4", "response": "four"}, ["question", "answer"])
    Columns(of={'question': 'prompt', 'answer': 'response'}, conflicts=('output is ignored beside response',))
    """
    chosen: dict[str, str] = {}
    named: list[str] = []
    for name, value in row.items():
        place = _PLACES.get(name)
        if place is None or place.field not in fields or (place.kind == "in_part" and place.field != part_of):
            continue
        if place.kind != "exact" and _gives_way(place.field, row):
            continue
        named.append(name)
        best = chosen.get(place.field)
        if not is_missing(value) and (best is None or place.rank < _PLACES[best].rank):
            chosen[place.field] = name
    pairs = [(name, chosen[_PLACES[name].field]) for name in named if _PLACES[name].field in chosen]
    return Columns(chosen, tuple(said for name, best in pairs if (said := _conflict(row, name, best))))


def ignored(name: str, beside: str) -> str:
    """Return the sentence that reports an ignored value and the one that was used instead."""
    return f"{name} is ignored beside {beside}"


def differ(one: object, other: object) -> bool:
    """Whether two values for one field differ."""
    try:
        return one is not other and bool(one != other)
    except Exception:  # arrays compare element by element, and other objects may raise anything
        return repr(one) != repr(other)


def pair_in(row: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the columns of two answers to compare; None without them, or if the row has ``candidates``."""
    for second, first in PAIRS.items():
        if second in row and first in row:
            return None if any(name in row for name in FIELD_NAMES["candidates"].exact) else (first, second)
    return None


def may_be_answer(name: str) -> bool:
    """Whether a text under this name may be the answer: the name is not that of a field, a label or a known column.

    >>> may_be_answer("draft"), may_be_answer("ground_truth"), may_be_answer("thread_id")
    (True, False, False)
    """
    return name not in _KNOWN and name not in LABELS


def named_twice(row: Mapping[str, object]) -> dict[str, str]:
    """Return the names that :func:`plainly_named` leaves unchanged, with the known name that the row has too.

    >>> named_twice({"answer": "4", "Answer": "four"})
    {'Answer': 'answer'}
    """
    return {name: _plain(name) for name in plainly_named(row) if name not in _KNOWN and _plain(name) in _KNOWN}


def plainly_named(row: Mapping[str, object]) -> dict[str, object]:
    """Return the row with known names in the spelling of this table: ``ground_truth`` for ``Ground Truth``."""
    named: dict[str, object] = {}
    for key, value in row.items():
        name = str(key)
        plain = name if name in _KNOWN else _plain(name)
        taken = plain in named or (plain != name and plain in row)
        named[plain if plain in _KNOWN and not taken else name] = value
    return named


def holds_no_field(row: Mapping[str, object]) -> bool:
    """Whether a row certainly has no field of a case and no known format, so that all of its columns are metadata.

    >>> holds_no_field({"gold": "PASS", "user": 7}), holds_no_field({"gold": "PASS", "Actual Output": "4"})
    (True, False)
    """
    return not any(_may_be_known(str(name)) or not _is_simple(value) for name, value in row.items())


@lru_cache(maxsize=1024)
def _may_be_known(name: str) -> bool:
    plain = _plain(name)
    return "." in name or plain in _KNOWN - OWN_COLUMNS


def _is_simple(value: object) -> bool:
    """Whether a value is a scalar, and not text that may be JSON."""
    if isinstance(value, str):
        return not value.lstrip().startswith(('"', "{", "["))
    return value is None or isinstance(value, bool | int | float)


def _plain(name: str) -> str:
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)  # actualOutput
    return "_".join(words.casefold().replace("-", " ").split())


def _conflict(row: Mapping[str, Any], name: str, best: str) -> str:
    """Return the sentence to report about a name and the one that was used; empty if there is none."""
    if is_missing(row[name]):
        return f"{best} is taken, because {name} is empty" if _PLACES[name].rank < _PLACES[best].rank else ""
    return "" if name == best or _settled(best, name) or not differ(row[name], row[best]) else ignored(name, best)


def _settled(best: str, other: str) -> bool:
    """Whether the first name has priority without doubt, because it is exact and the other one is not."""
    return _PLACES[best].kind == "exact" and _PLACES[other].kind != "exact"


def _gives_way(field: str, row: Mapping[str, Any]) -> bool:
    """Whether the row has another field that makes the loose names of this field metadata."""
    unless = FIELD_NAMES[field].unless
    return bool(unless) and any(not is_missing(row.get(name)) for name in FIELD_NAMES[unless].exact)
