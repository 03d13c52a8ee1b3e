"""The thing to judge: question, answer, contexts, reference, and what else is known about it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ValidationError, model_validator

from jury_adapters.core.case_parts import FROZEN, Message, Metadata, Step, Text, Texts
from jury_adapters.core.errors import ConfigurationError, unknown
from jury_adapters.core.evidence import Evidence, EvidenceTools
from jury_adapters.core.field_map import FieldMap, FieldMapLike, field_map_of
from jury_adapters.core.field_names import ALIASES, FIELD_NAMES, pair_in, plainly_named
from jury_adapters.core.row_fields import fields_of_row
from jury_adapters.core.values import EMPTY, is_missing


class Case(BaseModel):
    """One thing to judge. Immutable; every framework's own field names are understood.

    Attributes:
        question: what was asked. Also called query, input, goal, user_input.
        answer: what came back. Also called response, output, prediction, actual_output.
        contexts: the passages the answer should rest on. Also called context, retrieved_contexts,
            retrieval_context.
        reference: a right answer to compare with. Also called expected, ground_truth, reference_outputs.
        candidates: two or more answers to compare. Also called answers, or response + second_response, or
            prediction + prediction_b.
        messages: the conversation so far.
        trajectory: what an agent did, step by step.
        workspace: the folder an agent worked in.
        generator: the name of the model that wrote the answer; it lets a verdict warn of self-preference.
        metadata: anything else, as JSON values.

    Raises:
        ValueError: an unknown field (with the name that was probably meant), or two names for one field.

    >>> Case(query="2 + 2?", response="4").answer
    '4'
    """

    model_config = FROZEN

    question: Text | None = None
    answer: Text | None = None
    contexts: Texts = ()
    reference: Text | None = None
    candidates: Texts = ()
    messages: tuple[Message, ...] = ()
    trajectory: tuple[Step, ...] = ()
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
        for name, value in data.items():
            if name in FIELD_NAMES or (pair is not None and name in pair):
                continue
            field = ALIASES.get(name)
            if field is None:
                raise ValueError(unknown("field", name, [*FIELD_NAMES, *ALIASES]))
            if field in fields:
                raise ValueError(f"{name!r} is another name for {field!r}, which is given too; give one of them")
            fields[field] = value
        if isinstance(fields.get("contexts"), Mapping):
            raise ValueError("context= as a mapping is for Critic.judge (template variables); contexts are texts")
        return fields

    @classmethod
    def from_row(
        cls,
        row: Mapping[str, object],
        field_map: FieldMapLike | None = None,
        *,
        evidence_tools: EvidenceTools | Evidence = None,
    ) -> Case:
        """Return the case of a loose row: JSONL, CSV, a framework's dictionary, a run with its parts.

        :mod:`jury_adapters.core.field_names` lists the names of each field. They are known however they are written
        (``Answer``, ``Ground Truth``, ``actualOutput``). The parts of a run or an example, ``inputs``, ``outputs`` and
        ``reference_outputs``, are read as the LangChain adapter reads them. Messages whose last question is that of the
        row hold the steps to its answer, and the answer where the row has none; beside another question they are the
        conversation before it.

        Unknown columns go into ``metadata``, and so do texts and numbers of parts that have no field. Of two different
        values for one field the one under the better name is taken, a column of the row before a part of a run, and
        ``metadata["ambiguous"]`` names the other. It says so too where a column is taken because a better one is empty.
        Numbers become text, documents of LangChain and nodes of LlamaIndex their text, other objects JSON text, missing
        values (None, NaN) stay missing, and missing entries of a list of contexts are left out.

        Args:
            row: column names and their values.
            field_map: where fields are whose names the package does not know: a mapping from fields to columns or
                paths, or a function that returns the case of a row; see :class:`jury_adapters.core.field_map.FieldMap`.
            evidence_tools: the tools of a conversation whose outputs are contexts, where the row has none: names, or a
                predicate of a step; see :class:`jury_adapters.core.evidence.Evidence`.

        Raises:
            ConfigurationError: the row is not a mapping, the field map is not one, or ``evidence_tools`` is neither
                names nor a predicate.
            InputError: a path of the field map leads nowhere in this row, or a column cannot hold what its name says.

        >>> Case.from_row({"User Question": "2 + 2?", "reply": "4"}, {"question": "User Question", "answer": "reply"})
        Case(question='2 + 2?', answer='4')
        """
        if not isinstance(row, Mapping):
            raise ConfigurationError(f"a row must be a mapping of column names to values, not {type(row).__name__}")
        mapped, evidence = field_map_of(field_map), Evidence.of(evidence_tools)
        if mapped is None or isinstance(mapped, FieldMap):
            return cls(**fields_of_row(row, mapped, evidence))
        case = mapped(row)
        if not isinstance(case, cls):
            raise ConfigurationError(f"the function given as field_map must return a Case, not {type(case).__name__}")
        return case

    @classmethod
    def of(cls, case: Case | str | Mapping[str, object] | None, fields: Mapping[str, Any]) -> Case:
        """What ``judge(...)`` was given: a Case, a bare question, a mapping of fields, or keyword fields.

        Raises:
            ConfigurationError: nothing was given, a ready Case together with further fields, or fields that make no
                Case (with the name that was probably meant).
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
                raise ConfigurationError(f"{min(twice)!r} is given twice; give it once")
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
            raise ConfigurationError(problems_of(error)) from None

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy with other values in some fields, checked as by the constructor; ``deep`` means nothing here."""
        if not update:
            return self
        changed = {ALIASES.get(name, name) for name in update}
        kept = {name: getattr(self, name) for name in type(self).model_fields if name not in changed}
        return self.model_validate({**kept, **update})

    @property
    def item_id(self) -> str | None:
        """The id that the row of the case gives it, in the column ``item_id`` or ``id``; None without one."""
        return _item_id(self.metadata)

    @cached_property
    def key(self) -> str:
        """A stable hash of the content, the same on every machine.

        Metadata is not content: the same question and answer under another id is the same case to a judge.
        """
        content = self.model_dump(mode="json", exclude_defaults=True, exclude={"metadata"})
        text = json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:32]


EMPTY_KEY = hashlib.sha256(b"{}").hexdigest()[:32]
"""The key of a case without content, such as one that has recorded votes only."""


def item_id_in(row: object) -> str | None:
    """Return the id that a row gives itself, also one that makes no case; None without one.

    It is in the column ``item_id`` or ``id``, however that is written, or in the row's metadata.
    """
    try:
        if not isinstance(row, Mapping):
            return None
        own = row.get("metadata")
        columns = {name: value for name, value in plainly_named(row).items() if not is_missing(value)}
        return _item_id({**(own if isinstance(own, Mapping) else {}), **columns})
    except Exception:  # whatever the objects in a foreign row raise
        return None


def _item_id(metadata: Mapping[str, Any]) -> str | None:
    item = metadata.get("item_id", metadata.get("id"))
    return None if item is None else str(item)


def problems_of(error: ValidationError) -> str:
    """Return what is wrong with the fields of a case, in one line."""
    found = []
    for problem in error.errors(include_url=False):
        where = ".".join(str(part) for part in problem["loc"])
        found.append(f"{where}: {problem['msg']}".removeprefix(": ").replace("Value error, ", "", 1))
    return "; ".join(found)
