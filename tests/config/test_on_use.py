"""Tables whose values are made on use."""

from __future__ import annotations

import pytest

from jury_adapters.config.on_use import OnUse


def test_a_value_is_made_once_when_it_is_first_looked_up():
    made: list[str] = []
    table = OnUse({name: lambda name=name: made.append(name) or name.upper() for name in ("one", "two")})
    assert list(table) == ["one", "two"]
    assert len(table) == 2
    assert "one" in table
    assert "three" not in table
    assert made == []
    assert [table["two"], table["two"]] == ["TWO", "TWO"]
    assert made == ["two"]
    assert dict(table) == {"one": "ONE", "two": "TWO"}


def test_an_unknown_key_is_a_key_error():
    with pytest.raises(KeyError):
        OnUse({})["one"]
