"""Intervals of runs whose cases come in groups: one function behind every form of the report."""

import html
import io
import json

import pytest
from rich.console import Console

from jury_adapters import Case, ConfigurationError, Ensemble, InputError, Judge, Judgment, abstain
from jury_adapters.checks import NotEmpty
from jury_adapters.core.batch import Judged, stream
from jury_adapters.core.clustered_shares import (
    clustered_paired_interval,
    clustered_unpaired_interval,
    clustered_wilson,
    sign_flip_test,
)
from jury_adapters.core.statistics import paired_interval, wilson
from jury_adapters.report import Report
from jury_adapters.report.summary import Summary
from jury_adapters.results import JudgedRun, Run

GROUPS = [(5, 5)] * 6 + [(0, 5)] * 3 + [(3, 5)]  # passed, cases: of ten documents
CASES = [
    Case(
        question=f"question {number}",
        answer="right" if number < passed else "wrong",
        metadata={"item_id": f"{document}-{number}", "document": document, "meta": {"user": document % 2}},
    )
    for document, (passed, cases) in enumerate(GROUPS)
    for number in range(cases)
]
JURY = Ensemble([
    Judge.from_function(lambda case: case.answer == "right", name="strict"),
    Judge.from_function(lambda case: True, name="lenient"),
], voting="unanimous", name="jury")  # fmt: skip


def report(cases=CASES, **options):
    return Report.from_results(stream(JURY, cases), **options)


def printed(found):
    out = io.StringIO()
    found.summary(Console(file=out, width=160, highlight=False))
    return out.getvalue()


@pytest.mark.slow
def test_every_form_shows_the_interval_of_the_groups():
    found = report(group="document")
    low, high = clustered_wilson(GROUPS)
    summary = found.figures.summary
    assert summary.pass_interval == (low, high) != wilson(33, 50)
    told = summary.to_dict()
    assert (told["pass_rate_interval"], told["group"], told["groups"]) == ([low, high], "document", 10)
    words = f"95 % interval, 10 groups: {100 * low:.1f}"
    assert f"66.0 % ({words} to {100 * high:.1f} %)" in printed(found)
    assert f"**66.0 % passed** ({words} % to {100 * high:.1f} %)" in found.to_markdown()
    page = html.unescape(found.to_html())
    assert f"decided cases passed; {words} % to {100 * high:.1f} %" in page
    assert f"pass rate 66.0 %, {words} %" in page


def test_without_groups_nothing_changes():
    found = report()
    assert found.figures.summary.pass_interval == wilson(33, 50)
    assert (found.figures.summary.to_dict()["group"], found.figures.summary.to_dict()["groups"]) == (None, None)
    assert "(95 % interval 52.2 to 77.6 %)" in printed(found)


def test_the_rates_of_jurors_and_the_agreement_know_the_groups_too():
    grouped, alone = report(group="document"), report()
    strict, lenient = grouped.figures.jurors
    assert strict.pass_interval == clustered_wilson(GROUPS)
    assert lenient.pass_interval == clustered_wilson([(5, 5)] * 10)
    assert alone.figures.jurors[0].pass_interval == wilson(33, 50)
    raw, raw_alone = (one.agreement.sections["Agreement"][0] for one in (grouped, alone))
    assert raw.value == raw_alone.value
    assert raw.interval[0] < raw_alone.interval[0]
    assert any("10 groups only" in warning for warning in raw.warnings)


def test_groups_by_path_and_by_a_text_of_the_case():
    by_user = report(group="meta.user").figures.summary
    assert by_user.groups == 2
    by_question = report(group="question").figures.summary
    assert by_question.groups == 5
    assert by_question.pass_interval == clustered_wilson([(7, 10)] * 3 + [(6, 10)] * 2)


def test_verdicts_without_their_cases_bring_their_metadata():
    verdicts = [judged.judgment for judged in stream(JURY, CASES)]
    found = Report.from_results(verdicts, group="document")
    assert found.figures.summary.pass_interval == clustered_wilson(GROUPS)
    assert found.agreement.report is not None


