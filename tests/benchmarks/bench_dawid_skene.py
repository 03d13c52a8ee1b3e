"""Dawid-Skene on 5,000 items x 14 jurors: ours, and crowd-kit's when it is installed.

    python tests/benchmarks/bench_dawid_skene.py

crowd-kit (``pip install crowd-kit``) brings transformers, pandas and scikit-learn along; without it only ours runs.
"""

from importlib.util import find_spec
from statistics import median
from time import perf_counter

import numpy as np

from jury_adapters.calibration.latent import dawid_skene
from jury_adapters.calibration.types import MISSING
from jury_adapters.calibration.votes import Votes

ITEMS, JURORS, RUNS = 5_000, 14, 5


def main() -> None:
    votes, truth = made_up()
    taken = []
    for _ in range(RUNS):
        started = perf_counter()
        found = dawid_skene(votes, diagonal=0)
        taken.append(perf_counter() - started)
    right = float((found.codes == truth).mean())
    print(f"{ITEMS} items x {JURORS} jurors, median of {RUNS} runs")
    print(f"jury_adapters  {median(taken):8.3f} s  {found.rounds} rounds  {right:.4f} right")
    if find_spec("crowdkit") is None:
        print("crowd-kit      not installed")
        return
    theirs, seconds = crowd_kit(votes)
    print(f"crowd-kit      {seconds:8.3f} s  {float((theirs == found.codes).mean()):.4f} the same labels")


def made_up() -> tuple[Votes, np.ndarray]:
    """Votes of jurors that are right in 60 to 90 % of the items, with a tenth of the votes missing."""
    draw = np.random.default_rng(0)
    truth = (draw.random(ITEMS) < 0.7).astype(np.int64)
    right = draw.random((ITEMS, JURORS)) < np.linspace(0.6, 0.9, JURORS)
    codes = np.where(right, truth[:, None], 1 - truth[:, None])
    codes[draw.random(codes.shape) < 0.1] = MISSING
    items = tuple(map(str, range(ITEMS)))
    jurors = tuple(f"juror {number}" for number in range(JURORS))
    return Votes(codes, ("FAIL", "PASS"), jurors, items, np.full(ITEMS, MISSING), np.arange(ITEMS)), truth


def crowd_kit(votes: Votes) -> tuple[np.ndarray, float]:
    import pandas as pd
    from crowdkit.aggregation import DawidSkene

    at, juror = np.nonzero(votes.answered)
    table = pd.DataFrame({"task": at, "worker": juror, "label": votes.codes[at, juror]})
    started = perf_counter()
    found = DawidSkene(n_iter=100, tol=1e-5).fit_predict(table)
    return found.reindex(range(ITEMS)).to_numpy(), perf_counter() - started


if __name__ == "__main__":
    main()
