"""Cost of a verdict: microseconds per verdict of three plain-function judges, against the floor.

Run it from the repository: ``python tests/benchmarks/bench_core.py``. All rows are measured in one process, in turn,
seven rounds each. A ratio is the median of the ratios within the rounds, with the lowest and the highest of them. The
floor builds the same result (three judgments and a verdict with the same fields) by hand, with plain dataclasses and no
checks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter

from ratios import print_microseconds

from jury_adapters import CascadedJury, Case, Ensemble, Tier

ROUNDS = 7
VERDICTS = 3_000
CASE = Case(question="What is the capital of France?", answer="Paris", contexts=["Paris is the capital of France."])


@dataclass
class PlainJudgment:
    """The fields of a Judgment, unchecked."""

    status: str
    score: float | None = None
    label: str | None = None
    probabilities: dict[str, float] | None = None
    confidence: float | None = None
    reasoning: str = ""
    findings: tuple[object, ...] = ()
    critic: str = ""
    model: str | None = None
    family: str | None = None
    usage: object = None
    elapsed_s: float | None = None
    error: str | None = None
    raw_response: str | None = None
    metadata: dict[str, object] = field(default_factory=dict)


@dataclass
class PlainTally:
    """The fields of a Tally, unchecked."""

    on: str
    eligible: int
    passed: int
    failed: int
    abstained: int
    errors: int
    ignored: int
    tied: bool
    ballots: tuple[str, ...]


@dataclass
class PlainVerdict(PlainJudgment):
    """The fields of a Verdict, unchecked."""

    judgments: tuple[PlainJudgment, ...] = ()
    weights: tuple[float, ...] = ()
    voting: str = ""
    tally: PlainTally | None = None
    same_family: bool = False
    band_on: str = "pairs"
    partial: bool = False
    calls_saved: int = 0
    skipped: tuple[str, ...] = ()
    tiers: tuple[object, ...] = ()
    stopped_at: str | None = None
    decision: str | None = None


def named(case: Case) -> bool:
    """Plain check."""
    return "Paris" in (case.answer or "")


def short(case: Case) -> bool:
    """Plain check."""
    return len(case.answer or "") < 80


def supported(case: Case) -> bool:
    """Plain check."""
    return (case.answer or "") in case.contexts[0]


def by_hand() -> PlainVerdict:
    """The floor."""
    started = perf_counter()
    judgments = []
    for check in (named, short, supported):
        begun = perf_counter()
        status = "PASS" if check(CASE) else "FAIL"
        judgments.append(PlainJudgment(status, critic=check.__name__, elapsed_s=perf_counter() - begun))
    ballots = tuple(judgment.status for judgment in judgments)
    passed = ballots.count("PASS")
    tally = PlainTally("status", 3, passed, 3 - passed, 0, 0, 0, False, ballots)
    return PlainVerdict(
        "PASS" if passed > 3 - passed else "FAIL",
        confidence=max(passed, 3 - passed) / 3,
        reasoning=f"{passed} of 3 voted PASS",
        judgments=tuple(judgments),
        voting="majority",
        tally=tally,
        elapsed_s=perf_counter() - started,
    )


def main() -> None:
    """Measure and print."""
    jury = Ensemble([named, short, supported])
    early = Ensemble([named, short, supported], schedule="early_stop", on="status")
    cascade = CascadedJury(
        [
            Tier("screen", named, "reject_on_any_fail"),
            Tier("cheap", Ensemble([named, short]), "reject_on_any_fail"),
            Tier("panel", jury, "final"),
        ]
    )

    async def awaited() -> None:
        for _ in range(VERDICTS):
            await jury.ajudge(CASE)

    def times(function: Callable[[], object]) -> Callable[[], None]:
        def run() -> None:
            for _ in range(VERDICTS):
                function()

        return run

    rows: dict[str, Callable[[], None]] = {
        "floor: the same result by hand, plain dataclasses": times(by_hand),
        "Ensemble of 3 plain functions, judge()": times(lambda: jury.judge(CASE)),
        "the same, await ajudge()": lambda: asyncio.run(awaited()),
        "the same, schedule='early_stop'": times(lambda: early.judge(CASE)),
        "cascade of 3 tiers (1 + 2 + 3 judges), judge()": times(lambda: cascade.judge(CASE)),
    }
    seconds: dict[str, list[float]] = {name: [] for name in rows}
    for _ in range(ROUNDS):
        for name, run in rows.items():
            started = perf_counter()
            run()
            seconds[name].append(perf_counter() - started)
    print_microseconds(seconds, VERDICTS, "floor")


if __name__ == "__main__":
    main()
