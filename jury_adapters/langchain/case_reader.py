"""Convert the inputs and outputs of a run to the case to judge.

Texts, dictionaries, messages, documents and graph states are recognized as they are; see
:mod:`jury_adapters.core.input_output`. For any other shape, give a field map: paths by field, or a function from the
row to the case.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any

from jury_adapters.core.advised_map import advised_map, such_as
from jury_adapters.core.arguments import explains_wrong_calls
from jury_adapters.core.case import Case
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.evidence import Evidence, EvidenceTools
from jury_adapters.core.field_map import FieldMapLike, field_map_of
from jury_adapters.core.field_names import FIELD_NAMES
from jury_adapters.core.graph_commands import state_update
from jury_adapters.core.input_output import QUESTION_GUESS, SO_FAR, read_inputs, read_outputs
from jury_adapters.core.loose_values import opened
from jury_adapters.core.references import read_reference
from jury_adapters.core.retrieved_ids import add_retrieved_ids
from jury_adapters.core.run_parts import merged
from jury_adapters.core.threads import continued, read_thread
from jury_adapters.langchain.returned_answers import direct_tools_of, with_returned_answer

_log = logging.getLogger(__name__)


class CaseReader:
    """Reader of cases from runs: from their inputs, outputs and reference outputs.

    Args:
        field_map: the fields of the case as paths from the row, ``{"answer": "outputs.reply"}``, or a function from the
            row to the case; the row has the three parts. See :meth:`jury_adapters.Case.from_row`. Without it, the
            shapes of the parts are recognized.
        whole_thread: whether the steps of all turns of a conversation are one trajectory, for judges of trajectories;
            by default, the trajectory has those of the last turn, and the turns before it are messages.
        evidence_tools: the tools whose outputs are contexts, if the parts have none: names, or a predicate of a
            step; see :class:`jury_adapters.core.evidence.Evidence`.
        direct_tools: the names of the tools with ``return_direct=True``; see :func:`with_returned_answer`.
        warns: whether the log says, once, that it is not known which of the inputs is the question.

    Raises:
        ConfigurationError: the field map is invalid or given together with ``whole_thread``, ``evidence_tools`` is
            neither names nor a predicate, or ``direct_tools`` is not a list of names.
    """

    __slots__ = ("_direct_tools", "_map", "_read_outputs", "_read_reference", "_warns", "evidence")

    def __init__(
        self,
        field_map: FieldMapLike | None = None,
        *,
        whole_thread: bool = False,
        evidence_tools: EvidenceTools = None,
        direct_tools: Collection[str] = (),
        warns: bool = True,
    ) -> None:
        self._map = field_map_of(field_map)
        if whole_thread and self._map is not None:
            raise ConfigurationError(
                "whole_thread=True reads the outputs as they are, so it does not go with field_map=; use a function: "
                "field_map=lambda row: to_case(row['outputs']['thread'], whole_thread=True)"
            )
        self.evidence = Evidence(evidence_tools)
        self._direct_tools = direct_tools_of(direct_tools)
        self._warns = warns
        self._read_outputs = read_thread if whole_thread else read_outputs
        self._read_reference = partial(read_reference, read=self._read_outputs)

    @property
    def is_mapped(self) -> bool:
        """Whether there is a field map."""
        return self._map is not None

    @property
    def reads_answers(self) -> bool:
        """Whether the cases are read from answers: not by a field map, and not from the turns of a whole thread."""
        return self._map is None and self._read_outputs is not read_thread

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
            outputs: its outputs; a command of LangGraph is its update of the state.
            reference_outputs: the expected outputs.
            contexts: passages from elsewhere, such as a retriever's own run; used if the parts have none. Without
                either, the contexts are the outputs of the tools that are evidence.
            generator: the model that answered, if known.
            metadata: entries to add to the case's metadata.

        Raises:
            InputError: a path does not exist.
            Exception: any exception that a function of the application raises.
        """
        outputs = state_update(outputs)
        if self._map is not None:
            return self._mapped(
                {"inputs": inputs, "outputs": outputs, "reference_outputs": reference_outputs},
                contexts, generator, metadata,
            )  # fmt: skip
        case = self._recognized(
            inputs, outputs, reference_outputs, contexts=contexts, generator=generator, metadata=metadata
        )
        return with_returned_answer(case, self._direct_tools)

    def _recognized(
        self,
        inputs: object,
        outputs: object,
        reference_outputs: object,
        *,
        contexts: Sequence[str],
        generator: str | None,
        metadata: Mapping[str, object] | None,
    ) -> Case:
        took, gave = read_inputs(inputs), self._read_outputs(outputs)
        if self._read_outputs is read_thread:
            gave = continued(took, gave, whole_thread=True)
            took.pop(SO_FAR, None)
        wanted = self._read_reference(reference_outputs) if reference_outputs is not None else {}
        fields = merged(took, gave, wanted, contexts, self.evidence)
        guess = took.get(QUESTION_GUESS)
        if self._warns and guess in fields["metadata"].get("ambiguous", ()):
            self._warns = False
            advised = advised_map({"inputs": inputs}, ["question"])
            _log.warning("%s. Say where it is with a field map%s (logged once)", guess, such_as(advised))
        add_retrieved_ids(fields["metadata"], outputs)
        if metadata:
            fields["metadata"].update(metadata)
        if generator is not None:
            fields.setdefault("generator", generator)
        return Case(**fields)

    def case_of(self, value: object) -> Case:
        """Return the case of one object; see :func:`to_case`."""
        if isinstance(value, Case):
            return value
        if hasattr(value, "run_type"):  # a run of LangSmith
            value = {name: getattr(value, name, None) for name in ("inputs", "outputs")}
        if self._map is not None:
            fields = opened(value)
            row = _with_update(fields) if isinstance(fields, Mapping) else {"outputs": fields}
            case = Case.from_row(row, self._map, evidence_tools=self.evidence)
            return with_returned_answer(case, self._direct_tools)
        if not isinstance(value, Mapping):
            return self.case(None, value)
        if "outputs" in value:
            return self.case(value.get("inputs"), value["outputs"], value.get("reference_outputs"))
        reference = {name: value[name] for name in FIELD_NAMES["reference"].everywhere if value.get(name) is not None}
        rest = {name: given for name, given in value.items() if name not in reference}
        return self.case(None, rest, reference or None)

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
        mapped = Case(**{**dict(case), **changes}) if changes else case
        return with_returned_answer(mapped, self._direct_tools)


