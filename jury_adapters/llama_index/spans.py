"""Judging the runs of an application as they happen: queries, chats and agents, in the background.

    >>> watch = judge_runs(lambda case: "Paris" in case.answer, on_verdict=print)
    >>> watch.remove()

A run is judged once, after the user has its answer, and never waits for its judgment.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable
from functools import partial
from itertools import takewhile
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Unpack

from llama_index_instrumentation import get_dispatcher, root_manager
from llama_index_instrumentation.base import BaseEvent
from llama_index_instrumentation.dispatcher import active_instrument_tags
from llama_index_instrumentation.span import BaseSpan
from llama_index_instrumentation.span_handlers import BaseSpanHandler
from pydantic import PrivateAttr

from jury_adapters.core.background.counts import Outcome
from jury_adapters.core.background.docket import Docket
from jury_adapters.core.background.options import MAX_OPEN, DocketOptions, WatchOptions
from jury_adapters.core.background.telling import sinks_of
from jury_adapters.core.background.watch import RunWatch, docket_of
from jury_adapters.core.case import Case
from jury_adapters.core.context import change_context, run_context
from jury_adapters.core.evidence import EvidenceTools
from jury_adapters.core.field_map import FieldMapLike
from jury_adapters.core.given import JudgeLike
from jury_adapters.core.judge import Judge
from jury_adapters.core.judgment import Judgment
from jury_adapters.core.runs import JudgedRun, Run, ending_of
from jury_adapters.core.secrets import error_text
from jury_adapters.llama_index.engines import Engines, wanted_engines
from jury_adapters.llama_index.roots import (
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
from jury_adapters.llama_index.run_cases import RunCases

if TYPE_CHECKING:
    from jury_adapters.llama_index.runs import Asked
    from jury_adapters.llama_index.streams import Ending

_log = logging.getLogger(__name__)


def judge_runs(
    judge: JudgeLike,
    *,
    engines: Engines | None = None,
    events: bool = False,
    evidence_tools: EvidenceTools = None,
    field_map: FieldMapLike | None = None,
    **options: Unpack[WatchOptions],
) -> JurySpanHandler:
    """Judge every query, chat and agent run of this process from now on.

    As a plain call it stays attached until :meth:`JurySpanHandler.remove` or :meth:`JurySpanHandler.close`; at the end
    of the process what is pending is still judged. As a context manager, also with ``async with``, it detaches at the
    end of the block and waits for the verdicts, ``exit_timeout`` seconds at most.

    Args:
        judge: any judge: a jury, a critic, a check, a function of a case.
        engines: which runs to judge; see :class:`JurySpanHandler`.
        events: also emit a :class:`JuryVerdictEvent` per judged run, for other handlers to see.
        evidence_tools: the tools of an agent whose outputs are contexts; see :class:`JurySpanHandler`.
        field_map: where the fields of a case are in what a run was given and gave; see :class:`JurySpanHandler`.
        **options: those of :class:`JurySpanHandler`: ``max_open``, ``on_verdict``, ``on_error``, ``sample``,
            ``max_pending``, ``max_concurrency``, ``store``, ``budget``, ``exit_timeout``.

    Raises:
        ConfigurationError: an option is out of its range.
    """
    handler = JurySpanHandler(
        judge, engines=engines, events=events, evidence_tools=evidence_tools, field_map=field_map, **options
    )
    get_dispatcher().add_span_handler(handler)
    return handler


class JuryVerdictEvent(BaseEvent):
    """A run was judged. Its ``span_id`` and ``tags`` are those of the run.

    Attributes:
        judgment: the judgment; a Verdict when the judge is a jury.
        case: what was judged.
        run: the run.
    """

    judgment: Judgment
    case: Case | None
    run: Run

    @classmethod
    def class_name(cls) -> str:
        return "JuryVerdictEvent"


class JurySpanHandler(RunWatch, BaseSpanHandler[BaseSpan]):  # type: ignore[misc]  # `close` of both
    """Watches LlamaIndex and has each root run judged in the background; :func:`judge_runs` attaches it.

    * A run inside another run (an engine behind a router, behind a tool of an agent, a retry) is part of that run.
    * What a judge of ours does, and everything inside ``with jury_adapters.core.context.judging():``, is left alone.
      LlamaIndex's own evaluators are queries like any other: put them into that block, or use ``engines=``.
    * Streams are judged when they have been read to the end. One that the user leaves early is counted as
      ``abandoned`` and not judged: nobody has the answer that would be judged.
    * A run that raises is FAIL, and the judge is not asked; one that is cancelled is counted and not judged.
    * The same judge attached twice judges a run once: the handler that was attached last does it.

    Args:
        judge: any judge, or a function of a case.
        engines: which runs to judge. Kinds (``"query"``, ``"chat"``, ``"agent"``, ``"workflow"``, ``"retriever"``),
            classes, names of classes (subclasses count), or a function of the engine and the name of the method called
            on it. Default: all query engines, chat engines and agents. Other workflows, and retrievers that no engine
            calls, are judged only when this option names them; the queries inside an unnamed workflow are runs of
            their own. The nodes of a retriever are the contexts of a case without an answer. What this option leaves
            out is counted as ``skipped``; a name that no class has yet draws a warning, since it may be misspelt.
        events: emit a :class:`JuryVerdictEvent` per judged run.
        max_open: how many runs may be under way at once; a further one makes the handler forget the oldest, counted
            as evicted.
        evidence_tools: the tools of an agent whose outputs are contexts: names, or a predicate of a step; by default
            all but those known to repeat what the model wrote. See :class:`jury_adapters.core.evidence.Evidence`.
        field_map: as in :meth:`jury_adapters.Case.from_row`, of a row with ``inputs`` and ``outputs``: paths by field,
            ``{"answer": "outputs.metadata.text"}``, beside the fields that are read as always; or a function from the
            row to the case, called in the background. ``inputs`` are what the run was given, by name: ``query`` of an
            engine, ``message`` and ``chat_history`` of a chat, the keywords or the start event's fields of a workflow.
            ``outputs`` is what the run returned; of a stream a mapping with ``response`` (the answer),
            ``source_nodes``, ``sources`` and ``metadata``.
        **options: as for :class:`jury_adapters.Docket`.

    Raises:
        ConfigurationError: an option is out of its range.
    """

    _docket: Docket = PrivateAttr()
    _given: JudgeLike = PrivateAttr()
    _wanted: Callable[[object, str], bool] | None = PrivateAttr()
    _open: dict[str, OpenRun] = PrivateAttr(default_factory=dict)
    _streams: dict[str, OpenRun] = PrivateAttr(default_factory=dict)  # whose spans have ended
    _max_open: int = PrivateAttr()
    _cases: RunCases = PrivateAttr()
    _removed: bool = PrivateAttr(default=False)

    def __init__(
        self,
        judge: JudgeLike,
        *,
        engines: Engines | None = None,
        events: bool = False,
        max_open: int = MAX_OPEN,
        evidence_tools: EvidenceTools = None,
        field_map: FieldMapLike | None = None,
        **options: Unpack[DocketOptions],
    ) -> None:
        super().__init__(open_spans={}, completed_spans=[], dropped_spans=[], current_span_ids={})
        self._given = judge
        self._wanted = None if engines is None else wanted_engines(engines)
        self._cases = RunCases(field_map, evidence_tools)
        if events:
            options["on_verdict"] = (*sinks_of(options.get("on_verdict")), _emit)
        self._docket = docket_of(judge, max_open, ("engines", "events", "evidence_tools", "field_map"), **options)
        self._max_open = max_open
        # Asked for at each span of the application: pydantic takes a microsecond to find a private name, this none.
        vars(self).update(_open=self._open, _docket=self._docket, _wanted=self._wanted)

    @classmethod
    def class_name(cls) -> str:
        return "JurySpanHandler"

    @property
    def judge(self) -> Judge:
        """The judge."""
        return self._docket.judge

    @property
    def pending(self) -> int:
        """How many runs wait or are being judged."""
        return self._docket.pending

    def remove(self) -> None:
        """Detach: runs that begin or end from now on are not judged; those that have ended are.

        A stream that is being read is judged at its end, unless :meth:`close` comes first.
        """
        self._removed = True
        for dispatcher in tuple(root_manager.dispatchers.values()):
            if any(handler is self for handler in dispatcher.span_handlers):  # a new list: others may be walking it
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
        """Called by LlamaIndex when a span begins; nothing is kept of spans that are no root runs."""
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
        """Called by LlamaIndex when a span ends well, or was cancelled by its user."""
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
        """Called by LlamaIndex when a span ends with an exception."""
        if id_ in self._open:
            self._left(id_, partial(self._dropped, err))

    def capture_propagation_context(self) -> dict[str, Any]:
        """Called by LlamaIndex for a workflow that runs elsewhere: it is still inside this run, or this judge."""
        root = inside()
        return {_PROPAGATED: {"judging": run_context().judging, "inside": root.id if root is not None else None}}

    def restore_propagation_context(self, context: dict[str, Any]) -> None:
        """Called by LlamaIndex where such a workflow runs."""
        given = context.get(_PROPAGATED) or {}
        if given.get("judging"):
            change_context(judging=True)
        if given.get("inside") and inside() is None:
            INSIDE.set(Root(given["inside"], holders={0}))

    def _open_runs(self) -> int:
        return len(self._open) + len(self._streams)

    def _detach(self) -> None:
        self.remove()
        for id_ in tuple(self._streams):
            self._give_up(id_, "dropped")

    def _entered(self, id_: str, kind: str, arguments: inspect.BoundArguments, instance: object) -> None:
        name = id_[: id_.find("-")]
        method = name.rpartition(".")[2]
        if method not in METHODS[kind] or run_context().judging or id_ in self._open:
            return
        around = inside()
        seen = around is not None and around.id == id_  # another handler was told before us
        if around is not None and not seen and not around.is_beside():
            return
        wanted = self._claims(id_, kind, instance, method)
        if kind in ONLY_NAMED and not wanted:
            return
        root = around if around is not None and seen else Root(id_, task=starting_task(kind, arguments))
        root.holders.add(id(self))
        if self._open_runs() >= self._max_open:
            oldest = [one for runs in (self._open, self._streams) for one in tuple(runs.values())[:1]]
            self._give_up(min(oldest, key=attrgetter("started")).root.id, "evicted")
        token = None if seen else INSIDE.set(root)
        self._open[id_] = opened = OpenRun(root, kind, name, token, dict(active_instrument_tags.get()))
        if wanted:
            opened.asked = self._cases.asked(arguments)

    def _claims(self, id_: str, kind: str, instance: object, method: str) -> bool:
        """Whether this handler is to judge the run: it wants it, and none attached later with the same judge does.

        A run that it does not want is counted.
        """
        try:
            if not self._wants(kind, instance, method):
                if kind not in ONLY_NAMED:  # the queries inside a workflow are runs of their own
                    self._docket.count("skipped")
                return False
            later = tuple(takewhile(lambda one: one is not self, reversed(get_dispatcher().span_handlers)))
            return not any(
                isinstance(one, JurySpanHandler) and one._given is self._given and one._wants(kind, instance, method)
                for one in later
            )
        except Exception:  # a filter of the user's
            self._broke(id_)
            return False

    def _wants(self, kind: str, instance: object, method: str) -> bool:
        return kind not in ONLY_NAMED if self._wanted is None else bool(self._wanted(instance, method))

    def _left(self, id_: str, end: Callable[[OpenRun, Asked], bool]) -> None:
        """A span has ended; ``end`` says whether its run goes on all the same, as a stream does."""
        opened = self._open.pop(id_, None)
        if opened is None:
            return
        goes_on = False
        try:
            goes_on = opened.asked is not None and end(opened, opened.asked)
        except Exception:
            self._broke(id_)
        if not goes_on:
            opened.root.holders.discard(id(self))
        opened.leave()

    def _exited(self, result: object, opened: OpenRun, asked: Asked) -> bool:
        from jury_adapters.llama_index import runs, streams

        if opened.root.heard is None:
            opened.root.heard = runs.Heard()  # the model of a stream may be called as the stream is read
        heard = opened.root.heard
        if result is None and opened.kind not in ("agent", "workflow"):
            self._docket.count("unanswered")
        elif result is None:
            if opened.root.task is None:
                self._docket.count("cancelled")
            else:  # older workflows say no more of a run that failed
                case = self._cases.without_result(asked, heard)
                self._docket.offer(opened.run("the run ended without a result"), case)
        elif streams.watch(result, partial(self._read, opened, self._cases.of_stream(asked, heard, result))):
            self._streams[opened.root.id] = opened
            return True
        else:
            self._docket.offer(opened.run(), self._cases.of_result(asked, heard, result))
        return False

    def _read(self, opened: OpenRun, case: Callable[..., Case], ending: Ending) -> None:
        """End the run of a stream, read to its end or not; called by its reader or by the garbage collector."""
        if self._streams.pop(opened.root.id, None) is None:  # given up, and counted as such
            return
        opened.root.holders.discard(id(self))
        try:
            if ending.abandoned:
                self._docket.count("abandoned")
            elif ending.error is not None:
                self._failed(opened, case, ending.error)
            else:
                self._docket.offer(opened.run(), lambda: case(lambda: ending.answer))
        except Exception:
            self._broke(opened.root.id)

    def _dropped(self, error: BaseException | None, opened: OpenRun, asked: Asked) -> bool:
        self._failed(opened, self._cases.without_result(asked, opened.root.heard), error)
        return False

    def _failed(self, opened: OpenRun, case: Callable[[], Case], error: BaseException | None) -> None:
        ending = "cancelled" if error is None else ending_of(error)
        if ending == "failed" and error is not None:
            self._docket.offer(opened.run(error_text(error)), case)
        elif ending != "failed":
            self._docket.count(ending)

    def _give_up(self, id_: str, outcome: Outcome) -> None:
        opened = self._open.pop(id_, None) or self._streams.pop(id_, None)
        if opened is not None:
            opened.root.holders.discard(id(self))
            if opened.asked is not None:
                self._docket.count(outcome)

    def _broke(self, id_: str) -> None:
        self._docket.count("broken")
        _log.exception("watching run %s broke; the run itself goes on", id_)


def _emit(judged: JudgedRun) -> None:
    """Tell other handlers; a sink like any other, so it runs in a thread and cannot hold up the judging."""
    run = judged.run
    event = JuryVerdictEvent(
        judgment=judged.judgment, case=judged.case, run=run, span_id=run.id, tags={**run.tags, **run.metadata}
    )
    get_dispatcher(__name__).event(event)


_PROPAGATED = "jury_adapters"
