"""Base of the handler of LangChain's events: its options, and the conversion of a run to a case."""

from __future__ import annotations

import logging
from typing import Self, Unpack

from jury_adapters.core.background.judge_queue import JudgeQueue
from jury_adapters.core.background.options import MAX_OPEN, JudgeQueueOptions, WatchOptions
from jury_adapters.core.background.shown_options import shows_options_of
from jury_adapters.core.background.watch import RunWatch, queue_of
from jury_adapters.core.case import Case
from jury_adapters.core.case_parts import Step
from jury_adapters.core.conversation import is_verdict, role_of, text_of_message
from jury_adapters.core.evidence import EvidenceTools
from jury_adapters.core.field_map import FieldMapLike
from jury_adapters.core.judge_like import JudgeLike
from jury_adapters.core.loose_values import opened, text_of, texts_of
from jury_adapters.core.retrieved_ids import retrieved_ids
from jury_adapters.core.retriever_cases import with_retrieved_ids
from jury_adapters.core.threads import steps_so_far
from jury_adapters.langchain.answer_guess import AnswerGuess, unread_answer
from jury_adapters.langchain.case_reader import CaseReader
from jury_adapters.langchain.collector import RETRIEVER, Collector
from jury_adapters.langchain.executed_calls import with_executed_calls
from jury_adapters.langchain.finished_runs import FinishedRun, ToolCall
from jury_adapters.langchain.run_choice import NamedRuns, Runs, chooser_of
from jury_adapters.langchain.run_contexts import contexts_of_run, own_passages
from jury_adapters.observability.sinks import note_span

_log = logging.getLogger(__name__)


class RunOptions(WatchOptions, total=False):
    """Options of :class:`RunWatcher`: its own, and those of every handler."""

    select: Runs
    field_map: FieldMapLike | None
    evidence_tools: EvidenceTools


@shows_options_of(JudgeQueue)
class RunWatcher(RunWatch):
    """Base of the handler of LangChain's events: the options, and the queueing of finished runs for judging.

    Args:
        jury: the jury, any other judge, or a function of a case.
        select: the runs to judge. None: each root, the outermost run that the handler sees. Names or tags: the
            runs of that name, and the outermost runs with that tag (LangChain passes tags on to all runs inside).
            ``"retriever"``: also the retrievers that are not part of another chosen run, wherever they are called.
            If no run has one of the names, ``flush`` and ``close`` log it once.
            A function of the :class:`Run` as it starts: the outermost runs for which it is true.
            A step that is retried is judged once, for its last attempt; one that failed, when the run around it ends.
        field_map: the fields of the case as paths from a row with the ``inputs`` and ``outputs`` of the run,
            ``{"answer": "outputs.reply"}``, or a function from the row to the case; see
            :meth:`jury_adapters.Case.from_row`. Without it, the shapes are recognized.
        evidence_tools: the tools whose outputs are contexts, divided into the documents in them: names, or a
            predicate of a step; by default all but those known to repeat what the model wrote. See
            :class:`jury_adapters.core.evidence.Evidence`. If a model in a tool wrote an output without any of the
            documents that the tool retrieved, the documents are contexts instead, unless the tool is named.
        max_open: the maximum number of runs under way; a further one drops the oldest, which is counted as evicted.
        **options: as for :class:`jury_adapters.JudgeQueue`.

    Raises:
        ConfigurationError: an option is out of range, or a name in ``select`` is a misspelt ``"retriever"``.
    """

    raise_error = False
    # The work here takes microseconds. Inline, events arrive in order and need no thread of the event loop.
    run_inline = True

    def __init__(
        self,
        jury: JudgeLike,
        *,
        select: Runs = None,
        field_map: FieldMapLike | None = None,
        evidence_tools: EvidenceTools = None,
        max_open: int = MAX_OPEN,
        **options: Unpack[JudgeQueueOptions],
    ) -> None:
        self._reader = CaseReader(field_map, evidence_tools=evidence_tools)
        self._queue = queue_of(jury, max_open, ("select", "field_map", "evidence_tools"), **options)
        self._choice = chooser_of(select)
        self._has_warned = False
        self._guess = AnswerGuess(is_mapped=self._reader.is_mapped)
        self._collector = Collector(self._choice, self._put_in_queue, self._queue.count, max_open=max_open)

    @property
    def ignore_retry(self) -> bool:
        return True

    @property
    def ignore_custom_event(self) -> bool:
        return True

    def __copy__(self) -> Self:
        return self  # a copied config still reports to the same queue

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def flush(self, timeout: float | None = None) -> bool:
        self._warn_of_names()
        return super().flush(timeout)

    async def aflush(self, timeout: float | None = None) -> bool:
        self._warn_of_names()
        return await super().aflush(timeout)

    def _detach(self) -> None:
        self._warn_of_names()

    def _warn_of_names(self) -> None:
        if isinstance(self._choice, NamedRuns):
            self._choice.warn()

    def _open_runs(self) -> int:
        return self._collector.open

    def _put_in_queue(self, finished: FinishedRun) -> None:
        note_span(finished.metadata)
        self._queue.put(lambda: self._case_of(finished), run=finished.run)

    def _case_of(self, finished: FinishedRun) -> Case:
        case = case_of(finished, self._reader)
        if self._reader.is_mapped or finished.run.kind == RETRIEVER:
            return case
        if case.answer is not None:
            self._guess.tell(finished.inputs, opened(finished.outputs), finished.run.name)
        elif not self._has_warned:
            said = unread_answer(finished.outputs)
            if said:
                self._has_warned = True
                _log.warning("%s (logged once; the run is %r)", said, finished.run.name)
        return case


