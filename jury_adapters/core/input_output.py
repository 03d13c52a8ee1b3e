"""Conversion of the inputs and outputs of runs to the fields of a case.

Texts, dictionaries, messages, documents and graph states are recognised by their shape; :mod:`.field_names` maps keys
to fields.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from jury_adapters.core.case_parts import Message, Step
from jury_adapters.core.conversation import Conversation
from jury_adapters.core.evidence import structured_tools, with_echoes
from jury_adapters.core.field_names import EARLIER, FIELD_NAMES, OWN_COLUMNS, columns_of, pair_in
from jury_adapters.core.image_values import images_of_part
from jury_adapters.core.images import ImageRole
from jury_adapters.core.loose_values import (
    candidates_of,
    field_of,
    graph_input,
    graph_steps,
    is_graph_trajectory,
    is_message,
    json_text,
    message_in,
    messages_in,
    messages_of,
    opened,
    page_of,
    response_text,
    steps_of,
    text_of,
    texts_of,
)
from jury_adapters.core.message_formats import reply_in
from jury_adapters.core.unnamed_answer import only_text, unnamed_answer
from jury_adapters.core.unnamed_question import unnamed_question
from jury_adapters.core.values import is_missing

Found: TypeAlias = dict[str, Any]
"""Fields of a case, by name; a missing field was not found."""

GIVEN_STEPS = "given steps"
"""Key in :data:`Found` for a trajectory that was given as steps; its outputs do not become contexts."""

THREAD = "thread"
"""Key in :data:`Found` for the :class:`Conversation` from which the run was read, if it was the whole run."""

SO_FAR = "so far"
"""Key in :data:`Found` for the :class:`Conversation` of the inputs whose last turn the outputs may go on with."""

CONFLICTS = "conflicts"
"""Key in :data:`Found` for the sentences that report ignored values."""

QUESTION_GUESS = "question guess"
"""Key in :data:`Found` for the sentence that reports that the question has no known name."""

WHOLE_PART = "whole part"
"""Key in :data:`Found` of a question that is all of the inputs, or an answer that is all of the outputs."""


def read_inputs(value: object) -> Found:
    """Read the inputs of a run: a question, the conversation before it, and optional contexts and reference."""
    value = opened(value)
    if (started := graph_input(value)) is not None:
        return read_inputs(started)
    if value is None or isinstance(value, str):
        return {} if value is None else {"question": value}
    thread = messages_in(value)
    if thread is not None:
        read = Conversation.of(thread)
        return {**asked(read), SO_FAR: read}
    if not isinstance(value, Mapping):
        return _documents_or(value, "question")
    found, taken = _take(value, ("question", "contexts", "reference", "attachments"), images_of="question")
    name, messages = _thread_of(value)
    if messages is not None and name in EARLIER:
        found["messages"] = before(messages, found.get("question"))
    elif messages is not None:
        read = Conversation.of(messages)
        if found.get("question") in (None, read.question) or read.ends_in_call:
            found[SO_FAR] = read
        if "question" in found:
            found["messages"] = before(messages, found["question"])
        else:
            found = {**asked(read), **found}
    if "question" not in found:
        _take_the_rest(value, found, "question", taken)
    return _with_scalars(value, found, taken)


def read_outputs(value: object) -> Found:
    """Read the outputs of a run: an answer, its steps, and optional contexts and question."""
    value = opened(value)
    if value is None or isinstance(value, str):
        return {} if value is None else {"answer": value}
    thread = messages_in(value)
    if thread is not None:
        beside = _take(value, ("contexts",))[0] if isinstance(value, Mapping) and reply_in(value) is not None else {}
        return {**beside, **answered(Conversation.of(thread))}
    if not isinstance(value, Mapping):
        return _documents_or(value, "answer")
    if "generations" in value:
        return _generated(value["generations"])
    if is_graph_trajectory(value):
        return _graph_trajectory(value)
    pair = pair_in(value)
    columns = columns_of(value, () if pair else ("answer",), part_of="answer")
    name = columns.of.get("answer")
    if name is None or isinstance(value[name], str):
        return _from_mapping(value)
    if len(present(value)) == 1:  # LangSmith wraps values other than mappings: {"output": ...}
        return {**read_answer(value[name]), **reported(columns.conflicts)}
    around = _from_mapping({**value, **{key: None for key in value if key in ANSWERS}})
    for replaced in ("answer", THREAD):
        around.pop(replaced, None)
    return {**around, **read_answer_column(value[name]), **reported(columns.conflicts)}


def read_answer(value: object) -> Found:
    """Read the value under a name of the answer: messages, the outputs of a run, or the answer itself."""
    if isinstance(value, str):
        return {"answer": value}
    state = opened(value)
    if messages_in(state) is None and page_of(state) is not None:
        return {"answer": page_of(state)}
    if not isinstance(state, Mapping) or messages_in(state) is not None:
        return read_outputs(state)
    names = present(state).keys()
    wraps = names & _IN_OUTPUTS or is_graph_trajectory(state) or (names and names <= _CONTEXTS)
    wraps = wraps or (not names and state.keys() & _TURNS)
    return read_outputs(state) if wraps else {"answer": text_of(value)}


def read_answer_column(value: object) -> Found:
    """Read the value of the column of the answer in a flat row.

    The judged model may have written all of it, so a mapping never provides contexts or steps. The answer of a mapping
    is the text under a known name of the answer, or else the mapping as JSON. A list of messages is the conversation of
    the run.
    """
    if isinstance(value, str):
        return {"answer": value}
    state = opened(value)
    thread = messages_in(state)
    if thread is not None:
        found = answered(Conversation.of(thread))
        return found if "answer" in found else {"answer": json_text(value)}
    if isinstance(state, Mapping) and not {"page_content", "lc"} & state.keys():
        name = columns_of(present(state), ("answer",)).of.get("answer")
        given = None if name is None else state[name]
        return {"answer": given if isinstance(given, str) else json_text(value)}
    return {"answer": text_of(value)}


def asked(read: Conversation) -> Found:
    """Return the question of a conversation and the messages before it."""
    found: Found = {} if read.question is None else {"question": read.question}
    if read.earlier:
        found["messages"] = read.earlier
    if images := tuple(image for image in read.images if image.role == "question"):
        found["attachments"] = images
    return found


def answered(read: Conversation) -> Found:
    """Return the question, the earlier messages, the answer and the steps of a conversation."""
    found = {**asked(read), THREAD: read}
    if read.answer is not None:
        found["answer"] = read.answer
    if read.steps:
        found["trajectory"] = read.steps
    if read.images:
        found["attachments"] = read.images
    return found


def before(messages: object, question: str | None) -> tuple[Message, ...]:
    """Return the messages before a question: all of them, without the last one if that is the question itself."""
    earlier = messages_of(messages)
    repeated = earlier and earlier[-1].role == "user" and earlier[-1].content == question
    return earlier[:-1] if repeated else earlier


def present(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return a mapping without its missing values and without empty conversations."""
    return {name: given for name, given in value.items() if not is_missing(given) and not _is_empty(name, given)}


