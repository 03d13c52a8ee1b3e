"""Results of a run that did not end: whatever reads them says how many of its cases they have."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from jury_adapters.cli.app import app
from jury_adapters.report import Report

COUNT = 60
SAID = "20 of 60 cases of the run"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(one) for one in arguments], catch_exceptions=False)


def judge(*more: object, out: str = "r.jsonl") -> Result:
    return run("judge", "c.jsonl", "--jury", "j.yaml", "--out", out, "-q", "--force", *more)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write sixty cases and a row that cannot be read, and judge them."""
    monkeypatch.chdir(tmp_path)
    rows = [{"id": f"q{n}", "team": n // 3, "question": f"{n}?", "answer": f"In {2017 + n % 2}."} for n in range(COUNT)]
    lines = [json.dumps(row) for row in rows]
    Path("c.jsonl").write_text("\n".join([*lines[:30], "not JSON", *lines[30:], ""]))
    Path("j.yaml").write_text('jurors: [{check: contains, texts: ["2018"]}, {check: not_empty}]\nvoting: unanimous\n')
    judge()
    return tmp_path


def kill(results: str = "r.jsonl", after: int = 20) -> None:
    """Leave what a killed run leaves."""
    lines = Path(results).read_text().splitlines(keepends=True)
    Path(results).write_text("".join(lines[:after]))


def test_a_whole_run_says_nothing() -> None:
    for done in (run("report", "r.jsonl", "--html", "p.html"), run("report", "r.jsonl", "--markdown")):
        assert done.exit_code == 0
        assert "cases of the run" not in done.stdout
    assert "cases of the run" not in Path("p.html").read_text()
    assert json.loads(run("report", "r.jsonl", "--json").stdout)["missing_cases"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("cases_are_there", [True, False])
def test_every_form_of_the_report_says_so(cases_are_there: bool) -> None:
    kill()
    if not cases_are_there:
        Path("c.jsonl").unlink()
    done = run("report", "r.jsonl", "--html", "p.html")
    assert done.exit_code == 0
    assert SAID in done.stdout
    assert SAID in Path("p.html").read_text()
    assert SAID in run("report", "r.jsonl", "--markdown").stdout
    assert json.loads(run("report", "r.jsonl", "--json").stdout)["missing_cases"] == 40
    assert SAID in " ".join(run("report", "r.jsonl", "--agreement", "--draws", 100).stderr.split())


def test_labels_of_a_file_leave_the_message() -> None:
    kill()
    labels = [json.dumps({"id": f"q{n}", "gold": "PASS"}) for n in range(COUNT)]
    Path("l.jsonl").write_text("\n".join(labels))
    assert SAID in run("report", "r.jsonl", "--labels", "l.jsonl").stdout


def test_a_comparison_names_the_run() -> None:
    judge(out="b.jsonl")
    kill()
    for done in (run("compare", "r.jsonl", "b.jsonl"), run("report", "b.jsonl", "--compare", "r.jsonl")):
        assert done.exit_code == 0
        assert f"Warning: the results of a have only {SAID}" in " ".join(done.stdout.split())
    a, b = (Report.read(name) for name in ("r.jsonl", "b.jsonl"))
    assert SAID in b.compare(a).warnings[0]


@pytest.mark.slow
@pytest.mark.parametrize("more", [("--limit", 20), ("--group", "team"), ("--limit", 45, "--group", "team")])
def test_the_users_choice_of_cases_is_the_run(more: tuple[object, ...]) -> None:
    judge(*more)
    assert "cases of the run" not in run("report", "r.jsonl").stdout
    kill(after=10)
    of = min(int(str(more[1])), COUNT) if more[0] == "--limit" else COUNT
    assert f"10 of {of} cases of the run" in run("report", "r.jsonl").stdout


def test_a_run_that_stopped_at_its_gate_ended() -> None:
    done = judge("--fail-under", 0.9, "--stop-when-decided", "--seed", 1)
    assert done.exit_code == 1
    judged = len(Path("r.jsonl").read_text().splitlines())
    assert judged < COUNT
    assert "cases of the run" not in run("report", "r.jsonl").stdout
    kill(after=1)
    assert "1 of 60 cases of the run" in run("report", "r.jsonl").stdout


ROWS = {
    "c": json.dumps({"answer": "In 2018."}),  # a case
    "x": "not JSON",
    "u": json.dumps({"unknown": "In 2018."}),
    "e": "",
}


@pytest.mark.slow
@pytest.mark.parametrize("rows", ["cuc", "uxeccucxc", "ccuuxux", "cu" * 5 + "u" * 120, "c" * 3 + "u" * 40, "xcuexcc"])
@pytest.mark.parametrize("limit", [None, 1, 2, 100])
def test_rows_that_are_no_cases_are_not_missing(rows: str, limit: int | None) -> None:
    Path("c.jsonl").write_text("\n".join(ROWS[row] for row in rows) + "\n")
    judge(*([] if limit is None else ["--limit", limit]))
    cases = len(Path("r.jsonl").read_text().splitlines())
    assert cases == min(rows.count("c"), limit or 100)
    assert "cases of the run" not in run("report", "r.jsonl").stdout
    if cases > 1 and not rows.endswith("u" * 100):
        kill(after=cases - 1)
        assert f"{cases - 1} of " in run("report", "r.jsonl").stdout
        assert "cases of the run" in run("report", "r.jsonl").stdout


def test_tables_and_lists_are_counted_too() -> None:
    Path("c.csv").write_text('answer,note\n"In\n2018.",a\n,\nIn 2018.,\n,\n\n')
    Path("c.json").write_text(json.dumps([{"answer": "In 2018."}, {"unknown": "x"}, {"answer": "In 2018."}]))
    for name in ("c.csv", "c.json"):
        assert run("judge", name, "--jury", "j.yaml", "--out", "r.jsonl", "-q", "--force").exit_code == 0
        cases = len(Path("r.jsonl").read_text().splitlines())
        assert cases >= 2
        assert "cases of the run" not in run("report", "r.jsonl").stdout
        kill(after=cases - 1)
        assert f"{cases - 1} of " in run("report", "r.jsonl").stdout
        assert "cases of the run" in run("report", "r.jsonl").stdout


def test_standard_input_has_no_known_number_of_cases() -> None:
    arguments = ["judge", "-", "--jury", "j.yaml", "--out", "s.jsonl", "-q"]
    assert CliRunner().invoke(app, arguments, input=Path("c.jsonl").read_text()).exit_code == 0
    kill("s.jsonl")
    assert "cases of the run" not in run("report", "s.jsonl").stdout


def test_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    """The page of the run itself says so, and whatever reads the results."""
    from jury_adapters.cli.results import Results

    written, count = Results.write, 0

    def write(*arguments: object, **options: object) -> None:
        nonlocal count
        count += 1
        written(*arguments, **options)  # type: ignore[arg-type]
        if count == 20:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Results, "write", write)
    done = run("judge", "c.jsonl", "--jury", "j.yaml", "--out", "r.jsonl", "--report", "p.html", "--force")
    assert done.exit_code == 130
    assert SAID in done.stdout
    assert SAID in Path("p.html").read_text()
    assert SAID in run("report", "r.jsonl").stdout


@pytest.mark.slow
@pytest.mark.parametrize("planned", [None, "60", -1, True, 10**400, 1.5])
def test_results_whose_number_is_not_one_are_reported_like_others(planned: object) -> None:
    kill()
    rows = [json.loads(line) | {"planned": planned} for line in Path("r.jsonl").read_text().splitlines()]
    Path("r.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = run("report", "r.jsonl")
    assert done.exit_code == 0
    assert "cases of the run" not in done.stdout


def test_results_put_together_are_not_accused() -> None:
    whole = Path("r.jsonl").read_text()
    kill()
    Path("r.jsonl").write_text(Path("r.jsonl").read_text() + whole)
    assert "cases of the run" not in run("report", "r.jsonl").stdout


def test_a_written_copy_of_an_unfinished_run_says_so_too() -> None:
    kill()
    Report.read("r.jsonl").write_results("copy.jsonl")
    assert SAID in run("report", "copy.jsonl").stdout
