"""Retrieval: measures of the documents that a retriever returned.

Optional part. With known relevant documents, :class:`RetrievalMeasure` computes hit rate, precision, recall, reciprocal
rank, average precision or NDCG without a model. Without them, :class:`EachPassage` asks a judge about every passage.

>>> from jury_adapters.retrieval import RetrievalMeasure
>>> RetrievalMeasure("recall").judge(retrieved_ids=["d7", "d1"], relevant_ids=["d1", "d2"]).score
0.5
"""

from jury_adapters.retrieval.known_documents import RetrievalMeasure
from jury_adapters.retrieval.measures import (
    average_precision,
    hit_rate,
    ndcg,
    precision,
    recall,
    reciprocal_rank,
)
from jury_adapters.retrieval.passages import EachPassage

__all__ = [
    "EachPassage",
    "RetrievalMeasure",
    "average_precision",
    "hit_rate",
    "ndcg",
    "precision",
    "recall",
    "reciprocal_rank",
]