def case_of(finished: FinishedRun, reader: CaseReader) -> Case:
    """Return the case of a finished run.

    Its contexts are the documents that were retrieved outside of tools, and the outputs of the tools that are evidence,
    divided into the documents in them, also those of the turn in the inputs that a step of an agent goes on with. The
    case of a retriever has no answer; the ids of its documents are in ``metadata["retrieved_ids"]``.

    Raises:
        InputError: a path of the field map does not exist.
        Exception: any exception that the function of the field map, or the predicate of the evidence, raises.
    """
    found, inputs, outputs = finished.found, finished.inputs, finished.outputs
    if inputs is None and reader.is_mapped:  # the state of a resumed run may have the mapped fields
        inputs = outputs
    if finished.run.kind == RETRIEVER:
        case = reader.case(inputs, outputs if reader.is_mapped else None, contexts=texts_of(outputs))
        return with_retrieved_ids(case, retrieved_ids(outputs))
    heard = tuple(map(_step, found.calls))
    passages = own_passages(found)
    outputs = with_executed_calls(outputs, found.calls)
    case = reader.case(inputs, outputs, contexts=passages, generator=found.model)
    changes: dict[str, object] = {}
    steps = (*steps_so_far(inputs, outputs), *heard)
    if len(steps) <= sum(step.tool is not None for step in case.trajectory):
        steps = case.trajectory
    # Otherwise, the run itself gave its contexts.
    if case.contexts in (passages, reader.evidence.contexts(case.trajectory)):
        changes["contexts"] = contexts_of_run(found, heard, steps, reader.evidence)
        reader.evidence.warn(steps)
    changes["trajectory"] = steps
    if case.answer is None and (text := _returned_directly(outputs)) is not None:
        changes["answer"] = text
    return case.model_copy(update=changes)


def _returned_directly(outputs: object) -> str | None:
    """Return the answer of a tool with ``return_direct=True``: its message is the last one of the run."""
    messages = outputs.get("messages") if isinstance(outputs, dict) else outputs
    last = messages[-1] if isinstance(messages, list) and messages else None
    return text_of_message(last) if role_of(last) == "tool" else None


def _step(call: ToolCall) -> Step:
    arguments = call.arguments
    failed = getattr(call.output, "status", None) == "error"
    output = None if call.error is not None else _output(call.output)
    return Step(
        tool=call.tool,
        arguments=arguments if isinstance(arguments, dict) else {"input": text_of(arguments) or ""},
        output=None if failed else output,
        error=output if failed else call.error,
        echo=is_verdict(getattr(call.output, "artifact", None)),
    )


def _output(output: object) -> str | None:
    return text_of_message(output) if role_of(output) == "tool" else text_of(output)
