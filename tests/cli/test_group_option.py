"""``--group`` of ``jury judge`` and ``jury report``, also with ``--agreement``: cases that belong together."""

import json

import pytest
from typer.testing import CliRunner

from jury_adapters import Report
from jury_adapters.calibration import Votes, true_pass_rate
from jury_adapters.cli.app import app
from jury_adapters.core.clustered_shares import clustered_paired_interval, clustered_wilson
from jury_adapters.core.errors import InputError
from jury_adapters.core.statistics import wilson

GROUPS = [(5, 5)] * 5 + [(0, 5)] * 3
ROWS = [
    {
        "id": f"{at}-{number}",
        "answer": "yes" if number < passed else "no",
        "Document": f"d{at}",
        "meta": {"user": at % 4},
    }
    for at, (passed, cases) in enumerate(GROUPS)
    for number in range(cases)
]
JURY = 'jurors:\n  - {check: contains, texts: ["yes"]}\n  - {check: not_empty}\nvoting: unanimous\n'


def run(*arguments, **options):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False, **options)


def written(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "jury.yaml").write_text(JURY)
    written(tmp_path / "cases.jsonl", ROWS)
    return tmp_path


def judge(*options, cases="cases.jsonl", **more):
    return run("judge", cases, "--jury", "jury.yaml", *options, **more)


@pytest.mark.slow
def test_judge_prints_and_gives_the_interval_of_groups(folder):
    low, high = clustered_wilson(GROUPS)
    text = judge("--group", "Document").stdout
    assert f"62.5 % (95 % interval, 8 groups: {100 * low:.1f} to {100 * high:.1f} %)" in text
    told = json.loads(judge("--group", "Document", "--json").stdout)
    assert told["pass_rate_interval"] == [low, high]
    assert (told["group"], told["groups"]) == ("Document", 8)
    assert json.loads(judge("--json").stdout)["pass_rate_interval"] == list(wilson(25, 40))
    assert judge("--group", "meta.user", "--json").stdout.count('"groups": 4') == 1


@pytest.mark.slow
def test_the_page_of_judge_and_the_later_report_show_the_same(folder):
    low, _ = clustered_wilson(GROUPS)
    words = f"95 % interval, 8 groups: {100 * low:.1f}"
    assert judge("--group", "Document", "--out", "results.jsonl", "--report", "page.html", "-q").exit_code == 0
    assert words in (folder / "page.html").read_text()
    (folder / "cases.jsonl").unlink()  # the results have the metadata with them
    assert words in run("report", "results.jsonl", "--group", "Document").stdout
    assert words in run("report", "results.jsonl", "--group", "Document", "--markdown").stdout
    assert run("report", "results.jsonl", "--group", "Document", "--html", "again.html", "-q").exit_code == 0
    assert words in (folder / "again.html").read_text()


@pytest.mark.slow
def test_a_comparison_and_the_agreement_know_the_groups(folder):
    written(folder / "better.jsonl", [{**row, "answer": "yes"} if row["Document"] == "d7" else row for row in ROWS])
    for name in ("cases", "better"):
        assert judge("--out", f"{name}.results.jsonl", "-q", cases=f"{name}.jsonl").exit_code == 0
    files = ("better.results.jsonl", "--compare", "cases.results.jsonl")
    told = json.loads(run("report", *files, "--group", "Document", "--json").stdout)["compared"]
    groups = [(5, 0, 0, 0)] * 5 + [(0, 0, 0, 5)] * 2 + [(0, 0, 5, 0)]
    assert told["interval"] == pytest.approx(clustered_paired_interval(groups))
    assert (told["groups"], told["p_value"]) == (8, 1.0)
    assert "The interval excludes 0" in run("report", *files).stdout
    assert "95 % interval, 8 groups: " in run("report", *files, "--group", "Document").stdout
    assert (
        "Its items come from 8 groups only"
        in run("report", "--agreement", "cases.results.jsonl", "--group", "Document", "--draws", 100).stdout
    )


