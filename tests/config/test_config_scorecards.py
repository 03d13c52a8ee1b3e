"""Scorecards of a jury file as they are built."""

from __future__ import annotations

from support.jury_files import GOOD

from jury_adapters import Status
from jury_adapters.calibration.fingerprint import identity_of
from jury_adapters.config import load_jury


def test_a_scorecard_is_built_as_written():
    jury = load_jury(GOOD["a scorecard with the least number"])
    assert (jury.name, jury.names, jury.pass_when) == ("card", ("grounded", "brief", "answered"), 2)
    assert {juror.timeout for juror in jury.jurors} == {5.0}
    assert jury.members[2].fallbacks[0].name == "RefusalCheck"
    assert dict(jury.gates) == {"passed": True}
    verdict = jury.judge(question="Where?", answer="Lyon")
    assert [(name, result.status) for name, result in verdict.by_name.items()] == [
        ("grounded", Status.ABSTAIN), ("brief", Status.PASS), ("answered", Status.PASS)
    ]  # fmt: skip
    assert verdict.passed
    assert verdict.agreement is None


def test_named_criteria_and_weights_are_taken_over():
    assert load_jury(GOOD["a scorecard with names"]).pass_when == ["a"]
    weighted = load_jury(GOOD["a weighted scorecard"])
    assert (weighted.weights, weighted.threshold) == ({"a": 2.0, "b": 0.5}, 0.8)


def test_scorecards_sit_in_tiers_and_juries():
    jury = load_jury(GOOD["scorecards in juries"])
    assert jury.judge(answer="").stopped_at == "checks"
    assert jury.judge(answer="Yes.").passed


def test_a_calibrated_scorecard_is_known_by_criteria_and_rule():
    files = [
        "scorecard: {a: {check: not_empty}, b: {check: refusal_check}}",
        "scorecard: {a: {check: refusal_check}, b: {check: not_empty}}",
        "scorecard: {a: {check: not_empty}, b: {check: refusal_check}}\npass_when: any",
        "scorecard: {a: {check: not_empty, weight: 1}, b: {check: refusal_check}}\nthreshold: 0.5",
        "scorecard: {a: {check: not_empty, weight: 1}, b: {check: refusal_check, weight: 1}}\nthreshold: 0.5",
    ]
    assert len({str(identity_of(load_jury(text))) for text in files}) == len(files)
    assert identity_of(load_jury(files[0])) == identity_of(load_jury(files[0]))
