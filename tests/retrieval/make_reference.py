"""Write ``tests/data/retrieval_reference.json``: random rankings with the values that ranx computes.

Run it in an environment with ``pip install ranx==0.3.21``; the tests only read the file.
"""

import json
import random
from pathlib import Path

import ranx

MEASURES = {
    "hit_rate": "hit_rate", "precision": "precision", "recall": "recall", "reciprocal_rank": "mrr",
    "average_precision": "map", "ndcg": "ndcg",
}  # fmt: skip


def main() -> None:
    draw = random.Random(20261124)
    rows = []
    for _ in range(60):
        documents = [f"d{number}" for number in range(draw.randint(2, 30))]
        retrieved = draw.sample(documents, draw.randint(1, len(documents)))
        judged = draw.sample(documents, draw.randint(1, len(documents)))
        relevant = {document: draw.randint(0, 3) for document in judged}
        relevant[judged[0]] = draw.randint(1, 3)
        rows += [
            {"retrieved": retrieved, "relevant": relevant, "k": k, "values": values(retrieved, relevant, k)}
            for k in (None, draw.randint(1, 12))
        ]
    path = Path(__file__).parents[1] / "data" / "retrieval_reference.json"
    path.write_text(json.dumps({"computed by": "ranx 0.3.21", "rows": rows}) + "\n", encoding="utf-8")


def values(retrieved: list[str], relevant: dict[str, int], k: int | None) -> dict[str, float]:
    qrels = ranx.Qrels({"q": relevant})
    run = ranx.Run({"q": {document: float(len(retrieved) - rank) for rank, document in enumerate(retrieved)}})
    names = [name if k is None else f"{name}@{k}" for name in MEASURES.values()]
    found = ranx.evaluate(qrels, run, names)
    return {ours: float(found[name]) for ours, name in zip(MEASURES, names, strict=True)}


if __name__ == "__main__":
    main()