def test_reports_print_the_correlation_with_which_to_plan(folder):
    """Cases of a document pass or fail together, and the differences of two systems are alike in one document only."""
    better = [{**row, "answer": "yes"} if row["Document"] == "d7" else row for row in ROWS]
    written(folder / "better.jsonl", better)
    for name in ("cases", "better"):
        assert judge("--out", f"{name}.results.jsonl", "-q", cases=f"{name}.jsonl").exit_code == 0
    grouped = ("--group", "Document")
    shown = " ".join(run("report", "cases.results.jsonl", *grouped).stdout.split())
    assert "cases of a group correlate by 1; to plan: jury sample-size --group-size 5 --icc 1" in shown
    told = json.loads(run("report", "cases.results.jsonl", *grouped, "--json").stdout)
    assert (told["group_size"], told["icc"]) == (5.0, 1.0)
    plan = "to plan another comparison over the same cases: jury sample-size --group-size 5 --icc 1."
    assert plan in run("compare", "cases.results.jsonl", "better.results.jsonl", *grouped).stdout
    found = json.loads(run("compare", "cases.results.jsonl", "better.results.jsonl", *grouped, "--json").stdout)[
        "found"
    ]
    assert (found["details"]["group_size"], found["details"]["icc"]) == (5.0, 1.0)
    without = run("compare", "cases.results.jsonl", "better.results.jsonl", "--group", "id").stdout
    assert "correlate by" not in without


@pytest.mark.slow
def test_later_commands_keep_the_group_of_the_run(folder):
    low, _ = clustered_wilson(GROUPS)
    words = f"95 % interval, 8 groups: {100 * low:.1f}"
    assert judge("--group", "Document", "--out", "results.jsonl", "-q").exit_code == 0
    (folder / "cases.jsonl").unlink()
    kept = run("report", "results.jsonl")
    assert words in kept.stdout
    assert "cases are grouped by Document, as in the run" in " ".join(kept.stderr.split())
    assert words in run("report", "results.jsonl", "--markdown").stdout
    assert "Its items come from 8 groups only" in run("report", "results.jsonl", "--agreement", "--draws", 100).stdout
    compared = json.loads(run("compare", "results.jsonl", "results.jsonl", "--json").stdout)
    assert compared["groups"] == 8
    for command in (("report", "results.jsonl"), ("compare", "results.jsonl", "results.jsonl")):
        assert "8 groups" not in run(*command, "--group", "").stdout
    assert run("report", "results.jsonl", "--group", "meta.user", "--json").stdout.count('"groups": 4') == 1


@pytest.mark.slow
def test_a_kept_group_that_is_not_in_the_results_is_reported(folder):
    assert judge("--group", "answer", "--out", "results.jsonl", "-q").exit_code == 0
    (folder / "cases.jsonl").rename(folder / "moved.jsonl")
    without = run("report", "results.jsonl")
    assert without.exit_code == 0
    assert "the run was grouped by answer, which is not in the results" in " ".join(without.stderr.split())
    assert "95 % interval, 2 groups" in run("report", "results.jsonl", "--cases", "moved.jsonl").stdout


def asked(folder):
    rows = [{**row, "question": f"q{at % 8}", "contexts": [f"c{at}"], "gold": "PASS"} for at, row in enumerate(ROWS)]
    return written(folder / "asked.jsonl", rows)


@pytest.mark.slow
@pytest.mark.parametrize("given", ["--group of jury judge", "--group of jury report"])
def test_report_finds_a_group_in_the_judged_file_that_the_results_name(folder, given):
    """The question is not in the results; the cases lie beside them."""
    early, late = (("--group", "question"), ()) if given.endswith("judge") else ((), ("--group", "question"))
    assert judge(*early, "--out", "r.jsonl", "-q", cases=asked(folder)).exit_code == 0
    for form in ((), ("--markdown",)):
        found = run("report", "r.jsonl", *late, *form)
        assert found.exit_code == 0, found.output
        assert "95 % interval, 8 groups" in found.stdout
    measured = run("report", "r.jsonl", "--agreement", "--draws", 100, *late)
    assert measured.exit_code == 0, measured.output
    assert "Its items come from 8 groups only" in measured.stdout


def test_a_page_with_the_texts_that_the_group_needed_says_where_they_are_from(folder):
    assert judge("--out", "r.jsonl", "-q", cases=asked(folder)).exit_code == 0
    assert "is without the texts" in " ".join(run("report", "r.jsonl", "--html", "page.html").stderr.split())
    said = " ".join(run("report", "r.jsonl", "--html", "page.html", "--group", "question").stderr.split())
    assert "page.html has the texts of the cases: asked.jsonl was read for the group" in said
    assert "q7" in (folder / "page.html").read_text()


