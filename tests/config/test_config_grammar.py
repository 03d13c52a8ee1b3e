"""Juries of a file as they are built: ensembles, cascades, juries in juries, stand-ins."""

from __future__ import annotations

import pytest
import yaml
from support.jury_files import GOOD
from support.jury_schemas import schema_validator

from jury_adapters import ConfigurationError
from jury_adapters.config import load_jury


def test_a_strategy_may_be_written_in_any_case():
    assert load_jury("jurors: [{check: not_empty}]\nvoting: Weighted-Average\n").strategy.name == "weighted_average"


def test_a_cascade_is_built_as_written():
    jury = load_jury(GOOD["a cascade with every policy"])
    assert jury.name == "all policies"
    assert [str(tier.policy) for tier in jury.tiers] == [
        "reject_on_any_fail", "accept_on_all_pass", "escalate_below(0.8)", "escalate_on_split", "final",
    ]  # fmt: skip
    assert jury.tiers[0].on_error == "reject"
    assert jury.judge(answer="").stopped_at == "guards"


def test_nested_juries_keep_their_names_and_weights():
    jury = load_jury(GOOD["nested juries"])
    assert jury.names == ("first", "second", "third")
    assert jury.weights == (2.5, 1.0, 1.0)


BACKED = """
name: backed
jurors:
  - {recorded: gone, votes: nowhere, stand_in: {check: not_empty, name: backup}}
  - jurors: [{check: not_empty}, {check: refusal_check}]
    name: panel
    stand_in: {check: not_empty, stand_in: {check: refusal_check}}
  - check: command
    argv: [no-such-program-anywhere]
    name: prog
    stand_in: {check: not_empty, name: spare}
"""


def test_a_judge_of_a_file_may_have_a_stand_in():
    text = BACKED.replace("  - {recorded: gone, votes: nowhere, stand_in: {check: not_empty, name: backup}}\n", "")
    jury = load_jury(text, allow_commands=True)
    assert [member.name for member in jury.members] == ["panel", "prog"]
    assert jury.members[0].stand_in.stand_in.name == "RefusalCheck"
    schema_validator().validate(yaml.safe_load(BACKED))


def test_a_tier_and_the_end_of_a_screen_may_have_one():
    text = """
tiers:
  - {name: screen, policy: {escalate_below: 0.8}, screen: grounding, final: {check: not_empty, stand_in: {check: not_empty}}}
  - {name: last, jurors: [{check: not_empty}], stand_in: {check: refusal_check}}
"""  # noqa: E501
    jury = load_jury(text)
    schema_validator().validate(yaml.safe_load(text))
    assert type(jury.members[1]).__name__ == "BackedJudge"
    assert type(jury.members[0].members[-1]).__name__ == "BackedJudge"


@pytest.mark.parametrize(
    ("text", "said"),
    [("jurors: [{check: not_empty}]\nstand_in: {check: not_empty}\n", "where it sits as a juror or tier"),
     ("jurors: [{jury: {jurors: [{check: not_empty}], stand_in: {check: not_empty}}}]\n", "where it sits"),
     ("jurors: [{check: not_empty, stand_in: {check: not_emty}}]\n", "jurors.0.*stand_in.*Did you mean 'not_empty'"),
     ("jurors: [{check: not_empty, stand_in: [1]}]\n", "stand_in.*a judge is a mapping")],
)  # fmt: skip
def test_a_stand_in_that_cannot_be_is_refused_with_its_place(text, said):
    with pytest.raises(ConfigurationError, match=said):
        load_jury(text)


def test_a_juror_may_be_required():
    jury = load_jury("jurors: [{check: not_empty}, {name: knows, check: contains, texts: [x], required: true}]")
    assert jury.required == ("knows",)
    assert jury.judge(answer="x").passed


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("required: true\njurors: [{check: not_empty}]", "required"),
        ("tiers: [{name: a, check: not_empty, required: true}]", "tiers[0].required"),
        ("jurors: [{check: not_empty, stand_in: {check: not_empty, required: true}}]", "jurors[0].stand_in.required"),
    ],
)
def test_only_a_juror_may_be_required(text, place):
    with pytest.raises(ConfigurationError, match=r"belongs to a juror in `jurors:`") as refused:
        load_jury(text)
    assert place in str(refused.value)
