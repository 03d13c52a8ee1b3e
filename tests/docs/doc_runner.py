"""Runs the code blocks of one page from top to bottom, as a reader would who follows it."""

from __future__ import annotations

import csv
import difflib
import doctest
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml
from doc_pages import ROOT, Block
from typer.testing import CliRunner

from jury_adapters import Rubric
from jury_adapters.cli.app import app
from jury_adapters.config import load_jury

PYTHON, SHELL, OUTPUT = ("python", "py"), ("sh",), ("text", "console")
FILES = ("yaml", "json", "jsonl", "csv", "toml")
DIFF = "diff"
LANGUAGES = (*PYTHON, *SHELL, *OUTPUT, *FILES, DIFF)

_EXITS = re.compile(r"#\s*exits with (\d+)")
_NEEDS_A_SHELL = re.compile(r"[|><;&$*]")


class PageError(AssertionError):
    """Difference between a page and what happens."""


class PageRunner:
    """One page being followed: its namespace and what was printed last.

    The working folder is the reader's: blocks with a title become files there.

    Args:
        page: the page's path from the root, for messages.
        names: what the page takes for granted.
        read_output: gives what was printed since it was asked last.
        left_out: says why a block, or a line of a ``sh`` block, is not run; empty when it is.
    """

    def __init__(
        self,
        page: str,
        names: Mapping[str, Any],
        read_output: Callable[[], str],
        left_out: Callable[[str, str], str],
    ) -> None:
        self.page = page
        self.names: dict[str, Any] = {"__name__": "__main__", **names}
        self.printed: str | None = None
        self.outputs: list[tuple[Block, str]] = []
        self._read_output = read_output
        self._left_out = left_out

    def follow(self, block: Block) -> None:
        """Do what a block says."""
        if block.language not in LANGUAGES:
            raise PageError(f"{self._place(block)}: write one of {', '.join(LANGUAGES)}, not {block.language!r}")
        if block.language in OUTPUT and not block.title:
            self._compare(block)
            return
        self.printed = None
        if block.title:
            file = Path(block.title)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.code, encoding="utf-8")
        if self._left_out(self.page, block.first_line):
            return
        if block.language in PYTHON:
            self._run_python(block)
        elif block.language in SHELL:
            self._run_shell(block)
        elif block.language in FILES:
            check_file(block)
        elif not applied(block, ROOT, "--check"):
            raise PageError(f"{self._place(block)}: the change does not fit the files of the repository")

    def problem_with(self, block: Block) -> list[str]:
        """False statements of a block, as text. Code that breaks raises its own exception."""
        try:
            self.follow(block)
        except PageError as problem:
            return [str(problem)]
        return []

    def _run_python(self, block: Block) -> None:
        # Lines before it are left empty, so that a traceback names the line of the page.
        code = compile("\n" * (block.line - 1) + block.code, self.page, "exec")
        if Path(block.title).name.startswith("test_"):
            return  # a file of tests, which a `pytest` line of the page runs
        self._read_output()
        exec(code, self.names)
        self.printed = self._read_output()

    def _run_shell(self, block: Block) -> None:
        lines = [line for line in block.code.replace("\\\n", " ").splitlines() if line.strip() and line[0] != "#"]
        printed = [self._run_line(line, block) for line in lines if not self._left_out(self.page, line)]
        self.printed = "".join(printed) if printed else None

    def _run_line(self, line: str, block: Block) -> str:
        expected = _EXITS.search(line)
        command = _EXITS.sub("", line).strip()
        words = shlex.split(command, comments=True)
        if words[0] == "export":
            os.environ.update(word.split("=", 1) for word in words[1:])
            return ""
        if words[0].endswith("jury") and not _NEEDS_A_SHELL.search(command):
            result = CliRunner().invoke(app, words[1:], catch_exceptions=False)
            code, output = result.exit_code, result.output
        else:
            code, output = _in_bash(command)
        if code != (int(expected[1]) if expected else 0):
            raise PageError(f"{self._place(block)}: {command!r} exits with {code}\n{output}")
        return output

    def _compare(self, block: Block) -> None:
        if self.printed is None:
            raise PageError(f"{self._place(block)}: this output follows nothing that was run")
        self.outputs.append((block, self.printed))
        want, got = _tidy(block.code), _tidy(self.printed)
        if not doctest.OutputChecker().check_output(want, got, doctest.ELLIPSIS):
            lines = difflib.unified_diff(want.splitlines(), got.splitlines(), "the page", "printed", lineterm="")
            raise PageError(f"{self._place(block)}: the page shows another output\n" + "\n".join(lines))

    def _place(self, block: Block) -> str:
        return f"{self.page}:{block.line}"


def check_file(block: Block) -> None:
    """Whether a block is what its language says: a jury file, a rubric, rows of JSON, ..."""
    if block.language == "yaml":
        content = yaml.safe_load(block.code)
        if not {"jurors", "tiers"} & content.keys() and "criteria" in content:
            Rubric.from_yaml(block.code)
        elif not {"on", True, "repos"} & content.keys():  # a workflow: YAML reads its `on` as True
            load_jury(block.title or block.code, allow_commands=True)
    elif block.language == "jsonl":
        assert all(isinstance(json.loads(line), dict) for line in block.code.splitlines())
    elif block.language == "json":
        json.loads(block.code)
    elif block.language == "toml":
        tomllib.loads(block.code)
    elif block.language == "csv":
        lengths = {len(row) for row in csv.reader(block.code.splitlines())}
        assert len(lengths) == 1, "rows of different lengths"


def applied(block: Block, root: Path, *options: str) -> bool:
    """Apply a change of files that a page shows; whether it fits."""
    command = ["git", "apply", "--recount", *options, "-"]
    outside = {**os.environ, "GIT_CEILING_DIRECTORIES": str(root.parent)}
    done = subprocess.run(command, input=block.code, cwd=root, env=outside, text=True, capture_output=True, check=False)
    return done.returncode == 0


def with_outputs(text: str, outputs: list[tuple[Block, str]]) -> str:
    """The page with what was really printed in its output blocks.

    A line with dots that matches a printed line is kept. Other dots for what changes, but times, are put by hand.
    """
    lines = text.splitlines()
    for block, printed in reversed(outputs):
        start, end = block.line - 1, block.line - 1 + block.code.count("\n")
        if not _matches(_tidy(block.code), _tidy(printed)):
            untimed = re.sub(r"\bin \d+\.\d+ ?s\b", "in ... s", _tidy(printed)).splitlines()
            dotted = [line for line in _tidy(block.code).splitlines() if "..." in line and line.strip() != "..."]
            kept = [next((old for old in dotted if _matches(old, line)), line) for line in untimed]
            lines[start:end] = [f"{block.indent}{line}".rstrip() for line in kept]
    return "\n".join(lines) + "\n"


def _matches(shown: str, printed: str) -> bool:
    return doctest.OutputChecker().check_output(shown, printed, doctest.ELLIPSIS)


def _in_bash(command: str) -> tuple[int, str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"],
        env={**os.environ, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=60,
    )
    return done.returncode, done.stdout


def _tidy(output: str) -> str:
    """Without blanks at the ends of lines, and empty lines at its own ends."""
    return "\n".join(line.rstrip() for line in output.strip("\n").splitlines()) + "\n"
