"""Proxies and certificates come from the environment, and passwords from nowhere else."""

import base64
import json
import socket
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest
from support.scripts import run_script
from support.wire import CERTIFICATE, VENDORS, WireServer
from support.wire_faults import KEY
from support.wire_proxy import ProxyServer

pytestmark = pytest.mark.corpus

PASSWORD = "proxy-password-0123"
BASIC = "Basic " + base64.b64encode(f"user:{PASSWORD}".encode()).decode()
RIGHT = ["FAIL", None]

# Judge once in each environment, in a child of its own, and print status and error.
JUDGE = """
import gc, json, os, sys
import anthropic, openai, jury_adapters.critic.critic
gc.freeze()  # a child need not touch what is imported here
from jury_adapters import ConfigurationError, Critic, Limits
from jury_adapters.testing import a_case, no_waiting

def judged(name, url, env):
    os.environ.update(env)
    try:
        asked = Critic(
            name, "faithfulness", name="truth", base_url=url, api_key=sys.argv[2], request_timeout=20.0,
            limits=Limits(attempts=2),
        )
        with no_waiting():
            judgment = asked.judge(a_case(answer="TRUTH=NO"))
        return [str(judgment.status), judgment.error]
    except ConfigurationError as error:
        return ["ConfigurationError", str(error)]

for name, url, env in json.loads(sys.argv[1]):
    if os.fork() == 0:
        print(json.dumps([name, *judged(name, url, env)]), flush=True)
        os._exit(0)
    os.wait()
"""


@dataclass(frozen=True)
class Run:
    """One judgment of each vendor in an environment of its own.

    Attributes:
        env: the environment variables.
        host: the name by which the server is asked.
        direct: whether the server is asked without the proxy.
    """

    env: Mapping[str, str] = field(default_factory=dict)
    host: str = "127.0.0.1"
    direct: bool = False


@dataclass(frozen=True)
class Outcome:
    """Outcome of a run for one vendor: the judgment, and the requests that arrived."""

    judgment: list
    requests: list
    forwarded: list


def judge_each(*groups):
    """Make all runs in one process, each group with a server and a proxy, and sort what arrived by run and vendor."""
    told = [
        [f"{vendor}:{name}", wire.base_url(vendor, run.host), dict(run.env)]
        for runs, wire, _ in groups for name, run in runs.items() for vendor in VENDORS
    ]  # fmt: skip
    ran = run_script(JUDGE, json.dumps(told), KEY)
    assert (ran.code, ran.err) == (0, "")
    judgments = {name: found for name, *found in map(json.loads, ran.out.splitlines())}
    return {
        (name, vendor): Outcome(
            judgments[f"{vendor}:{name}"],
            [one for one in wire.requests if (one.json["model"], one.vendor) == (name, vendor)],
            [one for one in proxy.forwarded if (one.model, vendor_of(one.target)) == (name, vendor)],
        )
        for runs, wire, proxy in groups for name in runs for vendor in VENDORS
    }  # fmt: skip


def vendor_of(target):
    return "anthropic" if target.endswith("/messages") else "openai"


# HTTP -----------------------------------------------------------------------------------------------------------------

