"""Fixtures of the tests of models: a local server, and an environment without keys and proxies."""

import itertools
import os
import ssl

import pytest
import trustme
from model_server import KEY, Server, well

from jury_adapters.models import open_model

_NUMBERS = itertools.count()


@pytest.fixture(scope="session")
def _server():
    with Server() as server:
        yield server


@pytest.fixture
def server(_server):
    """The server, which answers well until a test gives it another plan."""
    _server.plan = well
    _server.requests.clear()
    return _server


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    for name in list(os.environ):
        if name.lower().endswith("_proxy") or name.startswith(("OPENAI_", "ANTHROPIC_", "AZURE_", "LANGSMITH_")):
            monkeypatch.delenv(name)
    return monkeypatch


@pytest.fixture(params=["openai-wire", "anthropic-sdk"])
def vendor(request, monkeypatch):
    """The protocol, and the way of requests: over aiohttp, or by the SDK, to which any proxy leaves them."""
    vendor, way = request.param.split("-")
    if way == "sdk":
        monkeypatch.setenv("FTP_PROXY", "http://127.0.0.1:9")
    return vendor


@pytest.fixture
def opened(server, vendor):
    """Open a model of the server under a name of its own, so that no test learns from another."""

    def opened(**options):
        given = {"base_url": server.base_url(vendor), "api_key": KEY, "timeout": 5.0, **options}
        return open_model(f"{vendor}:m{next(_NUMBERS)}", **given)

    return opened


@pytest.fixture(scope="session")
def tls_server(tmp_path_factory):
    """A server whose certificate no machine trusts, until a test names its authority."""
    authority = trustme.CA()
    certificate = tmp_path_factory.mktemp("tls") / "authority.pem"
    authority.cert_pem.write_to_path(certificate)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost", "127.0.0.1").configure_cert(context)
    with Server(tls=context) as server:
        server.certificate = str(certificate)
        yield server
