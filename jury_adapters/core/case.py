"""The thing to judge: question, answer, contexts, reference, and what else is known about it."""

from __future__ import annotations

import hashlib
import json
import logging
import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    PlainSerializer,
    PlainValidator,
    ValidationError,
    model_validator,
)

from jury_adapters.core.errors import ConfigurationError, unknown
from jury_adapters.core.values import EMPTY, FrozenDict, clean_text, freeze, freeze_mapping

_log = logging.getLogger(__name__)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"expected text, not {type(value).__name__}; Case.from_row() converts loose rows")
    return clean_text(value)


def _texts(value: object) -> object:
    """One text is a list of one, None is none; blank entries stay, so that positions keep their meaning."""
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else value


# The oldest pydantic we promise to work with looks into signatures, and a builtin has none it can read.
def _frozen(metadata: Any) -> FrozenDict:
    return freeze_mapping(metadata)


def _plain_dict(metadata: FrozenDict) -> dict[str, Any]:
    return dict(metadata)


# Lone surrogates are replaced on entry, so the text is validated here and not by pydantic, which refuses them.
Text = Annotated[str, PlainValidator(_text)]
Texts = Annotated[tuple[Text, ...], BeforeValidator(_texts)]
Metadata = Annotated[FrozenDict, PlainValidator(_frozen), PlainSerializer(_plain_dict)]

_FROZEN = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)


class Message(BaseModel):
    """One message of the conversation so far."""

    model_config = _FROZEN

    role: Text
    content: Text


class Step(BaseModel):
    """One move of an agent: a tool call with its result, or something it said.

    Attributes:
        tool: the tool called, or None when the agent only spoke.
        arguments: the call's arguments.
        output: what the tool returned, as text.
        text: what the agent said with this step.
        error: why the call failed, or None.
    """

    model_config = _FROZEN

    tool: Text | None = None
    arguments: Metadata = EMPTY
    output: Text | None = None
    text: Text | None = None
    error: Text | None = None


class Case(BaseModel):
    """One thing to judge. Immutable; every framework's own field names are understood.

    Attributes:
        question: what was asked. Also called query, input, goal, user_input.
        answer: what came back. Also called response, output, prediction, actual_output.
        contexts: the passages the answer should rest on. Also called context, retrieved_contexts.
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

    model_config = _FROZEN

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
        fields, rest, twice = _rename(data)
        if rest:
            raise ValueError(unknown("field", next(iter(rest)), [*cls.model_fields, *ALIASES]))
        if twice:
            alias, name = next(iter(twice.items()))
            raise ValueError(f"{alias!r} is another name for {name!r}, which is given too; give one of them")
        if isinstance(fields.get("contexts"), Mapping):
            raise ValueError("context= as a mapping is for Critic.judge (template variables); contexts are texts")
        return fields

    @classmethod
    def from_row(cls, row: Mapping[str, object]) -> Case:
        """A case from a loose row: JSONL, CSV, a framework's dict.

        Names are known however they are written (``Answer``, ``Ground Truth``). Where nothing else is a question,
        ``prompt`` is; an answer, ``completion``, ``generation`` or ``result``; contexts, ``documents``, ``docs``,
        ``source_documents``, ``retrieved_documents``, ``retrieved_docs`` or ``passages``; a reference,
        ``expected_output``, ``expected_answer`` or ``reference_answer``.

        Unknown columns go into ``metadata``. Where two names for one field stand together, the canonical one (or the
        first) is taken, the other goes into ``metadata``, and ``metadata["ambiguous"]`` says so. Numbers become text,
        documents of LangChain and nodes of LlamaIndex their text, other objects JSON text, missing values (None, NaN)
        stay missing.

        Raises:
            ConfigurationError: the row is not a mapping.
        """
        if not isinstance(row, Mapping):
            raise ConfigurationError(f"a row must be a mapping of column names to values, not {type(row).__name__}")
        row = _plainly_named(row)
        fields, rest, twice = _rename({name: value for name, value in row.items() if not _missing(value)})
        for alias, name, unless in _LAST_RESORT:
            if alias in rest and not fields.keys() & {name, unless}:
                fields[name] = rest.pop(alias)
        values: dict[str, Any] = {}
        for name, value in fields.items():
            if name in ("question", "answer", "reference", "generator"):
                values[name] = _loose_text(value)
            elif name in ("contexts", "candidates"):
                values[name] = _loose_texts(value)
            elif name == "metadata":
                rest = {**(value if isinstance(value, Mapping) else {"metadata": value}), **rest}
            else:
                values[name] = value
        meta = rest.get("meta")
        if "generator" not in values and isinstance(meta, Mapping) and isinstance(meta.get("generator"), str):
            values["generator"] = meta["generator"]
        if twice:
            _log.debug("row has two names for one field: %s", twice)
            rest = {**rest, **{alias: row[alias] for alias in twice}}
            rest["ambiguous"] = [f"{alias} is ignored beside {name}" for alias, name in twice.items()]
        return cls(**values, metadata=rest)

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
            raise ConfigurationError(_problems(error)) from None

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy with other values in some fields, checked as by the constructor; ``deep`` means nothing here."""
        if not update:
            return self
        changed = {ALIASES.get(name, name) for name in update}
        kept = {name: getattr(self, name) for name in type(self).model_fields if name not in changed}
        return self.model_validate({**kept, **update})

    @cached_property
    def key(self) -> str:
        """A stable hash of the content, the same on every machine.

        Metadata is not content: the same question and answer under another id is the same case to a judge.
        """
        content = self.model_dump(mode="json", exclude_defaults=True, exclude={"metadata"})
        text = json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:32]


