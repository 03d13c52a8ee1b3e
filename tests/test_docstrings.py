"""The examples in docstrings run, and print what they say."""

import doctest
import pkgutil
from importlib import import_module

import pytest

import jury_adapters

MODULES = [module.name for module in pkgutil.walk_packages(jury_adapters.__path__, "jury_adapters.")]


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_a_module_run(name: str) -> None:
    failed, _ = doctest.testmod(import_module(name), optionflags=doctest.ELLIPSIS)
    assert not failed


def test_there_are_examples() -> None:
    finder = doctest.DocTestFinder(exclude_empty=True)
    assert sum(bool(test.examples) for name in MODULES for test in finder.find(import_module(name))) >= 15