def test_a_judged_file_that_was_changed_since_is_reported_and_does_not_end_the_report(folder):
    assert judge("--group", "question", "--out", "r.jsonl", "-q", cases=asked(folder)).exit_code == 0
    lines = (folder / "asked.jsonl").read_text().splitlines()
    (folder / "asked.jsonl").write_text("\n".join(lines[:-1]) + "\n")
    for agreement in ((), ("--agreement", "--draws", 100)):
        kept = run("report", "r.jsonl", *agreement)
        assert kept.exit_code == 0, kept.output
        assert "the run was grouped by question, which is not in the results" in " ".join(kept.stderr.split())
        given = run("report", "r.jsonl", "--group", "question", *agreement)
        assert given.exit_code == 2
        assert "7-4" in given.stderr
        assert "give the file that was judged" in " ".join(given.stderr.split())


def test_python_finds_a_group_in_the_judged_file_that_the_results_name(folder):
    assert judge("--group", "question", "--out", "r.jsonl", "-q", cases=asked(folder)).exit_code == 0
    assert Report.read("r.jsonl").figures.summary.groups == 8
    votes = Votes.from_results("r.jsonl", group="question")
    assert (len(set(votes.groups)), votes.has_gold) == (8, True)


def labelled(folder, **more):
    rows = [{**row, "question": f"q{at % 8}", "gold": "PASS" if at % 3 else "FAIL"} for at, row in enumerate(ROWS)]
    return written(folder / "cases.jsonl", [row | more for row in rows])


@pytest.mark.parametrize("group", ["Document", "question"])
@pytest.mark.parametrize("source", [{}, {"cases": "cases.jsonl"}, {"gold": "cases.jsonl"}], ids=["", "cases", "gold"])
def test_votes_in_python_keep_the_group_of_the_run(folder, group, source):
    assert judge("--group", group, "--out", "r.jsonl", "-q", cases=labelled(folder)).exit_code == 0
    kept = Votes.from_results("r.jsonl", **source)
    assert kept.groups.tolist() == Votes.from_results("r.jsonl", group=group, **source).groups.tolist()
    assert len(set(kept.groups.tolist())) == 8
    assert len(set(Votes.from_results("r.jsonl", group="meta.user", **source).groups.tolist())) == 4
    alone = Votes.from_results("r.jsonl", group="", **source)
    assert not alone.grouped
    assert "8 groups" in true_pass_rate(kept).sentence
    assert "groups" not in true_pass_rate(alone).sentence


def test_the_groups_of_a_run_that_are_not_found_are_missed_in_the_log(folder, caplog):
    cases = labelled(folder)
    assert judge("--group", "question", "--out", "r.jsonl", "-q", cases=cases).exit_code == 0
    cases.unlink()
    assert not Votes.from_results("r.jsonl").grouped
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert "r.jsonl: the run was grouped by question, but its items count as independent here" in record.message
    with pytest.raises(InputError, match="has no question"):
        Votes.from_results("r.jsonl", group="question")


def test_votes_of_a_run_without_groups_are_independent_without_a_warning(folder, caplog):
    assert judge("--out", "r.jsonl", "-q", cases=labelled(folder)).exit_code == 0
    assert not Votes.from_results("r.jsonl").grouped
    assert not caplog.records


@pytest.mark.slow
def test_replay_keeps_or_takes_a_group(folder):
    written(folder / "cases.jsonl", [{**row, "gold": "PASS" if at % 3 else "FAIL"} for at, row in enumerate(ROWS)])
    assert judge("--group", "Document", "--out", "results.jsonl", "-q").exit_code == 0

    def replayed(*options):
        result = run("replay", "results.jsonl", "--jury", "jury.yaml", "--json", *options)
        assert result.exit_code == 0, result.output
        (told,) = json.loads(result.stdout)
        return told

    kept, alone = replayed(), replayed("--group", "")
    assert (kept["group"], kept["groups"], alone["groups"]) == ("Document", 8, None)
    assert kept["label_comparison"] != alone["label_comparison"]
    assert replayed("--group", "meta.user")["groups"] == 4
    assert "has no page" in run("replay", "results.jsonl", "--jury", "jury.yaml", "--group", "page").stderr


