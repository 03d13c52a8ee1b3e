"""CPU time and peak memory of the commands that read a results file, each in a process of its own.

    python tests/benchmarks/bench_cli_files.py [--rows 100000] [--draws 100] [--rounds 1] [--against CHECKOUT]

With several rounds, the table has the median of the seconds with the lowest and the highest, and the most memory. The
results are generated: three jurors with reasons, confidences, usage and models, and a human label for each case. With
``--against`` each command is also run with the package of another checkout of the repository, and its output must be
the same, byte for byte.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from hashlib import file_digest
from pathlib import Path
from typing import NamedTuple

from ratios import spread

from jury_adapters import Case, Ensemble, Judgment, Usage
from jury_adapters.core.function_judge import FunctionJudge

HERE = Path(__file__).resolve().parents[2]
DIFFERENT = 2_000
"""Number of different verdicts; the ids, lines and keys of all rows are different."""
JURORS = ("alpha", "beta", "gamma")
JURY = "name: again\njurors:\n" + "".join(f"  - {{recorded: {name}}}\n" for name in JURORS)


class Run(NamedTuple):
    """CPU time in seconds and peak memory in MB of one process, and the hash of what it printed and wrote."""

    seconds: float
    megabytes: float
    output: str


def main() -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--against", type=Path)
    options = parser.parse_args()
    before = "CPU s before | MB before | " if options.against else ""
    print(f"| {options.rows:,} rows | {before}CPU s | MB |\n| --- |{' ---: |' * (before.count('|') + 2)}")
    with tempfile.TemporaryDirectory() as folder:
        for name, seed in (("a.jsonl", 1), ("b.jsonl", 2)):
            write_results(Path(folder) / name, options.rows, seed)
        (Path(folder) / "jury.yaml").write_text(JURY)
        for command in (
            "report a.jsonl --html a.html --quiet --force", "report a.jsonl",
            f"report a.jsonl --agreement --draws {options.draws}", "replay a.jsonl --jury jury.yaml",
            "compare a.jsonl b.jsonl",
        ):  # fmt: skip
            packages = (HERE,) if options.against is None else (options.against.resolve(), HERE)
            rounds = [[run(command, Path(folder), package) for package in packages] for _ in range(options.rounds)]
            assert len({one.output for runs in rounds for one in runs}) == 1, f"{command}: other output"
            print(f"| `jury {command}` | {' | '.join(map(cells, zip(*rounds, strict=True)))} |", flush=True)


def cells(runs: Sequence[Run]) -> str:
    """Return the cells of several runs of one command: seconds and MB."""
    if len(runs) == 1:
        return f"{runs[0].seconds:.1f} | {runs[0].megabytes:.0f}"
    return f"{spread([one.seconds for one in runs], '.1f')} | {max(one.megabytes for one in runs):.0f}"


def run(command: str, folder: Path, package: Path) -> Run:
    """Run one command with the package of a checkout."""
    page = folder / "a.html"
    page.unlink(missing_ok=True)
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "jury_adapters.cli", *command.split()],
            cwd=folder, stdout=output, env={**os.environ, "PYTHONPATH": str(package), "COLUMNS": "100"},
        )  # fmt: skip
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0, f"{command}: exit code {process.returncode}"
        output.seek(0)
        printed = file_digest(
            output, "sha256"
        ).hexdigest()  # in pieces: a new process has the memory of this one at first
        if page.exists():
            with page.open("rb") as written:
                printed += file_digest(written, "sha256").hexdigest()
    return Run(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, printed)


def write_results(path: Path, rows: int, seed: int) -> None:
    """Write a results file as ``jury judge --out`` does."""
    verdicts = list(different_verdicts(seed))
    with path.open("w") as file:
        for at in range(rows):
            verdict = {**verdicts[at % DIFFERENT], "case_id": f"q{at}"}
            row = {"line": at + 1, "item_id": f"q{at}", "key": f"{at:064x}", "cases": "", "verdict": verdict}
            file.write(json.dumps(row) + "\n")


def different_verdicts(seed: int) -> Iterator[dict[str, object]]:
    """Yield verdicts of three jurors that judge at random."""
    draw = random.Random(seed)

    def judge(case: Case) -> Judgment:
        usage = Usage(input_tokens=draw.randrange(200, 400), output_tokens=40, calls=1, cost_usd=0.0001)
        said = draw.choices(("PASS", "FAIL", "ABSTAIN"), (0.7, 0.27, 0.03))[0]
        confidence = None if said == "ABSTAIN" else round(draw.random(), 2)
        reasoning = f"passage {draw.randrange(10**6)} says so, in the third sentence of its second paragraph"
        return Judgment(said, confidence=confidence, reasoning=reasoning, model="gpt-4o-mini", usage=usage)  # type: ignore[arg-type]

    jury = Ensemble([FunctionJudge(judge, name=name) for name in JURORS], name="three")
    for at in range(DIFFERENT):
        case = Case(query="When?", response=f"In {at}.", metadata={"gold": draw.choice(("PASS", "FAIL")), "at": at})
        yield dict(jury.judge(case).to_dict())


if __name__ == "__main__":
    main()
