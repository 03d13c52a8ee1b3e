"""The limits of size: statements of each part, lines of modules and functions, imports.

Statements are counted as nodes of the syntax tree. They do not shrink when lines are joined or comments removed, so
they measure what a reader must understand. What does not fit its cap is simplified; the cap stays.
"""

import ast
import subprocess
import sys
from collections import Counter
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]
PACKAGE = PROJECT / "jury_adapters"
TOP_LEVEL = "top level"

# Statements of each folder, or file, of the package. The top level has the files without a cap of their own.
CAPS = {
    "core": 2300,
    "inputs": 650,
    "models": 950,
    "critic": 1000,
    "store": 260,
    "langchain": 850,
    "llama_index": 620,
    "judges": 550,
    "compat": 380,
    "stats": 900,
    "calibrate": 300,
    "audit": 400,
    "align": 200,
    "grounding": 300,
    "retrieval": 100,
    "batch_api": 260,
    "ray": 120,
    "decision": 110,
    "observability": 150,
    "cli": 750,
    "report": 550,
    "config": 300,
    "workspace": 450,
    "pytest_plugin": 200,
    TOP_LEVEL: 450,
}
WHOLE_PACKAGE = 13_000
WHOLE_TESTS = 18_000
LINES_OF_MODULE = 600
LINES_OF_FUNCTION = 50

# `import jury_adapters` may load the base dependencies and what these load; the core imports pydantic alone.
BASE = {"annotated_types", "pydantic", "pydantic_core", "tenacity", "typing_extensions", "typing_inspection", "yaml"}
BESIDE_CORE = {"pydantic", "pydantic_core"}


def files(folder: Path) -> list[Path]:
    """Return the Python files of a folder, at any depth."""
    return sorted(folder.rglob("*.py"))


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def is_text(node: ast.stmt) -> bool:
    """Whether a statement is a string alone: a docstring, or the description of an attribute."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def statements(tree: ast.AST) -> int:
    """Count the statements at any depth, without docstrings."""
    return sum(isinstance(node, ast.stmt) and not is_text(node) for node in ast.walk(tree))


def part_of(path: Path, package: Path = PACKAGE) -> str:
    """Return the row of `CAPS` to which a file counts: its folder, its own name, or the top level."""
    first, *inside = path.relative_to(package).with_suffix("").parts
    return first if inside or first in CAPS else TOP_LEVEL


@cache
def parts() -> Counter[str]:
    """Return the statements of each part of the package."""
    found: Counter[str] = Counter()
    for path in files(PACKAGE):
        found[part_of(path)] += statements(tree_of(path))
    return found


def lines_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Count the lines from `def` to the end, without the docstring: long descriptions of parameters are welcome."""
    text = function.body[0]
    docstring = (text.end_lineno or 0) - text.lineno + 1 if is_text(text) else 0
    return (function.end_lineno or 0) - function.lineno + 1 - docstring


def name_of(path: Path) -> str:
    """Return the module name of a file."""
    return ".".join(path.relative_to(PROJECT).with_suffix("").parts)


def imported(tree: ast.AST, module: str) -> set[str]:
    """Return all names that a module imports, lazily and for types too; relative ones as absolute ones."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = module.split(".")[: -node.level] if node.level else []
            source = ".".join([*above, *([node.module] if node.module else [])])
            found |= {source} | {f"{source}.{alias.name}" for alias in node.names}
    return found


def cycle_of(graph: dict[str, set[str]]) -> list[str]:
    """Return the modules of one cycle; an empty list if there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


@pytest.mark.parametrize("part", CAPS)
def test_a_part_is_within_its_cap(part: str) -> None:
    assert parts()[part] <= CAPS[part]


def test_every_part_has_a_cap() -> None:
    assert parts().keys() - CAPS.keys() == set()


def test_the_package_is_within_its_cap() -> None:
    assert parts().total() <= WHOLE_PACKAGE


def test_the_tests_are_within_their_cap() -> None:
    assert sum(statements(tree_of(path)) for path in files(PROJECT / "tests")) <= WHOLE_TESTS


def test_no_module_is_too_long() -> None:
    lines = {name_of(path): len(path.read_text(encoding="utf-8").splitlines()) for path in files(PACKAGE)}
    assert {name: count for name, count in lines.items() if count > LINES_OF_MODULE} == {}


def test_no_function_is_too_long() -> None:
    lines = {
        f"{name_of(path)}:{node.lineno} {node.name}": lines_of(node)
        for path in files(PACKAGE)
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert {name: count for name, count in lines.items() if count > LINES_OF_FUNCTION} == {}


def test_modules_do_not_import_each_other_in_a_circle() -> None:
    """The faces of packages are left out: they re-export what stands below them."""
    modules = {name_of(path): path for path in files(PACKAGE) if path.name != "__init__.py"}
    graph = {name: imported(tree_of(path), name) & (modules.keys() - {name}) for name, path in modules.items()}
    assert cycle_of(graph) == []


def test_the_core_imports_the_standard_library_and_pydantic() -> None:
    allowed = sys.stdlib_module_names | BESIDE_CORE
    strange = {
        (name_of(path), name)
        for path in files(PACKAGE / "core")
        for name in imported(tree_of(path), name_of(path))
        if name.partition(".")[0] not in allowed and not f"{name}.".startswith("jury_adapters.core.")
    }
    assert strange == set()


def test_importing_the_package_loads_no_sdk_no_framework_and_no_numpy() -> None:
    program = "import sys; before = set(sys.modules); import jury_adapters; print(*(set(sys.modules) - before))"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=PROJECT)
    loaded = {name.partition(".")[0] for name in run.stdout.split()}
    assert "jury_adapters" in loaded
    assert loaded - sys.stdlib_module_names - BASE - {"jury_adapters"} == set()


SOURCE = '''"""A module."""

from . import sibling
from ..above import thing
import json


class Thing:
    """A class."""

    size: int = 3
    """Its size."""

    def grow(self, by):
        """Grow.

        A long description.
        """
        if by:
            self.size += by
        else:
            return "text"


async def main():
    def inner(): pass
    import pkg.core.late
'''


def test_statements_of_a_known_source_are_counted() -> None:
    """Three imports; a class, its attribute and a method of four; a function of four. No docstring counts."""
    assert statements(ast.parse(SOURCE)) == 3 + 1 + 1 + 4 + 4


def test_lines_and_imports_of_a_known_source_are_found() -> None:
    tree = ast.parse(SOURCE)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    assert {node.name: lines_of(node) for node in functions} == {"grow": 5, "main": 3, "inner": 1}
    assert imported(tree, "pkg.core.here") == {
        "pkg.core", "pkg.core.sibling", "pkg.above", "pkg.above.thing", "json", "pkg.core.late",
    }  # fmt: skip


def test_a_circle_of_imports_is_found() -> None:
    assert cycle_of({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}})
    assert cycle_of({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


@pytest.mark.parametrize(
    ("path", "part"),
    [("core/judge.py", "core"), ("ray.py", "ray"), ("results.py", TOP_LEVEL), ("extra/some.py", "extra")],
)
def test_a_file_counts_to_one_part(path: str, part: str) -> None:
    assert part_of(PACKAGE / path) == part
