"""Start-up cost of the ``jury`` command: CPU of whole processes, as ratios to ``import typer``.

Run it from the repository: ``python tests/benchmarks/bench_cli_start.py``. In each round every row runs once, beside
``import typer``. The medians of the ratios within the rounds are reported, with the lowest and the highest, because
seconds are those of one machine. The bytecode is cached, as it is after an installation.

``libraries`` is the minimum that a judging command needs: typer reads one option (its newer versions use pydantic for
that), and asyncio, a first pydantic model, PyYAML and the console of rich are imported.
"""

from __future__ import annotations

import os
import subprocess
import sys
from argparse import ArgumentParser
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from tempfile import TemporaryDirectory

from ratios import spread_of_ratios

COMMAND = ("-m", "jury_adapters.cli")
LIBRARIES = """
import asyncio, typer, yaml, rich.console, rich.table
from pydantic import BaseModel
class First(BaseModel):
    text: str = ""
def command(limit: int = 1) -> None:
    pass
typer.run(command)
"""


def main() -> None:
    """Measure all rows and print them as a Markdown table."""
    parser = ArgumentParser(description=__doc__, usage="%(prog)s [--rounds N]")
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    with TemporaryDirectory() as folder:
        rows = rows_in(Path(folder))
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment["PYTHONPYCACHEPREFIX"] = str(Path(folder) / "bytecode")
        seconds: dict[str, list[float]] = {name: [] for name in rows}
        for number in range(rounds + 1):
            for name, arguments in rows.items():
                used = cpu_seconds(arguments, environment)
                if number:  # the first round writes the bytecode
                    seconds[name].append(used)
    print("| process | CPU, x `import typer` | CPU seconds here |")
    print("| --- | ---: | ---: |")
    base = seconds["import typer"]
    for name, of_rounds in seconds.items():
        print(f"| {name} | {spread_of_ratios(of_rounds, base, '.2g')} | {min(of_rounds):.2f} |")


def rows_in(folder: Path) -> dict[str, tuple[str, ...]]:
    """Return the arguments of the interpreter for each row, after writing their files to a folder."""
    cases, jury = folder / "cases.jsonl", folder / "jury.yaml"
    cases.write_text('{"question": "Which capital?", "answer": "Paris."}\n')
    jury.write_text("jurors: {paris: {check: contains, texts: [Paris]}}\n")
    return {
        "import typer": ("-c", "import typer"),
        "`jury --version`": (*COMMAND, "--version"),
        "`jury --help`": (*COMMAND, "--help"),
        "`jury judge --help`": (*COMMAND, "judge", "--help"),
        "the libraries of `jury judge` alone": ("-c", LIBRARIES),
        "`jury judge` of one row, one check": (*COMMAND, "judge", str(cases), "--jury", str(jury)),
    }


def cpu_seconds(arguments: tuple[str, ...], environment: dict[str, str]) -> float:
    """Return the CPU seconds of a process of this interpreter, user and system together."""
    before = getrusage(RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], env=environment, stdout=subprocess.DEVNULL, check=True)
    after = getrusage(RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)


if __name__ == "__main__":
    main()
