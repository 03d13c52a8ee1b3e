"""What runs take and give, read without being told which field of a case is where."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

from jury_adapters.core.case import Step
from jury_adapters.core.transcript import Transcript
from jury_adapters.langchain.shapes import (
    ANSWER,
    CONTEXTS,
    MESSAGES,
    QUESTION,
    REFERENCE,
    field_of,
    graph_steps,
    is_graph_trajectory,
    is_message,
    message_in,
    messages_in,
    messages_of,
    opened,
    page_of,
    role_in,
    steps_of,
    steps_text,
    text_of,
    texts_of,
)

Found: TypeAlias = dict[str, Any]
"""Fields of a case, by name; a field that is not there was not found."""

Names: TypeAlias = Mapping[str, tuple[str, int]]
"""What a key stands for: the field of the case, and how good a name for it the key is, 0 being the best."""


def read_inputs(value: object) -> Found:
    """What a run took: a question, the conversation before it, perhaps contexts and a reference."""
    value = opened(value)
    if value is None or isinstance(value, str):
        return {} if value is None else {"question": value}
    thread = messages_in(value)
    if thread is not None:
        return _asked(Transcript.of(thread))
    if not isinstance(value, Mapping):
        return _documents_or(value, "question")
    found = _asked(_thread_of(value))
    taken = _take(value, found, _IN_INPUTS)
    if "question" not in found:
        _take_the_rest(value, found, "question", taken)
    return _with_scalars(value, found, taken)


def read_outputs(value: object) -> Found:
    """What a run gave: an answer, how it got there, perhaps contexts and the question again."""
    value = opened(value)
    if value is None or isinstance(value, str):
        return {} if value is None else {"answer": value}
    thread = messages_in(value)
    if thread is not None:
        return _answered(Transcript.of(thread))
    if not isinstance(value, Mapping):
        return _documents_or(value, "answer")
    if "generations" in value:
        return _generated(value["generations"])
    if is_graph_trajectory(value):
        return _graph_trajectory(value)
    name = next((name for name in ANSWER if value.get(name) is not None), None)
    if name is None or isinstance(value[name], str):
        return _from_mapping(value)
    around = _from_mapping({**value, name: None})  # LangSmith wraps what is no mapping: {"output": ...}
    around.pop("answer", None)
    return {**around, **read_outputs(value[name])}


def read_thread(value: object) -> Found:
    """Like :func:`read_outputs`, but of a conversation every turn, and not only the last one."""
    found = read_outputs(value)
    thread = _thread_in(value)
    if thread is not None:
        found.pop("messages", None)
        found.update(_all_turns(thread))
    if not found.get("trajectory") and found.get("answer"):
        found["trajectory"] = (Step(text=found["answer"]),)  # an answer without a step is a way to go about it too
    return found


def read_reference(value: object, read: Callable[[object], Found] = read_outputs) -> Found:
    """What a run should have given: a reference answer, and the steps of a reference trajectory."""
    state = opened(value)
    if isinstance(state, Mapping):
        value = next((state[name] for name in REFERENCE if state.get(name) is not None), value)
    given = read(value)
    found: Found = {}
    if given.get("answer") is not None:
        found["reference"] = given["answer"]
    if given.get("trajectory"):
        found["metadata"] = {"reference_trajectory": steps_text(given["trajectory"])}
    return found


def _from_mapping(value: Mapping[str, Any]) -> Found:
    found = _answered(_thread_of(value))
    taken = _take(value, found, _IN_OUTPUTS)
    steps = value.get("intermediate_steps")
    if steps:
        found["trajectory"] = steps_of(steps)
        taken.add("intermediate_steps")
    structured = value.get("structured_response")
    if structured is not None:
        found["answer"] = text_of(structured)
        taken.add("structured_response")
    if "answer" not in found and "contexts" not in found:
        _take_the_rest(value, found, "answer", taken)
    return _with_scalars(value, found, taken)


def _take(value: Mapping[str, Any], found: Found, known: Names) -> set[str]:
    """Take each field from the best known of its names that holds something; say which keys have been read."""
    taken: set[str] = set()
    best: dict[str, tuple[int, str]] = {}
    for name, given in value.items():
        if name in MESSAGES:
            taken.add(name)
        elif given is not None and name in known:
            field, rank = known[name]
            if field not in best or rank < best[field][0]:
                best[field] = (rank, name)
    for field, (_, name) in best.items():
        taken.add(name)
        given = value[name]
        found[field] = texts_of(given) if field == "contexts" else text_of(given, asked=field == "question")
    return taken


def _take_the_rest(value: Mapping[str, Any], found: Found, field: str, taken: set[str]) -> None:
    """Without a name we know: the only text there is, else all of it."""
    rest = {name: given for name, given in value.items() if name not in taken and given is not None}
    texts = [name for name, given in rest.items() if isinstance(given, str)]
    if len(texts) == 1:
        found[field] = rest[texts[0]]
        taken.add(texts[0])
    elif rest and not _thread_of(value).question:
        found[field] = text_of(rest)


def _with_scalars(value: Mapping[str, Any], found: Found, taken: set[str]) -> Found:
    """Small values without a meaning for us go along: a rubric's own variables are looked up there."""
    rest = {
        str(name): given
        for name, given in value.items()
        if name not in taken and isinstance(given, str | int | float) and given is not None
    }
    if rest:
        found["metadata"] = rest
    return found


