"""Run, what a framework tells about one call of an application, and the case that it makes."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import ValidationError
from pydantic_core import to_json

from jury_adapters.core.case import NAMES, Case, Step
from jury_adapters.core.text import visible
from jury_adapters.core.values import InputError, problems_of
from jury_adapters.inputs.evidence import evidence_in, is_answer
from jury_adapters.inputs.images import images_of
from jury_adapters.inputs.messages import Turn, field_of, first_of, read_messages, role_of, text_of, text_of_blocks

MESSAGES = ("chat_history", "messages")
"""The names under which messages are read, in the order of a conversation."""
_REMEDY = "give case=lambda run: Case(question=..., answer=run.outputs[...])"
# Further names that say: this is what the user got. They are not read; beside a usual name they make it doubtful.
_RIVALS = ("final_answer", "final_output", "final_response", "final_result", "reply", "completion", "generation")
# The texts that the inputs, the outputs and the reference hold.
_TARGETS = {"question": ("question", "reference"), "answer": ("answer",), "reference": ("reference", "answer")}
_KNOWN = {*MESSAGES, "structured_response", *(name for names in NAMES.values() for name in names)}
# The JSON text of messages: no text that an application was asked, or answered.
_LOG = re.compile(r'\s*\[\s*\{[^\[\]{}]*"role"\s*:\s*"(user|human|assistant|ai|system|tool)"')
_Part = dict[str, Any]  # texts by field, "contexts" and "messages"


@dataclass(frozen=True, slots=True)
class Run:
    """What a framework tells about one run of an application; all that an adapter must make.

    Attributes:
        id: the id of the run.
        kind: ``chain``, ``llm``, ``retriever``, ``tool``, ``agent``, ``query`` or ``chat``.
        name: the name of what ran.
        inputs: what it was given: a text, messages, a mapping, or an object with fields.
        outputs: what it returned, likewise; None if it returned nothing.
        reference: the expected outputs, likewise.
        documents: what its retrievers found.
        steps: the calls of tools that were heard.
        generator: the model that wrote the answer.
        error: the error with which it failed.
        tags: the tags of the run.
        metadata: anything else; it becomes the metadata of the case.
        elapsed_s: seconds.
    """

    id: str = ""
    kind: str = "chain"
    name: str = ""
    inputs: object = None
    outputs: object = None
    reference: object = None
    documents: Sequence[object] = ()
    steps: Sequence[Step] = ()
    generator: str | None = None
    error: str | None = None
    tags: Sequence[str] = ()
    metadata: Mapping[str, object] = field(default_factory=dict)
    elapsed_s: float | None = None


def default_case(run: Run, evidence: Callable[[Step], bool] | None = None, *, remedy: str = _REMEDY) -> Case:
    """Return the case of a run, read from usual names, from messages, or from a mapping with one text.

    The usual names are those of :data:`jury_adapters.core.case.NAMES`. An input that comes back unchanged in the
    outputs is no answer, and neither is one of several unnamed texts. Contexts are those of the outputs, else of the
    inputs, else what retrievers and tools found; see :func:`evidence_in`. Images are those of the messages of the last
    turn. A run that failed makes a case with an error
    and no answer, which is FAIL. Outputs that are a case are the case.

    Args:
        run: the run.
        evidence: tells of a step whether its tool finds things; ``partial(default_case, evidence=...)`` is a ``case=``.
        remedy: how the user says which output is the answer; the end of an error.

    Raises:
        InputError: no output, or more than one, is known as the answer.

    >>> default_case(Run(inputs={"question": "When?"}, outputs={"answer": "In 2018."})).answer
    'In 2018.'
    >>> default_case(Run(inputs="Is it covered?", outputs={"covered": False, "reason": "theft"}))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    jury_adapters.core.values.InputError: none of the outputs 'covered', 'reason' is known as the answer; give case=...
    """
    if isinstance(run.outputs, Case):
        return run.outputs
    try:
        return _case_of(run, evidence)
    except (InputError, ValidationError, RecursionError) as error:
        raise InputError(f"{problems_of(error) if isinstance(error, ValidationError) else error}; {remedy}") from None


def _case_of(run: Run, evidence: Callable[[Step], bool] | None) -> Case:
    took, wanted = _read(run.inputs, "question"), _read(run.reference, "reference")
    gave = {} if run.error else _read(run.outputs, "answer", run.inputs)
    turn = _turn(took, gave)
    said = gave.get("messages", ())[-1:]
    direct = "tool" in map(role_of, said)  # the answer is that of a tool
    answer = gave.get("answer", text_of(said[0]) if direct else turn.answer)
    steps = _steps(tuple(run.steps), turn.steps)
    found = [*texts_of(run.documents), *(evidence_in(one, answer, evidence) for one in steps)]
    if evidence is None and not direct and any(is_answer(one, answer) for one in steps):
        found = []  # it may rest on that output, and the other contexts would only contradict it
    return Case(
        question=took.get("question") or turn.question,
        answer=answer,
        contexts=gave.get("contexts") or took.get("contexts") or [*dict.fromkeys(filter(None, found))],
        reference=wanted.get("reference")
        or wanted.get("answer", read_messages(wanted.get("messages", ())).answer)
        or took.get("reference"),
        messages=turn.earlier,
        steps=steps,
        images=images_of([*took.get("messages", ()), *gave.get("messages", ())]),
        generator=run.generator,
        error=run.error or None,
        id=run.id or None,
        metadata=run.metadata,
    )


def _turn(took: _Part, gave: _Part) -> Turn:
    """Read the messages of a run. An agent's node may return its own messages only; those of the inputs come before."""
    asked, before, after = took.get("question"), took.get("messages", []), gave.get("messages", [])
    if not after:
        return replace(read_messages(before, asked), answer=None) if before else Turn()
    turn = read_messages([*([] if any(role_of(one) == "user" for one in after) else before), *after], asked)
    if asked is None or turn.question is not None:
        return turn
    own = read_messages(after)  # no message asks the question: those of the inputs are what was said before
    return replace(own, earlier=read_messages(before, asked).earlier or own.earlier)


