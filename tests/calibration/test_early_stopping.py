"""Calls saved by an early-stopping jury, on recorded judges: the verdict is the full panel's, every time."""

from collections import Counter

import numpy as np
import pytest
from support.panels import fold

from jury_adapters.calibration.reliabilities import fit_reliabilities
from jury_adapters.calibration.types import Ints
from jury_adapters.core.case import Case
from jury_adapters.core.ensemble import Ensemble
from jury_adapters.core.judge import Judge
from jury_adapters.core.judgment import PASS_OR_FAIL, Judgment, Status

# By list price when the votes were cast, the cheapest first: the order in which an early-stopping jury asks.
PANEL = (
    "gemini-1.5-flash", "gpt-4o-mini", "deepseek-chat", "gpt-4.1-mini", "qwen-coder-plus", "gemini-2.5-flash",
    "claude_3.5_haiku", "gemini-1.5-pro", "gemini-2.5-pro", "gpt-4.1", "gpt-4o", "claude_3.5_sonnet", "gpt-4-turbo",
    "claude_3_opus",
)  # fmt: skip
SIZES = [pytest.param(size, marks=pytest.mark.slow if size in (7, 11, 13) else ()) for size in (3, 5, 7, 9, 11, 13)]


def by_size(*published: float) -> list:
    """Return each size of the panel with its published share of calls saved; some sizes are for the slow run."""
    return [pytest.param(*size.values, share, marks=size.marks) for size, share in zip(SIZES, published, strict=True)]


SAID = {1: Judgment(Status.PASS), 0: Judgment(Status.FAIL), -1: Judgment(Status.ABSTAIN, reasoning="cannot say")}


class Replay(Judge):
    """The vote of one column; which item it is says the case."""

    opinion_statuses = PASS_OR_FAIL

    def __init__(self, name: str, place: int, order: int) -> None:
        self.name = name
        self.place = place
        self.cost = float(order)  # an early-stopping jury asks the cheapest first

    def assess(self, case: Case) -> Judgment:
        return SAID[case.metadata["row"][self.place]]


def saved(codes: Ints, order: list[int], **options: object) -> float:
    """The share of calls that the early-stopping jury does not make; fails when any verdict is not the full panel's."""
    rank = {juror: position for position, juror in enumerate(order)}
    judges = [Replay(PANEL[juror], juror, rank[juror]) for juror in range(len(order))]
    full, early = Ensemble(judges, **options), Ensemble(judges, schedule="early_stop", **options)  # type: ignore[arg-type]
    calls = 0
    for row, times in Counter(map(tuple, codes.tolist())).items():
        case = Case(metadata={"row": row})
        verdict, whole = early.judge(case), full.judge(case)
        assert (verdict.status, verdict.label) == (whole.status, whole.label)
        calls += verdict.calls_saved * times
    return calls / codes.size


def votes(number: int, size: int) -> Ints:
    """The votes of one fold, a column per juror, of the `size` cheapest."""
    return fold(number).panel(PANEL[:size]).codes


def first_absent_dissents(codes: Ints) -> Ints:
    """The same votes, but an absent first juror contradicts the first who answers."""
    answered = codes >= 0
    first = codes[np.arange(len(codes)), answered.argmax(axis=1)]
    changed = codes.copy()
    changed[:, 0] = np.where(~answered[:, 0] & answered.any(axis=1), 1 - first, codes[:, 0])
    return changed


def first_principles(worth: np.ndarray, enough: np.ndarray) -> float:
    """Stop after k votes when the lead is larger than all that is still out; on votes worth +w, -w or 0."""
    lead = np.abs(np.cumsum(worth, axis=1))
    left = np.concatenate([np.cumsum(enough[::-1])[::-1][1:], [0.0]])
    stops = lead > left + 1e-12
    stops[:, -1] = True
    return float((worth.shape[1] - 1 - stops.argmax(axis=1)).mean() / worth.shape[1])


@pytest.mark.parametrize(("size", "published"), by_size(0.267, 0.350, 0.379, 0.394, 0.402, 0.410))
def test_majority(size: int, published: float) -> None:
    codes = votes(1, size)
    found = saved(codes, list(range(size)), tie="abstain")
    worth = np.where(codes < 0, 0, 2 * codes - 1).astype(float)
    assert found == pytest.approx(first_principles(worth, np.ones(size)), abs=1e-9)
    assert found == pytest.approx(published, abs=0.001)


@pytest.mark.parametrize(("size", "published"), by_size(0.312, 0.380, 0.404, 0.419, 0.428, 0.434))
def test_weighted_with_the_heaviest_first(size: int, published: float) -> None:
    weights = fit_reliabilities(fold(0).panel(PANEL[:size])).weights()
    heavy = np.array([weights[name] for name in PANEL[:size]])
    order = np.argsort(-heavy, kind="stable")
    codes = votes(1, size)
    found = saved(codes, order.tolist(), voting="weighted", weights=weights, use_confidence=False, tie="abstain")
    worth = np.where(codes < 0, 0, 2 * codes - 1)[:, order] * heavy[order]
    assert found == pytest.approx(first_principles(worth, heavy[order]), abs=1e-9)
    assert found == pytest.approx(published, abs=0.001)


@pytest.mark.slow
@pytest.mark.parametrize(("size", "published"), by_size(0.046, 0.094, 0.131, 0.161, 0.199, 0.227))
def test_unanimity_when_an_absent_first_juror_dissents(size: int, published: float) -> None:
    """The published column compares every vote with the first, also where the first is absent."""
    codes = votes(1, size)
    found = saved(first_absent_dissents(codes), list(range(size)), voting="unanimous", on_split="abstain")
    assert found == pytest.approx(published, abs=0.001)


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_unanimity_stops_at_the_first_dissent(size: int) -> None:
    """Ours: who is absent neither agrees nor dissents, so a little less is saved and no case is split by a timeout."""
    codes = votes(1, size)
    split = np.maximum.accumulate(codes == 1, axis=1) & np.maximum.accumulate(codes == 0, axis=1)
    split[:, -1] = True
    expected = (size - 1 - split.argmax(axis=1)).mean() / size
    found = saved(codes, list(range(size)), voting="unanimous", on_split="abstain")
    assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("size", [3, 7, pytest.param(13, marks=pytest.mark.slow)])
def test_bayes_and_veto_say_what_the_full_panel_says(size: int) -> None:
    bayes = fit_reliabilities(fold(0).panel(PANEL[:size])).bayes()
    codes = votes(1, size)
    assert saved(codes, list(range(size)), voting=bayes) > 0
    assert saved(codes, list(range(size)), voting="k_veto", k=2) > 0
