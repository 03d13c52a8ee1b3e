"""Acceptance rates of aligned rubrics: with models that can be improved, and with one that cannot.

    python tests/simulations/acceptance_of_alignments.py             # 100 seeds
    python tests/simulations/acceptance_of_alignments.py --seeds 10

The exit code is 1 if a candidate is accepted in less than 90 % of the runs in which it helps, or in more than 3 % of
those in which nothing helps, or if an accepted jury is not better on fresh cases.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import NamedTuple

from labelled_jurors import jury_of, labelled

from jury_adapters import Case
from jury_adapters.align import Aligner, align

CASES = 200
FRESH = 300
LEAST_ACCEPTED = {"examples": 0.9, "criterion": 0.9, "low threshold": 0.9}
MOST_ACCEPTED = {"fixed": 0.03, "right threshold": 0.03}
NAMES = {
    "examples": "for want of examples", "criterion": "for want of a criterion", "fixed": "nothing helps",
    "low threshold": "ratings, the vote passes too many", "right threshold": "ratings, the threshold is right",
}  # fmt: skip


class Outcome(NamedTuple):
    """Alignments of one kind of model.

    Attributes:
        kind: the kind of model.
        seeds: number of runs.
        accepted: number of accepted changes.
        better: number of accepted changes with which more fresh cases are judged rightly.
        before: mean accuracy on fresh cases before.
        after: mean accuracy on fresh cases after, of the accepted ones.
        calls: mean number of calls of an alignment.
    """

    kind: str
    seeds: int
    accepted: int
    better: int
    before: float
    after: float
    calls: float

    @property
    def is_right(self) -> bool:
        """Whether changes are accepted as often as they should be, and are then better."""
        share = self.accepted / self.seeds
        fits = LEAST_ACCEPTED.get(self.kind, 0.0) <= share <= MOST_ACCEPTED.get(self.kind, 1.0)
        return fits and (self.kind in MOST_ACCEPTED or self.better >= 0.95 * self.accepted)


def simulate(kind: str, seeds: int) -> Outcome:
    """Align a judge of one kind with fresh labels in each run."""
    accepted = better = 0
    before, after, calls = [], [], []
    for seed in range(seeds):
        judge, model = jury_of(kind, seed)
        how = Aligner(optimiser_model=model if kind != "examples" else None, seed=seed)
        found = align(judge, labelled(CASES, seed), aligner=how)
        fresh = labelled(FRESH, 10_000 + seed)
        old = accuracy(judge, fresh)
        before.append(old)
        calls.append(found.usage.calls)
        if found.accepted:
            accepted += 1
            new = accuracy(found.jury, fresh)
            better += new > old
            after.append(new)
    return Outcome(kind, seeds, accepted, better, _mean(before), _mean(after), _mean(calls))


def accuracy(judge: object, cases: Sequence[Case]) -> float:
    """Return the share of cases that a judge judges as people do."""
    judgments = judge.judge_many(cases)  # type: ignore[attr-defined]
    return _mean([str(said.status) == case.metadata["gold"] for case, said in zip(cases, judgments, strict=True)])


def table(outcomes: Sequence[Outcome]) -> str:
    """Return the table of the page."""
    lines = [
        "| errors | accepted | better on fresh cases | accuracy before | after | calls |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for one in outcomes:
        after = f"{one.after:.3f}" if one.accepted else "-"
        lines.append(
            f"| {NAMES[one.kind]} | {one.accepted} of {one.seeds} | {one.better} of {one.accepted} | {one.before:.3f} "
            f"| {after} | {one.calls:,.0f} |"
        )
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Simulate all kinds, and print the table; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=100)
    seeds = parser.parse_args(arguments).seeds
    outcomes = [simulate(kind, seeds) for kind in NAMES]
    print(table(outcomes))
    failed = [outcome for outcome in outcomes if not outcome.is_right]
    for outcome in failed:
        print(f"not as expected: {outcome}")
    return int(bool(failed))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


if __name__ == "__main__":
    raise SystemExit(main())