def _is_empty(name: str, given: object) -> bool:
    """Whether a value is a conversation, or the steps of a run, with nothing in it."""
    return name in _TURNS and isinstance(given, list | tuple) and not given


def _is_chat(value: Mapping[str, Any]) -> bool:
    """Whether a mapping is a state with messages, even if there are none yet."""
    if "messages" not in value:
        return False
    given = value["messages"]
    return is_missing(given) or _is_empty("messages", given) or messages_in(given) is not None


def _lacking(value: Mapping[str, Any]) -> dict[str, None]:
    return {name: None for name, given in value.items() if is_missing(given)}


def reported(said: Sequence[str]) -> Found:
    """Return the sentences that report ignored values, as a part of :data:`Found`."""
    return {CONFLICTS: tuple(said)} if said else {}


def _from_mapping(value: Mapping[str, Any]) -> Found:
    fields = ("answer", "contexts", "question", "candidates", "generator", "attachments")
    found, taken = _take(value, fields, part_of="answer", images_of="answer")
    name, messages = _thread_of(value)
    if messages is not None and name in EARLIER:
        found["messages"] = before(messages, found.get("question"))
    elif messages is not None:
        found = {**answered(Conversation.of(messages)), **found}
    elif _are_steps(value.get("trajectory")):
        found |= {"trajectory": steps_of(value["trajectory"]), GIVEN_STEPS: True}
        taken.add("trajectory")
    steps = value.get("intermediate_steps")
    if steps:
        found["trajectory"] = steps_of(steps)
        taken.add("intermediate_steps")
    structured = value.get("structured_response")
    if structured is not None:
        mark_structured(found, structured)
        found["answer"] = response_text(structured)
        taken.add("structured_response")
    if not found.keys() & {"answer", "candidates"}:
        _take_the_rest(value, found, "answer", taken)
    return _with_scalars(value, found, taken)


def mark_structured(found: Found, response: object) -> None:
    """Mark the steps that only repeat a structured response."""
    steps = found.get("trajectory", ())
    if response is not None and steps:
        thread = found.get(THREAD)
        ends_in_call = found.get("answer") is None if thread is None else thread.ends_in_call
        tools = structured_tools(steps, response, ends_in_call=ends_in_call)
        found["trajectory"] = with_echoes(steps, tools)


