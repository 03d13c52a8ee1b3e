"""``jury report --agreement``: the agreement of jurors, from every kind of file."""

import json
from importlib.resources import files

import pytest
from typer.testing import CliRunner

from jury_adapters import Case, Critic, Ensemble
from jury_adapters.cli.app import app

VOTES = files("jury_adapters.cli") / "data" / "codefeedback_200.jsonl.gz"
ALPHA = "krippendorff alpha (nominal)"
PANEL = ("gpt-4o-mini", "gemini-1.5-flash", "claude_3.5_haiku")


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)


def measured(*arguments):
    result = run("report", "--agreement", *arguments, "--draws", 100, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def found(report, name):
    return next(one for section in report["sections"].values() for one in section if one["name"] == name)


@pytest.mark.slow
def test_recorded_votes(tmp_path):
    jurors = [part for name in PANEL for part in ("--juror", name)]
    report = measured(VOTES, *jurors, "--pass-label", "valid", "--group", "meta.program")
    assert (report["items"], report["jurors"], report["labelled"]) == (200, list(PANEL), 200)
    text = run("report", "--agreement", VOTES, *jurors, "--draws", 100).stdout
    assert "alpha" in text
    assert "gpt-4o-mini" in text


@pytest.mark.slow
def test_the_results_of_a_run_give_what_its_votes_give(tmp_path):
    jurors = ", ".join(f"{{recorded: {name}, labels: {{valid: pass, invalid: fail}}}}" for name in PANEL)
    (tmp_path / "jury.yaml").write_text(f"jurors: [{jurors}]\n")
    results = tmp_path / "results.jsonl"
    assert run("judge", VOTES, "--jury", tmp_path / "jury.yaml", "--out", results).exit_code == 0
    of_results = measured(results)
    of_votes = measured(VOTES, *[part for name in PANEL for part in ("--juror", name)])
    assert found(of_results, ALPHA)["value"] == pytest.approx(found(of_votes, ALPHA)["value"])


def test_a_store(tmp_path, server):
    critics = [
        Critic(f"openai:{name}", "faithfulness", name=name, base_url=server.openai, api_key="k")
        for name in ("gpt-4o-mini", "gpt-4.1-mini")
    ]
    cases = [
        Case(question="q", answer=f"{number} TRUTH={'YES' if number % 2 else 'NO'}", contexts=["c"])
        for number in range(8)
    ]
    list(Ensemble(critics).judge_many(cases, store=tmp_path / "runs.db"))
    report = measured(tmp_path / "runs.db")
    assert (report["items"], report["jurors"]) == (8, ["gpt-4.1-mini", "gpt-4o-mini"])
    assert found(report, ALPHA)["value"] == 1.0


@pytest.mark.parametrize(
    ("content", "said"),
    [("", "there is no row in it"), ("{broken\n", "cannot be read"), ('{"answer": "x"}\n', "votes")],
)
def test_files_that_hold_no_votes_are_refused(tmp_path, content, said):
    (tmp_path / "votes.jsonl").write_text(content)
    result = run("report", "--agreement", tmp_path / "votes.jsonl")
    assert result.exit_code == 2
    assert said in result.stderr


def test_a_file_of_cases_is_named_with_what_to_give_instead(tmp_path):
    (tmp_path / "answers.jsonl").write_text('{"id": "a", "answer": "x"}\n')
    result = run("report", "--agreement", tmp_path / "answers.jsonl")
    assert result.exit_code == 2
    said = " ".join(result.stderr.split())
    assert "answers.jsonl, line 1: a recorded row needs item_id and votes" in said
    assert "give what `jury judge --out` wrote" in said


@pytest.mark.parametrize(
    "option", [["--juror", "a"], ["--abstain-label", "tie"], ["--on", "label"], ["--draws", "100"]]
)
def test_its_options_are_refused_without_it(tmp_path, option):
    result = run("report", tmp_path / "results.jsonl", *option)
    assert result.exit_code == 2
    assert f"{option[0]} belongs to --agreement; give both" in result.stderr


@pytest.mark.parametrize(
    "option", [["--html", "page.html"], ["--compare", "b.jsonl"], ["--title", "t"], ["--markdown"], ["--force"]]
)
def test_options_of_the_report_alone_are_refused_with_it(option):
    result = run("report", VOTES, "--agreement", *option)
    assert result.exit_code == 2
    assert f"{option[0]} has no meaning with --agreement" in result.stderr


def test_picked_labels_are_about_the_corrected_rate(tmp_path):
    result = run("report", tmp_path / "results.jsonl", "--picked-labels")
    assert result.exit_code == 2
    assert "--picked-labels belongs to --agreement or --html" in " ".join(result.stderr.split())


@pytest.mark.parametrize("labels", [[], ["--labels", "cases.jsonl"]], ids=["of the cases", "of a file"])
def test_a_page_of_picked_labels_has_the_rate_by_the_error_rates(tmp_path, monkeypatch, labels):
    monkeypatch.chdir(tmp_path)
    rows = [
        {"id": f"c{at}", "answer": "" if at % 4 == 1 else "x", "gold": ("PASS", "FAIL")[at % 2] if at < 60 else None}
        for at in range(120)
    ]
    (tmp_path / "cases.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (tmp_path / "jury.yaml").write_text("jurors: [{check: not_empty}]\n")
    assert run("judge", "cases.jsonl", "--jury", "jury.yaml", "--out", "r.jsonl").exit_code == 0
    pages = []
    for option in ([], ["--picked-labels"]):
        done = run("report", "r.jsonl", "--html", "page.html", *labels, *option)
        assert done.exit_code == 0, done.output
        pages.append((tmp_path / "page.html").read_text())
    sampled, picked = ("if the labelled ones are a random sample" in page for page in pages)
    assert (sampled, picked) == (True, False)
    assert "if these two rates hold for all items" in pages[1]


def test_labels_of_as_many_bad_as_good_cases_correct_the_pass_rate_by_the_error_rates(tmp_path):
    """Human labels pass 80 % of the cases, the jury half of the bad ones, too; 20 good and 20 bad ones are labelled."""
    rows = []
    for at in range(400):
        gold = "PASS" if at % 5 else "FAIL"
        vote = {"label": "FAIL" if at % 10 == 5 else "PASS"}
        labelled = at < (25 if gold == "PASS" else 100)
        rows.append({"item_id": f"c{at}", "votes": {"ann": vote}, "gold": gold if labelled else None})
    (tmp_path / "votes.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    picked = found(measured(tmp_path / "votes.jsonl", "--picked-labels"), "true pass rate (Rogan-Gladen)")
    assert picked["value"] == pytest.approx(0.8)
    assert picked["details"]["labelled"] == 40
    (rate,) = measured(tmp_path / "votes.jsonl")["sections"]["Rates"]
    assert rate["name"] == "true pass rate (PPI++)"
    assert "if the labelled ones are a random sample" in rate["sentence"]
    assert rate["interval"][1] < 0.8


@pytest.mark.slow
def test_quiet_leaves_what_json_asks_for():
    assert run("report", VOTES, "--agreement", "--draws", 100, "--quiet").stdout == ""
    assert json.loads(run("report", VOTES, "--agreement", "--draws", 100, "--quiet", "--json").stdout)["items"] == 200


def test_votes_with_a_status_alone_are_measured_as_replay_counts_them(tmp_path):
    said = [("PASS", "PASS"), ("FAIL", "PASS"), ("FAIL", "FAIL")] * 10
    rows = [
        {"item_id": str(at), "gold": one, "votes": {"u": {"status": one, "confidence": 0.8}, "w": {"status": other}}}
        for at, (one, other) in enumerate(said)
    ]
    votes = tmp_path / "votes.jsonl"
    votes.write_text("".join(json.dumps(row) + "\n" for row in rows))
    report = measured(str(votes))
    assert (report["votes"], report["missing"]) == (60, 0.0)
    assert round(found(report, "raw agreement")["value"], 3) == 0.667