def _thread_of(value: Mapping[str, Any]) -> Transcript:
    for name in MESSAGES:
        thread = messages_in(value[name]) if name in value else None
        if thread is not None:
            read = Transcript.of(thread)
            if name in ("chat_history", "history"):  # all of it came before the question
                return Transcript(earlier=messages_of(thread))
            return read
    return _NOTHING


def _thread_in(value: object) -> list[object] | None:
    """The messages in what a run gave, wherever they are."""
    value = opened(value)
    thread = messages_in(value)
    if thread is not None or not isinstance(value, Mapping):
        return thread
    inner = next((value[name] for name in (*MESSAGES, *ANSWER) if value.get(name) is not None), None)
    return None if inner is None or isinstance(inner, str) else _thread_in(inner)


def _all_turns(thread: Sequence[object]) -> Found:
    """Every turn's steps, with what was said in between; the question is the first one."""
    starts = [position for position, message in enumerate(thread) if role_in(message) == "user"]
    bounds = [*(starts if starts[:1] == [0] else [0, *starts]), len(thread)]
    turns = [Transcript.of(thread[start:end]) for start, end in pairwise(bounds)]
    steps: list[Step] = []
    question: str | None = None
    for position, turn in enumerate(turns):
        if question is None:
            question = turn.question
        elif turn.question is not None:
            steps.append(Step(text=f"(the user goes on: {turn.question})"))
        steps += turn.steps
        if turn.answer is not None and position < len(turns) - 1:
            steps.append(Step(text=turn.answer))
    found: Found = {"question": question, "answer": turns[-1].answer, "trajectory": tuple(steps)}
    return {name: given for name, given in found.items() if given is not None}


def _asked(read: Transcript) -> Found:
    found: Found = {} if read.question is None else {"question": read.question}
    if read.earlier:
        found["messages"] = read.earlier
    return found


def _answered(read: Transcript) -> Found:
    found = _asked(read)
    if read.answer is not None:
        found["answer"] = read.answer
    if read.steps:
        found["trajectory"] = read.steps
    return found


def _documents_or(value: object, field: str) -> Found:
    items = value if isinstance(value, Sequence) else (value,)
    documents = all(page_of(item) is not None for item in items)  # of an empty list too: a retriever that found nothing
    return {"contexts": texts_of(value)} if documents else {field: text_of(value)}


def _generated(generations: object) -> Found:
    """What a language model's own run gave: ``[[{"text": ..., "message": ...}]]``."""
    while isinstance(generations, Sequence) and not isinstance(generations, str) and generations:
        generations = generations[0]
    message = message_in(field_of(generations, "message"))
    if is_message(message):
        return _answered(Transcript.of([message]))
    text = field_of(generations, "text")
    return {"answer": text} if isinstance(text, str) else {}


def _graph_trajectory(value: Mapping[str, Any]) -> Found:
    """A LangGraph thread as agentevals extracts it: inputs, results and the nodes visited, turn by turn."""
    found: Found = {}
    for part, read in (("inputs", read_inputs), ("results", read_outputs)):
        turns = value.get(part)
        if isinstance(turns, list) and turns:
            found.update(read(turns[-1]))
    found["trajectory"] = graph_steps(value)
    return found


def _names(**names: Sequence[str]) -> Names:
    return {name: (field, rank) for field, known in names.items() for rank, name in enumerate(known)}


_IN_INPUTS = _names(question=QUESTION, contexts=CONTEXTS, reference=REFERENCE)
_IN_OUTPUTS = _names(answer=ANSWER, contexts=CONTEXTS, question=QUESTION)
_NOTHING = Transcript()
