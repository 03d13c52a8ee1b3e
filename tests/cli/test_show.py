"""``jury show``: checks, rubrics and the schema; and the checks as a table of the documentation."""

import json
import os
import re
from functools import cache
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from jury_adapters.cli.app import app
from jury_adapters.config import load_jury
from jury_adapters.config.catalogue import Described, catalogue
from jury_adapters.config.grammar import CHECKS, COMMANDS, GROUNDING, RETRIEVAL
from jury_adapters.critic.rubric import Rubric, bundled_rubrics

pytestmark = pytest.mark.corpus

PAGE = Path(__file__).parents[2] / "docs" / "how_to" / "judge_a_file.md"
BEGIN, END = "<!-- checks: begin, made by tests/cli/test_show.py -->", "<!-- checks: end -->"
JUDGES = catalogue()


@cache
def show(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["show", *arguments], catch_exceptions=False)


def test_every_judge_of_the_grammar_is_listed_with_a_sentence():
    names = {judge.name for judge in JUDGES}
    assert names == {*CHECKS, *COMMANDS, *GROUNDING, *RETRIEVAL, "grounding_screen", "recorded", "rubric", "criterion"}
    shown = " ".join(show("checks").stdout.split())
    for judge in JUDGES:
        assert judge.about.endswith(("?", "."))
        assert not re.search("[`:]{2}|:class:", judge.about)
        assert f"{judge.name} {judge.about}" in shown


@pytest.mark.corpus
@pytest.mark.parametrize("judge", JUDGES, ids=lambda judge: judge.name)
def test_the_example_is_a_judge_of_a_jury_file(judge: Described, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "a-test-key")
    assert load_jury(f"jurors:\n  {judge.example}\n", allow_commands=True)
    assert judge.example in show(judge.name).stdout


@pytest.mark.parametrize("judge", JUDGES, ids=lambda judge: judge.name)
def test_every_option_is_one_and_has_a_meaning(judge: Described):
    shown = show(judge.name).stdout
    for option in judge.options:
        assert option.about
        assert option.name in shown
        assert option.values != "any value"


@pytest.mark.slow
def test_one_is_shown_with_its_options():
    shown = " ".join(show("Contains").stdout.split())
    assert "The answer contains a text, or several" in shown
    assert "texts text or a list of: text must be given" in shown
    assert "need all or any all" in shown
    assert "needs --allow-commands" in show("tests-pass").stdout


@pytest.mark.slow
def test_a_name_that_is_none_is_told_with_the_one_that_was_meant():
    result = show("contain")
    assert result.exit_code == 2
    assert "unknown name 'contain'. Did you mean 'contains'?" in result.stderr


@pytest.mark.slow
def test_programs_read_the_same():
    listed = json.loads(show("checks", "--json").stdout)
    assert [one["name"] for one in listed] == [judge.name for judge in JUDGES]
    (one,) = json.loads(show("length_between", "--json").stdout)
    assert one["options"][0] == {
        "name": "minimum",
        "values": "a whole number",
        "default": "0",
        "about": "the minimum length.",
    }


def test_without_a_name_it_lists_what_can_be_shown():
    shown = show().stdout
    assert all(f"jury show {name}" in shown for name in ("checks", "rubrics", "models", "schema", "NAME"))
    listed = json.loads(show("--json").stdout)
    assert listed["lists"] == ["checks", "rubrics", "models", "schema"]
    assert {*bundled_rubrics(), *(judge.name for judge in JUDGES)} == set(listed["names"])


def test_every_rubric_is_listed_with_a_sentence():
    shown = " ".join(show("rubrics").stdout.split())
    listed = {one["name"]: one for one in json.loads(show("rubrics", "--json").stdout)}
    assert tuple(listed) == bundled_rubrics()
    for name in bundled_rubrics():
        assert f"{name} {Rubric.bundled(name).description}" in shown
        assert listed[name]["version"] == Rubric.bundled(name).version


@pytest.mark.slow
@pytest.mark.corpus
@pytest.mark.parametrize("name", sorted({*bundled_rubrics()} - {judge.name for judge in JUDGES}))
def test_a_rubric_is_shown_whole_as_a_file(name: str, tmp_path: Path):
    (tmp_path / "own.yaml").write_text(show(name).stdout)
    assert Rubric.from_yaml(tmp_path / "own.yaml") == Rubric.bundled(name)
    (told,) = json.loads(show(name, "--json").stdout)
    assert told.pop("kind") == "rubric"
    assert Rubric.model_validate(told) == Rubric.bundled(name)


@pytest.mark.parametrize("name", sorted({*bundled_rubrics()} & {judge.name for judge in JUDGES}))
def test_a_name_of_both_shows_both(name: str):
    shown = show(name).stdout
    assert shown.index("jurors:") < shown.index(f"name: {name}")
    assert [one["name"] for one in json.loads(show(name, "--json").stdout)] == [name, name]


@pytest.mark.slow
def test_a_rubric_that_is_none_is_told_with_the_one_that_was_meant():
    result = show("faithfullness")
    assert result.exit_code == 2
    assert "Did you mean 'faithfulness'?" in result.stderr
    assert "Did you mean 'rubrics'?" in show("rubric-s").stderr


@pytest.mark.slow
def test_the_schema_is_json_either_way():
    assert json.loads(show("schema").stdout) == json.loads(show("schema", "--json").stdout)


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


@pytest.mark.parametrize(
    ("name", "option", "values"),
    [("rubric", "scale", "a mapping or null"), ("grounding_screen", "final", "a judge or null")],
)
def test_what_is_a_judge_and_what_is_a_mapping(name: str, option: str, values: str):
    (described,) = json.loads(show(name, "--json").stdout)
    assert {one["name"]: one["values"] for one in described["options"]}[option] == values
