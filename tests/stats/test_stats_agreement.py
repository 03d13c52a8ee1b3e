"""Agreement of jurors, beside the libraries that compute the same and the figures of version 0.2."""

import krippendorff
import numpy as np
import pytest
from fact_tables import each_row
from hypothesis import given, settings
from hypothesis import strategies as st
from recorded import codefeedback

from jury_adapters.stats import (
    Votes,
    alpha,
    alpha_of_scores,
    cohen_kappa,
    effective_votes,
    gwet_ac1,
    raw_agreement,
)

EXAMPLE = """1 2 3 3 2 1 4 1 2 . . .
1 2 3 3 2 2 4 1 2 5 . 3
. 3 3 3 2 3 4 2 2 5 1 .
1 2 3 3 2 4 4 1 2 5 1 ."""  # Krippendorff (2011): 4 coders, 12 units
CODERS = [[None if cell == "." else int(cell) for cell in line.split()] for line in EXAMPLE.splitlines()]
UNITS = [list(unit) for unit in zip(*CODERS, strict=True)]
WORDS = [[None if vote is None else f"v{vote}" for vote in unit] for unit in UNITS]
CELLS = st.sampled_from(["a", "b", "c", None])
TABLES = st.integers(2, 4).flatmap(lambda n: st.lists(st.lists(CELLS, min_size=n, max_size=n), min_size=1, max_size=25))
COEFFICIENTS = [raw_agreement, alpha, gwet_ac1]


@pytest.mark.parametrize(
    ("found", "value"),
    [
        (alpha(Votes.from_rows(WORDS)), 0.743421),
        (alpha_of_scores(Votes.from_rows(UNITS)), 0.849107),
        (gwet_ac1(Votes.from_rows(WORDS)), 0.7754),
    ],
)
def test_published_examples(found, value):
    assert found.value == pytest.approx(value, abs=5e-5 if "AC1" in found.name else 1e-6)
    assert found.n == (12 if "AC1" in found.name else 11)


@settings(deadline=None, max_examples=25)
@given(TABLES)
def test_alpha_of_labels_is_that_of_krippendorff(rows):
    found = alpha(Votes.from_rows(rows))
    paired = [[cell for cell in row if cell] for row in rows if sum(cell is not None for cell in row) > 1]
    if len(paired) < 2 or len({cell for row in paired for cell in row}) < 2:
        assert found.value is None
        return
    codes = [[np.nan if cell is None else "abc".index(cell) for cell in row] for row in rows]
    expected = krippendorff.alpha(np.array(codes).T, level_of_measurement="nominal")
    assert found.value == pytest.approx(expected)
    low, high = found.interval
    assert -1 <= low <= found.value <= high <= 1


@settings(deadline=None, max_examples=25)
@given(st.lists(st.lists(st.sampled_from([1.0, 2.0, 2.5, 7.0, None]), min_size=3, max_size=3), min_size=1, max_size=20))
def test_alpha_of_scores_is_that_of_krippendorff(rows):
    found = alpha_of_scores(Votes.from_rows(rows))
    paired = [[cell for cell in row if cell] for row in rows if sum(cell is not None for cell in row) > 1]
    if len(paired) < 2 or len({cell for row in paired for cell in row}) < 2:
        assert found.value is None
        return
    table = np.array([[np.nan if cell is None else cell for cell in row] for row in rows])
    assert found.value == pytest.approx(krippendorff.alpha(table.T, level_of_measurement="interval"))


@settings(deadline=None, max_examples=25)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=2, max_size=30))
def test_cohens_kappa_is_that_of_scikit_learn(pairs):
    from sklearn.metrics import cohen_kappa_score

    found = cohen_kappa(Votes.from_rows(pairs), "juror 1", "juror 2")
    if len({label for pair in pairs for label in pair}) < 2:
        assert found.value is None
        return
    assert found.value == pytest.approx(cohen_kappa_score(*zip(*pairs, strict=True)))


