"""Messages and steps, the parts of a case that have their own fields, and the types of text fields."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainSerializer, PlainValidator

from jury_adapters.core.images import Image, image_from, record_of
from jury_adapters.core.message_texts import page_of
from jury_adapters.core.values import EMPTY, FrozenDict, clean_text, freeze_mapping


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"expected text, not {type(value).__name__}; Case.from_row() converts loose rows")
    return clean_text(value)


def _passage(value: object) -> str:
    """Return the text of a context, which may be a document of LangChain or a node of LlamaIndex."""
    page = None if isinstance(value, str) else page_of(value)
    return _text(value if page is None else page)


def _texts(value: object) -> object:
    """Return a text as a tuple of one, and None as an empty tuple; other values are returned unchanged.

    Blank entries are kept, so that positions keep their meaning.
    """
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else value


# The oldest supported pydantic inspects signatures, and cannot read those of builtins.
def _frozen(metadata: Any) -> FrozenDict:
    return freeze_mapping(metadata)


def _plain_dict(metadata: FrozenDict) -> dict[str, Any]:
    return dict(metadata)


def _attachments(value: object) -> tuple[Image, ...]:
    if value is None:
        return ()
    if isinstance(value, str | bytes | Image | Mapping) or not isinstance(value, Iterable):
        raise ValueError("attachments are a list of images, such as [Image(path='chart.png', role='question')]")
    return tuple(image_from(one) for one in value)


def _records(attachments: tuple[Image, ...]) -> list[dict[str, Any]]:
    return [record_of(image) for image in attachments]


# Text is validated here, because pydantic refuses lone surrogates, which this package replaces.
Text = Annotated[str, PlainValidator(_text)]
Texts = Annotated[tuple[Text, ...], BeforeValidator(_texts)]
Passages = Annotated[tuple[Annotated[str, PlainValidator(_passage)], ...], BeforeValidator(_texts)]
Attachments = Annotated[tuple[Image, ...], PlainValidator(_attachments), PlainSerializer(_records)]
Metadata = Annotated[FrozenDict, PlainValidator(_frozen), PlainSerializer(_plain_dict)]

FROZEN = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True, arbitrary_types_allowed=True)


class Step(BaseModel):
    """Step of an agent: a tool call with its result, or a text.

    Attributes:
        tool: the name of the tool, or None if the step is only a text.
        arguments: the arguments of the call.
        output: the result of the tool, as text.
        text: the text that the agent wrote in this step.
        error: the error of a failed call, or None.
        parallel: True for a call that the agent made in the same message as the call before it.
        echo: True if the output only repeats text of the model, such as the message of a structured response or the
            verdict of a jury that the agent asked. Such an output is never evidence.
    """

    model_config = FROZEN

    tool: Text | None = None
    arguments: Metadata = EMPTY
    output: Text | None = None
    text: Text | None = None
    error: Text | None = None
    parallel: bool = False
    echo: bool = False


class Message(BaseModel):
    """Message of the conversation so far.

    Attributes:
        role: the role, such as ``"user"``.
        content: the text.
        step: the call of a tool whose result the message is, where the call is known. A call that has no result has a
            message without text.
        beside_results: True for a text of the user in a message with results of tools, which does not begin a turn.
    """

    model_config = FROZEN

    role: Text
    content: Text
    step: Step | None = None
    beside_results: bool = False

    @property
    def is_shown(self) -> bool:
        """Whether readers of the conversation see the message; a call without a text is not one for them."""
        return bool(self.content) or self.step is None
