"""What the README promises beside its code, all of which tests/docs/test_code_blocks.py runs."""

import re
from pathlib import Path

import jury_adapters
from jury_adapters.config import load_jury
from jury_adapters.core.voting import STRATEGIES

README = (Path(__file__).parent.parent / "README.md").read_text()


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


FERRY_TEST = """\
import pytest

QUESTION = "When did the ferry stop running?"
DOCUMENTS = ["The ferry between the islands stopped running in 2018."]


def ask(question):
    return "The ferry stopped running in 2019."


"""
FERRY_JURY = """\
name: grounded and brief
jurors:
  - screen: grounding
  - {check: length_between, maximum: 200}
  - {check: contains, texts: [ferry], ignore_case: true}
"""


def test_a_failing_test_says_what_the_readme_shows(pytester):
    (code,) = [block for block in blocks("py") if "pytest.mark.jury" in block]
    (shown,) = blocks("console")
    pytester.makefile(".yaml", jury=FERRY_JURY)
    pytester.makepyfile(FERRY_TEST + code)
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    result.stdout.no_fnmatch_line("*Error*")
    assert shown in result.stdout.str()


def test_the_jury_file_is_a_jury():
    (text,) = blocks("yaml")
    jury = load_jury(text)
    verdict = jury.judge(
        question="When did the ferry stop?",
        answer="The ferry stopped in 2018, and a bus has replaced it.",
        contexts=["The ferry stopped in 2018. A bus replaced it."],
    )
    assert verdict.passed
    assert verdict.stopped_at == "style"
    assert verdict.agreement == 1.0  # of an ordinary answer nobody needs to look at


def test_the_table_of_votes_names_every_strategy():
    section = README.split("## Votes")[1].split("## ")[0]
    named = set(
        re.findall(r"`([a-z_]+)`", "\n".join(line.split("|")[1] for line in section.splitlines() if "|" in line))
    )
    assert set(STRATEGIES) <= named


def test_the_two_commands_stand_alone_on_their_lines():
    section = README.split("## Two commands")[1].split("## ")[0]
    commands = re.findall(r"^```sh\n(.*?)\n```", section, re.MULTILINE | re.DOTALL)
    assert len(commands) == 2
    assert all("\n" not in command and command.startswith("python3 -m venv") for command in commands)


def test_the_version_is_said_once():
    project = (Path(__file__).parent.parent / "pyproject.toml").read_text()
    assert f'version = "{jury_adapters.__version__}"' in project
    assert f"## {jury_adapters.__version__}" in (Path(__file__).parent.parent / "CHANGELOG.md").read_text()
