"""Recorded votes of ``jury demo``, made from a clone of LLMBar, and the choice of its jury.

    git clone https://github.com/princeton-nlp/LLMBar
    git -C LLMBar checkout 900616bff90b6c6c8e1681f7d079250637c55992
    python tests/tools/demo_votes.py LLMBar

All 419 pairs are taken, with the votes of five models (of two ChatGPTs, the later one) on the eight prompts that all of
them answered. Texts are left out: those of the 100 natural pairs come from sets with other licences.

The jury is chosen on the 319 adversarial pairs, which the demo does not count among the pairs that it judges: of the
four panels of three small models and the eight prompts, those whose cascade is right most often; of equally good ones,
those that ask GPT-4 less.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[2] / "jury_adapters/cli/data/llmbar.jsonl.gz"
SUBSETS = ("Natural", "Adversarial/Neighbor", "Adversarial/GPTInst", "Adversarial/GPTOut", "Adversarial/Manual")
SMALL, LARGE = ("ChatGPT", "PaLM2", "LLaMA2", "Falcon"), "GPT-4"
PROMPTS = ("Vanilla", "Vanilla_NoRules", "CoT", "Metrics", "Reference", "Metrics_Reference", "Swap", "Swap_CoT")
TIE = "tie"

Row = Mapping[str, Any]


def read_source(clone: Path) -> Iterator[Row]:
    """Yield a row for each pair of a clone, with the vote of each model and prompt."""
    for subset in SUBSETS:
        folder = clone / "Dataset/LLMBar" / subset
        results = {
            f"{model}/{prompt}": _read(folder / "evaluators" / model / prompt / "result.json")
            for model in (*SMALL, LARGE)
            for prompt in PROMPTS
        }
        for number, pair in enumerate(_read(folder / "dataset.json")):
            yield {
                "item_id": f"{subset}/{number}",
                "gold": _letter(pair["label"]),
                "meta": {"subset": subset.split("/")[0]},
                "votes": {name: _vote(found[number]) for name, found in results.items()},
            }


def cascade(row: Row, small: Sequence[str], prompt: str) -> tuple[str, bool]:
    """Return what a cascade says about a pair, and whether it asked the large model."""
    votes = [row["votes"][f"{model}/{prompt}"] for model in small]
    opinions = [vote for vote in votes if vote != TIE]
    if len(opinions) >= 2 and len(set(opinions)) == 1:
        return opinions[0], False
    return row["votes"][f"{LARGE}/{prompt}"], True


def choose(rows: Sequence[Row]) -> list[tuple[int, int, tuple[str, ...], str]]:
    """Return panels of three, best first: pairs that each gets right, pairs that reach GPT-4, its models and prompt."""
    found = []
    for small, prompt in product(combinations(SMALL, 3), PROMPTS):
        said = [cascade(row, small, prompt) for row in rows]
        right = sum(label == row["gold"] for row, (label, _) in zip(rows, said, strict=True))
        found.append((right, sum(escalated for _, escalated in said), small, prompt))
    return sorted(found, key=lambda panel: (-panel[0], panel[1]))


def packed(rows: Sequence[Row]) -> bytes:
    """Return the contents of the data file; the same rows give the same bytes."""
    lines = "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows)
    return gzip.compress(lines.encode(), mtime=0)


def main(clone: Path) -> None:
    """Write the data file, and print the choice of the jury."""
    rows = list(read_source(clone))
    DATA.write_bytes(packed(rows))
    print(f"{DATA.name}: {len(rows)} rows, {DATA.stat().st_size:,} bytes")
    for right, escalated, small, prompt in choose([row for row in rows if row["meta"]["subset"] == "Adversarial"]):
        print(f"  {', '.join(small)}, {prompt}: right on {right} adversarial pairs; {escalated} reach {LARGE}")


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _letter(number: object) -> str:
    return {"1": "A", "2": "B"}.get(str(number), TIE)


def _vote(result: Row) -> str:
    """Return the answer that a model prefers in both orders; a tie if it prefers different ones, or none."""
    orders = result["results"][-1]  # the steps before it, such as the metrics of a prompt, prefer none
    winners = {_letter(orders[order]["winner"]) for order in ("swap = False", "swap = True")}
    return winners.pop() if len(winners) == 1 else TIE


if __name__ == "__main__":
    main(Path(sys.argv[1]))
