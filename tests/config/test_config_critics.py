"""Critics of a file: rubrics, models, and keys, which no file holds."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.jury_schemas import schema_validator

from jury_adapters import ConfigurationError
from jury_adapters.config import load_jury
from jury_adapters.yaml_files import read_source

CRITICS = """
tiers:
  - {name: safe, policy: reject_on_any_fail, judge: {rubric: safety, model: local-model, base_url: 'http://localhost:9/v1'}}
  - name: panel
    judge:
      scorecard:
        truth:
          rubric: faithfulness
          model: ollama:qwen3
          threshold: 0.7
          samples: 3
          temperature: 0.5
          max_tokens: 500
          logprobs: true
          request_timeout: 20
        sourced: {criterion: The answer names its source., model: ollama:qwen3, temperature: null}
"""


def test_critics_fulfil_the_schema_and_are_built_without_a_network():
    jury = load_jury(CRITICS)  # nothing listens at these addresses
    assert jury.members[-1].names == ("truth", "sourced")
    assert [judge.name for judge in jury.members[-1].members] == ["faithfulness qwen3", "criteria qwen3"]
    schema_validator().validate(read_source(CRITICS, "").content)


def test_critics_come_with_their_options(tmp_path: Path):
    (tmp_path / "polite.yaml").write_text("criteria: The answer is polite.\n")
    file = tmp_path / "jury.yaml"
    file.write_text(
        "scorecard:\n"
        "  truth: {rubric: faithfulness, model: small, base_url: 'http://localhost:9/v1', threshold: 0.7, samples: 3,\n"
        "     temperature: null, max_tokens: 500, logprobs: true, request_timeout: 20}\n"
        "  polite: {rubric: polite.yaml, model: 'ollama:small'}\n"
        "  sourced: {criterion: It names its source., model: 'ollama:small'}\n"
    )
    truth, polite, sourced = load_jury(file).members
    assert [truth.name, polite.name, sourced.name] == ["faithfulness small", "polite small", "criteria small"]
    assert (truth.threshold, truth.samples, truth.temperature, truth.max_tokens) == (0.7, 3, None, 500)
    assert truth.logprobs is True
    assert truth.model.name == "local:small"
    assert polite.rubric.criteria == "The answer is polite."
    assert sourced.rubric.criteria == "It names its source."


def test_a_critic_without_its_key_says_which_variable_to_set(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ConfigurationError, match=r"line 1: jurors\[0\]: no key for openai: set .* OPENAI_API_KEY"):
        load_jury("jurors: [{rubric: safety, model: 'openai:gpt-4o-mini'}]\n")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0000")
    assert (
        load_jury("jurors: [{rubric: safety, model: 'openai:gpt-4o-mini'}]\n").members[0].name == "safety gpt-4o-mini"
    )


def test_a_key_that_is_not_set_is_told_without_what_no_file_has(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ConfigurationError, match=r"set the environment variable OPENAI_API_KEY$"):
        load_jury("jurors:\n  - {rubric: faithfulness, model: 'openai:gpt-4o'}\n")


@pytest.mark.parametrize("nested", [False, True])
def test_a_file_holds_no_keys(nested):
    critic = "rubric: safety, model: 'ollama:x', api_key: sk-very-secret"
    text = f"tiers: [{{name: a, judge: {{{critic}}}}}]\n" if nested else f"jurors: [{{{critic}}}]\n"
    with pytest.raises(ConfigurationError, match="api_key: a key does not belong into a file") as caught:
        load_jury(text)
    assert "OPENAI_API_KEY" in str(caught.value)
    assert "sk-very-secret" not in str(caught.value)


def test_a_critics_rubric_file_is_named_when_it_is_wrong(tmp_path: Path):
    (tmp_path / "wrong.yaml").write_text("criterias: x\n")
    file = tmp_path / "jury.yaml"
    for rubric, words in (("wrong.yaml", "unknown key 'criterias'"), ("nowhere.yaml", "No such file")):
        file.write_text(f"jurors: [{{rubric: {rubric}, model: 'ollama:x'}}]\n")
        with pytest.raises(ConfigurationError, match=words) as caught:
            load_jury(file)
        assert "jurors[0].rubric: " in str(caught.value)
