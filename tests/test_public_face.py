"""The public face: what it names, where that lives, and that importing it costs nothing."""

import ast
import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import jury_adapters

TREE = ast.parse(Path(jury_adapters.__file__).read_text(encoding="utf-8"))
FOREIGN = (
    "pydantic", "openai", "anthropic", "langchain", "langchain_core", "langsmith", "llama_index", "numpy", "yaml",
    "typer", "rich", "anyio", "tenacity", "httpx", "aiohttp", "regex", "jsonschema", "asyncio",
)  # fmt: skip


def constant(name):
    """The literal assigned to a name in the package's __init__."""
    for node in TREE.body:
        if isinstance(node, ast.Assign) and node.targets[0].id == name:
            return ast.literal_eval(node.value)
    raise AssertionError(f"{name} is not assigned")


def imported_for_type_checkers():
    """``{module: names}`` of the imports under TYPE_CHECKING."""
    (block,) = [node for node in TREE.body if isinstance(node, ast.If)]
    assert block.test.id == "TYPE_CHECKING"
    homes = {}
    for node in block.body:
        assert isinstance(node, ast.ImportFrom)
        assert all(alias.asname is None for alias in node.names)
        homes.setdefault(node.module.removeprefix("jury_adapters."), set()).update(alias.name for alias in node.names)
    return homes


def loaded_by(code):
    """The modules that are loaded in a fresh process after this code."""
    script = (
        f"import sys, json; before = set(sys.modules); {code}; print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_all_is_what_the_homes_and_the_type_checkers_imports_say():
    homes = {module: set(names) for module, names in constant("_HOMES").items()}
    assert homes == imported_for_type_checkers()
    names = [name for module in homes.values() for name in module]
    assert len(names) == len(set(names))
    assert sorted(names) == sorted(jury_adapters.__all__) == sorted(constant("__all__"))
    assert jury_adapters.__all__ == sorted(jury_adapters.__all__, key=lambda name: (name.islower(), name))


@pytest.mark.parametrize("name", jury_adapters.__all__)
def test_every_name_resolves_to_the_object_of_its_home(name):
    (home,) = [module for module, names in constant("_HOMES").items() if name in names]
    found = getattr(jury_adapters, name)
    assert found is getattr(import_module(f"jury_adapters.{home}"), name)
    assert getattr(found, "__doc__", None)
    assert vars(jury_adapters)[name] is found  # looked up once


@pytest.mark.parametrize("name", jury_adapters.__all__)
def test_a_public_name_is_defined_at_home_and_not_passed_on_from_elsewhere(name):
    (home,) = [module for module, names in constant("_HOMES").items() if name in names]
    found = getattr(jury_adapters, name)
    if hasattr(found, "__module__") and hasattr(found, "__name__"):
        assert found.__module__ == f"jury_adapters.{home}"


def test_the_top_level_has_what_most_programs_use():
    assert len(jury_adapters.__all__) == 37


OTHER_HOMES = (
    "batch_api", "calibration", "checks", "decision", "grounding", "langchain", "llama_index", "models",
    "observability", "replay", "report", "results", "statistics", "voting",
)  # fmt: skip


def test_every_other_public_name_has_one_home():
    homes = {}
    for home in OTHER_HOMES:
        for name in import_module(f"jury_adapters.{home}").__all__:
            homes.setdefault(name, []).append(home)
    # Each adapter has its own for its framework. The whole of the screen's checks is also with the screen.
    both = {name for name, places in homes.items() if sorted(places) == ["langchain", "llama_index"]}
    screen = {name for name, places in homes.items() if sorted(places) == ["checks", "grounding"]}
    assert {name: places for name, places in homes.items() if len(places) > 1 and name not in both | screen} == {}
    assert set(jury_adapters.__all__) & set(homes) == {"Report", "grounding_screen"}


@pytest.mark.parametrize("home", ["checks", "results", "voting", "replay", "models", "observability", "decision"])
def test_every_name_of_a_home_is_there_and_described(home):
    module = import_module(f"jury_adapters.{home}")
    assert list(module.__all__) == sorted(module.__all__, key=lambda name: (name.islower(), name))
    assert [name for name in module.__all__ if not hasattr(module, name)] == []


def test_importing_the_package_loads_nothing_but_itself():
    loaded = loaded_by("import jury_adapters")
    assert [name for name in loaded if name.split(".")[0] in FOREIGN] == []
    assert [name for name in loaded if name.startswith("jury_adapters")] == ["jury_adapters"]


def test_asking_for_what_is_not_there_loads_nothing_either():
    loaded = loaded_by("import jury_adapters; hasattr(jury_adapters, 'nothing'); dir(jury_adapters)")
    assert [name for name in loaded if name.startswith("jury_adapters.")] == []


@pytest.mark.slow
def test_using_the_core_loads_no_framework_sdk_or_command_line():
    code = "from jury_adapters import Ensemble, Case; str(Ensemble([lambda c: True]).judge(Case(question='q')))"
    loaded = {name.split(".")[0] for name in loaded_by(code)}
    assert "pydantic" in loaded
    unwanted = set(FOREIGN) - {"pydantic", "asyncio"}
    assert loaded & unwanted == set()


def test_dir_lists_the_public_names():
    assert set(jury_adapters.__all__) | {"__version__"} == set(dir(jury_adapters))


@pytest.mark.parametrize("name", ["Enssemble", "nothing", "_private", "__wrapped__", "Critic2"])
def test_an_unknown_name_is_an_attribute_error_that_names_it(name):
    with pytest.raises(AttributeError, match=f"'jury_adapters' has no attribute '{name}'"):
        getattr(jury_adapters, name)


def test_a_name_that_is_not_there_cannot_be_imported():
    with pytest.raises(ImportError, match="nothing"):
        from jury_adapters import nothing  # noqa: F401


def test_star_import_gives_exactly_the_public_names():
    space = {}
    exec("from jury_adapters import *", space)
    assert set(space) - {"__builtins__"} == set(jury_adapters.__all__)


def test_the_version_is_the_one_of_the_project():
    import tomllib

    project = Path(__file__).parents[1] / "pyproject.toml"
    assert tomllib.loads(project.read_text(encoding="utf-8"))["project"]["version"] == jury_adapters.__version__


def test_the_package_says_that_it_is_typed():
    assert (Path(jury_adapters.__file__).parent / "py.typed").exists()


@pytest.mark.parametrize("home", ["", *(f".{home}" for home in OTHER_HOMES)])
def test_no_public_name_is_the_name_of_a_module_beside_it(home):
    """Importing such a module would replace the name in its package."""
    package = import_module(f"jury_adapters{home}")
    folder = Path(package.__file__).parent
    modules = {path.stem for path in folder.iterdir()} if package.__file__.endswith("__init__.py") else set()
    assert sorted(modules & set(package.__all__)) == []
