"""What a run costs, takes and stores, from ten thousand to ten million cases: the tables of ``docs/scale.md``.

    python benchmarks/scale.py --cases 10000000

Tokens are those of the package's own prompts for one case of a retrieval pipeline, and prices those of the package.
``--output``, ``--agree`` and ``--screened`` are assumptions: set them to what a run of a thousand cases shows.
"""

import argparse
import asyncio
import os
import tempfile
from pathlib import Path

from jury_adapters import Case, Critic, Judgment, Store, Usage
from jury_adapters.batch_api import DISCOUNT
from jury_adapters.core.store import Key

WORDS = "The ferry between the two islands stopped in 2018 because the operator lost its licence, as the port said. "
CASE = Case(question=WORDS[:60] + "?", answer=WORDS * 4, contexts=[WORDS * 12] * 3)


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--cases", type=int, default=10_000_000)
    options.add_argument("--model", default="openai:gpt-4o-mini")
    options.add_argument("--output", type=int, default=120, help="output tokens of one call")
    options.add_argument("--agree", type=float, default=0.85, help="share of cases in which two jurors agree")
    options.add_argument("--screened", type=float, default=0.6, help="share of cases that free checks decide")
    given = options.parse_args()
    os.environ.setdefault("OPENAI_API_KEY", "unused")
    os.environ.setdefault("ANTHROPIC_API_KEY", "unused")
    critic = Critic(given.model, "faithfulness")
    tokens = critic.estimate(CASE).input_tokens
    usd = critic.model.price(tokens, given.output)
    if usd is None:
        raise SystemExit(f"the price of {given.model} is unknown")
    early = 2 * given.agree + 3 * (1 - given.agree)
    juries = {
        "one model": 1.0,
        "panel of three": 3.0,
        "panel of three, early_stop": early,
        "cascade: checks, then that panel": (1 - given.screened) * early,
    }
    print(f"{given.model}: {tokens} tokens in (an upper estimate) and {given.output} out make ${usd:.6f} a call\n")
    print(f"{'jury':34}{'calls':>12}{'direct':>10}{'in batches':>12}{'days at 5,000/min':>19}")
    for name, calls in juries.items():
        total = calls * given.cases
        days = total / 5000 / 60 / 24
        print(f"{name:34}{total:12,.0f}{total * usd:10,.0f}{total * usd * DISCOUNT:12,.0f}{days:19.1f}")
    print(f"\n{'cases':>12}{'direct, panel early_stop':>26}{'in batches':>12}")
    for cases in (10_000, 100_000, 1_000_000, given.cases):
        print(f"{cases:12,}{cases * early * usd:26,.2f}{cases * early * usd * DISCOUNT:12,.2f}")
    stored = asyncio.run(stored_bytes())
    print(
        f"\na judgment with its case takes {stored:,.0f} bytes in an SQLite store: {stored * given.cases / 1e9:,.0f} GB"
    )


async def stored_bytes(number: int = 500) -> float:
    """Return the bytes of a stored judgment and of its case, of which no two are equal."""
    usage = Usage(calls=1, input_tokens=2000, output_tokens=120, cost_usd=0.0003)
    judgment = Judgment(status="PASS", reasoning=WORDS * 4, confidence=0.9, usage=usage, model="gpt-4o-mini")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "runs.db")
        with Store(path) as store:
            rows = ((Key(f"{n:032}", "j" * 32, 0), CASE.but(answer=f"{CASE.answer}{n}")) for n in range(number))
            await asyncio.gather(*(store.put(key, case, judgment) for key, case in rows))
        return path.stat().st_size / number


if __name__ == "__main__":
    main()
