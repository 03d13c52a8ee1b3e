"""A file of twelve cases whose figures were counted by hand, and which every form shows alike."""

import json
from io import StringIO

import pytest
from panels import Page, results, rows_of

from jury_adapters.report import Report
from jury_adapters.report.render import Console, inert, text_of
from jury_adapters.stats.figures import wilson

# The votes of a, b and c (P pass, F fail, A abstain, E broken), and the label of a person.
ROWS = [
    ("q1", "PPP", "pass"),
    ("q2", "PPP", True),
    ("q3", "PPF", "yes"),
    ("q4", "PFP", "fail"),
    ("q5", "FFF", "no"),
    ("q6", "FFP", False),
    ("q7", "FFF", "pass"),
    ("q8", "PPA", None),
    ("q9", "AAA", "pass"),
    ("q10", "EEE", None),
    ("q11", "PEE", None),  # the broken jurors could have decided
    ("q12", "PPE", "pass"),  # they could not
]


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    path = tmp_path_factory.mktemp("hand") / "twelve.jsonl"
    path.write_text("".join(one.model_dump_json(exclude_defaults=True) + "\n" for one in results(ROWS)))
    return Report(path)


def test_the_verdicts(report):
    low, high = (f"{100 * end:.1f}" for end in wilson(6, 9))
    headline = report.tables()[0]
    assert (
        headline.title,
        headline.note.startswith("3 of 12 undecided: 0.500 to 0.750 of all; rough, of 9 cases."),
    ) == (f"12 cases, 9 decided: 66.7 % pass (95 % interval {low} to {high})", True)
    assert headline.rows == (
        ("PASS", 6, "50.0 %"),
        ("FAIL", 3, "25.0 %"),
        ("ABSTAIN", 1, "8.3 %"),
        ("ERROR", 2, "16.7 %"),
        ("needs review", 6, "50.0 %"),
        ("review: the judges are split", 3, "25.0 %"),
        ("review: the jury abstained", 1, "8.3 %"),
        ("review: it could not be judged", 2, "16.7 %"),
    )


def test_the_jury_and_its_jurors_against_people(report):
    """Of 9 labels the jury decides 8: wrong on q4 and q7."""
    jury = {row[0]: (row[1], row[3]) for row in rows_of(report, "The jury against human labels")}
    assert (jury["accuracy"], jury["true positive rate"], jury["true negative rate"], jury["balanced accuracy"]) == (
        (6 / 8, 8),
        (4 / 5, 5),
        (2 / 3, 3),
        (pytest.approx((4 / 5 + 2 / 3) / 2), 8),
    )
    jurors = {row[0]: (row[1].split()[0], row[-1]) for row in rows_of(report, "Jurors against human labels")}
    assert jurors == {"a": ("0.750", 8), "b": ("0.875", 8), "c": ("0.429", 7)}  # 3 of 7


def test_the_jurors(report):
    table = next(one for one in report.tables() if one.title == "Jurors")
    assert table.columns == ("juror", "#PASS", "#FAIL", "#ABSTAIN", "#ERROR", "#differs from the verdict")
    assert table.rows == (
        ("a", 7, 3, 1, 1, "0 of 9"),
        ("b", 5, 4, 1, 2, "1 of 9"),
        ("c", 4, 3, 2, 3, "2 of 7"),
    )


def test_the_agreement(report):
    """Four cases are unanimous among three, three have one pair of three, and two are pairs that agree."""
    found = {row[0]: row[1] for row in rows_of(report, "Agreement of the jurors")}
    assert (found["raw agreement"], rows_of(report, "Agreement of pairs")) == (
        pytest.approx(7 / 9),
        [
            ("a", None, 8 / 9, 5 / 7),
            ("b", 8 / 9, None, 4 / 7),
            ("c", 5 / 7, 4 / 7, None),
        ],
    )


def test_the_costs_the_warnings_and_the_first_cases(report):
    assert (rows_of(report, "Costs")[0], rows_of(report, "Costs")[-1], rows_of(report, "Warnings")) == (
        ("a", "", 12, 120, 24, "$0.1200", 0),
        ("all", "", 36, 360, 72, "$0.3600", 0),
        [("judgments that broke: ModelError: down", 6)],
    )
    first = rows_of(report, "First cases to look at")
    assert ([row[0] for row in first], first[0]) == (
        ["q3", "q4", "q6", "q10", "q11", "q9"],
        ("q3", "PASS", "the judges are split", "PASS a; PASS b; FAIL c"),
    )


def test_the_counts_for_programs(report):
    found = report.to_dict()
    assert (found["cases"], found["statuses"], found["pass_rate"]["value"], found["pass_rate"]["n"]) == (
        12,
        {"PASS": 6, "FAIL": 3, "LABEL": 0, "ABSTAIN": 1, "ERROR": 2},
        6 / 9,
        9,
    )
    assert (
        found["pass_rate"]["details"]["bounds"],
        found["share_passed"] == report.summary.share_passed == 0.5,
        found["usage"]["calls"],
        found["title"],
    ) == ([0.5, 0.75], True, 36, "twelve.jsonl")


def test_every_form_shows_the_same_figures(report):
    tables = report.tables()
    page, notebook = Page(report.to_html()), Page(report._repr_html_())
    rows = [[*map(text_of, row)] for table in tables for row in table.rows]
    assert ([row for row in page.rows if row in rows], [row for row in notebook.rows if row in rows]) == (rows, rows)
    titles = [[text.strip() for text in one.texts["h2"]] for one in (page, notebook)]
    assert titles[0][: len(tables)] == titles[1] == [one.title for one in tables]
    lines = report.to_markdown().splitlines()
    assert [line for line in lines if line in {f"| {' | '.join(map(inert, row))} |" for row in rows}] == [
        f"| {' | '.join(map(inert, row))} |" for row in rows
    ]
    terminal = StringIO()
    report.print(Console(file=terminal, width=200))
    for text in (terminal.getvalue(), str(report)):
        flat = [" ".join(line.split()) for line in text.splitlines()]
        assert not [row for row in rows if len(str(row)) < 100 and " ".join(" ".join(row).split()) not in flat]
    assert [(one["columns"], one["rows"]) for one in json.loads(report.to_json())["tables"]] == [
        ([*table.columns], [[*row] for row in table.rows]) for table in tables
    ]
