"""Ids of the documents that a retriever returned, as the metadata of a case have them."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import Any

from jury_adapters.core.field_names import FIELD_NAMES, RELEVANT_IDS, RELEVANT_TEXTS, RETRIEVED_IDS, columns_of
from jury_adapters.core.loose_values import field_of, opened


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


def add_retrieved_ids(metadata: MutableMapping[str, Any], outputs: object) -> None:
    """Add the ids of the documents in the outputs of a run, if only ids say which documents are relevant.

    Other cases do not get them: a vector store may make new ids in every process, and equal cases would then differ.

    Args:
        metadata: the metadata of the case.
        outputs: the outputs of the run, or the documents themselves.
    """
    if not any(name in metadata for name in RELEVANT_IDS):
        return
    if any(name in metadata for name in (*RETRIEVED_IDS, *RELEVANT_TEXTS)):
        return
    ids = _ids_in(opened(outputs))
    if ids is not None:
        metadata[RETRIEVED_IDS[0]] = ids


def _ids_in(outputs: object) -> tuple[str, ...] | None:
    if not isinstance(outputs, Mapping):
        return retrieved_ids(outputs)
    for name in RETRIEVED_IDS:
        if isinstance(given := outputs.get(name), list | tuple):
            return tuple(str(one) for one in given)
    column = columns_of(outputs, ("contexts",)).of.get("contexts")
    if column is None and len(outputs) == 1:  # LangSmith wraps values other than mappings: {"output": ...}
        column = next((name for name in FIELD_NAMES["answer"].exact if name in outputs), None)
    return None if column is None else retrieved_ids(outputs[column])


def _id_of(document: object) -> str | None:
    document = getattr(document, "node", document)  # of a NodeWithScore
    metadata = field_of(document, "metadata")
    of_metadata = metadata.get("id") if isinstance(metadata, Mapping) else None
    for found in (field_of(document, "node_id"), field_of(document, "id"), of_metadata):
        if isinstance(found, str | int) and str(found).strip():
            return str(found)
    return None
