"""The public names, of the package and of its adapters: one table each, whose names load when they are used."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from fact_tables import each_row

FACES = {"jury_adapters": None, "jury_adapters.langchain": 13, "jury_adapters.llama_index": 15}
FRAMEWORKS = {"langchain", "langchain_core", "langgraph", "langsmith", "langchain_classic", "openevals", "llama_index"}


@each_row(("name", "number"), [*FACES.items()])
def test_the_list_the_table_and_what_type_checkers_see_are_the_same(name, number):
    face = import_module(name)
    tree = ast.parse(Path(face.__file__).read_text(encoding="utf-8"))
    (block,) = (one for one in tree.body if isinstance(one, ast.If))
    declared = {alias.asname or alias.name: one.module for one in block.body for alias in getattr(one, "names", ())}
    homes = {one: home for one, home in declared.items() if str(home).startswith("jury_adapters")}
    assert sorted(homes) == face.__all__ == dir(face)
    assert (homes, len(homes)) == (face._HOMES, number or len(homes))
    for one, home in homes.items():
        assert getattr(face, one) is getattr(import_module(home), one)
        assert number is None or getattr(face, one).__doc__
    with pytest.raises(AttributeError, match="'Jurry'"):
        _ = face.Jurry


@pytest.mark.parametrize("module", ["voting", "testing"])
def test_a_module_offers_what_it_lists(module):
    home = import_module(f"jury_adapters.{module}")
    names = getattr(home, "__all__", None) or [name for name, one in vars(home).items() if isinstance(one, type)]
    assert names
    assert all(getattr(home, name) is not None for name in names)


def printed(program):
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.strip()


LOADED = [  # what is imported; the frameworks that it loads. LangGraph's class of handlers costs 25 ms beside Runnables
    ("jury_adapters, jury_adapters.langchain, jury_adapters.llama_index", set()),
    ("jury_adapters.langchain as l; l.JuryCallbackHandler, l.JuryEvaluator, l.JuryRunnable, l.pass_rate",
        {"langchain_core", "langgraph", "langsmith"}),
]  # fmt: skip


@each_row(("names", "frameworks"), LOADED)
def test_importing_loads_what_is_used(names, frameworks):
    modules = printed(f"import {names}; import sys; print(*sys.modules)").split()
    assert {one.partition(".")[0] for one in modules} & FRAMEWORKS == frameworks


NEEDS = [  # a name; what is not installed; what is said
    ("langchain.JuryMiddleware", ["langchain"], "needs langchain: pip install 'jury-adapters[langchain]' langchain"),
    ("langchain.JuryStringEvaluator", ["langchain_classic"],
        "needs langchain-classic: pip install 'jury-adapters[langchain]' langchain-classic"),
    ("langchain.JuryCallbackHandler", ["langchain_core", "langgraph"],
        "needs langchain-core: pip install 'jury-adapters[langchain]' langchain-core"),
    ("langchain.JuryCallbackHandler", ["langgraph", "langgraph.callbacks", "langchain"], "is there"),
    ("llama_index.judge_runs", ["llama_index"],
        "needs llama-index-core: pip install 'jury-adapters[llama-index]' llama-index-core"),
]  # fmt: skip


@each_row(("name", "missing", "said"), NEEDS)
def test_what_is_missing_is_named(name, missing, said):
    face, _, only = name.partition(".")
    program = f"import sys; sys.modules |= dict.fromkeys({missing!r}); import jury_adapters.{face} as face\n"
    program += f"try: face.{only}; print('{only} is there')\nexcept ImportError as error: print(error)"
    assert printed(program) == f"{only} {said}"
