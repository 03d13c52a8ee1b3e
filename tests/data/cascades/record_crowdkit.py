"""Record the labels that crowd-kit's Dawid-Skene gives to the codefeedback votes.

crowd-kit asks for transformers, pandas and scikit-learn, so the tests compare with these records instead of installing
it. To make them anew, in an environment of its own::

    pip install crowd-kit==1.4.2
    python record_crowdkit.py ../votes/codefeedback.jsonl.gz crowdkit_dawid_skene.json
"""

import gzip
import hashlib
import json
import sys
from pathlib import Path

import pandas as pd
from crowdkit.aggregation import DawidSkene

SMALL = [
    "gpt-4o-mini", "gemini-1.5-flash", "claude_3.5_haiku", "deepseek-chat", "qwen-coder-plus", "gpt-4.1-mini",
    "gemini-2.5-flash",
]  # fmt: skip
LETTERS = {"valid": "v", "invalid": "i"}  # "-" where no juror of the panel voted


def main(votes: str, out: str) -> None:
    with gzip.open(votes) as lines:
        rows = [json.loads(line) for line in lines]
    judges = sorted({judge for row in rows for judge in row["votes"]})
    panels = {"small3": SMALL[:3], "small5": SMALL[:5], "small7": SMALL, "all14": judges}
    parts = {"all": rows, "fold1": [row for row in rows if fold(row["meta"]["program"]) == 1]}
    recorded = {f"{part}/{name}": labels(parts[part], panels[name]) for part in parts for name in panels}
    Path(out).write_text(json.dumps(recorded, indent=0) + "\n")


def fold(group: str) -> int:
    return int(hashlib.sha256(f"fit{group}".encode()).hexdigest()[:8], 16) % 2


def labels(rows: list[dict], panel: list[str]) -> str:
    cast = [
        (row["item_id"], judge, row["votes"][judge]["label"])
        for row in rows
        for judge in panel
        if row["votes"].get(judge, {}).get("label")
    ]
    votes = pd.DataFrame(cast, columns=["task", "worker", "label"])
    found = DawidSkene(n_iter=100, tol=1e-5).fit_predict(votes)
    return "".join(LETTERS.get(found.get(row["item_id"]), "-") for row in rows)


if __name__ == "__main__":
    main(*sys.argv[1:])