def _take(
    value: Mapping[str, Any], fields: Sequence[str], *, part_of: str = "", images_of: ImageRole = "context"
) -> tuple[Found, set[str]]:
    """Return each field from the best of its names, and the keys that were read."""
    there = present(value)
    taken = {name for name in THREADS if name in value and messages_in(value[name]) is not None}
    found: Found = {}
    pair = pair_in(there) if "candidates" in fields else None
    if pair is not None:
        there["candidates"] = [there.pop(name) for name in pair]
        taken.update(pair)
    columns = columns_of({**_lacking(value), **there}, fields, part_of=part_of)
    found |= reported(columns.conflicts)
    for field, name in columns.of.items():
        given = there[name]
        images = images_of_part(given, images_of) if field == "attachments" else None
        if (field == "generator" and not isinstance(given, str)) or (field == "attachments" and images is None):
            continue
        taken.add(name)
        if images is not None:
            found[field] = images
        elif field == "candidates":
            found[field] = candidates_of(given)
        else:
            found[field] = texts_of(given) if field == "contexts" else text_of(given, asked=field == "question")
    return found, taken


def _take_the_rest(value: Mapping[str, Any], found: Found, field: str, taken: set[str]) -> None:
    """Read a field without a known name: the only text in the mapping, or else the whole rest.

    Beside contexts, only a text is the answer: what a retriever returned has none. Beside messages, only a text with a
    name of answers is: an agent may end without an answer, or without messages. Of inputs, the only text is the
    question if no other value can hold one: an id or a language is often the only text beside a nested request.
    """
    if columns_of(dict.fromkeys(value, ""), (field,), part_of=field).of:
        return  # the field has an empty column
    rest = {name: given for name, given in present(value).items() if name not in taken}
    if field == "question" and (guess := unnamed_question(rest)):
        found[field], found[QUESTION_GUESS] = text_of(rest), guess
        return
    retrieved, asked = field == "answer" and "contexts" in found, "question" in found
    chat = field == "answer" and _is_chat(value)
    name = only_text(rest) if field == "question" else unnamed_answer(rest, retrieved=retrieved, asked=asked, chat=chat)
    if name is not None:
        found[field] = rest[name]
        taken.add(name)
    elif rest and not asked and not retrieved and not chat:
        found[field], found[WHOLE_PART] = text_of(rest), True


def _with_scalars(value: Mapping[str, Any], found: Found, taken: set[str]) -> Found:
    """Return the fields with the unused scalar values as metadata, because a rubric may use them as variables.

    Names that commands look up, such as the human label, are left out, because the judged run must not set them.
    """
    rest = {
        str(name): given
        for name, given in value.items()
        if name not in taken
        and name not in OWN_COLUMNS
        and isinstance(given, str | int | float)
        and not is_missing(given)
    }
    if rest:
        found["metadata"] = rest
    return found


def _thread_of(value: Mapping[str, Any]) -> tuple[str, list[object] | None]:
    """Return the name of the messages in a mapping, and the messages."""
    for name in (*THREADS, _GEMINI_REQUEST):
        thread = messages_in(value[name]) if name in value else None
        if thread is not None:
            return name, thread
    return "", None


def _are_steps(value: object) -> bool:
    """Whether a value is a trajectory that is given as steps."""
    return (
        isinstance(value, list | tuple)
        and bool(value)
        and all(
            isinstance(item, Step) or (isinstance(item, Mapping) and bool(item) and item.keys() <= _STEP)
            for item in value
        )
    )


def _documents_or(value: object, field: str) -> Found:
    items = value if isinstance(value, Sequence) else (value,)
    documents = all(page_of(item) is not None for item in items)  # also True for a retriever that found nothing
    return {"contexts": texts_of(value)} if documents else {field: text_of(value)}


def _generated(generations: object) -> Found:
    """Return the answer of a run of a language model alone: ``[[{"text": ..., "message": ...}]]``."""
    while isinstance(generations, Sequence) and not isinstance(generations, str) and generations:
        generations = generations[0]
    message = message_in(field_of(generations, "message"))
    if is_message(message):
        return answered(Conversation.of([message]))
    text = field_of(generations, "text")
    return {"answer": text} if isinstance(text, str) else {}


def _graph_trajectory(value: Mapping[str, Any]) -> Found:
    """Read a LangGraph thread as agentevals extracts it: inputs, results and visited nodes, turn by turn."""
    found: Found = {}
    for part, read in (("inputs", read_inputs), ("results", read_outputs)):
        turns = value.get(part)
        if isinstance(turns, list) and turns:
            found.update(read(turns[-1]))
    for one_turn in (THREAD, SO_FAR):
        found.pop(one_turn, None)
    found["trajectory"] = graph_steps(value)
    return found


THREADS = ("messages", *EARLIER, "trajectory")
_TURNS = frozenset({*THREADS, "intermediate_steps"})
_GEMINI_REQUEST = "contents"
ANSWERS = FIELD_NAMES["answer"].in_its_part
_CONTEXTS = frozenset(FIELD_NAMES["contexts"].everywhere)
_IN_OUTPUTS = frozenset({*ANSWERS, *THREADS, "generations", "intermediate_steps", "structured_response"})
_STEP = Step.model_fields.keys()
