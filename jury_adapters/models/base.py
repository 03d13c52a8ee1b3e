"""Interface through which critics use language models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias, runtime_checkable

from jury_adapters.core.images import Image
from jury_adapters.core.usage import NO_USAGE, Usage
from jury_adapters.core.values import JsonValue

Schema: TypeAlias = Mapping[str, JsonValue]
Finish = Literal["stop", "length", "refusal", "filter", "other"]


@dataclass(frozen=True, slots=True)
class Turn:
    """Message of the exchange with the model.

    Attributes:
        role: who says it.
        text: the text.
        images: images before the text; each has its number in the message, from 1, and its role.
    """

    role: Literal["user", "assistant"]
    text: str
    images: tuple[Image, ...] = ()

    def parts(self) -> Iterator[str | Image]:
        """Yield the content in order: a heading and the image for each image, then the text."""
        for number, image in enumerate(self.images, start=1):
            yield f"Image {number}, which belongs to the {image.role}:"
            yield image
        yield self.text


@dataclass(frozen=True, slots=True)
class Prompt:
    """Prompt for a model. The rubric comes first, because it is the same for every case and vendors cache it."""

    system: str
    turns: tuple[Turn, ...]

    @classmethod
    def of(cls, user: str, system: str = "") -> Prompt:
        """Create a prompt of one user message."""
        return cls(system, (Turn("user", user),))

    @property
    def images(self) -> tuple[Image, ...]:
        """All images of the prompt."""
        return tuple(image for turn in self.turns for image in turn.images)

    def followed_by(self, reply: str, request: str) -> Prompt:
        """Return the exchange with the model's reply and a further request appended."""
        return Prompt(self.system, (*self.turns, Turn("assistant", reply), Turn("user", request)))


@dataclass(frozen=True, slots=True)
class Options:
    """Options for the answer of a model; None means the vendor's default.

    Attributes:
        temperature: 0 for the most likely answer. For a model that refuses the parameter, it is left out.
        max_tokens: the maximum number of output tokens, including hidden reasoning.
        logprobs: whether to return the probabilities of the answer's tokens, where the vendor has them.
    """

    temperature: float | None = None
    max_tokens: int | None = None
    logprobs: bool = False


@dataclass(frozen=True, slots=True)
class Token:
    """Token of the answer with its alternatives, as natural logarithms of probabilities."""

    text: str
    logprob: float
    alternatives: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """Reply of a model.

    Attributes:
        text: the answer as text; empty when there was none.
        usage: tokens, one call, and the cost if the price is known.
        model: the model that answered, by the vendor's own name.
        finish: the reason for the end: ``"stop"`` (done), ``"length"`` (cut off), ``"refusal"``, ``"filter"`` (the
            vendor's content filter), or ``"other"``.
        detail: the refusal's text, or another explanation of ``finish``.
        logprobs: the answer's tokens, or None when the vendor gives none.
        request_id: the vendor's id of the request, for support.
    """

    text: str
    usage: Usage = NO_USAGE
    model: str = ""
    finish: Finish = "stop"
    detail: str = ""
    logprobs: tuple[Token, ...] | None = None
    request_id: str | None = None


@runtime_checkable
class ChatModel(Protocol):
    """Model that answers in text.

    A store identifies a model by its name, and by its attribute ``address`` or ``base_url`` if it has one.

    Attributes:
        name: ``"vendor:model"``, as it is shown in verdicts.
        model: the model's own name, from which its family is read.
        takes_images: True if the model can be given images. A model without this attribute is not given any.
    """

    @property
    def name(self) -> str: ...

    @property
    def model(self) -> str: ...

    async def complete(self, prompt: Prompt, schema: Schema | None = None, options: Options = ...) -> Reply:
        """Make one request.

        Args:
            prompt: the prompt.
            schema: a JSON schema for the answer; used if the vendor can enforce it, else left out.
            options: options for the answer.

        Raises:
            ModelError: the call failed; the error says how, and whether another attempt may help.
        """


@dataclass(frozen=True, slots=True)
class Question:
    """Question to a decision model.

    Attributes:
        text: the question.
        kind: ``"predicate"`` (is it true?), ``"choice"`` (one of ``choices``) or ``"score"`` (a level of ``choices``).
        choices: the labels of a choice, or the levels of a score from lowest to highest.
    """

    text: str
    kind: Literal["predicate", "choice", "score"] = "predicate"
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer of a decision model to one question.

    Attributes:
        probabilities: those of ``"yes"`` and ``"no"``, or of each choice or level; empty when refused.
        confidence: the model's own confidence, 0..1, or None.
        refused: the reason for a refusal, which is an abstention; None if the model answered.
    """

    probabilities: Mapping[str, float] = field(default_factory=dict)
    confidence: float | None = None
    refused: str | None = None


@runtime_checkable
class DecisionModel(Protocol):
    """Model that answers many questions about one text in one request, with probabilities instead of text."""

    @property
    def name(self) -> str: ...

    @property
    def model(self) -> str: ...

    async def decide(self, text: str, questions: Sequence[Question]) -> tuple[Sequence[Answer], Usage]:
        """Answer every question about the text, in order.

        Raises:
            ModelError: the call failed.
        """


class Named(Protocol):
    """Any model: one that writes, or one that decides."""

    @property
    def name(self) -> str: ...

    @property
    def model(self) -> str: ...