def test_gold_labels_that_cannot_be_read_leave_the_groups_in_the_agreement():
    cases = [case.model_copy(update={"metadata": {**case.metadata, "gold": "quite good"}}) for case in CASES]
    found = report(cases, group="document").agreement
    assert "gold labels were left out" in found.note or found.report is not None
    assert any("10 groups only" in warning for warning in found.sections["Agreement"][0].warnings)


@pytest.mark.parametrize("group", ["documents", "meta.document", "reference"])
def test_a_group_that_a_case_does_not_have_is_refused_at_once(group):
    with pytest.raises(ConfigurationError, match=rf"0-0 has no {group}, the field that groups the cases"):
        report(group=group)


def test_undecided_and_broken_cases_are_in_no_group_of_the_pass_rate():
    summary = Summary(group="document")
    broken = Judgment("ERROR", error="no")
    for document, judgment in zip("aabc", (Judgment("PASS"), Judgment("FAIL"), abstain("unsure"), broken), strict=True):
        summary.add(Case(answer="x", metadata={"document": document}), judgment, "line")
    assert (summary.decided, summary.groups) == (2, 1)
    assert summary.pass_interval == clustered_wilson([(1, 2)])
    assert "1 group: " in summary.interval_words + " "


def test_labels_without_a_meaning_have_intervals_of_groups():
    verdicts = [
        Judged(n, Case(answer="x", metadata={"document": n // 5}), Judgment(None, label="blue" if n < 15 else "red"))
        for n in range(40)
    ]
    found = Report.from_results(verdicts, group="document")
    low, high = clustered_wilson([(5, 5)] * 3 + [(0, 5)] * 5)
    assert found.figures.summary.label_interval("blue") == (low, high)
    assert f"15 of 40 labelled: 37.5 % (95 % interval, 8 groups: {100 * low:.1f} to {100 * high:.1f} %)" in printed(
        found
    )


def changed(*documents):
    """Return the cases with a right answer to every question of these documents."""
    return [
        case.model_copy(update={"answer": "right"}) if case.metadata["document"] in documents else case
        for case in CASES
    ]


@pytest.mark.slow
def test_a_comparison_takes_groups_into_account():
    before, after = report(title="before"), report(changed(6, 7), group="document")
    compared, alone = before.compare(after), before.compare(report(changed(6, 7)))
    groups = [(5, 0, 0, 0)] * 6 + [(0, 0, 5, 0)] * 2 + [(0, 0, 0, 5), (3, 0, 0, 2)]
    assert compared.interval == clustered_paired_interval(groups)
    assert (compared.groups, compared.p_value) == (10, sign_flip_test([5, 5])) == (10, 0.5)
    assert alone.interval == paired_interval(33, 0, 10, 7)
    assert (alone.groups, alone.p_value) == (None, sign_flip_test([1] * 10))
    assert alone.interval[0] > 0 > compared.interval[0]
    assert "95 % interval, 10 groups: " in compared.sentence
    assert "these 50 cases do not tell which is better" in compared.sentence
    assert (compared.to_dict()["groups"], compared.to_dict()["p_value"]) == (10, 0.5)
    assert "10 groups" in before.to_markdown(compared=compared)
    assert "10 groups" in after.to_html(compared=compared)


def test_a_comparison_without_groups_takes_the_cases_of_grouped_runs_as_independent():
    grouped = report(group="document"), report(changed(6, 7), group="document")
    alone = report().compare(report(changed(6, 7)))
    assert grouped[0].compare(grouped[1]).groups == 10
    assert grouped[0].compare(grouped[1], group="") == alone


def test_a_comparison_finds_the_groups_in_either_run():
    without = [case.model_copy(update={"metadata": {"item_id": case.item_id}}) for case in CASES]
    earlier, later = report(group="document"), Report.from_results(stream(JURY, without))
    assert earlier.compare(later).groups == 10
    with pytest.raises(ConfigurationError, match="has no document"):
        later.compare(Report.from_results(stream(JURY, without), group="document"))


def test_a_comparison_without_decided_cases_has_neither_interval_nor_test():
    undecided = Report.from_results([(case, abstain("unsure")) for case in CASES], group="document")
    compared = report().compare(undecided)
    assert (compared.decided, compared.interval, compared.p_value, compared.groups) == (0, None, None, None)


def test_independent_samples_take_groups_into_account():
    """Another period: other documents, so that no case is in both runs."""
    later = [(5, 5)] * 8 + [(0, 5)] * 4
    other = [
        Case(question=f"later {number}", answer="right" if number < passed else "wrong",
             metadata={"item_id": f"later {document}-{number}", "document": f"later {document}"})
        for document, (passed, cases) in enumerate(later)
        for number in range(cases)
    ]  # fmt: skip
    compared = report(group="document").compare(report(other, group="document"))
    assert (compared.paired, compared.groups, compared.warnings) == (0, 22, ())
    assert compared.interval == clustered_unpaired_interval(GROUPS, later)
    assert "95 % interval, 22 groups:" in compared.sentence
    plain = report().compare(report(other))
    assert plain.groups is None
    assert plain.interval[1] - plain.interval[0] < 0.6 * (compared.interval[1] - compared.interval[0])


def test_independent_samples_without_a_group_are_refused_or_warned_of():
    other = [Case(question="other", answer="right", metadata={"item_id": "other"})] * 2
    with pytest.raises(ConfigurationError, match="has no document, the field that groups the cases"):
        report().compare(report(other), group="document")
    compared = report(group="document").compare(report(other))
    assert "takes no account of groups (document), because 2 cases have none" in compared.warnings[0]
    assert compared.groups is None


def test_runs_of_an_application_keep_where_they_came_from_and_are_grouped_by_it(tmp_path):
    def judged(number):
        known = {"thread_id": f"t{number % 2}", "gold": "PASS", "page": object()}
        run = Run(f"run-{number}", name="support", tags={"production": True, "version": 2}, metadata=known)
        return JudgedRun(run, Case(question=f"q{number}", answer="a"), Ensemble([NotEmpty()]).judge(answer="a"))

    report = Report.from_results([judged(number) for number in range(6)], group="thread_id")
    report.write_results(tmp_path / "runs.jsonl", cases=tmp_path / "cases.jsonl")
    first = json.loads((tmp_path / "cases.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert first["metadata"] == {
        "thread_id": "t0", "run_id": "run-0", "run_name": "support", "run_tags": ["production", "version=2"],
    }  # fmt: skip
    assert Report.read(tmp_path / "runs.jsonl").group == "thread_id"


def thread_runs(*threads):
    """Return judged runs, each in the thread of this name, or in none."""
    jury = Ensemble([NotEmpty()])
    return [
        JudgedRun(
            Run(f"run-{at}", metadata={} if thread is None else {"thread_id": thread}),
            Case(question=f"q{at}", answer="a"), jury.judge(answer="a"),
        )
        for at, thread in enumerate(threads)
    ]  # fmt: skip


def test_a_run_outside_any_conversation_is_a_group_of_its_own(tmp_path, caplog):
    report = Report.from_results(thread_runs("t0", "t0", None, "t1", None), group="thread_id")
    assert report.figures.summary.groups == 4
    assert [one.getMessage() for one in caplog.records] == [
        "2 runs have no thread_id, and each is a group of its own in the report"
    ]
    report.write_results(tmp_path / "runs.jsonl")
    assert Report.read(tmp_path / "runs.jsonl").figures.summary.groups == 4


def test_a_group_that_no_run_has_is_an_error():
    with pytest.raises(InputError, match="has no thread_id"):
        Report.from_results(thread_runs(None, None), group="thread_id")


def test_a_case_without_its_group_is_an_error():
    judged = [(case, JURY.judge(case)) for case in (*CASES[:3], Case(question="q", answer="right"))]
    with pytest.raises(InputError, match="has no document"):
        Report.from_results(judged, group="document")
