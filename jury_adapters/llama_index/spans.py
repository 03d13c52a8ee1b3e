"""Judging of an application's runs in the background: queries, chats and agents.

    >>> handler = JurySpanHandler(lambda case: "Paris" in case.answer, on_verdict=print).attach()
    >>> handler.remove()

A run is judged once, after the user has its answer, and never waits for its judgment.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable
from functools import partial
from itertools import takewhile
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Self, Unpack

from llama_index_instrumentation import get_dispatcher, root_manager
from llama_index_instrumentation.dispatcher import active_instrument_tags
from llama_index_instrumentation.span import BaseSpan
from llama_index_instrumentation.span_handlers import BaseSpanHandler
from pydantic import PrivateAttr

from jury_adapters.core.background.counts import Counts, Outcome
from jury_adapters.core.background.judge_queue import JudgeQueue
from jury_adapters.core.background.options import MAX_OPEN, JudgeQueueOptions
from jury_adapters.core.background.shown_options import shows_options_of
from jury_adapters.core.background.sink_calls import sinks_of
from jury_adapters.core.background.watch import RunWatch, queue_of
from jury_adapters.core.case import Case
from jury_adapters.core.context import change_context, run_context
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.evidence import EvidenceTools
from jury_adapters.core.field_map import FieldMapLike
from jury_adapters.core.judge import Judge
from jury_adapters.core.judge_like import JudgeLike
from jury_adapters.core.runs import ending_of
from jury_adapters.core.secrets import error_text
from jury_adapters.llama_index.engines import Engines, wanted_engines
from jury_adapters.llama_index.run_cases import RunCases
from jury_adapters.llama_index.run_tracking import (
    INPUT_STEP,
    INSIDE,
    METHODS,
    ONLY_NAMED,
    OpenRun,
    Root,
    inside,
    kind_of,
    note_input,
    note_model,
    starting_task,
)
from jury_adapters.llama_index.verdict_events import emit

if TYPE_CHECKING:
    from jury_adapters.llama_index.runs import Asked
    from jury_adapters.llama_index.streams import Ending

_log = logging.getLogger(__name__)


@shows_options_of(JudgeQueue)
class JurySpanHandler(RunWatch, BaseSpanHandler[BaseSpan]):  # type: ignore[misc]  # `close` of both
    """Span handler that has each root run judged in the background.

    :meth:`attach` makes it judge until :meth:`remove` or :meth:`close`; at the end of the process, pending runs are
    still judged. For a block of code, use :class:`judge_runs`.

    * A run inside another run (an engine behind a router, behind a tool of an agent, a retry) is part of that run. Only
      a retriever that ``select=`` chooses is judged by itself where the run around it is not judged.
    * The runs of this package's judges are ignored, and so is everything inside
      ``with jury_adapters.core.context.judging():``. LlamaIndex's own evaluators are queries like any other: put them
      into that block, or use ``select=``.
    * Streams are judged when they have been read to the end. A stream that the user leaves early is counted as
      ``abandoned`` and not judged, because its answer is incomplete.
    * A run that raises is FAIL, and the judge is not asked; one that is cancelled is counted and not judged.
    * A run whose answer is the refusal of a :class:`JuryGuardQueryEngine` is counted as ``skipped``. The run's
      ``metadata["guard"]`` is the outcome of the guard in it. Of several guarded answers it is the gravest outcome, and
      ``metadata["guards"]`` has those of all.
    * If the same judge is attached twice, it judges a run once: the handler that was attached last does it. The other
      one does not count the run or call its ``on_verdict``; the log warns of it once.

    Args:
        jury: any judge, or a function of a case.
        select: the runs to judge: kinds (``"query"``, ``"chat"``, ``"agent"``, ``"workflow"``, ``"retriever"``),
            classes, names of classes (subclasses count), or a function of the engine and the name of the method called
            on it. Default: all query engines, chat engines and agents. Other workflows, and retrievers, are judged
            only if this option chooses them; the queries inside an unnamed workflow are runs of their own. The nodes of
            a retriever are the contexts of a case without an answer, and their ids its ``metadata["retrieved_ids"]``.
            Runs that this option excludes, and in which no retriever is judged, are counted as ``skipped``; an unknown
            class name causes a warning, since it may be misspelt.
        events: whether to emit a :class:`JuryVerdictEvent` per judged run, for LlamaIndex's event handlers.
        max_open: the maximum number of runs under way; a further one drops the oldest, which is counted as evicted.
        evidence_tools: the tools of an agent whose outputs are contexts: names, or a predicate of a step; by default
            all but those known to repeat what the model wrote. See :class:`jury_adapters.core.evidence.Evidence`.
        field_map: as in :meth:`jury_adapters.Case.from_row`, applied to a row with ``inputs`` and ``outputs``: paths by
            field, ``{"answer": "outputs.metadata.text"}``, in addition to the fields that are always read; or a
            function from the row to the case, called in the background. ``inputs`` are the arguments of the run by
            name: ``query`` of an engine, ``message`` and ``chat_history`` of a chat, the keywords or the start event's
            fields of a workflow. ``outputs`` is the return value of the run, or for a stream a mapping with
            ``response`` (the answer), ``source_nodes``, ``sources`` and ``metadata``.
        **options: as for :class:`jury_adapters.JudgeQueue`.

    Raises:
        ConfigurationError: an option is out of range.
    """

    _queue: JudgeQueue = PrivateAttr()
    _given: JudgeLike = PrivateAttr()
    _wanted: Callable[[object, str], bool] | None = PrivateAttr()
    _open: dict[str, OpenRun] = PrivateAttr(default_factory=dict)
    _streams: dict[str, OpenRun] = PrivateAttr(default_factory=dict)  # runs whose spans have ended
    _max_open: int = PrivateAttr()
    _cases: RunCases = PrivateAttr()
    _removed: bool = PrivateAttr(default=False)
    _replaced: bool = PrivateAttr(default=False)  # by a later handler, as the log says
    _workflow: str = PrivateAttr(default="")  # the first workflow that is not judged by default

    def __init__(
        self,
        jury: JudgeLike,
        *,
        select: Engines | None = None,
        events: bool = False,
        max_open: int = MAX_OPEN,
        evidence_tools: EvidenceTools = None,
        field_map: FieldMapLike | None = None,
        **options: Unpack[JudgeQueueOptions],
    ) -> None:
        super().__init__(open_spans={}, completed_spans=[], dropped_spans=[], current_span_ids={})
        self._given = jury
        self._wanted = None if select is None else wanted_engines(select)
        self._cases = RunCases(field_map, evidence_tools)
        if events:
            options["on_verdict"] = (*sinks_of(options.get("on_verdict")), emit)
        self._queue = queue_of(jury, max_open, ("select", "events", "evidence_tools", "field_map"), **options)
        self._max_open = max_open
        # Read at each span of the application: pydantic takes a microsecond to find a private name.
        vars(self).update(_open=self._open, _queue=self._queue, _wanted=self._wanted)

    @classmethod
    def class_name(cls) -> str:
        return "JurySpanHandler"

    @property
    def judge(self) -> Judge:
        """Judge of the runs."""
        return self._queue.judge

    @property
    def pending(self) -> int:
        """Number of runs that wait or are being judged."""
        return self._queue.pending

    def attach(self) -> Self:
        """Judge the runs of this process that begin from now on, and return the handler.

        Raises:
            ConfigurationError: the handler was removed or closed before.
        """
        if self._removed:
            raise ConfigurationError("this handler was removed or closed; create another one")
        root = get_dispatcher()
        if not any(handler is self for handler in root.span_handlers):
            root.add_span_handler(self)
        return self

    def remove(self) -> None:
        """Detach the handler: runs that begin or end from now on are not judged; runs that have ended are.

        A stream that is being read is judged at its end, unless :meth:`close` comes first.
        """
        self._removed = True
        for dispatcher in tuple(root_manager.dispatchers.values()):
            if any(handler is self for handler in dispatcher.span_handlers):  # a new list: others may iterate over it
                dispatcher.span_handlers = [one for one in dispatcher.span_handlers if one is not self]
        for id_ in tuple(self._open):
            self._give_up(id_, "dropped")

    def new_span(
        self,
        id_: str,
        bound_args: inspect.BoundArguments,
        instance: Any | None = None,
        parent_span_id: str | None = None,
        tags: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Handle the start of a span, called by LlamaIndex; spans that are not root runs are not recorded."""
        try:
            kind = kind_of(type(instance))
            if kind == "llm":
                note_model(instance, bound_args)
            elif INPUT_STEP in id_:
                note_input(bound_args)
            elif kind and not self._removed:
                self._entered(id_, kind, bound_args, instance)
        except Exception:
            self._broke(id_)

    def prepare_to_exit_span(
        self,
        id_: str,
        bound_args: inspect.BoundArguments,
        instance: Any | None = None,
        result: Any | None = None,
        **kwargs: Any,
    ) -> None:
        """Handle the end of a span that succeeded or was cancelled, called by LlamaIndex."""
        if id_ in self._open:
            self._left(id_, partial(self._exited, result))

    def prepare_to_drop_span(
        self,
        id_: str,
        bound_args: inspect.BoundArguments,
        instance: Any | None = None,
        err: BaseException | None = None,
        **kwargs: Any,
    ) -> None:
        """Handle the end of a span with an exception, called by LlamaIndex."""
        if id_ in self._open:
            self._left(id_, partial(self._dropped, err))

    def capture_propagation_context(self) -> dict[str, Any]:
        """Return what marks a workflow that runs elsewhere as part of this run or judge, called by LlamaIndex."""
        root = inside()
        return {_PROPAGATED: {"judging": run_context().judging, "inside": root.id if root is not None else None}}

    def restore_propagation_context(self, context: dict[str, Any]) -> None:
        """Mark the context of a workflow that runs elsewhere, called by LlamaIndex."""
        given = context.get(_PROPAGATED) or {}
        if given.get("judging"):
            change_context(judging=True)
        if given.get("inside") and inside() is None:
            INSIDE.set(Root(given["inside"], holders={_ELSEWHERE}))

    def _open_runs(self) -> int:
        return len(self._open) + len(self._streams)

    def _detach(self) -> None:
        self.remove()
        for id_ in tuple(self._streams):
            self._give_up(id_, "dropped")
        if self._workflow and self._queue.counts == Counts():
            _log.warning('nothing was judged: %s is a workflow, which select="workflow" judges', self._workflow)
            self._workflow = ""

    def _entered(self, id_: str, kind: str, arguments: inspect.BoundArguments, instance: object) -> None:
        name = id_[: id_.find("-")]
        method = name.rpartition(".")[2]
        if method not in METHODS[kind] or run_context().judging or id_ in self._open:
            return
        around = inside()
        seen = around is not None and around.id == id_  # another handler saw the span first
        outer = None if around is None else around.parent if seen else None if around.is_beside() else around
        if outer is not None and (kind != "retriever" or self._holds(outer)):
            return
        wanted, outcome = self._claims(id_, kind, instance, method)
        for one in () if outer is None else outer.chain():
            if one.id in self._open:
                self._open[one.id].note_retriever(outcome, judged=wanted)
        if kind in ONLY_NAMED and not wanted:
            if outcome == "broken" and outer is None:
                self._queue.count(outcome)
            elif kind == "workflow" and self._wanted is None:
                self._workflow = self._workflow or name
            return
        root = around if around is not None and seen else Root(id_, task=starting_task(kind, arguments), parent=outer)
        root.holders.add(id(self))
        if self._open_runs() >= self._max_open:
            oldest = [one for runs in (self._open, self._streams) for one in tuple(runs.values())[:1]]
            self._give_up(min(oldest, key=attrgetter("started")).root.id, "evicted")
        token = None if seen else INSIDE.set(root)
        self._open[id_] = opened = OpenRun(root, kind, name, token, dict(active_instrument_tags.get()))
        opened.outcome = outcome
        if wanted:
            opened.asked = self._cases.asked(arguments)

    def _holds(self, root: Root) -> bool:
        """Whether a run, or one around it, is to be judged by this handler, or runs elsewhere, where it may be."""
        opened = [(one, self._open.get(one.id) or self._streams.get(one.id)) for one in root.chain()]
        return any(_ELSEWHERE in one.holders if run is None else run.asked is not None for one, run in opened)

    def _claims(self, id_: str, kind: str, instance: object, method: str) -> tuple[bool, Outcome | None]:
        """Return whether this handler is to judge the run, and if it is not, what to count.

        Nothing is to be counted if a handler that was attached later with the same judge wants it, too.
        """
        try:
            if not self._wants(kind, instance, method):
                return False, "skipped"
            later = tuple(takewhile(lambda one: one is not self, reversed(get_dispatcher().span_handlers)))
            replaced = any(
                isinstance(one, JurySpanHandler) and one._given is self._given and one._wants(kind, instance, method)
                for one in later
            )
            if replaced and not self._replaced:
                self._replaced = True
                _log.warning(_REPLACED, self.judge.name or type(self.judge).__name__)
            return not replaced, None
        except Exception:  # from a filter of the application
            _log.exception(_BROKE, id_)
            return False, "broken"

    def _wants(self, kind: str, instance: object, method: str) -> bool:
        return kind not in ONLY_NAMED if self._wanted is None else bool(self._wanted(instance, method))

    def _left(self, id_: str, end: Callable[[OpenRun, Asked], bool]) -> None:
        """Handle the end of a span; ``end`` returns whether its run continues all the same, as a stream does."""
        opened = self._open.pop(id_, None)
        if opened is None:
            return
        goes_on = False
        try:
            goes_on = opened.asked is not None and end(opened, opened.asked)
        except Exception:
            self._broke(id_)
        if opened.outcome is not None:
            self._queue.count(opened.outcome)
        if not goes_on:
            opened.root.holders.discard(id(self))
        opened.leave()

    def _exited(self, result: object, opened: OpenRun, asked: Asked) -> bool:
        from jury_adapters.llama_index import runs, streams

        if opened.root.heard is None:
            opened.root.heard = runs.Heard()  # the model of a stream may be called while the stream is read
        heard = opened.root.heard
        if result is None and opened.kind not in ("agent", "workflow"):
            self._queue.count("unanswered")
        elif result is None:
            if opened.root.task is None:
                self._queue.count("cancelled")
            else:  # older workflows give no other sign of a run that failed
                case = self._cases.without_result(asked, heard)
                self._queue.put(case, run=opened.run("the run ended without a result"))
        elif streams.watch(result, partial(self._read, opened, self._cases.of_stream(asked, heard, result))):
            self._streams[opened.root.id] = opened
            return True
        elif opened.root.is_refusal(result):
            self._queue.count("skipped")
        else:
            self._queue.put(self._cases.of_result(asked, heard, result), run=opened.run())
        return False

    def _read(self, opened: OpenRun, case: Callable[..., Case], ending: Ending) -> None:
        """End the run of a stream, read to its end or not; called by its reader or by the garbage collector."""
        if self._streams.pop(opened.root.id, None) is None:  # it was given up, and counted as such
            return
        opened.root.holders.discard(id(self))
        try:
            if ending.abandoned:
                self._queue.count("abandoned")
            elif ending.error is not None:
                self._failed(opened, case, ending.error)
            elif opened.root.is_refusal(ending.answer):
                self._queue.count("skipped")
            else:
                self._queue.put(lambda: case(lambda: ending.answer), run=opened.run())
        except Exception:
            self._broke(opened.root.id)

    def _dropped(self, error: BaseException | None, opened: OpenRun, asked: Asked) -> bool:
        self._failed(opened, self._cases.without_result(asked, opened.root.heard), error)
        return False

    def _failed(self, opened: OpenRun, case: Callable[[], Case], error: BaseException | None) -> None:
        ending = "cancelled" if error is None else ending_of(error)
        if ending == "failed" and error is not None:
            self._queue.put(case, run=opened.run(error_text(error)))
        elif ending != "failed":
            self._queue.count(ending)

    def _give_up(self, id_: str, outcome: Outcome) -> None:
        opened = self._open.pop(id_, None) or self._streams.pop(id_, None)
        if opened is not None:
            opened.root.holders.discard(id(self))
            if opened.asked is not None or opened.outcome is not None:
                self._queue.count(opened.outcome or outcome)

    def _broke(self, id_: str) -> None:
        self._queue.count("broken")
        _log.exception(_BROKE, id_)


_PROPAGATED = "jury_adapters"
_BROKE = "watching run %s broke; the run itself goes on"
_REPLACED = (
    "the judge %s is attached twice: only the handler that was attached last judges a run that both select; "
    "the counts and on_verdict of the other one leave it out"
)
_ELSEWHERE = 0  # the holder of a run in another process or context; no handler has this id
