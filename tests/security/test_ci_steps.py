"""The steps of .ci/run: those with few packages need no others, and those of slow tests leave out no folder."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import integers

ROOT = Path(__file__).parents[2]
FRAMEWORKS = (
    "langchain", "langgraph", "langsmith", "llama_index", "openevals", "agentevals", "opentelemetry",
    "jury_adapters.langchain", "jury_adapters.llama_index",
)  # fmt: skip


def ignored_by_the_oldest_step():
    """Return the paths that the step of the oldest dependencies leaves out."""
    script = (ROOT / ".ci/run").read_text()
    words = " ".join(re.findall(r"^(?:langchain|llama_index|neither)=\(([^)]*)\)", script, flags=re.MULTILINE)).split()
    paths = {path for word in words if not word.startswith('"') for path in ROOT.glob(word)}
    assert ROOT / "tests/langchain" in paths
    return paths


@cache
def import_statements(path):
    """Return the import statements at the top of a file."""
    return [node for node in ast.parse(path.read_text()).body if isinstance(node, ast.Import | ast.ImportFrom)]


def imported_at_once(path, seen):
    """Yield the modules that a test file loads when pytest collects it, also by way of `support`."""
    for node in import_statements(path):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
            names += [f"support.{alias.name}" for alias in node.names] if node.module == "support" else []
        for name in names:
            yield name
            support = ROOT / "tests" / Path(*name.split(".")).with_suffix(".py")
            if name.startswith("support.") and support.is_file() and support not in seen:
                yield from imported_at_once(support, seen | {support})


@pytest.mark.slow
def test_what_the_oldest_step_collects_needs_no_framework():
    ignored = ignored_by_the_oldest_step()
    collected = [path for path in ROOT.glob("tests/**/test_*.py") if not ignored & {path, *path.parents}]
    needed = {(path.name, name) for path in collected for name in imported_at_once(path, {path})}
    assert collected
    assert sorted((path, name) for path, name in needed if name.startswith(FRAMEWORKS)) == []


@pytest.mark.slow
def test_what_the_step_of_llama_index_collects_needs_neither_langchain_nor_the_command_line():
    collected = [*ROOT.glob("tests/llama_index/test_*.py"), *ROOT.glob("tests/models/test_llama_index*.py")]
    absent = ("langchain", "langgraph", "langsmith", "typer", "jury_adapters.langchain", "jury_adapters.cli")
    needed = {(path.name, name) for path in collected for name in imported_at_once(path, {path})}
    assert collected
    assert sorted((path, name) for path, name in needed if name.startswith(absent)) == []


@pytest.mark.slow
def test_every_test_with_a_full_size_runs_at_it(request):
    script = (ROOT / ".ci/run").read_text()
    options = r'(?: --ignore=tests/simulations)? -m "slow or sized and not \([^"]*\)"\n'
    assert re.search(rf"export JURY_TESTS=slow\n(?: *#.*\n)* *\.venv/bin/pytest{options}", script)
    sized = {item.path for item in request.session.items if item.get_closest_marker("sized")}
    loaded = {item.path for item in request.session.items}
    for path in ROOT.glob("tests/**/test_*.py"):
        names = {alias.name for node in import_statements(path) for alias in node.names}
        if "support.examples" in set(imported_at_once(path, {path})) or "given" in names:
            # What gives a test the marker, or makes its larger part slow.
            assert {"SLOW", "given", "only_first", "RuleBasedStateMachine"} & names, path
            assert path in sized or path not in loaded or "only_first" in names, path


@settings(max_examples=1, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(number=integers())
def test_a_property_test_has_two_sizes(request, number):
    assert request.node.get_closest_marker("sized")


def test_another_test_has_one_size(request):
    assert not request.node.get_closest_marker("sized")
