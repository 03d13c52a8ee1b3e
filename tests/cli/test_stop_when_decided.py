"""``jury judge --stop-when-decided``: the run ends when the gate of ``--fail-under`` is decided."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest
from support.vendor import VendorServer
from typer.testing import CliRunner, Result

from jury_adapters import Ensemble, judge
from jury_adapters.cli.app import app
from jury_adapters.report import Report

try:
    RUNNER = CliRunner(mix_stderr=False)  # click before 8.2 mixes them otherwise
except TypeError:
    RUNNER = CliRunner()

JURY = "{name: answered, jurors: [{check: not_empty}]}"
CRITIC = 'jurors: [{rubric: correctness_without_reference, model: "openai:m"}]'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "cases.jsonl", rows(1000, failing=30))
    (tmp_path / "jury.yaml").write_text(JURY)
    return tmp_path


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The results of a run that stopped."""
    made = tmp_path_factory.mktemp("stopped")
    write(made / "cases.jsonl", rows(1000, failing=30))
    (made / "jury.yaml").write_text(JURY)
    assert run(made, "--fail-under", 0.9, "--stop-when-decided", "--out", made / "r.jsonl").exit_code == 0
    return (made / "r.jsonl").read_text()


def rows(number: int, *, failing: int) -> list[dict[str, str]]:
    """Cases of which the first few fail: the order of a file is no random order."""
    return [
        {"id": f"c{n}", "question": "When?", "answer": "" if n < failing else "In 2018. TRUTH=YES"}
        for n in range(number)
    ]


def write(path: Path, cases: Sequence[Mapping[str, object]]) -> None:
    path.write_text("".join(json.dumps(case) + "\n" for case in cases))


def run(folder: Path, *options: object, cases: str = "cases.jsonl", stdin: str | None = None) -> Result:
    given = ["judge", cases if cases == "-" else folder / cases, "--jury", folder / "jury.yaml", *options]
    return RUNNER.invoke(app, list(map(str, given)), catch_exceptions=False, input=stdin)


def told(result: Result) -> dict[str, object]:
    found = json.loads(result.stdout)
    assert isinstance(found, dict)
    return found


@pytest.mark.slow
def test_a_gate_that_is_met_ends_the_run_and_everything_says_so(folder: Path):
    options = ("--out", folder / "r.jsonl", "--junit", folder / "j.xml", "--report", folder / "p.html")
    result = run(folder, "--fail-under", 0.9, "--stop-when-decided", "--seed", 1, *options)
    assert result.exit_code == 0, result.output
    results = [json.loads(line) for line in (folder / "r.jsonl").read_text().splitlines()]
    assert 30 < len(results) < 300
    assert all(row["item_id"] == f"c{row['line'] - 1}" for row in results)  # drawn at random, at their own places
    assert [row["line"] for row in results] != sorted(row["line"] for row in results)
    left = 1000 - len(results)
    sentence = "gate of 0.9 met; all 1,000 cases decide otherwise with a chance of at most 5 %"
    assert f"decision         {sentence}\n" in result.stdout
    assert f"cases saved      {left} of 1,000 cases, {left / 10:.1f} %\n" in result.stdout
    assert "random order     seed 1\n" in result.stdout
    assert "95 % interval" not in result.stdout  # it is for a number of cases fixed beforehand
    suite = ElementTree.parse(folder / "j.xml").getroot()[0]
    assert {one.get("name"): one.get("value") for one in suite.iter("property")} == {
        "fail-under": "0.9", "decision": sentence, "cases in the file": "1000", "seed": "1",
    }  # fmt: skip
    assert len(list(suite.iter("testcase"))) == len(results)
    page = (folder / "p.html").read_text()
    assert sentence in page
    assert f"{left} cases were not judged, so this page is about the other {len(results)}" in page
    for form in ("--quiet", "--markdown"):
        again = RUNNER.invoke(app, ["report", str(folder / "r.jsonl"), "--html", str(folder / "again.html"), form])
        assert (again.exit_code, sentence in again.stdout) == (0, form == "--markdown")
        assert "95 % interval" not in again.stdout
    assert sentence in (folder / "again.html").read_text()


@pytest.mark.slow
@pytest.mark.parametrize(
    "draw",
    [
        None, 1, {}, {"at_least": 0.9}, {"at_least": 2, "cases": 1000, "seed": 1},
        {"at_least": 0.9, "cases": 3, "seed": 1}, {"at_least": 0.9, "cases": True, "seed": 1},
        {"at_least": 0.9, "cases": 10**400, "seed": 1}, {"at_least": 0.9, "cases": -5, "seed": 1},
    ],
)  # fmt: skip
def test_results_whose_draw_is_not_one_are_reported_like_others(stopped: str, folder: Path, draw: object):
    results = [json.loads(line) | {"draw": draw} for line in stopped.splitlines()]
    write(folder / "r.jsonl", results)
    report = RUNNER.invoke(app, ["report", str(folder / "r.jsonl"), "--json"])
    assert (report.exit_code, told(report)["gate_decision"]) == (0, None)


