"""Failed runs of the application: no juror judged them, and a report on the votes says that they are left out."""

import html
import json
from dataclasses import replace
from math import sqrt

import numpy as np
import pytest
from typer.testing import CliRunner

from jury_adapters import Case, Ensemble, Report, judge
from jury_adapters.calibration import Votes, agreement_report, true_pass_rate
from jury_adapters.cli.app import app
from jury_adapters.core.return_values import run_failed
from jury_adapters.core.statistics import wilson


@judge
def good(case):
    return case.answer == "good"


PANEL = Ensemble([good])


def batch(passed, failed, crashed, *, labelled=True, labelled_crashes=0, groups=0):
    """Cases with their judgments: of runs that ended, and of runs of the application that failed."""
    found = []
    for number in range(passed + failed + crashed):
        answer = "good" if number < passed else "bad"
        ended = number < passed + failed
        said = labelled if ended else number < passed + failed + labelled_crashes
        metadata = {"item_id": f"q{number}", **({"gold": "PASS" if answer == "good" else "FAIL"} if said else {})}
        metadata |= {"user": number % groups} if groups else {}
        case = Case(question=f"q{number}", answer=answer if ended else None, metadata=metadata)
        found.append((case, PANEL.judge(case) if ended else run_failed(PANEL, "503")))
    return found


def jury(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments)], catch_exceptions=False)


LEFT_OUT = "50 failed runs of the application are left out of the figures, because no juror judged them."
OF_ALL = (
    "50 failed runs of the application are left out; if failed runs count as FAIL, about 37.0 % of all 100 items pass "
    "(95 % interval 27.2 % to 45.7 %)."
)


def test_every_form_of_the_report_says_how_many_runs_are_left_out_and_of_what_the_rate_is(tmp_path):
    results = tmp_path / "results.jsonl"
    report = Report.from_results(batch(37, 13, 50, labelled_crashes=8))
    report.write_results(results, cases=tmp_path / "cases.jsonl")
    text = jury("report", results, "--agreement").output
    assert text.splitlines()[:2] == [
        "50 items, 1 juror, 50 votes (0.0 % missing), 50 items with a human label",
        LEFT_OUT,
    ]
    assert text.count(OF_ALL) == 2  # in short, and beside the rate
    assert "8 labelled cases are left out because the run of the application failed" in " ".join(text.split())
    page = html.unescape(report.to_html())
    assert LEFT_OUT in page
    assert OF_ALL in page
    figures = json.loads(jury("report", results, "--agreement", "--json").output)
    assert figures["failed_runs"] == 50
    (rate,) = figures["sections"]["Rates"]
    assert rate["value"] == 0.74
    assert (rate["details"]["failed_runs"], rate["details"]["all_runs"]) == (50, 0.37)


def test_the_rate_of_all_runs_is_that_of_the_plain_report_where_jury_and_labels_agree():
    for passed, failed, crashed in [(37, 13, 50), (2, 1, 3), (40, 0, 3), (1, 20, 4)]:
        results = batch(passed, failed, crashed)
        details = true_pass_rate(Votes.from_results(results)).details
        assert details["all_runs"] == pytest.approx(Report.from_results(results).figures.summary.pass_rate)


def test_the_margins_of_both_intervals_are_combined():
    found = true_pass_rate(Votes.from_results(batch(30, 10, 10)))
    (low, high), (least, most) = found.interval, wilson(40, 50)
    assert found.details["all_runs_interval"] == pytest.approx(
        [
            0.6 - sqrt((0.8 * (0.75 - low)) ** 2 + (0.75 * (0.8 - least)) ** 2),
            0.6 + sqrt((0.8 * (high - 0.75)) ** 2 + (0.75 * (most - 0.8)) ** 2),
        ]
    )


@pytest.mark.slow
@pytest.mark.parametrize(("ended", "rate"), [(0.5, 0.74), (0.9, 0.9), (0.97, 0.6), (0.7, 0.2)])
def test_the_interval_of_all_runs_covers(ended, rate):
    random = np.random.default_rng(3)
    votes = Votes.from_results(batch(30, 30, 0, labelled=False))
    covered = draws = 0
    for _ in range(400):
        runs = int(random.binomial(60, ended))
        passed = random.random(runs) < rate
        judged = passed ^ (random.random(runs) < 0.1)  # the jury errs
        codes = np.where(judged, votes.pass_code, 1 - votes.pass_code).astype(np.int64)
        truth = np.where(passed, votes.pass_code, 1 - votes.pass_code).astype(np.int64)
        truth[random.random(runs) < 0.3] = -1
        drawn = replace(
            votes.take(range(runs)),
            codes=codes[:, None],
            gold=truth,
            verdicts=judged.astype(np.int64),
            failed_runs=60 - runs,
        )
        found = true_pass_rate(drawn).details["all_runs_interval"]
        if found is not None:
            draws += 1
            covered += found[0] <= ended * rate <= found[1]
    assert draws > 300
    assert covered / draws > 0.93


def test_runs_are_left_out_without_labels_and_of_a_few_votes():
    report = agreement_report(Votes.from_results(batch(2, 1, 1, labelled=False)), draws=0)
    lines = str(report).splitlines()
    assert lines[0] == "3 items, 1 juror, 3 votes (0.0 % missing), 0 items with a human label"
    assert lines[1] == "1 failed run of the application is left out of the figures, because no juror judged it."
    assert "Rates" not in report.sections
    assert "failed" not in str(agreement_report(Votes.from_results(batch(2, 1, 0)), draws=0))


def test_a_run_that_is_there_twice_counts_once():
    results = batch(3, 3, 2)
    assert Votes.from_results(results + results).failed_runs == 2
    assert Votes.from_verdicts([judgment for _, judgment in results]).failed_runs == 2


def test_the_rate_of_all_runs_has_no_interval_for_groups():
    votes = Votes.from_results(batch(20, 10, 10, groups=4), group="user")
    found = true_pass_rate(votes)
    assert (found.details["all_runs"], found.details["all_runs_interval"]) == (pytest.approx(0.5), None)
    assert found.sentence.endswith("if failed runs count as FAIL, about 50.0 % of all 40 items pass.")


def test_a_rate_that_is_not_that_of_all_items_is_not_extended_to_failed_runs():
    found = true_pass_rate(Votes.from_results(batch(20, 10, 10)), random_sample=False)
    assert (found.details["failed_runs"], found.details["all_runs"]) == (10, None)
    assert found.sentence.endswith("10 failed runs of the application are left out.")


def test_a_part_of_the_votes_knows_of_no_failed_runs():
    votes = Votes.from_results(batch(20, 10, 10))
    assert (votes.failed_runs, votes.panel(votes.jurors).failed_runs, votes.take([0, 1]).failed_runs) == (10, 10, 0)
