"""Cases of the runs of a retriever."""

from __future__ import annotations

from jury_adapters.core.case import Case
from jury_adapters.core.field_names import RETRIEVED_IDS


def with_retrieved_ids(case: Case, ids: tuple[str, ...] | None) -> Case:
    """Return the case with the ids in ``metadata["retrieved_ids"]``, unless they are unknown or it has others."""
    if ids is None or any(name in case.metadata for name in RETRIEVED_IDS):
        return case
    return case.model_copy(update={"metadata": {**case.metadata, RETRIEVED_IDS[0]: ids}})
