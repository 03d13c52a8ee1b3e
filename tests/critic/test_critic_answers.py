"""Labels and scales: what one answer may be, and what it means."""

import pytest
from fact_tables import each_row
from pydantic import ValidationError

from jury_adapters.core.judgment import Status
from jury_adapters.critic.answers import Choice, Labels, Scale, Unreadable

GRADED = Labels({"excellent": 1.0, "good": 0.6, "poor": 0, "n/a": "abstain"})
HUNDRED, FIVE, UNIT = (
    Scale(minimum=0, maximum=100),
    Scale(minimum=1, maximum=5, pass_mark=4),
    Scale(minimum=0, maximum=1),
)


@each_row(
    ("value", "choice"),
    [
        ("good", Choice("good", Status.PASS, "good", 0.6)),
        (" GOOD\n", Choice("good", Status.PASS, "good", 0.6)),
        ("poor", Choice("poor", Status.FAIL, "poor", 0.0)),
        ("N/A", Choice("n/a", Status.ABSTAIN, "n/a", None)),
    ],
)
def test_a_label_is_read_but_for_case_and_white_space(value, choice):
    assert GRADED.read(value) == choice


def test_what_is_no_label_is_refused_with_the_labels():
    for value in ("goo", "good.", "very good", "", None, 1, 1.0, True, ["good"], {"good": 1}):
        found = GRADED.read(value)
        assert isinstance(found, Unreadable), value
        assert 'exactly one of "excellent", "good", "poor", "n/a", not' in str(found)


def test_whole_numbers_and_booleans_may_be_labels():
    labels = Labels({"1": "fail", "2": "pass", "true": "pass"})
    assert [labels.read(value).text for value in (1, "2", True, "TRUE")] == ["1", "2", "true", "true"]
    assert isinstance(labels.read(1.0), Unreadable)


def test_a_label_that_names_its_status_is_the_plain_status():
    """The core knows PASS and FAIL without a declaration."""
    labels = Labels({"PASS": "pass", "fail": "fail", "KEEP": "label"})
    assert labels.read("pass") == Choice("PASS", Status.PASS)
    assert labels.declared == {"KEEP": Status.LABEL}


NO_LABELS = [
    {}, {"": "pass"}, {"  ": "pass"}, {"a": "pass", "A": "fail"}, {"a b": "pass", "a  b": "pass"}, {"PASS": "fail"},
    {"error": "label"}, {"a": "good"}, {"a": "error"}, {"a": 1.5}, {"a": -0.1}, {"a": float("nan")}, {"a": True},
    {"a": None}, {"a": {"meaning": "abstain", "score": 0.5}}, {"a": {"meaning": "pass", "weight": 1}}, ["a", "b"],
    {"a": {"meaning": "fail", "score": 0.6}, "b": {"meaning": "pass", "score": 0.6}}, "a", {1: "pass"},
]  # fmt: skip


def test_labels_without_one_meaning_each_are_refused():
    for labels in NO_LABELS:
        with pytest.raises(ValidationError):
            Labels(labels)


@each_row(
    ("labels", "score"),
    [
        ({"YES": "pass", "NO": "fail"}, 0.5),
        ({"excellent": 1.0, "good": 0.6, "poor": 0}, 0.5),
        ({"fine": {"meaning": "pass", "score": 0.9}, "so-so": {"meaning": "fail", "score": 0.6}}, 0.9),
        ({"A": "label", "B": "label"}, 0.5),
    ],
)
def test_the_score_from_which_labels_pass_divides_them(labels, score):
    assert Labels(labels).passing_score == score


def test_a_threshold_gives_labels_with_a_score_another_meaning():
    labels = Labels({"excellent": 1.0, "good": 0.6, "YES": "pass", "n/a": "abstain"}).from_score(0.7)
    assert {name: label.meaning.value for name, label in labels.root.items()} == {
        "excellent": "PASS", "good": "FAIL", "YES": "PASS", "n/a": "ABSTAIN",
    }  # fmt: skip


