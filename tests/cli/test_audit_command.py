"""``jury audit``."""

import json
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from jury_adapters.audit import OPERATORS
from jury_adapters.cli.app import app
from tests.support.vendor import error

SMALL = ("--per-operator", "6", "--per-change", "4", "--injections", "4")
JURY = """
name: offline
tiers:
  - {name: text, policy: reject_on_any_fail, judge: {check: not_empty}}
  - {name: facts, judge: {check: names_and_numbers}}
"""


def jury(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)


@pytest.fixture
def jury_file(tmp_path):
    path = tmp_path / "jury.yaml"
    path.write_text(JURY)
    return path


def test_the_report(jury_file):
    done = jury("audit", "--jury", jury_file, *SMALL)
    assert done.exit_code == 0
    assert "Audit of offline" in done.stdout
    assert "Wrong answers that got FAIL (kill rate)" in done.stdout


@pytest.mark.slow
def test_json_files_and_limits(jury_file, tmp_path):
    page, xml = tmp_path / "audit.html", tmp_path / "audit.xml"
    done = jury(
        "audit", "--jury", jury_file, *SMALL, "--json", "--report", page, "--junit", xml, "--min-kill-rate", "0.99",
        "--max-flip-rate", "0.5",
    )  # fmt: skip
    assert done.exit_code == 1
    found = json.loads(done.stdout)
    (unmet,) = found["unmet"]
    assert unmet.startswith("kill rate")
    assert found["subjects"][0]["name"] == "offline"
    suite = ElementTree.parse(xml).getroot()
    unplaced = [*found["unplaced"]["errors"], *found["unplaced"]["forms"]]
    assert suite.get("tests") == str(1 + len(found["subjects"]) + len(unplaced))
    assert int(suite.get("failures")) >= 1
    text = page.read_text()
    assert "Content-Security-Policy" in text
    assert "Limits that are not met" in text
    assert jury("audit", "--jury", jury_file, *SMALL, "--quiet", "--report", page).exit_code == 0  # a page is replaced


@pytest.mark.slow
def test_early_stopping(jury_file):
    sizes = ("--per-operator", "20", "--per-change", "8", "--injections", "8")
    done = jury("audit", "--jury", jury_file, "--precision", "0.2", *sizes, "--json")
    found = json.loads(done.stdout)
    assert found["stopped"]
    assert found["probes"] < found["planned"]
    assert jury("audit", "--jury", jury_file, "--precision", "0.7").exit_code == 2


def test_nothing_is_written_over(jury_file):
    done = jury("audit", "--jury", jury_file, *SMALL, "--report", jury_file)
    assert done.exit_code == 2
    assert jury_file.read_text() == JURY


def test_own_cases(jury_file, tmp_path):
    cases = tmp_path / "cases.jsonl"
    cases.write_text(
        json.dumps({"q": "?", "reply": "The tank holds 300 litres.", "docs": ["The tank holds 300 litres."]})
    )
    mapped = ("--map", "answer=reply", "--map", "contexts=docs", "--map", "question=q")
    done = jury("audit", cases, "--jury", jury_file, *mapped, "--operator", "number", "--json")
    assert done.exit_code == 0
    assert json.loads(done.stdout)["subjects"][0]["kills"]["number"]["value"] == 1.0
    cases.write_text(json.dumps({"question": "?"}))
    bad = jury("audit", cases, "--jury", jury_file)
    assert bad.exit_code == 2
    assert "right answers" in bad.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [(("--operator", "nmber"), "number"), (("--jury", "no.yaml"), "no.yaml"), (("--min-kill-rate", "90"), "0.9")],
)
def test_bad_input(jury_file, options, said):
    done = jury("audit", *(options if "--jury" in options else ("--jury", jury_file, *options)))
    assert done.exit_code == 2
    assert said in done.stderr


