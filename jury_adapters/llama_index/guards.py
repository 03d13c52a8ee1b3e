"""JuryGuardQueryEngine, whose answers a jury judges before they are returned; and JuryNodePostprocessor."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.response.schema import AsyncStreamingResponse, Response, StreamingResponse
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle

from jury_adapters.core import loop
from jury_adapters.core.asking import REFUSAL, Asking, JudgedRun, review_of, tell, without_texts
from jury_adapters.core.budget import Budget
from jury_adapters.core.case import Case
from jury_adapters.core.judge import JudgeLike
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.store import Store
from jury_adapters.core.values import ConfigurationError, check_whole, check_word
from jury_adapters.inputs.run import Run, default_case
from jury_adapters.llama_index.reading import again, complete, is_blocked, retrieved, run_of

_log = logging.getLogger(__name__)


class JuryGuardQueryEngine(BaseQueryEngine):
    """Query engine that judges each answer of another one before it returns it.

    On FAIL the engine is asked again, with the jury's reasons in the query, at most ``max_retries`` times; after that
    the user gets ``refusal``, or with ``on_fail="annotate"`` the last answer. A streamed answer is read to its end
    first, and what is returned streams again. The refusal of a guard inside the engine is returned as it is.

    The response has ``metadata["jury"]``: ``outcome`` (``passed``, ``annotated``, ``unjudged`` or ``blocked``),
    ``attempts``, and ``verdict``, the judgment as JSON values, without texts if the answer was withheld. A refusal
    keeps the retrieved source nodes, and nothing else of the rejected answer. ``on_verdict`` gets everything.

    In a retry, an engine that searches by embeddings still searches by the question alone; one that searches by words
    also searches by the reasons.

    Args:
        engine: the engine to guard.
        jury: the jury, or a function of a case.
        max_retries: how often the engine is asked again, from 0.
        on_fail: ``block`` or ``annotate``.
        on_undecided: whether an answer is returned if the jury abstains or breaks: ``allow``, since an outage of the
            judge is not one of the application, or ``block``. The engine is not asked again for that.
        refusal: what the user gets instead of the answer.
        case: makes the case of a run.
        on_verdict: called with the :class:`JudgedRun` of each answer before the query goes on, in a thread if it is a
            plain function; what it raises is logged.
        store: where judgments are kept.
        budget: the limit on spending.

    Raises:
        ConfigurationError: an option has another value, or this is no query engine.

    >>> guarded = JuryGuardQueryEngine(index.as_query_engine(), jury, max_retries=2)  # doctest: +SKIP
    >>> guarded.query("When?").metadata["jury"]["outcome"]  # doctest: +SKIP
    'passed'
    """

    def __init__(
        self,
        engine: BaseQueryEngine,
        jury: JudgeLike,
        *,
        max_retries: int = 1,
        on_fail: Literal["block", "annotate"] = "block",
        on_undecided: Literal["allow", "block"] = "allow",
        refusal: str = REFUSAL,
        case: Callable[[Run], Case] = default_case,
        on_verdict: Callable[[JudgedRun], Any] | None = None,
        store: Store | None = None,
        budget: Budget | None = None,
    ) -> None:
        if not isinstance(engine, BaseQueryEngine):
            raise ConfigurationError(f"a guard is around a query engine, not {type(engine).__name__}")
        check_word("on_fail", on_fail, "block", "annotate")
        check_word("on_undecided", on_undecided, "allow", "block")
        check_whole("max_retries", max_retries, 0)
        super().__init__(engine.callback_manager)
        self.engine, self.on_fail, self.max_retries = engine, on_fail, max_retries
        self.refusal, self.on_verdict = refusal, on_verdict
        self.asking = Asking(jury, case, store, budget, on_undecided)

    def _get_prompt_modules(self) -> dict[str, Any]:
        return {"engine": self.engine}

    def _query(self, query_bundle: QueryBundle) -> Any:
        asked, attempts = query_bundle, 0
        while asked is not None:
            response, attempts = self.engine.query(asked), attempts + 1
            judgment = loop.run(self._judged(query_bundle, response))
            asked = self._asked_again(query_bundle, judgment, attempts)
        return self._returned(response, judgment, attempts)

    async def _aquery(self, query_bundle: QueryBundle) -> Any:
        asked, attempts = query_bundle, 0
        while asked is not None:
            response, attempts = await self.engine.aquery(asked), attempts + 1
            judgment = await self._judged(query_bundle, response)
            asked = self._asked_again(query_bundle, judgment, attempts)
        return self._returned(response, judgment, attempts)

    async def _judged(self, asked: QueryBundle, response: Any) -> Judgment | None:
        """Judge an answer by the question of the user, and tell ``on_verdict``; None for the refusal of a guard."""
        if is_blocked(response):
            return None
        run = run_of(asked, await complete(response), kind="query", name=type(self.engine).__name__)
        judged = await self.asking.ajudged(run)
        try:
            if self.on_verdict is not None:
                await tell(self.on_verdict, judged)
        except Exception:
            _log.warning("on_verdict= raised", exc_info=True)
        return judged.judgment

    def _asked_again(self, asked: QueryBundle, judgment: Judgment | None, attempts: int) -> Any:
        """Return the query with the reasons, which are set apart and not searched by; None to ask no more."""
        if judgment is None or judgment.status is not Status.FAIL or attempts > self.max_retries:
            return None
        text = (
            f"{asked.query_str}\n\nAn earlier answer was reviewed and not accepted. {review_of(judgment)}\n"
            "Put that right. Do not mention the review."
        )
        return replace(asked, query_str=text, custom_embedding_strs=[*asked.embedding_strs])

    def _returned(self, response: Any, judgment: Judgment | None, attempts: int) -> Any:
        """Return what the user gets: the answer with its verdict, or the refusal."""
        if judgment is None:
            return response
        shown = self.asking.lets_through(judgment) or (judgment.decided and self.on_fail == "annotate")
        outcome = "annotated" if judgment.passed is False else "passed" if judgment.decided else "unjudged"
        if not shown:
            outcome, nodes, judgment = "blocked", retrieved(response.source_nodes), without_texts(judgment)
            response = (  # in place of a stream, a stream
                type(response)(
                    again([self.refusal], isinstance(response, AsyncStreamingResponse)),
                    nodes,
                    response_txt=self.refusal,
                )
                if isinstance(response, StreamingResponse | AsyncStreamingResponse)
                else Response(self.refusal, nodes)
            )
        verdict = judgment.model_dump(mode="json", exclude_defaults=True)
        facts = {"outcome": outcome, "attempts": attempts, "verdict": verdict}
        return replace(response, metadata={**(response.metadata or {}), "jury": facts})


class JuryNodePostprocessor(BaseNodePostprocessor):
    """Filter that drops the retrieved nodes that a judge of relevance rejects.

    Each node is one case: its question is the query, and its context the text of the node, as the writer will see it.
    The nodes of a query are judged at once; they keep their order and are not changed. It never raises. Without a query
    all nodes are kept.

    Args:
        jury: the jury, such as ``Critic(model, "passage_relevance")``, or a function of a case.
        on_undecided: whether to ``keep`` or ``drop`` a node about which the jury abstains or breaks.
        store: where judgments are kept.
        budget: the limit on spending.

    Raises:
        ConfigurationError: an option has another value.

    >>> relevant = JuryNodePostprocessor(lambda case: "ferry" in case.contexts[0])
    >>> index.as_query_engine(node_postprocessors=[relevant])  # doctest: +SKIP
    """

    _asking: Asking = PrivateAttr()

    def __init__(
        self,
        jury: JudgeLike,
        *,
        on_undecided: Literal["keep", "drop"] = "keep",
        store: Store | None = None,
        budget: Budget | None = None,
    ) -> None:
        check_word("on_undecided", on_undecided, "keep", "drop")
        super().__init__()
        self._asking = Asking(jury, default_case, store, budget, "allow" if on_undecided == "keep" else "block")

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        return loop.run(self._apostprocess_nodes(nodes, query_bundle))

    async def _apostprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if query_bundle is None:
            return nodes
        runs = (Run(id=one.node_id, kind="node", inputs=query_bundle.query_str, documents=[one]) for one in nodes)
        judged = await asyncio.gather(*map(self._asking.ajudged, runs))
        return [node for node, one in zip(nodes, judged, strict=True) if self._asking.lets_through(one.judgment)]
