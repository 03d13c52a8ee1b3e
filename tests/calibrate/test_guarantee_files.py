"""A guarantee as data: in JSON, in a jury file, and void for any other jury."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from jury_adapters import CascadedJury, ConfigurationError, Ensemble, Judgment, RecordedCritic, Tier, judge
from jury_adapters.calibrate import Guarantee
from jury_adapters.core.values import problems_of
from jury_adapters.critic.yaml import parse_yaml

FIELDS = {
    "agreement": 0.9, "delta": 0.1, "threshold": 0.8, "tiers": {"small": 40, "all": 20}, "n": 70, "decided": 60,
    "errors": 2, "bound": 0.09, "constant": "PASS", "constant_agreement": 0.7, "fingerprint": "12e456789012",
}  # fmt: skip
TEXT = st.text(min_size=1, max_size=12)
PATHS = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=12)


@settings(max_examples=30, deadline=None)
@given(st.dictionaries(TEXT, st.integers(0, 50), min_size=1, max_size=3), PATHS, TEXT)
def test_a_guarantee_survives_its_jury_file_and_json(tiers, jury_file, constant):
    decided = sum(tiers.values())
    if not decided:
        return
    numbers = {"n": decided + 1, "decided": decided, "errors": 0}
    found = Guarantee(**{**FIELDS, **numbers, "tiers": tiers, "jury_file": jury_file, "constant": constant})
    content = parse_yaml(found.to_yaml())
    assert (
        Guarantee(**content["guarantee"], jury_file=content["jury"]),
        Guarantee.model_validate_json(found.model_dump_json()),
        str(found).isprintable(),
    ) == (found, found, True)


def two_tiers(labels=("valid", "invalid"), policy="escalate_on_split", rule="majority"):
    meaning = dict(zip(labels, ("pass", "fail"), strict=True))
    panel = Ensemble([RecordedCritic("a", labels=meaning), RecordedCritic("b", labels=meaning)], voting=rule)
    return CascadedJury([Tier("first", panel, policy), Tier("last", RecordedCritic("b", labels=meaning))])


@pytest.mark.parametrize(
    "other",
    [
        two_tiers(("invalid", "valid")),
        two_tiers(policy="reject_on_any_fail"),
        two_tiers(rule="unanimous"),
        CascadedJury(two_tiers().tiers[1:]),
        RecordedCritic("a"),
    ],
)
def test_it_is_void_for_any_other_jury(other):
    guarantee = Guarantee(**{**FIELDS, "tiers": {"first": 60}, "fingerprint": two_tiers().fingerprint})
    assert guarantee.applied_to(two_tiers()).guarantee is guarantee
    with pytest.raises(ConfigurationError, match="the guarantee is of the jury with the fingerprint"):
        guarantee.applied_to(other)


def test_what_is_no_guarantee_is_refused():
    for changes, message in (
        ({"n": "many"}, "n: "),
        ({"colour": "red"}, "colour: "),
        ({"bound": None}, "bound: "),
        ({"threshold": float("nan")}, "threshold: "),
        ({"tiers": {}}, "tiers: "),
        ({"tiers": {"small": -1}}, "tiers"),
        ({"tiers": {"small": 61}}, "the numbers contradict each other"),
        ({"errors": 61}, "the numbers contradict each other"),
        ({"agreement": 0.95}, "the numbers contradict each other"),
        ({"errors": 20}, "the numbers contradict each other"),
        ({"fingerprint": ""}, "fingerprint: "),
    ):
        with pytest.raises(ValidationError) as refused:
            Guarantee(**{**FIELDS, **changes})
        assert message in problems_of(refused.value)


def test_other_refusals():
    with pytest.raises(ConfigurationError, match="names no file"):
        Guarantee(**FIELDS).to_yaml()
    found = Guarantee(**FIELDS)
    with pytest.raises(ValidationError, match="frozen"):
        found.agreement = 0.99
    with pytest.raises(TypeError, match="cannot be changed"):
        found.tiers["small"] = 60
    assert json.loads(found.model_dump_json())["tiers"] == {"small": 40, "all": 20}


def test_a_calibrated_jury_is_a_judge_like_any_other():
    says = judge(
        lambda case: Judgment(status="PASS", score=0.4, confidence=case.metadata["sure"]), name="says", threshold=0.3
    )
    guarantee = Guarantee(**{**FIELDS, "tiers": {"jury": 60}, "fingerprint": says.fingerprint})
    jury = guarantee.applied_to(says)
    unsure, sure = (jury.judge(answer="", metadata={"sure": sure}) for sure in (0.79, 0.8))
    assert (
        unsure.status.value,
        unsure.stopped_at,
        sure.status.value,
        sure.stopped_at,
        sure.score,
        sure.confidence,
        Ensemble([jury]).judge(answer="", metadata={"sure": 0.1}).status.value,
    ) == ("ABSTAIN", "abstained", "PASS", "jury", 0.4, 0.8, "ABSTAIN")
    assert (
        jury.fingerprint != says.fingerprint == jury.jury.fingerprint,
        guarantee.applied_to(says.with_timeout(5)).timeout,
    ) == (True, 5)
