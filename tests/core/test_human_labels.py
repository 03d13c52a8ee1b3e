"""Human labels: how they are read, and which of them mean PASS."""

import math

import pytest

from jury_adapters import Case, Ensemble, Judgment
from jury_adapters.calibration import Votes
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.human_labels import LabelMeanings, UnclearLabels, check_pass_labels, human_label
from jury_adapters.report import Report


@pytest.mark.parametrize(
    ("value", "label"),
    [(None, None), ("", None), ("  ", None), (math.nan, None), (True, "PASS"), (False, "FAIL"), (" valid ", "valid"),
     (0, "0"), (1.0, "1"), (1.5, "1.5"), (["a"], "['a']")],
)  # fmt: skip
def test_labels_are_texts(value, label):
    assert human_label(value) == label


@pytest.mark.parametrize(
    ("label", "status"),
    [("PASS", "PASS"), ("pass", "PASS"), ("Passed", "PASS"), ("TRUE", "PASS"), ("Yes", "PASS"), ("no", "FAIL"),
     ("False", "FAIL"), ("failed", "FAIL"), ("valid", None), ("1", None), ("0.8", None), ("", None)],
)  # fmt: skip
def test_obvious_words_have_a_meaning_and_others_are_not_guessed(label, status):
    assert LabelMeanings.of([], []).status_of(label) == status


def test_what_jurors_show_comes_before_obvious_words():
    toxic = [Judgment("FAIL", label="YES"), Judgment("PASS", label="NO")]
    meanings = LabelMeanings.of(toxic, [])
    assert [meanings.status_of(label) for label in ("YES", "yes", "no", "PASS", "true")] == [
        "FAIL", "FAIL", "PASS", "PASS", "PASS",
    ]  # fmt: skip
    both = LabelMeanings.of([*toxic, Judgment("PASS", label="YES")], [])
    assert both.status_of("no") == "PASS"
    assert both.status_of("yes") == "PASS"  # jurors do not agree on it, so it is the word


def test_listed_labels_come_first_and_make_all_others_fail():
    meanings = LabelMeanings.of([Judgment("FAIL", label="good")], ["good", "fine"], ["good", "fine", "yes"])
    assert [meanings.status_of(label) for label in ("good", "fine", "yes", "PASS")] == ["PASS", "PASS", "FAIL", "PASS"]


def test_a_label_that_nobody_gave_is_refused_unless_jurors_use_it():
    with pytest.raises(UnclearLabels, match=r"'vaild' \(did you mean 'valid'\?\); there are valid 2, bad 1"):
        check_pass_labels(["valid", "bad", "valid"], ["valid", "vaild"])
    check_pass_labels(["bad"], ["valid"], known=["valid"])
    check_pass_labels([], ["valid"])
    with pytest.raises(ConfigurationError, match="list of labels"):
        check_pass_labels(["valid"], "valid")


@pytest.mark.parametrize(
    ("only", "given"), [("reject", "publish"), ("FAIL", "good"), ("invalid", "valid"), ("not good", "good")]
)
def test_a_batch_without_any_pass_label_is_accepted(only, given):
    check_pass_labels([only] * 3, [given])
    assert LabelMeanings.of((), [given], [only]).status_of(only) == "FAIL"


@pytest.mark.parametrize(
    ("labels", "given", "said"),
    [
        (["publish"], "pubish", "did you mean 'publish'"),
        (["publish"], "Publish", "did you mean 'publish'"),
        (["PUBLISH"], "publish", "differ only in capitals"),
        (["yes"], "good", "there are yes 1"),
        (["ok", "bad"], "good", "there are bad 1, ok 1"),
    ],
)
def test_a_pass_label_that_looks_like_a_mistake_is_refused(labels, given, said):
    with pytest.raises(UnclearLabels, match=said):
        check_pass_labels(labels, [given])


def test_labels_of_jury_review_keep_their_meaning_beside_labels_in_other_words():
    seen = ["valid", "bad", "PASS", "FAIL"]
    check_pass_labels(seen, ["valid"])
    check_pass_labels([*seen, "pass"], ["valid", "pass"])
    meanings = LabelMeanings.of((), ["valid"], seen)
    assert [meanings.status_of(label) for label in seen] == ["PASS", "FAIL", "PASS", "FAIL"]
    with pytest.raises(UnclearLabels, match="'PASS' and 'Pass' differ only in capitals"):
        check_pass_labels([*seen, "Pass"], ["valid"])


def test_labels_in_a_message_are_visible():
    with pytest.raises(UnclearLabels) as caught:
        check_pass_labels(["\x1b[31mred", "blue"], ["valid"])
    assert "\x1b" not in str(caught.value)


@pytest.mark.parametrize("given", [[1], (1.0,), ["1"], {1}])
def test_pass_labels_may_be_numbers_as_human_labels_may(given):
    jury = Ensemble([lambda case: case.answer != "bad"] * 2)
    cases = [Case(answer=answer, metadata={"gold": label}) for answer, label in (("good", 1), ("bad", 0), ("fine", 1))]
    against = Report.from_results([(case, jury.judge(case)) for case in cases], pass_labels=given).label_comparison
    assert against.jury.accuracy.hits == 3
    rows = [["PASS", "FAIL"], ["FAIL", "FAIL"]]
    assert Votes.from_rows(rows, jurors=["a", "b"], gold=[1, 0], pass_label=given).pass_labels == ("1",)
    assert Votes.from_rows(rows, jurors=["a", "b"], gold=[1, 0], pass_label=1).pass_labels == ("1",)


@pytest.mark.parametrize("given", ["good", 5, [None], ["good", " "], b"good"])
def test_what_is_no_list_of_labels_is_refused(given):
    with pytest.raises(ConfigurationError, match="pass_labels"):
        Report.from_results([Judgment("PASS")], pass_labels=given)
