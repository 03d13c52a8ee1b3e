"""The JSON schema of jury files: what it takes, and that it says what the loader says."""

from __future__ import annotations

import json

import jsonschema
import pytest
import yaml
from support.jury_files import GOOD
from support.jury_schemas import schema_validator

from jury_adapters import CascadedJury, ConfigurationError, Ensemble, Scorecard, Status
from jury_adapters.config import jury_schema, load_jury
from jury_adapters.config.grammar import EnsembleSpec
from jury_adapters.config.spec_judge import KINDS
from jury_adapters.core.ensemble import EnsembleOptions
from jury_adapters.core.judge import Judge
from jury_adapters.core.voting import STRATEGIES
from jury_adapters.yaml_files import read_source


@pytest.mark.parametrize("text", GOOD.values(), ids=GOOD)
def test_a_good_file_makes_a_jury_and_fulfils_the_schema(text):
    jury = load_jury(text + "\n")
    assert isinstance(jury, Ensemble | Scorecard | CascadedJury)
    assert jury.judge(question="Where?", answer="Paris", contexts="Paris").status in Status
    schema_validator().validate(read_source(text + "\n", "").content)


def test_the_schema_is_a_schema_of_plain_json():
    schema = jury_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert json.loads(json.dumps(schema)) == schema
    assert "x-jury-adapters-reference" not in json.dumps(schema)


@pytest.mark.corpus
@pytest.mark.parametrize(
    "text",
    ["jurors: [{check: not_emty}]", "jurors: [{check: contains}]", "jury: 3", "tiers: [{judge: {check: not_empty}}]",
     "tiers: [{name: a, check: not_empty}]", "weights: [1]\njurors: [{check: not_empty}]",
     "jurors: {a: {check: not_emty}}",
     "jurors: [{check: not_empty, recorded: x}]", "{jurors: [{check: not_empty}], votting: majority}",
     "{scorecard: [{check: not_empty}]}", "{scorecard: {a: {check: not_empty}}, pass_when: sometimes}",
     "scorecard: {}", "{check: not_empty, weight: 2}", "{check: not_empty, required: true}",
     "tiers: [{name: a, judge: {check: not_empty, weight: 2}}]",
     "{check: grounding_screen, final: {check: not_empty, weight: 1}}",
     "jurors: [{check: not_empty, fallbacks: [{check: not_empty, required: true}]}]",
     "jurors: {a: {check: not_empty, name: b}}", "scorecard: {a: {check: not_empty, required: true}}",
     "scorecard: {a: {check: not_empty, name: b}}", "{scorecard: {a: {check: not_empty, weight: 0}}, threshold: 1}",
     "{model: 'ollama:x'}", "{rubric: '', model: 'ollama:x'}",
     "{fallbacks: [{check: not_empty}], jurors: [{check: not_empty}]}",
     "{rubric: '', jurors: [{model: 'ollama:x'}]}",
     "{fallbacks: [{check: not_empty}], scorecard: {a: {check: not_empty}}}", "{check: not_empty, timeout: 0}",
     "{fallbacks: [{check: not_empty}], tiers: [{name: a, judge: {check: not_empty}}]}",
     "{check: not_empty, timeout: -1}", "{jurors: [{check: not_empty}], juror_timeout: 0}",
     "{rubric: safety, model: 'ollama:x', labels: {}}", "{scorecard: {a: {check: not_empty}}, pass_when: 0}",
     "{scorecard: {a: {check: not_empty}}, pass_when: []}",
     "{rubric: safety, model: 'ollama:x', labels: {A: pass, B: fail}, scale: {minimum: 1, maximum: 5}}",
     "jurors: {'': {check: not_empty}}", "scorecard: {'': {check: not_empty}}",
     "jurors: {a: {check: not_empty, weight: -1}}"],
)  # fmt: skip
def test_the_schema_refuses_what_the_loader_refuses(text):
    with pytest.raises(ConfigurationError):
        load_jury(text + "\n")
    with pytest.raises(jsonschema.ValidationError):
        schema_validator().validate(yaml.safe_load(text))


@pytest.mark.slow
def test_the_schema_explains_options_in_the_words_of_the_judges():
    option = jury_schema()["$defs"]["check.length_between"]["properties"]["maximum"]
    assert option["description"] == "the maximum length; None for no bound."


@pytest.mark.slow
def test_an_ensemble_has_every_option_of_the_core_and_no_other():
    assert set(EnsembleSpec.keys()) - {
        "jurors",
        "weight",
        "timeout",
        "fallbacks",
        "rubric",
        "criterion",
        "labels",
        "scale",
    } == EnsembleOptions.__optional_keys__ - {"weights"}
    assert jury_schema()["$defs"]["jurors"]["properties"]["voting"]["enum"] == list(STRATEGIES)


@pytest.mark.slow
def test_every_entry_of_the_registry_is_in_the_schema_and_builds():
    definitions = jury_schema()["$defs"]
    for key, kind in KINDS.items():
        for name in [key] if isinstance(kind, type) else [f"{key}.{name}" for name in kind]:
            assert {name, f"file.{name}"} <= definitions.keys()
    least = {"contains": ", texts: x", "matches": ", pattern: x", "command": ", argv: [x]"}
    least |= {"forbidden_tools": ", tools: x", "step_limit": ", max_steps: 1", "cost_limit": ", max_usd: 1"}
    least |= dict.fromkeys(("file_exists", "file_content"), ", path: x")
    for name in KINDS["check"]:
        jury = load_jury(f"jurors: [{{check: {name}{least.get(name, '')}}}]\n", allow_commands=True)
        assert isinstance(jury.members[0], Judge)
