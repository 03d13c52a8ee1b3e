"""``jury report`` and ``jury judge --report``."""

import json
from importlib.resources import files

import pytest
from typer.testing import CliRunner

from jury_adapters.cli.app import app
from jury_adapters.core.row_files import read_rows
from jury_adapters.report import Report

VOTES = files("jury_adapters.cli") / "data" / "codefeedback_200.jsonl.gz"
EXAMPLES = files("jury_adapters.cli") / "data" / "grounding_examples.jsonl"
PANEL = ("gpt-4o-mini", "gemini-1.5-flash", "claude_3.5_haiku")


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """The results of two juries on the same cases."""
    paths, folder = [], tmp_path_factory.mktemp("results")
    for name, panel in (("before", PANEL[:1]), ("after", PANEL)):
        jurors = ", ".join(f"{{recorded: {juror}, labels: {{valid: pass, invalid: fail}}}}" for juror in panel)
        (folder / f"{name}.yaml").write_text(f"jurors: [{jurors}]\n")
        paths.append(folder / f"{name}.jsonl")
        assert run("judge", VOTES, "--jury", folder / f"{name}.yaml", "--out", paths[-1]).exit_code == 0
    return paths


def test_summary_page_and_comparison(tmp_path, results):
    before, after = results
    page = tmp_path / "out.html"
    result = run("report", after, "--html", page, "--cases", VOTES, "--compare", before, "--title", "Feedback")
    assert result.exit_code == 0, result.output
    assert "Feedback: 200 cases judged\n" in result.stdout
    assert "b minus a, 95 % interval" in result.stdout
    html = page.read_text(encoding="utf-8")
    assert "<title>Feedback</title>" in html
    assert "Compared with another run" in html


@pytest.mark.slow
def test_json_and_markdown(results):
    before, after = results
    told = json.loads(run("report", after, "--compare", before, "--json").stdout)
    assert (told["cases"], told["compared"]["paired"]) == (200, 200)
    assert told["compared"]["difference"] == pytest.approx(
        told["compared"]["rate_after"] - told["compared"]["rate_before"]
    )
    assert run("report", after, "--markdown").stdout.startswith("### Jury report: `after.jsonl`")
    both = run("report", after, "--markdown", "--json")
    assert both.exit_code == 2
    assert "give one of them" in both.stderr


@pytest.mark.slow
def test_judge_writes_the_page_with_texts(tmp_path):
    page = tmp_path / "page.html"
    assert run("judge", EXAMPLES, "--report", page).exit_code == 0
    html = page.read_text(encoding="utf-8")
    assert "grounding_screen" in html
    assert '"question":' in html


def test_the_page_replaces_none_of_its_sources(tmp_path, results):
    after = results[1]
    kept = after.read_bytes()
    result = run("report", after, "--html", after)
    assert result.exit_code == 2
    assert "is one of the files" in result.stderr
    cases = tmp_path / "cases.jsonl"
    cases.write_bytes(EXAMPLES.read_bytes())
    assert run("judge", cases, "--report", cases).exit_code == 2
    assert (after.read_bytes(), cases.read_bytes()) == (kept, EXAMPLES.read_bytes())


@pytest.mark.parametrize("place", ["missing/page.html", "."])
def test_a_page_that_cannot_be_written_is_told(tmp_path, results, place):
    result = run("report", results[0], "--html", tmp_path / place)
    assert result.exit_code == 2
    assert "error:" in result.stderr


def test_judge_finds_out_before_the_first_case(tmp_path):
    out = tmp_path / "results.jsonl"
    result = run("judge", EXAMPLES, "--out", out, "--report", tmp_path / "missing" / "page.html")
    assert result.exit_code == 2
    assert "no such folder" in result.stderr
    assert not out.exists()


def test_bad_input_is_named(tmp_path):
    path = tmp_path / "cases.jsonl"
    path.write_text('{"question": "q"}\n')
    result = run("report", path)
    assert result.exit_code == 2
    assert "it has no verdict" in result.stderr


@pytest.mark.slow
@pytest.mark.parametrize("labelled", [False, True])
def test_the_page_and_the_agreement_command_tell_the_same_figures_of_one_file(tmp_path, results, labelled):
    """The same intervals to the last digit, although one reads verdicts and the other the file."""
    rows = [{**row.values, "gold": "PASS" if row.values["gold"] == "valid" else "FAIL"} for row in read_rows(VOTES)]
    cases = tmp_path / "labelled.jsonl"
    cases.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    told = json.loads(
        run("report", "--agreement", results[1], *(["--cases", cases] if labelled else []), "--json").stdout
    )
    page = Report.read(results[1], cases=cases if labelled else None).agreement.report
    assert page is not None
    assert json.loads(json.dumps(page.to_dict())) == told
    assert told["labelled"] == 200  # the results hold the labels too
    assert sum("interval" in one for found in told["sections"].values() for one in found) > 5


@pytest.mark.slow
@pytest.mark.parametrize(("broken", "listed"), [(1, 1), (25, 20)])
def test_the_page_names_the_rows_that_could_not_be_read(tmp_path, broken, listed):
    cases, out, page = tmp_path / "cases.jsonl", tmp_path / "out.jsonl", tmp_path / "page.html"
    cases.write_text('{"question": "q", "answer": "a"}\n' + "<b>\n" * broken, encoding="utf-8")
    assert run("judge", cases, "--out", out, "--report", page).exit_code == 0
    first = page.read_text(encoding="utf-8")
    assert run("report", out, "--cases", cases, "--html", page).exit_code == 0
    for html in (first, page.read_text(encoding="utf-8")):
        assert html.count(": not JSON: Expecting value") == listed
        assert "line 2: not JSON" in html
        assert ("<li>and 5 more</li>" in html) is (broken == 25)
        assert ("and is not part of this report." in html) is (broken == 1)


def test_the_rows_of_a_list_are_named_as_items(tmp_path):
    cases, page = tmp_path / "cases.json", tmp_path / "page.html"
    cases.write_text('[{"question": "q", "answer": "a"}, "<i>no case</i>"]', encoding="utf-8")
    assert run("judge", cases, "--report", page).exit_code == 0
    html = page.read_text(encoding="utf-8")
    assert "item 2: expected an object with columns, not str" in html


@pytest.mark.slow
def test_a_page_without_texts_says_how_to_add_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cases.jsonl").write_text('{"id": "a", "answer": "It is long."}\n')
    assert run("judge", "cases.jsonl", "--out", "results.jsonl").exit_code == 0
    said = run("report", "results.jsonl", "--html", "page.html").stderr
    assert "page.html is without the texts of the cases, which results do not hold; add them: --cases cases.jsonl" in (
        " ".join(said.split())
    )
    assert "It is long." not in (tmp_path / "page.html").read_text()
    assert "texts" not in run("report", "results.jsonl", "--html", "page.html", "--cases", "cases.jsonl").stderr
    assert "It is long." in (tmp_path / "page.html").read_text()
