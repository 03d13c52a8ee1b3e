"""Output files of commands: they replace no input file, and no file of somebody else without ``--force``."""

import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from jury_adapters.cli.app import app
from jury_adapters.core.installation import needs_extra
from jury_adapters.store import Store
from tests.support.processes import run_command
from tests.support.scripts import run_script

CASES = "id,question,answer,contexts\nq1,A?,b is c.,b is c.\nq2,B?,d is e.,d is f.\n"


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with cases and their results."""
    made = tmp_path_factory.mktemp("judged")
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(made)
        Path("tea.csv").write_text(CASES)
        assert jury("judge", "tea.csv", "--out", "r.jsonl").exit_code == 0
    return made


@pytest.fixture(autouse=True)
def folder(judged: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(judged, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def jury(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments), catch_exceptions=False)


@pytest.mark.parametrize("force", [[], ["--force"]], ids=["", "forced"])
def test_the_page_never_replaces_the_cases_that_the_results_name(force: list[str]):
    result = jury("report", "r.jsonl", "--html", "tea.csv", *force)
    assert result.exit_code == 2
    assert "tea.csv is one of the files that this is made from" in result.stderr
    assert Path("tea.csv").read_text() == CASES


@pytest.mark.slow
@pytest.mark.parametrize("command", [["report", "r.jsonl", "--html"], ["judge", "tea.csv", "--report"]], ids=" ".join)
def test_a_page_replaces_a_page_and_nothing_else_unless_forced(command: list[str]):
    Path("notes.txt").write_text("precious")
    refused = jury(*command, "notes.txt")
    assert refused.exit_code == 2
    assert "notes.txt exists, and jury did not write it; give another name, or --force" in refused.stderr
    assert Path("notes.txt").read_text() == "precious"
    assert jury(*command, "page.html").exit_code == 0
    assert jury(*command, "page.html").exit_code == 0  # an earlier page
    assert jury(*command, "notes.txt", "--force").exit_code == 0
    assert "<title>" in Path("notes.txt").read_text()


@pytest.mark.parametrize("name", ["tea.csv", "r2.jsonl", "jury.yaml"])
def test_junit_replaces_nothing_that_is_read_or_written(name: str):
    Path("jury.yaml").write_text("jurors: [{check: not_empty}]\n")
    Path("r2.jsonl").write_text("{}\n")
    result = jury("judge", "tea.csv", "--jury", "jury.yaml", "--out", "r2.jsonl", "--force", "--junit", name)
    assert result.exit_code == 2
    assert f"{name} is one of the files" in result.stderr
    assert Path("tea.csv").read_text() == CASES


@pytest.mark.parametrize("force", [[], ["--force"]], ids=["", "forced"])
@pytest.mark.parametrize("other", ["--report", "--junit", "--store", "--jury"])
def test_results_never_share_a_file_with_anything_else(other: str, force: list[str]):
    """Also where neither is there yet: the last to be written would be all that is left."""
    if other == "--jury":
        Path("one").write_text("jurors: [{check: not_empty}]\n")
    result = jury("judge", "tea.csv", "--out", "one", other, "./one", *force)
    assert result.exit_code == 2
    assert "one is one of the files that this is made from; give another name" in result.stderr
    assert Path("one").exists() == (other == "--jury")


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["--out", "/dev/full", "--force"], ["--json"], []], ids=" ".join)
def test_a_full_disk_is_told_and_is_no_missed_gate(arguments: list[str]):
    """The exit code 1 would say that the answers are not good enough; and the page does not wait for the summary."""
    with Path("/dev/full").open("w") as full:
        told = None if "--out" in arguments else full.fileno()
        done = run_command("judge", "tea.csv", "--report", "page.html", *arguments, out=told)
    name = "standard output" if told else "/dev/full"
    assert (done.returncode, done.stderr) == (2, f"error: {name}: No space left on device\n")
    assert Path("page.html").exists() == bool(told)


def test_cases_that_are_other_cases_are_refused_and_some_that_changed_are_told():
    Path("other.csv").write_text("question,answer\nx,y\n")
    refused = jury("report", "r.jsonl", "--cases", "other.csv")
    assert refused.exit_code == 2
    assert "other.csv: no case of r.jsonl is in it" in refused.stderr
    Path("edited.csv").write_text(CASES.replace("d is e.", "d is g."))
    told = jury("report", "r.jsonl", "--cases", "edited.csv")
    assert told.exit_code == 0
    assert "edited.csv: 1 case of r.jsonl cannot be found in it as judged" in told.stderr
    assert jury("report", "r.jsonl", "--cases", "tea.csv").stderr == ""


@pytest.mark.slow
@pytest.mark.parametrize("missing", ["markupsafe", "jinja2"])
def test_what_the_page_needs_is_told_and_not_thrown(missing: str):
    """As after ``pip install .[cli]``, where whatever comes with the extra ``report`` is missing."""
    code = f"""
    import sys
    sys.modules[{missing!r}] = None
    from jury_adapters.cli import main
    for command in (["report", "r.jsonl", "--html"], ["judge", "tea.csv", "--report"]):
        sys.argv = ["jury", *command, "p.html"]
        try:
            main()
        except SystemExit as left:
            print(command[0], int(left.code), file=sys.stderr)
    """
    done = run_script(code)
    told = "error: " + needs_extra("the HTML report", missing, "report")
    assert (done.code, done.err.splitlines()) == (0, [told, "report 2", told, "judge 2"])


def test_a_report_is_called_by_its_jury_and_names_lines():
    assert "grounding_screen: 2 cases judged" in jury("report", "r.jsonl").stdout
    assert "q1 (line 2)" in jury("report", "r.jsonl").stdout + jury("judge", "tea.csv").stdout
    assert "mine: 2 cases judged" in jury("report", "r.jsonl", "--title", "mine").stdout


@pytest.mark.slow
def test_a_page_that_compares_says_what_it_compares_with():
    assert jury("judge", "tea.csv", "--out", "r2.jsonl").exit_code == 0
    assert jury("report", "r2.jsonl", "--compare", "r.jsonl", "--html", "page.html").exit_code == 0
    page = Path("page.html").read_text()
    assert "Compared with another run" in page
    assert 'a: <span dir="auto">r.jsonl</span>; b, this run: <span dir="auto">r2.jsonl</span>' in page


def test_what_changed_is_found_in_the_files_that_the_results_name():
    Path("tea2.csv").write_text(CASES.replace("q2,B?,d is e.", "q2,B?,d is f."))
    Path("brief.yaml").write_text("jurors: [{check: contains, texts: [e]}]\n")
    assert jury("judge", "tea.csv", "--jury", "brief.yaml", "--out", "before.jsonl").exit_code == 0
    assert jury("judge", "tea2.csv", "--jury", "brief.yaml", "--out", "after.jsonl").exit_code == 0
    assert (
        "(the answer changed; Contains: PASS -> FAIL)"
        in jury("report", "after.jsonl", "--compare", "before.jsonl").stdout
    )


def test_markdown_has_no_column_of_costs_where_nothing_cost_anything():
    told = jury("report", "r.jsonl", "--markdown").stdout
    assert "| kappa with the rest | abstained | errors |\n" in told
    assert "cost" not in told
    assert "$" not in told


@pytest.mark.parametrize("force", [[], ["--force"]])
@pytest.mark.parametrize(
    "command",
    [
        ["report", "r.jsonl", "--html", "runs.db"],
        ["judge", "tea.csv", "--report", "runs.db"],
        ["judge", "tea.csv", "--junit", "runs.db"],
    ],
)
def test_a_store_is_never_replaced(command: list[str], force: list[str]):
    """A slip of the hand beside --store would lose every judgment that was paid for."""
    with Store("runs.db"):
        pass
    before = Path("runs.db").read_bytes()
    done = jury(*command, *force)
    assert done.exit_code == 2
    assert "is never replaced; give another name" in " ".join(done.stderr.split())
    assert Path("runs.db").read_bytes() == before
