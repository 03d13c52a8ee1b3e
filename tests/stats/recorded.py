"""Recorded votes with human labels, and figures of version 0.2 on them."""

import csv
import gzip
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from jury_adapters.core.judgment import Judgment
from jury_adapters.stats import Votes

DATA = Path(__file__).parents[1] / "data"


@cache
def rows(name: str) -> list[dict[str, str]]:
    with gzip.open(DATA / name, "rt", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@cache
def codefeedback(*, grouped: bool = True, every: int = 1, of: tuple[str, ...] = ()) -> Votes:
    """Return the votes of 14 models, or of some, on feedback to programs, with human labels."""
    chosen = rows("codefeedback_votes.csv.gz")[::every]
    jurors = of or [name for name in chosen[0] if name not in ("program", "generator", "length", "gold")]
    votes = Votes.from_rows(
        [[row[name] for name in jurors] for row in chosen],
        jurors=jurors,
        human_labels=[row["gold"] for row in chosen],
        groups=[row["program"] for row in chosen] if grouped else None,
        pass_labels=["valid"],
    )
    lengths = np.array([float(row["length"]) for row in chosen])
    return replace(votes, lengths=lengths, generators=np.array([row["generator"] for row in chosen]))


def pairs(model: str) -> Iterator[Judgment]:
    """Yield the judgments of a model of LLMBar, which judged pairs in both orders."""
    for row in rows("llmbar_orders.csv.gz"):
        yield pair(row[f"{model} A first"], row[f"{model} B first"])


def pair(a_first: str, b_first: str) -> Judgment:
    """Return the judgment of a pairwise judge; an empty label is no answer."""
    inside = [
        Judgment(status="LABEL", label=label) if label else Judgment(status="ABSTAIN", reasoning="no answer")
        for label in (a_first, b_first)
    ]
    same = a_first == b_first
    return Judgment(
        status="LABEL",
        label=(a_first if same else "tie") or "tie",
        judgments=inside,
        voting="pairwise",
        on="label",
    )
