"""The guarantee of a file, and that it holds for no other jury."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from support.jury_schemas import schema_validator

from jury_adapters import ConfigurationError
from jury_adapters.config import load_jury
from jury_adapters.yaml_files import read_source

GUARANTEE = """
guarantee:
  agreement: 0.9
  delta: 0.1
  method: both
  found_by: per_tier
  thresholds: {quick: 0.9, careful: null}
  n: 100
  decided: 80
  errors: 1
  bound: 0.06
  coverage: 0.8
  tier_shares: {quick: 0.8, careful: 0}
  cost_expected: null
  granted_if_false: 0.05
  granted_as_seen: 0.9
  simulated_runs: 1000
  fingerprint: FINGERPRINT
"""
CALIBRATED_TIERS = """
gates: {partial: true}
tiers:
  - {name: quick, policy: {escalate_below: 0.5}, judge: {jurors: [{check: not_empty}, {check: refusal_check}]}}
  - {name: careful, judge: {check: not_empty}}
"""


def calibrated_text(tiers: str = CALIBRATED_TIERS) -> str:
    """A jury file with a guarantee for these tiers, as they are without it."""
    from jury_adapters.calibration.guarantee import Guarantee, fingerprint_of

    values = read_source(GUARANTEE, "").content["guarantee"]
    values["fingerprint"] = fingerprint_of(load_jury(CALIBRATED_TIERS))
    return tiers + GUARANTEE.replace("FINGERPRINT", Guarantee(**values).to_dict()["fingerprint"])


def test_a_guarantee_sets_the_thresholds_and_is_kept_by_the_jury():
    jury = load_jury(calibrated_text())
    assert [(tier.name, str(tier.policy)) for tier in jury.tiers] == [
        ("quick", "escalate_below(0.9)"), ("abstained", "final"),
    ]  # fmt: skip
    assert (jury.guarantee.n, jury.gates) == (100, {"partial": True})
    before = load_jury(calibrated_text(), calibrated=False)
    assert [tier.name for tier in before.tiers] == ["quick", "careful"]
    assert jury.judge(answer="Yes.").stopped_at == "quick"
    schema_validator().validate(read_source(calibrated_text(), "").content)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (calibrated_text(CALIBRATED_TIERS.replace("careful", "slow")), "guarantee: .* for the tiers quick, careful, "),
        (calibrated_text(CALIBRATED_TIERS.replace("refusal_check", "contains, texts: x")), "guarantee: .*other jurors"),
        (calibrated_text("jurors: [{check: not_empty}]\n"), "line 3: guarantee: .* not for jury"),
        (calibrated_text().replace("agreement: 0.9", "agreement: 0.95"), "line .*: guarantee: .* were changed by hand"),
        (calibrated_text().replace("quick: 0.9", "quick: 0.1"), "guarantee: .* were changed by hand"),
        (calibrated_text().replace("n: 100", "n: many"), "guarantee.n: expected a whole number"),
        (calibrated_text().replace("  delta: 0.1\n", ""), "guarantee: needs `delta:`"),
        (calibrated_text().replace("delta", "dleta"), "guarantee.dleta: unknown key.*Did you mean 'delta'"),
        (calibrated_text().replace("quick: 0.9", "quick: 1.9"), "guarantee.thresholds.quick: must be 1 or less"),
    ],
)
def test_a_guarantee_for_another_jury_or_without_sense_is_refused(text, message):
    with pytest.raises(ConfigurationError, match=message):
        load_jury(text)


@pytest.mark.slow
def test_a_jury_with_a_guarantee_loads_without_numpy(tmp_path: Path):
    file = tmp_path / "jury.yaml"
    file.write_text(calibrated_text())
    code = (
        "import sys; from jury_adapters.config import load_jury; "
        "assert 'jury_adapters.calibration' not in sys.modules; "
        "jury = load_jury(sys.argv[1]); assert jury.judge(answer='').stopped_at == 'abstained', jury; "
        "assert 'numpy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code, str(file)], check=True)
