"""Make the pictures of the report that the README and the documentation show.

The votes are the recorded ones that come with the package: real judges, and the same ones each time::

    python docs/make_screenshots.py [FOLDER]   # needs chromium on the path, and the extras cli and report

The letters are the machine's own fonts, and may look a little different elsewhere.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from jury_adapters import CascadedJury, Case, Ensemble, Tier
from jury_adapters.core.batch import Judged
from jury_adapters.core.row_files import read_rows
from jury_adapters.core.serial import judgment_from_dict
from jury_adapters.replay import RecordedCritic
from jury_adapters.report import Report

IMAGES = Path(__file__).parent / "images"
TITLE = "Is this feedback to a student valid?"
LARGEST = 300_000  # bytes


@dataclass(frozen=True)
class Shot:
    """One picture: its name, the window in pixels, and whether the reader has asked for a dark one."""

    name: str
    width: int
    height: int
    dark: bool = False


SHOTS = (
    Shot("report-desktop-light", 1280, 1420),
    Shot("report-desktop-dark", 1280, 1420, dark=True),
    Shot("report-phone", 390, 1700),
)


def main(folder: Path = IMAGES) -> None:
    """Make them all, in a folder."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        sys.exit("install chromium to make the pictures")
    folder.mkdir(exist_ok=True)
    with TemporaryDirectory() as room:
        page = Path(room) / "report.html"
        demo_report().to_html(page)
        for shot in SHOTS:
            taken = folder / f"{shot.name}.png"
            take(shot, page, taken, browser, Path(room))
            print(f"{taken.name}: {taken.stat().st_size / 1000:.0f} kB")


def demo_report() -> Report:
    """The report of three small models on 200 cases, and a large one where they split."""
    with as_file(files("jury_adapters.cli") / "data" / "codefeedback_200.jsonl.gz") as votes:
        cases = [Case.from_row(row.values) for row in read_rows(votes) if row.values is not None]
    verdicts = (untimed(verdict.to_dict()) for verdict in feedback_jury().judge_many(cases))
    judged = (
        Judged(at, case, judgment_from_dict(told)) for at, (case, told) in enumerate(zip(cases, verdicts, strict=True))
    )
    return Report.from_results(judged, title=TITLE)


def feedback_jury() -> CascadedJury:
    """A jury in which three small models vote and a large one decides if they are split; the costs are assumed."""
    labels = {"valid": "pass", "invalid": "fail"}
    names = ("gpt-4o-mini", "gemini-1.5-flash", "claude_3.5_haiku")
    small = [RecordedCritic(name, labels=labels, cost=0.0003) for name in names]
    large = RecordedCritic("gemini-2.5-pro", labels=labels, cost=0.0060)
    return CascadedJury(
        [Tier("small models", Ensemble(small, min_votes=2), "escalate_on_split"), Tier("large model", large)],
        name="small-to-large cascade",
    )


def untimed(told: Any) -> Any:
    """The same without the times: how long a replay takes says nothing, and is never the same twice."""
    if isinstance(told, dict):
        return {name: untimed(value) for name, value in told.items() if name != "elapsed_s"}
    return [untimed(value) for value in told] if isinstance(told, list) else told


def take(shot: Shot, page: Path, target: Path, browser: str, room: Path) -> None:
    """One picture of a page.

    Raises:
        RuntimeError: the browser made none, or one that is too large for a README.
    """
    options = (
        "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--force-device-scale-factor=1",
        f"--user-data-dir={room / 'profile'}", "--virtual-time-budget=3000",
        f"--window-size={shot.width},{shot.height}", f"--blink-settings=preferredColorScheme={0 if shot.dark else 1}",
        f"--screenshot={target}",
    )  # fmt: skip
    done = subprocess.run([browser, *options, page.as_uri()], capture_output=True, text=True, timeout=120, check=False)
    if done.returncode or not target.exists():
        raise RuntimeError(f"the browser made no picture: {done.stderr[-500:]}")
    if target.stat().st_size > LARGEST:
        raise RuntimeError(f"{target.name} has {target.stat().st_size:,} bytes; make its window smaller")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
