"""Opening stores by path and URL without a server, reading only, and what is loaded for it."""

import asyncio
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fact_tables import each_row
from store_support import CASE, FULL, KEY, Asked, get, passed, put

from jury_adapters.core.values import ConfigurationError
from jury_adapters.store import ReadOnly, SqlStore, Store, open_store

SECRET = "hunter2-and-more"
NOWHERE = f"postgresql://me:{SECRET}@127.0.0.1:1/juries"  # nothing listens at port 1
FORM = "the URL of a store is postgresql://user@host/database, with %40 for an @ and %2F for a / in a password"


@pytest.mark.parametrize(
    "place",
    [
        lambda path: path,
        str,
        lambda path: f"sqlite:///{path}",
        lambda path: path.name,
        lambda path: f"sqlite:///{path.name}",
    ],
    ids=["path", "text", "url", "relative", "relative url"],
)
def test_a_path_and_a_url_of_a_file_mean_the_same_file(
    path: Path, place: Callable[[Path], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(path.parent)
    with open_store(place(path)) as store:
        assert isinstance(store, Store)
        put(store, (KEY, passed()))
    with Store(path) as store:
        assert get(store) == passed()


@pytest.mark.parametrize("name", ["a:b.db", "C:/runs.db", "50%.db", "postgresql.db", "?mode=memory", "file:x.db"])
def test_odd_names_are_names_of_files(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).parent.mkdir(exist_ok=True)
    with open_store(name) as store:
        put(store, (KEY, passed()))
    assert (tmp_path / name).is_file()


ONE_OF = "a store is a path, sqlite:///path or postgresql://user@host/database; not "


@each_row(
    ("place", "said"),
    [
        (f"mysql://me:{SECRET}@host/juries", f"{ONE_OF}mysql:"),
        (f"postgres://me:{SECRET}@host/juries", f"{ONE_OF}postgres:"),
        (f"postgresql+psycopg://me:{SECRET}@host/juries", f"{ONE_OF}postgresql+psycopg:"),
        (Path(NOWHERE), f"{ONE_OF}postgresql:"),
        ("sqlite://runs.db", f"{ONE_OF}sqlite:"),
        ("https://example.org/runs.db", f"{ONE_OF}https:"),
        (f"postgresql://me:half@{SECRET}@host/juries", FORM),
        (f"postgresql://me:half/{SECRET}@host/juries", FORM),
        (f"postgresql://me:half#{SECRET}@host/juries", FORM),
        (f"postgresql://me:{SECRET}%zz@host/juries", FORM),
        (f"postgresql://me:{SECRET}@host/juries?colour=blue", FORM),
        (f"postgresql://me:{SECRET}@host", FORM),
    ],
)
def test_what_is_no_store_is_refused_without_its_password(place: str | Path, said: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        open_store(place)
    assert str(caught.value) == said
    assert SECRET not in "".join(traceback.format_exception(caught.value)).replace(repr(place), "")


@pytest.mark.parametrize("place", [":memory:", NOWHERE])
def test_the_class_for_files_takes_a_file(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigurationError, match=r"^a store is kept in a file, so give its path") as caught:
        Store(place)
    assert SECRET not in str(caught.value)
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("url", [NOWHERE, f"postgresql://127.0.0.1:1/juries?user=me&password={SECRET}"])
def test_a_server_that_is_not_there_is_said_at_once(url: str) -> None:
    with pytest.raises(ConfigurationError, match="Connection refused") as caught:
        open_store(url)
    assert str(caught.value).startswith("the store postgresql://127.0.0.1:1/juries cannot be used: ")
    assert SECRET not in "".join(traceback.format_exception(caught.value))


def printed_by(script: str) -> str:
    return subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout


def test_a_missing_package_is_said_with_the_command() -> None:
    script = f"""
import sys
sys.modules["psycopg"] = None
from jury_adapters.store import open_store
try:
    open_store({NOWHERE!r})
except ValueError as error:
    print(error)
"""
    assert printed_by(script) == 'a store in PostgreSQL needs psycopg: pip install "jury-adapters[postgres]"\n'


def test_a_file_needs_no_driver() -> None:
    assert "psycopg" not in printed_by("import sys, jury_adapters.store; print(sorted(sys.modules))")


# Reading only.


@pytest.fixture
def file(path: Path) -> Any:
    with Store(path) as store:
        put(store, (KEY, FULL))
        yield store


def test_a_read_only_store_gives_what_is_stored(file: SqlStore) -> None:
    store = ReadOnly(file)
    assert store.read_only is True
    assert get(store) == FULL
    assert get(store, KEY._replace(sample=1)) is None
    assert repr(store) == f"ReadOnly(store=Store({file.name!r}))"


def test_a_read_only_store_keeps_nothing(file: SqlStore) -> None:
    with pytest.raises(ConfigurationError, match=r"^a ReadOnly store keeps no judgments$"):
        asyncio.run(ReadOnly(file).put(KEY._replace(sample=1), CASE, passed()))
    assert file.counts() == {"FAIL": 1}


def test_a_replay_asks_nothing_and_costs_nothing(file: SqlStore) -> None:
    asked = Asked()
    judgment = asyncio.run(asked(ReadOnly(file)))
    assert asked.calls == 0
    assert (judgment.usage.calls, judgment.usage.recorded_calls, judgment.usage.recorded_usd) == (0, 1, 0.01)
