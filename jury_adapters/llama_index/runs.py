"""Conversion of a run of an engine or agent to the case that a jury judges.

A run is read in two parts: values that may change afterwards are recorded immediately, which takes microseconds; slower
parts, such as the texts of nodes, are read in the background.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from inspect import BoundArguments
from typing import Any

from llama_index.core.base.response.schema import AsyncStreamingResponse, PydanticResponse, StreamingResponse
from llama_index.core.prompts import ChatPromptTemplate
from llama_index.core.schema import NodeWithScore
from llama_index.core.workflow import StopEvent

from jury_adapters.core.advised_map import question_path
from jury_adapters.core.case import Case
from jury_adapters.core.case_parts import Message
from jury_adapters.core.conversation import Conversation, role_of
from jury_adapters.core.evidence import Evidence
from jury_adapters.core.field_names import FIELD_NAMES, columns_of, plainly_named
from jury_adapters.core.formatting import visible
from jury_adapters.core.message_texts import text_in
from jury_adapters.core.retrieved_ids import retrieved_ids
from jury_adapters.core.retriever_cases import with_retrieved_ids
from jury_adapters.core.values import EMPTY
from jury_adapters.llama_index.response_images import answer_blocks, asked_with, context_images, node_images
from jury_adapters.llama_index.responses import contexts_of, listed, retrieved_texts, steps_of, text_of
from jury_adapters.llama_index.workflow_results import ambiguous_in, answer_in, names_in, passages_in, values_in


@dataclass(frozen=True, slots=True)
class Asked:
    """Question and inputs of a run.

    Attributes:
        question: the user's words: the query, the chat message, the agent's ``user_msg`` or last message. For a custom
            workflow, the field of its start event with a name of the question, or its only text.
        history: the messages that were passed along with it.
        inputs: the arguments of the run by name, if a field map reads them; see :func:`inputs_of`.
        ambiguous: sentences that report fields which compete for the question.
        pictured: the objects with images in the question.
        unread: a sentence about several texts of which none is known as the question; empty without them.
        likely: the path of the one among them that a message may advise as the question.
    """

    question: str | None = None
    history: tuple[object, ...] = ()
    inputs: Mapping[str, object] = EMPTY
    ambiguous: tuple[str, ...] = ()
    pictured: tuple[object, ...] = ()
    unread: str = ""
    likely: str = ""

    @classmethod
    def of(cls, arguments: BoundArguments, *, keep: bool = False) -> Asked:
        """Read the arguments of ``query``, ``chat``, ``run`` and their variants; ``keep`` them for a field map."""
        asked = cls._read(arguments)
        return replace(asked, inputs=inputs_of(arguments)) if keep else asked

    @classmethod
    def _read(cls, arguments: BoundArguments) -> Asked:
        given = arguments.arguments
        start = given.get("start_event")
        more: Any = given.get("kwargs", {}) if start is None else start  # older workflows keep what run() got in kwargs
        question, ambiguous, texts = _asked_in(more)
        question = next(
            (value for value in (given.get("str_or_query_bundle"), given.get("message")) if value is not None), question
        )
        history = given.get("chat_history") or _get(more, "chat_history") or ()
        if question is None and history:
            history = tuple(history)
            last = max((at for at, said in enumerate(history) if role_of(said) == "user"), default=len(history))
            pictured = asked_with(history[last]) if last < len(history) else ()
            return cls(Conversation.of(history).question, history[:last], pictured=pictured)
        asked = cls(_text(question), tuple(history), EMPTY, ambiguous, asked_with(question))
        if question is not None or not texts:
            return asked
        return replace(asked, unread=_unread(texts), likely=question_path(texts))


@dataclass(slots=True)
class Heard:
    """Inputs of the models in a run.

    Attributes:
        models: the language models that took part.
        messages: the conversation of the latest call.
        template: the latest prompt that is a conversation, with its values; for a completion model, which gets it as
            one text.
        condensed: the latest question that was to be condensed, and the conversation before it as one text.
        agent_input: the conversation that the first agent began with, the user's message included.
    """

    models: list[object] = field(default_factory=list)
    messages: Sequence[object] = ()
    template: tuple[ChatPromptTemplate, Mapping[str, Any]] | None = None
    condensed: tuple[object, str] | None = None
    agent_input: Sequence[object] = ()

    def note(self, model: object, arguments: BoundArguments) -> None:
        """Record one call of a model."""
        if len(self.models) < _MODELS and not any(model is known for known in self.models):
            self.models.append(model)
        messages = arguments.arguments.get("messages")
        if isinstance(messages, Sequence) and not isinstance(messages, str):
            self.messages = tuple(messages)
        prompt, values = (arguments.arguments.get(name) for name in ("prompt", "prompt_args"))
        if isinstance(prompt, ChatPromptTemplate):
            self.template = (prompt, values if isinstance(values, Mapping) else {})
        if isinstance(values, Mapping) and isinstance(values.get("chat_history"), str):
            self.condensed = (values.get("question"), values["chat_history"])

    def note_input(self, messages: object) -> None:
        """Record the conversation that an agent begins with; later agents and steps of the run continue it."""
        if not self.agent_input and isinstance(messages, list | tuple):
            self.agent_input = tuple(messages)

    def conversations(self) -> Iterator[Sequence[object]]:
        """Yield the conversations that the models were given, as messages."""
        yield self.messages
        if self.template is not None:
            prompt, values = self.template
            yield prompt.format_messages(**values)


@dataclass(frozen=True, slots=True)
class Found:
    """Outputs of a run, kept apart from the response, which the user may change.

    Attributes:
        answer: the text of the answer.
        source_nodes: the nodes behind it.
        sources: the outputs of a chat engine's tools.
        tool_calls: the tool calls of an agent.
        passages_given: the field of a workflow's result with a name of the contexts.
        ambiguous: sentences that report competing fields.
        retrieved_ids: the ids of the nodes, if the run is a retriever's.
        blocks: the blocks with images of the answer.
    """

    answer: str | None = None
    source_nodes: tuple[object, ...] = ()
    sources: tuple[object, ...] = ()
    tool_calls: tuple[object, ...] = ()
    passages_given: tuple[object, ...] = ()
    ambiguous: tuple[str, ...] = ()
    retrieved_ids: tuple[str, ...] | None = None
    blocks: tuple[object, ...] = ()

    @classmethod
    def of(cls, response: object) -> Found:
        """Read a response; the text of a stream is not touched."""
        inner = answer_in(response)
        passages, ambiguous = passages_in(response), ambiguous_in(response)
        if inner is None:
            return cls(passages_given=passages, ambiguous=ambiguous)
        if isinstance(inner, list) and all(isinstance(item, NodeWithScore) for item in inner):  # of a retriever
            return cls(None, tuple(inner), retrieved_ids=retrieved_ids(inner))
        streamed = isinstance(inner, StreamingResponse | AsyncStreamingResponse) and inner.response_txt is None
        nodes = _listed(response, "source_nodes")
        if isinstance(inner, PydanticResponse):  # its attributes are the fields of its model
            return cls(text_of(inner), nodes, passages_given=passages, ambiguous=ambiguous)
        return cls(
            None if streamed else text_of(inner),
            nodes or _listed(getattr(inner, "raw", None), "source_nodes"),  # a tool that answers directly
            _listed(response, "sources"),
            _listed(response, "tool_calls"),
            passages,
            ambiguous,
            blocks=answer_blocks(inner),
        )

    @classmethod
    def beside(cls, stream: object) -> Found:
        """Return the nodes and sources that a streamed response has in addition to its stream."""
        return cls(None, _listed(stream, "source_nodes"), _listed(stream, "sources"))


def inputs_of(arguments: BoundArguments) -> dict[str, object]:
    """Return the arguments of a run by name: the ``inputs`` of the row that a field map reads.

    The text of an engine's query is ``query``. For a workflow, they are the fields of its start event or the keywords
    of ``run``.
    """
    inputs = {name: value for name, value in arguments.arguments.items() if value is not None}
    if "str_or_query_bundle" in inputs:
        inputs["query"] = _text(inputs.pop("str_or_query_bundle"))
    for part in (inputs.pop("kwargs", None), inputs.pop("start_event", None)):
        inputs |= values_in(part)
    return {name: _copied(value) for name, value in inputs.items()}


def outputs_of(response: object) -> object:
    """Return a copy of a response that the user's changes do not affect: the ``outputs`` of a field map's row.

    For a workflow that ends with a plain stop event, it is the event's result.
    """
    if type(response) is StopEvent:
        response = response.result
    if hasattr(type(response), "__del__"):  # deleting a copy would release resources that the user still holds
        return response
    try:
        copied = copy(response)
        if copied is not response and hasattr(copied, "__dict__"):
            vars(copied).update({name: _copied(value) for name, value in vars(copied).items()})
    except Exception:  # the class does not support copying
        return response
    return copied


def outputs_of_stream(stream: object) -> Callable[[object], dict[str, object]]:
    """Return a function from the answer of a stream to the ``outputs`` of a field map's row.

    The outputs have the names of a response that is not streamed. The stream itself is not kept.
    """
    names = ("source_nodes", "sources", "metadata")
    beside = {name: _copied(value) for name in names if (value := getattr(stream, name, None)) is not None}
    return lambda answer: {**beside, "response": answer}


def case_of(
    asked: Asked, heard: Heard, evidence: Evidence, found: Found, answer: Callable[[], object] | None = None
) -> Case:
    """Return the case of a run; called in the background.

    Args:
        asked: the question and inputs of the run.
        heard: the inputs of the models in it.
        evidence: the rule that decides which tools' outputs are contexts.
        found: its outputs.
        answer: for a stream, a function that returns the answer, which is known only at the end.

    Raises:
        Exception: any exception that a predicate of the rule raises.
    """
    ambiguous = (*asked.ambiguous, *filter(None, [asked.unread]), *found.ambiguous)
    is_retrieval = found.retrieved_ids is not None
    case = Case(
        question=asked.question,
        answer=found.answer if answer is None else text_of(answer()),
        contexts=retrieved_texts(found.source_nodes) if is_retrieval else contexts_of(found, evidence_tools=evidence),
        messages=_earlier(asked, heard),
        trajectory=steps_of(found),
        attachments=(
            *node_images(asked.pictured, "question"),
            *context_images(found, evidence=evidence),
            *node_images(found.blocks, "answer"),
        ),
        generator=_generator(heard.models),
        metadata={"ambiguous": ambiguous} if ambiguous else {},
    )
    return with_retrieved_ids(case, found.retrieved_ids)


def _earlier(asked: Asked, heard: Heard) -> tuple[Message, ...]:
    """Return the conversation before the question.

    An agent begins with the conversation in its memory, and the user's message at the end; a memory may extend that
    message. An engine with a memory passes it to its model: as messages, as a prompt of messages, or as one text to
    condense the question with. Some agents pass the results of their tools as messages of the user, so only the
    messages before the question itself count.
    """
    if asked.history:
        return _spoken([*asked.history, ("user", asked.question or "")])
    if asked.question and heard.agent_input and asked.question in (_text(heard.agent_input[-1]) or ""):
        return _spoken([*heard.agent_input[:-1], ("user", asked.question)])
    for messages in heard.conversations() if asked.question else ():
        for position in range(len(messages) - 1, -1, -1):
            if _text(messages[position]) == asked.question:
                return _spoken(messages[: position + 1])
    if heard.condensed is not None and asked.question and _text(heard.condensed[0]) == asked.question:
        return _spoken([*_turns(heard.condensed[1]), ("user", asked.question)])
    return ()


def _spoken(messages: Iterable[object]) -> tuple[Message, ...]:
    return tuple(message for message in Conversation.of(messages).earlier if message.role in ("user", "assistant"))


def _turns(history: str) -> list[tuple[str, str]]:
    """Split a conversation that LlamaIndex wrote as one text, in which each message begins a line with its role."""
    parts = _ROLE.split(history)
    return [(role, said.strip()) for role, said in zip(parts[1::2], parts[2::2], strict=True)]


def _generator(models: Iterable[object]) -> str | None:
    """Return the model that wrote the answer; None if several took part, because it is then unknown which one did."""
    names = {getattr(getattr(model, "metadata", None), "model_name", None) for model in models}
    name = names.pop() if len(names) == 1 else None
    return name if isinstance(name, str) and name not in ("", "unknown") else None


def _text(value: object) -> str | None:
    """Return the text of a query, a QueryBundle or a message."""
    if value is None or isinstance(value, str):
        return value
    query = getattr(value, "query_str", None)
    if isinstance(query, str):
        return query
    blocks = getattr(value, "blocks", None)
    return text_in(blocks if blocks is not None else getattr(value, "content", None) or str(value), "user")


def _asked_in(start: object) -> tuple[object, tuple[str, ...], Mapping[str, str]]:
    """Return the question in a start event or in the keywords of a run, the conflicts of names, and unread texts.

    The question is the message to an agent, the field with a name of the question, or the only text; a blank one, such
    as the default of an optional field, does not count. It is None if several texts have other names, which are then
    the unread ones.
    """
    values = values_in(start)
    if "user_msg" in values:
        return values["user_msg"], (), {}
    messages = FIELD_NAMES["messages"].exact
    usable = {
        name: value
        for name, value in plainly_named(values).items()
        if isinstance(value, str) or _is_message(value) or name in messages
    }
    columns = columns_of(usable, ("question",), part_of="question")
    if "question" in columns.of:
        return usable[columns.of["question"]], columns.conflicts, {}
    texts = {name: value for name, value in values.items() if isinstance(value, str) and value.strip()}
    if not texts or not {"user_msg", "chat_history"}.isdisjoint(names_in(start)):  # nothing, or that of an agent
        return None, (), {}
    if len(texts) == 1:
        return next(iter(texts.values())), (), {}
    return None, (), texts


def _unread(texts: Mapping[str, str]) -> str:
    names = ", ".join(visible(str(name)) for name in texts)
    return f"no field of the start event has a name of the question, so none of {names} is the question"


def _is_message(value: object) -> bool:
    return role_of(value) is not None or isinstance(getattr(value, "query_str", None), str)


def _get(source: Any, name: str) -> Any:
    """Return a field of an event, whose attributes include fields set on it, or of plain keywords."""
    return source.get(name) if isinstance(source, Mapping) else getattr(source, name, None)


def _copied(value: object) -> object:
    return copy(value) if isinstance(value, list | dict) else value


def _listed(source: object, name: str) -> tuple[object, ...]:
    return tuple(listed(source, name))


_MODELS = 8
_ROLE = re.compile(r"^(user|assistant|system|tool): ", re.MULTILINE)
