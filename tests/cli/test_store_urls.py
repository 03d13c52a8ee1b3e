"""URLs of databases as stores of commands: they reach the database as they were given, and no message shows them."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from jury_adapters.cli.app import app, run

JURY = "jurors:\n  - check: not_empty\n"
ROWS = "".join(f'{{"question": "q", "answer": "a{number}", "gold": "pass"}}\n' for number in range(3))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("jury.yaml").write_text(JURY, encoding="utf-8")
    Path("rows.jsonl").write_text(ROWS, encoding="utf-8")
    return tmp_path


COMMANDS = {
    "replay": "replay {url} --jury jury.yaml",
    "judge": "judge rows.jsonl --jury jury.yaml --store {url} --out out.jsonl --report page.html --junit junit.xml",
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("mysql://me:hunter2@db/juries", "mysql:// is not a store"),
        ("postgresql+psycopg://me:hunter2@127.0.0.1:1/juries", "127.0.0.1"),
    ],
)
def test_a_url_is_no_path(folder: Path, command: str, url: str, says: str) -> None:
    result = CliRunner().invoke(app, COMMANDS[command].format(url=url).split())
    assert result.exit_code == 2, result.output
    assert says in result.output
    assert "hunter2" not in result.output
    assert "no such folder" not in result.output


def test_the_file_of_a_store_is_never_replaced(folder: Path) -> None:
    command = "judge rows.jsonl --jury jury.yaml --store runs.db --junit runs.db"
    result = CliRunner().invoke(app, command.split())
    assert result.exit_code == 2
    assert "one of the files that this is made from" in result.output


AS_A_FILE = [
    "judge {url} --jury jury.yaml", "judge rows.jsonl --jury {url}", "judge rows.jsonl --jury jury.yaml --out {url}",
    "report {url}", "report rows.jsonl --cases {url}", "compare {url} rows.jsonl", "review {url}",
    "calibrate {url} --jury jury.yaml",
    "align {url} --jury jury.yaml", "audit {url} --jury jury.yaml", "show {url}", "doctor {url}",
]  # fmt: skip


@pytest.mark.parametrize("command", AS_A_FILE)
@pytest.mark.parametrize("password", ["hunter2", "hunter2@x", "hunter2?#"])
def test_a_url_where_a_file_belongs_shows_no_password(
    folder: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: str, password: str
) -> None:
    url = f"postgresql+psycopg://me:{password}@127.0.0.1:1/juries"
    monkeypatch.setattr("sys.argv", ["jury", *command.format(url=url).split()])
    assert run() == 2
    said = capfd.readouterr().err
    assert "hunter" not in said
    assert "me:***@127.0.0.1" in said
