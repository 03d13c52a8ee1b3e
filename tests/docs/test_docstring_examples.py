"""Examples in docstrings, which the reference pages show: each gives what it says."""

import doctest
import importlib

import pytest
from doc_pages import ROOT

PACKAGE = ROOT / "jury_adapters"
MODULES = [path for path in sorted(PACKAGE.rglob("*.py")) if ">>> " in path.read_text(encoding="utf-8")]


@pytest.mark.corpus
@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_the_examples_of_a_module_give_what_they_say(reader, path):
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    try:
        module = importlib.import_module(name)
    except ImportError as error:  # an optional package
        pytest.skip(str(error))
    failed, tried = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
    assert failed == 0, f"{failed} of {tried} examples of {name} give something else; see the output"
