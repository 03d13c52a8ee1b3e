"""Run ``jury`` in this process or in its own, on files that are written for it."""

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from model_server import Received, answer, response
from typer.main import get_command

from jury_adapters.cli.app import app

COMMAND = get_command(app)  # which takes 10 ms
Content = str | bytes | list[dict[str, Any]]

# Juries: recorded votes that pass or fail, recorded votes for A or B, and checks.
BOAT = "recorded: boat\nlabels: {valid: pass, invalid: fail, unsure: abstain}\n"
PAIRS = "recorded: boat\nlabels: {A: label, B: label, tie: abstain}\n"
BRIEF = """\
name: brief
jurors:
  text: {check: not_empty}
  short: {check: length_between, maximum: 20}
voting: unanimous
"""
KEY = "sk-test-key-0123456789abcdef"


def polite(request: Received) -> list[bytes]:
    """Answer YES, for 100 and 10 tokens."""
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    return [response(answer(request, '{"reasoning": "so", "answer": "YES"}', model="gpt-4o-mini", usage=usage))]


@dataclass(frozen=True)
class Ran:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def lines(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def write(folder: Path, files: Mapping[str, Content]) -> None:
    for name, content in files.items():
        text = lines(content) if isinstance(content, list) else content
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())


def boat(*votes: Any, **more: Any) -> list[dict[str, Any]]:
    """Rows q0, q1, ... with the recorded votes; ERROR is a juror that broke, None one that was not recorded."""
    broken = {"status": "ERROR", "error": "503 down"}
    return [
        {"id": f"q{place}", "question": f"Q{place}?", "answer": f"A{place}."}
        | {"votes": {} if vote is None else {"boat": broken if vote == "ERROR" else vote}}
        | {name: one[place] if isinstance(one, list) else one for name, one in more.items()}
        for place, vote in enumerate(votes)
    ]


def accuracy_of(done: Ran) -> tuple[float, int]:
    """Return the accuracy of the jury against human labels, and the number of cases behind it."""
    rows = (
        row
        for table in done.json["tables"]
        if table["title"] == "The jury against human labels"
        for row in table["rows"]
    )
    _, value, _, cases, *_ = next(row for row in rows if row[0] == "accuracy")
    return float(value), int(cases)


class Command:
    """The command, in one folder."""

    def __init__(self, folder: Path, captured: Any) -> None:
        self.folder, self._captured = folder, captured

    def __call__(self, *arguments: str, files: Mapping[str, Content] | None = None) -> Ran:
        """Run it in this process."""
        write(self.folder, files or {})
        self._captured.readouterr()
        try:
            COMMAND([*arguments], prog_name="jury")
        except SystemExit as end:
            code = int(end.code or 0)
        out, err = self._captured.readouterr()
        return Ran(code, out, err)


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "jury_adapters.cli", *arguments]


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "COLUMNS": "200", **more}
