"""Findings of audits about simulated jurors of known weaknesses, and about recorded votes, over many seeds.

    python tests/simulations/findings_of_audits.py             # 100 seeds, and the tables of docs/measured.md
    python tests/simulations/findings_of_audits.py --seeds 10

The findings that each kind of juror must, may and must not get stand in ``known_weaknesses.py``, which was written
before any run. The exit code is 1 if a finding that must appear is missing in more than 5 % of the seeds, or if those
that must not appear do so in more than 5 %, counted per kind.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

from known_weaknesses import LLMBAR_MATRIX, MATRIX, PAIR_MATRIX, Expected, SimulatedJuror, SimulatedPairJuror

from jury_adapters.audit import Sizes, Standards, audit_pairs, example_cases
from jury_adapters.audit.auditing import AuditPlan
from jury_adapters.audit.pairs import Choice, position_figures, position_findings
from jury_adapters.audit.probes import plan_probes

LARGEST_SHARE = 0.05
VOTES = Path(__file__).parents[1] / "data/votes/llmbar_vanilla.jsonl.gz"
PAIRS = 180
PAIRS_OF_A_RUN = 200
PRECISION = 0.1
SIZES = Sizes(per_operator=100, per_invariance=120, injections=120)


class Outcome(NamedTuple):
    """Findings about one kind of juror over all seeds.

    Attributes:
        kind: the kind of juror.
        seeds: number of audits.
        found: number of audits with each finding.
        wrong: number of audits with any finding that must not appear.
        expected: the findings that must and may appear.
        calls: number of questions to the juror in one audit.
    """

    kind: str
    seeds: int
    found: Mapping[str, int]
    wrong: int
    expected: Expected
    calls: int

    @property
    def is_right(self) -> bool:
        """Whether every *must* was found often enough, and any *must not* seldom enough."""
        missed = max((self.seeds - self.found.get(name, 0) for name in self.expected.must), default=0)
        return max(missed, self.wrong) <= LARGEST_SHARE * self.seeds


def simulate_judges(seeds: int, kinds: Sequence[str] = tuple(MATRIX), precision: float | None = None) -> list[Outcome]:
    """Audit simulated jurors that judge one answer; the plan of each seed has other probes.

    With ``precision`` the audits stop early; the number of questions is then the mean.
    """
    found: dict[str, list[frozenset[str]]] = {kind: [] for kind in kinds}
    calls: Counter[str] = Counter()
    for seed in range(seeds):
        probes = plan_probes(example_cases(), families=("openai", "anthropic"), sizes=SIZES, seed=seed)
        for kind in kinds:
            audit = AuditPlan(SimulatedJuror(kind, probes, seed), probes, True, Standards(), precision).run()
            calls[kind] += audit.probes
            found[kind].append(frozenset(one.name for one in audit.findings))
    return [_outcome(kind, found[kind], MATRIX[kind], round(calls[kind] / seeds)) for kind in kinds]


def simulate_pairs(seeds: int, kinds: Sequence[str] = tuple(PAIR_MATRIX)) -> list[Outcome]:
    """Audit simulated jurors that compare two answers."""
    right = frozenset(case.answer or "" for case in example_cases())
    outcomes = []
    for kind in kinds:
        found = []
        for seed in range(seeds):
            audit = audit_pairs(SimulatedPairJuror(kind, right, seed), pairs=PAIRS, seed=seed)
            found.append(frozenset(one.name for one in audit.findings))
        outcomes.append(_outcome(kind, found, PAIR_MATRIX[kind], 2 * PAIRS))
    return outcomes


def recorded_votes(seeds: int) -> list[Outcome]:
    """Look for a preferred place in recorded votes of both orders, over samples of the pairs with replacement."""
    outcomes = []
    for (judge, subset), what in LLMBAR_MATRIX.items():
        choices = list(_choices(judge, subset))
        found = []
        for seed in range(seeds):
            sample = Random(f"{judge}|{subset}|{seed}").choices(choices, k=PAIRS_OF_A_RUN)
            findings = position_findings(position_figures(judge, sample), Standards())
            found.append(frozenset(one.name for one in findings) & {"prefers_first", "prefers_second"})
        names = frozenset({"prefers_first"})
        expected = {"must": Expected(must=names), "may": Expected(may=names), "must_not": Expected()}[what]
        outcomes.append(_outcome(f"{judge.partition('/')[0]}, {subset.lower()}", found, expected, 2 * PAIRS_OF_A_RUN))
    return outcomes


def table(outcomes: Sequence[Outcome]) -> str:
    """Return the table of the page."""
    lines = [
        "| juror | calls | must be found | found in | may be found | wrong findings in |",
        "| --- | ---: | --- | --- | --- | ---: |",
    ]
    for one in outcomes:
        must = [f"`{name}`" for name in sorted(one.expected.must)]
        hits = [f"{one.found.get(name, 0)} of {one.seeds}" for name in sorted(one.expected.must)]
        may = [f"`{name}` {count}" for name, count in sorted(one.found.items()) if name in one.expected.may]
        cells = [", ".join(cell) or "-" for cell in (must, hits, may)]
        lines.append(f"| {one.kind} | {one.calls} | {' | '.join(cells)} | {one.wrong} of {one.seeds} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all audits and print the tables; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=100)
    seeds = parser.parse_args(arguments).seeds
    failed = False
    stopped = simulate_judges(seeds, precision=PRECISION)
    for outcomes in (simulate_judges(seeds), stopped, simulate_pairs(seeds), recorded_votes(seeds)):
        print(table(outcomes), end="\n\n", flush=True)
        for outcome in outcomes:
            if not outcome.is_right:
                failed = True
                print(f"not as expected: {outcome}", flush=True)
    return int(failed)


def _outcome(kind: str, found: Sequence[frozenset[str]], expected: Expected, calls: int) -> Outcome:
    allowed = expected.must | expected.may
    counts = Counter(name for names in found for name in names)
    return Outcome(kind, len(found), dict(counts), sum(bool(names - allowed) for names in found), expected, calls)


def _choices(judge: str, subset: str) -> Iterator[tuple[Choice, Choice]]:
    """Yield the choices of a recorded judge in both orders, with A for the right answer."""
    with gzip.open(VOTES, "rt", encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            vote = row["votes"].get(judge)
            if vote is None or f"/{subset}" not in row["item_id"]:
                continue
            first, second = vote.get("label_order_ab"), vote.get("label_order_ba")
            yield (first, second) if row["gold"] == "A" else (_swapped(second), _swapped(first))


def _swapped(label: str | None) -> Choice:
    return {"A": "B", "B": "A", "tie": "tie"}.get(label or "")  # type: ignore[return-value]


if __name__ == "__main__":
    raise SystemExit(main())
