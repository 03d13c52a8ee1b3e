"""Commands in the prose of pages and in messages of the package: the command exists, and has each option."""

from __future__ import annotations

import re
import shlex
from functools import cache
from pathlib import Path

import pytest
from doc_pages import PAGES, ROOT, called, without_blocks

from jury_adapters.cli.app import app, load_command

INLINE = re.compile(r"`((?:jury|python) [^`=][^`]*)`")
ALONE = re.compile(r"`(--[a-z-]+)[ =]?[^`]*`")
IN_TEXTS = re.compile(r"`(jury [a-z-]+(?: [^`\"{}]*)?)`")
OPTION = re.compile(r"(?<![\w-])--?[a-z][a-z-]*")
OF_PYTEST = re.findall(r'"(--jury-[a-z-]+)"', (ROOT / "jury_adapters" / "pytest_plugin.py").read_text(encoding="utf-8"))
ELSEWHERE = frozenset({"--version", *OF_PYTEST})
"""Options of ``jury`` itself, and of the plugin for pytest."""
NAMES = {info.name for info in app.registered_commands}
SOURCES = sorted((ROOT / "jury_adapters").rglob("*.py"))


@cache
def options_of(command: str) -> frozenset[str]:
    """The options of a command, with those of help."""
    found = {name for option in load_command(command).params for name in (*option.opts, *option.secondary_opts)}
    return frozenset({*found, "--help"})


def problem(command: str) -> str:
    """The mistake in a command; empty if there is none."""
    words = shlex.split(re.split(" # | && ", command, maxsplit=1)[0])
    if words[0] == "python":
        missing = [word for word in words[1:] if word.endswith(".py") and "/" in word and not (ROOT / word).exists()]
        return f"there is no file {missing[0]}" if missing else ""
    name, rest = words[1], [word.partition("=")[0].rstrip(",.;") for word in words[2:]]
    if name.startswith("-"):
        return "" if name in ("--version", "--help", "--install-completion") else f"jury has no option {name}"
    if name.isupper():  # a placeholder
        return ""
    if name not in NAMES:
        return f"there is no command {name}"
    unknown = [word for word in rest if OPTION.fullmatch(word) and word not in options_of(name)]
    return f"jury {name} has no option {unknown[0]}" if unknown else ""


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "renames.md"], ids=called)
def test_commands_in_the_prose_of_a_page_exist(page: Path) -> None:
    prose = " ".join(without_blocks(page.read_text(encoding="utf-8")).split())
    wrong = {found[1]: said for found in INLINE.finditer(prose) if (said := problem(found[1]))}
    assert not wrong


def test_options_in_the_prose_exist() -> None:
    known = {option for name in NAMES for option in options_of(name)} | ELSEWHERE
    said = {
        option: called(page)
        for page in PAGES
        if page.name not in ("renames.md", "CHANGELOG.md")
        for option in ALONE.findall(without_blocks(page.read_text(encoding="utf-8")))
    }
    assert len(said) > 30
    assert {option: page for option, page in said.items() if option not in known} == {}


def test_commands_in_messages_and_docstrings_exist() -> None:
    found = {
        command[1]: called(path)
        for path in SOURCES
        for command in IN_TEXTS.finditer(" ".join(path.read_text(encoding="utf-8").split()))
    }
    assert len(found) > 20
    wrong = {f"{path}: {command}": said for command, path in found.items() if (said := problem(command))}
    assert not wrong


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("jury judge answers.jsonl --jurry jury.yaml", "jury judge has no option --jurry"),
        ("jury jugde answers.jsonl", "there is no command jugde"),
        ("python tests/benchmarks/bench_nothing.py", "there is no file tests/benchmarks/bench_nothing.py"),
        ("jury report results.jsonl --html=page.html", ""),
        ("jury COMMAND --help", ""),
    ],
)
def test_a_wrong_command_is_found(command: str, said: str) -> None:
    assert problem(command) == said
