"""The gates of a file."""

from __future__ import annotations

import jsonschema
import pytest
import yaml
from support.jury_files import GOOD
from support.jury_schemas import schema_validator

from jury_adapters import ConfigurationError, GateFailed
from jury_adapters.config import load_jury
from jury_adapters.config.gates import GatesSpec
from jury_adapters.core.gates import GateOptions


def test_gates_are_kept_by_the_jury_and_change_no_verdict():
    jury = load_jury(GOOD["gates"])
    assert jury.gates == {
        "passed": True, "min_agreement": "medium", "min_confidence": 0.6, "min_votes": 2, "needs_review": False,
        "broken_tiers": False,
        "same_family": False, "bias_warning": False, "partial": False, "decided": True,
        "max_cost_usd": 0.02, "undefined": "fail",
    }  # fmt: skip
    assert jury.gates.keys() == GateOptions.__annotations__.keys() == GatesSpec.model_fields.keys()
    verdict = jury.judge(answer="")
    assert verdict.status == "FAIL"
    with pytest.raises(GateFailed, match="passed=True: found FAIL"):
        verdict.require(**jury.gates)
    assert load_jury("jurors: [{check: not_empty}]").gates == {}
    lifted = load_jury("jurors: [{check: not_empty}]\ngates: {decided: null, partial: null}").gates
    assert lifted == {"decided": None}  # checked by default, unlike the others
    assert load_jury(GOOD["gates of a cascade, and gates without a condition"]).gates == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "gates: {min_agrement: 1}\njurors: [{check: not_empty}]",
            "line 1: gates.min_agrement: unknown key.*Did you mean",
        ),
        (
            "jurors: [{check: not_empty}]\ngates: {min_agreement: 2}",
            "line 2: gates.min_agreement: must be 1 or less",
        ),
        ("jurors: [{check: not_empty}]\ngates: {min_confidence: high}", "gates.min_confidence: expected a number"),
        (
            "jurors: [{check: not_empty}]\ngates: {allow_partial: false}",
            "unknown key 'allow_partial'. Did you mean 'par",
        ),
        ("jurors: [{check: not_empty}]\ngates: [passed]", "line 2: gates: expected a mapping with the keys passed,"),
        ("jurors: [{check: not_empty}]\ngates: {passed: 1}", "gates.passed: expected true or false, not 1"),
        (
            "jurors: [{check: not_empty}]\ngates: {min_agreement: lo}",
            "gates.min_agreement: unknown.*Did you mean 'low'",
        ),
        ("jurors: [{check: not_empty}]\ngate: {}", "line 2: gate: unknown key 'gate'. Did you mean 'gates'"),
        (
            "jurors: [{jurors: [{check: not_empty}], gates: {}}]",
            r"jurors\[0\].gates: gates belong at the top of a jury",
        ),
        (
            "tiers: [{name: a, judge: {check: not_empty, gates: {}}}]",
            r"tiers\[0\].judge.gates: gates belong at the top of a jury file",
        ),
        ("jurors: [{check: tool_calls, overrides: {a: exactly}}]", "unknown comparison of arguments 'exactly'"),
    ],
)
def test_what_is_wrong_with_gates_is_said_with_its_place(text, message):
    with pytest.raises(ConfigurationError, match=message):
        load_jury(text)


def test_the_schema_refuses_gates_inside_a_jury():
    nested = yaml.safe_load("jurors: [{jurors: [{check: not_empty}], gates: {}}]")
    with pytest.raises(jsonschema.ValidationError):
        schema_validator().validate(nested)
