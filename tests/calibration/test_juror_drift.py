"""Drift of a juror: one that changes is named, and the steady ones beside it are not."""

import numpy as np
import pytest

from jury_adapters.calibration import Votes, drift
from jury_adapters.calibration.resampling import Resampling

FAST = Resampling(200)


def run(shifts, items=400, seed=0, labelled=0.0, missing=0.0, share=(0.65, 0.65), **options):
    """Votes of jurors that are right in 84 %; the chance that a juror passes an item moves by its shift."""
    chance = np.random.default_rng(seed)
    later = np.arange(items) >= items // 2
    good = chance.random(items) < np.where(later, share[1], share[0])
    rows = [
        np.clip(np.where(good, 0.84, 0.16) + np.where(later, 0.5, -0.5) * shift, 0, 1) > chance.random(items)
        for shift in shifts
    ]
    gone = chance.random((items, len(shifts))) < missing
    said = [
        [None if none else "yes" if vote else "no" for vote, none in zip(row, lost, strict=True)]
        for row, lost in zip(np.stack(rows, axis=1), gone, strict=True)
    ]
    gold = [("yes" if truth else "no") if chance.random() < labelled else None for truth in good]
    names = [f"{'drifts' if shift else 'steady'}{at}" for at, shift in enumerate(shifts)]
    return Votes.from_rows(said, jurors=names, gold=gold, labels=["no", "yes"], **{"pass_label": "yes"} | options)


def moved(votes):
    return [one.subject for one in drift(votes, resampling=FAST) if "more than chance explains" in one.sentence]


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"missing": 0.25}, {"labelled": 0.6}, {"pass_label": None}])
@pytest.mark.parametrize("shifts", [(0, 0, -0.35), (0.35, 0, 0, 0), (0, 0, -0.35, 0, 0)])
def test_only_the_juror_that_changed_is_named(shifts, options):
    """A juror that agrees less with the others changes their agreement with it, too."""
    (changed,) = [f"drifts{at}" for at, shift in enumerate(shifts) if shift]
    items = 900 if "pass_label" not in options else 2400  # agreement changes less than the share that passes
    sure = [moved(run(shifts, items=items, seed=seed, **options)) for seed in range(12)]
    assert sum(changed in names for names in sure) >= 11
    assert sum(len(set(names) - {changed}) for names in sure) <= 5  # one or two of 24 to 48 are expected


def test_the_move_is_that_of_the_juror():
    for options in ({}, {"labelled": 1.0}):
        *steady, last = drift(run((0, 0, 0, -0.3), items=6000, **options), resampling=FAST)
        assert last.value == pytest.approx(-0.3, abs=0.04)
        assert all(abs(one.value) < 0.04 for one in steady)


def test_labels_tell_which_of_two_jurors_changed_and_whether_most_did():
    assert moved(run((-0.3, 0), items=900)) == ["drifts0", "steady1"]
    assert moved(run((-0.3, 0), items=900, labelled=0.5)) == ["drifts0"]
    most = run((-0.3, -0.3, 0), items=900, labelled=0.5)
    assert moved(most) == ["steady2"]
    assert [moved(most.panel([name])) for name in most.jurors] == [["drifts0"], ["drifts1"], []]


def test_harder_items_later_move_no_juror_of_several():
    """All jurors fail more of the later good answers, for example because these are longer."""
    chance = np.random.default_rng(8)
    good = chance.random(1000) < 0.7
    right = np.where(np.arange(1000) < 500, 0.95, 0.7)
    rows = np.where(chance.random((3, 1000)) < right, good, ~good).T
    gold = ["PASS" if one else "FAIL" for one in good]
    votes = Votes.from_rows([["PASS" if one else "FAIL" for one in row] for row in rows], gold=gold)
    assert moved(votes) == []
    assert moved(votes.panel(["juror 1"])) == ["juror 1"]


def test_with_labels_worse_answers_later_move_no_juror():
    """A juror that passes nearly everything hardly follows a falling share of good answers."""
    chance = np.random.default_rng(3)
    good = chance.random(1200) < np.repeat([0.9, 0.5], 600)
    lenient, exact = (
        np.where(chance.random(1200) < np.where(good, right, 1 - wrong), "PASS", "FAIL").tolist()
        for right, wrong in ((0.98, 0.2), (0.95, 0.95))
    )
    gold = ["PASS" if one else "FAIL" for one in good]
    rows = list(zip(lenient, exact, exact, strict=True))
    assert moved(Votes.from_rows(rows)) == ["juror 1"]
    assert moved(Votes.from_rows(rows, gold=gold)) == []


