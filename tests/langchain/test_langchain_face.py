"""Public names of ``jury_adapters.langchain``: loaded lazily, and only those that the installed packages allow."""

import ast
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

import jury_adapters.langchain as adapter
from jury_adapters import ConfigurationError
from jury_adapters.core.installation import install_command, needs_extra

SOURCE = ast.parse(Path(adapter.__file__).read_text("utf-8"))
HAS_DECISIONS = find_spec("langchain_core.decisions") is not None


def for_type_checkers():
    """The names in the literal that type checkers read, and those imported for them."""
    (block,) = (node for node in SOURCE.body if isinstance(node, ast.If))
    imported = {alias.name for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    (listed,) = (ast.literal_eval(node.value) for node in block.body if isinstance(node, ast.Assign))
    return listed, imported


def test_type_checkers_and_the_lazy_loader_know_the_same_names():
    listed, imported = for_type_checkers()
    assert set(listed) == imported == set(adapter._HOME_OF)
    assert listed == sorted(listed)


def test_a_star_import_gives_all_that_can_be_had_here():
    space = {}
    exec("from jury_adapters.langchain import *", space)
    missing = set() if HAS_DECISIONS else {"JuryDecisionModel"}
    assert set(space) - {"__builtins__"} == set(adapter._HOME_OF) - missing == set(dir(adapter))


@pytest.mark.parametrize("name", adapter.__all__)
def test_every_name_is_at_home_where_it_says(name):
    found = getattr(adapter, name)
    assert found.__module__ == adapter._HOME_OF[name]
    assert found is getattr(import_module(found.__module__), name)
    assert found.__doc__


def test_a_name_that_needs_more_says_what():
    if HAS_DECISIONS:
        assert adapter.JuryDecisionModel.__name__ == "JuryDecisionModel"
    else:
        with pytest.raises(ConfigurationError, match=r"langchain-core>=1\.8"):
            _ = adapter.JuryDecisionModel


def test_a_name_it_does_not_have_is_an_attribute_error():
    assert not hasattr(adapter, "JuryHandler")


def loaded(program, *packages):
    """Those of the packages that a program loads in a process of its own."""
    code = f"import sys; {program}; print([name for name in {packages} if name in sys.modules])"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.slow
def test_importing_it_loads_no_framework():
    program = "import jury_adapters.langchain as adapter; adapter.to_case"
    assert loaded(program, "langchain_core", "langsmith", "langchain", "langgraph", "langchain_classic") == "[]"


@pytest.mark.slow
def test_the_evaluators_load_neither_langchain_nor_the_classic_package():
    program = "from jury_adapters.langchain import JuryEvaluator, JuryPairwiseEvaluator"
    assert loaded(program, "langchain", "langchain_classic", "langgraph", "openevals") == "[]"


WITHOUT = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name in ("langchain", "langchain_classic"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Absent())
from jury_adapters.langchain import *
assert "JuryCallbackHandler" in dir() and "JuryMiddleware" not in dir()
import jury_adapters
import jury_adapters.langchain as adapter
from importlib import import_module
from jury_adapters.core.installation import install_command
for load, fix in (
    (lambda: adapter.JuryMiddleware, install_command("langchain", "langchain>=1.2")),
    (lambda: import_module("jury_adapters.langchain.classic"), install_command("classic")),
):
    try:
        load()
    except jury_adapters.ConfigurationError as error:
        assert fix in str(error), error
    else:
        raise AssertionError(fix)
"""


BARE = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name in {absent!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Absent())
import importlib
import jury_adapters.langchain as adapter
importlib.import_module("jury_adapters.langchain.langsmith") if {name!r} == "langsmith" else adapter.{name}
"""


def raised_without(absent, name):
    code = BARE.format(absent=absent, name=name)
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    return ran.stderr.strip().splitlines()[-1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("absent", "name"),
    [("langchain_core", "JuryCallbackHandler"), ("langsmith", "JuryEvaluator"), ("langchain_core", "JuryRunnable")],
)
def test_without_langchain_a_name_says_what_to_install(absent, name):
    said = raised_without([absent], name)
    assert said.endswith(f"ConfigurationError: {needs_extra(name, 'LangChain', 'langchain')}")


@pytest.mark.slow
def test_without_langsmith_its_helpers_say_what_to_install():
    said = raised_without(["langsmith"], "langsmith")
    assert said.endswith(needs_extra("jury_adapters.langchain.langsmith", "LangChain", "langchain"))


def test_the_helpers_for_langsmith():
    helpers = import_module("jury_adapters.langchain.langsmith")
    assert helpers.__all__ == ["examples", "feedback", "offline_client", "summary"]
    assert all(getattr(helpers, name).__doc__ for name in helpers.__all__)


@pytest.mark.slow
def test_what_langchain_itself_needs_is_said_too():
    said = raised_without(["langgraph"], "JuryMiddleware")
    assert "ConfigurationError" in said
    assert install_command("langchain", "langchain>=1.2") in said


@pytest.mark.slow
def test_another_module_that_is_missing_is_named_as_it_is():
    said = raised_without(["langchain_core.callbacks"], "JuryCallbackHandler")
    assert said == "ModuleNotFoundError: No module named 'langchain_core.callbacks'"


@pytest.mark.slow
def test_without_the_optional_packages_the_rest_is_there():
    ran = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
