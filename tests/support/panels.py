"""The recorded codefeedback votes, cut and grouped as the reference numbers were computed."""

import gzip
import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

from jury_adapters.calibration.votes import Votes

DATA = Path(__file__).parent.parent / "data"
CODEFEEDBACK = DATA / "votes" / "codefeedback.jsonl.gz"

SMALL = (
    "gpt-4o-mini", "gemini-1.5-flash", "claude_3.5_haiku", "deepseek-chat", "qwen-coder-plus", "gpt-4.1-mini",
    "gemini-2.5-flash",
)  # fmt: skip
LARGE = (
    "claude_3.5_sonnet", "claude_3_opus", "gemini-1.5-pro", "gemini-2.5-pro", "gpt-4-turbo", "gpt-4.1", "gpt-4o",
)  # fmt: skip
PANELS = {"small3": SMALL[:3], "small5": SMALL[:5], "small7": SMALL, "all14": SMALL + LARGE}


@cache
def rows() -> list[dict[str, Any]]:
    with gzip.open(CODEFEEDBACK, "rt") as lines:
        return [json.loads(line) for line in lines]


def fold_of(row: dict[str, Any]) -> int:
    group = row["meta"]["program"]
    return int(hashlib.sha256(f"fit{group}".encode()).hexdigest()[:8], 16) % 2


@cache
def fold(number: int | None = None) -> Votes:
    """Fold 0 fits, fold 1 reports; None for both."""
    chosen = [row for row in rows() if number is None or fold_of(row) == number]
    return Votes.from_recorded(chosen, jurors=SMALL + LARGE, group="meta.program", pass_label="valid")
