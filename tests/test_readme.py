"""The README is short, its links lead somewhere, and its examples run."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]
README = (PROJECT / "README.md").read_text(encoding="utf-8")
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.DOTALL | re.MULTILINE)
TEXTS = [*PROJECT.glob("*.md"), *(PROJECT / "docs").glob("*.md")]


def test_the_python_examples_print_what_they_say(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "none-is-sent")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none-is-sent")
    blocks = [code for kind, title, code in BLOCK.findall(README) if kind == "python" and not title]
    namespace = {"__name__": "readme"}
    for code in blocks:
        exec(compile(code, "README.md", "exec"), namespace)
        assert capsys.readouterr().out.splitlines() == re.findall(r"^print\(.*\)  # (.*)$", code, re.MULTILINE)
    assert len(blocks) >= 3


def test_the_commands_run_on_the_files_of_the_page(tmp_path):
    for _, title, content in BLOCK.findall(README):
        if title:
            (tmp_path / title).write_text(content, encoding="utf-8")
    lines = [line for kind, _, text in BLOCK.findall(README) if kind == "sh" for line in text.splitlines()]
    codes = {}
    for line in lines:
        words = shlex.split(line, comments=True)
        if words[0] not in ("jury", "python"):
            continue
        command = ["-m", "jury_adapters.cli", *words[1:]] if words[0] == "jury" else words[1:]
        run = subprocess.run([sys.executable, *command], cwd=tmp_path, capture_output=True, text=True, check=False)
        codes[words[0]] = run.returncode
        assert run.returncode == int("exits with 1" in line), run.stdout + run.stderr
    assert codes == {"jury": 0, "python": 1}
    results = (tmp_path / "results.jsonl").read_text(encoding="utf-8")
    assert re.findall(r'"judgment":\{"status":"(\w+)"', results) == ["PASS", "FAIL", "ABSTAIN"]
    assert "<h1>" in (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: page.name)
def test_links_lead_to_files(page):
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert "://" in target or (page.parent / target).exists(), target


def test_the_readme_is_short():
    assert len(README.split()) <= 1000
