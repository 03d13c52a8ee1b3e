"""The number of labels that a refused calibration names is that of `jury sample-size`, and has the power it says."""

import re

import numpy as np
import pytest

from jury_adapters import CascadedJury, Judgment, Tier, judge
from jury_adapters.calibration import CalibrationFailed, calibrate
from jury_adapters.calibration.more_labels import labels_for_power
from jury_adapters.calibration.thresholds import Trials, choose_thresholds
from jury_adapters.statistics import labels_for_guarantee


def trials(*parts):
    """Return trials of one tier, of parts with a confidence, a number of items, and how many of them are right."""
    confidences = np.concatenate([np.full(n, confidence) for confidence, n, _ in parts])
    right = np.concatenate([np.arange(n) < hits for _, n, hits in parts])
    return Trials(confidences[:, None], right[:, None])


PANEL = (1.0, 56, 42), (0.667, 4, 1)  # 60 cases: 56 unanimous ones, of which 75 % agree with human labels


@pytest.mark.parametrize("method", ["both", "path", "per_tier"])
def test_the_number_is_that_of_sample_size(method):
    planned = labels_for_guarantee(0.7, 0.75, coverage=56 / 60, method=method)
    n, power = labels_for_power(trials(*PANEL), 0.7, 0.1, method, 0.8)
    assert (n, power) == (planned.n, pytest.approx(planned.gives[planned.n]))


def test_so_many_labels_get_the_guarantee_as_often_as_it_says():
    seen = trials(*PANEL)
    n, _ = labels_for_power(seen, 0.7, 0.1, "both", 0.8)
    draw = np.random.default_rng(5)
    granted = [choose_thresholds(seen.take(draw.integers(0, 60, n)), 0.3, 0.1)[0].decided > 0 for _ in range(400)]
    assert np.mean(granted) == pytest.approx(0.8, abs=0.06)  # three standard errors of 400 draws


@pytest.mark.parametrize(
    "seen",
    [
        trials((0.9, 100, 90)),  # below the target
        trials((1.0, 10, 10), (0.6, 90, 85)),  # about 300 cases: too few are known of what the first test decides then
        Trials(np.linspace(0.5, 0.99, 100)[:, None], (np.arange(100) % 20 > 0)[:, None]),  # many thresholds
    ],
    ids=["a jury that is not good enough", "a strict threshold of few cases", "many values of confidence"],
)
def test_no_number_is_named_where_none_is_known(seen):
    assert labels_for_power(seen, 0.94, 0.1, "both", 0.8) is None


def test_a_refusal_names_it_with_its_power_and_counts_what_screening_decides():
    """70 labels of which 10 are screened: 60 go to the panel, and its number is multiplied by 70 / 60."""

    @judge
    def screen(case):
        return Judgment("FAIL" if case.metadata["at"] >= 60 else "PASS")

    @judge
    def panel(case):
        at = case.metadata["at"]
        right = at < 42 or at == 56
        return Judgment("PASS" if right == case.metadata["good"] else "FAIL", confidence=1.0 if at < 56 else 0.667)

    cases = [
        {"metadata": {"at": at, "good": at % 2 == 0, "gold": "PASS" if at % 2 == 0 else "FAIL"}} for at in range(70)
    ]
    jury = CascadedJury([Tier("screen", screen, "reject_on_any_fail"), Tier("panel", panel)])
    with pytest.raises(CalibrationFailed) as refused:
        calibrate(jury, cases, agreement=0.7)
    n = labels_for_guarantee(0.7, 0.75, coverage=56 / 60).n
    said = re.search(
        r"Label more \(about (\d+) cases: if they come out like these, they get the guarantee with a probability of "
        r"80 %\)", str(refused.value),
    )  # fmt: skip
    assert int(said[1]) == round(n * 70 / 60)
