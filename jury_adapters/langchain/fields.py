"""From what a run took and gave to the case to judge.

Texts, dictionaries, messages, documents and graph states are understood as they are; see
:mod:`jury_adapters.core.input_output`. Where they
are not, say where the case's fields are: by name, by path, or with a function.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, TypeAlias

from jury_adapters.core.case import Case
from jury_adapters.core.errors import ConfigurationError, InputError, unknown
from jury_adapters.core.evidence import Evidence, EvidenceTools
from jury_adapters.core.input_output import Found, merged, read_inputs, read_outputs, read_reference, read_thread
from jury_adapters.core.loose_values import messages_of, steps_of, text_of, texts_of

Source: TypeAlias = str | Callable[[Any], object]
"""A name, a path such as ``"messages[-1].content"``, or a function of the part."""

Part: TypeAlias = Source | Mapping[str, Source]
"""Where in a part to look: one source that stands for all of it, or a source for each field of the case."""


class Fields:
    """Where the fields of a case are in what a run took (inputs), gave (outputs), and should have given (reference).

    Each part is described by one of these; None means that it is understood as it is.

    - A name or path: that much of the part is read, and the rest is not. Paths are names and positions,
      ``"messages[-1].content"``, ``"docs[0]['page content']"``; the part's own name may come first
      (``"outputs.messages[-1].content"``).
    - A function of the part: what it returns is read instead.
    - A mapping from fields of the case to names, paths or functions: these fields, and no others of this part.

    Args:
        inputs: the question and its like.
        outputs: the answer and its like.
        reference_outputs: the reference.
        whole_thread: of a conversation every turn is read, for judging trajectories; by default the last turn is what
            there is to judge, and the others came before it.
        evidence_tools: the tools whose outputs are contexts, where the parts have none: names, or a predicate of a
            step; see :class:`jury_adapters.core.evidence.Evidence`.

    Raises:
        ConfigurationError: a path cannot be read, a field is none of a case, or ``evidence_tools`` is neither names
            nor a predicate.

    >>> fields = Fields(inputs="user.text", outputs={"answer": "reply", "contexts": "hits"})
    >>> fields.case({"user": {"text": "2 + 2?"}}, {"reply": "4", "hits": ["2 + 2 = 4"]}).contexts
    ('2 + 2 = 4',)
    """

    __slots__ = ("_read_inputs", "_read_outputs", "_read_reference", "evidence")

    def __init__(
        self,
        *,
        inputs: Part | None = None,
        outputs: Part | None = None,
        reference_outputs: Part | None = None,
        whole_thread: bool = False,
        evidence_tools: EvidenceTools = None,
    ) -> None:
        self.evidence = Evidence(evidence_tools)
        read = read_thread if whole_thread else read_outputs
        self._read_inputs = _reader(inputs, "inputs", read_inputs)
        self._read_outputs = _reader(outputs, "outputs", read)
        self._read_reference = _reader(reference_outputs, "reference_outputs", partial(read_reference, read=read))

    def case(
        self,
        inputs: object = None,
        outputs: object = None,
        reference_outputs: object = None,
        *,
        contexts: Sequence[str] = (),
        generator: str | None = None,
        metadata: Mapping[str, object] | None = None,
    ) -> Case:
        """The case of one run.

        Args:
            inputs: what the run took.
            outputs: what it gave.
            reference_outputs: what it should have given.
            contexts: passages known from elsewhere, such as a retriever's own run; for when the parts have none. Where
                there are none either, they are the outputs of the tools that are evidence.
            generator: the model that answered, if known.
            metadata: goes to the case's metadata.

        Raises:
            InputError: a name or path leads nowhere.
            Exception: whatever a function of the user's raises.
        """
        took, gave = self._read_inputs(inputs), self._read_outputs(outputs)
        wanted = self._read_reference(reference_outputs) if reference_outputs is not None else {}
        fields = merged(took, gave, wanted, contexts, self.evidence)
        if metadata:
            fields["metadata"].update(metadata)
        if generator is not None:
            fields.setdefault("generator", generator)
        return Case(**fields)


class Path:
    """Names and positions that lead to a value; nothing is ever evaluated or called.

    A name is a key of a mapping, or a public attribute of another object that is no method.

    Args:
        text: the path, such as ``"messages[-1].content"``.
        root: a name that may stand first without meaning anything.

    Raises:
        ConfigurationError: the text is no path.

    >>> Path("messages[-1].content")({"messages": [{"content": "Hello"}]})
    'Hello'
    """

    __slots__ = ("_root", "_steps", "_text")

    def __init__(self, text: str, root: str = "") -> None:
        self._text = text
        self._root = root
        self._steps = _steps(text)

    def __call__(self, value: object) -> object:
        """The value at the end of the path.

        Raises:
            InputError: there is nothing; the message says where the path ends and what is there.
        """
        steps = self._steps
        if steps[0] == self._root and not (isinstance(value, Mapping) and self._root in value):
            steps = steps[1:]
        for step in steps:
            value = self._inside(value, step)
        return value

    def _inside(self, value: object, step: str | int) -> object:
        if isinstance(step, int):
            if isinstance(value, Sequence) and not isinstance(value, str) and -len(value) <= step < len(value):
                return value[step]
        elif isinstance(value, Mapping):
            if step in value:
                return value[step]
        elif not step.startswith("_"):
            found = getattr(value, step, _MISSING)
            if found is not _MISSING and not callable(found):
                return found
        raise InputError(f"the path {self._text!r} leads nowhere: no {step!r} in {_described(value)}")


def _reader(part: Part | None, name: str, read: Callable[[object], Found]) -> Callable[[object], Found]:
    if part is None:
        return read
    if isinstance(part, Mapping):
        sources = {field: _source(field, source, name) for field, source in part.items()}
        return lambda value: _named(value, sources)
    source = _source(name, part, name)
    return lambda value: read(source(value))


def _source(what: str, source: object, part: str) -> Callable[[object], object]:
    if what != part and what not in Case.model_fields:
        raise ConfigurationError(f"{part}: {unknown('field of a case', what, Case.model_fields)}")
    if isinstance(source, str):
        return Path(source, part)
    if callable(source):
        return source
    raise ConfigurationError(f"{part}: {what} is found by a name, a path or a function, not by {source!r}")


def _named(value: object, sources: Mapping[str, Callable[[object], object]]) -> Found:
    found: Found = {}
    for field, source in sources.items():
        given = source(value)
        if given is not None:
            found[field] = _as_field(field, given)
    return found


def _as_field(field: str, value: object) -> object:
    """A value as the field of a case that it is said to be."""
    match field:
        case "question" | "answer" | "reference" | "generator":
            return text_of(value, asked=field == "question")
        case "contexts" | "candidates":
            return texts_of(value)
        case "messages":
            return messages_of(value)
        case "trajectory":
            return steps_of(value)
    return value


def _steps(text: str) -> tuple[str | int, ...]:
    steps: list[str | int] = []
    position = 0
    while position < len(text):
        match = _STEP.match(text, position)
        if match is None or (match["name"] and position > 0 and not match["dot"]) or (match["dot"] and position == 0):
            break
        name = match["name"] or match["quoted"]
        if match["name"] and match["name"].startswith("_"):
            raise ConfigurationError(f"the path {text!r} names {match['name']!r}; names with an underscore are private")
        steps.append(int(match["position"]) if name is None else name)
        position = match.end()
    if not steps or position < len(text):
        raise ConfigurationError(f"{text!r} is no path; write names and positions: 'messages[-1].content'")
    return tuple(steps)


def _described(value: object) -> str:
    if isinstance(value, Mapping):
        return f"a mapping with {', '.join(sorted(map(str, value))[:20]) or 'nothing in it'}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"{type(value).__name__} of {len(value)}"
    return type(value).__name__


_STEP = re.compile(
    r"""(?P<dot>\.)?(?P<name>[^.\[\]'"]+)|\[(?P<position>-?\d{1,9})\]|\[(?P<quote>['"])(?P<quoted>.+?)(?P=quote)\]"""
)
_MISSING: Final = object()
