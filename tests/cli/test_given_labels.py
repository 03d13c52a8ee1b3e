"""A label belongs to the answer that was labelled: two systems may answer the same questions under the same ids."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from jury_adapters import Report
from jury_adapters.checks import NotEmpty
from jury_adapters.cli.app import app
from jury_adapters.cli.given_labels import GivenLabels
from jury_adapters.core.case import Case

QUESTIONS = range(12)


def answers(bot):
    """Answers of a bot; every third is the same for both."""
    return [
        {"id": f"q{n}", "question": f"What is {n}?", "answer": f"It is {n}." if n % 3 == 0 else f"{bot} says {n}."}
        for n in QUESTIONS
    ]


def run(*arguments, given=""):
    return CliRunner().invoke(app, [str(one) for one in arguments], input=given, catch_exceptions=False)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "jury.yaml").write_text("jurors:\n  - {check: not_empty}\n  - {check: contains, texts: [It]}\n")
    for bot in "ab":
        (tmp_path / f"{bot}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in answers(bot)))
        assert run("judge", f"{bot}.jsonl", "--jury", "jury.yaml", "--out", f"{bot}.out.jsonl").exit_code == 0
    return tmp_path


def human(bot, *more):
    """Return what `jury report --json` says of the human labels of a bot's answers."""
    done = run("report", f"{bot}.out.jsonl", "--labels", "labels.jsonl", "--json", *more)
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)["label_comparison"]["labels"], done.stderr


@pytest.mark.slow
def test_reviews_of_two_systems_in_one_file_are_told_apart(folder):
    for bot, said in (("a", "p"), ("b", "f")):
        given = f"{said}\n" * len(QUESTIONS)
        done = run(
            "review", f"{bot}.out.jsonl", "--only", "all", "--by", "ben", "--labels", "labels.jsonl", given=given
        )
        assert done.exit_code == 0, done.output
    # The answers that are the same for both were passed first; they have one label.
    assert human("a")[0] == {"PASS": 12}
    labels, _ = human("b")
    assert labels["FAIL"] == 8


