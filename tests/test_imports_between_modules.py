"""The modules of the package import each other without cycles, lazy and type-only imports included."""

import ast
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import jury_adapters

ROOT = Path(jury_adapters.__file__).parent
# Methods of these classes build on what stands above them, such as `Judge.judge_many` on batches. They take the names
# from the face of the core, when they are called.
FLUENT = {"core/judge.py", "core/judgment.py", "core/verdict.py"}


@cache
def modules():
    """Return the files of the package by module name, the faces of packages left out: they re-export."""
    return {
        ".".join(("jury_adapters", *path.relative_to(ROOT).with_suffix("").parts)): path
        for path in ROOT.rglob("*.py")
        if path.name != "__init__.py"
    }


@cache
def import_statements(path):
    """Return the import statements of a file, wherever they stand."""
    everything = statements(ast.parse(path.read_text(encoding="utf-8")).body)
    return [node for node in everything if isinstance(node, ast.Import | ast.ImportFrom)]


def statements(nodes):
    """Yield statements and those inside them; no expressions, which are most of a file."""
    for node in nodes:
        yield node
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            yield from statements(getattr(node, part, ()))


def imported_by(path):
    """Return the modules that a file names in its import statements."""
    found = set()
    for node in import_statements(path):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def cycle_of(graph):
    """Return one cycle of a graph; an empty list where it has none."""
    try:
        tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        return error.args[1]
    return []


def test_a_cycle_is_found():
    assert set(cycle_of({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}})) == {"a", "b", "c"}
    assert cycle_of({"a": {"b"}, "b": {"c"}, "c": set()}) == []


def test_no_modules_import_each_other():
    graph = {name: (imported_by(path) & modules().keys()) - {name} for name, path in modules().items()}
    assert graph["jury_adapters.core.judge"] >= {"jury_adapters.core.runner", "jury_adapters.core.case"}
    assert cycle_of(graph) == []


def test_only_fluent_methods_reach_up_through_the_face_of_the_core():
    users = {
        path.relative_to(ROOT).as_posix()
        for path in modules().values()
        for node in import_statements(path)
        if isinstance(node, ast.ImportFrom) and node.module == "jury_adapters.core" and _is_name_of_the_face(node)
    }
    assert users == FLUENT


def test_no_module_imports_from_the_face_of_the_package():
    for name, path in modules().items():
        for node in import_statements(path):
            if isinstance(node, ast.ImportFrom) and node.module == "jury_adapters":
                face = {alias.name for alias in node.names} - {"__version__"}
                assert {f"jury_adapters.{one}" for one in face} & face_names() == set(), name


@cache
def face_names():
    return {f"jury_adapters.{name}" for name in jury_adapters.__all__}


def _is_name_of_the_face(node):
    return any(f"jury_adapters.core.{alias.name}" not in modules() for alias in node.names)
