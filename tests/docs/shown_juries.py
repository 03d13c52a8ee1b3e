"""The juries that pages and notebooks show, collected while their code runs."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from doc_pages import ROOT, Block, blocks_of, called
from doc_runner import PYTHON

from jury_adapters import Judge
from jury_adapters.config import load_jury
from jury_adapters.core.jury import Jury
from jury_adapters.replay import RecordedCritic

ILLUSTRATION = "<!-- illustration -->"
"""Mark of juries that show a mechanism, in the line before a block or in the cell before a code cell.

In the first cell it marks the whole notebook.
"""

MAKERS = ("Ensemble", "CascadedJury", "Scorecard", "rag_jury", "load_jury")
_MAKES = re.compile(rf"\b(?:{'|'.join(MAKERS)})(?:\.of)?\(")
_JURY_FILE = re.compile(r"^(jurors|scorecard|tiers):", re.MULTILINE)


@dataclass(frozen=True)
class Shown:
    """A jury that a page or notebook shows, and the line that makes it."""

    where: str
    jury: Jury


class JuryCollector(ast.NodeTransformer):
    """Rewrites code so that every jury it makes is kept.

    Args:
        where: the page, or the cell of a notebook.
    """

    def __init__(self, where: str) -> None:
        self.found: list[Shown] = []
        self._where = where

    def run(self, code: str, name: str, names: dict[str, Any], *, collects: bool) -> None:
        """Run code with these names."""
        tree: ast.AST = ast.parse(code)
        if collects:
            tree = ast.fix_missing_locations(self.visit(tree))
            names["_shown"] = self._keep
        exec(compile(tree, name, "exec"), names)  # type: ignore[arg-type]

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if not _makes_a_jury(node.func):
            return node
        return ast.copy_location(ast.Call(ast.Name("_shown", ast.Load()), [node, ast.Constant(node.lineno)], []), node)

    def _keep(self, jury: Jury, line: int) -> Jury:
        if isinstance(jury, Jury):  # a class of another package may have the same name
            self.found.append(Shown(f"{self._where}:{line}", jury))
        return jury


def _makes_a_jury(function: ast.expr) -> bool:
    if isinstance(function, ast.Attribute) and function.attr == "of":
        function = function.value
    return isinstance(function, ast.Name) and function.id in MAKERS


def juries_of_page(page: Path, names: dict[str, Any]) -> list[Shown]:
    """Return the juries of a Markdown page: those of its jury files and those that its code makes.

    The working folder is the reader's. Commands are not run, and neither is code after the last jury, which may read
    what commands wrote.
    """
    text = page.read_text(encoding="utf-8")
    collector = JuryCollector(called(page))
    blocks = blocks_of(text)
    making = [block.line for block in blocks if block.language in PYTHON and _MAKES.search(block.code)]
    for block in blocks:
        if block.title:
            Path(block.title).parent.mkdir(parents=True, exist_ok=True)
            Path(block.title).write_text(block.code, encoding="utf-8")
        shown = not _is_illustration(text, block)
        if block.language == "yaml" and _JURY_FILE.search(block.code) and shown:
            jury = load_jury(block.title or block.code, allow_commands=True)
            collector.found.append(Shown(f"{called(page)}:{block.line}", jury))
        elif block.line > max(making, default=0) or Path(block.title).name.startswith("test_"):
            continue
        elif block.language in PYTHON:
            collector.run("\n" * (block.line - 1) + block.code, called(page), names, collects=shown)
    return list(_whole(collector.found))


def juries_of_notebook(notebook: Path) -> list[Shown]:
    """Return the juries that the code of a notebook makes; cells after the last of them are not run."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    sources = ["".join(cell["source"]) for cell in cells]
    runs = [number for number, cell in enumerate(cells) if cell["cell_type"] == "code"]
    if ILLUSTRATION in sources[0]:
        return []
    making = [n for n in runs if _MAKES.search(sources[n]) and ILLUSTRATION not in sources[n - 1]]
    found: list[Shown] = []
    names: dict[str, Any] = {"__name__": "__main__"}
    try:
        for number in runs:
            if number <= max(making, default=-1):
                collector = JuryCollector(f"cookbook/{notebook.name}[{number}]")
                collector.run(_python(sources[number]), notebook.name, names, collects=number in making)
                found += collector.found
    finally:
        for value in names.values():
            if isinstance(value, TemporaryDirectory):  # later cells, which are not run, remove it
                value.cleanup()
    return list(_whole(found))


def shows_a_jury(page: Path) -> bool:
    """Whether a page has code or a file that makes a jury."""
    text = page.read_text(encoding="utf-8")
    return bool(_MAKES.search(text) or _JURY_FILE.search(text))


def _python(code: str) -> str:
    return re.sub(r"^%.*$", "", code, flags=re.MULTILINE)


def _is_illustration(text: str, block: Block) -> bool:
    before = [line.strip() for line in text.splitlines()[: block.line - 2] if line.strip()]
    return before[-1:] == [ILLUSTRATION]


def _whole(found: list[Shown]) -> Iterator[Shown]:
    """Yield the juries that are not part of another, and that do more than replay recorded votes."""
    parts = {id(part) for shown in found for part in members_inside(shown.jury)}
    for shown in found:
        recorded = all(isinstance(part, RecordedCritic) for part in members_inside(shown.jury) if not part.members)
        if id(shown.jury) not in parts and not recorded:
            yield shown


def members_inside(judge: Judge) -> Iterator[Judge]:
    """Yield every judge inside a jury, at any depth."""
    for member in judge.members:
        yield member
        yield from members_inside(member)


NOTEBOOKS = sorted((ROOT / "cookbook").glob("*.ipynb"))