def _steps(heard: tuple[Step, ...], read: tuple[Step, ...]) -> tuple[Step, ...]:
    """Return the steps that were heard, unless the messages know more calls; calls of inner agents are heard only."""
    ran, told = (Counter(one.tool for one in steps if one.tool) for steps in (heard, read))
    if not heard or (not ran - told and told - ran):
        return read
    return heard + tuple(one for one in read if one.tool and one.tool not in ran)


def _read(value: Any, wanted: str, before: Any = None) -> _Part:
    """Read inputs, outputs or a reference; ``wanted`` is the question, the answer or the reference.

    Raises:
        InputError: it is not known which of the outputs is the answer.
    """
    value, before = updated(value), updated(before)
    given = _fields(value)
    if given is None:
        return {} if missing(value) or value == [] else _unnamed(value, wanted)
    past = _fields(before) or {}
    new = {name: one for name, one in given.items() if not missing(one) and not _same(one, past.get(name))}
    part = _named(new, wanted)
    if part.keys() & {wanted, "answer", "messages"} or any(missing(given.get(name, "")) for name in NAMES[wanted]):
        return part
    rest = [
        name
        for name, one in new.items()
        if name not in _KNOWN and not any(_same(one, old) for old in (before, *past.values()))
    ]
    only = new[rest[0]] if len(rest) == 1 and not given.keys() & {*NAMES[wanted]} else None
    text = only if isinstance(only, str) else text_of_blocks(only)
    if text is not None:
        part[wanted] = _text(text)
    elif wanted == "answer" and (
        rest or ({*part, *new}.isdisjoint(NAMES["contexts"]) and not all(map(missing, given.values())))
    ):
        raise InputError(
            f"none of the outputs {listed(rest or given)} is "
            f"{'known' if rest else 'new, so that none is known'} as the answer"
        )
    return part


def _unnamed(value: Any, wanted: str) -> _Part:
    """Read messages, documents, an object that holds usual names, or a text."""
    if isinstance(value, str):
        return {wanted: _text(value)}
    many = [*value] if isinstance(value, list | tuple) and value and role_of(value) is None else [value]
    if all(role_of(one) is not None for one in many):
        return {"messages": many}
    if all(map(_is_document, many)):
        return {"contexts": texts_of(many)}
    inside = _named(_fields(value) or {}, wanted)
    return inside if inside.keys() & {wanted, "answer", "messages"} else {wanted: _text(value)}


def _named(given: Mapping[Any, Any], wanted: str) -> _Part:
    """Read the fields of usual names. A single one may hold the others: LangSmith wraps an object in ``output``."""
    part: _Part = {"messages": [one for name in MESSAGES for one in _messages(given.get(name), wanted)]}
    passages = {name: texts_of(given[name]) for name in NAMES["contexts"] if name in given}
    for target in _TARGETS[wanted]:
        inside = {name: _unnamed(given[name], target) for name in NAMES[target] if not missing(given.get(name))}
        part["messages"] += [one for found in inside.values() for one in found.get("messages", ())]
        # Beside other outputs, it is what a model wrote with its answer, and no evidence.
        passages |= {
            name: found["contexts"] for name, found in inside.items() if len(given) == 1 and "contexts" in found
        }
        texts = {name: found[target] for name, found in inside.items() if target in found}
        if wanted == "answer":
            texts |= {name: _text(given[name]) for name in ("structured_response",) if not missing(given.get(name))}
            texts |= {name: given[name] for name in _RIVALS if texts and isinstance(given.get(name), str)}
        part |= {target: _agreed(f"{target}s", texts)} if texts else {}
    part["contexts"] = _agreed("contexts", passages)
    return {name: one for name, one in part.items() if one or isinstance(one, str)}


