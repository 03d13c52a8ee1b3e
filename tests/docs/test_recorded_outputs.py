"""Outputs of recorded votes that pages show without the votes: each is what the command prints."""

import os
import subprocess
import sys
from textwrap import dedent

from doc_pages import ROOT

VOTES = ROOT / "tests/data/votes/codefeedback.jsonl.gz"
JURY = """\
name: three judges
jurors:
  - {recorded: gpt-4o-mini, pass_labels: [valid]}
  - {recorded: gemini-1.5-flash, pass_labels: [valid]}
  - {recorded: claude_3.5_haiku, pass_labels: [valid]}
"""


def test_the_jury_against_people(tmp_path):
    (tmp_path / "jury.yaml").write_text(JURY, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "jury_adapters.cli", "replay", VOTES, "--jury", tmp_path / "jury.yaml"],
        capture_output=True, text=True, check=True, env={**os.environ, "COLUMNS": "100"},
    )  # fmt: skip
    page = (ROOT / "docs/how_to/people.md").read_text(encoding="utf-8")
    begin = page.index("    Against people: 2,686")
    shown = dedent(page[begin : page.index("\nRead it from the right", begin)]).splitlines()
    printed = done.stdout[done.stdout.index("Against people: 2,686") :].splitlines()
    assert shown == [line.rstrip() for line in printed[: len(shown)]]
