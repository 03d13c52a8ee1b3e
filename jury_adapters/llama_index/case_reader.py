"""Convert a response of LlamaIndex to the case to judge."""

from __future__ import annotations

from collections.abc import Mapping

from llama_index.core.base.response.schema import AsyncStreamingResponse, StreamingResponse
from llama_index.core.schema import BaseNode, NodeWithScore, QueryBundle

from jury_adapters.core.arguments import explains_wrong_calls
from jury_adapters.core.case import Case
from jury_adapters.core.errors import InputError
from jury_adapters.core.evidence import Evidence, EvidenceTools
from jury_adapters.core.field_map import FieldMapLike, field_map_of
from jury_adapters.core.mapped_case import mapped_case
from jury_adapters.llama_index.response_images import asked_with, images_of, node_images
from jury_adapters.llama_index.responses import atext_of, contexts_of, node_texts, steps_of, text_of
from jury_adapters.llama_index.runs import outputs_of_stream


@explains_wrong_calls(
    "to_case(response, query='When?')",
    order="the response comes first, the rest by name",
    needs="a response is missing",
)
def to_case(
    response: object,
    *,
    query: str | QueryBundle | None = None,
    reference: str | None = None,
    metadata: Mapping[str, object] | None = None,
    field_map: FieldMapLike | None = None,
    evidence_tools: EvidenceTools = None,
) -> Case:
    """Return the case of a response, as the evaluators and the guard read it: answer, contexts and tool calls.

    A stream is read to its end and restored. In asynchronous code use :func:`ato_case`, which does not block.

    Args:
        response: a response of an engine, a chat engine or an agent, the ``StopEvent`` or the result of a workflow, a
            message, a tool's output, a text, or a list of retrieved nodes, which may be empty. A
            :class:`jury_adapters.Case` is returned with the reference and metadata that are given.
        query: the question; a response does not have it.
        reference: a right answer to compare with.
        metadata: entries for the metadata of the case, such as its id and a human label,
            ``{"id": "q1", "gold": "PASS"}``.
        field_map: as in :meth:`jury_adapters.Case.from_row`, applied to a row with ``inputs`` and ``outputs``: paths by
            field, ``{"contexts": "outputs.metadata.passages"}``, in addition to the fields that are always read; or a
            function from the row to the case. ``inputs`` has the ``query``; ``outputs`` is the response, or for a
            stream a mapping with ``response``, ``source_nodes`` and ``metadata``.
        evidence_tools: the tools of an agent whose outputs are contexts: names, or a predicate of a step; by default
            all but those known to repeat what the model wrote. See :class:`jury_adapters.core.evidence.Evidence`.

    Raises:
        ConfigurationError: the field map or ``evidence_tools`` is invalid.
        InputError: the response cannot be read, or a path does not exist.
        Exception: any exception that the stream, or a function of the application, raises.

    >>> case = to_case("Paris.", query="Which capital?")
    >>> case.question, case.answer
    ('Which capital?', 'Paris.')
    """
    given = Case(reference=reference, metadata=metadata or {})
    reader = _Reader(response, query, given, field_map, evidence_tools)
    if reader.has_no_text:
        return reader.case(None)
    try:
        text = text_of(response)
    except InputError as error:
        return reader.case(error)
    return reader.case(text)


async def ato_case(
    response: object,
    *,
    query: str | QueryBundle | None = None,
    reference: str | None = None,
    metadata: Mapping[str, object] | None = None,
    field_map: FieldMapLike | None = None,
    evidence_tools: EvidenceTools = None,
) -> Case:
    """Return the case of a response without blocking the event loop; see :func:`to_case`."""
    given = Case(reference=reference, metadata=metadata or {})
    reader = _Reader(response, query, given, field_map, evidence_tools)
    if reader.has_no_text:
        return reader.case(None)
    try:
        text = await atext_of(response)
    except InputError as error:
        return reader.case(error)
    return reader.case(text)


class _Reader:
    """Reader of one response; its text is read outside, synchronously or not."""

    def __init__(
        self,
        response: object,
        query: str | QueryBundle | None,
        given: Case,
        field_map: FieldMapLike | None,
        evidence_tools: EvidenceTools,
    ) -> None:
        self._response = response
        self._given = given
        self._asked_with = asked_with(query)
        self._query = query.query_str if isinstance(query, QueryBundle) else query
        self._map = field_map_of(field_map)
        self._evidence = Evidence(evidence_tools)
        nodes = list(response) if isinstance(response, list | tuple) else [response]
        self._nodes = nodes if all(isinstance(one, BaseNode | NodeWithScore) for one in nodes) else None
        self.has_no_text = self._nodes is not None or isinstance(response, Case)

    def case(self, text: str | InputError | None) -> Case:
        """Return the case; an error of the text counts if the field map does not name the answer."""
        case, given = self._read(text), self._given
        if given.reference is None and not given.metadata:
            return case
        reference = case.reference if given.reference is None else given.reference
        return case.model_copy(update={"reference": reference, "metadata": {**case.metadata, **given.metadata}})

    def _read(self, text: str | InputError | None) -> Case:
        response = self._response
        if isinstance(response, Case):
            return response
        known = None if isinstance(text, InputError) else text
        streamed = isinstance(response, StreamingResponse | AsyncStreamingResponse)
        outputs = outputs_of_stream(response)(known) if streamed else response
        row = {"inputs": {"query": self._query}, "outputs": outputs}
        return mapped_case(self._map, row, lambda: self._plain(text), self._evidence)

    def _plain(self, text: str | InputError | None) -> Case:
        if isinstance(text, InputError):
            raise text
        asked = node_images(self._asked_with, "question")
        if self._nodes is not None:
            images = (*asked, *node_images(self._nodes))
            return Case(question=self._query, contexts=node_texts(self._nodes), attachments=images)
        images = (*asked, *images_of(self._response, evidence=self._evidence))
        contexts = contexts_of(self._response, evidence_tools=self._evidence)
        case = Case(question=self._query, answer=text, contexts=contexts, trajectory=steps_of(self._response))
        return case.model_copy(update={"attachments": images}) if images else case
