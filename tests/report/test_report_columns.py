"""The table of jurors has no column in which nothing stands."""

import re

import pytest

from jury_adapters import Case, Critic, Ensemble, Judgment, Usage
from jury_adapters.core.batch import Judged
from jury_adapters.report import Report
from jury_adapters.testing import ScriptedModel


def headings(**details):
    jury = Ensemble([lambda case: True, lambda case: True])
    verdict = jury.aggregate([Judgment("PASS", critic=name, **details) for name in "ab"])
    html = Report.from_results(Judged(at, Case(question="q"), verdict) for at in range(3)).to_html()
    table = html.split('id="jurors"')[1].split("</table>")[0]
    rows = re.findall(r"<tr>.*?</tr>", table, re.DOTALL)
    assert len({row.count("</th>") + row.count("</td>") for row in rows}) == 1
    return re.findall(r'<th scope="col"[^>]*>([^<]*)</th>', table), table


@pytest.mark.slow
def test_times_and_tokens_that_are_known_are_shown():
    found, table = headings(elapsed_s=0.25, usage=Usage(input_tokens=100, output_tokens=7, calls=1))
    assert {"median time", "slowest", "tokens in", "tokens out"} <= set(found)
    assert "250 ms" in table


@pytest.mark.slow
def test_what_nobody_knows_has_no_column():
    assert headings()[0] == [
        "juror",
        "asked",
        "pass rate",
        "dissent",
        "kappa with the rest",
        "abstained",
        "errors",
        "cost",
    ]


def test_a_time_too_short_to_tell_is_said_to_be_short():
    assert "&lt; 1 ms" in headings(elapsed_s=0.0002)[1]


@pytest.mark.slow
def test_the_time_of_reading_a_store_is_not_the_time_of_a_juror(tmp_path):
    """Tokens and costs of judgments on record are those of their calls, and times would be those of the store."""

    def run():
        critic = Critic(ScriptedModel("YES"), "answer_relevance", name="reader")
        cases = [Case(question=f"{at}?", answer="a") for at in range(3)]
        return Report.from_results(Ensemble([critic, lambda case: True]).judge_pairs(cases, store=tmp_path / "runs.db"))

    note = "Tokens and costs include the judgments on record, which were read from a store; times do not."
    fresh, again = run(), run()
    assert again.figures.summary.usage.recorded.calls == 3
    first, second = (next(one for one in found.figures.jurors if one.name == "reader") for found in (fresh, again))
    assert first.seconds is not None
    assert (second.seconds, second.slowest, second.usage.calls) == (None, None, 3)
    assert note in again.to_html()
    assert note not in fresh.to_html()
