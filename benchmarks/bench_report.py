"""Time and memory of reports of a results file, beside version 0.2.

Both versions judge the same cases with three functions, which give reasons and confidences. Every fifth case has a
human label. Then each reads its file in a process of its own, once for the figures and once for the page. Lines of 1.0
hold the texts of the case; 0.2 reads them from a second file. Its page has all cases, that of 1.0 the 1,000 most
contested ones.

Usage: python benchmarks/bench_report.py [CASES] [FOLDER_OF_0.2]
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random
from time import perf_counter, process_time
from typing import Any

HERE = Path(__file__).resolve()
TEXT = "The ferry between the islands stopped running in 2018, after forty years. "


def cases(count: int) -> Iterator[dict[str, Any]]:
    """Yield the cases, with the votes of three jurors and the label of a person in their metadata."""
    dice = Random(7)
    for number in range(count):
        good = dice.random() < 0.7
        votes = {name: [good == (dice.random() < 0.85), round(dice.random(), 3)] for name in ("a", "b", "c")}
        label = {"gold": "pass" if good else "fail"} if number % 5 == 0 else {}
        yield {
            "id": f"case-{number}",
            "question": f"When did ferry {number} stop?",
            "answer": f"It stopped in {1900 + number % 120}. {TEXT}",
            "contexts": [TEXT * 5, TEXT * 4],
            "metadata": {**label, "votes": votes},
        }


def judge_all(version: str, folder: Path, count: int) -> None:
    """Write the results file of a version."""
    from jury_adapters import Case, Ensemble, Judgment, judge

    def juror(name: str) -> Any:
        @judge(name=name)
        def vote(case: Case) -> Judgment:
            good, sure = (case.metadata if version == "1.0" else case.meta)["votes"][name]  # type: ignore[attr-defined]
            reason = f"The claim is {'supported by' if good else 'not in'} the passage about the ferry."
            details: dict[str, Any] = {"score": float(good), "confidence": sure, "reasoning": reason, "critic": name}
            return Judgment(**{"status": "PASS" if good else "FAIL", **details})

        return vote

    jury = Ensemble([juror(name) for name in "abc"])
    if version == "1.0":
        from jury_adapters import ResultsFile

        with ResultsFile(folder / "results.jsonl", jury, label="gold") as results:
            for _ in results.judge(cases(count)):
                pass
    else:
        from jury_adapters import Report  # type: ignore[attr-defined]

        found = Report.from_results(jury.judge_pairs(cases(count)))
        found.write_results(folder / "results.jsonl", cases=folder / "cases.jsonl")


def measure(version: str, folder: Path, form: str) -> None:
    """Print the seconds, the seconds of CPU and the memory that a form of the report takes, imports included."""
    started = perf_counter()
    if version == "1.0":
        from jury_adapters.report import Report

        report: Any = Report(folder / "results.jsonl")
        report.write(folder / "page.html") if form == "page" else report.to_markdown()
    else:
        from jury_adapters import Report as OldReport  # type: ignore[attr-defined]

        report = OldReport.read(folder / "results.jsonl", cases=folder / "cases.jsonl")
        report.write_html(folder / "page.html") if form == "page" else report.to_markdown()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps([perf_counter() - started, process_time(), peak]))


def run(source: Path, *arguments: str) -> str:
    """Run this script with a version of the package, and return what it prints."""
    environment = {**os.environ, "PYTHONPATH": str(source)}
    command = [sys.executable, str(HERE), *arguments]
    return subprocess.run(command, env=environment, cwd=source, stdout=subprocess.PIPE, text=True, check=True).stdout


def main(count: int, old: str = "") -> None:
    """Judge, measure and print a table."""
    versions = {"1.0": HERE.parents[1], **({"0.2": Path(old).resolve()} if old else {})}
    print(f"{count:,} results           seconds      CPU   MiB   of which imports")
    for version, source in versions.items():
        with tempfile.TemporaryDirectory() as folder:
            run(source, "judge", version, folder, str(count))
            imports = float(run(source, "imports", version))
            for form in ("figures", "page"):
                seconds, cpu, peak = json.loads(run(source, "measure", version, folder, form))
                print(f"{version} {form:<8} {seconds:>18.1f} {cpu:>8.1f} {peak:>5.0f} {imports:>10.0f}", flush=True)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["judge", version, folder, count]:
            judge_all(version, Path(folder), int(count))
        case ["measure", version, folder, form]:
            measure(version, Path(folder), form)
        case ["imports", version]:
            __import__("jury_adapters.report.report")
            print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
        case arguments:
            main(int(arguments[0]) if arguments else 100_000, *arguments[1:])
