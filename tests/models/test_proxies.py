"""Proxies of addresses, determined by the environment alone."""

import pytest

from jury_adapters.models.http import can_send
from jury_adapters.models.proxies import proxy_for

VARIABLES = [f"{name}_proxy" for name in ("http", "https", "all", "no")]


@pytest.fixture(autouse=True)
def _no_proxy_of_this_machine(monkeypatch):
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.mark.parametrize(
    ("environment", "url", "proxy"),
    [
        ({}, "https://api.openai.com/v1", None),
        ({"HTTPS_PROXY": "http://p:1"}, "https://api.openai.com/v1", "http://p:1"),
        ({"HTTPS_PROXY": "http://p:1"}, "http://api.openai.com/v1", None),
        ({"HTTP_PROXY": "http://p:1"}, "http://api.openai.com/v1", "http://p:1"),
        ({"https_proxy": "http://low:1", "HTTPS_PROXY": "http://up:1"}, "https://x.org", "http://low:1"),
        ({"ALL_PROXY": "http://p:1"}, "https://x.org", "http://p:1"),
        ({"ALL_PROXY": "http://all:1", "HTTPS_PROXY": "http://p:1"}, "https://x.org", "http://p:1"),
        ({"ALL_PROXY": "p:1"}, "https://x.org", "http://p:1"),
        ({"ALL_PROXY": "http://p:1", "NO_PROXY": "x.org"}, "https://x.org", None),
        ({"ALL_PROXY": "http://p:1", "NO_PROXY": "x.org"}, "https://api.x.org", None),
        ({"ALL_PROXY": "http://p:1", "NO_PROXY": ".x.org"}, "https://api.x.org", None),
        ({"ALL_PROXY": "http://p:1", "NO_PROXY": "x.org"}, "https://notx.org", "http://p:1"),
        ({"ALL_PROXY": "http://p:1", "NO_PROXY": "x.org:8080"}, "https://x.org:8080/v1", None),
        ({"ALL_PROXY": "http://p:1", "NO_PROXY": "x.org:8080"}, "https://x.org/v1", "http://p:1"),
        ({"ALL_PROXY": "http://p:1", "NO_PROXY": "*"}, "https://x.org", None),
        ({"ALL_PROXY": "http://p:1", "NO_PROXY": "127.0.0.1,localhost"}, "http://127.0.0.1:9/v1", None),
    ],
)
def test_the_environment_decides(monkeypatch, environment, url, proxy):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert proxy_for(url) == proxy


@pytest.mark.parametrize(
    ("proxy", "ours"),
    [("http://p:1", True), ("https://p:1", True), ("socks5://p:1", False), ("socks4a://p:1", False), ("", True)],
)
def test_only_http_proxies_are_ours(monkeypatch, proxy, ours):
    monkeypatch.setenv("ALL_PROXY", proxy)
    assert can_send("https://api.openai.com/v1") is ours
