"""Messages about a PostgreSQL store without a server: its URL, its password, and missing parts."""

import subprocess
import sys
import traceback
from pathlib import Path

import pytest

from jury_adapters import ConfigurationError, Critic, Store
from jury_adapters.core.background.judge_queue import JudgeQueue
from jury_adapters.core.cache import open_cache
from jury_adapters.core.installation import install_command
from jury_adapters.store import existing_store, is_url, open_store, place_name, place_of
from jury_adapters.store.postgres_connection import Server
from jury_adapters.testing import ScriptedModel

SECRET = "hunter2-and-more"
NOBODY = f"postgresql+psycopg://me:{SECRET}@127.0.0.1:1/juries"  # nothing listens at port 1


def critic(**options):
    return Critic(ScriptedModel(["{}"]), "faithfulness", name="juror", **options)


@pytest.mark.parametrize(
    "url", [NOBODY, NOBODY.replace("+psycopg", ""), NOBODY.replace("postgresql+psycopg", "postgres")]
)
@pytest.mark.parametrize("take", [
    open_store, existing_store, open_cache, lambda url: critic(store=url),
    lambda url: JudgeQueue(critic(), store=url), lambda url: list(critic().judge_many([], store=url)),
])  # fmt: skip
def test_a_server_that_is_not_there_is_said_at_once_wherever_a_store_is_taken(take, url):
    with pytest.raises(ConfigurationError, match=r"refused.*see that the server runs at that address") as caught:
        take(url)
    assert SECRET not in "".join(traceback.format_exception(caught.value))
    assert "me:***@127.0.0.1:1/juries" in str(caught.value)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        (
            "mysql://me@host/juries",
            r"mysql:// is not a store; give a path, or postgresql\+psycopg://user@host/database",
        ),
        ("postgresql+asyncpg://me@host/juries", r"postgresql\+asyncpg:// is not a store"),
        ("sqlite:///runs.db", r"for an SQLite file give its path"),
        (f"postgresql://me:{SECRET}@host:{SECRET}/juries", r"cannot be read; write postgresql\+psycopg://"),
        (f"postgresql://me:half/{SECRET}@host/juries", r"cannot be read; write|see that the server runs"),
        (f"postgresql://me:{SECRET}@127.0.0.1:1/juries?colour=blue", r"see what follows the question mark"),
    ],
)
def test_a_url_that_is_none_of_ours_says_what_to_write(url, said):
    with pytest.raises(ConfigurationError, match=said) as caught:
        open_store(url)
    assert SECRET not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize(
    ("url", "said"),
    [("mysql://me@host/juries", "mysql:// is not a store; give a path"), ("sqlite:///runs.db", "for an SQLite file")],
)
def test_a_url_that_is_none_of_ours_needs_no_driver(url, said, monkeypatch):
    for module in ("sqlalchemy", "jury_adapters.store.postgres", "jury_adapters.store.postgres_connection"):
        monkeypatch.setitem(sys.modules, module, None)
    for take in (open_store, existing_store):
        with pytest.raises(ConfigurationError, match=said):
            take(url)


def test_a_text_that_is_no_url_is_not_shown():
    with pytest.raises(ConfigurationError, match="cannot be read") as caught:
        Server(f"postgresql:me:{SECRET}@host")
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        (NOBODY, "postgresql+psycopg://me:***@127.0.0.1:1/juries"),
        (f"postgres://host/juries?user=me&password={SECRET}", "password=***"),
        (f"postgresql://host/juries?sslkey=a.pem&sslpassword={SECRET}", "sslpassword=***"),
        ("postgresql:///juries?host=%2Frun%2Fpg", "postgresql+psycopg:///juries?host=%2Frun%2Fpg"),
    ],
)
def test_a_url_is_shown_without_what_is_secret(url, shown):
    server = Server(url)
    assert shown in server.shown
    assert SECRET not in server.shown
    if SECRET in url:
        assert server.message_of(ValueError(f"no entry for {SECRET}\n  in the file")) == "no entry for *** in the file"
    assert SECRET not in repr(server.engine.url)


def test_a_url_as_a_path_is_refused_for_path_makes_one_slash_of_two():
    with pytest.raises(ConfigurationError, match=r"is text, postgresql\+psycopg://\.\.\., and no Path") as caught:
        open_store(Path(NOBODY))
    assert SECRET not in str(caught.value)


def test_the_class_for_files_takes_no_url():
    with pytest.raises(ConfigurationError, match=r"give a URL to store= or open_store") as caught:
        Store(NOBODY)
    assert SECRET not in str(caught.value)


def test_urls_and_paths_are_told_apart(tmp_path):
    assert is_url(NOBODY)
    assert not any(map(is_url, ("runs.db", "C:/runs.db", "a:b.db", tmp_path, None)))
    assert place_name(f"{NOBODY}?password={SECRET}") == "juries"
    assert place_name(tmp_path / "runs.db") == "runs.db"
    assert place_of(NOBODY) == NOBODY
    assert place_of("runs.db") == Path.cwd() / "runs.db"


@pytest.mark.slow
@pytest.mark.parametrize("module", ["sqlalchemy", "psycopg"])
def test_a_missing_package_is_said_with_what_to_install(module):
    script = f"""
import sys
sys.modules[{module!r}] = None
from jury_adapters.store import open_store
from jury_adapters import ConfigurationError
try:
    open_store({NOBODY!r})
except ConfigurationError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert install_command("postgres") in done.stdout


@pytest.mark.slow
def test_nothing_of_sqlalchemy_is_loaded_for_a_file(tmp_path):
    script = """
import sys
from jury_adapters.store import open_store
open_store(sys.argv[1]).close()
print(sorted(sys.modules))
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "runs.db")], check=True, capture_output=True, text=True
    )
    assert "sqlalchemy" not in done.stdout
    assert "psycopg" not in done.stdout