@each_row(
    ("coefficient", "value", "before"),
    [  # the values and intervals of version 0.2
        (raw_agreement, 0.9238276323883795, (0.9141694138535665, 0.9317112861288678)),
        (alpha, 0.2967714444946291, (0.2541273921525851, 0.3674222125021284)),
        (gwet_ac1, 0.9142152321671833, (0.9016217151728878, 0.9238997704964492)),
        (effective_votes, 1.5750626821751594, (1.5052390131690558, 1.6551755742536594)),
    ],
)
def test_recorded_votes_have_the_figures_of_version_0_2(coefficient, value, before):
    found = coefficient(codefeedback())
    assert found.value == pytest.approx(value, abs=1e-9)
    assert found.n == (2686 if coefficient is gwet_ac1 else 2675)
    assert found.interval == pytest.approx(before, abs=0.03)
    assert found.interval[1] - found.interval[0] >= 0.95 * (before[1] - before[0])


def test_intervals_of_independent_cases_are_those_of_version_0_2():
    """The notes on methods have the percentile interval of alpha over items: 0.2587 to 0.3352."""
    assert alpha(codefeedback(grouped=False)).interval == pytest.approx((0.2587, 0.3352), abs=0.012)


def test_raw_agreement_by_hand():
    found = raw_agreement(Votes.from_rows([["a", "a", "b"], ["a", None, "a"], ["b", None, None]]))
    assert (found.value, found.n) == (pytest.approx((1 / 3 + 1) / 2), 2)


def test_effective_votes_by_hand():
    labels = ["yes"] * 40
    a = ["no"] * 10 + ["yes"] * 30
    same = effective_votes(Votes.from_rows(zip(a, a, strict=True), human_labels=labels))
    assert (same.value, same.details["phi"]) == (pytest.approx(1), pytest.approx(1))
    b = (["no"] * 1 + ["yes"] * 3) * 10  # errs as often on the errors of a (3 of 10; phi = 0.2 / 3) as elsewhere
    other = effective_votes(Votes.from_rows(zip(a, b, strict=True), human_labels=labels))
    phi = np.corrcoef(np.array(a) == "no", np.array(b) == "no")[0, 1]
    assert other.value == pytest.approx(2 / (1 + phi))
    assert other.details["pairs"] == {"juror 1, juror 2": pytest.approx(phi)}


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
@settings(deadline=None, max_examples=25)
@given(rows=TABLES, random=st.randoms())
def test_the_order_of_cases_and_of_jurors_does_not_matter(coefficient, rows, random):
    order = random.sample(range(len(rows[0])), len(rows[0]))
    turned = [[row[place] for place in order] for row in random.sample(rows, len(rows))]
    one, other = coefficient(Votes.from_rows(rows)), coefficient(Votes.from_rows(turned))
    assert (one.value, one.n, one.note) == (other.value and pytest.approx(other.value), other.n, other.note)
    if one.interval:
        assert one.interval == pytest.approx(other.interval, abs=1e-6)


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
@settings(deadline=None, max_examples=15)
@given(rows=TABLES)
def test_other_names_of_labels_and_jurors_do_not_matter(coefficient, rows):
    names, jurors = {"a": "z", "b": "m", "c": "k", None: None}, "wxyz"[: len(rows[0])]
    renamed = [[names[cell] for cell in row] for row in rows]
    one, other = coefficient(Votes.from_rows(rows)), coefficient(Votes.from_rows(renamed, jurors=jurors))
    assert (one.value, one.n) == (other.value and pytest.approx(other.value), other.n)
    times = 400 // len(rows)
    many, others = coefficient(Votes.from_rows(rows * times)), coefficient(Votes.from_rows(renamed * times))
    if many.interval:  # the draws of the bootstrap are others, and of few cases their quantiles are steps
        assert many.interval == pytest.approx(others.interval, abs=0.03)


