"""Calls saved by a frugal jury, on recorded judges: the verdict is the full panel's, every time."""

from collections import Counter

import numpy as np
import pytest
from support.panels import LARGE, SMALL, fold

from jury_adapters.calibration.reliabilities import fit_reliabilities
from jury_adapters.calibration.votes import Ints
from jury_adapters.core.case import Case
from jury_adapters.core.ensemble import Ensemble
from jury_adapters.core.judge import PlainJudge
from jury_adapters.core.judgment import Judgment, Status

PANEL = (*SMALL, *LARGE)
SIZES = (3, 5, 7, 9, 11, 13)
SAID = {1: Judgment(Status.PASS), 0: Judgment(Status.FAIL), -1: Judgment(Status.ABSTAIN)}


class Replay(PlainJudge):
    """The vote of one column; which item it is says the case."""

    def __init__(self, name: str, place: int, order: int) -> None:
        self.name = name
        self.place = place
        self.cost = float(order)  # a frugal jury asks the cheapest first

    def examine(self, case: Case) -> Judgment:
        return SAID[case.metadata["row"][self.place]]


def saved(codes: Ints, order: list[int], **options: object) -> float:
    """The share of calls that the frugal jury does not make; fails when any verdict is not the full panel's."""
    rank = {juror: position for position, juror in enumerate(order)}
    judges = [Replay(PANEL[juror], juror, rank[juror]) for juror in range(len(order))]
    full, frugal = Ensemble(judges, **options), Ensemble(judges, schedule="frugal", **options)  # type: ignore[arg-type]
    calls = 0
    for row, times in Counter(map(tuple, codes.tolist())).items():
        case = Case(metadata={"row": row})
        verdict, whole = frugal.judge(case), full.judge(case)
        assert (verdict.status, verdict.label) == (whole.status, whole.label)
        calls += verdict.calls_saved * times
    return calls / codes.size


def first_principles(worth: np.ndarray, enough: np.ndarray) -> float:
    """Stop after k votes when the lead is larger than all that is still out; on votes worth +w, -w or 0."""
    lead = np.abs(np.cumsum(worth, axis=1))
    left = np.concatenate([np.cumsum(enough[::-1])[::-1][1:], [0.0]])
    stops = lead > left + 1e-12
    stops[:, -1] = True
    return float((worth.shape[1] - 1 - stops.argmax(axis=1)).mean() / worth.shape[1])


@pytest.mark.parametrize("size", SIZES)
def test_majority(size: int) -> None:
    codes = fold(1).codes[:, :size]
    found = saved(codes, list(range(size)), tie="abstain")
    worth = np.where(codes < 0, 0, 2 * codes - 1).astype(float)
    assert found == pytest.approx(first_principles(worth, np.ones(size)), abs=0.001)
    if size == 3:
        assert found == pytest.approx(0.267, abs=0.001)


@pytest.mark.parametrize("size", SIZES)
def test_weighted_with_the_heaviest_first(size: int) -> None:
    weights = fit_reliabilities(fold(0).panel(PANEL[:size])).weights()
    heavy = np.array([weights[name] for name in PANEL[:size]])
    order = np.argsort(-heavy, kind="stable")
    codes = fold(1).codes[:, :size]
    found = saved(codes, order.tolist(), voting="weighted", weights=weights, use_confidence=False, tie="abstain")
    worth = np.where(codes < 0, 0, 2 * codes - 1)[:, order] * heavy[order]
    assert found == pytest.approx(first_principles(worth, heavy[order]), abs=0.001)
    assert found > saved(codes, list(range(size)), tie="abstain")


@pytest.mark.parametrize("size", SIZES)
def test_unanimity_stops_at_the_first_dissent(size: int) -> None:
    codes = fold(1).codes[:, :size]
    split = np.maximum.accumulate(codes == 1, axis=1) & np.maximum.accumulate(codes == 0, axis=1)
    split[:, -1] = True
    expected = (size - 1 - split.argmax(axis=1)).mean() / size
    found = saved(codes, list(range(size)), voting="unanimous", on_split="abstain")
    assert found == pytest.approx(expected, abs=0.001)


@pytest.mark.parametrize("size", [3, 7, 13])
def test_bayes_and_veto_say_what_the_full_panel_says(size: int) -> None:
    bayes = fit_reliabilities(fold(0).panel(PANEL[:size])).bayes()
    codes = fold(1).codes[:, :size]
    assert saved(codes, list(range(size)), voting=bayes) > 0
    assert saved(codes, list(range(size)), voting="k_veto", k=2) > 0