def test_fail_under_is_about_the_share_itself(folder):
    assert judge("--group", "Document", "--fail-under", 0.62, "-q").exit_code == 0
    assert judge("--group", "Document", "--fail-under", 0.63, "-q").exit_code == 1


def test_a_case_without_the_field_ends_the_run_before_anything_is_judged(folder):
    written(folder / "cases.jsonl", [*ROWS, {"id": "\x1b[31mlast", "answer": "yes", "Document": " "}])
    result = judge("--group", "Document", "--out", "results.jsonl")
    assert result.exit_code == 2
    assert "\\x1b[31mlast (line 41) has no Document, the field that groups the cases" in result.stderr
    assert not (folder / "results.jsonl").exists()
    assert judge("--group", "Document", "--limit", 40, "-q").exit_code == 0


def test_a_pipe_is_judged_up_to_the_case_without_the_field(folder):
    lines = [json.dumps(row) for row in (*ROWS[:10], {"id": "x", "answer": "yes"}, *ROWS[10:])]
    result = judge("--group", "Document", "--out", "results.jsonl", cases="-", input="\n".join(lines))
    assert result.exit_code == 2
    assert "standard input: x (line 11) has no Document" in result.stderr
    assert "the summary is of the 10 cases judged until then" in result.stderr
    assert len((folder / "results.jsonl").read_text().splitlines()) == 10
    assert "95 % interval, 2 groups" in result.stdout


@pytest.mark.slow
@pytest.mark.parametrize("group", ["document", "meta", "meta.users", "gold"])
def test_a_misspelt_group_exits_with_2_in_every_command(folder, group):
    assert judge("--out", "results.jsonl", "-q").exit_code == 0
    if group == "meta":  # an object: each different one is a group
        assert "95 % interval, 4 groups" in judge("--group", group).stdout
        return
    for result in (
        judge("--group", group),
        run("report", "results.jsonl", "--group", group),
        run("report", "--agreement", "results.jsonl", "--group", group),
    ):
        assert result.exit_code == 2
        assert f"has no {group}, the field that groups the cases" in result.stderr
        assert "Traceback" not in result.output


@pytest.mark.slow
def test_a_table_and_a_text_of_the_case(folder):
    lines = [
        "question,answer,Document Name",
        *(f"q{n % 4},{row['answer']},{row['Document']}" for n, row in enumerate(ROWS)),
    ]
    (folder / "cases.csv").write_text("\n".join(lines) + "\n")
    assert "95 % interval, 8 groups: " in judge("--group", "Document Name", cases="cases.csv").stdout
    assert "95 % interval, 4 groups: " in judge("--group", "question", "--out", "r.jsonl", cases="cases.csv").stdout
    assert "95 % interval, 4 groups: " in run("report", "r.jsonl", "--group", "question").stdout
    (folder / "cases.csv").rename(folder / "moved.csv")
    for agreement in ((), ("--agreement",)):
        without = run("report", "r.jsonl", "--group", "question", *agreement)
        assert (without.exit_code, "only the metadata in its verdict" in without.stderr) == (2, True)
    assert "95 % interval, 4 groups: " in run("report", "r.jsonl", "--group", "question", "--cases", "moved.csv").stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ["report", "r.jsonl"],
        ["report", "r.jsonl", "--agreement", "--draws", "100"],
        ["compare", "r.jsonl", "r.jsonl"],
        ["replay", "r.jsonl", "--jury", "again.yaml"],
    ],
)
def test_every_command_says_that_a_kept_group_is_not_known(folder, command):
    """The group is the question, which is in the cases and not in the results, and the cases are gone."""
    rows = [{**row, "question": f"q{at % 8}"} for at, row in enumerate(ROWS)]
    written(folder / "asked.jsonl", rows)
    judge("--group", "question", "--out", "r.jsonl", cases="asked.jsonl")
    (folder / "again.yaml").write_text("jurors: [{recorded: NotEmpty}]\n")
    said = "the run was grouped by question, which is not in the results"
    known = run(*command)
    assert said not in " ".join(known.stderr.split())
    (folder / "asked.jsonl").unlink()
    done = run(*command)
    assert done.exit_code == 0, done.output
    assert said in " ".join(done.stderr.split())
