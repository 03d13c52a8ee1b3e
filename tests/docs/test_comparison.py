"""The comparison with other packages: every name of ours is there, and so are those of packages that are installed."""

import re
from importlib import import_module
from importlib.metadata import files

import pytest
from support.comparison import COLUMNS, TEXT, VERSIONS, names_of, rows, undefined

import jury_adapters
from jury_adapters import Rubric

HOMES = ("checks", "judges", "retrieval", "llama_index", "langchain", "calibration", "statistics")
SECTION = TEXT.split("## Differences in judging")[1].split("\n## ")[0]
HERE = [line.strip("| ").split(" | ")[2] for line in SECTION.splitlines() if line.startswith("| ") and "`" in line]
OURS = dict.fromkeys([*names_of("here"), *re.findall(r"`(\w+)`", " ".join(HERE))])


def is_ours(name: str) -> bool:
    try:
        return bool(Rubric.bundled(name))
    except jury_adapters.ConfigurationError:
        modules = [jury_adapters, *(import_module(f"jury_adapters.{home}") for home in HOMES)]
        return any(name in module.__all__ for module in modules)


@pytest.mark.parametrize("name", OURS)
def test_names_of_ours_exist(name):
    assert is_ours(name)


def test_a_name_that_does_not_exist_is_found():
    assert not is_ours("faithfullness")
    assert undefined(["Present", "Absent"], ["class Present:", "Absent()"]) == ["Absent"]


def test_every_row_has_a_cell_for_every_package():
    assert len(rows()) >= 35
    tables = re.findall(r"^\| What \| LlamaIndex .*$", TEXT, flags=re.MULTILINE)
    assert [line.strip("| ").split(" | ")[1:] for line in tables] == [list(COLUMNS)] * 3
    for cells in rows():
        assert all(cell == "-" or cell.startswith("`") for cell in cells[1:]), cells[0]


@pytest.mark.parametrize("column", ["LlamaIndex", "LangChain"])
def test_names_of_installed_packages_exist(column):
    installed = [one.partition("==")[0] for one in VERSIONS[column]]
    paths = [path for name in installed for path in files(name) or () if path.suffix == ".py"]
    assert undefined(names_of(column), (path.read_text(encoding="utf-8") for path in paths)) == []


def test_the_page_names_the_versions():
    for distribution in (one for found in VERSIONS.values() for one in found):
        name, _, version = distribution.partition("==")
        assert re.search(rf"{name}\s+{re.escape(version)}", TEXT), distribution
