"""Conversion of rows (of files, dictionaries of frameworks, runs with their parts) to the fields of a case."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from jury_adapters.core.conversation import Conversation
from jury_adapters.core.errors import InputError
from jury_adapters.core.evidence import DEFAULT_EVIDENCE, Evidence
from jury_adapters.core.field_map import FieldMap
from jury_adapters.core.field_names import (
    EARLIER,
    FIELD_NAMES,
    RETRIEVED_IDS,
    Columns,
    columns_of,
    differ,
    ignored,
    named_twice,
    pair_in,
    plainly_named,
)
from jury_adapters.core.image_values import images_in_content, images_of_column
from jury_adapters.core.images import Image
from jury_adapters.core.input_output import (
    GIVEN_STEPS,
    THREAD,
    Found,
    answered,
    asked,
    before,
    present,
    read_answer_column,
    read_inputs,
    read_outputs,
)
from jury_adapters.core.loose_values import candidates_of, from_json, messages_in, opened, text_of, texts_of
from jury_adapters.core.references import read_reference, read_reference_value
from jury_adapters.core.retrieved_ids import add_retrieved_ids
from jury_adapters.core.row_formats import plain_format
from jury_adapters.core.run_errors import RUN_ERROR, error_in, is_failed
from jury_adapters.core.run_parts import merged
from jury_adapters.core.unnamed_answer import names_an_answer
from jury_adapters.core.values import is_missing


def fields_of_row(
    row: Mapping[str, object],
    field_map: FieldMap | None = None,
    evidence: Evidence = DEFAULT_EVIDENCE,
    image_folder: Path | None = None,
) -> Found:
    """Return the fields of the case in a row; columns without a field are in ``metadata``.

    A column of a field has priority over the parts of a run (``inputs``, ``outputs``); see :meth:`Case.from_row`. If
    the row has no contexts, the outputs of steps that are evidence become the contexts.

    Raises:
        InputError: a column holds a value that its field cannot hold, or a path of the field map does not exist and
            the row has no error.
    """
    if field_map is not None:
        row = field_map.apply(row, missing_ok=error_in(row) is not None)
    return _Reading(row, image_folder).fields(evidence)


class _Reading:
    """State of reading one row: the columns that are left, and the conflicts to report."""

    def __init__(self, row: Mapping[str, object], image_folder: Path | None) -> None:
        self.image_folder = image_folder
        given = present(row)
        lacking = plainly_named({name: None for name, value in row.items() if is_missing(value)})
        plain, said = plain_format(plainly_named(given))
        self.rest = present(plain)
        pair = pair_in(self.rest)
        if pair is not None:
            self.rest["candidates"] = [self.rest.pop(name) for name in pair]
        self.columns: Columns = columns_of({**lacking, **self.rest}, FIELD_NAMES)
        self.conflicts = [*self.columns.conflicts, *said]
        for name, plain_name in named_twice(given).items():
            if plain_name in given and differ(given[name], given[plain_name]):
                self.conflicts.append(ignored(name, plain_name))
        self.named: dict[str, Any] = {field: self.rest.pop(name) for field, name in self.columns.of.items()}
        for field in ("messages", "trajectory", "attachments"):
            if isinstance(self.named.get(field), str):
                self.named[field] = from_json(self.named[field])
        self.earlier = self.columns.of.get("messages") in EARLIER
        if self.earlier and messages_in(self.named["messages"]) is None:  # such as the history of a town
            self.rest[self.columns.of["messages"]] = self.named.pop("messages")

    def fields(self, evidence: Evidence) -> Found:
        named, rest = self.named, self.rest
        documents = named.get("contexts", rest.get("outputs"))
        apart: Found = {"candidates": candidates_of(named["candidates"])} if "candidates" in named else {}
        if "attachments" in named:
            apart["attachments"] = images_of_column(named["attachments"], self.image_folder)
        for field in ("workspace", "generator"):
            if field in named:
                apart[field] = named[field] if field == "workspace" else text_of(named[field])
        judged = "answer" in named or "candidates" in named
        took = self._took()
        gave = self._conversation(took.get("question"))
        if "answer" in named or ("outputs" in rest and not judged):
            gave.pop(THREAD, None)  # its last message is not the answer
        if "answer" in named:
            gave |= self._over(gave, read_answer_column(named["answer"]), "answer", "messages")
        if "outputs" in rest and not judged:
            gave |= self._over(gave, read_outputs(rest.pop("outputs")), "answer", "messages", "answer in outputs")
        elif "outputs" in rest and "answer" in named:
            self._passed_over("answer", rest["outputs"], read_outputs, gave, "outputs")
        if "contexts" not in named:
            self._take_nodes()
        if "contexts" in named:
            gave["contexts"] = texts_of(named["contexts"])
            if images := _images_of_nodes(named["contexts"]):
                gave["attachments"] = (*gave.get("attachments", ()), *images)
            self._over(took, gave, "contexts", "inputs")
            took.pop("contexts", None)
        wanted = self._wanted()
        if "reference" in wanted:
            self._over(took, wanted, "reference", "inputs")
            took.pop("reference", None)
        found = {**merged(took, gave, wanted, evidence=evidence), **apart}
        if "attachments" in apart and (beside := gave.get("attachments")):
            found["attachments"] = tuple(dict.fromkeys((*apart["attachments"], *beside)))
        found["metadata"] = self._metadata(found["metadata"])
        add_retrieved_ids(found["metadata"], documents)
        self._add_run_error(found)
        return _with_generator(found)

    def _add_run_error(self, found: Found) -> None:
        """Add the error of a run that left no answer, not even in a column that may be one under another name.

        Recorded votes and the ids of a retriever show that the run left something to judge.
        """
        error, left = error_in(self.rest), self.rest.keys() & {"votes", *RETRIEVED_IDS}
        if is_failed(error, found) and not left and not any(map(names_an_answer, self.rest)):
            found["metadata"][RUN_ERROR] = error

    def _take_nodes(self) -> None:
        """Use the nodes of a LlamaIndex response object as contexts.

        If the answer is a mapping, the judged model may have written it, so its nodes are only reported.
        """
        answer, column = self.named.get("answer"), self.columns.of.get("answer", "answer")
        if isinstance(answer, Mapping):
            if answer.get(_NODES):
                self.conflicts.append(f"{_NODES} in {column} is not evidence unless contexts is mapped to it")
            return
        nodes = getattr(answer, _NODES, None)
        if isinstance(nodes, list) and all(hasattr(node, "node_id") for node in nodes):
            self.named["contexts"] = nodes

    def _took(self) -> Found:
        named, rest = self.named, self.rest
        if "question" in named:
            took: Found = {"question": text_of(named["question"], asked=True)}
            self._passed_over("question", rest.get("inputs"), read_inputs, took, "inputs")
            return took
        return read_inputs(rest.pop("inputs")) if "inputs" in rest and (self.earlier or "messages" not in named) else {}

    def _wanted(self) -> Found:
        if "reference" not in self.named:
            return {}
        read = read_reference if self.columns.of["reference"] == "reference_outputs" else read_reference_value
        return read(self.named["reference"])

    def _conversation(self, question: str | None) -> Found:
        """Return the fields that are read from ``messages`` and ``trajectory``.

        If the row has no question, or its question is the last one in the messages, the messages provide the steps to
        the answer, and the answer if the row has none. Otherwise they are the conversation before the question.
        """
        found: Found = {}
        if "messages" in self.named:
            thread = self._messages("messages")
            read = Conversation.of(thread)
            if self.earlier or not (question is None or question.strip() == (read.question or "").strip()):
                found["messages"] = before(thread, question)
            else:
                found |= asked(read) if "candidates" in self.named else answered(read)
        if "trajectory" in self.named:
            steps = self.named["trajectory"]
            if messages_in(steps) is not None:
                found |= answered(Conversation.of(self._messages("trajectory")))
            elif isinstance(steps, list | tuple):
                found |= {"trajectory": steps, GIVEN_STEPS: True}
            else:
                raise InputError(f"trajectory: expected steps or messages, not {_kind(steps)}")
        return found

    def _messages(self, field: str) -> list[object]:
        thread = messages_in(self.named[field])
        if thread is None:
            found = _kind(self.named[field])
            raise InputError(f"{field}: expected messages, each with a role and a content, or their JSON; not {found}")
        return thread

    def _over(self, found: Found, better: Found, field: str, where: str, chosen: str = "") -> Found:
        """Return the fields with priority, and report one field if both have different values for it."""
        if found.get(field) and better.get(field) and differ(found[field], better[field]):
            self.conflicts.append(ignored(f"{field} in {where}", chosen or self.columns.of.get(field, field)))
        return better

    def _passed_over(self, field: str, part: object, read: Callable[[object], Found], taken: Found, where: str) -> None:
        """Report a field in a part of a run that is ignored because the row has a column of the field."""
        part = opened(part)
        plain = isinstance(part, Mapping) and not columns_of(part, (field,), part_of=field).of
        if part is not None and not (plain and messages_in(part) is None):
            self._over(read(part), taken, field, where)

    def _metadata(self, of_parts: Mapping[str, Any]) -> dict[str, Any]:
        own = self.named.get("metadata", {})
        own = self._without_other_id(own) if isinstance(own, Mapping) else {"metadata": own}
        known = {**own, **of_parts, **self.rest}
        conflicts = [*self.conflicts, *of_parts.get("ambiguous", ())]
        if conflicts:
            known["ambiguous"] = list(dict.fromkeys(conflicts))
        return known

    def _without_other_id(self, own: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the metadata of a row without an id if a column has one; another id is reported."""
        column = next((name for name in _IDS if name in self.rest), None)
        if column is None:
            return own
        self.conflicts += [
            ignored(f"{name} in metadata", column)
            for name in _IDS
            if name in own and differ(str(own[name]), str(self.rest[column]))
        ]
        return {name: value for name, value in own.items() if name not in _IDS}


def _images_of_nodes(contexts: object) -> tuple[Image, ...]:
    """Return the images of LlamaIndex nodes among contexts. Local files that they name are not read."""
    items = contexts if isinstance(contexts, list | tuple) else (contexts,)
    nodes = [one for one in items if not isinstance(one, str | Mapping)]
    return tuple(images_in_content(nodes, "context"))


def _kind(value: object) -> str:
    """Return the description of a value in messages."""
    if isinstance(value, list | tuple):
        return "a list with something else in it"
    return "text" if isinstance(value, str) else type(value).__name__


def _with_generator(found: Found) -> Found:
    meta = found["metadata"].get("meta")
    if "generator" not in found and isinstance(meta, Mapping) and isinstance(meta.get("generator"), str):
        found["generator"] = meta["generator"]
    return found


_NODES = "source_nodes"
_IDS = ("item_id", "id")  # in order of priority
