"""Node postprocessor that drops the retrieved nodes that a jury rejects."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Sequence
from typing import Any, Final, Literal

from llama_index.core.bridge.pydantic import ConfigDict, Field, PrivateAttr
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle

from jury_adapters.core import event_loop
from jury_adapters.core.background.sink_calls import sinks_of
from jury_adapters.core.case import Case
from jury_adapters.core.context import judging
from jury_adapters.core.errors import ConfigurationError, plain_repr, unknown
from jury_adapters.core.field_map import CheckedFieldMap, FieldMapLike, field_map_of
from jury_adapters.core.judge import Judge
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.mapped_case import mapped_case
from jury_adapters.core.runs import JudgedRun, Run, Sink
from jury_adapters.core.unmet_fields import unmet_fields
from jury_adapters.llama_index.evaluators import JuryEvaluator
from jury_adapters.llama_index.guard_parts import (
    JurorLike,
    evaluator_of,
    log_errors,
    whole_number,
    why_undecided,
)
from jury_adapters.llama_index.response_images import asked_with, node_images

_log = logging.getLogger(__name__)


class JuryNodePostprocessor(BaseNodePostprocessor):
    """Node postprocessor that drops the retrieved nodes that a judge of relevance rejects.

    Each node is one case: the query is its question, and the node's text (as the writer of the answer will see it) is
    its only context. All nodes of a query are judged concurrently. Nodes keep their order, their scores and their
    metadata; they are not changed, since an index returns its own nodes. The postprocessor never raises: if the judge
    abstains or fails, ``on_undecided`` decides. Without a query all nodes are returned, and the log says so once.

    Args:
        jury: the judge, preferably ``Critic(model, "passage_relevance")``; a :class:`JuryEvaluator` with its store and
            budget; or a plain function of a case.
        on_undecided: ``"keep"`` (default) or ``"drop"`` a node on ABSTAIN or ERROR.
        min_nodes: the minimum number of nodes to keep; the best rejected ones are added, by the judge's score and then
            by their rank in the retrieval.
        max_concurrency: the maximum number of nodes that are judged at the same time.
        on_verdict: called with each judged node, dropped nodes included, as a
            :class:`jury_adapters.results.JudgedRun` of kind ``"node"`` with the id and the metadata of the node.
            Asynchronous, or plain and quick (the query waits for it), or several of these. Exceptions are logged.
        field_map: as in :meth:`jury_adapters.Case.from_row`, applied to a row with ``query`` and ``node``:
            ``{"contexts": "node.metadata.window"}``, or a function from the row to the case.

    Raises:
        ConfigurationError: an argument is invalid, or every judge in the jury needs a field that a node does not have,
            such as an answer: it would judge no node, or reject each.

    >>> from jury_adapters import Critic
    >>> relevant = JuryNodePostprocessor(Critic("openai:gpt-4o-mini", "passage_relevance"))  # doctest: +SKIP
    >>> index.as_query_engine(node_postprocessors=[relevant])  # doctest: +SKIP
    """

    jury: Judge = Field(exclude=True)
    on_undecided: Literal["keep", "drop"] = "keep"
    min_nodes: int = 0
    max_concurrency: int = 16
    on_verdict: Sink | Sequence[Sink] | None = Field(default=None, exclude=True)
    model_config = ConfigDict(hide_input_in_errors=True)

    _evaluator: JuryEvaluator = PrivateAttr()
    _field_map: CheckedFieldMap = PrivateAttr()
    _sinks: tuple[Sink, ...] = PrivateAttr()
    _warned_of_no_query: bool = PrivateAttr(default=False)

    def __init__(
        self,
        jury: JurorLike,
        *,
        on_undecided: Literal["keep", "drop"] = "keep",
        min_nodes: int = 0,
        max_concurrency: int = 16,
        on_verdict: Sink | Sequence[Sink] | None = None,
        field_map: FieldMapLike | None = None,
        **fields: Any,
    ) -> None:
        if on_undecided not in ("keep", "drop"):
            raise ConfigurationError(f"on_undecided is 'keep' or 'drop', not {plain_repr(on_undecided)}")
        if strange := sorted(fields.keys() - type(self).model_fields.keys()):  # pydantic would ignore them
            raise ConfigurationError(unknown("option", strange[0], [*type(self).model_fields, "field_map"]))
        evaluator, mapped, sinks = evaluator_of(jury), field_map_of(field_map), sinks_of(on_verdict)
        if missing := unmet_fields(evaluator.jury, _NOT_OF_NODES, mapped):
            raise ConfigurationError(
                f"the judge needs {' and '.join(missing)}, which a retrieved node does not have, so it judges none. "
                'Critic(model, "passage_relevance") judges a node; or name the fields with field_map='
            )
        super().__init__(
            jury=evaluator.jury,
            on_undecided=on_undecided,
            min_nodes=whole_number(min_nodes, "min_nodes", 0),
            max_concurrency=whole_number(max_concurrency, "max_concurrency", 1),
            on_verdict=on_verdict,
            **fields,
        )
        self._evaluator, self._field_map, self._sinks = evaluator, mapped, sinks

    @classmethod
    def class_name(cls) -> str:
        return "JuryNodePostprocessor"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if query_bundle is None or not nodes:
            return self._unjudged(nodes)
        return event_loop.run(self._apostprocess_nodes, nodes, query_bundle)

    async def _apostprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if query_bundle is None or not nodes:
            return self._unjudged(nodes)
        gate = asyncio.Semaphore(self.max_concurrency)

        async def judged(node: NodeWithScore) -> tuple[Case | None, Judgment]:
            async with gate:
                return await self._judged(query_bundle, node)

        results = await asyncio.gather(*(judged(node) for node in nodes))
        for node, (case, judgment) in zip(nodes, results, strict=True):
            await self._tell(node, case, judgment)
        judgments = [judgment for _, judgment in results]
        kept = {place for place, judgment in enumerate(judgments) if self._keeps(judgment)}
        if len(kept) < self.min_nodes:
            rejected = (place for place in range(len(nodes)) if place not in kept)
            best_first = sorted(rejected, key=lambda place: (-(judgments[place].score or 0.0), place))
            kept.update(best_first[: self.min_nodes - len(kept)])
        return [node for place, node in enumerate(nodes) if place in kept]

    def _unjudged(self, nodes: list[NodeWithScore]) -> list[NodeWithScore]:
        """Return nodes that cannot be judged, because the caller gave no query; the log says so once."""
        if nodes and not self._warned_of_no_query:
            self._warned_of_no_query = True
            _log.warning("nodes were returned without being judged, because no query was given: give query_str=")
        return nodes

    async def _judged(self, query: QueryBundle, node: NodeWithScore) -> tuple[Case | None, Judgment]:
        def plain() -> Case:
            text = node.node.get_content(metadata_mode=MetadataMode.LLM)
            images = (*node_images(asked_with(query), "question"), *node_images((node,)))
            return Case(question=query.query_str, contexts=(text,), attachments=images)

        try:
            row = {"query": query.query_str, "node": node}
            case = mapped_case(self._field_map, row, plain, self._evaluator.evidence)
        except Exception as error:  # from the node's own class
            return None, self.jury.failure(error)
        return case, await self._evaluator.ajudged(case)

    def _keeps(self, judgment: Judgment) -> bool:
        if judgment.status in (Status.PASS, Status.FAIL):
            return judgment.status is Status.PASS
        return self.on_undecided == "keep"

    async def _tell(self, node: NodeWithScore, case: Case | None, judgment: Judgment) -> None:
        if judgment.status is Status.ERROR:
            _log.warning("node %s was not judged: %s", node.node_id, why_undecided(judgment))
        if not self._sinks:
            return
        run = Run(node.node_id, kind="node", name=type(self).__name__, metadata=node.metadata)
        for sink in self._sinks:
            with log_errors("on_verdict"), judging():
                answer: object = sink(JudgedRun(run, case, judgment))
                if inspect.isawaitable(answer):
                    await answer


_NOT_OF_NODES: Final = ("answer", "reference", "candidates", "trajectory", "messages")
