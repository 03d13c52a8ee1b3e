"""Causes of changed verdicts."""

from jury_adapters import Ensemble, Judgment, Report
from jury_adapters.report.comparison import compare


def run(jury, votes):
    verdict = jury.aggregate([Judgment(critic=name, reasoning=f"{name} thought", **said) for name, said in votes])
    return Report.from_results([verdict] * 2)


def why(jury, before, after):
    compared = run(jury, before).compare(run(jury, after))
    assert {(flip.before, flip.after) for flip in compared.flips} == {("PASS", "FAIL")}
    for text in (str(compared), str(compare(run(jury, before).entries, run(jury, after).entries, most_flips=1))):
        assert compared.flips[0].why in text
    return compared.flips[0].why


def score(name, value):
    return name, {"status": "PASS" if value >= 0.5 else "FAIL", "score": value}


def test_scores_that_changed_the_average_are_the_cause():
    jury = Ensemble([lambda case: True] * 3, voting="average")
    before, after = [("a", 0.75), ("b", 0.8), ("c", 0.2)], [("a", 0.55), ("b", 0.8), ("c", 0.1)]
    said = why(jury, [score(*one) for one in before], [score(*one) for one in after])
    assert said == "a: PASS (score 0.75) -> PASS (score 0.55); c: FAIL (score 0.2) -> FAIL (score 0.1)"


def test_a_score_beside_a_juror_whose_word_changed_for_the_better():
    jury = Ensemble([lambda case: True] * 3, voting="average")
    before, after = [("a", 1.0), ("b", 1.0), ("c", 0.45)], [("a", 0.3), ("b", 0.6), ("c", 0.5)]
    said = why(jury, [score(*one) for one in before], [score(*one) for one in after])
    assert "a: PASS (score 1.0) -> FAIL (score 0.3)" in said
    assert "b: PASS (score 1.0) -> PASS (score 0.6)" in said


def test_scores_that_differ_in_a_late_digit_are_written_out():
    jury = Ensemble([lambda case: True] * 2, voting="average")
    said = why(jury, [score("a", 0.5), score("b", 0.5)], [score("a", 0.5), score("b", 0.49999999999)])
    assert said == "b: PASS (score 0.5) -> FAIL (score 0.49999999999)"


def test_confidences_that_are_counted_are_the_cause():
    jury = Ensemble([lambda case: True] * 2, voting="weighted")
    yes, no = {"status": "PASS"}, {"status": "FAIL"}
    before = [("a", {**yes, "confidence": 0.9}), ("b", {**no, "confidence": 0.4})]
    after = [("a", {**yes, "confidence": 0.3}), ("b", {**no, "confidence": 0.4})]
    assert why(jury, before, after) == "a: PASS (confidence 0.9) -> PASS (confidence 0.3)"


def test_words_are_enough_where_they_are_what_is_counted():
    jury = Ensemble([lambda case: True] * 2, voting="unanimous")
    yes, no = {"status": "PASS", "score": 0.9}, {"status": "FAIL", "score": 0.2}
    assert why(jury, [("a", yes), ("b", yes)], [("a", {**yes, "score": 0.7}), ("b", no)]) == "b: PASS -> FAIL"


def test_another_rule_is_named_where_nothing_that_was_said_differs():
    votes = [("a", {"status": "PASS"}), ("b", {"status": "FAIL"}), ("c", {"status": "PASS"})]
    runs = [run(Ensemble([lambda case: True] * 3, voting=rule), votes) for rule in ("majority", "unanimous")]
    compared = runs[0].compare(runs[1])
    assert "the rule that counts the votes differs" in compared.flips[0].why
