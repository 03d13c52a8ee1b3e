"""ChatModel, the port through which a critic reaches a language model, and what passes through it."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Protocol, runtime_checkable

from jury_adapters.core.case import Image
from jury_adapters.core.judgment import NO_USAGE, Usage
from jury_adapters.core.values import JuryError, without_keys

Schema = Mapping[str, Any]
Finish = Literal["stop", "length", "refusal", "filter", "other"]
Kind = Literal["rate_limited", "unavailable", "timeout", "refused", "account", "bad_reply", "down"]


@dataclass(frozen=True, slots=True)
class Turn:
    """Message of the exchange with a model; the images come before the text."""

    role: Literal["user", "assistant"]
    text: str
    images: tuple[Image, ...] = ()


@dataclass(frozen=True)
class Prompt:
    """Prompt for a model.

    Attributes:
        system: the instructions. They come first and are the same for every case, so vendors cache them.
        turns: the messages, of which the last is the user's.
    """

    system: str
    turns: tuple[Turn, ...]

    def followed_by(self, reply: str, request: str) -> "Prompt":
        """Return the exchange with the model's reply and a further request at its end."""
        return Prompt(self.system, (*self.turns, Turn("assistant", reply), Turn("user", request)))

    @property
    def text(self) -> str:
        """The instructions and the messages as one text, without the images."""
        return "\n\n".join(part for part in (self.system, *(turn.text for turn in self.turns)) if part)

    @cached_property
    def estimated_tokens(self) -> int:
        """A generous estimate of the input tokens: three bytes of text each, and 1,500 for an image.

        >>> Prompt("Judge.", (Turn("user", "Is it true?"),)).estimated_tokens
        7
        """
        return len(self.text.encode("utf-8", "replace")) // 3 + 1 + 1_500 * sum(len(turn.images) for turn in self.turns)


@dataclass(frozen=True, slots=True)
class Options:
    """Options of one answer; None is the vendor's default.

    Attributes:
        temperature: 0 for the most likely answer.
        max_tokens: the largest number of output tokens, hidden reasoning included.
        logprobs: whether to return the probabilities of the answer's tokens, where the vendor has them.
    """

    temperature: float | None = None
    max_tokens: int | None = None
    logprobs: bool = False


NO_OPTIONS = Options()


@dataclass(frozen=True, slots=True)
class Token:
    """Token of an answer with its alternatives; probabilities are natural logarithms."""

    text: str
    logprob: float
    alternatives: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """Reply of a model.

    Attributes:
        text: the answer; empty if there is none.
        usage: one call, its tokens, and its cost if the price is known.
        model: the model that answered, by the vendor's own name.
        finish: why it ended: ``stop`` (done), ``length`` (cut off), ``refusal``, ``filter`` (the vendor's content
            filter), or ``other``.
        detail: the text of a refusal, or another explanation of ``finish``.
        logprobs: the tokens of the answer; None if the vendor gives none.
    """

    text: str
    usage: Usage = NO_USAGE
    model: str = ""
    finish: Finish = "stop"
    detail: str = ""
    logprobs: tuple[Token, ...] | None = None


class ModelError(JuryError):
    """A call of a model failed. Keys are removed from the message.

    Attributes:
        kind: what happened: ``rate_limited``, ``unavailable`` (the server or the network), ``timeout``, ``refused`` (a
            request that the vendor does not accept), ``account`` (no key, no credit, no access), ``bad_reply`` (an
            answer that is none), ``down`` (not sent, because the model counts as down).
        transient: whether another attempt may help.
        retry_after: seconds that the vendor asks to wait; None if it does not say.
        sent: whether the request may be billed: it was sent, and the vendor did not answer it with an error.
        status: the HTTP status; None if there is none.
        parameter: the parameter of the request that the vendor does not accept, if it names one.
        usage: the usage of all attempts of the call; set by :func:`jury_adapters.models.limits.ask_model`.
    """

    def __init__(
        self,
        message: str,
        kind: Kind = "refused",  # the default lets an exception be unpickled, which restores its attributes afterwards
        *,
        transient: bool = False,
        retry_after: float | None = None,
        sent: bool = True,
        status: int | None = None,
        parameter: str = "",
    ) -> None:
        super().__init__(without_keys(message))
        self.kind, self.transient, self.retry_after, self.sent = kind, transient, retry_after, sent
        self.status, self.parameter, self.usage = status, parameter, NO_USAGE


@runtime_checkable
class ChatModel(Protocol):
    """Model that answers in text.

    Attributes:
        name: the name in verdicts, such as ``openai:gpt-4o-mini``.
        model: the model's own name, from which its vendor family is read.
        identity: what a store identifies the model by: its name, its effective address, and the settings that change
            its answers. It holds no key.
    """

    name: str
    model: str
    identity: str

    async def complete(self, prompt: Prompt, schema: Schema | None = None, options: Options = NO_OPTIONS) -> Reply:
        """Send one request, without a retry.

        Args:
            prompt: the prompt.
            schema: a JSON schema of the answer; left out where the vendor cannot enforce it.
            options: options of the answer.

        Raises:
            ModelError: the call failed.
        """

    def price(self, input_tokens: int, output_tokens: int) -> float | None:
        """Return the cost of so many tokens in US dollars; None if the price is unknown."""
