"""``jury checks``, what it lists, and the same as a table of the documentation."""

import json
import os
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from jury_adapters.cli.app import app
from jury_adapters.config import load_jury
from jury_adapters.config.catalogue import Described, catalogue
from jury_adapters.config.grammar import CHECKS, COMMANDS, SCREENS

PAGE = Path(__file__).parents[2] / "docs" / "how_to" / "judge_a_file.md"
BEGIN, END = "<!-- checks: begin, made by tests/cli/test_checks.py -->", "<!-- checks: end -->"
JUDGES = catalogue()


def checks(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["checks", *arguments], catch_exceptions=False)


def test_every_judge_of_the_grammar_is_listed_with_a_sentence():
    names = {judge.name for judge in JUDGES}
    assert names == {*CHECKS, *COMMANDS, *SCREENS, "grounding", "recorded", "critic", "criteria"}
    shown = " ".join(checks().stdout.split())
    for judge in JUDGES:
        assert judge.about.endswith(("?", "."))
        assert not re.search("[`:]{2}|:class:", judge.about)
        assert f"{judge.name} {judge.about}" in shown


@pytest.mark.parametrize("judge", JUDGES, ids=lambda judge: judge.name)
def test_the_example_is_a_judge_of_a_jury_file(judge: Described, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "a-test-key")
    assert load_jury(f"jurors:\n  {judge.example}\n", allow_commands=True)
    assert judge.example in checks(judge.name).stdout


@pytest.mark.parametrize("judge", JUDGES, ids=lambda judge: judge.name)
def test_every_option_is_one_and_has_a_meaning(judge: Described):
    shown = checks(judge.name).stdout
    for option in judge.options:
        assert option.about
        assert option.name in shown
        assert option.values != "any value"


def test_one_is_shown_with_its_options():
    shown = " ".join(checks("Contains").stdout.split())
    assert "The answer contains a text, or several" in shown
    assert "texts text or a list of: text must be given" in shown
    assert "need all or any all" in shown
    assert "needs --allow-commands" in checks("tests-pass").stdout


def test_a_name_that_is_none_is_told_with_the_one_that_was_meant():
    result = checks("contain")
    assert result.exit_code == 2
    assert "unknown check 'contain'. Did you mean 'contains'?" in result.stderr


def test_programs_read_the_same():
    listed = json.loads(checks("--json").stdout)
    assert [one["name"] for one in listed] == [judge.name for judge in JUDGES]
    (one,) = json.loads(checks("length_between", "--json").stdout)
    assert one["options"][0] == {
        "name": "minimum",
        "values": "a whole number",
        "default": "0",
        "about": "the least length.",
    }


def table() -> str:
    lines = ["| in the file | what it judges | options |", "| --- | --- | --- |"]
    for judge in JUDGES:
        name = f"`{judge.kind}: {judge.name}`" if judge.kind != judge.name else f"`{judge.kind}: ...`"
        options = [
            f"**{option.name}**" if option.default is None else f"{option.name} ({option.default})"
            for option in judge.options
        ]
        lines.append(" | ".join((f"| {name}", judge.about.replace("|", "\\|"), f"{', '.join(options)} |")))
    return "\n".join(lines)


def test_the_table_of_the_documentation_is_this_list():
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    shown, after = rest.split(END)
    if os.environ.get("JURY_DOCS_WRITE"):
        PAGE.write_text(f"{before}{BEGIN}\n{table()}\n{END}{after}", encoding="utf-8")
    else:
        assert shown.strip() == table(), "JURY_DOCS_WRITE=1 writes it anew"
