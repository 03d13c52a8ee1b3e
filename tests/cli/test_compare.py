"""``jury compare``: two systems that answer the same questions, judged by one jury, and labelled in part."""

import csv
import json
import random
import re
import shlex
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from jury_adapters import Report
from jury_adapters.cli.app import app
from jury_adapters.core.installation import needs_extra
from tests.support.scripts import run_script

JURY = 'jurors: [{check: contains, texts: ["2018"]}]\n'


def run(*arguments, typed=""):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=typed, catch_exceptions=False)


def compared(*arguments):
    done = run("compare", *arguments)
    assert done.exit_code == 0, done.output
    return done.stdout


def refused(*arguments):
    done = run("compare", *arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    return done.stderr


def answers(system, share, questions=120):
    """Of the answers with the year, people find all of a's right, and of b's every other: b guesses."""
    chance = random.Random(system)
    for at in range(questions):
        year = chance.random() < share
        text = "It opened in 2018." if year else "It opened a while ago."
        yield {
            "id": f"q{at}",
            "question": f"When did line {at} open?",
            "answer": text if system == "a" else f"{text} I think.",
            "meta": {"line": at // 4},
            "gold": "right" if year and (system == "a" or at % 2) else "wrong",
        }


def written(path, rows):
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """A folder with both systems judged."""
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(made := tmp_path_factory.mktemp("judged"))
        judge_both()
    return made


@pytest.fixture(autouse=True)
def folder(judged, tmp_path, monkeypatch):
    shutil.copytree(judged, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def judge_both():
    Path("jury.yaml").write_text(JURY)
    for system, share in (("a", 0.6), ("b", 0.85)):
        written(Path(f"{system}_answers.jsonl"), answers(system, share))
        done = run("judge", f"{system}_answers.jsonl", "--jury", "jury.yaml", "--out", f"{system}.jsonl")
        assert done.exit_code == 0, done.output
    labels = [row for system, share in (("a", 0.6), ("b", 0.85)) for row in [*answers(system, share)][:60]]
    written(Path("labels.jsonl"), labels)


LABELS = ("--labels", "labels.jsonl", "--pass-label", "right")


def test_the_difference_its_direction_and_both_names():
    told = [line for line in compared("a.jsonl", "b.jsonl").splitlines() if "human labels" not in line]
    assert told[:2] == ["a: a.jsonl", "b: b.jsonl"]
    assert re.match(
        r"120 cases in both runs: a passes \d\d\.\d %, b \d\d\.\d %; \d+ pass in b only, \d+ in a only\.$", told[2]
    )
    assert re.match(
        r"b passes .* more cases than a \(b minus a, 95 % interval .*exact McNemar test, p .*: b is better", told[3]
    )
    assert re.match(r"  q\d+: FAIL -> PASS \(the answer changed; Contains: FAIL -> PASS\)$", told[4])
    assert told[6:8] == ["    answer of a: It opened a while ago.", "    answer of b: It opened in 2018. I think."]
    back = compared("b.jsonl", "a.jsonl")
    assert "a: b.jsonl\nb: a.jsonl\n" in back
    assert "fewer cases than a (b minus a" in back
    assert "a is better" in back


@pytest.mark.slow
def test_labels_show_that_the_jury_favours_b():
    told = json.loads(compared("a.jsonl", "b.jsonl", *LABELS, "--json"))
    assert told["interval"][0] > 0
    assert told["corrected"]["value"] < 0
    assert told["corrected"]["details"]["labelled"] == 60
    assert told["unmatched_labels"] == 0
    shown = compared("a.jsonl", "b.jsonl", *LABELS)
    assert told["corrected"]["sentence"] in shown
    assert "b is better" not in shown
    grouped = json.loads(compared("a.jsonl", "b.jsonl", *LABELS, "--group", "meta.line", "--json"))
    assert grouped["corrected"]["value"] == told["corrected"]["value"]
    assert grouped["p_value"] is not None
    assert grouped["groups"] == grouped["found"]["details"]["groups"] == 30


@pytest.mark.slow
def test_json_and_markdown_say_the_same():
    told = json.loads(compared("a.jsonl", "b.jsonl", "--json"))
    assert (told["before"], told["after"], told["direction"]) == ("a.jsonl", "b.jsonl", "after minus before")
    assert (told["a"], told["b"]) == ("a.jsonl", "b.jsonl")  # the sentences call them a and b
    assert told["difference"] == pytest.approx(told["rate_after"] - told["rate_before"])
    markdown = compared("a.jsonl", "b.jsonl", "--markdown")
    assert markdown.startswith("### Jury comparison\n\na: `a.jsonl` · b: `b.jsonl`\n")
    assert f"- {told['sentence']}\n" in markdown
    assert f"- {told['sentence']}\n" in run("report", "b.jsonl", "--compare", "a.jsonl", "--markdown").stdout
    assert "give one of them" in refused("a.jsonl", "b.jsonl", "--markdown", "--json")


@pytest.mark.slow
def test_a_report_adds_the_same_comparison():
    alone = compared("a.jsonl", "b.jsonl")
    assert run("report", "b.jsonl", "--compare", "a.jsonl").stdout.endswith(f"\n{alone}")
    told = json.loads(run("report", "b.jsonl", "--compare", "a.jsonl", "--json").stdout)["compared"]
    assert told == json.loads(compared("a.jsonl", "b.jsonl", "--json"))


@pytest.mark.slow
def test_labels_of_jury_review_for_both_systems_in_one_file():
    for system in "ab":
        done = run("review", f"{system}.jsonl", "--by", "ann", "--only", "all", "--limit", 15,
                   "--labels", "people.jsonl", typed="p\n" * 10 + "f\n" * 4 + "u\n")  # fmt: skip
        assert done.exit_code == 0, done.output
    told = json.loads(compared("a.jsonl", "b.jsonl", "--labels", "people.jsonl", "--json"))
    assert told["corrected"]["details"]["labelled"] + told["corrected"]["details"]["labelled_once"] > 0
    assert told["unmatched_labels"] == 0


@pytest.mark.slow
def test_labels_without_the_question_as_a_table():
    rows = [json.loads(line) for line in Path("labels.jsonl").read_text().splitlines()]
    with Path("labels.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["id", "answer", "verdict of ann"])
        table.writerows([row["id"], row["answer"], row["gold"]] for row in rows)
    found = compared("a.jsonl", "b.jsonl", "--labels", "labels.csv", "--label-column", "verdict of ann",
                     "--pass-label", "right", "--json")  # fmt: skip
    assert json.loads(found)["corrected"] == json.loads(compared("a.jsonl", "b.jsonl", *LABELS, "--json"))["corrected"]


@pytest.mark.slow
def test_labels_are_read_as_the_cases_were():
    for system, share in (("a", 0.6), ("b", 0.85)):
        rows = [{"id": row["id"], "reply": row["answer"], "gold": row["gold"]} for row in answers(system, share)]
        written(Path(f"{system}_replies.jsonl"), rows)
        done = run("judge", f"{system}_replies.jsonl", "--jury", "jury.yaml", "--map", "answer=reply",
                   "--out", f"{system}_mapped.jsonl")  # fmt: skip
        assert done.exit_code == 0, done.output
    Path("replies.jsonl").write_text(Path("a_replies.jsonl").read_text() + Path("b_replies.jsonl").read_text())
    told = json.loads(compared("a_mapped.jsonl", "b_mapped.jsonl", "--labels", "replies.jsonl", "--pass-label", "right",
                               "--json"))  # fmt: skip
    assert told["corrected"]["details"]["labelled"] == 120
    assert "lam" in told["corrected"]["details"]


@pytest.mark.slow
def test_different_questions_are_independent_samples():
    written(Path("other_answers.jsonl"), ({**row, "id": f"other {row['id']}"} for row in answers("b", 0.85, 80)))
    assert run("judge", "other_answers.jsonl", "--jury", "jury.yaml", "--out", "other.jsonl").exit_code == 0
    told = compared("a.jsonl", "other.jsonl")
    assert "No case is in both runs, so 120 cases of a and 80 of b are compared as independent samples" in told
    assert "McNemar" not in told
    assert "give both answers to a question the same id" in refused("a.jsonl", "other.jsonl", *LABELS)
    told = compared("a.jsonl", "other.jsonl", "--group", "meta.line")
    assert ", 30 groups:" in told
    assert "the items of b come from 20 groups only, so the interval is rough" in told
    assert "20 groups are in a and in b, so the interval is wider than it needs to be" in told
    assert "has no meta.page, the field that groups" in refused("a.jsonl", "other.jsonl", "--group", "meta.page")


@pytest.mark.slow
def test_files_and_reports_in_memory_are_compared_alike():
    files = [Report.read(f"{name}.jsonl", cases=f"{name}_answers.jsonl") for name in "ab"]
    memory = [Report(report.entries, title=report.title) for report in files]
    labels = [json.loads(line) for line in Path("labels.jsonl").read_text().splitlines()]
    for options in ({}, {"group": "item_id"}, {"labels": labels, "pass_labels": ["right"]}):
        first, second = (a.compare(b, **options) for a, b in (files, memory))
        assert first == second
        assert first.flips
        assert all(flip.texts for flip in first.flips)


def test_cases_of_one_file_only_are_counted():
    rows = Path("b.jsonl").read_text().splitlines(keepends=True)
    Path("part.jsonl").write_text("".join(rows[:100]))
    told = compared("a.jsonl", "part.jsonl")
    assert "100 cases in both runs" in told
    assert "20 cases are in a only and 0 in b only; they are left out." in told


def test_files_of_one_name_are_told_apart():
    for system in "ab":
        Path(system).mkdir()
        Path(system, "results.jsonl").write_text(Path(f"{system}.jsonl").read_text())
    assert compared(Path("a", "results.jsonl"), Path("b", "results.jsonl")).startswith(
        f"a: {Path('a', 'results.jsonl')}\nb: {Path('b', 'results.jsonl')}\n"
    )


@pytest.mark.slow
def test_two_juries_of_the_same_answers():
    Path("lenient.yaml").write_text("jurors: [{check: not_empty}]\n")
    assert run("judge", "a_answers.jsonl", "--jury", "lenient.yaml", "--out", "lenient.jsonl").exit_code == 0
    told = compared("a.jsonl", "lenient.jsonl")
    assert "Both judged the same answers" in told
    assert "b is the more lenient jury." in told
    assert "both runs judged the same answers" in refused("a.jsonl", "lenient.jsonl", *LABELS)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.jsonl", "nowhere.jsonl"], "nowhere.jsonl: No such file"),
        (["a.jsonl", "empty.jsonl"], "empty.jsonl: there are no results in it"),
        (["a.jsonl", "b_answers.jsonl"], "b_answers.jsonl, line 1: not a line that jury judge --out wrote"),
        (["a.jsonl", "b.jsonl", "--labels", "nowhere.jsonl"], "nowhere.jsonl: No such file"),
        (
            ["a.jsonl", "b.jsonl", "--labels", "labels.jsonl"],
            "human labels are right 61, wrong 59, and the jury says PASS and FAIL; name those",
        ),
        (["a.jsonl", "b.jsonl", "--labels", "labels.jsonl", "--pass-label", "rigth"], "did you mean 'right'?"),
        (["a.jsonl", "b.jsonl", "--labels", "labels.jsonl", "--label-column", "said"], "name it with --label-column"),
        (["a.jsonl", "b.jsonl", "--labels", "a.jsonl"], "a.jsonl"),
        (["a.jsonl", "b.jsonl", "--pass-label", "right"], "give that file too"),
        (["a.jsonl", "b.jsonl", "--group", "meta.page"], "has no meta.page"),
    ],
)
def test_mistakes(arguments, message):
    Path("empty.jsonl").write_text("")
    assert message in refused(*arguments)


def test_contradicting_labels_of_an_answer_are_counted_in_a_warning():
    rows = [json.loads(line) for line in Path("labels.jsonl").read_text().splitlines()]
    assert "contradict" not in compared("a.jsonl", "b.jsonl", *LABELS)
    written(Path("labels.jsonl"), [*rows, {**rows[0], "gold": "no idea"}])
    said = compared("a.jsonl", "b.jsonl", *LABELS)
    assert "1 answer has human labels that contradict each other" in said


@pytest.mark.slow
def test_hostile_labels_and_groups_are_inert():
    rows = [json.loads(line) for line in Path("labels.jsonl").read_text().splitlines()]
    written(Path("labels.jsonl"), [{**rows[0], "gold": "\x1b[2Jright\u202e"}, *rows[1:]])
    assert "\x1b" not in refused("a.jsonl", "b.jsonl", "--labels", "labels.jsonl")
    assert "\x1b" not in refused("a.jsonl", "b.jsonl", "--group", "meta.\x1b[2J")


@pytest.mark.slow
def test_cases_that_are_gone_have_no_groups_and_no_texts():
    Path("a_answers.jsonl").unlink()
    Path("b_answers.jsonl").unlink()
    assert "answer of" not in compared("a.jsonl", "b.jsonl")
    assert "only the metadata in its verdict" in refused("a.jsonl", "b.jsonl", "--group", "question")


@pytest.mark.slow
def test_the_run_whose_group_is_not_known_is_the_one_that_is_named():
    run("judge", "a_answers.jsonl", "--jury", "jury.yaml", "--out", "grouped.jsonl", "--group", "question")
    Path("a_answers.jsonl").unlink()
    for files in (("grouped.jsonl", "b.jsonl"), ("b.jsonl", "grouped.jsonl")):
        told = run("compare", *files).stderr
        assert "grouped.jsonl: the run was grouped by question, which is not in the results" in told
        assert "b.jsonl: the run" not in told


@pytest.mark.slow
def test_without_numpy_the_plain_difference_is_there():
    code = f"""
    import sys
    sys.modules["numpy"] = None
    from jury_adapters.cli import main
    for more in ((), {LABELS}):
        sys.argv = ["jury", "compare", "a.jsonl", "b.jsonl", *more]
        try:
            main()
        except SystemExit as left:
            print("left with", int(left.code), file=sys.stderr)
    """
    done = run_script(code)
    assert (done.code, done.out) == (0, compared("a.jsonl", "b.jsonl"))
    plain, said, labelled = done.err.splitlines()
    assert (plain, labelled) == ("left with 0", "left with 2")
    assert needs_extra("", "NumPy", "stats") in said


# Labels of both systems in a file each, as exports are


@pytest.fixture
def exports(folder):
    """Both systems give the same answer to half of the questions; people labelled all answers of both, in two files."""
    for system, right in (("a", 0.4), ("b", 0.8)):
        chance = random.Random(system)
        rows = []
        for at in range(120):
            good = at % 4 == 0 if at % 2 == 0 else chance.random() < right
            rows.append(
                {
                    "id": f"q{at}",
                    "question": f"When did line {at} open?",
                    "answer": f"In {2018 if good else 2017}." if at % 2 == 0 else f"{system}: {2018 if good else 2017}",
                    "rating": "good" if good else "bad",
                }
            )
        written(Path(f"export_{system}.jsonl"), rows)
        labels = ("--label-column", "rating", "--pass-label", "good")
        run("judge", f"export_{system}.jsonl", "--jury", "jury.yaml", *labels, "--out", f"{system}.jsonl", "--force")
    return folder


@pytest.mark.slow
def test_a_file_of_labels_for_each_system(exports):
    said = compared("a.jsonl", "b.jsonl", "--labels", "export_a.jsonl", "--labels", "export_b.jsonl",
                    "--label-column", "rating")  # fmt: skip
    assert "Corrected by human labels of 120 cases: b passes 22.5 percentage points more cases than a" in said
    assert "one answer only" not in said


@pytest.mark.slow
@pytest.mark.parametrize("system", "ab")
def test_labels_of_one_system_alone_do_not_correct(exports, system):
    """They label both answers where these are equal, and nowhere else."""
    said = compared("a.jsonl", "b.jsonl", "--labels", f"export_{system}.jsonl", "--label-column", "rating")
    assert "Corrected" not in said
    assert (
        "The labels do not correct the difference: both answers are the same in 60 of 60 cases with both labels, and "
        "in 0 of the 60 others, so the labelled cases are not a random sample; label both answers of a random part of "
        "the cases (jury review --sample N, on the results of both systems)."
    ) in said


@pytest.mark.slow
def test_labels_of_a_random_part_correct(exports):
    chance = random.Random(3)
    picked = {f"q{at}" for at in chance.sample(range(120), 40)}
    for system in "ab":
        rows = map(json.loads, Path(f"export_{system}.jsonl").read_text().splitlines())
        written(Path(f"part_{system}.jsonl"), [row for row in rows if row["id"] in picked])
    said = compared("a.jsonl", "b.jsonl", "--labels", "part_a.jsonl", "--labels", "part_b.jsonl", "--label-column",
                    "rating")  # fmt: skip
    assert "Corrected by human labels of 40 cases" in said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("keep", "said"),
    [
        (lambda at: at % 3 == 0, "80 of 120 cases have no label in mine.jsonl; their verdicts count, too"),
        (lambda at: at != 7, "1 of 120 cases has no label in mine.jsonl; its verdict counts, too"),
    ],
)
def test_cases_without_a_label_are_not_said_to_be_left_out(exports, keep, said):
    """Their verdicts enter the corrected difference."""
    rows = [json.loads(line) for line in Path("export_a.jsonl").read_text().splitlines()]
    written(exports / "mine.jsonl", [row if keep(at) else {**row, "rating": None} for at, row in enumerate(rows)])
    done = run("compare", "a.jsonl", "b.jsonl", "--labels", "mine.jsonl", "--labels", "export_b.jsonl",
               "--label-column", "rating")  # fmt: skip
    assert done.exit_code == 0, done.output
    told = " ".join(done.stderr.split())
    assert said in told
    assert "left out" not in told


@pytest.mark.slow
def test_an_answer_of_both_systems_that_two_files_label_differently_makes_no_difference(exports):
    rows = [json.loads(line) for line in Path("export_b.jsonl").read_text().splitlines()]
    assert rows[0]["rating"] == "good"
    rows[0]["rating"] = "bad"
    written(Path("export_b.jsonl"), rows)
    done = run("compare", "a.jsonl", "b.jsonl", "--labels", "export_a.jsonl", "--labels", "export_b.jsonl",
               "--label-column", "rating")  # fmt: skip
    assert "Corrected by human labels of 120 cases" in done.stdout
    assert "Warning: 1 answer has human labels that contradict each other" in done.stdout


# Labels that the results hold


@pytest.mark.slow
def test_labels_in_the_results_do_not_correct_and_a_warning_names_the_command_that_does(folder):
    said = compared("a.jsonl", "b.jsonl")
    command = "jury compare a.jsonl b.jsonl --labels a_answers.jsonl --labels b_answers.jsonl"
    assert (
        "Warning: human labels of both answers of 120 cases are in the results, and do not correct this difference; to "
        f"correct it: {command}.\n"
    ) in said
    told = json.loads(compared("a.jsonl", "b.jsonl", "--json"))
    assert (told["unused_labels"], told["corrected"]) == (120, None)
    corrected = compared(*shlex.split(command)[2:], "--pass-label", "right")
    assert "Corrected by human labels of 120 cases" in corrected
    assert "are in the results" not in corrected
    assert json.loads(compared("a.jsonl", "b.jsonl", *LABELS, "--json"))["unused_labels"] == 0


@pytest.mark.slow
def test_the_command_has_the_column_of_the_labels_and_runs_as_it_is(exports):
    said = compared("a.jsonl", "b.jsonl")
    command = said.partition("to correct it: ")[2].partition(".\n")[0]
    assert command == (
        "jury compare a.jsonl b.jsonl --labels export_a.jsonl --labels export_b.jsonl --label-column rating"
    )
    assert "Corrected by human labels of 120 cases" in compared(*shlex.split(command)[2:])


@pytest.mark.slow
def test_labels_of_one_run_only_and_of_two_juries_are_not_warned_of(exports):
    assert "in the results" not in compared("a.jsonl", "a.jsonl")
    rows = [json.loads(line) for line in Path("export_b.jsonl").read_text().splitlines()]
    written(Path("unlabelled.jsonl"), [{**row, "rating": None} for row in rows])
    assert run("judge", "unlabelled.jsonl", "--jury", "jury.yaml", "--out", "u.jsonl").exit_code == 0
    assert "in the results" not in compared("a.jsonl", "u.jsonl")
    Path("export_a.jsonl").unlink()
    assert "jury compare --labels CASES corrects it, where CASES are the judged cases of both." in compared(
        "a.jsonl", "b.jsonl"
    )


@pytest.mark.slow
def test_labels_with_columns_of_their_own_are_mapped():
    rows = [json.loads(line) for line in Path("labels.jsonl").read_text().splitlines()]
    written(Path("own.jsonl"), [{"id": row["id"], "text": row["answer"], "gold": row["gold"]} for row in rows])
    own = ("a.jsonl", "b.jsonl", "--labels", "own.jsonl", "--pass-label", "right", "--json")
    assert "or give --map answer=COLUMN" in refused(*own)
    assert json.loads(compared(*own, "--map", "answer=text"))["corrected"]["details"]["labelled"] == 60
    assert "--map are about --labels" in refused("a.jsonl", "b.jsonl", "--map", "answer=text")


def test_labels_by_id_alone_are_refused_with_the_reason():
    rows = [json.loads(line) for line in Path("labels.jsonl").read_text().splitlines()]
    written(Path("ids.jsonl"), [{"id": row["id"], "gold": row["gold"]} for row in rows])
    assert (
        "under one id there are two answers here, one of each system, so a row of labels needs the answer that was "
        "labelled"
    ) in refused("a.jsonl", "b.jsonl", "--labels", "ids.jsonl", "--pass-label", "right")


@pytest.mark.parametrize(("split", "corrected"), [(2, True), (12, False)])
def test_answers_on_which_reviewers_are_split_are_not_left_out_as_if_they_were_random(split, corrected):
    for system in "ab":
        for by, answers in (("ann", "p\n" * 60), ("bob", "f\n" * (split if system == "b" else 0) + "p\n" * 60)):
            done = run("review", f"{system}.jsonl", "--by", by, "--sample", 60,
                       "--labels", "people.jsonl", "--quiet", typed=answers)  # fmt: skip
            assert done.exit_code == 0
    said = compared("a.jsonl", "b.jsonl", "--labels", "people.jsonl")
    assert (f"Corrected by human labels of {60 - split} cases" in said) is corrected
    assert (f"human labels contradict each other on {split} of the 60 cases" in said) is not corrected
    assert (f"{split} cases of which both answers were labelled; the interval allows for any" in said) is corrected
