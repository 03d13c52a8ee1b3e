"""Two batches on the same cases: the difference, what changed, and what does not count."""

import json

import numpy as np
import pytest
from panels import panel, results, rows_of, said
from scipy.stats import binomtest

from jury_adapters import Case, Judgment
from jury_adapters.core.values import InputError
from jury_adapters.report import Report, compare
from jury_adapters.stats import Votes, pass_rate
from jury_adapters.stats import compare as difference

A = [("q1", "PPP", None), ("q2", "PPP", None), ("q3", "PPF", None), ("q4", "FFF", None), ("q5", "FFF", None)]
B = [("q5", "PPP", None), ("q4", "FPP", None), ("q3", "PPP", None), ("q2", "FFF", None), ("q6", "PPP", None)]
A += [("q7", "PPP", None), ("q8", "AAA", None), ("q9", "FFF", None)]
B += [("q7", "EEE", None), ("q8", "PPP", None), ("q9", "PPP", None)]


def test_a_comparison_by_hand():
    """Of seven cases in both, five are decided in both: b alone passes q4, q5 and q9, a alone q2."""
    found = compare(results(A), results(B), names=("old", "new"))
    headline = found.tables()[0]
    assert (
        headline.title.startswith("new minus old: 40.0 points (95 % interval "),
        headline.title.endswith(", the cases do not tell which passes more"),
    ) == (True, True)
    assert dict(headline.rows) == {
        "cases in both": 7,
        "cases that count": 5,
        "only new passes": 3,
        "only old passes": 1,
        "p value": binomtest(3, 4).pvalue,
    }
    assert (
        headline.note.startswith("2 of 7 pairs undecided"),
        [(row[0], row[1], row[3]) for row in rows_of(found, "Pass rates on the cases in both")],
    ) == (
        True,
        [
            ("old", 3 / 6, 6),
            ("new", 5 / 6, 6),
        ],
    )
    assert rows_of(found, "Verdicts") == [
        ("FAIL", "PASS", 3),
        ("PASS", "FAIL", 1),
        ("PASS", "PASS", 1),
        ("PASS", "ERROR", 1),
        ("ABSTAIN", "PASS", 1),
    ]
    assert ([row[0] for row in rows_of(found, "Changed verdicts")], rows_of(found, "Changed verdicts")[1]) == (
        ["q2", "q4", "q5", "q9", "q7", "q8"],
        ("q4", "FAIL", "PASS", "b: FAIL, then PASS; c: FAIL, then PASS"),
    )
    assert rows_of(found, "Warnings") == [
        ("cases in old only, such as 'q1': not counted", 1),
        ("cases in new only, such as 'q6': not counted", 1),
    ]
    assert ([one.name for one in found.items()][:2], found.figure) == (
        ["old: q2", "new: q2"],
        difference(*(Votes.of([*results(rows)]) for rows in (A, B))),
    )


def test_a_difference_that_is_shown_names_the_better_one():
    first = [(f"q{n}", "PPP" if n < 10 else "FFF", None) for n in range(40)]
    second = [(f"q{n}", "PPP" if n < 35 else "FFF", None) for n in range(40)]
    assert (
        compare(results(first), results(second)).tables()[0].title.endswith("b passes more"),
        compare(results(second), results(first)).tables()[0].title.endswith("a passes more"),
    ) == (True, True)


def test_cases_without_ids_are_matched_by_their_content_and_others_are_refused():
    one, other = ([(Case(answer=text), said(letter))] for text, letter in (("x", "P"), ("x", "F")))
    assert compare(one, other).changed[0][0].case.answer == "x"
    with pytest.raises(InputError, match="no case is in both: a has 'x' and b has 'y'; cases are matched by id"):
        compare(one, [(Case(answer="y"), said("F"))])
    with pytest.raises(InputError, match="no case is in both"):
        compare([said("P")], [said("P")])
    assert compare([said("P", case_id="1")], [said("F", case_id="1")]).changed


def test_repeated_ids_count_once_with_the_mean_of_their_verdicts():
    first = [(f"q{n // 2}", "PPP" if n % 4 else "FFF", None) for n in range(40)]
    second = [(f"q{n // 2}", "PPP", None) for n in range(40)]
    found = compare(results(first), results(second))
    assert (found.figure.value, found.figure.n, rows_of(found, "Verdicts"), found.changed) == (
        0.25,
        20,
        [("several verdicts", "several verdicts", 20)],
        [],
    )


def test_human_labels_of_both_answers_correct_the_difference():
    rng = np.random.default_rng(1)
    good = rng.random((2, 60)) < [[0.5], [0.8]]
    rows = [
        [(f"q{n}", "PPP" if one else "FFF", bool(one) if n < 30 else None) for n, one in enumerate(side)]
        for side in good
    ]
    found = compare(*map(results, rows))
    assert (found.figure.name, dict(found.tables()[0].rows)["cases with human labels of both"]) == (
        "difference of true pass rates",
        30,
    )


def test_labels_have_no_difference_but_changes():
    found = compare(results([("q1", "KKD", None)]), results([("q1", "DDD", None)]))
    assert (found.figure.value, found.tables()[0].title, rows_of(found, "Verdicts")) == (
        None,
        "the verdicts neither pass nor fail",
        [("K", "D", 1)],
    )


def test_different_juries_and_fails_by_outage_are_named():
    first, second = [*results(A, jury="one")], [*results(B, jury="two", errors="fail")]
    assert rows_of(compare(first, second), "Warnings")[2:] == [
        ("FAIL of b only because judges broke: not counted", 1),
        ("juries that differ: the difference is not one of the answers alone", 2),
    ]
    found = compare(results([("q1", "PPP", None)]), results([("q1", "PEE", None)], errors="fail"))
    assert (rows_of(found, "Verdicts"), rows_of(found, "Changed verdicts")[0][:3]) == (
        [("PASS", "FAIL only because judges broke", 1)],
        ("q1", "PASS", "FAIL only because judges broke"),
    )


def test_files_and_iterables_compare_alike(tmp_path):
    paths = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for path, rows in zip(paths, (A, B), strict=True):
        path.write_text("".join(one.model_dump_json(exclude_defaults=True) + "\n" for one in results(rows)))
    found = compare(*paths)
    assert (
        found.to_dict() == compare([*results(A)], [*results(B)]).to_dict() == compare(*map(str, paths)).to_dict(),
        json.loads(found.to_json())["difference"]["value"],
        found.inputs,
    ) == (True, pytest.approx(0.4), tuple(paths))


def test_an_answer_that_changed_is_named():
    found = compare([(Case(id="1", answer="x"), panel("PPF"))], [(Case(id="1", answer="y"), panel("FPF"))])
    assert rows_of(found, "Changed verdicts") == [("1", "PASS", "FAIL", "the case; a: PASS, then FAIL")]


def test_at_most_a_thousand_changes_are_kept():
    sides = [[(Case(id=str(n)), said(letter)) for n in range(1200)] for letter in "PF"]
    found = compare(*sides)
    assert (len(found.changed), len(rows_of(found, "Changed verdicts")), rows_of(found, "Verdicts")) == (
        1000,
        15,
        [("PASS", "FAIL", 1200)],
    )


def test_the_rate_of_a_report_is_that_of_statistics():
    assert (
        Report(results(B)).to_dict()["pass_rate"]["value"],
        Report([Judgment(status="PASS")]).to_dict()["pass_rate"]["n"],
    ) == (pass_rate(Votes.of([*results(B)])).value, 1)
