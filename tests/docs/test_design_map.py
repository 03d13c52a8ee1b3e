"""The table of docs/design.md on where to change something: each path exists and defines the name."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TABLE = (ROOT / "docs/design.md").read_text(encoding="utf-8").split("## Find the code to change\n")[1].split("\n## ")[0]
ROWS = re.findall(r"^\| (.+?) \| `([\w/]+\.py)` \| `(\w+)` \|$", TABLE, flags=re.MULTILINE)


def test_every_row_of_the_table_is_read():
    assert len(ROWS) == len([line for line in TABLE.splitlines() if line.startswith("|")]) - 2
    assert len(ROWS) >= 40
    assert len({task for task, _, _ in ROWS}) == len(ROWS)


@pytest.mark.parametrize(("task", "path", "name"), ROWS)
def test_the_file_defines_the_name(task, path, name):
    body = ast.parse((ROOT / "jury_adapters" / path).read_text(encoding="utf-8")).body
    kinds = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    assert name in {node.name for node in body if isinstance(node, kinds)}, task