@pytest.mark.slow
def test_the_report_of_a_stopped_run_has_the_figures_of_the_run(folder: Path):
    judged = told(run(folder, "--fail-under", 0.9, "--stop-when-decided", "--out", folder / "r.jsonl", "--json"))
    report = told(RUNNER.invoke(app, ["report", str(folder / "r.jsonl"), "--json"]))
    for name in ("cases", "passed", "pass_rate", "pass_rate_interval", "gate_decision"):
        assert report[name] == judged[name]
    first, second = (folder / "r.jsonl").read_text().splitlines()[:2]
    other = json.loads(second) | {"draw": {"at_least": 0.9, "cases": 1000, "seed": -1}}
    (folder / "two.jsonl").write_text(f"{first}\n{json.dumps(other)}\n")  # put together from two runs
    assert told(RUNNER.invoke(app, ["report", str(folder / "two.jsonl"), "--json"]))["gate_decision"] is None


@pytest.mark.slow
def test_a_gate_that_is_missed_exits_with_1_long_before_the_end(folder: Path):
    result = run(folder, "--fail-under", 0.99, "--stop-when-decided", "--seed", 1, "--json")
    found, decision = told(result), told(result)["gate_decision"]
    assert result.exit_code == 1
    assert "--fail-under: gate of 0.99 missed" in result.stderr
    assert isinstance(decision, dict)
    assert (decision["met"], decision["error_at_most"], decision["cases"]) == (False, 0.05, 1000)
    assert decision["cases_saved"] == 1000 - found["cases"] > 300
    assert (found["pass_rate_interval"], decision["cost_saved_usd"]) == (None, 0)


@pytest.mark.slow
def test_the_same_seed_judges_the_same_cases(folder: Path):
    lines = []
    for seed in (4, 4, 5):
        run(folder, "--fail-under", 0.9, "--stop-when-decided", "--seed", seed, "--out", folder / "r.jsonl", "--force")
        lines.append([json.loads(line)["line"] for line in (folder / "r.jsonl").read_text().splitlines()])
    assert lines[0] == lines[1] != lines[2]


def test_a_file_that_needs_every_case_is_judged_whole_and_keeps_its_interval(folder: Path):
    write(folder / "cases.jsonl", rows(10, failing=1))
    result = run(folder, "--fail-under", 0.9, "--stop-when-decided", "--seed", 1)  # the one that fails is not the last
    assert result.exit_code == 0
    assert "decision         gate of 0.9 met; every case was judged" in result.stdout
    assert "9 of 10 decided: 90.0 % (95 % interval" in result.stdout
    assert "cases saved" not in result.stdout


@pytest.mark.slow
def test_without_the_option_nothing_changes(folder: Path):
    found = told(run(folder, "--fail-under", 0.9, "--json"))
    assert (found["cases"], found["gate_decision"]) == (1000, None)


def test_the_population_is_what_can_be_read_within_the_limit(folder: Path):
    text = (folder / "cases.jsonl").read_text()
    result = run(
        folder, "--fail-under", 0.5, "--stop-when-decided", "--limit", 500, "--seed", 1, "--strict", "--json",
        cases="-", stdin=text.replace("\n", "\nnot JSON\n", 1),
    )  # fmt: skip
    decision = told(result)["gate_decision"]
    assert isinstance(decision, dict)
    assert (decision["cases"], decision["met"], told(result)["unreadable_rows"]) == (500, True, 1)
    assert (result.exit_code, "--strict minds" in result.stderr) == (1, True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--stop-when-decided"], "give --fail-under"),
        (["--stop-when-decided", "--dry-run"], "give --fail-under"),
        (["--fail-under", "0.9", "--seed", "1"], "give both"),
    ],
)
def test_an_option_without_the_one_it_needs_is_refused(folder: Path, options: list[str], message: str):
    result = run(folder, *options, "--out", folder / "r.jsonl")
    said = " ".join(result.stderr.replace("│", " ").split())  # typer draws a box here
    assert (result.exit_code, message in said) == (2, True)
    assert not (folder / "r.jsonl").exists()


def test_gates_of_the_jury_file_need_every_verdict(folder: Path):
    (folder / "jury.yaml").write_text("gates: {min_agreement: 0.5}\njurors: [{check: not_empty}]")
    result = run(folder, "--fail-under", 0.9, "--stop-when-decided")
    assert (result.exit_code, "remove one of the two" in result.stderr) == (2, True)


@pytest.mark.slow
def test_a_dry_run_says_that_fewer_cases_may_be_judged(folder: Path):
    result = run(folder, "--fail-under", 0.9, "--stop-when-decided", "--dry-run")
    assert (result.exit_code, "fewer may be judged" in result.stderr) == (0, True)


