"""Case, the thing to judge: question, answer, contexts, reference and further fields."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from pydantic import BaseModel, ValidationError, model_validator

from jury_adapters.core.case_parts import FROZEN, Attachments, Message, Metadata, Passages, Step, Text, Texts
from jury_adapters.core.conversation import Conversation
from jury_adapters.core.errors import ConfigurationError, plain_repr, unknown
from jury_adapters.core.evidence import Evidence, EvidenceTools
from jury_adapters.core.field_map import FieldMap, FieldMapLike, field_map_of
from jury_adapters.core.field_names import ALIASES, FIELD_NAMES, METADATA_NAMES, pair_in, plainly_named
from jury_adapters.core.given_messages import given_messages
from jury_adapters.core.row_fields import fields_of_row
from jury_adapters.core.run_errors import RUN_ERROR, error_in, is_failed, lost_outputs
from jury_adapters.core.values import EMPTY, is_missing


class Case(BaseModel):
    """Immutable record of one thing to judge.

    The constructor also accepts the field names that other frameworks use. An id (``id``, ``item_id``), a human label
    (``gold``), and the documents of a retriever (``retrieved_ids``, ``relevant_ids``, ``relevant_contexts``) become
    entries of the metadata. The id is also in :attr:`item_id`.

    Attributes:
        question: the question or task. Also called query, input, goal, user_input.
        answer: the answer to judge. Also called response, output, prediction, actual_output.
        contexts: the passages on which the answer should rest. Also called context, retrieved_contexts,
            retrieval_context. A document of LangChain or a node of LlamaIndex counts by its text.
        reference: a right answer to compare with. Also called expected, ground_truth, reference_outputs.
        candidates: two or more answers to compare. Also called answers, or response + second_response, or
            prediction + prediction_b.
        messages: the conversation so far.
        trajectory: the steps of an agent.
        attachments: images of the question, the answer or the contexts; see :class:`Image`. Also called images.
        workspace: the folder in which an agent worked.
        generator: the name of the model that wrote the answer. A verdict needs it to warn of self-preference.
        metadata: anything else, as JSON values.

    Raises:
        ValueError: a field is unknown (the message suggests the closest name), or two names of one field are given.

    >>> Case(query="2 + 2?", response="4").answer
    '4'
    """

    model_config = FROZEN

    question: Text | None = None
    answer: Text | None = None
    contexts: Passages = ()
    reference: Text | None = None
    candidates: Texts = ()
    messages: tuple[Message, ...] = ()
    trajectory: tuple[Step, ...] = ()
    attachments: Attachments = ()
    workspace: Path | None = None
    generator: Text | None = None
    metadata: Metadata = EMPTY

    @model_validator(mode="before")
    @classmethod
    def _canonical_names(cls, data: object) -> object:
        if not isinstance(data, Mapping):
            return data
        pair = pair_in(data)
        fields: dict[str, Any] = {} if pair is None else {"candidates": tuple(data[name] for name in pair)}
        fields.update((name, value) for name, value in data.items() if name in FIELD_NAMES)
        entries = {name: value for name, value in data.items() if name in METADATA_NAMES}
        for name, value in data.items():
            if name in FIELD_NAMES or name in entries or (pair is not None and name in pair):
                continue
            field = ALIASES.get(name)
            if field is None:
                known = unknown("field", name, [*FIELD_NAMES, *ALIASES, *METADATA_NAMES])
                raise ValueError(f"{known} Case.from_row(row) keeps other columns as metadata.")
            if field in fields:
                raise ValueError(
                    f"{plain_repr(name)} is another name for {plain_repr(field)}, which is given too; give one of them"
                )
            fields[field] = value
        if isinstance(fields.get("contexts"), Mapping):
            raise ValueError("context= as a mapping is for Critic.judge (template variables); contexts are texts")
        return {**fields, "metadata": _with_entries(fields.get("metadata"), entries)} if entries else fields

    @classmethod
    def from_row(
        cls,
        row: Mapping[str, object],
        field_map: FieldMapLike | None = None,
        *,
        evidence_tools: EvidenceTools | Evidence = None,
        image_folder: str | PathLike[str] | None = None,
    ) -> Case:
        """Return the case of a row: a JSONL or CSV row, a dictionary of another framework, or a run with its parts.

        :mod:`jury_adapters.core.field_names` lists the names of each field. Spelling variants of a name are recognised
        (``Answer``, ``Ground Truth``, ``actualOutput``). The parts of a run or an example (``inputs``, ``outputs`` and
        ``reference_outputs``) are read as the LangChain adapter reads them. If the row has no question, or its question
        is the last one in the messages, the messages provide the steps to the answer, and the answer itself if the row
        has none. Otherwise they are the conversation before the question.

        Unknown columns go into ``metadata``, as do texts and numbers in parts that match no field. If a field has two
        different values, the one under the better name is used, and a column of the row has priority over a part of a
        run; ``metadata["ambiguous"]`` names the other one. It also names a column that is used because a better one is
        empty.

        If the row has an ``error`` and nothing that an application returned, the run of the application failed;
        :attr:`run_error` has the error, and every judge says FAIL.

        Numbers become text. LangChain documents and LlamaIndex nodes become their text, and other objects JSON text.
        Missing values (None, NaN) stay missing, and missing entries of a list of contexts are left out.

        Args:
            row: column names and their values.
            field_map: the places of fields that have names unknown to the package: a mapping from fields to columns or
                paths, or a function that returns the case of a row; see :class:`jury_adapters.core.field_map.FieldMap`.
            evidence_tools: the tools whose outputs in a conversation become the contexts of a row that has none: names,
                or a predicate of a step; see :class:`jury_adapters.core.evidence.Evidence`.
            image_folder: the folder of the images that the row names by path, with everything in it. Without it, a row
                with such an image is refused. Images of other rows are ``data:`` URLs, or addresses.

        Raises:
            ConfigurationError: the row is not a mapping, the field map is invalid, or ``evidence_tools`` is neither
                names nor a predicate.
            InputError: a path of the field map does not exist in this row, or a column holds a value that its field
                cannot hold.

        >>> row = {"User Question": "2 + 2?", "reply": "4"}
        >>> Case.from_row(row, {"question": "User Question", "answer": "reply"}).answer
        '4'
        """
        if not isinstance(row, Mapping):
            raise ConfigurationError(f"a row must be a mapping of column names to values, not {type(row).__name__}")
        mapped, evidence = field_map_of(field_map), Evidence.of(evidence_tools)
        if mapped is None or isinstance(mapped, FieldMap) or lost_outputs(row):
            mapped = mapped if isinstance(mapped, FieldMap) else None
            folder = None if image_folder is None else Path(image_folder)
            return cls(**fields_of_row(row, mapped, evidence, folder))
        case = mapped(row)
        if not isinstance(case, cls):
            raise ConfigurationError(f"the function given as field_map must return a Case, not {type(case).__name__}")
        error = error_in(row)
        if not is_failed(error, dict(case)):
            return case
        return case.model_copy(update={"metadata": {**case.metadata, RUN_ERROR: error}})

    @classmethod
    def from_messages(
        cls, messages: Iterable[object], *, evidence_tools: EvidenceTools | Evidence = None, **fields: Any
    ) -> Case:
        """Return the case of a conversation, such as the messages of an agent's run.

        The question is the last message of the user (of several in a row, the last with a text), the answer the last
        message of the assistant after it, and the trajectory the assistant's tool calls and texts in between. What
        came before the question are the messages of the case. Messages of LangChain, LlamaIndex, OpenAI, Anthropic
        and Gemini are recognised, and pairs such as ``("user", "Hello")``; among them, other values are skipped. Images
        of the question, of the results of tools and of the answer become the attachments.

        If the conversation ends with a tool call that gives a structured response (LangChain's ``ToolStrategy``), the
        arguments of the call are the answer. If it ends with other tool calls, there is no answer.

        Args:
            messages: the conversation, in order.
            evidence_tools: the tools whose outputs are the contexts if none are given: names, or a predicate of a step;
                see :class:`jury_adapters.core.evidence.Evidence`.
            **fields: further fields (``reference=``, ``metadata=``), as in the constructor. ``question=``, ``answer=``,
                ``messages=``, ``trajectory=`` and ``attachments=`` replace what the conversation gives.

        Raises:
            ConfigurationError: ``messages`` is not a list of messages, such as the state of a graph that contains one;
                or ``evidence_tools`` is neither names nor a predicate.
            ValueError: a field is unknown.

        >>> Case.from_messages([("user", "2 + 2?"), ("assistant", "4")], reference="4").answer
        '4'
        """
        read = Conversation.of(given_messages(messages))
        evidence = Evidence.of(evidence_tools)
        if not fields.keys() & set(FIELD_NAMES["contexts"].exact):
            fields["contexts"] = evidence.contexts(read.steps)
            evidence.warn(read.steps)
        given = {
            "question": read.question, "answer": read.answer, "messages": read.earlier, "trajectory": read.steps,
            "attachments": read.images,
        }  # fmt: skip
        return cls(**{**given, **fields})

    @classmethod
    def of(cls, case: Case | str | Mapping[str, object] | None, fields: Mapping[str, Any]) -> Case:
        """Return the case for the arguments of ``judge(...)``: a Case, a question, a mapping or keyword fields.

        Raises:
            ConfigurationError: nothing was given, a Case was given together with further fields, or the fields do not
                make a Case (the message suggests the closest name).
        """
        if isinstance(case, Case):
            if fields:
                raise ConfigurationError("give a ready Case or keyword fields, not both; case.model_copy(update=...)")
            return case
        if isinstance(case, str):
            case = {"question": case}
        if isinstance(case, Mapping) and (case or fields):
            twice = case.keys() & fields.keys()
            if twice:
                raise ConfigurationError(f"{plain_repr(min(twice))} is given twice; give it once")
            return cls._made({**case, **fields})
        if case is not None and case != {}:
            raise ConfigurationError(
                f"judge() takes a Case, a question, a mapping or fields, not {type(case).__name__}"
            )
        if not fields:
            raise ConfigurationError("nothing to judge: give a Case, a question, or fields such as answer=...")
        return cls._made(fields)

    @classmethod
    def _made(cls, fields: Mapping[str, Any]) -> Case:
        try:
            return cls.model_validate(fields)
        except ValidationError as error:  # its own text has more lines about pydantic than about the mistake
            raise ConfigurationError(_state_hint(fields) or problems_of(error)) from None

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with other values in some fields, validated like constructor arguments; ``deep`` is ignored."""
        if not update:
            return self
        changed = {ALIASES.get(name, name) for name in update}
        kept = {name: getattr(self, name) for name in type(self).model_fields if name not in changed}
        if replaced := {METADATA_NAMES[name] for name in update if name in METADATA_NAMES} & self.metadata.keys():
            kept["metadata"] = {name: value for name, value in self.metadata.items() if name not in replaced}
        return self.model_validate({**kept, **update})

    if not TYPE_CHECKING:  # a type checker refuses unknown attributes only without this method

        def __getattr__(self, name: str) -> Any:
            """Refuse another name of a field, or of an entry of the metadata, and say where the value is."""
            place = ALIASES.get(name)
            if name in METADATA_NAMES:
                place = "item_id" if name == "id" else f"metadata.get({METADATA_NAMES[name]!r})"
            if place is not None:
                raise AttributeError(f"'Case' object has no attribute {name!r}; use case.{place}")
            return super().__getattr__(name)

    @property
    def item_id(self) -> str | None:
        """The id from the column ``item_id`` or ``id`` of the row; None without one."""
        return _item_id(self.metadata)

    @property
    def run_error(self) -> str | None:
        """The error with which the run of the application ended, if it left nothing to judge; None for other cases.

        It is ``metadata["run_error"]``. Every judge says FAIL without judging such a case, as of a live run that fails.
        """
        error = self.metadata.get(RUN_ERROR)
        return error if isinstance(error, str) and is_failed(error, self.__dict__) else None

    @cached_property
    def content_hash(self) -> str:
        """Stable hash of the content, the same on every machine.

        Metadata is excluded: the same question and answer under another id have the same hash.
        """
        content = self.model_dump(mode="json", exclude_defaults=True, exclude={"metadata"})
        text = json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:32]


