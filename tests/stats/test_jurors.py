"""Voters against human labels, reliabilities, and Dawid and Skene, beside scikit-learn and version 0.2."""

import numpy as np
import pytest
from fact_tables import each_row
from hypothesis import given, settings
from hypothesis import strategies as st
from recorded import codefeedback

from jury_adapters import Case, Ensemble
from jury_adapters.core.values import ConfigurationError
from jury_adapters.stats import Votes, against_labels, dawid_skene, reliabilities
from jury_adapters.stats.figures import wilson


def by_name(found, of=None):
    return {one.name: one for one in found if of in (None, one.of)}


@settings(deadline=None, max_examples=25)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2, max_size=40))
def test_figures_are_those_of_scikit_learn(pairs):
    from sklearn.metrics import accuracy_score, balanced_accuracy_score, cohen_kappa_score, recall_score

    said, gold = zip(*pairs, strict=True)
    found = by_name(against_labels(Votes.from_rows([[one] for one in said], human_labels=gold), ["juror 1"]))
    assert found["accuracy"].value == pytest.approx(accuracy_score(gold, said))
    assert found["accuracy"].interval == pytest.approx(wilson(sum(map(bool.__eq__, said, gold)), len(gold)))
    for name, label in (("true positive rate", True), ("true negative rate", False)):
        assert (name in found) == (label in gold)
        if label in gold:
            assert found[name].value == pytest.approx(recall_score(gold, said, pos_label=label))
    if len({*gold}) == 2:
        assert found["balanced accuracy"].value == pytest.approx(balanced_accuracy_score(gold, said))
    else:
        assert found["balanced accuracy"].value is None
    if len({*gold, *said}) == 2 and (len({*gold}) == 2 or len({*said}) == 2):
        assert found["Cohen's kappa"].value == pytest.approx(cohen_kappa_score(gold, said))
    for one in found.values():
        assert one.value is None or one.interval[0] <= one.value <= one.interval[1]


def test_recorded_jurors_have_the_figures_of_version_0_2():
    found = by_name(against_labels(codefeedback(), ["gemini-2.5-pro"]))
    assert found["accuracy"].value == pytest.approx((0.81027 * 2551 - 1) / 2549, abs=1e-5)
    assert found["true negative rate"].value == pytest.approx((0.580808 * 198 - 1) / 196, abs=1e-5)
    assert "always PASS: 0.923" in found["accuracy"].note


def test_undecided_cases_are_left_out_with_bounds_beside_them():
    votes = Votes.from_rows([["yes"], ["no"], [None]], human_labels=["yes", "yes", "no"])
    found = by_name(against_labels(votes, ["juror 1"]))
    assert (found["accuracy"].value, found["accuracy"].n) == (0.5, 2)
    assert found["accuracy"].note.startswith("always PASS: 1.000; 1 of 3 undecided: 0.333 to 0.667 of all")
    assert (found["true negative rate"].value, found["true negative rate"].n) == (None, 0)


def test_voters_are_those_that_were_asked_about_a_labelled_case():
    votes = Votes.from_rows([["yes", "no"]], jurors=["a", "b"], verdicts=["yes"], human_labels=["yes"])
    assert {one.of for one in against_labels(votes)} == {"a", "b", "the jury"}
    assert {one.of for one in against_labels(votes, ["b"])} == {"b"}
    with pytest.raises(ConfigurationError, match="no voter"):
        against_labels(votes, ["c"])


@pytest.mark.parametrize("labels", [None, [None], [4]])
def test_without_labels_that_pass_or_fail_there_is_a_reason(labels):
    (found,) = against_labels(Votes.from_rows([["yes"]], human_labels=labels))
    assert found.value is None
    assert "no case with a human label" in found.note


def test_failed_runs_are_no_verdicts():
    cases = [Case(error="boom", id=f"{at}", metadata={"gold": "fail"}) for at in range(9)]
    jury = Ensemble([lambda case: True, lambda case: True])
    votes = Votes.of(jury.judge_pairs([*cases, Case(answer="x", metadata={"gold": "pass"})]), label="gold")
    assert {one.n for one in against_labels(votes, ["the jury"])} == {1}


def test_recalls_of_neutral_labels():
    votes = Votes.from_rows([["A"], ["B"], ["B"]], human_labels=["A", "A", "tie"])
    found = by_name(against_labels(votes, ["juror 1"]))
    assert (found["recall of A"].value, found["recall of tie"].value) == (0.5, 0.0)
    assert found["balanced accuracy"].value == 0.25


def test_reliabilities_are_those_of_version_0_2():
    fitted = reliabilities(codefeedback())
    at = fitted.jurors.index("gpt-4o-mini")
    assert fitted.labels == ("FAIL", "PASS")
    assert fitted.accuracies[at] == pytest.approx(0.911846, abs=1e-6)
    assert fitted.confusions[at].diagonal() == pytest.approx([0.215385, 0.969336], abs=1e-6)
    assert fitted.prior == pytest.approx([203 / 2688, 2485 / 2688])
    assert fitted.confusions.sum(axis=2) == pytest.approx(1)


