"""Addresses: one form for all spellings, without credentials; and where a model's address comes from."""

import pytest
from openai import AsyncOpenAI

from jury_adapters import ConfigurationError
from jury_adapters.core.secrets import without_keys
from jury_adapters.models.addresses import address_of, client_address, plain_address
from jury_adapters.models.registry import checked_address, resolve_model, vendor_address, vendor_family
from jury_adapters.vendors import VENDORS

PASSWORD = "correct-horse-battery"


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("https://api.openai.com/v1/", "https://api.openai.com/v1"),
        ("HTTPS://API.OpenAI.com:443/v1", "https://api.openai.com/v1"),
        ("http://localhost:80", "http://localhost"),
        ("http://localhost:8000/v1//", "http://localhost:8000/v1"),
        ("https://localhost:80/v1", "https://localhost:80/v1"),
        ("http://[::1]:8000/V1", "http://[::1]:8000/V1"),
        (f"https://me:{PASSWORD}@gate.example/v1", "https://gate.example/v1"),
        (f"https://gate.example/v1?key={PASSWORD}#{PASSWORD}", "https://gate.example/v1"),
        ("https://gate.example/sk-0123456789abcdef/v1", "https://gate.example/[key]/v1"),
        ("  https://gate.example ", "https://gate.example"),
        ("gate.example/v1", ""),
        ("https://gate.example:port", ""),
        ("", ""),
        (None, ""),
    ],
)
def test_the_spellings_of_an_address_have_one_form(written, plain):
    assert plain_address(written) == plain


def test_the_path_tells_addresses_apart():
    assert plain_address("https://gate.example/a") != plain_address("https://gate.example/A")


def test_a_password_in_an_address_is_not_shown():
    shown = without_keys(f"cannot reach https://me:{PASSWORD}@gate.example/v1, nor http://{PASSWORD}@gate.example")
    assert shown == "cannot reach https://[key]@gate.example/v1, nor http://[key]@gate.example"
    assert (
        without_keys("see https://example.com/?mail=me@example.com") == "see https://example.com/?mail=me@example.com"
    )


@pytest.mark.parametrize("address", ["ftp://h/v1", "localhost:8000", "", 7])
def test_what_is_no_address_is_refused(address):
    with pytest.raises(ConfigurationError, match=r"^base_url is an address such as 'http"):
        checked_address(address, "base_url")


@pytest.mark.parametrize("scheme", ["http://", "HTTPS://", "ftp://", ""])
def test_user_information_is_refused_and_not_repeated(scheme):
    with pytest.raises(ConfigurationError, match=r"^base_url contains a user name or a password") as caught:
        checked_address(f"{scheme}me:{PASSWORD}@host/v1", "base_url")
    assert PASSWORD not in str(caught.value)


def test_an_at_sign_behind_the_host_is_not_user_information():
    assert checked_address("http://host/@me/v1", "base_url") == "http://host/@me/v1"
    with pytest.raises(ConfigurationError, match="base_url contains a query"):
        checked_address("http://host/v1?mail=me@host", "base_url")


@pytest.mark.parametrize("name", ["openai", "anthropic"])
@pytest.mark.parametrize("value", [None, "", "  "])
def test_without_a_variable_the_vendors_own_address_is_used(monkeypatch, name, value):
    variable = VENDORS[name].url_variable
    monkeypatch.delenv(variable, raising=False)
    if value is not None:
        monkeypatch.setenv(variable, value)
    model = resolve_model(f"{name}:m", api_key="sk-test-0123456789").inner
    assert model.base_url == VENDORS[name].base_url
    assert model.address == plain_address(VENDORS[name].base_url)


def test_the_addresses_are_those_of_the_sdks(monkeypatch):
    for name, client in (("openai", "AsyncOpenAI"), ("anthropic", "AsyncAnthropic")):
        monkeypatch.delenv(VENDORS[name].url_variable, raising=False)
        sdk = pytest.importorskip(name)
        own = getattr(sdk, client)(api_key="sk-test-0123456789")
        assert client_address(own) == plain_address(VENDORS[name].base_url)
        monkeypatch.setenv(VENDORS[name].url_variable, "http://localhost:1/v9")
        told = getattr(sdk, client)(api_key="sk-test-0123456789")
        assert client_address(told) == vendor_address(VENDORS[name])


def test_the_variable_is_read_when_the_model_is_made(monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:1/v1/")
    model = resolve_model("openai:m", api_key="sk-test-0123456789").inner
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:2/v1/")
    assert model.address == "http://localhost:1/v1"
    assert resolve_model("openai:m", api_key="sk-test-0123456789").inner.address == "http://localhost:2/v1"


def test_an_argument_goes_before_the_variable(monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:1/v1")
    model = resolve_model("openai:m", api_key="sk-test-0123456789", base_url="http://localhost:2/v1").inner
    assert model.address == "http://localhost:2/v1"


def test_a_client_keeps_its_address(monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:1/v1")
    client = AsyncOpenAI(api_key="sk-test-0123456789", base_url="http://localhost:2/v1")
    assert resolve_model("m", client=client).inner.address == "http://localhost:2/v1"


def test_a_variable_without_an_address_is_named(monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", f"me:{PASSWORD}")
    with pytest.raises(ConfigurationError, match="the environment variable OPENAI_BASE_URL is an address"):
        resolve_model("openai:m", api_key="sk-test-0123456789")


def test_azure_has_no_address_of_its_own(monkeypatch):
    monkeypatch.delenv("AZURE_OPENAI_ENDPOINT", raising=False)
    with pytest.raises(ConfigurationError, match="set the environment variable AZURE_OPENAI_ENDPOINT"):
        resolve_model("azure:m", api_key="sk-test-0123456789")
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://ours.openai.azure.com/")
    model = resolve_model("azure:m", api_key="sk-test-0123456789").inner
    assert model.address == address_of(model) == "https://ours.openai.azure.com/openai/v1"


@pytest.mark.parametrize(
    ("name", "options", "family"),
    [
        ("openai:new-name", {}, "openai"),
        ("openai:new-name", {"base_url": "http://localhost:1/v1"}, None),  # any model may be behind it
        ("groq:new-name", {}, None),  # it serves the models of others
        ("new-name", {"base_url": "http://localhost:1/v1"}, None),
    ],
)
def test_a_vendor_has_a_family_at_its_own_address(monkeypatch, name, options, family):
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    assert vendor_family(resolve_model(name, api_key="sk-test-0123456789", **options).inner) == family
