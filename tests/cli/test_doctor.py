"""``jury doctor`` and ``jury show models``: what is there, what is set, what answers; and never a key."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from support.vendor import VendorServer, error
from typer.testing import CliRunner

from jury_adapters import Store
from jury_adapters.cli.app import app
from jury_adapters.cli.extras import Extra, Part, extras, within
from jury_adapters.core.installation import install_command
from jury_adapters.models.prices import PRICES
from jury_adapters.vendors import VENDORS
from tests.support.scripts import run_script

SECRET = "sk-very-secret-0123456789"


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch):
    for name in [*os.environ]:
        if name.endswith(("_API_KEY", "_BASE_URL", "_ENDPOINT")):
            monkeypatch.delenv(name)


def run(*arguments: object):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)


def found(*arguments: object, code: int = 0) -> dict:
    done = run("doctor", *arguments, "--json")
    assert done.exit_code == code, done.output
    return json.loads(done.stdout)


def test_it_says_what_is_there_and_asks_nobody(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.setenv("OPENAI_BASE_URL", f"https://me:{SECRET}@proxy.example:8443/v1?key={SECRET}#{SECRET}")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "")
    told = found()
    assert told["keys_set"]["OPENAI_API_KEY"] is True
    assert told["keys_set"]["ANTHROPIC_API_KEY"] is False
    assert told["base_urls"] == {"OPENAI_BASE_URL": "https://proxy.example:8443/v1"}
    assert told["models"] == []
    assert told["store"] is None
    openai = next(extra for extra in told["extras"] if extra["extra"] == "openai")
    assert openai["parts"][0]["installed"]
    for shown in (run("doctor").output, json.dumps(told)):
        assert "very-secret" not in shown
        assert "0123456789" not in shown
    assert "OPENAI_API_KEY         set" in run("doctor").stdout


@pytest.mark.parametrize(
    ("address", "plain"),
    [
        ("http://user:pw@[::1]:8080/v1", "http://[::1]:8080/v1"),
        ("https://host/sk-0123456789abcdef/v1", "https://host/[key]/v1"),
        ("not an address", "(no address)"),
        ("user:pw@host/v1", "(no address)"),
        ("http://host:port/", "(no address)"),
    ],
)
def test_addresses_are_shown_without_what_may_be_secret(address: str, plain: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ANTHROPIC_BASE_URL", address)
    assert found()["base_urls"] == {"ANTHROPIC_BASE_URL": plain}


def test_a_model_that_answers(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    with VendorServer() as server:
        told = found("--ask", "openai:gpt-4o-mini", "--ask", "openai:unheard-of", "--base-url", server.openai)
        assert len(server.asks) == 2
        assert all(ask.body.get("max_completion_tokens", 0) <= 512 for ask in server.asks)
    first, second = told["models"]
    assert first["answers"]
    assert first["cost_usd"] > 0
    assert second["answers"]
    assert second["cost_usd"] is None


@pytest.mark.slow
def test_the_time_is_that_of_the_answer_and_not_of_importing_the_sdk():
    with VendorServer() as server:
        done = run_script(f"""
            import importlib.abc, os, sys, time

            class Slow(importlib.abc.MetaPathFinder):
                def find_spec(self, name, path=None, target=None):
                    if name == "openai":
                        time.sleep(3)

            sys.meta_path.insert(0, Slow())
            os.environ["OPENAI_API_KEY"] = "sk-for-the-test"
            from jury_adapters.cli import main
            sys.argv = ["jury", "doctor", "--ask", "openai:gpt-4o-mini", "--base-url", "{server.openai}", "--json"]
            main()
        """)
    (model,) = json.loads(done.out)["models"]
    assert model["answers"]
    assert model["seconds"] < 3


@pytest.mark.parametrize(
    ("status", "fix"),
    [(401, "the key is refused"), (404, "the model's name"), (429, "raise the rate limit"), (500, "try again later")],
)
def test_a_model_that_does_not_says_what_to_do_and_never_the_key(
    status: int, fix: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    with VendorServer(lambda ask: error(status, f"no: {SECRET}")) as server:
        arguments = ("doctor", "--ask", "openai:gpt-4o-mini", "--base-url", server.openai)
        done = run(*arguments)
        quiet = run(*arguments, "--quiet")
    assert done.exit_code == quiet.exit_code == 1
    assert fix in done.stdout
    assert quiet.stdout == ""
    assert fix in quiet.stderr
    assert "very-secret" not in done.output + quiet.output


def test_a_server_that_is_not_there_and_a_key_that_is_not_set():
    told = found("--ask", "ollama:llama3.1", "--base-url", "http://127.0.0.1:9/v1", code=1)
    assert "see that it runs" in told["models"][0]["error"]
    told = found("--ask", "openai:gpt-4o-mini", "--ask", "gpt-4o", code=1)
    assert "set the environment variable OPENAI_API_KEY" in told["models"][0]["error"]
    assert "which vendor" in told["models"][1]["error"]
    assert "give --base-url" in told["models"][1]["error"]
    assert not any(f"{python}=" in str(told["models"]) for python in ("api_key", "vendor", "base_url"))


def test_a_store(tmp_path: Path):
    path = tmp_path / "runs.db"
    assert found("--store", path)["store"] == {"path": str(path), "writable": True, "error": None}
    assert list(tmp_path.iterdir()) == []  # it leaves nothing behind
    Store(path).close()
    assert found("--store", path)["store"]["writable"]
    path.write_text("no database at all, but a text of some length")
    assert "not a database" in found("--store", path, code=1)["store"]["error"]
    assert "folder must exist" in found("--store", tmp_path / "no" / "where.db", code=1)["store"]["error"]


def test_what_was_asked_for_stands_before_the_inventory(tmp_path: Path):
    told = CliRunner().invoke(app, ["doctor", "--store", str(tmp_path / "runs.db")]).stdout
    assert told.index("Store") < told.index("Extras") < told.index("Keys")


@pytest.mark.parametrize(
    ("installed", "asked", "fits"),
    [
        ("13.9.4", ">=13,<16", True),
        ("16.0.0", "<16,>=13", False),
        ("8.4.0", "!=8.4.0,<10,>=8.2", False),
        ("8.4.1", "!=8.4.0,<10,>=8.2", True),
        ("0.1.0", "==0.1.0", True),
        ("1.4.2", "==1.4.*", True),
        ("1.5", "~=1.4", True),
        ("2.0", "~=1.4", False),
        ("1.0", "<=1.0.0", True),
        ("2026.11.15", ">=2023.10.3", True),
        ("3", "", True),
    ],
)
def test_ranges_of_versions(installed: str, asked: str, fits: bool):
    assert within(installed, asked) is fits


def test_the_state_of_an_extra():
    good, bad, missing = Part("a", ">=1", "1.2"), Part("b", ">=2", "1.2"), Part("c", ">=2", None)
    assert Extra("x", (good,)).state == "ready"
    assert Extra("x", (good, bad)).state == "other version"
    assert Extra("x", (good, bad, missing)).state == "not installed"


def test_an_extra_has_what_its_extras_need():
    by_name = {extra.name: {part.name for part in extra.parts} for extra in extras()}
    assert {"typer", "rich", "regex", "jsonschema"} <= by_name["cli"]
    assert not {"all", "test", "dev"} & by_name.keys()


def test_an_extra_that_is_not_ready_has_the_command_that_installs_it():
    lines = {line.split()[0]: line for line in run("doctor").stdout.splitlines() if line.startswith("  ")}
    for extra in extras():
        assert (install_command(extra.name) in lines[extra.name]) is (extra.state != "ready")


def test_models_are_listed_with_prices_and_limits(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GROQ_API_KEY", SECRET)
    told = json.loads(run("show", "models", "--json").stdout)
    assert {one["model"] for one in told["models"]} == set(PRICES)
    assert {one["vendor"]: one["key_set"] for one in told["vendors"]}["groq"] is True
    assert told["limits"]["max_concurrency"] == 64
    shown = run("show", "models").output
    assert all(name in shown for name in (*PRICES, *VENDORS))
    assert SECRET not in shown + json.dumps(told)
