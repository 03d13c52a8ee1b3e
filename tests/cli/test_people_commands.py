"""The jury against human labels, from the command line: the same figures in every command."""

import gzip
import json
from importlib.resources import files

import pytest
from typer.testing import CliRunner

from jury_adapters.cli.app import app
from jury_adapters.report import Report

VOTES = files("jury_adapters.cli") / "data" / "codefeedback_200.jsonl.gz"
JURY = (
    "name: panel\njurors: [{recorded: gpt-4o, labels: {valid: pass, invalid: fail}},\n"
    "  {recorded: gpt-4.1-mini, labels: {valid: pass, invalid: fail}}]\n"
)


def run(*arguments, **options):
    return CliRunner().invoke(app, [str(one) for one in arguments], catch_exceptions=False, **options)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Cases whose labels are other words than those of a jury of checks."""
    monkeypatch.chdir(tmp_path)
    rows = [
        {"id": "a", "answer": "the ferry sails", "gold": "good"},
        {"id": "b", "answer": "ferry", "gold": "bad"},
        {"id": "c", "answer": "no ship", "gold": "good"},
        {"id": "d", "answer": "no boat", "gold": "bad"},
        {"id": "e", "answer": "unlabelled"},
    ]
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "jury.yaml").write_text(
        "jurors: [{check: contains, texts: [ferry]}, {check: not_empty, name: there}]\nvoting: unanimous\n"
    )
    return tmp_path


def judge(*options):
    return run("judge", "cases.jsonl", "--jury", "jury.yaml", *options)


def against(printed):
    return json.loads(printed.stdout)["label_comparison"]


@pytest.mark.slow
def test_what_judge_was_told_holds_for_all_that_reads_its_results(folder):
    judged = judge("--pass-label", "good", "--out", "r.jsonl", "--report", "page.html", "--json")
    assert judged.exit_code == 0, judged.output
    told = against(judged)
    assert (told["labelled_cases"], told["pass_labels"]) == (4, ["good"])
    passes = told["jury"]["false_passes"]
    assert (passes["count"], passes["of"], passes["share"]) == (1, 2, 0.5)
    assert against(run("report", "r.jsonl", "--json")) == told
    assert against(run("report", "r.jsonl", "--cases", "cases.jsonl", "--json")) == told
    measured = run("report", "--agreement", "r.jsonl", "--draws", 100, "--json")
    assert measured.exit_code == 0, measured.output
    assert against(measured) == told
    assert against(run("report", "--agreement", "r.jsonl", "--cases", "cases.jsonl", "--draws", 100, "--json")) == told
    report = Report.read("r.jsonl")
    assert report.pass_labels == ("good",)
    assert report.label_comparison.to_dict() == told
    assert report.agreement.report.label_comparison.to_dict() == told
    assert report.to_html() == Report.read("r.jsonl", pass_labels=["good"]).to_html()
    for shown in (report.to_html(), report.to_markdown(), (folder / "page.html").read_text()):
        assert shown.index("Against human labels") < shown.index("50.0 %")
        assert "1/2" in shown
    (folder / "recorded.yaml").write_text("voting: unanimous\njurors: [{recorded: Contains}, {recorded: there}]\n")
    (replayed,) = json.loads(run("replay", "r.jsonl", "--jury", "recorded.yaml", "--json").stdout)
    assert replayed["label_comparison"] == told
    (folder / "cases.jsonl").unlink()
    assert against(run("report", "r.jsonl", "--json")) == told


def test_without_the_meaning_the_section_says_so_and_judging_goes_on(folder):
    judged = judge()
    assert judged.exit_code == 0
    told = " ".join(judged.stdout.split())
    assert "No figures: human labels are bad 2, good 2, and the jury says PASS and FAIL" in told
    assert "--pass-label LABEL" in told
    assert told.index("Against human labels") < told.index("passed")


@pytest.mark.slow
def test_a_misspelt_pass_label_is_refused_everywhere_and_before_judging(folder):
    refused = judge("--pass-label", "god", "--out", "r.jsonl")
    message = "no labelled case has the label 'god' (did you mean 'good'?); there are bad 2, good 2"
    assert (refused.exit_code, message in refused.stderr, (folder / "r.jsonl").exists()) == (2, True, False)
    piped = run("judge", "-", "--jury", "jury.yaml", "--pass-label", "god", input=(folder / "cases.jsonl").read_text())
    assert (piped.exit_code, message in piped.stderr) == (2, True)
    assert "5 cases judged" in piped.stdout
    assert judge("--out", "r.jsonl").exit_code == 0
    (folder / "recorded.yaml").write_text("jurors: [{recorded: Contains}]\n")
    for command in (
        ["report", "r.jsonl"],
        ["report", "--agreement", "r.jsonl"],
        ["replay", "r.jsonl", "--jury", "recorded.yaml"],
    ):
        refused = run(*command, "--pass-label", "god")
        assert (command[0], refused.exit_code, message in refused.stderr) == (command[0], 2, True)
        assert run(*command, "--pass-label", "good").exit_code == 0
    refused = run("report", "--agreement", VOTES, "--pass-label", "valid", "--pass-label", "vaild")
    assert (refused.exit_code, "no labelled case has the label 'vaild'" in refused.stderr) == (2, True)


def test_a_pass_label_without_any_human_label_is_told(folder):
    (folder / "cases.jsonl").write_text('{"answer": "ferry"}\n')
    judged = judge("--pass-label", "good", "--out", "r.jsonl")
    assert (judged.exit_code, "--pass-label has no effect" in judged.stderr) == (0, True)
    assert "Against human labels" not in judged.stdout
    assert against(run("report", "r.jsonl", "--json")) is None


@pytest.mark.slow
def test_the_labels_of_a_review_replace_those_of_the_cases(folder):
    assert judge("--pass-label", "good", "--out", "r.jsonl").exit_code == 0
    asked = run("review", "r.jsonl", "--by", "ann", "--only", "all", "--limit", 3, input="p\np\nf\n")
    assert asked.exit_code == 0, asked.output
    told = against(run("report", "r.jsonl", "--labels", "labels.jsonl", "--json"))
    assert (told["labelled_cases"], told["labels"], told["problem"]) == (3, {"PASS": 2, "FAIL": 1}, None)
    measured = run("report", "--agreement", "r.jsonl", "--labels", "labels.jsonl", "--draws", 100, "--json")
    assert against(measured) == told
    (folder / "other.jsonl").write_text((folder / "labels.jsonl").read_text().replace('"item_id": "', '"item_id": "x'))
    refused = run("report", "r.jsonl", "--labels", "other.jsonl")
    assert (refused.exit_code, "none of its labels" in refused.stderr) == (2, True)


@pytest.mark.slow
def test_a_juror_that_gives_label_and_status_shows_which_label_passes(folder):
    (folder / "recorded.yaml").write_text(JURY)
    judged = run("judge", VOTES, "--jury", "recorded.yaml", "--out", "votes.jsonl", "--json")
    told = against(judged)
    assert (told["pass_labels"], told["labelled_cases"], told["problem"]) == (["valid"], 200, None)
    (replayed,) = json.loads(run("replay", VOTES, "--jury", "recorded.yaml", "--json").stdout)
    assert replayed["label_comparison"] == told
    recorded = run("report", "--agreement", VOTES, "--juror", "gpt-4o", "--juror", "gpt-4.1-mini",
                   "--pass-label", "valid", "--draws", 100, "--json")  # fmt: skip
    assert against(recorded)["jurors"] == told["jurors"]
    assert against(recorded)["jury"] is None


@pytest.mark.slow
def test_juries_are_shown_in_one_table(folder):
    for name, rule in (("one", "majority"), ("two", "unanimous")):
        (folder / f"{name}.yaml").write_text(JURY.replace("panel", name) + f"voting: {rule}\n")
    shown = run("replay", VOTES, "--jury", "one.yaml", "--jury", "two.yaml").stdout
    assert shown.count("Against human labels") == 1
    assert "gpt-4o" not in shown
    assert all(shown.count(f"\n {name} ") for name in ("one", "two", "always PASS"))


@pytest.mark.slow
def test_hostile_labels_do_not_reach_terminal_page_or_markdown(folder):
    rows = [{"answer": "ferry", "gold": "\x1b[31m<script>|`x`"}, {"answer": "boat", "gold": "good"}]
    (folder / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for options in ([], ["--pass-label", "good"]):
        judged = judge(*options, "--out", "r.jsonl", "--force", "--report", "page.html")
        assert judged.exit_code == 0
        assert "\x1b" not in judged.stdout
        assert "<script>|" not in (folder / "page.html").read_text()
        assert "\x1b" not in run("report", "r.jsonl", "--markdown").stdout


def test_compressed_files_are_checked_too(folder):
    with gzip.open("cases.jsonl.gz", "wt") as file:
        file.write((folder / "cases.jsonl").read_text())
    judged = run(
        "judge", "cases.jsonl.gz", "--jury", "jury.yaml", "--pass-label", "good", "--pass-label", "bad", "--json"
    )
    assert (judged.exit_code, against(judged)["jury"]["false_passes"]["of"]) == (0, 0)


@pytest.mark.parametrize("number", [1, 1.0])
def test_numbers_are_labels_once_they_are_named(folder, number):
    rows = [{"answer": "ferry", "gold": number}, {"answer": "boat", "gold": 0}, {"answer": "ship", "gold": ""}]
    (folder / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    told = against(judge("--pass-label", "1", "--out", "r.jsonl", "--json"))
    assert (told["labels"], told["jury"]["accuracy"]) == ({"1": 1, "0": 1}, 1.0)
    measured = run("report", "--agreement", "r.jsonl", "--draws", 100, "--json")
    assert measured.exit_code == 0, measured.output
    assert against(measured) == told
