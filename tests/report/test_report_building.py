"""Sources of reports, and the forms of their output."""

import io
import json
import subprocess
import sys
from importlib.util import find_spec

import pytest
from rich.console import Console

from jury_adapters import Case, ConfigurationError, Critic, Ensemble, Judge, Judgment
from jury_adapters.core.batch import stream
from jury_adapters.core.errors import InputError
from jury_adapters.core.installation import needs_extra
from jury_adapters.report import Report
from jury_adapters.report.markdown import code
from tests.support.hostile_page import ATTACKS, hostile_report

CASES = [Case(question=f"q{at}", answer="x" * at, metadata={"item_id": f"i{at}"}) for at in range(4)]


def jury():
    return Ensemble(
        [
            Judge.from_function(lambda case: (len(case.answer) > 0, "not empty"), name="some"),
            Judge.from_function(lambda case: len(case.answer) > 1, name="more"),
            Judge.from_function(lambda case: len(case.answer) < 4, name="short"),
        ],
        name="lengths",
    )


def printed(report):
    console = Console(file=io.StringIO(), width=120)
    report.summary(console)
    return console.file.getvalue()


@pytest.mark.slow
def test_rows_that_could_not_be_read_are_told_also_of_reports_made_from_python(tmp_path):
    unread = ["line 3: not JSON", *(f"line {line}: <b>no</b> mapping" for line in range(4, 30))]
    verdicts = [*jury().judge_many(CASES)]
    results = tmp_path / "r.jsonl"
    results.write_text("".join(json.dumps({"verdict": one.to_dict()}) + "\n" for one in verdicts))
    for report in (Report.from_results(verdicts, unread=unread), Report.read(results, unread=unread)):
        assert report.figures.summary.to_dict()["unreadable_rows"] == 27
        assert "27 not read" in report.to_markdown()
        page = report.to_html()
        assert "27 rows of the file could not be read, and are not part of this report." in page
        assert "line 3: not JSON" in page
        assert "line 4: &lt;b&gt;no&lt;/b&gt; mapping" in page
        assert "and 7 more" in page
    assert "could not be read" not in Report.from_results(verdicts).to_html()


def test_of_verdicts_and_of_judged():
    of_judged = Report.from_results(stream(jury(), CASES), title="lengths")
    of_verdicts = Report.from_results(jury().judge_many(CASES))
    assert of_judged.figures.summary.pass_rate == of_verdicts.figures.summary.pass_rate == 0.75
    assert [entry.where for entry in of_judged.entries] == ["i0", "i1", "i2", "i3"]
    assert of_verdicts.entries[3].where == "i3"
    assert repr(of_judged) == "Report('lengths', 4 cases)"


def test_the_summary_is_that_of_the_command():
    text = printed(Report.from_results(stream(jury(), CASES), title="lengths"))
    assert "lengths: 4 cases judged\n" in text
    assert "3 of 4 decided: 75.0 %" in text


def test_the_heading_of_a_report_without_a_title_is_not_taken_for_the_jury():
    report = Report.from_results(stream(jury(), CASES))
    assert printed(report).startswith("4 cases judged\n")
    assert report.to_markdown().startswith("### Jury report\n")
    assert report.title == "Jury report"


def test_rows_are_flat_and_hold_each_vote():
    rows = Report.from_results(stream(jury(), CASES)).to_rows()
    assert json.loads(json.dumps(rows)) == rows
    assert rows[1]["question"] == "q1"
    assert rows[1]["status"] == "PASS"
    assert rows[1]["agreement"] == pytest.approx(1 / 3)
    assert {name: value for name, value in rows[1].items() if name.startswith("vote:")} == {
        "vote:some": "PASS", "vote:more": "FAIL", "vote:short": "PASS",
    }  # fmt: skip


def test_rows_have_the_texts_and_numbers_of_the_metadata():
    cases = [{"answer": "a", "id": "x", "metadata": {"region": "north", "n": 3, "parts": ["p"]}}]
    read = Report.from_results(jury().judge_many(cases)).to_rows()
    with_texts = Report.from_results(jury().judge_pairs(cases)).to_rows()
    for (row,) in (read, with_texts):
        assert {name: value for name, value in row.items() if name.startswith("meta:")} == {
            "meta:id": "x", "meta:region": "north", "meta:n": 3,
        }  # fmt: skip


def test_a_data_frame_or_what_to_install():
    report = Report.from_results(stream(jury(), CASES))
    if find_spec("pandas") is None:
        with pytest.raises(ConfigurationError, match="pip install pandas"):
            report.to_pandas()
    else:
        assert list(report.to_pandas()["status"]) == ["FAIL", "PASS", "PASS", "PASS"]


def test_a_file_of_results_finds_its_cases_again(tmp_path):
    cases, results = tmp_path / "cases.jsonl", tmp_path / "results.jsonl"
    rows = [{"item_id": f"i{at}", "question": f"q{at}", "answer": "x" * at} for at in range(4)]
    cases.write_text("".join(json.dumps(row) + "\n" for row in reversed(rows)))  # in another order, found all the same
    judged = list(stream(jury(), CASES))
    lines = [
        {"line": one.index + 1, "item_id": f"i{one.index}", "key": one.case.content_hash,
         "verdict": one.judgment.to_dict(), "unmet": ["agreement is 0.33, below 0.5"]}
        for one in judged
    ]  # fmt: skip
    results.write_text("".join(json.dumps(line) + "\n" for line in lines))
    alone, whole = Report.read(results), Report.read(results, cases=cases)
    assert alone.title == "lengths"  # the jury's own name
    assert [entry.case for entry in alone.entries] == [None] * 4
    assert [entry.case.question for entry in whole.entries] == ["q0", "q1", "q2", "q3"]
    assert whole.entries[0].unmet == ("agreement is 0.33, below 0.5",)
    assert [entry.judgment for entry in whole.entries] == [one.judgment for one in judged]


