"""Results of other packages do not say what they cost, so no report may show their cost as zero or leave it out."""

import html
import io
import re
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from jury_adapters import Case, Ensemble, Judgment, Report, Status, Usage, judge
from jury_adapters.core.formatting import calls_and_cost, money


def theirs(passing: bool = True, **more: Any) -> Any:
    """The result of an evaluator of LlamaIndex, or one of this package if it has a verdict."""
    fields: dict[str, Any] = {"query": "Why?", "response": "So.", "contexts": None, "score": None, "feedback": "so"}
    return SimpleNamespace(**fields, passing=passing, invalid_result=False, **more)


def ours(**usage: Any) -> Any:
    @judge(name="gpt")
    def gpt(case: Case) -> Judgment:
        return Judgment(Status.PASS, usage=Usage(**usage))

    return theirs(verdict=Ensemble([gpt], name="panel").judge(answer="So."))


def printed(report: Report) -> str:
    stream = io.StringIO()
    report.summary(Console(file=stream, width=200))
    return stream.getvalue()


@pytest.fixture
def mixed() -> Report:
    paid = [ours(calls=2, cost_usd=0.01) for _ in range(4)]
    return Report.from_results({"faithful": paid, "theirs": [theirs() for _ in range(4)]})


def test_the_total_says_that_calls_are_missing_from_it(mixed: Report) -> None:
    told = "8, $0.0400 or more (the cost of a call is unknown); calls unknown in 4 of 4 votes of "
    assert f"model calls {told}`theirs`" in mixed.to_markdown()
    assert f"model calls      {told}theirs" in printed(mixed)
    assert not mixed.figures.summary.to_dict()["cost_complete"]


def test_the_table_of_jurors_has_no_zero_for_an_unknown_cost(mixed: Report) -> None:
    rows = mixed.to_markdown().splitlines()
    assert "| `theirs` | 4 | 100.0 % of 4 | - | - | 0 | 0 | unknown cost |" in rows
    assert next(row for row in rows if "gpt" in row and "$" in row).endswith("| $0.0400 |")


def test_the_page_says_so_too(mixed: Report) -> None:
    page = html.unescape(mixed.to_html())
    note = '<dd class="note">Model calls: unknown in 4 of 4 votes of theirs.'
    assert f"<dt>Cost, at least</dt><dd>$0.0400</dd>{note}" in page
    jurors = page.partition('<h2 id="jurors">')[2]
    rows = re.findall(r'class="who">(.*?)</th>.*?<td class="n">([^<]*)</td></tr>', jurors, re.DOTALL)
    assert [(name.partition("<")[0], cost) for name, cost in rows] == [("gpt", "$0.0400"), ("theirs", "unknown")]
    assert page.count('"unpriced":true') == 8  # each case and each vote of theirs


@pytest.mark.slow
def test_free_judges_beside_it_do_not_hide_it() -> None:
    report = Report.from_results({"ours": [ours()], "theirs": [theirs(passing=False)]})
    assert "model calls unknown in 1 of 1 vote of `theirs`" in report.to_markdown()
    assert "model calls      unknown in 1 of 1 vote of theirs" in printed(report)
    assert "<dt>Cost</dt><dd>unknown</dd>" in report.to_html()


def test_results_without_the_name_of_an_evaluator() -> None:
    report = Report.from_results([theirs(), theirs()])
    assert "model calls unknown in 2 of 2 votes of the judge itself" in report.to_markdown()
    assert "$" not in report.to_markdown()


def test_a_score_of_another_range_costs_an_unknown_amount_too() -> None:
    five = theirs()
    five.score = 5.0
    assert not Report.from_results([five]).figures.summary.usage.cost_complete


def test_free_judges_alone_are_free() -> None:
    assert "model calls" not in Report.from_results([ours()]).to_markdown()


def test_words_for_an_unknown_cost() -> None:
    assert money(0, complete=False) == "unknown cost"
    assert calls_and_cost(Usage(calls=2, cost_complete=False)) == "2, unknown cost"
    assert Usage(cost_complete=False).uncounted
    assert not Usage(calls=1, cost_complete=False).uncounted
    assert not Usage().uncounted
