"""Addresses in jury files: a file cannot send a key from the environment to an address of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from jury_adapters import ConfigurationError, InputError
from jury_adapters.config import load_jury
from jury_adapters.vendors import VENDORS
from tests.support.vendor import VendorServer

SECRET = "env-0123456789-secret"
CASE = {"question": "Is it?", "answer": "It is. TRUTH=YES", "contexts": ["It is."]}
WITH_KEY = [name for name, vendor in VENDORS.items() if vendor.key_variable is not None]
WITHOUT_KEY = [name for name, vendor in VENDORS.items() if vendor.key_variable is None]


@pytest.fixture(autouse=True)
def keys(monkeypatch):
    """Every vendor's key, and the SDKs' other variables, hold a secret."""
    for vendor in VENDORS.values():
        if vendor.key_variable is not None:
            monkeypatch.setenv(vendor.key_variable, SECRET)
    for variable in ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_ADMIN_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.setenv(variable, SECRET)
    for variable in ("OPENAI_CUSTOM_HEADERS", "ANTHROPIC_CUSTOM_HEADERS"):
        monkeypatch.setenv(variable, f"X-Gateway: {SECRET}\nAuthorization: Bearer {SECRET}\ncookie:{SECRET}")


@pytest.fixture
def thief():
    with VendorServer() as server:
        yield server


CRITIC = "criterion: 'Is it so?', model: '{model}', base_url: '{url}'"
# Every place of a file in which a judge may be.
PLACES = {
    "a juror": "jurors: [{{" + CRITIC + "}}]",
    "the second juror": "jurors: [{{check: not_empty}}, {{" + CRITIC + "}}]",
    "a critic with a rubric": "jurors: [{{rubric: faithfulness, model: '{model}', base_url: '{url}'}}]",
    "the whole file": "{{" + CRITIC + "}}",
    "a juror by name": "jurors: {{a: {{" + CRITIC + "}}}}",
    "a criterion": "scorecard: {{a: {{" + CRITIC + "}}}}",
    "a juror of a nested jury": "jurors: [{{jurors: [{{jurors: [{{" + CRITIC + "}}]}}]}}]",
    "a tier": "tiers: [{{name: only, judge: {{" + CRITIC + "}}}}]",
    "a juror of a tier": "tiers: [{{name: only, judge: {{jurors: [{{" + CRITIC + "}}]}}}}]",
    "a tier of a nested cascade": "jurors: [{{tiers: [{{name: only, judge: {{" + CRITIC + "}}}}]}}]",
    "a fallback": "jurors: [{{check: not_empty, fallbacks: [{{" + CRITIC + "}}]}}]",
    "the fallback of a fallback": "jurors: [{{check: not_empty, fallbacks: [{{check: not_empty, fallbacks: [{{"
    + CRITIC
    + "}}]}}]}}]",
    "the last word of a screen": "jurors: [{{check: grounding_screen, final: {{" + CRITIC + "}}}}]",
    "a critic that is asked several times": "jurors: [{{" + CRITIC + ", samples: 3}}]",
    "an alias of YAML": "jurors: [{{jurors: [&thief {{" + CRITIC + "}}]}}, *thief]",
}


@pytest.mark.parametrize("place", PLACES)
def test_a_file_sends_no_key_from_the_environment_to_an_address_of_its_own(place, thief):
    text = PLACES[place].format(model="openai:gpt-4o-mini", url=thief.openai)
    with pytest.raises(
        ConfigurationError, match="base_url: this address would get the key in OPENAI_API_KEY"
    ) as caught:
        load_jury(f"{text}\n")
    assert SECRET not in str(caught.value)
    assert not thief.asks
    load_jury(f"{text}\n", allow_base_url=True)


@pytest.mark.parametrize("vendor", WITH_KEY)
@pytest.mark.parametrize("spelt", [str.lower, str.upper, str.title])
def test_no_vendors_key_is_sent_however_the_vendor_is_spelt(vendor, spelt, thief):
    text = f"jurors: [{{criterion: 'Is it so?', model: '{spelt(vendor)}:m', base_url: '{thief.openai}'}}]\n"
    with pytest.raises(ConfigurationError, match=VENDORS[vendor].key_variable):
        load_jury(text)


def test_the_message_says_where_it_is_and_what_to_do(tmp_path: Path):
    file = tmp_path / "jury.yaml"
    file.write_text(
        "jurors:\n  - check: not_empty\n  - criterion: Is it so?\n    model: openai:m\n    base_url: http://localhost:9/v1\n"
    )
    with pytest.raises(ConfigurationError) as caught:
        load_jury(file)
    message = str(caught.value)
    assert message.startswith(f"{file}, line 5: jurors[1].base_url: this address would get the key in OPENAI_API_KEY")
    for way in ("load_jury(..., allow_base_url=True)", "`jury judge --allow-base-url`",
                "`pytest --jury-allow-base-url`", "set the environment variable OPENAI_BASE_URL"):  # fmt: skip
        assert way in message


def test_an_allowed_file_sends_the_key(thief):
    jury = load_jury(
        f"jurors: [{{criterion: 'Is it so?', model: 'openai:m', base_url: '{thief.openai}'}}]\n", allow_base_url=True
    )
    assert jury.judge(**CASE).passed
    assert thief.asks[0].headers["authorization"] == f"Bearer {SECRET}"


@pytest.mark.parametrize("model", ["m", *(f"{vendor}:m" for vendor in WITHOUT_KEY), "unknown:m", "OPENAI", "openai/m"])
def test_a_model_without_a_key_needs_no_permission_and_sends_nothing_from_the_environment(model, thief):
    jury = load_jury(f"jurors: [{{criterion: 'Is it so?', model: '{model}', base_url: '{thief.openai}'}}]\n")
    assert jury.judge(**CASE).passed
    (ask,) = thief.asks
    assert SECRET not in repr(ask)
    assert ask.headers["authorization"] == "Bearer none"


# What somebody might try to say where a request goes, or which key goes with it.
@pytest.mark.parametrize(
    "option",
    [
        "api_key: x", "api_key_env: GEMINI_API_KEY", "key_variable: GEMINI_API_KEY", "vendor: openai",
        "http_client: x", "client: x", "default_headers: {a: b}", "headers: {a: b}", "proxy: 'http://localhost:9'",
        "organization: x", "url: 'http://localhost:9'", "endpoint: 'http://localhost:9'", "options: {base_url: x}",
        "limits: {}", "store: runs.db", "'<<': {base_url: 'http://localhost:9/v1'}",
    ],
)  # fmt: skip
@pytest.mark.parametrize("where", ["juror", "file", "tier"])
def test_a_file_has_no_other_way_to_name_addresses_headers_or_keys(option, where):
    text = {
        "juror": f"jurors: [{{criterion: 'Is it so?', model: 'ollama:m', {option}}}]\n",
        "file": f"{{jurors: [{{check: not_empty}}], {option}}}\n",
        "tier": f"tiers: [{{name: only, judge: {{check: not_empty, {option}}}}}]\n",
    }[where]
    with pytest.raises(ConfigurationError, match=r"unknown key|a key does not belong into a file"):
        load_jury(text, allow_base_url=True, allow_commands=True)


def test_a_merge_key_of_yaml_brings_no_address_in():
    text = "jurors:\n  - &a {criterion: x, model: 'ollama:m', base_url: 'http://localhost:9/v1'}\n"
    with pytest.raises(ConfigurationError, match="<<"):
        load_jury(f"{text}  - {{<<: *a, model: 'openai:m'}}\n")


@pytest.mark.parametrize("path", ["$OPENAI_API_KEY", "${OPENAI_API_KEY}", "{}", "%7B%7D"])
def test_no_variable_is_put_into_an_address(path):
    url = f"http://localhost:9/{path}"
    (critic,) = load_jury(f"jurors: [{{criterion: 'Is it so?', model: m, base_url: '{url}'}}]\n").members
    assert critic.model.inner.base_url == url
    with pytest.raises(ConfigurationError, match="base_url") as caught:
        load_jury(f"jurors: [{{criterion: 'Is it so?', model: m, base_url: '{path}'}}]\n")
    assert SECRET not in str(caught.value)


def test_a_rubric_file_names_no_model_and_no_address(tmp_path: Path):
    (tmp_path / "rubric.yaml").write_text("criteria: Is it so?\nbase_url: http://localhost:9/v1\n")
    (tmp_path / "jury.yaml").write_text("jurors: [{rubric: rubric.yaml, model: 'openai:m'}]\n")
    with pytest.raises(InputError, match="unknown key 'base_url'"):
        load_jury(tmp_path / "jury.yaml")


def test_a_recorded_vote_reads_no_address_from_its_file(tmp_path: Path, thief):
    vote = {"label": "yes", "base_url": thief.openai, "model": "openai:m"}
    (tmp_path / "votes.jsonl").write_text(f'{{"item_id": "7", "votes": {{"a": {vote!r}}}}}'.replace("'", '"') + "\n")
    (tmp_path / "jury.yaml").write_text(
        "jurors: [{recorded: a, votes: votes.jsonl, labels: {'yes': pass, 'no': fail}}]\n"
    )
    assert load_jury(tmp_path / "jury.yaml").judge(metadata={"item_id": "7"}).passed
    assert not thief.asks