@pytest.mark.slow
def test_the_estimate_asks_nothing(tmp_path, monkeypatch):
    path = tmp_path / "jury.yaml"
    path.write_text("rubric: faithfulness\njurors:\n  gpt: {model: 'openai:gpt-4o-mini'}\n")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    done = jury("audit", "--jury", path, *SMALL, "--dry-run", "--json")
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["calls"] == found["probes"] > 100
    assert "probes" in jury("audit", "--jury", path, *SMALL, "--dry-run").stdout


def test_the_list():
    done = jury("audit", "--list")
    assert done.exit_code == 0
    assert all(one.name in done.stdout for one in OPERATORS)


@pytest.mark.slow
def test_an_outage_is_not_taken_for_opinions(tmp_path, server):
    """A FAIL that only broken jurors caused kills no wrong answer, and the audit says that the jury broke."""
    server.plan = lambda ask: error(400, "no such model")
    critics = ", ".join(f"{{criterion: ok, name: {name}, model: m, base_url: '{server.openai}'}}" for name in "ab")
    path = tmp_path / "jury.yaml"
    path.write_text(f"name: offline\njurors: [{{check: not_empty}}, {critics}]\n")
    done = jury("audit", "--jury", path, *SMALL, "--json")
    assert done.exit_code == 1
    assert "the jury broke on " in done.stderr
    whole, checked, *broken = json.loads(done.stdout)["subjects"]
    assert whole["broken"] == whole["asked"] > 0
    assert (whole["kill_rate"]["n"], whole["originals_passed"]["n"]) == (0, 0)
    assert checked["broken"] == 0
    assert all("no such model" in juror["error"] for juror in broken)
    text = jury("audit", "--jury", path, *SMALL).stdout
    assert "nothing is known of the jury, because it broke on most probes" in text
    assert f"offline: {whole['broken']} of {whole['asked']} probes" in text


def test_cases_that_people_failed_are_left_out_with_a_warning(jury_file, tmp_path, caplog):
    text = "The tank holds 300 litres."
    rows = [
        {"question": str(n), "answer": text, "contexts": [text], "gold": gold}
        for n, gold in enumerate(["PASS", "FAIL"])
    ]
    cases = tmp_path / "cases.jsonl"
    cases.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = jury("audit", cases, "--jury", jury_file, *SMALL)
    assert done.exit_code == 0
    assert "1 case is left out, because the human label is FAIL" in caplog.text


def test_human_labels_in_other_words_are_not_taken_for_right_answers(jury_file, tmp_path, caplog):
    text = "The tank holds 300 litres."
    rows = [
        {"question": str(n), "answer": text, "contexts": [text], "gold": gold} for n, gold in enumerate(["ok", "bad"])
    ]
    cases = tmp_path / "cases.jsonl"
    cases.write_text("".join(json.dumps(row) + "\n" for row in rows))
    refused = jury("audit", cases, "--jury", jury_file, *SMALL)
    assert refused.exit_code == 2
    assert "human labels are bad 1, ok 1" in refused.stderr
    assert "--pass-label LABEL" in refused.stderr
    assert jury("audit", cases, "--jury", jury_file, "--pass-label", "ok", *SMALL).exit_code == 0
    assert "1 case is left out, because the human label is FAIL" in caplog.text


def test_labels_may_have_another_column_and_cases_without_one_are_left_out(jury_file, tmp_path, caplog):
    text = "The tank holds 300 litres."
    rows = [
        {"question": str(n), "answer": text, "contexts": [text], **({"editor": label} if label else {})}
        for n, label in enumerate(["publish", "reject", "", "publish"])
    ]
    cases = tmp_path / "cases.jsonl"
    cases.write_text("".join(json.dumps(row) + "\n" for row in rows))
    audited = ("audit", cases, "--jury", jury_file, *SMALL)
    done = jury(*audited, "--label-column", "editor", "--pass-label", "publish")
    assert done.exit_code == 0, done.output
    assert "1 case is left out, because the human label is FAIL" in caplog.text
    assert "1 case is left out, because it has no human label and others do" in caplog.text
    refused = jury(*audited, "--label-column", "editr")
    assert refused.exit_code == 2
    assert "no case has a label in the column 'editr'. Did you mean 'editor'? There are: editor" in refused.stderr
