"""The table of renames in the changelog: no old name is left in the package, the documentation or the recipes."""

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# A method with its parenthesis, a class, an option, an option's value, a logger.
NAME = re.compile(r'\.\w+\(|\bjury_adapters[\w.]+|\b[A-Z]\w*\b|\b\w+(?==)|"\w+"')


@cache
def renames():
    """Return the rows of the table: the names of the old code, and those of the new one."""
    section = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split("### Renamed\n")[1].split("\n### ")[0]
    rows = [line.strip("|").split(" | ") for line in section.splitlines() if line.startswith("| ") and "`" in line]
    return [tuple(set(NAME.findall(" ".join(re.findall(r"`([^`]+)`", cell)))) for cell in row) for row in rows]


@cache
def texts():
    """Return the text of each file of the package, the documentation and the recipes."""
    patterns = ("jury_adapters/**/*.py", "README.md", "docs/**/*.md", "cookbook/*.md", "cookbook/*.ipynb")
    paths = [path for pattern in patterns for path in ROOT.glob(pattern)]
    return {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8").replace('\\"', '"') for path in paths}


def test_the_table_names_what_was_renamed():
    gone = set().union(*(old - new for old, new in renames()))
    assert {"Docket", ".offer(", '"frugal"', ".plan(", "cool_off_s", "jury_adapters.core.journal"} <= gone


@pytest.mark.parametrize(("old", "new"), renames(), ids=lambda names: "-".join(sorted(names))[:60])
def test_no_old_name_is_left(old, new):
    gone = {
        name: re.compile(rf"(?<![\w.]){re.escape(name)}(?!\w| \w)" if name[0] != "." else re.escape(name))
        for name in old - new
    }
    assert gone
    assert [
        (path, name) for path, text in texts().items() for name, pattern in gone.items() if pattern.search(text)
    ] == []
