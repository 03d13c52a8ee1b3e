"""Juries of a file as they are built: ensembles, cascades, juries in juries, fallbacks."""

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
    assert jury.tiers[0].if_broken == "reject"
    assert jury.judge(answer="").stopped_at == "checks"


def test_nested_juries_keep_their_names_and_weights():
    jury = load_jury(GOOD["nested juries"])
    assert jury.names == ("first", "second", "third")
    assert jury.weights == (2.5, 1.0, 1.0)


BACKED = """
name: backed
jurors:
  - {recorded: gone, votes: nowhere, fallbacks: [{check: not_empty, name: backup}]}
  - jurors: [{check: not_empty}, {check: refusal_check}]
    name: panel
    fallbacks: [{check: not_empty, fallbacks: [{check: refusal_check}]}]
  - check: command
    argv: [no-such-program-anywhere]
    name: prog
    fallbacks: [{check: not_empty, name: spare}, {check: refusal_check}]
"""


@pytest.mark.slow
def test_a_judge_of_a_file_may_have_fallbacks():
    text = BACKED.replace("  - {recorded: gone, votes: nowhere, fallbacks: [{check: not_empty, name: backup}]}\n", "")
    jury = load_jury(text, allow_commands=True)
    assert [member.name for member in jury.members] == ["panel", "prog"]
    assert jury.members[0].fallbacks[0].fallbacks[0].name == "RefusalCheck"
    assert [judge.name for judge in jury.members[1].fallbacks] == ["spare", "RefusalCheck"]
    schema_validator().validate(yaml.safe_load(BACKED))


def test_a_tier_and_the_end_of_a_screen_may_have_one():
    text = """
tiers:
  - {name: screen, policy: {escalate_below: 0.8}, judge: {check: grounding_screen, final: {check: not_empty, fallbacks: [{check: not_empty}]}}}
  - {name: last, judge: {jurors: [{check: not_empty}], fallbacks: [{check: refusal_check}]}}
"""  # noqa: E501
    jury = load_jury(text)
    schema_validator().validate(yaml.safe_load(text))
    assert type(jury.members[1]).__name__ == "FallbackJudge"
    assert type(jury.members[0].members[-1]).__name__ == "FallbackJudge"


@pytest.mark.parametrize(
    ("text", "said"),
    [("jurors: [{check: not_empty}]\nfallbacks: [{check: not_empty}]\n", "where it is a juror or tier"),
     ("{tiers: [{name: a, judge: {check: not_empty}}], fallbacks: [{check: not_empty}]}", "where it is a juror"),
     ("jurors: [{check: not_empty, fallbacks: [{check: not_emty}]}]\n", r"\[0\]\.fallbacks\[0\].*mean 'not_empty'"),
     ("jurors: [{check: not_empty, fallbacks: [1]}]\n", r"fallbacks\[0\].*a judge is a mapping"),
     ("jurors: [{check: not_empty, fallbacks: {check: not_empty}}]\n", r"fallbacks is a list of judges, such as \["),
     ("jurors: [{check: not_empty, fallbacks: []}]\n", r"fallbacks is a list of judges, such as \["),
     ("jurors: [{check: not_empty, fallback: {check: not_empty}}]\n", "unknown key 'fallback'.*fallbacks")],
)  # fmt: skip
def test_fallbacks_that_cannot_be_are_refused_with_its_place(text, said):
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
        ("tiers: [{name: a, judge: {check: not_empty, required: true}}]", "tiers[0].judge.required"),
        (
            "jurors: [{check: not_empty, fallbacks: [{check: not_empty, required: true}]}]",
            "jurors[0].fallbacks[0].required",
        ),
    ],
)
def test_only_a_juror_may_be_required(text, place):
    with pytest.raises(ConfigurationError, match=r"belongs to a juror in `jurors:`") as refused:
        load_jury(text)
    assert place in str(refused.value)