def _with_update(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a row in which a command of LangGraph as the outputs is its update."""
    outputs = row.get("outputs")
    update = state_update(outputs)
    return row if update is outputs else {**row, "outputs": update}


@explains_wrong_calls("to_case(value)", order="the value comes first, the rest by name", needs="a value is missing")
def to_case(
    value: object,
    *,
    field_map: FieldMapLike | None = None,
    whole_thread: bool = False,
    evidence_tools: EvidenceTools = None,
    direct_tools: Collection[str] = (),
) -> Case:
    """Return the case of an object of LangChain or LangSmith, as the evaluators and :class:`JuryRunnable` read it.

    Args:
        value: a text (the answer), a message or a list of messages, an agent's state, a mapping with the fields of a
            case under any of their names, a mapping with ``inputs``, ``outputs`` and ``reference_outputs``, or a run of
            LangSmith. A :class:`Case` is returned unchanged.
        field_map: as in :meth:`jury_adapters.Case.from_row`: paths by field, or a function from the row to the case.
            The row is ``value`` if it is a mapping, and its fields if it is the state of a graph; for a run, it has
            ``inputs`` and ``outputs``; for any other object, ``outputs``.
        whole_thread: whether the steps of all turns of a conversation are one trajectory, for judges of trajectories;
            by default, the trajectory has those of the last turn, and the turns before it are messages.
        evidence_tools: the tools whose outputs are contexts, if there are no others: names, or a predicate of a step;
            see :class:`jury_adapters.core.evidence.Evidence`.
        direct_tools: the names of the tools with ``return_direct=True``. If a run ended with calls of these only, the
            last result is the answer. Without the names it has none, since the messages of a run that was cut off after
            a tool are the same.

    Raises:
        ConfigurationError: an option is invalid.
        InputError: a path does not exist.
        Exception: any exception that a function of the application raises.

    >>> run = {"inputs": {"question": "2 + 2?"}, "outputs": {"reply": "4"}}
    >>> to_case(run, field_map={"answer": "outputs.reply"}).answer
    '4'
    """
    reader = CaseReader(
        field_map, whole_thread=whole_thread, evidence_tools=evidence_tools, direct_tools=direct_tools, warns=False
    )
    return reader.case_of(value)
