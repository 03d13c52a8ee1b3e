"""A comparison takes a FAIL that only broken jurors caused as undecided, as the report of one run does."""

import pytest

from jury_adapters import Ensemble, Report, Scorecard, judge


@judge
def sound(case):
    return "wrong" not in case.answer


@judge
def down(case):
    raise ConnectionError("503")


@judge
def down_at_times(case):
    return sound(case) if int(case.metadata["id"]) % 2 else down(case)


UP = Ensemble([sound.named(name) for name in "abc"])
OUTAGE = Ensemble([sound.named("a"), down.named("b"), down.named("c")])
HALF = Ensemble([sound.named("a"), down_at_times.named("b"), down_at_times.named("c")])


def rows(version):
    return [{"question": f"Q{i}?", "answer": f"answer {version}", "metadata": {"id": str(i)}} for i in range(40)]


def report(jury, version):
    return Report.from_results(jury.judge_pairs(rows(version)))


@pytest.mark.parametrize("version", [1, 2], ids=["same answers", "other answers"])
def test_an_outage_is_not_a_worse_system(version):
    found = report(UP, 1).compare(report(OUTAGE, version))
    assert (found.paired, found.decided, found.difference) == (40, 0, None)
    assert "better" not in str(found)
    assert "lenient" not in str(found)
    assert (found.better, found.worse) == (0, 0)
    assert all(flip.after == "ERROR" for flip in found.flips)


def test_the_cases_that_were_decided_in_spite_of_it_count():
    found = report(UP, 1).compare(report(HALF, 2))
    assert (found.decided, found.rate_before, found.rate_after) == (20, 1.0, 1.0)
    assert any("decides" in remark for remark in found.remarks), found.remarks


def test_independent_samples_too():
    found = report(UP, 1).compare(
        Report.from_results(OUTAGE.judge_pairs({**row, "metadata": {"id": f"x{row['question']}"}} for row in rows(2)))
    )
    assert (found.paired, found.difference) == (0, None)
    assert "better" not in str(found)


def test_the_report_and_the_comparison_count_the_same():
    run = report(HALF, 1)
    assert run.figures.summary.decided == run.compare(run).decided == 20


def test_a_comparison_warns_of_a_run_that_could_only_fail():
    card = Scorecard({"sound": sound, "other": down_at_times})
    whole = Scorecard({"sound": sound, "other": sound})
    answers = [{"answer": "wrong" if i % 4 == 0 else "right", "metadata": {"id": str(i)}} for i in range(40)]
    compared = Report.from_results(whole.judge_pairs(answers)).compare(Report.from_results(card.judge_pairs(answers)))
    (warning,) = [one for one in compared.remarks if one.startswith("Warning: of b")]
    assert "10 of 40 cases could not be decided because a judge broke" in warning
    assert "are all FAIL, so the pass rate is probably too low" in warning
    assert compared.to_dict()["pass_rate_warnings"]["a"] == ""
    assert warning in str(compared)