def _messages(value: Any, wanted: str) -> list[Any]:
    """Return messages as a list; LangGraph also takes a single one, and a text as that of the user."""
    many: Any = [*value] if isinstance(value, list | tuple) and role_of(value) is None else [value]
    return [("user", one) if isinstance(one, str) and wanted == "question" else one for one in many if not missing(one)]


def _agreed(what: str, found: Mapping[str, Any]) -> Any:
    """Return the value that is given under several names.

    Raises:
        InputError: two names hold different values.
    """
    held = {name: text for name, one in found.items() if (text := one.strip() if isinstance(one, str) else one)}
    if len({*held.values()}) > 1:
        raise InputError(f"{listed(held)} hold different {what}")
    return found.get(next(iter(held or found), ""))


def texts_of(value: Any) -> tuple[str, ...]:
    """Return the texts of passages: of texts, documents, nodes, their JSON forms, and lists or mappings of them."""
    many = isinstance(value, Mapping | list | tuple) and not _is_document(value)
    inside = [value] if not many else value.values() if isinstance(value, Mapping) else value
    deep = (texts_of(one) if isinstance(one, list | tuple) else (_passage(one),) for one in inside)
    return tuple(text for texts in deep for text in texts if text.strip())


def _passage(value: Any) -> str:
    value = field_of(value, "node") or value
    if callable(getattr(value, "get_content", None)):  # of LlamaIndex, whose models see a node with its metadata
        return str(value.get_content(metadata_mode="llm"))
    text = first_of(value, "page_content", "text", "content")
    return text if isinstance(text, str) else "" if missing(value) else _text(value)


def _is_document(value: Any) -> bool:
    return isinstance(field_of(value, "page_content"), str) or callable(getattr(value, "get_content", None))


def _text(value: Any) -> str:
    """Return a value as text: a text as it is, content blocks without thoughts, other values as JSON.

    Raises:
        InputError: it is no JSON value, or the JSON text of messages.
    """
    said = value if isinstance(value, str) else text_of_blocks(value)
    if said is not None and _LOG.match(said):
        raise InputError("a text is the JSON of messages; parse it first")
    try:  # an iterator is not read, as that would take it from the application
        return said if said is not None else to_json(object() if isinstance(value, Iterator) else value).decode()
    except ValueError:
        raise InputError(f"a value of the type {type(value).__name__} is no text") from None


def missing(value: Any) -> bool:
    """Whether a value is None, or a missing value of a table."""
    return (
        value is None
        or (isinstance(value, float) and value != value)  # noqa: PLR0124 - NaN
        or type(value).__name__ in ("NAType", "NaTType")  # of pandas
    )


def _same(one: Any, other: Any) -> bool:
    return one is other or (isinstance(one, str | list | dict) and bool(one == other))  # arrays cannot be asked


def updated(value: Any) -> Any:
    """Return the state that a node of LangGraph writes, where it returns a ``Command`` or several."""
    many = value if isinstance(value, list | tuple) else [value]
    if not any(type(one).__name__ == "Command" and hasattr(one, "goto") for one in many):
        return value
    state: dict[Any, Any] = {}
    for update in (one.update if type(one).__name__ == "Command" else one for one in many):
        for name, one in ({"messages": update} if (given := _fields(update)) is None else given).items():
            together = [*_messages(state.get(name), ""), *_messages(one, "")]
            state[name] = together if name == "messages" and together else one
    return state


def _fields(value: Any) -> dict[Any, Any] | None:
    """Return the fields of a mapping, a model of pydantic or a dataclass; None for messages, documents and the rest."""
    if isinstance(value, str) or role_of(value) is not None or _is_document(value):
        return None
    names: Any = getattr(type(value), "model_fields", None) or getattr(type(value), "__dataclass_fields__", ())
    return dict(value) if isinstance(value, Mapping) else {name: getattr(value, name, None) for name in names} or None


def listed(names: Iterable[Any]) -> str:
    """Return at most ten names for a message."""
    return ", ".join(f"'{visible(str(name), 40)}'" for name in [*names][:10])
