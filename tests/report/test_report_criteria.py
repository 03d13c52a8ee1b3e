"""Criteria of scorecards in every report: a row for each, and no agreement between them."""

import json

from typer.testing import CliRunner

from jury_adapters import Case, Ensemble, Scorecard
from jury_adapters.calibration import Votes
from jury_adapters.checks import LengthBetween
from jury_adapters.cli.app import app
from jury_adapters.core.batch import Judged
from jury_adapters.report import Report
from jury_adapters.report.entries import Entry
from jury_adapters.report.figures import Figures, contest

CARD = """
name: card
scorecard:
  grounded: {jurors: [{check: names_and_numbers}, {check: sentence_support, threshold: 0.6}]}
  brief: {check: length_between, maximum: 40}
"""
ROWS = [
    {"id": "1", "answer": "The ferry stopped running in 2018.", "contexts": ["The ferry stopped running in 2018."]},
    {"id": "2", "answer": "It was in 2019.", "contexts": ["The ferry stopped running in 2018."]},
    {
        "id": "3",
        "answer": "The ferry stopped running in 2018. " * 2,
        "contexts": ["The ferry stopped running in 2018."],
    },
]


def run(*arguments):
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_terminal_page_markdown_and_json_have_a_row_for_each_criterion(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    (tmp_path / "card.yaml").write_text(CARD)
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    printed = run("judge", "rows.jsonl", "--jury", "card.yaml", "--out", "r.jsonl", "--report", "page.html")

    table = printed.partition("Criteria")[2].partition("Jurors")[0]
    assert [line.split() for line in table.splitlines() if "%" in line] == [
        ["grounded", "2", "of", "3:", "66.7", "%", "1", "0", "0", "1.00", "of", "1"],
        ["brief", "2", "of", "3:", "66.7", "%", "1", "0", "0", "-"],
    ]
    assert "agreement  " not in printed
    page = (tmp_path / "page.html").read_text()
    section = page.partition('<h2 id="criteria">')[2].partition("</section>")[0]
    assert [name in section for name in ("grounded", "brief", "66.7 %", "not compared with each other")] == [True] * 4
    assert 'id="heat"' not in page
    markdown = run("report", "r.jsonl", "--markdown")
    assert "| `grounded` | 66.7 % | 2 | 1 | 0 | 0 |" in markdown
    assert "| `brief` | 66.7 % | 2 | 1 | 0 | 0 |" in markdown
    told = json.loads(run("report", "r.jsonl", "--json"))
    criteria = (told.get("summary") or told)["criteria"]
    assert [(one["criterion"], one["pass_rate"]) for one in criteria] == [("grounded", 2 / 3), ("brief", 2 / 3)]
    assert [(one["agreement"], one["with_agreement"]) for one in criteria] == [(1.0, 1), (None, 0)]


def sound(case):
    return True


def unsound(case):
    return False


def down(case):
    raise ConnectionError("down")


def test_a_case_is_not_contested_because_criteria_differ():
    case = Case(answer="x")
    agreed = Scorecard({"a": sound, "b": unsound}).judge(case)
    split = Scorecard({"a": Ensemble([sound, sound, unsound]), "b": sound}).judge(case)
    assert contest(agreed) == (0.0, None)
    assert contest(split)[0] > 0.5


def test_a_failure_that_jurors_caused_by_breaking_is_an_error_of_the_criterion():
    card = Scorecard({"a": Ensemble([sound, down]), "b": sound})
    case = Case(answer="x")
    report = Report.from_results([card.judge(case)])
    assert "| `a` | - | 0 | 0 | 0 | 1 |" in report.to_markdown()


def test_no_juror_is_compared_across_criteria():
    verdicts = [Scorecard({"a": sound, "b": unsound}).judge(Case(answer=str(n))) for n in range(3)]
    figures = Figures.of(Entry(n, verdict) for n, verdict in enumerate(verdicts))
    assert (figures.pairs, figures.agreement, {juror.kappa for juror in figures.jurors}) == ({}, None, {None})
    votes = Votes.from_verdicts([Judged(n, None, verdict) for n, verdict in enumerate(verdicts)])
    assert len(votes.jurors) == 1  # the scorecard as a whole


def split_card(name=""):
    return Scorecard(
        {
            "faithful": Ensemble({"a": sound, "b": sound, "c": lambda case: "3" not in case.answer}),
            "relevant": Ensemble({"a": sound, "b": sound}),
        },
        name=name,
    )


def test_the_agreement_within_each_criterion_is_shown_and_where_the_rest_is(tmp_path):
    cases = [Case(answer=str(number), metadata={"item_id": f"n{number}"}) for number in range(40)]
    report = Report.from_results(split_card().judge_pairs(cases))
    criteria = report.figures.summary.by_criterion
    assert [count.agreement_words for count in criteria.values()] == ["0.78 of 40, 13 split", "1.00 of 40"]
    markdown = report.to_markdown()
    assert "| `faithful` | 100.0 % | 40 | 0 | 0 | 0 | 0.78 of 40, 13 split |" in markdown
    note = report.figures.criteria_note
    assert "report of each criterion by itself" in note
    assert note in markdown
    assert "| `n3` | `PASS` | `faithful: PASS: a, b; FAIL: c` |" in markdown
    report.to_html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "0.78 of 40, 13 split" in page
    section = page.partition('<h2 id="agreement">')[2].partition("</section>")[0]
    assert note in section
    assert "There is nothing to agree on" not in section  # the table of criteria has the agreement


def test_drift_is_that_of_all_criteria_or_of_the_named_scorecard(tmp_path):
    cases = [Case(answer=str(number)) for number in range(40)]
    for name, shown in (("", "all criteria"), ("card", "card")):
        votes = Votes.from_verdicts([Judged(0, None, one) for one in split_card(name).judge_many(cases)])
        assert votes.jurors == (shown,)


def test_the_command_says_that_criteria_are_not_compared(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    report = Report.from_results(split_card().judge_pairs([Case(answer=str(number)) for number in range(4)]))
    report.write_results("r.jsonl", cases="cases.jsonl")
    result = CliRunner().invoke(app, ["report", "r.jsonl", "--agreement"], catch_exceptions=False)
    assert result.exit_code == 0
    remark = "Criteria are different questions, so a verdict on several criteria is one vote here. For the agreement "
    assert result.stdout.splitlines()[1].startswith(remark)
    assert result.stdout.splitlines()[0].startswith("4 items, 1 juror, 4 votes")
    figures = json.loads(CliRunner().invoke(app, ["report", "r.jsonl", "--agreement", "--json"]).stdout)
    assert figures["remarks"] == result.stdout.splitlines()[1:2]


def test_rows_have_a_column_for_each_criterion_beside_those_of_its_jurors():
    long = Ensemble([LengthBetween(minimum=3, name="3"), LengthBetween(minimum=9, name="9")])
    card = Scorecard({"long": long, "rated": lambda case: 0.75})
    row, empty = Report.from_results(card.judge_many([Case(answer="An answer."), Case(answer="no")])).to_rows()
    assert {name: value for name, value in row.items() if name.startswith(("criterion:", "score:", "vote:"))} == {
        "criterion:long": "PASS", "criterion:rated": "PASS", "score:rated": 0.75,
        "vote:3": "PASS", "vote:9": "PASS", "vote:rated": "PASS",
    }  # fmt: skip
    assert empty["criterion:long"] == "FAIL"
