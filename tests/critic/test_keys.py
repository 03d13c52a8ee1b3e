"""A key goes to its vendor and nowhere else, whatever goes wrong."""

import asyncio
import logging
import pickle
import socket
import traceback

import pytest
from support.vendor import Act, error

from jury_adapters import Critic, Limits, ModelError
from jury_adapters.models.base import Prompt
from jury_adapters.store import Store
from jury_adapters.testing import a_case, no_waiting

pytestmark = pytest.mark.corpus

KEYS = {
    "like a key": "sk-proj-Abc0123456789-SECRET-xyz_0123456789",
    "unlike any key": "correct horse battery staple",
    "like a token": "7f3e9a0c55d24e1b8c6d",
}
MODES = {
    "401 that echoes the key": lambda key: error(401, f"Incorrect API key provided: {key}. Find yours at ..."),
    "401 with the key far behind": lambda key: error(401, f"{'x' * 490} {key}"),
    "401 in HTML": lambda key: Act(status=401, raw=f"<html>{key}</html>", content_type="text/html"),
    "400": lambda key: error(400, f"bad header: Bearer {key}", param="authorization"),
    "429": lambda key: error(429, f"rate limit of {key} reached"),
    "500": lambda key: error(500, f"oops: {key}"),
    "timeout": lambda key: Act(delay=3),
    "dropped connection": lambda key: Act(drop=True),
    "bad JSON": lambda key: Act(raw=f'{{"choices": "{key}'),
    "no completion": lambda key: Act(raw=f'{{"error": "{key}"}}'),
    "no completion with the key far behind": lambda key: Act(raw=f'{{"e": "{"x" * 185} {key}"}}'),
    "HTML": lambda key: Act(raw=f"<html>{key}</html>", content_type="text/html"),
}


@pytest.fixture
def everything_logged(caplog):
    caplog.set_level(logging.DEBUG)
    for name in ("openai", "anthropic", "httpx", "httpcore", "aiohttp", "jury_adapters", "tenacity"):
        caplog.set_level(logging.DEBUG, logger=name)
    return caplog


def shown(error):
    """An exception as people see it, and every exception behind it, also those that are usually hidden."""
    texts, queue, seen = [], [error], set()
    while queue:
        one = queue.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        texts += [repr(one), str(one), repr(vars(one)), *traceback.format_exception(one, chain=True)]
        queue += [one.__cause__, one.__context__]
    return "\n".join(texts)


def raised_by(critic):
    async def run():
        await critic.model.complete(Prompt.of("?"))

    with pytest.raises(ModelError) as caught:
        asyncio.run(run())
    return caught.value


def leaks(key, artefacts):
    """The artefacts that show the key, or a tell-tale part of it."""
    parts = {key, key[:12], key[-12:]}
    return sorted(name for name, text in artefacts.items() if any(part in text for part in parts))


@pytest.mark.corpus
@pytest.mark.parametrize("vendor", ["openai", "anthropic"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", KEYS)
def test_no_artefact_of_a_failure_shows_the_key(server, tmp_path, everything_logged, vendor, mode, kind):
    key = KEYS[kind]
    server.plan = lambda ask: MODES[mode](key)
    path = tmp_path / "runs.db"
    base = server.anthropic if vendor == "anthropic" else server.openai
    with no_waiting(), Store(path) as store:
        critic = Critic(
            "m",
            "faithfulness",
            name="truth",
            vendor=vendor,
            base_url=base,
            api_key=key,
            request_timeout=0.15,
            store=store,
            limits=Limits(attempts=2),
        )
        judgment = critic.judge(a_case())
        error = raised_by(critic)
    assert judgment.status == "ERROR"
    files = b"".join(file.read_bytes() for file in tmp_path.iterdir()).decode("latin-1")
    artefacts = {
        "repr(judgment)": repr(judgment),
        "str(judgment)": str(judgment),
        "to_json": judgment.to_json(),
        "pickle": pickle.dumps(judgment).decode("latin-1"),
        "store": files,
        "log": everything_logged.text + "".join(str(vars(record)) for record in everything_logged.records),
        "exception": shown(error),
        "critic": f"{critic!r} {critic} {critic.model!r} {vars(critic)} {vars(critic.model)}",
        "model": f"{critic.model.inner!r} {vars(critic.model.inner)}",
        "fingerprint": critic.fingerprint,
    }
    assert "SQLite format" in files
    assert leaks(key, artefacts) == []


def test_a_refused_connection_shows_no_key_either(everything_logged):
    key = KEYS["like a token"]
    with socket.socket() as unused, no_waiting():
        unused.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        critic = Critic("m", "faithfulness", name="truth", base_url=address, api_key=key, limits=Limits(attempts=2))
        judgment, error = critic.judge(a_case()), raised_by(critic)
    assert judgment.error.startswith("connection")
    artefacts = {"json": judgment.to_json(), "log": everything_logged.text, "exception": shown(error)}
    assert leaks(key, artefacts) == []


def test_a_key_from_the_environment_is_hidden_too(server, monkeypatch):
    key = KEYS["unlike any key"]
    monkeypatch.setenv("OPENAI_API_KEY", key)
    server.plan = lambda ask: error(401, f"no such key: {key}")
    critic = Critic("openai:m", "faithfulness", name="truth", base_url=server.openai)
    judgment = critic.judge(a_case())
    assert server.asks[0].headers["authorization"] == f"Bearer {key}"
    assert leaks(key, {"json": judgment.to_json(), "critic": pickle.dumps(critic).decode("latin-1")}) == []
    assert "[key]" in judgment.error


def test_a_key_of_the_environment_is_hidden_in_what_a_wrapped_model_says(monkeypatch):
    key = KEYS["like a token"]
    monkeypatch.setenv("SOMEBODY_API_KEY", key)

    async def broken(prompt):
        raise RuntimeError(f"401: {key} is no key")

    judgment = Critic(broken, "faithfulness", name="truth").judge(a_case())
    assert judgment.status == "ERROR"
    assert leaks(key, {"json": judgment.to_json()}) == []


def test_a_good_judgment_keeps_no_key(server, tmp_path, everything_logged):
    key = KEYS["like a token"]
    with Store(tmp_path / "runs.db") as store:
        critic = Critic("openai:m", "faithfulness", name="truth", base_url=server.openai, api_key=key, store=store)
        judgment = critic.judge(a_case())
    assert judgment.passed
    files = b"".join(file.read_bytes() for file in tmp_path.iterdir()).decode("latin-1")
    assert "faithfulness" in files
    assert leaks(key, {"json": judgment.to_json(), "store": files, "log": everything_logged.text}) == []