def test_reliabilities_make_the_rule_bayes_and_its_posterior():
    votes = Votes.from_rows([["yes", "yes"]] * 40 + [["no", "yes"]] * 20, human_labels=["yes"] * 35 + ["no"] * 25)
    fitted = reliabilities(votes)
    rule = fitted.bayes()
    assert rule.prior == pytest.approx(36 / 62)
    jury = Ensemble({"juror 1": lambda case: case.answer == "good", "juror 2": lambda case: True}, voting=rule)
    found = jury.judge(answer="bad")
    expected = fitted.posterior(np.array([[0, 1]]))[0, 1]
    assert found.score == pytest.approx(expected, abs=1e-3)
    assert fitted.bayes(prior=0.9, threshold=0.7).threshold == 0.7


def test_a_juror_that_is_no_better_than_chance_has_no_say():
    votes = Votes.from_rows([["yes", "no"], ["no", "yes"]] * 20, human_labels=["yes", "no"] * 20)
    fitted = reliabilities(votes)
    assert fitted.bayes().reliabilities[1] == (0.5, 0.5)
    assert fitted.weights() == {"juror 1": pytest.approx(np.log(41)), "juror 2": 0.0}
    wrong = reliabilities(Votes.from_rows([["no"], ["yes"]], human_labels=["yes", "no"]))
    with pytest.raises(ConfigurationError, match="no weights can help"):
        wrong.weights()


@pytest.mark.parametrize(
    "votes", [Votes.from_rows([["yes"]]), Votes.from_rows([["A"]], human_labels=["A"]), Votes.from_rows([])]
)
def test_reliabilities_take_labels(votes):
    with pytest.raises(ConfigurationError, match="reliabilities take"):
        reliabilities(votes)


def test_bayes_takes_pass_and_fail():
    votes = Votes.from_rows([["A"], ["B"]], human_labels=["A", "B"])
    with pytest.raises(ConfigurationError, match="PASS and FAIL, not A, B"):
        reliabilities(votes).bayes()


def textbook(codes):
    """The EM algorithm as Dawid and Skene write it: shares of votes first, smoothing 0.01, no pull to the diagonal."""
    counts = np.stack([(codes == label).sum(axis=1) for label in (0, 1)], axis=1)
    truth = np.where(counts.sum(axis=1, keepdims=True) > 0, counts / counts.sum(axis=1, keepdims=True).clip(1), 0.5)
    for _ in range(100):
        logs = np.tile(np.log(truth.mean(axis=0)), (len(codes), 1))
        for votes in codes.T:
            for label in (0, 1):
                cells = [truth[votes == vote, label].sum() + 0.01 for vote in (0, 1)]
                for vote in (0, 1):
                    logs[votes == vote, label] += np.log(cells[vote] / sum(cells))
        before, truth = truth, np.exp(logs - logs.max(axis=1, keepdims=True))
        truth /= truth.sum(axis=1, keepdims=True)
        if np.abs(truth - before).max() < 1e-5:
            break
    return truth


def test_dawid_and_skene_is_the_textbook_algorithm_on_recorded_votes():
    """Version 0.2 has an accuracy of 0.902."""
    votes = codefeedback()
    truth, fitted = dawid_skene(votes, keep_labels=False, diagonal=0.0)
    assert truth == pytest.approx(textbook(votes.codes[:, :-1]), abs=1e-9)
    assert fitted.posterior(votes.codes[:, :-1]) == pytest.approx(truth, abs=1e-4)
    assert (truth.argmax(axis=1) == votes.gold).mean() == pytest.approx(0.902, abs=0.003)


def test_dawid_and_skene_keeps_human_labels_and_gives_cases_without_votes_the_prior():
    rows = [["yes", "yes", "no"]] * 10 + [["no", "no", "yes"]] * 10 + [[None] * 3]
    votes = Votes.from_rows(rows, human_labels=["no"] + [None] * 20)
    kept, fitted = dawid_skene(votes)
    assert kept[0].tolist() == [1.0, 0.0]
    assert kept[-1] == pytest.approx(fitted.prior, abs=1e-3)
    assert dawid_skene(votes, keep_labels=False)[0][0, 1] > 0.9
    assert fitted.bayes().reliabilities[2] == (0.5, 0.5)  # against the two others


@each_row(
    ("votes", "options"),
    [
        (Votes.from_rows([]), {}),
        (Votes.from_rows([["A"]] * 3), {}),
        (Votes.from_rows([["A"], ["B"]]), {"diagonal": -1}),
        (Votes.from_rows([["A"], ["B"]]), {"diagonal": float("nan")}),
    ],
)
def test_dawid_and_skene_takes_two_labels_and_a_juror(votes, options):
    with pytest.raises(ConfigurationError, match="two labels, a juror, and a number from 0"):
        dawid_skene(votes, **options)


def test_names_of_jurors_do_not_matter():
    rows, labels = [["yes", "no"], ["no", "no"], ["yes", "yes"]] * 9, ["yes", "no", "no"] * 9
    one, other = (Votes.from_rows(rows, human_labels=labels, jurors=names) for names in ("ab", "yx"))
    assert [(a.value, a.interval) for a in against_labels(one)] == [
        (b.value, b.interval) for b in against_labels(other)
    ]
