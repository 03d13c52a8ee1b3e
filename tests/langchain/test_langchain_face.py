"""The names of ``jury_adapters.langchain``, and what importing them loads."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from fact_tables import each_row

import jury_adapters.langchain as face

NAMES = {
    "JuryEvaluator", "JuryEvaluationResult", "JuryPairwiseEvaluator", "pass_rate", "offline_client", "feedback_sink",
    "JuryCallbackHandler", "judge_runs", "JuryMiddleware", "JuryToolGuard", "JuryRunnable", "jury_node",
    "JuryStringEvaluator",
}  # fmt: skip
FRAMEWORKS = ("langchain", "langchain_core", "langgraph", "langsmith", "langchain_classic", "openevals")


def loaded(program):
    """Return the frameworks that a program loads."""
    program += "; import sys; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in run.stdout.split()} & {*FRAMEWORKS}


def test_there_are_thirteen_names():
    assert {*face.__all__} == NAMES == {*dir(face)}
    assert sorted(face.__all__) == face.__all__


@each_row("name", sorted(NAMES))
def test_a_name_is_found_and_described(name):
    found = getattr(face, name)
    assert found.__doc__
    assert found.__module__.startswith("jury_adapters.langchain.")


def test_the_table_for_type_checkers_is_the_one_that_is_used():
    tree = ast.parse(Path(face.__file__).read_text(encoding="utf-8"))
    (block,) = (one for one in tree.body if isinstance(one, ast.If))
    declared = {alias.name: one.module for one in block.body if isinstance(one, ast.ImportFrom) for alias in one.names}
    assert declared == face._HOMES


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'JuryTool'"):
        _ = face.JuryTool


def test_importing_the_package_loads_no_framework():
    assert loaded("import jury_adapters, jury_adapters.langchain") == set()


def test_names_for_chains_load_neither_agents_nor_older_evaluators():
    """LangGraph's own class of handlers is used where it is installed; it costs 25 ms beside Runnables."""
    names = "JuryCallbackHandler, JuryEvaluator, JuryRunnable, pass_rate"
    assert loaded(f"from jury_adapters.langchain import {names}") == {"langchain_core", "langgraph", "langsmith"}


MISSING = """
import sys
for name in {missing!r}:
    sys.modules[name] = None
import jury_adapters.langchain as face
try:
    face.{name}
except ImportError as error:
    print(error)
else:
    print("found")
"""


@pytest.mark.parametrize(
    ("name", "missing", "package"),
    [
        ("JuryMiddleware", ["langchain"], "langchain"),
        ("JuryStringEvaluator", ["langchain_classic"], "langchain-classic"),
        ("JuryCallbackHandler", ["langchain_core", "langgraph"], "langchain-core"),
    ],
)
def test_what_is_missing_is_named(name, missing, package):
    program = MISSING.format(missing=missing, name=name)
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == f"{name} needs {package}: pip install 'jury-adapters[langchain]' {package}"


def test_langgraph_and_langchain_are_not_needed_for_chains():
    missing = ["langgraph", "langgraph.callbacks", "langchain"]
    program = MISSING.format(missing=missing, name="JuryCallbackHandler")
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "found"
