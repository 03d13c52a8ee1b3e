"""The main job on real input: recorded votes of four language models on 100 pairs of answers, beside human labels.

PaLM2, LLaMA2 and Falcon vote first; GPT-4 judges the pairs on which they do not agree. The results are written to a
file, and a run that was killed is continued.

Usage: python tests/main_job.py RESULTS [SECONDS_PER_VOTE]
"""

import asyncio
import gzip
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from jury_adapters import CascadedJury, Case, Ensemble, Judge, ResultsFile, Tier, abstain, judge, read_results

PAIRS = Path(__file__).parent / "data" / "llmbar_natural.jsonl.gz"
SMALL, LARGE = ("PaLM2", "LLaMA2", "Falcon"), "GPT-4"
LABELS = {"A": "label", "B": "label", "tie": "abstain"}


def cases() -> Iterator[Case]:
    """Yield the pairs, with the label of the authors and the recorded votes in their metadata."""
    with gzip.open(PAIRS, "rt", encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            metadata = {"gold": row["gold"], "votes": row["votes"]}
            yield Case(id=row["id"], question=row["question"], candidates=row["answers"], metadata=metadata)


def recorded(model: str, seconds: float = 0.0) -> Judge:
    """Return a judge that gives the recorded votes of a model, each after so many seconds."""

    async def vote(case: Case) -> object:
        await asyncio.sleep(seconds)
        return case.metadata["votes"].get(model) or abstain(f"{model} gave no usable vote")

    return judge(vote, name=model, labels=LABELS, cost=0.1 if model == LARGE else 0.005)


def jury(seconds: float = 0.0) -> CascadedJury:
    """Return the jury: three small models, and a large one where they do not agree."""
    small = Ensemble([recorded(model, seconds) for model in SMALL], min_votes=2)
    tiers = [Tier("small models agree", small, "escalate_on_split"), Tier("GPT-4 decides", recorded(LARGE, seconds))]
    return CascadedJury(tiers, name="small-to-large cascade")


def figures(path: str | Path) -> dict[str, int]:
    """Return how many verdicts of a results file are right, wrong and undecided, and how many pairs GPT-4 judged."""
    found = dict.fromkeys(("right", "wrong", "undecided", "judged by GPT-4"), 0)
    for result in read_results(path):
        label = result.judgment.label
        found["undecided" if label is None else "right" if label == result.human_label else "wrong"] += 1
        found["judged by GPT-4"] += result.judgment.stopped_at == "GPT-4 decides"
    return found


def main(path: str, seconds: float = 0.0) -> None:
    """Judge the pairs that the file does not have, and print how the verdicts compare with the human labels."""
    with ResultsFile(path, jury(seconds), label="gold") as results:
        judged = sum(1 for _ in results.judge(cases(), max_concurrency=4))
    print(f"judged now: {judged};", ", ".join(f"{number} {name}" for name, number in figures(path).items()))


if __name__ == "__main__":
    main(sys.argv[1], *map(float, sys.argv[2:]))