def _with_entries(metadata: object, entries: Mapping[str, object]) -> dict[str, object]:
    """Return the metadata with the id and the documents of a retriever under their own names."""
    known = dict(metadata) if isinstance(metadata, Mapping) else {}
    for name, value in entries.items():
        entry = METADATA_NAMES[name]
        if entry in known:
            raise ValueError(f"{plain_repr(entry)} is given twice, under another name or in the metadata; give it once")
        known[entry] = value
    return known


EMPTY_KEY = hashlib.sha256(b"{}").hexdigest()[:32]
"""Content hash of a case without content, such as a case that has only recorded votes."""


def item_id_in(row: object) -> str | None:
    """Return the id in a row, even if the row is not a valid case; None without one.

    The id is in the column ``item_id`` or ``id``, in any spelling, or in the row's metadata.
    """
    try:
        if not isinstance(row, Mapping):
            return None
        own = row.get("metadata")
        columns = {name: value for name, value in plainly_named(row).items() if not is_missing(value)}
        item = _item_id(columns)
        return _item_id(own) if item is None and isinstance(own, Mapping) else item
    except Exception:  # objects in a row may raise anything
        return None


def _item_id(metadata: Mapping[str, Any]) -> str | None:
    item = metadata.get("item_id", metadata.get("id"))
    return None if item is None else str(item)


def _state_hint(fields: Mapping[str, Any]) -> str:
    """Return how to read the state of an agent that was given as the fields of a case; empty for other fields."""
    messages = fields.get("messages")
    known = (Message, Mapping)
    if not isinstance(messages, list | tuple) or all(isinstance(one, known) for one in messages):
        return ""
    kinds = ", ".join(dict.fromkeys(type(one).__name__ for one in messages if not isinstance(one, known)))
    return (
        f"the messages are of a framework ({kinds}), as in the state of an agent: judge Case.from_row(state), or "
        "to_case(state) of jury_adapters.langchain, which read the question, the answer and the steps from them"
    )


def problems_of(error: ValidationError) -> str:
    """Return the validation errors of a case in one line."""
    found = []
    for problem in error.errors(include_url=False):
        where = ".".join(str(part) for part in problem["loc"])
        found.append(f"{where}: {problem['msg']}".removeprefix(": ").replace("Value error, ", "", 1))
    return "; ".join(found)
