"""The public face: one table of names, which load when they are used."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

import jury_adapters


def imported_for_types() -> dict[str, str]:
    """Return the names that type checkers see, with the modules that they come from."""
    tree = ast.parse(Path(jury_adapters.__file__).read_text(encoding="utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    return {alias.asname or alias.name: node.module for node in block.body for alias in node.names}


def test_the_list_the_table_and_what_type_checkers_see_are_the_same() -> None:
    assert [*jury_adapters.__all__] == sorted({*jury_adapters.__all__})
    assert {*jury_adapters.__all__} == {*jury_adapters._HOMES} == {*imported_for_types()}
    assert imported_for_types() == jury_adapters._HOMES
    assert dir(jury_adapters) == jury_adapters.__all__


def test_a_public_name_is_that_of_its_home() -> None:
    for name, home in imported_for_types().items():
        found = getattr(jury_adapters, name)
        assert found is getattr(import_module(home), name)
        assert getattr(jury_adapters, name) is found


@pytest.mark.parametrize("module", ["voting", "testing"])
def test_a_module_offers_what_it_lists(module: str) -> None:
    home = import_module(f"jury_adapters.{module}")
    names = getattr(home, "__all__", None) or [name for name, one in vars(home).items() if isinstance(one, type)]
    assert names
    assert all(getattr(home, name) is not None for name in names)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'Jurry'"):
        jury_adapters.Jurry  # noqa: B018
    assert not hasattr(jury_adapters, "_NOTHING")
