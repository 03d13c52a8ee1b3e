"""Reader of conversations of any framework: the question, the steps to the answer, and the answer.

Messages are recognised by their shape, so no framework is needed. The reader supports LangChain messages, messages of
OpenAI, Anthropic and Gemini, items of OpenAI's Responses API, LlamaIndex chat messages, and pairs such as
``("user", "Hello")``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, Self

from jury_adapters.core.case_parts import Message, Step
from jury_adapters.core.image_values import images_in_content
from jury_adapters.core.images import Image, ImageRole
from jury_adapters.core.message_calls import MessageCall, calls_of, kept_arguments
from jury_adapters.core.message_formats import ASIDE, ITEM_ROLES, holds_results, plain_messages
from jury_adapters.core.message_texts import field_of, refusal_in, text_in

_ROLES = {
    "human": "user", "user": "user",
    "ai": "assistant", "assistant": "assistant", "model": "assistant", "chatbot": "assistant",
    "AIMessageChunk": "assistant", "HumanMessageChunk": "user",
    "system": "system", "developer": "system",
    "tool": "tool", "function": "tool", "ToolMessageChunk": "tool",
    **ITEM_ROLES,
}  # fmt: skip

_IMAGE_ROLES: Final[Mapping[str, ImageRole]] = {"assistant": "answer", "tool": "context"}


@dataclass(frozen=True, slots=True)
class Conversation:
    """Question, answer and steps of a conversation.

    Attributes:
        question: the last message of the user; of several in a row, the last with a text.
        answer: the last message of the assistant after the question. If the conversation ends with the call of a
            structured response (LangChain's ``ToolStrategy``), the arguments of that call; None if it ends with other
            calls.
        steps: the steps of the assistant in between: each tool call with its result, and intermediate texts.
        earlier: the conversation before the question; results of tools with their calls.
        pending: True if the conversation ends with tool calls that have no result yet, so that it is only paused.
        ends_in_call: True if the conversation ends with tool calls, with or without results.
        images: those of the question, of the results of tools after it, and of the answer.

    >>> Conversation.of([("user", "2 + 2?"), ("assistant", "4")]).answer
    '4'
    """

    question: str | None = None
    answer: str | None = None
    steps: tuple[Step, ...] = ()
    earlier: tuple[Message, ...] = ()
    pending: bool = False
    ends_in_call: bool = field(default=False, repr=False, compare=False)
    images: tuple[Image, ...] = field(default=(), repr=False)
    _messages: tuple[_Read, ...] = field(default=(), repr=False, compare=False)

    @classmethod
    def of(cls, messages: Iterable[object]) -> Self:
        """Return the conversation of messages in order. Values that are not messages are skipped without an error."""
        return cls._of([found for message in plain_messages(messages) if (found := _read(message)) is not None])

    @classmethod
    def _of(cls, read: Sequence[_Read]) -> Self:
        asked = _last_question(read)
        turn = [one for one in read[asked + 1 :] if one.role not in ("system", "user")]
        steps, answer, _ = _steps(turn)
        response = _structured_response(turn, steps) if answer is None else None
        if response is not None:
            answer = _response_text(response.arguments)
            for step in steps:
                step.echo = step.echo or step.tool == response.tool  # also for earlier attempts
        pending = answer is None and any(step.open for step in steps)
        return cls(
            question=read[asked].text if asked >= 0 else None,
            answer=answer,
            steps=tuple(step.step() for step in steps),
            earlier=tuple(_with_calls(read[: max(asked, 0)], only_said=True)),
            pending=pending,
            ends_in_call=bool(steps) and (answer is None or response is not None),
            images=_images([*(read[place] for place in _said_in_a_row(read, asked)), *turn], answer),
            _messages=tuple(read),
        )

    def followed_by(self, later: Self) -> Self:
        """Return the conversation of these messages and later ones."""
        return self._of([*self._messages, *later._messages])

    def turns(self) -> list[Self]:
        """Return the turns of the conversation; the messages before the first question are one of their own."""
        starts = [place for place, one in enumerate(self._messages) if one.role == "user" and not one.aside]
        bounds = [*(starts if starts[:1] == [0] else [0, *starts]), len(self._messages)]
        return [self._of(self._messages[start:end]) for start, end in pairwise(bounds)]

    def as_messages(self) -> list[dict[str, object]]:
        """Return every message of the conversation in OpenAI's format, with consecutive numbers as ids of calls."""
        written: list[dict[str, object]] = []
        numbers: dict[str | None, list[str]] = {}  # new ids of calls that wait for a result, by original id
        count = 0
        for one in self._messages:
            message: dict[str, object] = {"role": one.role, "content": one.text}
            if one.calls:
                ids = [f"call_{count + place}" for place, _ in enumerate(one.calls, start=1)]
                count += len(ids)
                message["tool_calls"] = [call.written(own) for call, own in zip(one.calls, ids, strict=True)]
                numbers.update((call.id, []) for call in one.calls)
                for call, own in zip(one.calls, ids, strict=True):
                    numbers[call.id].append(own)
            if one.role == "tool":
                waiting = numbers.get(one.answers)
                message["tool_call_id"] = waiting.pop(0) if waiting else ""
            written.append(message)
        return written


def messages_with_calls(messages: Iterable[object]) -> tuple[Message, ...]:
    """Return all messages of a conversation, also those without text; results of tools have their calls."""
    read = [found for message in plain_messages(messages) if (found := _read(message)) is not None]
    return tuple(_with_calls(read))


def role_of(message: object) -> str | None:
    """Return the role of a message: ``"user"``, ``"assistant"``, ``"system"`` or ``"tool"``; None if it has none.

    A user message that contains results of tools has the role ``"tool"``.
    """
    found = field_of(message, "role") or field_of(message, "type")
    name = getattr(found, "value", found)  # LlamaIndex has an enumeration
    role = _ROLES.get(name) if isinstance(name, str) else None
    return "tool" if role == "user" and holds_results(message) else role


def text_of_message(message: object) -> str:
    """Return the text of a message, or of the refusal if the model only refused."""
    role = role_of(message)
    text = text_in(_content(message), role)
    return text or (refusal_in(message) if role == "assistant" else "")


def is_summary(message: object) -> bool:
    """Whether a message is the summary with which LangChain's ``SummarizationMiddleware`` replaces earlier ones."""
    return field_of(field_of(message, "additional_kwargs"), "lc_source") == "summarization"


@dataclass(frozen=True, slots=True)
class _Read:
    role: str
    text: str
    calls: tuple[MessageCall, ...] = ()
    answers: str | None = None  # id of the call to which a tool message belongs
    tool: str | None = None
    failed: bool = False
    echo: bool = False
    aside: bool = False  # text of the user in a message with results of tools
    images: tuple[Image, ...] = ()
    step: Step | None = None  # the call of the tool, in a message that was read before


def _last_question(read: Sequence[_Read]) -> int:
    """Return the position of the question of the last turn; -1 without a user message.

    Of several messages of the user in a row it is the last with a text: a picture may follow the words about it.
    """
    said = [position for position, one in enumerate(read) if one.role == "user"]
    last = max((position for position in said if not read[position].aside), default=max(said, default=-1))
    in_a_row = _said_in_a_row(read, last)
    return max((position for position in in_a_row if read[position].text.strip()), default=last)


def _said_in_a_row(read: Sequence[_Read], place: int) -> list[int]:
    """Return the positions of a message of the user and of those beside it, with no assistant or tool in between."""
    found: list[int] = []
    for position in range(len(read) if place >= 0 else 0):
        if read[position].role in ("assistant", "tool") or (read[position].aside and position != place):
            if position > place:
                break
            found = []
        elif read[position].role == "user":
            found.append(position)
    return found


def _read(message: object) -> _Read | None:
    if isinstance(message, tuple) and len(message) == 2 and isinstance(message[0], str):
        role = _ROLES.get(message[0])
        if role is None:
            return None
        images = tuple(images_in_content(message[1], _IMAGE_ROLES.get(role, "question")))
        return _Read(role, text_in(message[1], role), images=images)
    role = role_of(message)
    if role is None:
        return None
    if role == "user" and is_summary(message):  # not written by the user, although it has that role
        role = "system"
    extra = field_of(message, "additional_kwargs")
    answers = field_of(message, "tool_call_id") or field_of(extra, "tool_call_id")
    name = field_of(message, "name") or field_of(extra, "name")
    return _Read(
        role,
        text_of_message(message),
        calls_of(message, extra),
        answers if isinstance(answers, str) else None,
        name if isinstance(name, str) else None,
        failed=field_of(message, "status") == "error",
        echo=is_verdict(field_of(message, "artifact")),
        aside=field_of(message, ASIDE) is True,
        step=_step_in(field_of(message, "step")),
        images=tuple(images_in_content(_blocks(message), _IMAGE_ROLES.get(role, "question"))),
    )


def _step_in(given: object) -> Step | None:
    """Return the call in a message that was read before, or in the record of one."""
    if isinstance(given, Step) or not isinstance(given, Mapping):
        return given if isinstance(given, Step) else None
    try:
        found = Step.model_validate(given)
    except ValueError:
        return None
    return found if found.tool is not None else None


def _images(messages: Sequence[_Read], answer: str | None) -> tuple[Image, ...]:
    """Return the images of the question and of its turn; an image in an intermediate message is none of the answer."""
    last = messages[-1] if messages and answer is not None else None
    return tuple(image for one in messages if one.role != "assistant" or one is last for image in one.images)


def _content(message: object) -> object:
    content = field_of(message, "content")
    return field_of(message, "blocks") if content is None else content


def _blocks(message: object) -> object:
    """Return the blocks of a message; those of LlamaIndex have their text as content, too."""
    content = field_of(message, "content")
    return field_of(message, "blocks") if content is None or isinstance(content, str) else content


@dataclass(slots=True)
class _Draft:
    """Mutable step, which may still receive its result."""

    tool: str | None = None
    arguments: Mapping[str, object] = field(default_factory=dict)
    output: str | None = None
    text: str | None = None
    error: str | None = None
    parallel: bool = False
    echo: bool = False

    @property
    def open(self) -> bool:
        return self.tool is not None and self.output is None and self.error is None

    def step(self) -> Step:
        return Step(
            tool=self.tool, arguments=kept_arguments(self.arguments), output=self.output, text=self.text,
            error=self.error, parallel=self.parallel, echo=self.echo,
        )  # fmt: skip


def _with_calls(read: Sequence[_Read], *, only_said: bool = False) -> Iterator[Message]:
    """Yield messages; the result of a tool has its call, and a call without a result has a message of its own.

    Args:
        read: the messages that were read.
        only_said: whether to leave out messages without a text, unless they have a call, or are all that the user or
            the assistant said.
    """
    starts = [position for position, one in enumerate(read) if one.role == "user" and not one.aside and position]
    for start, end in pairwise([0, *starts, len(read)]):
        steps, _, results = _steps([one for one in read[start:end] if one.role not in ("system", "user")])
        called = iter(results)
        for one in read[start:end]:
            step = next(called).step() if one.role == "tool" else None
            known = None if step == Step(tool=_NO_NAME, output=one.text) else step
            message = Message(role=one.role, content=one.text, step=one.step or known, beside_results=one.aside)
            if not only_said or message.content or message.step is not None or _is_empty_turn(one):
                yield message
        yield from (Message(role="tool", content="", step=call.step()) for call in steps if call.open)


def _is_empty_turn(message: _Read) -> bool:
    """Whether a message without a text is all that the user or the assistant has said, such as a picture."""
    return message.role in ("user", "assistant") and not message.aside and not message.calls


def _steps(messages: Sequence[_Read]) -> tuple[list[_Draft], str | None, list[_Draft]]:
    """Return the steps of one turn, the last text of the assistant (the answer), and the call of each result."""
    steps: list[_Draft] = []
    results: list[_Draft] = []
    calls: dict[str, list[_Draft]] = {}
    said: str | None = None
    for message in messages:
        if message.role == "tool":
            results.append(_answer_call(steps, calls, message))
            continue
        if said:
            steps.append(_Draft(text=said))
        said = None if message.calls else message.text
        calls.update((call.id, []) for call in message.calls if call.id is not None)
        for position, call in enumerate(message.calls):
            text = (message.text or None) if position == 0 else None
            draft = _Draft(call.tool, call.arguments, text=text, parallel=position > 0)
            steps.append(draft)
            if call.id is not None:
                calls[call.id].append(draft)
    return steps, said, results


def _structured_response(turn: Sequence[_Read], steps: Sequence[_Draft]) -> _Draft | None:
    """Return the call with which the model gave a structured response: a call of the last message, with its result.

    The message of the result may have any text (LangChain's ``tool_message_content``). So the call is recognised by its
    name, which is that of a class or a schema: ``Sale``, or LangChain's ``response_format_1a2b``.
    """
    last = max((place for place, one in enumerate(turn) if one.role == "assistant"), default=-1)
    if last < 0 or any(one.role != "tool" for one in turn[last + 1 :]):
        return None
    called = {call.tool for call in turn[last].calls}
    made = [step for step in steps if step.tool in called][-len(turn[last].calls) :] if called else []
    if any(step.open for step in made):
        return None
    found = [step for step in made if step.output is not None and _is_response(step.tool or "", step.output)]
    return found[-1] if found and found[-1].arguments else None


def _is_response(tool: str, output: str) -> bool:
    return output.startswith(_RETURNING) or (_SCHEMA.match(tool) is not None and not output.startswith("Error"))


def _response_text(response: Mapping[str, object]) -> str:
    """Return the text of a structured response, as of any other mapping: its only text, else JSON."""
    kept = kept_arguments(response)
    only = next(iter(kept.values())) if len(kept) == 1 else None
    return only if isinstance(only, str) else json.dumps(kept, ensure_ascii=False)


def _answer_call(steps: list[_Draft], calls: Mapping[str, list[_Draft]], message: _Read) -> _Draft:
    """Give a result to its call, and return the call."""
    if message.answers is not None:  # some models give parallel calls one id: take the first open call
        named = calls.get(message.answers, [])
        called = next((one for one in named if one.open), named[-1] if named else None)
    else:  # no id: the first open call, of the tool that the message names, if any
        called = next((one for one in steps if one.open and message.tool in (None, one.tool)), None)
    if called is None:
        called = _Draft(message.tool or _NO_NAME)
        steps.append(called)
    if message.failed:
        called.error = message.text
    else:
        called.output = message.text
    called.echo = message.echo
    return called


def is_verdict(artifact: object) -> bool:
    """Whether the artifact of a tool message is the verdict of a jury that the agent asked."""
    if not isinstance(artifact, Mapping):
        return False
    status, label = artifact.get("status"), artifact.get("label")
    if status not in ("PASS", "FAIL", "ABSTAIN", "ERROR") and not (status is None and isinstance(label, str)):
        return False
    return artifact.get("kind") == "verdict" or not artifact.keys().isdisjoint(("critic", "elapsed_s"))


_NO_NAME: Final = "tool"
_SCHEMA: Final = re.compile(r"[A-Z]\w*[a-z]|response_format_")
_RETURNING: Final = "Returning structured response: "