def test_what_the_votes_do_not_tell_is_said():
    votes = run((0, -0.4), items=900)
    for one in drift(votes, resampling=FAST):
        assert "votes alone do not tell which of the two jurors changed" in " ".join(one.warnings)
    *_, last = drift(run((0, 0, -0.4), items=900), resampling=FAST)
    assert "of which more than half must be steady" in " ".join(last.warnings)
    assert last.details == {"compared_with": "jurors", "by_label": False}
    labelled = drift(run((0, 0, -0.4), items=900, labelled=0.4), resampling=FAST)[2]
    assert labelled.details == {"compared_with": "jurors", "by_label": True}
    assert labelled.sentence.startswith(
        "Compared with the other jurors on items with the same human label, drifts2's votes moved by -"
    )
    first, _ = drift(run((-0.4, 0), items=900, labelled=0.4), resampling=FAST)
    assert first.details == {"compared_with": "human labels", "by_label": True}
    assert first.sentence.startswith("Among items with the same human label, drifts0's votes moved by -")


def test_few_labels_are_not_used():
    """25 in a half are too few, and so are 60 of 1,000."""
    for items, share in ((200, 0.22), (2000, 0.06)):
        found = drift(run((0, 0, 0), items=items, labelled=share), resampling=FAST)
        assert not any(one.details["by_label"] for one in found)


def test_by_hand():
    """The changes of the means are -0.5, 0 and 0.5; among equal labels they weigh 1 and 1."""
    rows = [[1, 1, 0], [1, 0, 0], [0, 1, 1], [0, 0, 0], [0, 1, 1], [1, 0, 1], [0, 1, 1], [0, 0, 0]]
    assert [one.value for one in drift(Votes.from_rows(rows))] == pytest.approx([-0.25, 0, 0.5])
    gold = [label for label in (1, 0, 1, 0) for _ in "ab"]
    rows = [row for row in rows for _ in range(40)]
    gold = [label for label in gold for _ in range(40)]
    found = drift(Votes.from_rows(rows, gold=gold), resampling=FAST)
    assert [one.value for one in found] == pytest.approx([-0.25, 0, 0.5])


def test_a_juror_without_votes_in_a_half_has_no_drift_and_is_no_reference():
    votes = run((0, -0.3, 0), items=600)
    rows = [[votes.labels[code] for code in row] + ["yes" if at < 300 else None] for at, row in enumerate(votes.codes)]
    for pass_label in ("yes", None):
        more = Votes.from_rows(rows, labels=["no", "yes"], pass_label=pass_label)
        less = more.panel(more.jurors[:3])
        *found, absent = drift(more, resampling=FAST)
        assert absent.value is None
        assert [one.value for one in found] == pytest.approx(
            [one.value for one in drift(less, resampling=FAST)], abs=0.02
        )


def test_jurors_whose_votes_are_all_alike_in_each_half_have_an_interval():
    votes = Votes.from_rows([["PASS", "PASS", "PASS"]] * 40 + [["FAIL", "PASS", "PASS"]] * 40)
    changed, *steady = drift(votes)
    assert changed.value == -1
    assert changed.interval == pytest.approx((-1, -1 + 6 / 40))
    assert [(one.value, one.interval) for one in steady] == [(0, None), (0, None)]


@pytest.mark.slow
@pytest.mark.parametrize("shift", [0, -0.3])
@pytest.mark.parametrize("jurors", [3, 4, 5])
def test_steady_jurors_are_named_in_five_percent_of_the_runs_at_most(jurors, shift):
    shifts = (shift, *[0] * (jurors - 1))
    runs = [moved(run(shifts, items=500, seed=seed)) for seed in range(120)]
    wrong = sum(name.startswith("steady") for names in runs for name in names)
    assert wrong / (120 * sum(one == 0 for one in shifts)) < 0.05
    assert not shift or sum("drifts0" in names for names in runs) > 115