def test_labels_without_a_meaning_end_the_run_as_the_error_they_are(folder: Path):
    write(folder / "cases.jsonl", [{**row, "votes": {"ann": "blue"}} for row in rows(200, failing=0)])
    (folder / "jury.yaml").write_text("jurors: [{recorded: ann}]")
    result = run(folder, "--fail-under", 0.9, "--stop-when-decided", "--concurrency", 4, "--json")
    assert (result.exit_code, "give it with labels:" in result.stderr) == (2, True)
    assert told(result)["cases"] < 100


def slow_to_fail() -> Ensemble:
    """A jury whose failing cases take much longer: by the clock, the first 100 verdicts are all PASS."""

    @judge(name="slow to fail")
    async def opinion(case: object) -> bool:
        good = bool(getattr(case, "answer", ""))
        if not good:
            await asyncio.sleep(0.05)
        return good

    return Ensemble([opinion])


@pytest.mark.slow
def test_verdicts_count_in_the_order_of_the_draw_and_not_as_they_finish(folder: Path, monkeypatch: pytest.MonkeyPatch):
    write(folder / "cases.jsonl", rows(200, failing=80))
    monkeypatch.setattr("jury_adapters.cli.judge._jury", lambda *_: slow_to_fail())
    slow = run(folder, "--fail-under", 0.8, "--stop-when-decided", "--seed", 3, "--concurrency", 16, "--json")
    monkeypatch.undo()
    quick = run(folder, "--fail-under", 0.8, "--stop-when-decided", "--seed", 3, "--concurrency", 1, "--json")
    assert (slow.exit_code, quick.exit_code) == (1, 1)
    begun_when_decided = told(slow)["cases"]
    assert told(quick)["cases"] <= begun_when_decided < 150  # those in flight are finished, and kept


@pytest.mark.slow
def test_a_budget_that_is_spent_first_decides_nothing_early(
    folder: Path, server: VendorServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OPENAI_BASE_URL", server.openai)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-for-the-test")
    write(folder / "cases.jsonl", rows(200, failing=0))
    (folder / "jury.yaml").write_text(CRITIC)
    options = ("--fail-under", 0.9, "--stop-when-decided", "--concurrency", 1, "--json")
    spent = run(folder, *options, "--max-calls", 5)
    assert len(server.asks) == 5
    assert "the budget was spent before --fail-under was decided" in spent.stderr
    assert (told(spent)["cases"], told(spent)["abstained"]) == (200, 195)
    assert spent.exit_code == 1
    assert "195 cases of 200 were not decided, because the budget was spent" in " ".join(spent.stderr.split())
    enough = run(folder, *options, "--max-calls", 150)
    assert (enough.exit_code, "budget" in enough.stderr) == (0, False)
    assert 20 < int(str(told(enough)["calls"])) < 60


def test_ctrl_c_leaves_the_gate_undecided(folder: Path, monkeypatch: pytest.MonkeyPatch):
    @judge(name="impatient")
    def opinion(case: object) -> bool:
        if getattr(case, "item_id", "") == "c7":
            raise KeyboardInterrupt
        return True

    write(folder / "cases.jsonl", rows(9, failing=0))
    monkeypatch.setattr("jury_adapters.cli.judge._jury", lambda *_: Ensemble([opinion]))
    result = run(folder, "--fail-under", 1, "--stop-when-decided", "--concurrency", 1, "--seed", 2)
    assert (result.exit_code, "stopped by Ctrl-C" in result.stderr) == (130, True)
    assert "decision         gate of 1 not decided" in result.stdout


@pytest.mark.slow
def test_figures_of_a_stopped_run_that_are_for_a_fixed_sample_say_so(folder: Path, stopped: str) -> None:
    (folder / "r.jsonl").write_text(stopped)
    done = run(folder, "--out", folder / "whole.jsonl", "-q")
    assert done.exit_code == 0

    def report(*arguments: object) -> str:
        return RUNNER.invoke(app, list(map(str, arguments)), catch_exceptions=False).stdout

    compared = report("compare", folder / "whole.jsonl", folder / "r.jsonl")
    assert "Warning: b was stopped when its gate of 0.9 was decided, after " in compared
    assert "judge the whole file to compare" in compared
    assert "was stopped" not in report("compare", folder / "whole.jsonl", folder / "whole.jsonl")
    python = Report.read(folder / "r.jsonl").compare(Report.read(folder / "r.jsonl")).warnings
    assert any("a was stopped" in one and ", and b was stopped" in one for one in python)
    measured = report("report", folder / "r.jsonl", "--agreement", "--draws", 100)
    assert "The run was stopped when its gate of 0.9 was decided, after " in measured
    assert "was stopped" not in report("report", folder / "whole.jsonl", "--agreement", "--draws", 100)
    assert "so this figure is biased" in Report.read(folder / "r.jsonl").to_html()
