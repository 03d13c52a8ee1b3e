"""Messages and steps: the parts of a case that have fields of their own, and the kinds of text that fields hold."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainSerializer, PlainValidator

from jury_adapters.core.values import EMPTY, FrozenDict, clean_text, freeze_mapping


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

FROZEN = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)


class Message(BaseModel):
    """One message of the conversation so far."""

    model_config = FROZEN

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
        parallel: True for a call that the agent made in the same message as the call before it.
        echo: True when the output only repeats what the model wrote, such as the message of a structured response or
            the verdict of a jury that the agent asked. Such an output is never evidence.
    """

    model_config = FROZEN

    tool: Text | None = None
    arguments: Metadata = EMPTY
    output: Text | None = None
    text: Text | None = None
    error: Text | None = None
    parallel: bool = False
    echo: bool = False