def test_a_juror_without_votes_changes_nothing():
    rows = [["a", "b"], ["a", "a"], ["b", "b"], ["a", "a"]]
    for coefficient in COEFFICIENTS:
        one, other = coefficient(Votes.from_rows(rows)), coefficient(Votes.from_rows([[*row, None] for row in rows]))
        assert (one.value, one.interval) == (other.value, other.interval)


DEGENERATE = {
    "no case": [],
    "one juror": [["a"]] * 5,
    "one case": [["a", "a"]],
    "one case with two votes": [["a", "a"], ["a", None], [None, "b"]],
    "no votes": [[None, None]] * 5,
    "numbers": [[1, 2]] * 3,
}


@each_row("name", DEGENERATE)
@each_row("coefficient", [*COEFFICIENTS, effective_votes])
def test_where_nothing_tells_agreement_there_is_a_reason_and_no_number(coefficient, name):
    found = coefficient(Votes.from_rows(DEGENERATE[name]))
    assert (found.value, found.interval) == (None, None)
    assert found.note.startswith("fewer than 2")


@pytest.mark.parametrize("coefficient", [alpha, gwet_ac1])
def test_votes_that_are_all_alike_have_no_corrected_agreement(coefficient):
    votes = Votes.from_rows([["yes", "yes"]] * 50)
    assert coefficient(votes).value is None
    assert "all votes are alike" in coefficient(votes).note
    low, high = raw_agreement(votes).interval
    assert (raw_agreement(votes).value, high) == (1.0, 1.0)
    assert 0.85 < low < 0.98


@pytest.mark.parametrize("cells", [[1.0, 1.0], [2.0, None]])
def test_scores_that_are_all_alike_have_no_alpha(cells):
    assert alpha_of_scores(Votes.from_rows([cells] * 4)).value is None


def test_empty_cells_are_no_votes():
    """Situation 42: missing ratings do not count as agreement."""
    pairs = [("yes", "no"), ("no", "yes"), ("yes", "yes"), ("no", "no")] + [("", "")] * 16 + [(None, float("nan"))] * 4
    votes = Votes.from_rows(pairs)
    assert (raw_agreement(votes).value, raw_agreement(votes).n) == (0.5, 4)
    assert cohen_kappa(votes, "juror 1", "juror 2").value == 0


def test_jurors_without_errors_have_no_correlation():
    votes = Votes.from_rows([["yes", "yes", "no"]] * 20, human_labels=["yes"] * 20)
    found = effective_votes(votes)
    assert (found.value, found.note) == (None, "the cases do not vary")


def test_groups_widen_every_interval():
    rng = np.random.default_rng(2)
    rows = np.repeat(rng.random((30, 2)) < 0.7, 6, axis=0).tolist()
    groups = np.repeat(np.arange(30), 6)
    for coefficient in (*COEFFICIENTS, lambda votes: cohen_kappa(votes, "juror 1", "juror 2")):
        alone, grouped = (coefficient(Votes.from_rows(rows, groups=of)) for of in (None, groups))
        assert alone.value == pytest.approx(grouped.value)
        assert np.ptp(grouped.interval) > 1.6 * np.ptp(alone.interval)


def test_the_interval_of_high_agreement_is_no_wider_than_the_disagreement():
    rng = np.random.default_rng(0)
    covered, widths = 0, []
    for _ in range(60):
        scores = np.sqrt(0.97) * rng.standard_normal((100, 1)) + np.sqrt(0.03) * rng.standard_normal((100, 3))
        low, high = alpha_of_scores(Votes.from_rows(scores.tolist())).interval
        covered, widths = covered + (low <= 0.97 <= high), [*widths, high - low]
    assert covered >= 53
    assert np.mean(widths) < 0.03
    assert alpha_of_scores(Votes.from_rows([[at % 5] * 3 for at in range(30)])).interval[0] < 0.9