@pytest.mark.slow
@pytest.mark.parametrize("command", ["report", "agreement", "replay", "calibrate"])
def test_rows_with_answers_of_two_systems_are_told_apart(folder, command):
    rows = [
        {**row, "gold": "good" if bot == "a" else "bad"}
        for bot in "ab"
        for row in answers(bot)
        if int(row["id"][1:]) % 3 or bot == "a"
    ]
    (folder / "labels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    options = ["--labels", "labels.jsonl", "--pass-label", "good"]
    if command == "report":
        labels, messages = human("a", "--pass-label", "good")
        assert labels == {"good": 12}
        assert "8 of 20 labels of labels.jsonl belong to no case of a.out.jsonl, such as that of q1" in messages
        return
    arguments = {
        "agreement": ["report", "a.out.jsonl", "--agreement", "--draws", 100, *options],
        "replay": ["replay", "a.out.jsonl", "--jury", "jury.yaml", *options],
        "calibrate": ["calibrate", "a.jsonl", "--jury", "jury.yaml", "--agreement", 0.8, *options],
    }[command]
    done = run(*arguments)
    assert "8 of 20 labels of labels.jsonl belong to no case of a" in done.stderr
    assert " bad" not in done.stdout


@pytest.mark.parametrize("command", [["report"], ["report", "--agreement", "--draws", 100], ["replay"]])
def test_labels_in_the_metadata_of_kept_cases_are_read(folder, command):
    verdicts = []
    for row in answers("a"):
        given = {"id": row["id"], "gold": "good" if row["id"] > "q5" else "bad", "document": "a.txt"}
        case = Case(question=row["question"], answer=row["answer"], metadata=given)
        verdicts.append((case, NotEmpty().judge(case)))
    Report.from_results(verdicts).write_results("kept.jsonl", cases="kept_cases.jsonl")
    (folder / "again.yaml").write_text("jurors: [{recorded: NotEmpty}]")
    options = ["--jury", "again.yaml"] if command == ["replay"] else []
    done = run(*command, "kept.jsonl", *options, "--labels", "kept_cases.jsonl", "--pass-label", "good")
    assert done.exit_code == 0, done.stderr
    assert "pass 4 (good) and fail 8 (bad)" in " ".join(done.stdout.split())


def test_a_column_without_labels_is_told_apart_from_those_of_the_metadata(folder):
    (folder / "labels.jsonl").write_text(json.dumps({"answer": "It is 0.", "metadata": {"id": "q0", "rating": "good"}}))
    done = run("report", "a.out.jsonl", "--labels", "labels.jsonl")
    assert "name it with --label-column. There are: answer, id, metadata, rating" in done.stderr
    assert run("report", "a.out.jsonl", "--labels", "labels.jsonl", "--label-column", "rating").exit_code == 0


def test_labels_that_match_no_case_are_counted(folder):
    rows = [{"id": f"q{n}" if n < 9 else f"typo{n}", "gold": "PASS" if n % 2 else "FAIL"} for n in QUESTIONS]
    (folder / "labels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    labels, messages = human("a")
    assert sum(labels.values()) == 9
    assert "3 of 12 labels of labels.jsonl belong to no case of a.out.jsonl, such as that of typo9" in messages


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ([], ""),
        (
            [{"id": "q99", "gold": "FAIL", "answer": "Nobody was asked."}],
            "1 of 21 labels of labels.jsonl belongs to no case of a.out.jsonl and none of b.out.jsonl, such as that of "
            "q99",
        ),
    ],
)
def test_labels_of_the_run_that_a_report_is_compared_with_are_known(folder, more, said):
    rows = {(row["id"], row["answer"]): {**row, "gold": "PASS"} for bot in "ab" for row in answers(bot)}
    (folder / "labels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in [*rows.values(), *more]))
    done = run("report", "a.out.jsonl", "--compare", "b.out.jsonl", "--labels", "labels.jsonl")
    assert done.exit_code == 0, done.output
    told = " ".join(done.stderr.split())
    assert said in told
    assert ("belong" in told) == bool(said)
    alone = run("report", "a.out.jsonl", "--labels", "labels.jsonl").stderr
    assert "belong to no case of a.out.jsonl, such as" in " ".join(alone.split())


def labels_of(tmp_path, *rows):
    (tmp_path / "labels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return GivenLabels(tmp_path / "labels.jsonl")


def found(labels, **row):
    case = Case.from_row(row)
    return labels.of(item_id=case.item_id, line=row.get("line"), key=case.content_hash, answer=case.answer or "")


def test_what_a_label_is_found_by(tmp_path):
    labels = labels_of(
        tmp_path,
        {"id": "1", "answer": "Yes.", "gold": "PASS"},
        {"id": "1", "answer": "No.", "gold": "FAIL"},
        {"id": "2", "gold": "PASS"},
        {"question": "Which?", "answer": "That.", "gold": "FAIL"},
    )
    assert found(labels, id="1", answer="Yes.") == "PASS"
    assert found(labels, id="1", answer="No. ", contexts=["more than the labels have"]) == "FAIL"
    assert found(labels, id="1", answer="Perhaps.") is None
    assert found(labels, id="3", answer="Yes.") is None  # the same content under another id is another item
    assert found(labels, answer="Yes.") == "PASS"
    assert found(labels, id="2", answer="Whatever.") == "PASS"
    assert found(labels, id="9", question="Which?", answer="That.") == "FAIL"  # the label names no id
    assert labels.of(item_id="1", line=None, key=None, answer=None) is None  # whose answer is not known
    assert labels.of(item_id="2", line=None, key=None, answer=None) == "PASS"


def test_one_answer_with_two_labels_is_refused(tmp_path):
    with pytest.raises(Exception, match="line 2: 1 has the labels PASS and FAIL; an answer has one label"):
        labels_of(
            tmp_path, {"id": "1", "answer": "Yes.", "gold": "PASS"}, {"id": "1", "answer": "Yes.", "gold": "FAIL"}
        )


def test_a_report_corrects_its_comparison_by_labels_of_both_systems(folder):
    rows = [{**row, "gold": "FAIL" if system == "a" and at % 3 == 1 else "PASS"} for system in "ab"
            for at, row in enumerate(answers(system))]  # fmt: skip
    (folder / "labels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    told = run("compare", "a.out.jsonl", "b.out.jsonl", "--labels", "labels.jsonl", "--json")
    corrected = json.loads(told.stdout)["corrected"]
    assert corrected["value"] is not None
    compared = ["report", "b.out.jsonl", "--compare", "a.out.jsonl", "--labels", "labels.jsonl"]
    done = run(*compared, "--html", "page.html")
    assert done.exit_code == 0, done.output
    assert corrected["sentence"] in done.stdout
    assert "do not correct" not in done.stderr
    page = " ".join((folder / "page.html").read_text().split())
    assert corrected["sentence"] in page
    assert "do not correct" not in page
    assert json.loads(run(*compared, "--json").stdout)["compared"]["corrected"] == corrected


@pytest.mark.slow
def test_a_report_says_that_its_labels_do_not_correct_the_comparison(folder):
    rows = [{**row, "gold": "PASS"} for row in answers("b")]
    (folder / "labels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    compared = ["report", "b.out.jsonl", "--compare", "a.out.jsonl", "--html", "page.html", "--force"]
    done = run(*compared, "--labels", "labels.jsonl")
    why = "The labels do not correct the difference: both answers are the same in "
    assert why in done.stdout
    assert why in (folder / "page.html").read_text()
    plain = run(*compared)
    assert "correct" not in plain.stderr
    assert "do not correct" not in (folder / "page.html").read_text()


def reviewed(*answers_of):
    """Let people label the answers of bot a, in the order in which they are asked about them."""
    for by, given in answers_of:
        done = run("review", "a.out.jsonl", "--only", "all", "--by", by, "--labels", "labels.jsonl", given=given)
        assert done.exit_code == 0, done.output


@pytest.mark.slow
def test_cases_on_which_reviewers_contradict_each_other_are_named_and_counted(folder):
    reviewed(("ann", "p\n" * 6 + "f\n" * 6), ("bob", "p\n" * 5 + "f\n" * 6 + "p\n"))
    labels, messages = human("a")
    assert labels == {"PASS": 5, "FAIL": 5}
    assert "labels.jsonl: 2 cases have contradicting labels (" in messages
    assert "ann PASS, bob FAIL" in messages
    assert "are left out; one more reviewer settles it: jury review RESULTS --only all --by NAME" in messages
    note = (
        "2 cases are left out because reviewers contradict each other, so the figures are of the cases on which they "
        "agree; one more reviewer settles the others."
    )
    for more in ([], ["--agreement", "--draws", 100]):
        done = run("report", "a.out.jsonl", "--labels", "labels.jsonl", "--json", *more)
        against = json.loads(done.stdout)["label_comparison"]
        assert (against["contradicting"], against["labelled_cases"]) == (2, 10)
        assert note in against["notes"]
        assert "2 cases have contradicting labels" in done.stderr
    assert note in " ".join(run("report", "a.out.jsonl", "--labels", "labels.jsonl").stdout.split())
    done = run("calibrate", "a.jsonl", "--jury", "jury.yaml", "--agreement", 0.8, "--labels", "labels.jsonl")
    assert "2 cases have contradicting labels" in done.stderr
    assert "have no label" not in done.stderr


@pytest.fixture
def many(tmp_path, monkeypatch):
    """Sixty cases, half of which the jury passes, of which bob contradicts ann on every third."""
    monkeypatch.chdir(tmp_path)
    rows = [{"id": f"q{n}", "answer": f"In {2018 + n % 2}, {n}."} for n in range(60)]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "jury.yaml").write_text("jurors: [{check: contains, texts: ['2018']}, {check: not_empty}]\n")
    assert run("judge", "a.jsonl", "--jury", "jury.yaml", "--out", "a.out.jsonl", "-q").exit_code == 0
    reviewed(("ann", "p\n" * 60), ("bob", "p\np\nf\n" * 20))
    return tmp_path


@pytest.mark.slow
def test_a_guarantee_names_the_cases_on_which_reviewers_contradict_each_other(many):
    (many / "jury.yaml").write_text("jurors: [{check: not_empty}, {check: contains, texts: [In]}]\n")
    calibrate = ["calibrate", "labels.jsonl", "--jury", "jury.yaml", "--agreement", 0.9]
    done = run(*calibrate, "--out", "calibrated.yaml")
    assert done.exit_code == 0, done.stderr
    shown = " ".join(done.stdout.split())
    left_out = (
        "20 labelled cases on which reviewers contradict each other are left out, and the guarantee does not cover"
    )
    assert left_out in shown
    assert "100.0 % of the cases on which reviewers agree are decided" in shown
    assert "cases on which reviewers contradict each other, any group of cases" in shown
    assert json.loads(run(*calibrate, "--json").stdout)["contradicting"] == 20
    assert "contradicting: 20" in (many / "calibrated.yaml").read_text()
    judged = run("judge", "a.jsonl", "--jury", "calibrated.yaml", "--out", "b.jsonl")
    assert "without 20 on which reviewers contradict each other" in " ".join((judged.stdout + judged.stderr).split())
    again = run("review", "a.out.jsonl", "--only", "all", "--by", "bob", "--labels", "labels.jsonl")
    assert "settle these first, then: jury calibrate labels.jsonl" in " ".join(again.stdout.split())
    assert "how far reviewers agree: jury report labels.jsonl --agreement" in again.stdout


def test_labels_without_contradicted_ones_do_not_correct_the_pass_rate(many):
    """Bob fails every third case, so human labels pass all cases that are left."""
    measured = run("report", "a.out.jsonl", "--labels", "labels.jsonl", "--agreement", "--draws", 100)
    refused = (
        "Human labels do not correct the pass rate: reviewers contradict each other on 20 of the 60 labelled items "
        "(33.3 %), and the 40 on which they agree are not a random sample; let one more reviewer settle the others."
    )
    assert refused in measured.stdout
    assert "others.." not in measured.stdout
    assert run("report", "a.out.jsonl", "--labels", "labels.jsonl", "--html", "page.html").exit_code == 0
    page = " ".join((many / "page.html").read_text().split())
    assert refused in page
    reviewed(("eve", "p\np\nf\n" * 19 + "p\n"))  # settles all but the last one
    measured = run("report", "a.out.jsonl", "--labels", "labels.jsonl", "--agreement", "--draws", 100)
    assert run("report", "a.out.jsonl", "--labels", "labels.jsonl", "--html", "page.html").exit_code == 0
    note = "1 labelled item on which reviewers contradict each other is left out; the interval allows for any label of"
    for shown in (measured.stdout, " ".join((many / "page.html").read_text().split())):
        assert "Human labels would pass about 67.8 %" in shown
        assert note in shown


@pytest.mark.slow
def test_a_report_says_how_far_reviewers_agree(many):
    done = run("report", "labels.jsonl", "--agreement", "--draws", 100, "--json")
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["items"], found["jurors"]) == (60, ["ann", "bob"])
    values = {one["name"]: one["value"] for one in found["sections"]["Agreement"]}
    assert round(values["raw agreement"], 3) == 0.667
    refused = run("report", "labels.jsonl", "--agreement", "--labels", "labels.jsonl")
    assert refused.exit_code == 2
    assert "compared with each other; leave out --labels" in refused.stderr


@pytest.mark.slow
def test_a_report_says_that_labels_of_contested_cases_are_not_a_fair_sample(many):
    (many / "contested.jsonl").write_text("")
    reviewed_only = ["review", "a.out.jsonl", "--only", "contested", "--by", "ann", "--labels", "contested.jsonl"]
    assert run(*reviewed_only, given="p\nf\np\np\n" * 10).exit_code == 0
    note = "Labels of contested cases are not a fair sample"
    plain = run("report", "a.out.jsonl", "--labels", "contested.jsonl")
    assert note in " ".join(plain.stdout.split())
    measured = run("report", "a.out.jsonl", "--labels", "contested.jsonl", "--agreement", "--draws", 100, "--json")
    found = json.loads(measured.stdout)
    assert note in found["in_short"][1]
    assert note not in run("report", "a.out.jsonl", "--labels", "labels.jsonl").stdout


@pytest.mark.slow
def test_labels_that_all_contradict_each_other_are_refused(folder):
    reviewed(("ann", "p\n" * 2), ("bob", "f\n" * 2))
    done = run("report", "a.out.jsonl", "--labels", "labels.jsonl")
    assert done.exit_code == 2
    assert "2 cases have contradicting labels" in done.stderr
    assert "no other case of a.out.jsonl has a label" in done.stderr


@pytest.mark.parametrize("command", ["report", "agreement", "replay", "calibrate"])
def test_a_label_of_an_id_that_two_different_cases_have_is_refused(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    answers = [("1", "It was in 2018."), ("1", "It was in 2019."), ("2", "It was in 2018.")]
    Path("d.jsonl").write_text(
        "".join(json.dumps({"id": one, "question": "q", "answer": a}) + "\n" for one, a in answers)
    )
    Path("j.yaml").write_text("jurors: [{check: not_empty}, {check: length_between, maximum: 90}]\n")
    Path("l.csv").write_text("id,gold\n1,ok\n2,bad\n")
    assert CliRunner().invoke(app, ["judge", "d.jsonl", "--jury", "j.yaml", "--out", "r.jsonl", "-q"]).exit_code == 0
    options = ["--labels", "l.csv", "--pass-label", "ok"]
    arguments = {
        "report": ["report", "r.jsonl"], "agreement": ["report", "--agreement", "r.jsonl"],
        "replay": ["replay", "r.jsonl", "--jury", "j.yaml"], "calibrate": ["calibrate", "d.jsonl", "--jury", "j.yaml"],
    }  # fmt: skip
    done = CliRunner().invoke(app, [*arguments[command], *options])
    assert done.exit_code == 2
    assert "the label of '1' belongs to several cases of" in done.stderr
    assert "add the answer to the row of the label" in done.stderr


@pytest.mark.slow
def test_labels_of_equal_content_under_other_ids_say_so_and_count_without_their_ids(folder):
    rows = [{**row, "id": f"other-{row['id']}", "gold": "PASS"} for row in answers("a")]
    labels = folder / "labels.jsonl"
    labels.write_text("".join(json.dumps(row) + "\n" for row in rows))
    for command in (("report", "a.out.jsonl"), ("compare", "b.out.jsonl", "a.out.jsonl")):
        done = run(*command, "--labels", "labels.jsonl")
        assert done.exit_code == 2
        assert "under another id, which is another item; give the labels the ids of the" in done.stderr
    labels.write_text(labels.read_text() + json.dumps({**answers("a")[0], "gold": "PASS"}) + "\n")
    assert "such as that of other-q0: a case has the same content under another id" in human("a")[1]
    for row in rows:
        del row["id"]
    labels.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert human("a")[0] == {"PASS": 12}
