"""Loose rows read into the fields of a case: rows of files, dictionaries of frameworks, runs with their parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jury_adapters.core.conversation import Conversation
from jury_adapters.core.evidence import DEFAULT_EVIDENCE, Evidence
from jury_adapters.core.field_map import FieldMap
from jury_adapters.core.field_names import EARLIER, FIELD_NAMES, Columns, columns_of, pair_in, plainly_named
from jury_adapters.core.input_output import (
    GIVEN_STEPS,
    THREAD,
    Found,
    answered,
    before,
    merged,
    present,
    read_answer_column,
    read_inputs,
    read_outputs,
)
from jury_adapters.core.loose_values import messages_in, text_of, texts_of
from jury_adapters.core.references import read_reference, read_reference_value
from jury_adapters.core.row_formats import plain_format


def fields_of_row(
    row: Mapping[str, object], field_map: FieldMap | None = None, evidence: Evidence = DEFAULT_EVIDENCE
) -> Found:
    """Return the fields of the case that a row holds; columns without a field are in ``metadata``.

    A column of a field wins over what a part of a run (``inputs``, ``outputs``) holds; see :meth:`Case.from_row`.
    Steps that are evidence by the rule become contexts where the row has none.
    """
    if field_map is not None:
        row = field_map.apply(row)
    rest = present(plain_format(plainly_named(row)))
    pair = pair_in(rest)
    if pair is not None:
        rest["candidates"] = [rest.pop(name) for name in pair]
    columns = columns_of(rest, FIELD_NAMES)
    named: dict[str, Any] = {field: rest.pop(name) for field, name in columns.of.items()}
    found: Found = {}
    if "candidates" in named:
        found["candidates"] = texts_of(named["candidates"])
    for field in ("workspace", "generator"):
        if field in named:
            found[field] = named[field] if field == "workspace" else text_of(named[field])
    judged = "answer" in named or "candidates" in found
    earlier = columns.of.get("messages") in EARLIER
    if earlier and messages_in(named["messages"]) is None:  # such as the history of a town
        rest[columns.of["messages"]] = named.pop("messages")
    took = _took(named, rest, earlier)
    gave = _conversation(named, earlier, judged, took.get("question"))
    if "answer" in named:
        gave.pop(THREAD, None)  # its last words are not the answer
        gave |= read_answer_column(named["answer"])
    if not judged and "outputs" in rest:
        gave |= read_outputs(rest.pop("outputs"))
    if "contexts" in named:
        gave["contexts"] = texts_of(named["contexts"])
    found = {**merged(took, gave, _wanted(named, columns), evidence=evidence), **found}
    found["metadata"] = _metadata(named, found["metadata"], rest, columns)
    return _with_generator(found)


def _took(named: Mapping[str, Any], rest: dict[str, Any], earlier: bool) -> Found:
    if "question" in named:
        return {"question": text_of(named["question"], asked=True)}
    return read_inputs(rest.pop("inputs")) if "inputs" in rest and (earlier or "messages" not in named) else {}


def _wanted(named: Mapping[str, Any], columns: Columns) -> Found:
    if "reference" not in named:
        return {}
    read = read_reference if columns.of["reference"] == "reference_outputs" else read_reference_value
    return read(named["reference"])


def _conversation(named: Mapping[str, Any], earlier: bool, judged: bool, question: str | None) -> Found:
    """Read ``messages`` and ``trajectory``.

    Messages beside a question and an answer, or beside another question than their last one, are the conversation
    before; otherwise they hold what is missing. A value that is neither messages nor steps stays as it is, and the case
    refuses it by its name.
    """
    found: Found = {}
    if "messages" in named:
        thread = messages_in(named["messages"])
        read = Conversation.of(thread or ())
        if thread is None:
            found["messages"] = named["messages"]
        elif earlier or (question is not None and (judged or question != read.question)):
            found["messages"] = before(thread, question)
        else:
            found |= answered(read)
    if "trajectory" in named:
        thread = messages_in(named["trajectory"])
        steps = {"trajectory": named["trajectory"], GIVEN_STEPS: True}
        found |= steps if thread is None else answered(Conversation.of(thread))
    return found


def _metadata(
    named: Mapping[str, Any], of_parts: Mapping[str, Any], rest: Mapping[str, Any], columns: Columns
) -> dict[str, Any]:
    own = named.get("metadata", {})
    known = {**(own if isinstance(own, Mapping) else {"metadata": own}), **of_parts, **rest}
    if columns.rivals:
        known["ambiguous"] = [f"{name} is ignored beside {chosen}" for name, chosen in columns.rivals.items()]
    return known


def _with_generator(found: Found) -> Found:
    meta = found["metadata"].get("meta")
    if "generator" not in found and isinstance(meta, Mapping) and isinstance(meta.get("generator"), str):
        found["generator"] = meta["generator"]
    return found
