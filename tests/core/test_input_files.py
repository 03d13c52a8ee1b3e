"""The message about a file that does not exist."""

from pathlib import Path

import pytest

from jury_adapters.core.input_files import no_such_file


@pytest.mark.parametrize(
    ("asked", "meant"),
    [("case.csv", "cases.csv"), ("cases.jsonl", "cases.csv"), ("resluts.jsonl", "results.jsonl"), ("nosuch.jsonl", "")],
)
def test_a_file_with_a_like_name_is_named(tmp_path: Path, asked, meant):
    for name in ("cases.csv", "c2.jsonl", "d.jsonl", "results.jsonl", "results.csv"):
        (tmp_path / name).touch()
    hint = f" Did you mean {tmp_path / meant}?" if meant else ""
    assert no_such_file(tmp_path / asked) == f"{tmp_path / asked}: No such file or directory.{hint}"


def test_a_relative_name_is_shown_as_one(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("answers.jsonl").touch()
    assert no_such_file("answer.jsonl") == "answer.jsonl: No such file or directory. Did you mean answers.jsonl?"


def test_the_password_of_a_url_is_not_shown():
    assert no_such_file("postgresql://me:hunter2@db.internal/juries").startswith(
        "postgresql:/me:***@db.internal/juries"
    )
