"""The facts of the seed systems about files and commands."""

import json
import sys
from pathlib import Path

import pytest

from jury_adapters.checks import Command, Equals, FileContent, FileExists, FilesMatch

CASES = json.loads((Path(__file__).parents[1] / "contract" / "cases.json").read_text(encoding="utf-8"))
FACTS = {one["id"]: one for one in CASES["cases"] if one["family"] == "deterministic"}


def judge_of(given):
    kind = given["judge"]
    if kind == "file_exists":
        return FileExists(given["path"])
    if kind == "file_content":
        return FileContent(given["path"], expected=given["expected"])
    if kind == "command":
        return Command([sys.executable if one == "python" else one for one in given["argv"]])
    return FilesMatch() if kind == "superset_diff" else Equals(expected=given["expected_text"])


@pytest.mark.parametrize("fact", FACTS.values(), ids=list(FACTS))
def test_a_fact_about_files_and_commands_holds(fact, tmp_path):
    given, expected = fact["input"], fact["expected"]
    for name, text in given.get("files", {}).items():
        (tmp_path / name).write_text(text)
    judgment = judge_of(given).judge(answer=given.get("actual_text", "done"), workspace=str(tmp_path))
    assert judgment.status == expected["status"]


def test_all_facts_are_here():
    assert len(FACTS) == 8