ALIASES: Mapping[str, str] = {
    "query": "question", "input": "question", "goal": "question", "user_input": "question",
    "response": "answer", "output": "answer", "prediction": "answer", "actual_output": "answer",
    "context": "contexts", "retrieved_contexts": "contexts",
    "expected": "reference", "ground_truth": "reference", "reference_outputs": "reference",
    "answers": "candidates",
}  # fmt: skip
"""What frameworks call the fields of a case, and the field each of these names stands for."""

_PAIRS = {"second_response": "response", "prediction_b": "prediction"}
# Of loose rows only: a column that may hold something else, and is a field where nothing is called it, nor the other.
_LAST_RESORT = (
    ("prompt", "question", "messages"),
    *((name, "answer", "candidates") for name in ("completion", "generation", "result")),
    *(
        (name, "contexts", "contexts")
        for name in ("documents", "docs", "source_documents", "retrieved_documents", "retrieved_docs", "passages")
    ),
    *((name, "reference", "reference") for name in ("expected_output", "expected_answer", "reference_answer")),
)
_KNOWN = frozenset({
    *Case.model_fields, *ALIASES, *_PAIRS, *(column for column, _, _ in _LAST_RESORT), "id", "item_id", "gold", "votes",
})  # fmt: skip


def _plainly_named(row: Mapping[str, object]) -> dict[str, object]:
    """The row with the names that we know as we write them; ``Ground Truth`` is ``ground_truth``."""
    named: dict[str, object] = {}
    for key, value in row.items():
        name = str(key)
        plain = name if name in _KNOWN else "_".join(name.casefold().replace("-", " ").split())
        taken = plain in named or (plain != name and plain in row)
        named[plain if plain in _KNOWN and not taken else name] = value
    return named


def _rename(data: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any], dict[str, str]]:
    """Split into canonical fields, unknown names, and aliases that stand beside another name of the same field."""
    known = Case.model_fields
    fields = {name: value for name, value in data.items() if name in known}
    rest: dict[str, Any] = {}
    twice: dict[str, str] = {}
    paired = set()
    for second, first in _PAIRS.items():
        if second in data and first in data and "candidates" not in fields:
            fields["candidates"] = (data[first], data[second])
            paired |= {first, second}
    for name, value in data.items():
        if name in known or name in paired:
            continue
        field = ALIASES.get(name)
        if field is None:
            rest[name] = value
        elif field in fields:
            twice[name] = field
        else:
            fields[field] = value
    return fields, rest, twice


def _problems(error: ValidationError) -> str:
    """What is wrong with the fields, in one line."""
    found = []
    for problem in error.errors(include_url=False):
        where = ".".join(str(part) for part in problem["loc"])
        found.append(f"{where}: {problem['msg']}".removeprefix(": ").replace("Value error, ", "", 1))
    return "; ".join(found)


def _missing(value: object) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _loose_text(value: object) -> str:
    if isinstance(value, str):
        return value
    if (page := _page_of(value)) is not None:
        return page
    if isinstance(value, Mapping) and len(value) == 1:  # {"output": "..."}: the usual wrapper around one text
        (only,) = value.values()
        if isinstance(only, str):
            return only
    plain = freeze(value)
    return plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False)


def _page_of(value: object) -> str | None:
    """The text of a document of LangChain, as an object or written down, or of a node of LlamaIndex; else None."""
    if isinstance(value, Mapping):
        page = value.get("page_content")
    elif (page := getattr(value, "page_content", None)) is None and hasattr(value, "node_id"):
        page = value.get_content() if hasattr(value, "get_content") else None
    return page if isinstance(page, str) else None


def _loose_texts(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        stripped = value.strip()
        if stripped.startswith("["):  # a CSV cell that holds a JSON list
            try:
                parsed = json.loads(stripped)
            except ValueError:
                return (value,)
            if isinstance(parsed, list) and all(isinstance(item, str) for item in parsed):
                return tuple(parsed)
        return (value,)
    if isinstance(value, Sequence):
        return tuple(_loose_text(item) for item in value)
    return (_loose_text(value),)
