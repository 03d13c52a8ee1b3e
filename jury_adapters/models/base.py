"""The port through which a critic reaches a language model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias, runtime_checkable

from jury_adapters.core.usage import NO_USAGE, Usage
from jury_adapters.core.values import JsonValue

Schema: TypeAlias = Mapping[str, JsonValue]
Finish = Literal["stop", "length", "refusal", "filter", "other"]


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of the exchange with the model."""

    role: Literal["user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the model is asked: the rubric first (it is the same for every case, so vendors cache it), the case last."""

    system: str
    turns: tuple[Turn, ...]

    @classmethod
    def of(cls, user: str, system: str = "") -> Prompt:
        """A prompt of one user message."""
        return cls(system, (Turn("user", user),))

    def followed_by(self, reply: str, request: str) -> Prompt:
        """The same exchange, continued: the model's reply, and a further request."""
        return Prompt(self.system, (*self.turns, Turn("assistant", reply), Turn("user", request)))


@dataclass(frozen=True, slots=True)
class Options:
    """How the model shall answer; None leaves it to the vendor.

    Attributes:
        temperature: 0 for the most likely answer. Models that refuse it are asked without.
        max_tokens: the most output tokens, hidden reasoning included.
        logprobs: whether to return the probabilities of the answer's tokens, where the vendor has them.
    """

    temperature: float | None = None
    max_tokens: int | None = None
    logprobs: bool = False


@dataclass(frozen=True, slots=True)
class Token:
    """One token of the answer with its alternatives, as natural logarithms of probabilities."""

    text: str
    logprob: float
    alternatives: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model answered.

    Attributes:
        text: the answer as text; empty when there was none.
        usage: tokens, one call, and the cost where the price is known.
        model: the model that answered, by the vendor's own name.
        finish: why it stopped: ``"stop"`` (done), ``"length"`` (cut off), ``"refusal"``, ``"filter"`` (the vendor's
            content filter), or ``"other"``.
        detail: the refusal's text, or whatever else explains ``finish``.
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
    """A model that answers in text.

    A store knows a model by its name, and by its attribute ``address`` or ``base_url`` if it has one.

    Attributes:
        name: ``"vendor:model"``, as it is shown in verdicts.
        model: the model's own name, from which its family is read.
    """

    @property
    def name(self) -> str: ...

    @property
    def model(self) -> str: ...

    async def complete(self, prompt: Prompt, schema: Schema | None = None, options: Options = ...) -> Reply:
        """Ask once.

        Args:
            prompt: what to ask.
            schema: a JSON schema for the answer; used where the vendor can hold the model to it, else left out.
            options: how to answer.

        Raises:
            ModelError: the call failed; it says how, and whether trying again may help.
        """


@dataclass(frozen=True, slots=True)
class Question:
    """One question to a decision model.

    Attributes:
        text: what to decide.
        kind: ``"predicate"`` (is it true?), ``"choice"`` (one of ``choices``) or ``"score"`` (a level of ``choices``).
        choices: the labels of a choice, or the levels of a score from lowest to highest.
    """

    text: str
    kind: Literal["predicate", "choice", "score"] = "predicate"
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """A decision model's answer to one question.

    Attributes:
        probabilities: of ``"yes"`` and ``"no"``, or of each choice or level; empty when refused.
        confidence: the model's own confidence, 0..1, or None.
        refused: why it would not answer; None when it did. A refusal is an abstention.
    """

    probabilities: Mapping[str, float] = field(default_factory=dict)
    confidence: float | None = None
    refused: str | None = None


@runtime_checkable
class DecisionModel(Protocol):
    """A model that answers many questions about one text in one request, by probabilities and without words."""

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