def test_a_store_is_put_to_a_majority_vote(tmp_path, server):
    critics = [
        Critic(f"openai:{name}", "faithfulness", name=name, base_url=server.openai, api_key="k")
        for name in ("gpt-4o-mini", "gpt-4.1-mini")
    ]
    cases = [Case(question="q", answer=f"{at} TRUTH={'YES' if at % 2 else 'NO'}", contexts=["c"]) for at in range(4)]
    list(Ensemble(critics).judge_many(cases, store=tmp_path / "runs.db"))
    report = Report.read(tmp_path / "runs.db")
    assert report.figures.summary.pass_rate == 0.5
    assert [juror.name for juror in report.figures.jurors] == ["gpt-4.1-mini", "gpt-4o-mini"]
    assert report.figures.jurors[0].usage.calls == 4
    assert {entry.case.answer for entry in report.entries} == {case.answer for case in cases}


@pytest.mark.parametrize(("line", "told"), [("{}", "it has no verdict"), ("{", "not JSON")])
def test_a_line_that_is_no_result_is_named(tmp_path, line, told):
    path = tmp_path / "results.jsonl"
    path.write_text(line)
    with pytest.raises(InputError, match=f"line 1.*{told}"):
        Report.read(path)


def test_verdicts_alone_are_refused_with_the_way_to_a_file_of_results(tmp_path):
    path = tmp_path / "verdicts.jsonl"
    for judgment in (jury().judge(CASES[0]), jury().judge(CASES[0]).judgments[0]):
        path.write_text(judgment.to_json() + "\n")
        with pytest.raises(InputError, match=r"it has no verdict. It is a verdict alone.*write_results\("):
            Report.read(path)


def test_nothing_and_something_else_are_refused(tmp_path):
    with pytest.raises(ConfigurationError, match="nothing to report"):
        Report.from_results([])
    with pytest.raises(ConfigurationError, match="experiment; not str"):
        Report.from_results(["PASS"])
    with pytest.raises(InputError, match="no such store"):
        Report.read(tmp_path / "missing.db")


def test_agreement_says_why_where_there_is_none():
    assert "fewer than two jurors" in Report.from_results([Judgment("PASS")]).agreement.note
    assert Report.from_results(stream(jury(), CASES)).agreement.report.jurors == ("some", "more", "short")


@pytest.mark.parametrize(
    ("gold", "labelled", "note"),
    [("PASS", 4, ""), ("valid", 4, ""), ("fine", 0, "gold labels were left out: human labels are fine")],
)
def test_gold_labels_are_used_where_they_match_the_votes(gold, labelled, note):
    words = {True: "valid", False: "invalid"} if gold == "valid" else {}

    def judge(case):
        passed = bool(case.answer)
        return Judgment("PASS" if passed else "FAIL", label=words.get(passed))

    jurors = [Judge.from_function(judge, name=name) for name in "ab"]
    cases = [case.model_copy(update={"metadata": {"gold": gold}}) for case in CASES]
    found = Report.from_results(stream(Ensemble(jurors), cases)).agreement
    assert found.report.labelled == labelled
    assert note in found.note


def test_markdown_has_the_rate_the_jurors_and_what_changed():
    before = Report.from_results(stream(jury(), [*CASES[:3], CASES[0]]))
    after = Report.from_results(stream(jury(), CASES))
    text = after.to_markdown(compared=before.compare(after))
    assert "**75.0 % passed** (95 % interval 30.1 % to 95.4 %)" in text
    assert "| `some` | 4 | 75.0 % of 4 |" in text
    assert "What changed" not in text
    assert "Cases to look at first" in text


@pytest.mark.parametrize("attack", [*ATTACKS, "`a` | @team ![x](http://y) \\` <b>", "a\n\n# heading\n- @all"])
def test_markdown_keeps_untrusted_text_in_code_spans(attack):
    span = code(attack)
    assert span.count("`") == 2
    assert "\n" not in span
    assert "|" not in span.replace("\\|", "")
    report = hostile_report(attack)
    text = report.to_markdown(compared=hostile_report(attack, passing=False).compare(report))
    outside = "".join(part for line in text.split("\n") for part in line.split("`")[::2])
    assert "document" not in outside
    assert "@" not in outside


def test_importing_the_package_loads_neither_jinja_nor_rich_nor_numpy():
    told = "import sys, jury_adapters.report; print({'jinja2', 'rich', 'numpy', 'typer'} & set(sys.modules))"
    shown = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "set()"


WITHOUT = """
import sys
sys.modules["jinja2"] = sys.modules["rich"] = None  # as if they were not installed
from jury_adapters import Case, ConfigurationError
from jury_adapters.checks import Equals
from jury_adapters.report import Report
report = Report.from_results([Equals().judge(Case(answer="a", reference="a"))])
for make in (report.to_html, report.summary):
    try:
        make()
    except ConfigurationError as error:
        print(error)
"""


@pytest.mark.slow
def test_without_the_extra_every_part_that_needs_it_names_it():
    ran = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, timeout=60, check=True)
    assert ran.stdout.splitlines() == [
        needs_extra("the HTML report", "jinja2", "report"),
        needs_extra("the summary", "rich", "report"),
    ]