RATINGS = [
    (FIVE, 1, 0.0), (FIVE, 4, 0.75), (FIVE, "4", 0.75), (FIVE, " 5 ", 1.0),
    (HUNDRED, 85, 0.85), (HUNDRED, "85", 0.85), (HUNDRED, 0, 0.0), (HUNDRED, 100, 1.0), (HUNDRED, 1, 0.01),
    (UNIT, 0.8, 0.8), (UNIT, 1, 1.0), (UNIT, 1.0, 1.0), (UNIT, "0.35", 0.35), (UNIT, -0.0, 0.0),
    (Scale(minimum=0, maximum=5, integer=False), 3.5, 0.7), (Scale(minimum=-1, maximum=1, integer=False), 0, 0.5),
]  # fmt: skip


def test_a_rating_has_the_share_of_the_way_as_its_score():
    for scale, value, score in RATINGS:
        found = scale.read(value)
        assert found.score == pytest.approx(score)
        assert found.label is None
        assert found.status is (Status.PASS if score >= scale.passing_score else Status.FAIL)


NO_RATINGS = [
    # a rater of another unit (situations, row 11): the best mark 1.0 of 0..1 is no whole number as written
    (HUNDRED, 0.8), (HUNDRED, "0.8"), (HUNDRED, "0.5"), (HUNDRED, 1.0), (HUNDRED, "1.0"), (HUNDRED, "0.0"),
    (HUNDRED, "85.5"), (HUNDRED, "80%"), (FIVE, 4.5), (FIVE, "4.0"), (FIVE, 0), (FIVE, 6), (FIVE, "4/5"),
    (Scale(minimum=1, maximum=10), 85), (FIVE, "four"), (FIVE, "+4"), (FIVE, "04"), (FIVE, "4."), (FIVE, ".8"),
    (UNIT, 1.01), (UNIT, -0.01), (UNIT, float("nan")), (UNIT, float("inf")), (UNIT, True), (UNIT, None),
    (UNIT, [1]),
    (UNIT, "1e0"), (UNIT, ""), (UNIT, 10**400), (UNIT, "9" * 5000), (FIVE, "\u0664"), (UNIT, "0,5"),
]  # fmt: skip


def test_what_is_no_rating_as_written_is_refused():
    for scale, value in NO_RATINGS:
        found = scale.read(value)
        assert isinstance(found, Unreadable)
        assert scale.instruction in found.problem
        assert len(found.problem) < 200


NO_SCALES = [
    {"minimum": 5, "maximum": 1}, {"minimum": 1, "maximum": 1}, {"minimum": 1, "maximum": 5, "pass_mark": 6},
    {"minimum": 0, "maximum": float("inf")}, {"minimum": 0}, {"minimum": "a", "maximum": "b"}, [1, 2, 3], "1-5",
    None,
    {"minimum": 0, "maximum": 2.5, "integer": True}, {"minimum": 1, "maximum": 5, "best": 5}, {"maximum": None},
]  # fmt: skip


def test_impossible_scales_are_refused():
    for scale in NO_SCALES:
        with pytest.raises(ValidationError):
            Scale.model_validate(scale)


@each_row(
    ("ends", "integer", "mark"),
    [((1, 5), True, 3), ((0, 1), False, 0.5), ((0.0, 10.0), True, 5), ((0.5, 5), False, 2.75), ((0, 100), True, 50)],
)
def test_a_scale_is_of_whole_numbers_if_its_ends_are(ends, integer, mark):
    scale = Scale.model_validate(ends)
    assert (scale.integer, scale.pass_mark) == (integer, mark)


def test_a_threshold_moves_the_pass_mark():
    assert FIVE.from_score(0.7).pass_mark == pytest.approx(3.8)
    assert FIVE.from_score(0.75).read(4).status is Status.PASS
    assert FIVE.from_score(1.0).read(5).status is Status.PASS
    assert UNIT.from_score(0.7).read(0.7).status is Status.PASS


def test_the_schema_enumerates_what_is_short():
    """Some vendors refuse bounds of numbers (trap 15)."""
    assert GRADED.schema_part == {"type": "string", "enum": ["excellent", "good", "poor", "n/a"]}
    assert FIVE.schema_part == {"type": "integer", "enum": [1, 2, 3, 4, 5]}
    assert HUNDRED.schema_part["type"] == "integer"
    assert UNIT.schema_part == {"type": "number", "description": "a number from 0 (worst) to 1 (best)"}