# What NO_PROXY lists, the host that is asked, and whether that is asked directly.
EXCEPTIONS = [
    ("127.0.0.1", "127.0.0.1", True),
    ("example.org, 127.0.0.1", "127.0.0.1", True),
    ("127.0.0.1:{port}", "127.0.0.1", True),
    ("127.0.0.1:1", "127.0.0.1", False),
    ("*", "127.0.0.1", True),
    ("localhost", "localhost", True),
    ("LOCALHOST", "localhost", True),
    ("localhost", "127.0.0.1", False),
    (".localhost", "judge.localhost", True),
    ("localhost", "judge.localhost", True),
    ("example.org", "localhost", False),
    ("host", "localhost", False),
    ("", "localhost", False),
]
PROXIED = {f"{name} alone": Run({name: "{proxy}"}) for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy")}
HTTP_RUNS = {
    **PROXIED,
    "another scheme": Run({"HTTPS_PROXY": "{proxy}"}, direct=True),
    "scheme before all": Run({"HTTP_PROXY": "{proxy}", "ALL_PROXY": "http://127.0.0.1:1"}),
    "empty": Run({"HTTP_PROXY": ""}, direct=True),
    **{
        f"NO_PROXY={listed!r} {host}": Run({"HTTP_PROXY": "{proxy}", "NO_PROXY": listed}, host, direct)
        for listed, host, direct in EXCEPTIONS
    },
    "no_proxy": Run({"HTTP_PROXY": "{proxy}", "no_proxy": "127.0.0.1"}, direct=True),
    "password": Run({"HTTP_PROXY": "{proxy_with_password}"}),
    "NETRC": Run({"NETRC": "{netrc}"}, direct=True),
    "NETRC and a proxy": Run({"NETRC": "{netrc}", "HTTP_PROXY": "{proxy}"}),
    "HOME": Run({"HOME": "{home}"}, "localhost", direct=True),
}
BROKEN_RUNS = {
    "unreachable": Run({"HTTP_PROXY": "http://user:" + PASSWORD + "@127.0.0.1:{unused}"}),
    "socks5": Run({"ALL_PROXY": f"socks5://user:{PASSWORD}@127.0.0.1:1"}),
    "socks5h": Run({"HTTP_PROXY": f"socks5h://user:{PASSWORD}@127.0.0.1:1"}),
}


@contextmanager
def over_http(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    netrc = home / ".netrc"
    netrc.write_text("machine localhost login netrc password netrc\ndefault login netrc password netrc\n")
    netrc.chmod(0o600)
    with WireServer() as wire, ProxyServer() as proxy, socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        places = {
            "proxy": proxy.url, "proxy_with_password": proxy.url.replace("//", f"//user:{PASSWORD}@"), "netrc": netrc,
            "home": home, "port": wire.port, "unused": unused.getsockname()[1],
        }  # fmt: skip
        runs = {
            name: Run({key: value.format(**places) for key, value in run.env.items()}, run.host)
            for name, run in (HTTP_RUNS | BROKEN_RUNS).items()
            if run.host != "judge.localhost" or resolves(run.host)
        }
        yield runs, wire, proxy


def resolves(host):
    """Whether the reserved names below localhost are known here."""
    try:
        return bool(socket.getaddrinfo(host, 80, socket.AF_INET))
    except OSError:
        return False


BOTH = pytest.mark.parametrize("vendor", VENDORS)
OF_HTTP = [name for name, run in HTTP_RUNS.items() if run.host != "judge.localhost" or resolves(run.host)]


@pytest.mark.slow
@pytest.mark.corpus
@BOTH
@pytest.mark.parametrize("name", OF_HTTP)
def test_the_environment_says_which_requests_go_through_the_proxy(outcomes, name, vendor):
    found = outcomes[name, vendor]
    assert found.judgment == RIGHT
    (request,) = found.requests
    assert request.key == KEY
    if HTTP_RUNS[name].direct:
        assert "via" not in request.headers
        assert found.forwarded == []
    else:
        assert "via" in request.headers
        (forwarded,) = found.forwarded
        assert forwarded.method == "POST"
        assert forwarded.target.startswith("http://")  # the absolute form, which is for proxies alone


@pytest.mark.slow
@BOTH
def test_the_password_of_a_proxy_goes_to_the_proxy_alone(outcomes, vendor):
    found = outcomes["password", vendor]
    assert [one.authorization for one in found.forwarded] == [BASIC]
    assert [one.headers.get("proxy-authorization") for one in found.requests] == [None]


@BOTH
@pytest.mark.parametrize("name", ["NETRC", "NETRC and a proxy", "HOME"])
def test_passwords_in_a_netrc_file_are_not_used(outcomes, name, vendor):
    (request,) = outcomes[name, vendor].requests
    (without,) = outcomes["another scheme", vendor].requests
    assert request.key == KEY
    assert b"basic " not in request.head.lower()
    assert request.headers.get("authorization") == without.headers.get("authorization")
    assert request.headers.get("x-api-key") == without.headers.get("x-api-key")
    assert [one.authorization for one in outcomes[name, vendor].forwarded] in ([], [None])


@BOTH
def test_a_proxy_that_does_not_answer_is_an_error_without_its_password(outcomes, vendor):
    status, error = outcomes["unreachable", vendor].judgment
    assert (status, error.partition(":")[0]) == ("ERROR", "connection")
    assert PASSWORD not in error
    assert KEY not in error
    assert outcomes["unreachable", vendor].requests == []  # nor around the proxy


@BOTH
@pytest.mark.parametrize("name", ["socks5", "socks5h"])
def test_a_socks_proxy_without_its_package_says_what_to_install(outcomes, name, vendor):
    status, error = outcomes[name, vendor].judgment
    assert status in ("ERROR", "ConfigurationError")
    assert "socks" in error.lower()
    assert "pip install" in error
    assert PASSWORD not in error
    assert outcomes[name, vendor].requests == []


# HTTPS ----------------------------------------------------------------------------------------------------------------


@contextmanager
def over_https(tmp_path_factory):
    # A folder has its certificates under the hashes of their subjects: openssl x509 -noout -subject_hash -in FILE
    folder = tmp_path_factory.mktemp("certificates")
    (folder / "ce275665.0").write_bytes(CERTIFICATE.read_bytes())
    known = {"SSL_CERT_FILE": str(CERTIFICATE)}
    with (
        WireServer(tls=True) as wire,
        ProxyServer() as proxy,
        WireServer(lambda request: [b"HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n"]) as strict,
    ):
        through = {name: one.url.replace("//", f"//user:{PASSWORD}@") for name, one in [("p", proxy), ("s", strict)]}
        runs = {
            "tunnel": Run({**known, "HTTPS_PROXY": through["p"]}, "localhost"),
            "file": Run(known, "localhost"),
            "folder": Run({"SSL_CERT_DIR": str(folder)}, "localhost"),
            "unknown": Run({}, "localhost"),
            "refused": Run({**known, "HTTPS_PROXY": through["s"]}, "localhost"),
        }
        yield runs, wire, proxy


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """The outcomes of all runs, the port that was asked over TLS, and what the proxy of those runs saw."""
    with over_http(tmp_path_factory) as plain, over_https(tmp_path_factory) as tls:
        return judge_each(plain, tls), tls[1].port, list(tls[2].forwarded)


@pytest.fixture
def outcomes(judged):
    return judged[0]


@pytest.fixture
def secure(judged):
    return judged


@BOTH
def test_https_goes_through_a_tunnel_in_which_the_proxy_reads_nothing(secure, vendor):
    outcomes, port, forwarded = secure
    found = outcomes["tunnel", vendor]
    assert found.judgment == RIGHT
    (request,) = found.requests
    assert request.key == KEY
    assert "proxy-authorization" not in request.headers
    assert [(one.method, one.target) for one in forwarded] == [("CONNECT", f"localhost:{port}")] * 2
    assert [one.authorization for one in forwarded] == [BASIC] * 2
    assert not any({"authorization", "x-api-key"} & one.names for one in forwarded)


@BOTH
@pytest.mark.parametrize("name", ["file", "folder"])
def test_ssl_cert_file_and_ssl_cert_dir_are_honoured(secure, name, vendor):
    assert secure[0][name, vendor].judgment == RIGHT


@BOTH
def test_a_certificate_that_no_one_vouches_for_is_refused(secure, vendor):
    found = secure[0]["unknown", vendor]
    status, error = found.judgment
    assert (status, error.partition(":")[0]) == ("ERROR", "connection")
    assert "certificate" in error
    assert found.requests == []


@BOTH
def test_a_tunnel_that_the_proxy_refuses_is_an_error_without_its_password(secure, vendor):
    found = secure[0]["refused", vendor]
    status, error = found.judgment
    assert status == "ERROR"
    assert "proxy" in error.lower()
    assert "407" in error
    assert PASSWORD not in error
    assert found.requests == []
