"""JuryGuardQueryEngine, whose answers a jury judges before they are returned; and JuryNodePostprocessor."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.response.schema import AsyncStreamingResponse, Response, StreamingResponse
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle

from jury_adapters.core import loop
from jury_adapters.core.asking import REFUSAL, Asking, JudgedRun, reported, review_of, without_texts
from jury_adapters.core.budget import Budget
from jury_adapters.core.case import Case
from jury_adapters.core.judge import JudgeLike
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.store import Store
from jury_adapters.core.values import ConfigurationError, check_whole, check_word
from jury_adapters.inputs.run import Run, default_case
from jury_adapters.llama_index.reading import Withheld, again, complete, is_blocked, run_of


class JuryGuardQueryEngine(BaseQueryEngine):
    """Query engine that judges each answer of another one before it returns it.

    On FAIL the engine is asked again, with the jury's reasons in the query, at most ``max_retries`` times; after that
    the user gets ``refusal``, or with ``on_fail="annotate"`` the last answer. After a FAIL in the same query, an answer
    about which the jury abstains or breaks counts as rejected, since it may be the same. A streamed answer is read to
    its end first, and what is returned streams again. The refusal of a guard inside the engine is returned as it is.

    The response has ``metadata["jury"]``: ``outcome`` (``passed``, ``annotated``, ``unjudged``, which is neither PASS
    nor FAIL, or ``blocked``), ``attempts``, and ``verdict``, the judgment as JSON values, without texts if the answer
    was withheld. A refusal has no source nodes and nothing else of the rejected answer. ``on_verdict`` gets everything.

    The case is made by :func:`run_of`, which knows the response alone.

    In a retry, an engine that searches by embeddings still searches by the question alone; one that searches by words
    also searches by the reasons.

    Args:
        engine: the engine to guard.
        jury: the jury, or a function of a case.
        max_retries: how often the engine is asked again, from 0.
        on_fail: ``block`` or ``annotate``.
        on_undecided: whether an answer is returned if the jury abstains, breaks or gives a label that is neither good
            nor bad: ``allow``, since an outage of the judge is not one of the application, or ``block``. The engine is
            not asked again for that.
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
        judgments: list[Any] = []
        while asked := self._next(query_bundle, judgments):
            response = self.engine.query(asked)
            judgments.append(loop.run(self._judged(query_bundle, response)))
        return self._returned(response, judgments)

    async def _aquery(self, query_bundle: QueryBundle) -> Any:
        judgments: list[Any] = []
        while asked := self._next(query_bundle, judgments):
            response = await self.engine.aquery(asked)
            judgments.append(await self._judged(query_bundle, response))
        return self._returned(response, judgments)

    async def _judged(self, asked: QueryBundle, response: Any) -> Judgment | None:
        """Judge an answer by the question of the user, and tell ``on_verdict``; None for the refusal of a guard."""
        if is_blocked(response):
            return None
        run = run_of(asked, await complete(response), kind="query", name=type(self.engine).__name__)
        return await reported(await self.asking.ajudged(run), self.on_verdict)

    def _next(self, asked: QueryBundle, judgments: list[Any]) -> QueryBundle | None:
        """Return the query, later with the reasons, which are set apart and not searched by; None to ask no more."""
        last = judgments[-1] if judgments else None
        if judgments and (last is None or last.status is not Status.FAIL or len(judgments) > self.max_retries):
            return None
        return (
            asked
            if last is None
            else replace(
                asked,
                query_str=f"{asked.query_str}\n\nAn earlier answer was reviewed and not accepted. {review_of(last)}\n"
                "Put that right. Do not mention the review.",
                custom_embedding_strs=[*asked.embedding_strs],
            )
        )

    def _returned(self, response: Any, judgments: list[Any]) -> Any:
        """Return what the user gets: the answer with its verdict, or the refusal."""
        judgment, is_async = judgments[-1], isinstance(response, AsyncStreamingResponse)
        if judgment is None:
            return response
        # An answer without a decision may be one that was rejected before.
        rejected = any(one.passed is False for one in (judgments[-1:] if judgment.decided else judgments))
        outcome = "annotated" if rejected else "passed" if judgment.passed else "unjudged"
        if (rejected and self.on_fail == "block") or not (
            judgment.passed is False or self.asking.lets_through(judgment)
        ):
            outcome, judgment = "blocked", without_texts(judgment)
            response = (  # in place of a stream, a stream
                type(response)(again([self.refusal], is_async), response_txt=self.refusal)
                if isinstance(response, StreamingResponse | AsyncStreamingResponse)
                else Response(self.refusal)
            )
        facts = (Withheld if outcome == "blocked" else dict)(
            outcome=outcome,
            attempts=len(judgments),
            verdict=judgment.model_dump(mode="json", exclude_defaults=True),
        )
        metadata = {**(response.metadata or {}), "jury": facts}
        # LlamaIndex gives an asynchronous stream in one piece if its text is known.
        return replace(
            response, metadata=metadata, **({"response_txt": None} if is_async and outcome != "blocked" else {})
        )


class JuryNodePostprocessor(BaseNodePostprocessor):
    """Filter that drops the retrieved nodes that a judge of relevance rejects.

    Each node is one case: its question is the query, and its context the text of the node, as the writer will see it.
    The nodes of a query are judged at once; they keep their order and are not changed. It never raises. Without a query
    all nodes are kept.

    Args:
        jury: the jury, such as ``Critic(model, "passage_relevance")``, or a function of a case.
        on_undecided: whether to ``keep`` or ``drop`` a node about which the jury abstains, breaks, or gives a label
            that is neither good nor bad.
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
