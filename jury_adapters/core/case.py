"""Case, the thing to judge, with its messages, steps and images."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AliasChoices, BeforeValidator, Field, ValidationError, model_validator

from jury_adapters.core.values import EMPTY, ConfigurationError, Frozen, FrozenDict, Metadata, Text, problems_of

NAMES: dict[str, tuple[str, ...]] = {
    "question": ("question", "query", "input", "user_input", "instruction"),
    "answer": ("answer", "response", "output", "prediction", "actual_output", "result"),
    "contexts": (
        "contexts",
        "context",
        "documents",
        "retrieved_contexts",
        "retrieval_context",
        "source_documents",
        "sources",
    ),
    "reference": ("reference", "expected", "expected_output", "ground_truth", "reference_outputs", "reference_answer"),
}
"""The usual names of four fields, which :class:`Case` and the readers of runs and rows accept; the first is ours."""


class Step(Frozen):
    """Step of an agent: a tool call with its result, or a text.

    Attributes:
        tool: the name of the tool; None for a text.
        arguments: the arguments of the call.
        output: what the tool returned.
        text: what the model said between two calls.
        error: the error with which the call failed.
        echo: True if the output only repeats what the model wrote, so that it is no evidence.
    """

    tool: Text | None = None
    arguments: Metadata = Field(default_factory=FrozenDict)
    output: Text | None = None
    text: Text | None = None
    error: Text | None = None
    echo: bool = False


class Message(Frozen):
    """Message of the conversation before the question.

    Attributes:
        role: ``user``, ``assistant``, ``system`` or ``tool``.
        content: the text.
        steps: on a message of the user, the calls of tools and the texts between them that followed it.
    """

    role: Text
    content: Text
    steps: tuple[Step, ...] = ()


class Image(Frozen):
    """Image that belongs to a case: an address, or the bytes with their media type.

    Attributes:
        url: an address that begins with ``https://``.
        data: the bytes of the file.
        media_type: such as ``image/png``; required beside ``data``.
        part: the part of the case to which the image belongs.
    """

    url: Text | None = None
    data: bytes | None = Field(None, repr=False)
    media_type: Text | None = None
    part: Literal["question", "answer", "context"] = "context"

    @model_validator(mode="after")
    def _has_one_source(self) -> Self:
        if (self.url is None) == (self.data is None) or (
            self.media_type is None if self.url is None else not self.url.lower().startswith("https://")
        ):
            raise ValueError("an image has url=, which begins with https://, or data= with media_type=")
        return self


def text_of_document(value: Any) -> Any:
    """Return the text of a document of LangChain or a node of LlamaIndex; other values unchanged."""
    if isinstance(getattr(value, "page_content", None), str):
        return value.page_content
    return value.get_content() if callable(getattr(value, "get_content", None)) else value


def _texts(value: object) -> object:
    if value is None:
        return ()
    if isinstance(value, str) or text_of_document(value) is not value:
        return (text_of_document(value),)
    each = sorted(value, key=repr) if isinstance(value, set | frozenset) else value  # their order differs by run
    return tuple(map(text_of_document, each)) if isinstance(each, list | tuple) else value


def _contexts(value: object) -> object:
    found = _texts(value)
    return tuple(one for one in found if not isinstance(one, str) or one.strip()) if isinstance(found, tuple) else found


def _named(field: str, default: Any = None) -> Any:
    return Field(default, validation_alias=AliasChoices(*NAMES[field]))


class Case(Frozen):
    """Immutable record of one thing to judge.

    A field may be given under any of its usual names (see :data:`NAMES`); an unknown name, or two names of one field,
    is an error.

    Attributes:
        question: what the application was asked.
        answer: what it answered.
        contexts: the passages that the answer must rest on. Documents of LangChain and nodes of LlamaIndex become their
            texts; blank passages are left out.
        reference: the right answer.
        candidates: the answers that a pairwise judge compares.
        messages: the conversation before the question.
        steps: the tool calls and texts of an agent, in order.
        images: images of the question, the answer or the contexts.
        workspace: the folder in which an agent worked.
        generator: the model that wrote the answer, for the check of self-preference.
        error: the error with which the application failed. A case with an error and no answer is FAIL without asking.
        id: the id of the case in its data set.
        metadata: anything else, as JSON values.

    >>> case = Case(query="When?", response="In 2018.", contexts="It stopped in 2018.")
    >>> case.question, case.answer, case.contexts
    ('When?', 'In 2018.', ('It stopped in 2018.',))
    """

    question: Text | None = _named("question")
    answer: Text | None = _named("answer")
    contexts: Annotated[tuple[Text, ...], BeforeValidator(_contexts)] = _named("contexts", ())
    reference: Text | None = _named("reference")
    candidates: Annotated[tuple[Text, ...], BeforeValidator(_texts)] = ()
    messages: tuple[Message, ...] = ()
    steps: tuple[Step, ...] = ()
    images: tuple[Image, ...] = ()
    workspace: Path | None = None
    generator: Text | None = None
    error: Text | None = None
    id: Text | None = None
    metadata: Metadata = Field(default_factory=FrozenDict)

    @property
    def content_hash(self) -> str:
        """Hash of what a judge sees: the content without id, metadata and generator; the same on every machine."""
        content = self.model_dump_json(exclude_defaults=True, exclude={"id", "metadata", "generator"})
        return hashlib.sha256(content.encode()).hexdigest()[:32]

    @classmethod
    def of(cls, given: "CaseLike | None", fields: Mapping[str, Any] = EMPTY) -> "Case":
        """Return the case of a call such as ``judge(case)`` or ``judge(question=..., answer=...)``.

        Args:
            given: a case, a question, or a mapping of fields.
            fields: further fields by name.

        Raises:
            ConfigurationError: there is no field, a field is unknown, or a value has the wrong type.
        """
        if isinstance(given, Case) and not fields:
            return given
        if isinstance(given, Case):
            given = {name: getattr(given, name) for name in given.model_fields_set}
        found = {"question": given} if isinstance(given, str) else given
        if not isinstance(found, Mapping | None) or not (found or fields):
            raise ConfigurationError(
                f"a case is a Case, a question, a mapping of fields, or fields by name; not {type(given).__name__}"
            )
        try:
            return cls.model_validate({**(found or {}), **fields})
        except ValidationError as error:
            raise ConfigurationError(f"no case: {problems_of(error)}") from None


CaseLike = Case | str | Mapping[str, Any]


def refuse_one(cases: object) -> None:
    """Refuse one case where many are expected.

    Raises:
        ConfigurationError: it is a case, a question, a mapping, or a table.
    """
    if isinstance(cases, str | Mapping | Case) or hasattr(cases, "columns"):
        raise ConfigurationError(f"many cases are an iterable of cases, not one {type(cases).__name__}")
