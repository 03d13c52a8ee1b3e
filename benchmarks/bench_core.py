"""Speed and memory of the core, beside version 0.2, in one run.

Each round runs both versions in turn, in processes of their own. Printed are medians, and the ratios of the rounds.
Lines of 1.0 hold the texts of the case; those of 0.2 do not.

Usage: python benchmarks/bench_core.py FOLDER_OF_0.2 [ROUNDS]
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

HERE = Path(__file__).resolve()
ALONE, BATCH, LINES = 1_000, 10_000, 100_000
ANSWER = "The ferry between the islands stopped running in 2018, after forty years."


def measure(version: str, folder: str) -> dict[str, float]:
    """Return seconds by what was measured, in this process."""
    from jury_adapters import Case, Ensemble, Judge, Judgment, abstain

    class Check(Judge):
        def __init__(self, word: str) -> None:
            self.word = self.name = word

        async def assess(self, case: Case) -> Judgment | bool:
            return abstain("no answer") if case.answer is None else self.word in case.answer

    class OldCheck(Check):  # the form of the checks of 0.2, which need no loop
        inline = True

        def assess(self, case: Case) -> Judgment | bool:  # type: ignore[override]
            return abstain("no answer") if case.answer is None else self.word in case.answer

    words = ("ferry", "2018", "islands")
    check = Check if version == "1.0" else OldCheck
    juries = {
        "three functions": Ensemble({word: lambda case, word=word: word in case.answer for word in words}),
        "three checks": Ensemble([check(word) for word in words]),
    }
    found = {}
    for name, jury in juries.items():
        case = Case(question="When?", answer=ANSWER)
        jury.judge(case)
        found[f"{name}, alone"] = timed(lambda jury=jury, case=case: [jury.judge(case) for _ in range(ALONE)])
        cases = [case] * BATCH
        found[f"{name}, batch of {BATCH:,}"] = timed(
            lambda jury=jury, cases=cases: sum(1 for _ in jury.judge_many(cases))
        )
    found |= files(
        version, Path(folder) / f"{version}.jsonl", juries["three checks"], Case(question="When?", answer=ANSWER)
    )
    found["peak memory, MiB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return found


def files(version: str, path: Path, jury: object, case: object) -> dict[str, float]:
    """Return the seconds of writing and of reading result lines."""
    verdict = jury.judge(case)  # type: ignore[attr-defined]
    if version == "1.0":
        from jury_adapters import ResultsFile, read_results

        def write() -> None:
            with ResultsFile(path, jury) as results:  # type: ignore[arg-type]
                for number in range(LINES):
                    results.write(case.model_copy(update={"id": str(number)}), verdict)  # type: ignore[attr-defined]

    else:
        from jury_adapters.core.results_file import Result, read_results  # type: ignore[import-not-found,no-redef]

        def write() -> None:
            with path.open("w") as file:
                for number in range(LINES):
                    file.write(json.dumps(Result(verdict, item_id=str(number)).to_row()) + "\n")
                    file.flush()

    return {
        f"write {LINES:,} lines": timed(write),
        f"read {LINES:,} lines": timed(lambda: sum(1 for _ in read_results(path))),
        "size of the file, MiB": path.stat().st_size / 2**20,
    }


def timed(work: Callable[[], object]) -> float:
    """Return the seconds that work takes."""
    started = perf_counter()
    work()
    return perf_counter() - started


def main(old: str, rounds: int) -> None:
    """Run both versions in turn and print the table."""
    sources = {"0.2": str(Path(old).resolve()), "1.0": str(HERE.parents[1])}
    found: dict[str, list[dict[str, float]]] = {version: [] for version in sources}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(rounds):
            for version, source in sources.items():
                command = [sys.executable, str(HERE), "--measure", version, folder]
                said = subprocess.run(
                    command, env={**os.environ, "PYTHONPATH": source}, stdout=subprocess.PIPE, check=True
                )
                found[version].append(json.loads(said.stdout))
    print(f"{'seconds, medians of ' + str(rounds) + ' rounds':36}{'0.2':>10}{'1.0':>10}   1.0 / 0.2 (lowest, highest)")
    for name in found["1.0"][0]:
        before, after = ([one[name] for one in found[version]] for version in ("0.2", "1.0"))
        scale = 1e6 / ALONE if name.endswith("alone") else 1
        ratios = [new / max(past, 1e-9) for past, new in zip(before, after, strict=True)]
        label = f"{name}, µs a verdict" if scale != 1 else name
        print(
            f"{label:36}{scale * statistics.median(before):10.2f}{scale * statistics.median(after):10.2f}   "
            f"{statistics.median(ratios):.2f} ({min(ratios):.2f}, {max(ratios):.2f})"
        )


if __name__ == "__main__":
    if sys.argv[1] == "--measure":
        print(json.dumps(measure(*sys.argv[2:])))
    else:
        main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3)
