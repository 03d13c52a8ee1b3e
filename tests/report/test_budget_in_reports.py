"""A report says on how many cases jurors were missing because the budget was used up."""

from support.vendor import VendorServer

from jury_adapters import Budget, Critic, Ensemble, Report


def report_of(server, max_calls):
    jurors = [Critic("m", "safety", base_url=server.openai, name=name) for name in "abc"]
    cases = [{"question": "q", "answer": f"answer {number}"} for number in range(10)]
    return Report.from_results(Ensemble(jurors).judge_pairs(cases, budget=Budget(max_calls=max_calls)), title="jury")


def test_cases_that_fewer_jurors_judged_are_counted(server: VendorServer, capsys):
    report = report_of(server, 14)
    summary = report.figures.summary
    asked = {name: count.asked for (name, *_), count in summary.jurors.items()}
    assert sum(asked.values()) == len(server.asks) == 14
    judged = [entry.judgment for entry in report.entries]
    short = [one for one in judged if len([vote for vote in one.jurors() if vote.valid]) < 3]
    assert summary.over_budget == len(short) > 0
    assert summary.decided_over_budget == len([one for one in short if one.valid]) > 0
    report.summary()
    shown = capsys.readouterr().out
    assert f"over budget      {len(short)} of 10 cases judged without every juror" in shown
    assert "always abstains" not in shown
    assert all(count.asked + count.over_budget == 10 for count in summary.jurors.values())
    (heading,) = [line.split() for line in shown.splitlines() if line.split()[:1] == ["juror"]]
    assert heading[1:4] == ["PASS", "over", "budget"]
    assert f"{len(short)} judged without every juror, because of the budget" in report.to_markdown()
    assert "Judged without every juror, because of the budget" in report.to_html()
    assert summary.to_dict()["over_budget"] == len(short)


def test_a_run_within_its_budget_says_nothing_of_it(server: VendorServer, capsys):
    report = report_of(server, 30)
    report.summary()
    assert "budget" not in capsys.readouterr().out + report.to_markdown() + report.to_html()


def test_the_summary_in_words_counts_them_too(server: VendorServer):
    summary = report_of(server, 14).figures.summary
    assert f"{summary.over_budget} judged without every juror, because of the budget, and" in str(summary)
    assert "budget" not in str(report_of(server, 30).figures.summary)
