"""The main job on real input: figures as in version 0.2, and a run that is killed and continued."""

import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from jury_adapters import read_results

sys.path.insert(0, str(Path(__file__).parents[1]))
import main_job

FIGURES = {"right": 93, "wrong": 3, "undecided": 4, "judged by GPT-4": 43}  # those of `jury demo` of version 0.2


def test_the_jury_on_the_recorded_votes_gives_the_figures_of_version_0_2(tmp_path: Path) -> None:
    main_job.main(str(tmp_path / "results.jsonl"))
    assert main_job.figures(tmp_path / "results.jsonl") == FIGURES


@pytest.mark.parametrize("lines", [1, 90])
def test_a_run_that_is_killed_is_continued_with_no_case_lost_or_doubled(tmp_path: Path, lines: int) -> None:
    path = tmp_path / "results.jsonl"
    command = [sys.executable, main_job.__file__, str(path), "0.01"]
    with subprocess.Popen(command) as run:
        while run.poll() is None and (not path.exists() or path.read_bytes().count(b"\n") < lines):
            time.sleep(0.005)
        run.send_signal(signal.SIGKILL)
    before = path.read_bytes().count(b"\n")
    assert lines <= before < 100
    said = subprocess.run(command[:-1], capture_output=True, text=True, check=True).stdout
    assert said.startswith(f"judged now: {100 - before};")
    assert Counter(result.case.id for result in read_results(path) if result.case) == Counter(
        case.id for case in main_job.cases()
    )
    assert main_job.figures(path) == FIGURES
