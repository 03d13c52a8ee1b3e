import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_adapters import ConfigurationError, Status
from jury_adapters.critic.answers import Choice, Label, Labels, Scale, Unreadable

YES_NO = Labels.of(passing=["YES"], failing=["NO"], abstaining=["NOT SURE"])
FIVE = Scale(minimum=1, maximum=5, pass_mark=4)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(), inner, max_size=2),
)


@pytest.mark.parametrize("text", ["YES", "yes", " Yes \n", "\tyEs"])
def test_a_label_is_read_whatever_its_case_and_white_space(text):
    assert YES_NO.read(text) == Choice("YES", Status.PASS, "YES")


def test_white_space_inside_a_label_does_not_matter():
    assert YES_NO.read("not \n sure") == Choice("NOT SURE", Status.ABSTAIN, "NOT SURE")


@pytest.mark.parametrize(
    "value", ["", "YESNO", "YES.", "NOT", "not yes", "NO, not yesterday", None, True, ["YES"], {}, 1.0]
)
def test_anything_else_is_no_label(value):
    refused = YES_NO.read(value)
    assert isinstance(refused, Unreadable)
    assert '"YES", "NO", "NOT SURE"' in refused.problem


def test_labels_that_json_writes_without_quotes():
    rated = Labels.of(neutral=["1", "2"], passing=["true"])
    assert rated.read(1).label == "1"
    assert rated.read(True).label == "true"
    assert isinstance(rated.read(10**5000), Unreadable)


def test_labels_may_declare_scores():
    graded = Labels.of(passing={"excellent": 1.0, "good": 0.6}, failing={"poor": 0.0}, neutral=["odd"])
    assert graded.read("good") == Choice("good", Status.PASS, "good", 0.6)
    assert graded.read("odd") == Choice("odd", None, "odd")
    assert [label.value for label in graded.labels] == [1.0, 0.6, 0.0, None]
    assert [label.value for label in YES_NO.labels] == [1.0, 0.0, None]


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({}, "at least one label"),
        ({"passing": ["a"], "failing": ["A "]}, "differ only in case"),
        ({"passing": {"a": 1.5}}, "less than or equal to 1"),
        ({"passing": {"a": math.nan}}, "finite"),
        ({"passing": [" "]}, "a label is a word"),
        ({"passing": "YES"}, r"\['YES'\]"),
    ],
)
def test_labels_that_make_no_sense(groups, message):
    with pytest.raises(ConfigurationError, match=message):
        Labels.of(**groups)


def test_an_abstaining_label_has_no_score():
    with pytest.raises(ValueError, match="abstains"):
        Label(name="x", meaning=Status.ABSTAIN, score=0.5)


def test_an_unknown_meaning_is_refused_with_a_suggestion():
    with pytest.raises(ValueError, match="Did you mean 'pass'"):
        Labels(labels={"YES": "passs"})


@pytest.mark.parametrize(
    ("value", "score", "status"),
    [
        (1, 0.0, Status.FAIL),
        (4, 0.75, Status.PASS),
        (5.0, 1.0, Status.PASS),
        ("4", 0.75, Status.PASS),
        (" 4/5 ", 0.75, Status.PASS),
        ("3 out of 5", 0.5, Status.FAIL),
        ("+4.0", 0.75, Status.PASS),
    ],
)
def test_ratings(value, score, status):
    read = FIVE.read(value)
    assert (read.score, read.status, read.label) == (score, status, None)


@pytest.mark.parametrize(
    "value",
    [0, 6, 3.5, "3.5", math.nan, math.inf, -math.inf, True, False, None, "four", "", "4/10", "80%", "4 5", "4-5", [4],
     {},
     pytest.param("9" * 5000, id="long"), pytest.param(10**5000, id="huge"), "٤", "1e0", "0x4", "nan", "inf"],
)  # fmt: skip
def test_what_is_no_rating(value):
    refused = FIVE.read(value)
    assert isinstance(refused, Unreadable)
    assert "a whole number from 1 (worst) to 5 (best)" in refused.problem


def test_percent_is_read_where_it_can_mean_only_one_thing():
    assert Scale(minimum=0, maximum=1).read("85%").score == 0.85
    assert Scale(minimum=0, maximum=100).read("85 %").score == 0.85
    assert isinstance(Scale(minimum=0, maximum=10).read("85%"), Unreadable)
    assert isinstance(Scale(minimum=0, maximum=1).read("120%"), Unreadable)


@pytest.mark.parametrize("answer", ["1.53%", "7%", "0.123456789012345", 1 / 3, 5e-324, "100%", "0"])
def test_the_text_of_a_rating_is_the_rating(answer):
    scale = Scale(minimum=0, maximum=1)
    read = scale.read(answer)
    assert isinstance(read, Choice)
    assert scale.read(json.loads(read.text)) == read
    assert len(read.text) < 25


def test_a_scale_fills_in_what_follows_from_its_ends():
    assert (FIVE.integer, Scale(minimum=0, maximum=1).integer) == (True, False)
    assert Scale(minimum=0, maximum=10).pass_mark == 5
    assert Scale(minimum=0, maximum=10, integer=False).read(7.5).score == 0.75
    assert Scale(minimum=0, maximum=10).read(5).status is Status.PASS


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"minimum": 5, "maximum": 1}, "minimum < maximum"),
        ({"minimum": 0, "maximum": 1, "pass_mark": 2}, "outside the scale 0 to 1"),
        ({"minimum": 0.5, "maximum": 3, "integer": True}, "whole ends"),
        ({"minimum": 0, "maximum": math.inf}, "finite"),
        ({"minimum": 0, "maximum": 5, "passmark": 2}, "passmark"),
        ({"maximum": 5}, "minimum"),
        ({"minimum": "low", "maximum": 5}, "valid number"),
    ],
)
def test_scales_that_make_no_sense(fields, message):
    with pytest.raises(ValueError, match=message):
        Scale(**fields)


def test_schema_parts():
    assert YES_NO.schema_part() == {"type": "string", "enum": ["YES", "NO", "NOT SURE"]}
    assert FIVE.schema_part() == {"type": "integer", "enum": [1, 2, 3, 4, 5]}
    assert Scale(minimum=0, maximum=100).schema_part()["type"] == "integer"
    unit = Scale(minimum=0, maximum=1).schema_part()
    assert unit["type"] == "number"
    assert not {"minimum", "maximum"} & unit.keys(), "some vendors refuse bounds"


@given(ANYTHING)
def test_a_vocabulary_reads_or_refuses_and_never_raises(value):
    for vocabulary in (YES_NO, FIVE, Scale(minimum=0, maximum=1)):
        read = vocabulary.read(value)
        assert isinstance(read, Choice | Unreadable)
        if isinstance(read, Choice) and read.score is not None:
            assert 0 <= read.score <= 1


@given(st.integers(1, 5))
def test_what_a_rating_is_called_reads_back(rating):
    read = FIVE.read(rating)
    assert FIVE.read(read.text) == read
