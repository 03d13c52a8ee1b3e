"""`Report.write_results`: a run of Python is kept as a file that the commands read."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from jury_adapters import Case, ConfigurationError, Ensemble, Judgment, Report, Verdict, judge
from jury_adapters.cli.app import app


def short(case):
    return len(case.answer or "") < 12


def breaks_on_x(case):
    if "x" in (case.answer or ""):
        raise OSError("down")
    return True


JURY = Ensemble([short, breaks_on_x, lambda case: None], name="answers")
QUESTIONS = [f"When did line {number} open?" for number in range(6)]


def judged(answers, **more):
    rows = [
        {"id": f"q{at}", "question": QUESTIONS[at], "answer": answer, "topic": "lines", **more}
        for at, answer in enumerate(answers)
    ]
    return Report.from_results(JURY.judge_pairs([Case.from_row(row) for row in rows]), title="answers")


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)


def as_read(report):
    return [(one.case, one.judgment.to_dict(), one.item_id, one.key, one.unmet) for one in report.entries]


def rows_of(report):
    """Return the flat rows without the place of a case: a case without an id has a line only in a file."""
    return [{key: value for key, value in row.items() if key not in ("where", "line")} for row in report.to_rows()]


TEXTS = st.text(max_size=12)


@pytest.mark.slow
@given(st.lists(st.tuples(TEXTS, TEXTS, st.lists(TEXTS, max_size=2)), min_size=1, max_size=4))
def test_all_that_is_written_is_read_again(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("kept")
    cases = [Case(question=q, answer=a, contexts=c, metadata={"id": str(at)}) for at, (q, a, c) in enumerate(rows)]
    report = Report.from_results(JURY.judge_pairs(cases))
    report.write_results(folder / "run.jsonl", cases=folder / "cases.jsonl")

    again = Report.read(folder / "run.jsonl", cases=folder / "cases.jsonl")

    assert as_read(again) == as_read(report)
    assert rows_of(again) == rows_of(report)
    assert again.figures.summary.pass_interval == report.figures.summary.pass_interval


@pytest.mark.slow
def test_the_commands_read_it(tmp_path):
    judged(["In 1931.", "It was opened in 1931.", "In x.", "No.", "", "1"]).write_results(
        tmp_path / "a.jsonl", cases=tmp_path / "a_cases.jsonl"
    )
    judged(["In 1931.", "In 1932.", "In x.", "No.", "", "It was x."]).write_results(
        tmp_path / "b.jsonl", cases=tmp_path / "b_cases.jsonl"
    )

    labels = [{"id": f"q{at}", "gold": "right" if at % 2 else "wrong"} for at in range(6)]
    (tmp_path / "labels.jsonl").write_text("".join(json.dumps(label) + "\n" for label in labels))

    compared = json.loads(run("compare", tmp_path / "a.jsonl", tmp_path / "b.jsonl", "--json").stdout)
    report = run(
        "report", tmp_path / "a.jsonl", "--cases", tmp_path / "a_cases.jsonl", "--html", tmp_path / "page.html"
    )
    agreement = run("report", tmp_path / "a.jsonl", "--agreement")
    (tmp_path / "jury.yaml").write_text("voting: unanimous\njurors: [{recorded: short}, {recorded: breaks_on_x}]\n")
    replayed = run(
        "replay", tmp_path / "a.jsonl", "--jury", tmp_path / "jury.yaml", "--labels", tmp_path / "labels.jsonl",
        "--pass-label", "right",
    )  # fmt: skip

    assert compared["paired"] == 6
    assert {flip["where"] for flip in compared["flips"]} == {"q1", "q5"}
    assert report.exit_code == 0, report.output
    assert "It was opened in 1931." in (tmp_path / "page.html").read_text()
    assert agreement.exit_code == 0, agreement.output
    assert replayed.exit_code == 0, replayed.output


@judge
def says_ok(case):
    return "ok" in case.answer, "ok or not"


ANSWERS = {"a ok": "good", "b no": "bad", "c ok": "good"}
LABELLED = [
    Case(question=f"Question {at}?", answer=answer, metadata={"gold": gold, "document": f"d{at // 2}"})
    for at, (answer, gold) in enumerate(ANSWERS.items())
]


@pytest.mark.parametrize(
    "pairs",
    [
        list(says_ok.judge_pairs(LABELLED)),
        [(case, Ensemble([says_ok]).aggregate([says_ok.judge(case)])) for case in LABELLED],
    ],
    ids=["single judge", "verdicts that do not know their case"],
)
def test_labels_and_groups_are_kept_without_the_file_of_cases(tmp_path, pairs):
    report = Report.from_results(pairs, pass_labels=["good"])
    report.write_results(tmp_path / "run.jsonl", cases=tmp_path / "cases.jsonl")
    found = run("report", tmp_path / "run.jsonl", "--pass-label", "good", "--group", "document", "--json")
    assert found.exit_code == 0, found.output
    told = json.loads(found.stdout)
    assert (told["label_comparison"]["labelled_cases"], told["groups"], told["passed"]) == (3, 2, 2)
    again = Report.read(tmp_path / "run.jsonl")
    assert [one.judgment.status for one in again.entries] == [one.judgment.status for one in report.entries]


def test_the_outcome_of_a_single_judge_is_kept(tmp_path):
    outcomes = [True, (False, "no"), None, Judgment(None, label="KEEP")]

    @judge
    def one(case):
        if case.answer == "4":
            raise OSError("down")
        return outcomes[int(case.answer)]

    report = Report.from_results(one.judge_pairs([Case(answer=str(at)) for at in range(5)]))
    report.write_results(tmp_path / "run.jsonl", cases=tmp_path / "cases.jsonl")
    again = Report.read(tmp_path / "run.jsonl")
    assert [entry.judgment.judgments[0].to_dict() for entry in again.entries] == [
        entry.judgment.to_dict() for entry in report.entries
    ]
    names = ("status", "score", "label", "confidence", "reasoning", "error", "usage", "critic", "review_reasons")
    for kept, entry in zip(again.entries, report.entries, strict=True):
        for name in names:
            assert getattr(kept.judgment, name) == getattr(entry.judgment, name), name
    assert str(again.figures.summary).startswith(str(report.figures.summary))  # it also names the juror that broke


def test_verdicts_alone_are_kept_without_texts(tmp_path):
    report = Report.from_results(JURY.judge_many([{"id": "a", "answer": "In 1931."}, {"answer": "No."}]))
    report.write_results(tmp_path / "run.jsonl", cases=tmp_path / "cases.jsonl")

    again = Report.read(tmp_path / "run.jsonl")

    assert [(one.item_id, one.case, one.line) for one in again.entries] == [("a", None, None), (None, None, None)]
    assert (tmp_path / "cases.jsonl").read_bytes() == b""


def test_the_files_may_be_moved_together(tmp_path):
    (tmp_path / "old").mkdir()
    judged(["In 1931."]).write_results(tmp_path / "old" / "run.jsonl", cases=tmp_path / "old" / "cases.jsonl")
    (tmp_path / "old").rename(tmp_path / "new")

    new = tmp_path / "new"
    done = run("report", new / "run.jsonl", "--cases", new / "cases.jsonl", "--html", tmp_path / "page.html")

    assert done.exit_code == 0, done.output
    assert "In 1931." in (tmp_path / "page.html").read_text()


def test_an_earlier_file_is_kept_unless_it_may_be_replaced(tmp_path):
    judged(["In 1931."]).write_results(tmp_path / "run.jsonl", cases=tmp_path / "cases.jsonl")
    before = (tmp_path / "run.jsonl").read_bytes()

    with pytest.raises(ConfigurationError, match="exists already; give another name, or force=True"):
        judged(["In 1932."]).write_results(tmp_path / "run.jsonl")
    with pytest.raises(ConfigurationError, match=r"cases\.jsonl exists already"):
        judged(["In 1932."]).write_results(tmp_path / "other.jsonl", cases=tmp_path / "cases.jsonl")

    assert (tmp_path / "run.jsonl").read_bytes() == before
    assert not (tmp_path / "other.jsonl").exists()
    judged(["In 1932."]).write_results(tmp_path / "run.jsonl", cases=tmp_path / "cases.jsonl", force=True)
    assert b"1932" in (tmp_path / "cases.jsonl").read_bytes()


def test_a_report_may_replace_the_file_it_was_read_from(tmp_path):
    judged(["In 1931.", "No."]).write_results(tmp_path / "run.jsonl", cases=tmp_path / "cases.jsonl")
    report = Report.read(tmp_path / "run.jsonl", cases=tmp_path / "cases.jsonl")
    before = as_read(report)

    report.write_results(tmp_path / "run.jsonl", cases=tmp_path / "cases.jsonl", force=True)

    assert as_read(Report.read(tmp_path / "run.jsonl", cases=tmp_path / "cases.jsonl")) == before


@pytest.mark.parametrize(("path", "cases", "said"), [
    ("run.csv", None, "ends in .jsonl"),
    ("run.jsonl", "cases.json", "ends in .jsonl"),
    ("run.jsonl", "run.jsonl", "need two files"),
])  # fmt: skip
def test_wrong_names_are_refused_before_anything_is_written(tmp_path, path, cases, said):
    with pytest.raises(ConfigurationError, match=said):
        judged(["In 1931."]).write_results(tmp_path / path, cases=None if cases is None else tmp_path / cases)

    assert not list(tmp_path.iterdir())


def test_an_interrupted_write_leaves_nothing(tmp_path, monkeypatch):
    report = judged(["In 1931.", "No."])
    last = report.entries[-1].judgment

    class Stopped(Verdict):
        def to_dict(self):
            raise KeyboardInterrupt

    broken = Report([*report.entries[:-1], type(report.entries[-1])(1, Stopped("PASS", reasoning=last.reasoning))])
    with pytest.raises(KeyboardInterrupt):
        broken.write_results(tmp_path / "run.jsonl", cases=tmp_path / "cases.jsonl")

    assert not list(tmp_path.iterdir())


def test_pass_labels_are_kept(tmp_path):
    pairs = list(
        JURY.judge_pairs([{"answer": "In 1931.", "gold": "right"}, {"answer": "x y z 1 2 3", "gold": "wrong"}])
    )
    report = Report.from_results(pairs, pass_labels=["right"])
    report.write_results(tmp_path / "run.jsonl", cases=tmp_path / "cases.jsonl")

    assert Report.read(tmp_path / "run.jsonl", cases=tmp_path / "cases.jsonl").pass_labels == ("right",)
