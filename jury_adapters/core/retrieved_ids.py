"""Ids of the documents that a retriever returned, as they are kept in the metadata of a case."""

from __future__ import annotations

from collections.abc import Mapping

from jury_adapters.core.case import Case
from jury_adapters.core.field_names import RETRIEVED_IDS
from jury_adapters.core.loose_values import field_of


def retrieved_ids(documents: object) -> tuple[str, ...] | None:
    """Return the ids of retrieved documents in their order; None if a document has none, or they are not a list.

    The id is that of the LlamaIndex node (``node_id``) or the LangChain document (``id``), or else the entry ``id`` of
    its metadata.
    """
    if not isinstance(documents, list | tuple):
        return None
    ids = [_id_of(document) for document in documents]
    known = tuple(one for one in ids if one is not None)
    return known if len(known) == len(ids) else None


def with_retrieved_ids(case: Case, ids: tuple[str, ...] | None) -> Case:
    """Return the case with the ids in ``metadata["retrieved_ids"]``, unless they are unknown or it has others."""
    if ids is None or any(name in case.metadata for name in RETRIEVED_IDS):
        return case
    return case.model_copy(update={"metadata": {**case.metadata, RETRIEVED_IDS[0]: ids}})


def _id_of(document: object) -> str | None:
    document = getattr(document, "node", document)  # of a NodeWithScore
    metadata = field_of(document, "metadata")
    of_metadata = metadata.get("id") if isinstance(metadata, Mapping) else None
    for found in (field_of(document, "node_id"), field_of(document, "id"), of_metadata):
        if isinstance(found, str | int) and str(found).strip():
            return str(found)
    return None
