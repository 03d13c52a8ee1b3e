"""What the handlers of LangChain's events have in common: options, counts, and the way from a run to a case."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self, TypeAlias, Unpack

from jury_adapters.core.case import Case
from jury_adapters.core.case_parts import Step
from jury_adapters.core.conversation import is_verdict, role_of
from jury_adapters.core.docket import Docket, DocketOptions, Run
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.evidence import Evidence, EvidenceTools
from jury_adapters.core.given import JudgeLike, judge_of
from jury_adapters.core.loose_values import text_of, texts_of
from jury_adapters.langchain.collector import Chooser, Collector, FinishedRun, Found, ToolCall
from jury_adapters.langchain.fields import Fields, Part
from jury_adapters.sinks import note_span

_log = logging.getLogger(__name__)

Runs: TypeAlias = str | Sequence[str] | Callable[[Run], bool] | None
"""Which runs to judge: None for the roots, names or tags, or a function of the run."""


class WatchOptions(DocketOptions, total=False):
    """The options of :class:`RunWatcher`: its own, and those of its docket."""

    runs: Runs
    inputs: Part | None
    outputs: Part | None
    evidence_tools: EvidenceTools
    max_open: int


@dataclass(frozen=True, slots=True)
class RunCounts:
    """What became of the runs of an application so far.

    Attributes:
        judged: have a judgment, which every sink was given.
        pending: wait for their judgment, or are being judged.
        dropped: refused because ``max_pending`` others were waiting.
        unsampled: left out by ``sample=``.
        sink_errors: calls of a sink that raised.
        broken: not judged: an interrupt came out of the judge; logged.
        paused: not judged: stopped to ask a person, or ended with tool calls that nobody has answered.
        handed_over: not judged: agents that handed over to another one; the run around them is what has the answer.
        aborted: not judged: cancelled, or left by the one who was reading the stream.
        unanswered: not judged: ended without any output; an abandoned stream may look so too.
        evicted: not judged: forgotten because more than ``max_open`` runs were under way.
        open: under way.
    """

    judged: int
    pending: int
    dropped: int
    unsampled: int
    sink_errors: int
    broken: int
    paused: int
    handed_over: int
    aborted: int
    unanswered: int
    evicted: int
    open: int


class RunWatcher:
    """What both handlers have in common: the options, the counts, and the waiting for what is pending.

    Args:
        judge: the jury, any other judge, or a function of a case.
        runs: which runs to judge. None: each root, the outermost run that the handler hears of. Names or tags: the
            runs of that name, and the outermost runs with that tag (LangChain hands tags down to all runs inside).
            A function of the :class:`Run` as it starts: the outermost runs for which it is true.
        inputs: where in what a run takes the question is; see :class:`jury_adapters.langchain.fields.Fields`.
        outputs: where in what it gives the answer is.
        evidence_tools: the tools whose outputs, and the documents retrieved in them, are contexts: names, or a
            predicate of a step; by default all but those known to repeat what the model wrote. See
            :class:`jury_adapters.core.evidence.Evidence`.
        max_open: how many runs may be under way at once; a further one makes the oldest one be forgotten, counted
            as evicted.
        **options: as for :class:`jury_adapters.core.docket.Docket`: ``on_verdict``, ``on_error``, ``sample``,
            ``max_pending``, ``max_concurrency``, ``store``, ``budget``, ``exit_timeout``.

    Raises:
        ConfigurationError: an option is out of its range.
    """

    raise_error = False
    # What is done here takes microseconds. Inline, events come in order, and no thread of the loop's is needed.
    run_inline = True

    def __init__(
        self,
        judge: JudgeLike,
        *,
        runs: Runs = None,
        inputs: Part | None = None,
        outputs: Part | None = None,
        evidence_tools: EvidenceTools = None,
        max_open: int = 5_000,
        **options: Unpack[DocketOptions],
    ) -> None:
        if isinstance(max_open, bool) or not isinstance(max_open, int) or max_open < 1:
            raise ConfigurationError(f"max_open is a whole number from 1, not {max_open!r}")
        self._fields = Fields(inputs=inputs, outputs=outputs, evidence_tools=evidence_tools)
        self._docket = Docket.with_options(judge_of(judge), _OWN, **options)
        self._collector = Collector(_chooser(runs), self._put_on_docket, max_open=max_open)
        self._exit_timeout = options.get("exit_timeout", 10.0)

    @property
    def ignore_retry(self) -> bool:
        return True

    @property
    def ignore_custom_event(self) -> bool:
        return True

    @property
    def counts(self) -> RunCounts:
        """What became of the runs so far."""
        judged, rest = self._docket.counts, self._collector.tally()
        return RunCounts(
            judged=judged.judged,
            pending=self._docket.pending,
            dropped=judged.dropped,
            unsampled=judged.unsampled,
            sink_errors=judged.sink_errors,
            broken=judged.broken,
            paused=rest.paused,
            handed_over=rest.handed_over,
            aborted=rest.aborted,
            unanswered=rest.unanswered,
            evicted=rest.evicted,
            open=self._collector.open,
        )

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until every run that has ended is judged; at most ``timeout`` seconds. Say whether all are."""
        return self._docket.flush(timeout)

    async def aflush(self, timeout: float | None = None) -> bool:
        """:meth:`flush` for asynchronous code."""
        return await self._docket.aflush(timeout)

    def close(self, timeout: float | None = 10.0) -> bool:
        """Judge no further runs, and wait for those pending; say whether all were judged."""
        return self._docket.close(timeout)

    async def aclose(self, timeout: float | None = 10.0) -> bool:
        """:meth:`close` for asynchronous code."""
        return await self._docket.aclose(timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close(self._exit_timeout)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.aclose(self._exit_timeout)

    def __copy__(self) -> Self:
        return self  # a copied config still reports to one and the same docket

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def _put_on_docket(self, finished: FinishedRun) -> None:
        note_span(finished.metadata)
        self._docket.offer(finished.run, lambda: case_of(finished, self._fields))


def case_of(finished: FinishedRun, fields: Fields) -> Case:
    """Return the case of a finished run.

    Its contexts are the documents that were retrieved, and the outputs of the other tools that are evidence.

    Raises:
        InputError: a name or path of the mapping leads nowhere.
        Exception: whatever a function of the mapping, or the predicate of the evidence, raises.
    """
    found, inputs, outputs = finished.found, finished.inputs, finished.outputs
    if _resumes(inputs):  # the question is in the thread, or in the state, that the run went on with
        inputs = outputs
    heard = tuple(map(_step, found.calls))
    passages = _passages(found, heard, fields.evidence)
    if finished.run.kind == "retriever":
        return fields.case(inputs, None, contexts=texts_of(outputs))
    case = fields.case(inputs, outputs, contexts=passages, generator=found.model)
    changes: dict[str, object] = {}
    steps = heard if len(heard) > sum(step.tool is not None for step in case.trajectory) else case.trajectory
    outputs_of = fields.evidence.contexts
    if case.contexts in (passages, outputs_of(case.trajectory)):  # else the run itself has said what they are
        told = {step.output for step, call in zip(heard, found.calls, strict=True) if call.documents}
        changes["contexts"] = (*passages, *(text for text in outputs_of(steps) if text not in told))
    changes["trajectory"] = steps
    if case.answer is None and (text := _returned_directly(outputs)) is not None:
        changes["answer"] = text
    return case.model_copy(update=changes)


def _passages(found: Found, heard: Sequence[Step], evidence: Evidence) -> tuple[str, ...]:
    """The texts of the retrieved documents; of those retrieved in a tool only where the tool's output is evidence."""
    texts = [text for document in found.documents for text in texts_of(document)]
    for call, step in zip(found.calls, heard, strict=True):
        inside = [text for document in call.documents for text in texts_of(document)]
        if inside and evidence.accepts(step.model_copy(update={"output": "\n\n".join(inside)})):
            texts += inside
    return tuple(dict.fromkeys(texts))


def _resumes(inputs: object) -> bool:
    """Whether a LangGraph run went on from a checkpoint: it was given nothing, or a Command."""
    return inputs is None or (type(inputs).__name__ == "Command" and hasattr(inputs, "resume"))


def _returned_directly(outputs: object) -> str | None:
    """What a tool with ``return_direct=True`` said: the run ends with its message, and that is the answer."""
    messages = outputs.get("messages") if isinstance(outputs, dict) else outputs
    last = messages[-1] if isinstance(messages, list) and messages else None
    return text_of(getattr(last, "content", None)) if role_of(last) == "tool" else None


def _step(call: ToolCall) -> Step:
    arguments = call.arguments
    failed = getattr(call.output, "status", None) == "error"
    output = None if call.error is not None else text_of(getattr(call.output, "content", call.output))
    return Step(
        tool=call.tool,
        arguments=arguments if isinstance(arguments, dict) else {"input": text_of(arguments) or ""},
        output=None if failed else output,
        error=output if failed else call.error,
        echo=is_verdict(getattr(call.output, "artifact", None)),
    )


def _chooser(runs: Runs) -> Chooser:
    if runs is None:
        return lambda run, around, inside: around is None
    if callable(runs):
        return _asking(runs)
    names = frozenset((runs,) if isinstance(runs, str) else runs)
    if not names or not all(isinstance(name, str) and name for name in names):
        raise ConfigurationError(f"runs= takes names or tags of runs, a function of the run, or None; not {runs!r}")

    def chosen(run: Run, around: Run | None, inside: bool) -> bool:
        if run.name in names:  # a graph's node and the agent in it have one name, and are one answer
            return around is None or around.name != run.name
        tags = names & run.tags.keys()
        return bool(tags if around is None else tags - around.tags.keys())

    return chosen


def _asking(wanted: Callable[[Run], bool]) -> Chooser:
    failures = 0

    def chosen(run: Run, around: Run | None, inside: bool) -> bool:
        nonlocal failures
        if inside:
            return False
        try:
            return bool(wanted(run))
        except Exception:
            failures += 1
            if failures & (failures - 1) == 0:  # the 1st, 2nd, 4th, 8th...
                _log.exception("runs= raised for run %s, which is not judged", run.id)
            return False

    return chosen


_OWN = ("runs", "inputs", "outputs", "evidence_tools", "max_open")
