"""Convert the inputs and outputs of a run to the case to judge.

Texts, dictionaries, messages, documents and graph states are recognized as they are; see
:mod:`jury_adapters.core.input_output`. For any other shape, give the positions of the case's fields: by name, by path,
or with a function.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

from jury_adapters.core.case import Case
from jury_adapters.core.errors import ConfigurationError, unknown
from jury_adapters.core.evidence import Evidence, EvidenceTools
from jury_adapters.core.field_map import FieldMapLike, Path, field_map_of
from jury_adapters.core.input_output import Found, read_inputs, read_outputs, read_thread
from jury_adapters.core.loose_values import candidates_of, messages_of, steps_of, text_of, texts_of
from jury_adapters.core.references import read_reference
from jury_adapters.core.run_parts import merged

Source: TypeAlias = str | Callable[[Any], object]
"""A name, a path such as ``"messages[-1].content"``, or a function of the part."""

Part: TypeAlias = Source | Mapping[str, Source]
"""Position in a part: one source for all of it, or a source for each field of the case."""


class Fields:
    """Positions of the fields of a case in a run's inputs, outputs and reference outputs.

    Each part is described by one of these; None means that its shape is recognized.

    - A name or path: only that portion of the part is read. Paths are names and positions,
      ``"messages[-1].content"``, ``"docs[0]['page content']"``; the part's own name may come first
      (``"outputs.messages[-1].content"``).
    - A function of the part: its return value is read instead.
    - A mapping from fields of the case to names, paths or functions: these fields, and no others of this part.

    Args:
        inputs: the question and related fields.
        outputs: the answer and related fields.
        reference_outputs: the reference.
        field_map: the fields of the case as paths from the row, ``{"answer": "outputs.reply"}``, or a function from the
            row to the case; the row has the three parts. It replaces the three arguments above. See
            :meth:`jury_adapters.Case.from_row`.
        whole_thread: whether every turn of a conversation is read, for judging trajectories; by default, the last turn
            is judged and the earlier ones are its history.
        evidence_tools: the tools whose outputs are contexts, if the parts have none: names, or a predicate of a
            step; see :class:`jury_adapters.core.evidence.Evidence`.

    Raises:
        ConfigurationError: a path cannot be read, a field is not a field of a case, or ``evidence_tools`` is neither
            names nor a predicate.

    >>> fields = Fields(inputs="user.text", outputs={"answer": "reply", "contexts": "hits"})
    >>> fields.case({"user": {"text": "2 + 2?"}}, {"reply": "4", "hits": ["2 + 2 = 4"]}).contexts
    ('2 + 2 = 4',)
    """

    __slots__ = ("_map", "_read_inputs", "_read_outputs", "_read_reference", "evidence", "names_inputs")

    def __init__(
        self,
        *,
        inputs: Part | None = None,
        outputs: Part | None = None,
        reference_outputs: Part | None = None,
        field_map: FieldMapLike | None = None,
        whole_thread: bool = False,
        evidence_tools: EvidenceTools = None,
    ) -> None:
        if field_map is not None and any(part is not None for part in (inputs, outputs, reference_outputs)):
            raise ConfigurationError("give field_map=, or inputs=, outputs= and reference_outputs=; not both")
        self._map = field_map_of(field_map)
        self.names_inputs = inputs is not None or field_map is not None
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
        """Return the case of one run.

        Args:
            inputs: the inputs of the run.
            outputs: its outputs.
            reference_outputs: the expected outputs.
            contexts: passages from elsewhere, such as a retriever's own run; used if the parts have none. Without
                either, the contexts are the outputs of the tools that are evidence.
            generator: the model that answered, if known.
            metadata: entries to add to the case's metadata.

        Raises:
            InputError: a name or path does not exist.
            Exception: any exception that a function of the application raises.
        """
        if self._map is not None:
            return self._mapped(
                {"inputs": inputs, "outputs": outputs, "reference_outputs": reference_outputs},
                contexts, generator, metadata,
            )  # fmt: skip
        took, gave = self._read_inputs(inputs), self._read_outputs(outputs)
        wanted = self._read_reference(reference_outputs) if reference_outputs is not None else {}
        fields = merged(took, gave, wanted, contexts, self.evidence)
        if metadata:
            fields["metadata"].update(metadata)
        if generator is not None:
            fields.setdefault("generator", generator)
        return Case(**fields)

    def _mapped(
        self,
        row: Mapping[str, object],
        contexts: Sequence[str],
        generator: str | None,
        metadata: Mapping[str, object] | None,
    ) -> Case:
        case = Case.from_row(row, self._map, evidence_tools=self.evidence)
        changes: dict[str, Any] = {}
        if contexts and not case.contexts:
            changes["contexts"] = tuple(contexts)
        if generator is not None and case.generator is None:
            changes["generator"] = generator
        if metadata:
            changes["metadata"] = {**case.metadata, **metadata}
        return Case(**{**dict(case), **changes}) if changes else case


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
    """Return a value as the given field of a case."""
    match field:
        case "question" | "answer" | "reference" | "generator":
            return text_of(value, asked=field == "question")
        case "contexts":
            return texts_of(value)
        case "candidates":
            return candidates_of(value)
        case "messages":
            return messages_of(value)
        case "trajectory":
            return steps_of(value)
    return value
