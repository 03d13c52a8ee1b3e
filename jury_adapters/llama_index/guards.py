"""Query engine whose answers a jury checks before they are returned."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final, Literal, get_args

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.response.schema import RESPONSE_TYPE, AsyncStreamingResponse, StreamingResponse
from llama_index.core.callbacks import CallbackManager
from llama_index.core.prompts.mixin import PromptMixinType
from llama_index.core.schema import NodeWithScore, QueryBundle

from jury_adapters.core import event_loop
from jury_adapters.core.arguments import explains_wrong_calls
from jury_adapters.core.background.sink_calls import sinks_of
from jury_adapters.core.case import Case
from jury_adapters.core.context import judging
from jury_adapters.core.errors import ConfigurationError, plain_repr
from jury_adapters.core.field_map import FieldMapLike, field_map_of
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.mapped_case import mapped_case
from jury_adapters.core.runs import Sink
from jury_adapters.core.undecided import OnUndecided, is_undecided, is_unreviewed
from jury_adapters.core.unmet_fields import unmet_fields
from jury_adapters.llama_index.attempts import Attempt, Outcome, marked, merit, outcome_of, refused
from jury_adapters.llama_index.guard_parts import (
    JurorLike,
    evaluator_of,
    log_errors,
    whole_number,
    why_undecided,
)
from jury_adapters.llama_index.response_images import asked_with, images_of, node_images
from jury_adapters.llama_index.responses import atext_of, contexts_of, text_of
from jury_adapters.llama_index.retries import asking_again, searching_by
from jury_adapters.llama_index.run_tracking import note_guard
from jury_adapters.llama_index.runs import outputs_of_stream

OnFail = Literal["block", "best", "annotate"]

REFUSAL = "[No answer: a review found that the answer to this question was not good enough to show.]"
UNREVIEWED = "[No answer: the answer to this question could not be reviewed.]"

_log = logging.getLogger(__name__)
_NOT_OF_ANSWERS: Final = ("reference", "candidates", "trajectory", "messages")
_OUTCOMES: Mapping[OnFail, Outcome] = {"block": "blocked", "best": "best", "annotate": "annotated"}


class JuryGuardQueryEngine(BaseQueryEngine):
    """Query engine that judges each answer of another query engine before the user gets it.

    An answer that passes is returned unchanged, and so is one without a decision by default. On FAIL the engine is
    asked again, with the jury's feedback on the rejected answer; after ``max_retries`` more tries, ``on_fail`` applies.
    The jury sees the user's question, the contexts as the writer saw them, and the answer. Answers to parts of the
    question, such as those of a ``SubQuestionQueryEngine``, are not contexts beside the passages behind them. A stream
    is read to its end before it is judged, so the first token is delayed; it can still be read as a stream. The refusal
    that replaces a stream is a stream, too.

    In a retry, engines that retrieve and then write (``index.as_query_engine()``, ``RetrieverQueryEngine``,
    ``CitationQueryEngine``, and ``TransformQueryEngine`` around these) retrieve and rerank by the user's question
    alone, and the feedback goes to the writer. Other engines (``CustomQueryEngine``, routers,
    ``SubQuestionQueryEngine``, and classes with a ``_query`` of their own) get one text: the question, the rejected
    answer and the review. They may search by it; ``QueryBundle.embedding_strs`` is still the question alone.

    Every response has ``metadata["jury"]``: ``outcome`` (``"passed"``, ``"blocked"``, ``"best"``, ``"annotated"``,
    ``"unjudged"``), ``attempts``, and ``verdicts``, one per attempt, as JSON values that
    ``jury_adapters.core.serial.judgment_from_dict`` reads back. The verdict of an answer that the user does not get
    comes without its texts, since they may quote the answer; ``on_verdict`` gets all of it. A refusal keeps the source
    nodes and the other metadata of the last attempt unchanged. The refusal of a guard inside the engine is not judged
    again: it is returned as it is, and in a retry it ends the retries. :class:`JurySpanHandler` and ``judge_runs`` do
    not judge a refusal: it counts as ``skipped``.

    Args:
        query_engine: the engine to guard.
        jury: the judge, preferably for faithfulness; a :class:`JuryEvaluator` with its store and budget; or a function.
        max_retries: the maximum number of times that the engine is asked again.
        on_fail: the action if every attempt failed: ``"block"`` (default) returns ``refusal`` instead of the answer;
            ``"best"`` the closest attempt, ``"annotate"`` the last one, both with the failure in their metadata.
        refusal: the text of a refusal. The default says that a review found the answer not good enough, or that the
            answer could not be reviewed, where no juror found a fault.
        on_undecided: the action if the jury abstains or fails (ABSTAIN, ERROR). ``"allow"`` (default) fails open:
            the answer is returned, marked ``"unjudged"``. ``"block"`` fails closed: ``refusal`` is returned. The engine
            is not asked again, because there is no fault to name. If the option is given, it also decides about a FAIL
            that only failed jurors caused; by default such a FAIL is one. So by default, two models of which one is
            down block every answer, and with both down every answer is returned.
        field_map: as in :meth:`jury_adapters.Case.from_row`, applied to a row with ``inputs`` and ``outputs``: paths by
            field, ``{"contexts": "outputs.metadata.passages"}``, in addition to the fields that are always read; or a
            function from the row to the case. ``inputs`` has the ``query``; ``outputs`` is the response, or for a
            stream a mapping with ``response``, ``source_nodes`` and ``metadata``. A map that cannot be read is an
            ERROR.
        on_verdict: called with each judged attempt, as a :class:`jury_adapters.results.JudgedRun`, before the query
            continues: one quick function or several, plain or asynchronous. ``run.metadata["attempt"]`` counts from 0.
            A report of the runs counts the attempts at one answer as one case.
        callback_manager: LlamaIndex's callbacks.

    Raises:
        ConfigurationError: an argument is invalid, or every judge in the jury needs a field that an answer does not
            come with, such as a reference or a second answer: it would judge no answer.

    >>> guarded = JuryGuardQueryEngine(index.as_query_engine(), jury, max_retries=2)  # doctest: +SKIP
    >>> guarded.query("Who wrote it?").metadata["jury"]["outcome"]  # doctest: +SKIP
    'passed'
    """

    @explains_wrong_calls(
        "JuryGuardQueryEngine(query_engine, jury, max_retries=1)",
        order="the engine and the jury come first, the rest by name",
        needs="the engine or the jury is missing",
    )
    def __init__(
        self,
        query_engine: BaseQueryEngine,
        jury: JurorLike,
        *,
        max_retries: int = 1,
        on_fail: OnFail = "block",
        refusal: str = REFUSAL,
        on_undecided: OnUndecided | None = None,
        field_map: FieldMapLike | None = None,
        on_verdict: Sink | Sequence[Sink] | None = None,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        if not isinstance(query_engine, BaseQueryEngine):
            raise ConfigurationError(
                f"JuryGuardQueryEngine guards a query engine (index.as_query_engine()), not "
                f"{type(query_engine).__name__}. Guard the engine that a chat engine or a tool asks, or judge the "
                "answer before you return it: await jury.ajudge(await ato_case(answer, query=question))"
            )
        if on_fail not in get_args(OnFail):
            raise ConfigurationError(f"on_fail is one of {', '.join(get_args(OnFail))}; not {plain_repr(on_fail)}")
        if on_undecided is not None and on_undecided not in get_args(OnUndecided):
            raise ConfigurationError(
                f"on_undecided is one of {', '.join(get_args(OnUndecided))}; not {plain_repr(on_undecided)}"
            )
        if not isinstance(refusal, str) or not refusal.strip():
            raise ConfigurationError("refusal is the text that replaces an answer; it cannot be empty")
        self._query_engine = query_engine
        self._evaluator = evaluator_of(jury)
        self._field_map = field_map_of(field_map)
        if missing := unmet_fields(self._evaluator.jury, _NOT_OF_ANSWERS, self._field_map):
            raise ConfigurationError(
                f"the judge needs {', '.join(missing)}, which an answer to a query does not come with, so it judges "
                'none. Take Critic(model, "faithfulness"), for example, or name the fields with field_map='
            )
        self._max_retries = whole_number(max_retries, "max_retries", 0)
        self._on_fail = on_fail
        self._refusal = refusal
        self._on_undecided = on_undecided
        self._sinks = sinks_of(on_verdict)
        super().__init__(callback_manager or query_engine.callback_manager)

    def _get_prompt_modules(self) -> PromptMixinType:
        return {"query_engine": self._query_engine, "evaluator": self._evaluator}

    def retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """Return the nodes that the guarded engine retrieves."""
        return self._query_engine.retrieve(query_bundle)

    def _query(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        attempts: list[Attempt] = []
        while self._asks(attempts):
            try:
                engine, query = self._next(query_bundle, attempts)
                response = engine.query(query)
                text = text_of(response)
            except Exception as error:
                self._broke(error, attempts)
                break
            if outcome_of(response) == "blocked":  # by a guard inside the engine
                if not attempts:
                    return response
                break
            case = self._case(query_bundle, text, response)
            verdict = case if isinstance(case, Judgment) else self._evaluator.judged(case)
            attempts.append(Attempt(response, text or "", None if isinstance(case, Judgment) else case, verdict))
            self._tell(attempts)
        return self._concluded(attempts)

    async def _aquery(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        attempts: list[Attempt] = []
        while self._asks(attempts):
            try:
                engine, query = self._next(query_bundle, attempts)
                response = await engine.aquery(query)
                text = await atext_of(response)
            except Exception as error:
                self._broke(error, attempts)
                break
            if outcome_of(response) == "blocked":  # by a guard inside the engine
                if not attempts:
                    return response
                break
            case = self._case(query_bundle, text, response)
            verdict = case if isinstance(case, Judgment) else await self._evaluator.ajudged(case)
            attempts.append(Attempt(response, text or "", None if isinstance(case, Judgment) else case, verdict))
            await self._atell(attempts)
        return self._concluded(attempts)

    def _case(self, asked: QueryBundle, text: str | None, response: object) -> Case | Judgment:
        if self._field_map is None:
            return self._plain_case(asked, text, response)
        streamed = isinstance(response, StreamingResponse | AsyncStreamingResponse)
        outputs = outputs_of_stream(response)(text) if streamed else response
        row = {"inputs": {"query": asked.query_str}, "outputs": outputs}
        try:
            plain = partial(self._plain_case, asked, text, response)
            return mapped_case(self._field_map, row, plain, self._evaluator.evidence)
        except Exception as error:  # from a function of the application
            return self._evaluator.jury.failure(error)

    def _plain_case(self, asked: QueryBundle, text: str | None, response: object) -> Case:
        contexts: tuple[str, ...] = ()
        images = node_images(asked_with(asked), "question")
        with log_errors("reading the contexts"):  # a judge that needs them abstains, and on_undecided decides
            contexts = contexts_of(response, evidence_tools=self._evaluator.evidence)
            images += images_of(response, evidence=self._evaluator.evidence)
        return Case(question=asked.query_str, answer=text, contexts=contexts, attachments=images)

    def _tell(self, attempts: Sequence[Attempt]) -> None:
        for answer in self._call_sinks(attempts):
            event_loop.run(_awaited, answer)

    async def _atell(self, attempts: Sequence[Attempt]) -> None:
        for answer in self._call_sinks(attempts):
            await _awaited(answer)

    def _call_sinks(self, attempts: Sequence[Attempt]) -> Iterator[Awaitable[object]]:
        """Call the sinks with the last attempt, and yield the results of the asynchronous ones to await."""
        judged = attempts[-1].judged_by(type(self._query_engine).__name__, len(attempts) - 1)
        for sink in self._sinks:
            answer: object = None
            with log_errors("on_verdict"), judging():
                answer = sink(judged)
            if inspect.isawaitable(answer):
                yield answer

    def _asks(self, attempts: Sequence[Attempt]) -> bool:
        """Whether the engine is asked, for the first time or again."""
        if not attempts:
            return True
        verdict = attempts[-1].verdict
        if verdict.status is Status.PASS or is_undecided(verdict, self._on_undecided):
            return False
        return len(attempts) <= self._max_retries

    def _next(self, asked: QueryBundle, attempts: Sequence[Attempt]) -> tuple[BaseQueryEngine, QueryBundle]:
        """Return the engine and the query of the next attempt."""
        if not attempts:
            return self._query_engine, asked
        add_feedback = partial(asking_again, answer=attempts[-1].text, verdict=attempts[-1].verdict)
        return searching_by(asked, self._query_engine, add_feedback), add_feedback(asked)

    def _broke(self, error: Exception, attempts: Sequence[Attempt]) -> None:
        """Raise the error of the first attempt; log that of a later one, which must not cost the earlier attempts."""
        if not attempts:
            raise error
        _log.warning("the engine broke when it was asked again: %s", type(error).__name__)

    def _concluded(self, attempts: Sequence[Attempt]) -> RESPONSE_TYPE:
        verdict = attempts[-1].verdict
        outcome = self._outcome(verdict)
        refusal = UNREVIEWED if self._refusal == REFUSAL and is_unreviewed(verdict) else self._refusal
        note_guard(outcome, refusal if outcome == "blocked" else None)
        if outcome == "blocked":
            return refused(refusal, attempts)
        return marked(max(reversed(attempts), key=merit) if outcome == "best" else attempts[-1], outcome, attempts)

    def _outcome(self, verdict: Judgment) -> Outcome:
        """Return the outcome, from the verdict of the last attempt."""
        if verdict.status is Status.PASS:
            return "passed"
        if is_undecided(verdict, self._on_undecided):
            _log.warning("an answer was not judged: %s", why_undecided(verdict))
            return "blocked" if self._on_undecided == "block" else "unjudged"
        return _OUTCOMES[self._on_fail]


async def _awaited(answer: Awaitable[object]) -> None:
    with log_errors("on_verdict"), judging():
        await answer
