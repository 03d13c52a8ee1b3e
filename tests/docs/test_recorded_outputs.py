"""Outputs of recorded votes that pages show without the votes: each is what the command prints."""

import re
from textwrap import dedent

import pytest
from doc_pages import ROOT
from typer.testing import CliRunner

from jury_adapters.cli.app import app

VOTES = ROOT / "tests/data/votes/codefeedback.jsonl.gz"
JURY = """\
name: three judges
jurors:
  - {recorded: gpt-4o-mini, labels: {valid: pass, invalid: fail}}
  - {recorded: gemini-1.5-flash, labels: {valid: pass, invalid: fail}}
  - {recorded: claude_3.5_haiku, labels: {valid: pass, invalid: fail}}
"""


@pytest.mark.slow
def test_the_jury_against_human_labels(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    (tmp_path / "jury.yaml").write_text(JURY, encoding="utf-8")
    command = ["replay", str(VOTES), "--jury", str(tmp_path / "jury.yaml")]
    done = CliRunner().invoke(app, command, catch_exceptions=False)
    assert done.exit_code == 0
    page = (ROOT / "docs/how_to/human_labels.md").read_text(encoding="utf-8")
    begin = page.index("    Against human labels: 2,686")
    shown = dedent(page[begin : page.index("\nBegin with the false passes", begin)]).splitlines()
    printed = done.stdout[done.stdout.index("Against human labels: 2,686") :].splitlines()
    assert shown == [line.rstrip() for line in printed[: len(shown)]]


def test_the_demo_in_the_readme(monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    begin = re.search(r"^ +right  wrong", readme, re.MULTILINE)
    shown = readme[begin.start() :].split("\n\nThe second")[0].splitlines()
    done = CliRunner().invoke(app, ["demo"], catch_exceptions=False)
    printed = [line.rstrip() for line in done.stdout.splitlines()]
    at = printed.index(shown[0].removeprefix("  "))
    assert len(shown) > 10
    assert shown == [f"  {line}".rstrip() for line in printed[at : at + len(shown)]]
