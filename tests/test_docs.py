"""Every Python block of the pages runs, top to bottom, and prints what its comments, or the block below it, say."""

import re
from pathlib import Path

import pytest

import jury_adapters
from jury_adapters.checks import CHECKS
from jury_adapters.core.votes import RULES

PROJECT = Path(__file__).parents[1]
PAGES = sorted((PROJECT / "docs").glob("*.md"))
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```(?:\n\n```text\n(.*?)^```)?", re.DOTALL | re.MULTILINE)
PRINTED = re.compile(r"^ *print\(.*\)  # (.*)$", re.MULTILINE)
OF_OTHERS = "Starting evaluation of experiment"  # printed by LangSmith
LONGEST_PAGE = 1600
MOST_PAGES, MOST_WORDS = 20, 20_000


def words(page):
    return len(re.findall(r"\S+", page.read_text(encoding="utf-8")))


@pytest.mark.filterwarnings("ignore:'upload_runs' parameter is in beta", "ignore:asyncio_module")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_blocks_of_a_page_run_and_print_what_they_say(page, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    text, namespace = page.read_text(encoding="utf-8"), {"__name__": "page"}
    for language, code, below in BLOCK.findall(text):
        if language == "python":
            exec(compile(code, str(page), "exec"), namespace)
            expected = PRINTED.findall(code) or below.splitlines()
            printed = [line for line in capsys.readouterr().out.splitlines() if not line.startswith(OF_OTHERS)]
            assert not expected or printed == expected
    assert words(page) <= LONGEST_PAGE


def test_the_pages_are_few_and_short():
    assert 0 < len(PAGES) <= MOST_PAGES
    assert sum(map(words, PAGES)) <= MOST_WORDS


def test_the_table_of_rules_has_their_options():
    text = (PROJECT / "docs" / "juries.md").read_text(encoding="utf-8")
    for name, rule in RULES.items():
        (row,) = (
            line for line in text.splitlines() if re.match(r"\| .*`" + name + "`.* \\|", line) and line.count("|") == 4
        )
        assert set(rule.model_fields) - {"rule"} <= set(re.findall(r"`(\w+)`", row))


def test_every_check_and_every_rubric_is_on_its_page():
    text = (PROJECT / "docs" / "rubrics_and_checks.md").read_text(encoding="utf-8")
    tables = {name for line in text.splitlines() if line.startswith("| ") for name in re.findall(r"`(\w+)`", line)}
    rubrics = {path.stem for path in (PROJECT / "jury_adapters" / "critic" / "rubrics").glob("*.yaml")}
    assert tables == {*CHECKS, *rubrics}


def test_the_map_of_changes_names_files():
    text = (PROJECT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if " | " in line and "`" in line]
    named = [path for row in rows for path in re.findall(r"`([\w/.]+)`", row) if "/" in path or path.endswith(".py")]
    assert len(named) >= 60
    for path in named:
        assert (PROJECT / "jury_adapters" / path).exists() or (PROJECT / path).exists(), path


def test_the_tests_that_security_names_exist():
    text = (PROJECT / "SECURITY.md").read_text(encoding="utf-8")
    for path in re.findall(r"`(tests/[\w/.]+)`", text):
        assert (PROJECT / path).exists(), path


@pytest.mark.parametrize(("page", "most"), [("SECURITY.md", 500), ("CONTRIBUTING.md", 600)])
def test_a_page_beside_the_documentation_is_short(page, most):
    assert words(PROJECT / page) <= most


def test_the_names_of_this_package_in_the_comparison_exist():
    text = (PROJECT / "docs" / "comparison.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| ") and line.count("|") == 9][2:]
    rubrics = {path.stem for path in (PROJECT / "jury_adapters" / "critic" / "rubrics").glob("*.yaml")}
    known = {*CHECKS, *rubrics, *jury_adapters.__all__, "RetrievalMeasure", "Votes", "calibrate", "align"}
    named = {name for line in rows for name in re.findall(r"`(\w+)`", line.split("|")[-2])}
    assert len(rows) == 21
    assert named <= known
