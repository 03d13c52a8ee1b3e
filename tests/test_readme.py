"""Promises of the README besides its code, all of which tests/docs/test_code_blocks.py runs."""

import re
from pathlib import Path

import pytest
from typer.main import get_command

from jury_adapters.cli.app import app
from jury_adapters.config import load_jury
from jury_adapters.core.voting import STRATEGIES

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
INDEX = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")


def section(heading):
    return README.split(f"## {heading}\n")[1].split("\n## ")[0]


def block(text, opening):
    (found,) = re.findall(rf"^```{re.escape(opening)}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return found


def rows(text):
    """The cells of a text's only table, without its head."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_the_two_commands_stand_alone_on_their_lines():
    commands = re.findall(r"^```sh\n(.*?)\n```", section("Two commands"), re.MULTILINE | re.DOTALL)
    assert len(commands) == 2
    assert all("\n" not in command and command.startswith("python3 -m venv") for command in commands)


def test_the_environment_is_named_before_it_is_on_the_path_and_never_after():
    commands, after = README.split("source .venv/bin/activate")
    assert "```sh\njury " not in commands
    assert ".venv" not in after


def test_the_example_is_of_fifteen_lines():
    code = block(section("From Python"), "python")
    assert len([line for line in code.splitlines() if line.strip()]) <= 15


def test_the_jury_file_passes_an_ordinary_answer_of_which_nobody_needs_a_look():
    verdict = load_jury(block(README, 'yaml title="jury.yaml"')).judge(
        question="When did the ferry stop?",
        answer="The ferry stopped in 2018, and a bus has replaced it.",
        contexts=["The ferry stopped in 2018. A bus replaced it."],
    )
    assert verdict.passed
    assert not verdict.needs_review


@pytest.mark.parametrize("opening", ['yaml title="jury.yaml"', 'python title="test_ferry.py"'])
def test_the_page_on_tests_has_the_files_of_the_readme(opening):
    page = (ROOT / "docs" / "how_to" / "pytest.md").read_text(encoding="utf-8")
    assert block(page, opening) == block(README, opening)


def test_the_site_begins_with_what_the_readme_says_in_the_same_words():
    """So that no fact stands in two versions; only links differ, which start from another folder."""
    paragraph = README.split("\n\n")[1]
    table = re.search(r"^\| You have \|.*?\n\n", README, re.MULTILINE | re.DOTALL)
    assert table is not None
    assert paragraph in INDEX
    assert table[0].replace("](docs/", "](") in INDEX


def test_what_plugs_in_is_there():
    """Every name in the table stands in the reference, which other tests hold, or is a command, or the fixture."""
    commands = {f"jury {command}" for command in get_command(app).commands}
    reference = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "reference").glob("*.md"))
    public = {path.rpartition(".")[2] for path in re.findall(r"^::: jury_adapters\.([\w.]+)$", reference, re.MULTILINE)}
    named = [name for row in rows(section("Find the page you need")) for name in re.findall(r"`([^`]+)`", row[1])]
    assert [name for name in named if name not in public and " ".join(name.split()[:2]) not in commands] == ["jury"]
    assert len(named) >= 15


def test_measured_numbers_are_those_of_the_page_with_the_whole_tables():
    """A figure of the README's short table stands in docs/measured.md, too, in the section that has its command."""
    sections = (ROOT / "docs" / "measured.md").read_text(encoding="utf-8").split("\n## ")
    short = rows(section("Measured"))
    assert len(short) >= 3
    for _, result, command in short:
        (measured,) = [text for text in sections if f"\n{command.strip('`')}\n" in text]
        figures = re.findall(r"\d+(?:\.\d+)?", result)
        assert figures
        assert [one for one in figures if not re.search(rf"(?<!\d)(?<!\d\.){re.escape(one)}(?!\.?\d)", measured)] == []


def test_the_table_of_votes_names_every_strategy():
    """The table that the README links to."""
    assert "(docs/concepts/votes.md)" in section("From Python")
    votes = (ROOT / "docs" / "concepts" / "votes.md").read_text(encoding="utf-8")
    table = votes.split("\n| rule | passes when | good for |\n")[1].split("\n\n")[0]
    named = set(re.findall(r"`([a-z_]+)`", "\n".join(line.split("|")[1] for line in table.splitlines())))
    assert set(STRATEGIES) <= named


def test_the_rubrics_that_come_along_are_counted():
    from jury_adapters.critic.rubric import bundled_rubrics

    assert len(bundled_rubrics()) == 42
    assert "Forty-two [rubrics](docs/reference/rubrics.md) come with the package" in README
    assert "Forty-two rubrics come with the package" in (ROOT / "docs/how_to/real_models.md").read_text(
        encoding="utf-8"
    )


def test_it_is_read_in_ten_minutes():
    assert len(README.splitlines()) <= 250


def test_it_has_a_section_for_each_reader():
    assert re.findall(r"^## (.*)$", README, re.MULTILINE) == [
        "Two commands", "Judge your own file", "From Python", "Ask models", "Find the page you need", "In LlamaIndex",
        "In LangChain", "In tests", "Measured", "Limits", "Read on",
    ]  # fmt: skip
