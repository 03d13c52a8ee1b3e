"""Beside the pass rate of the verdicts, every report says what human labels say."""

import io

import pytest
from rich.console import Console

from jury_adapters import Case, Ensemble
from jury_adapters.core.batch import stream
from jury_adapters.report import Report

PANEL = Ensemble([lambda case: int(case.answer) < 90, lambda case: int(case.answer) < 95], name="panel")
NOTE = "of the 50 labelled cases that it decided, the jury passes 45 (90.0 %) and human labels pass 30 (60.0 %)"


def report(good, labelled=lambda at: at % 2 == 0):
    """Return the report of 100 cases, of which the first 90 pass, and human labels pass the first ones."""
    cases = [
        Case(answer=str(at), metadata={"item_id": at, **({"gold": at < good} if labelled(at) else {})})
        for at in range(100)
    ]
    return Report.from_results(stream(PANEL, cases))


def terminal(found):
    console = Console(file=io.StringIO(), width=400)
    found.summary(console)
    return console.file.getvalue()


def test_terminal_and_markdown_say_it_beside_the_rate_and_where_the_corrected_rate_is():
    found = report(60)
    line = "human labels     pass 30 of 50 labelled (60.0 %), the jury 45 (90.0 %); jury report --agreement"
    assert line in terminal(found)
    text = found.to_markdown()
    rate = text.index("**90.0 % passed**")
    assert f"The rate is that of the verdicts: {NOTE}; `jury report --agreement` corrects" in text[rate:]


def test_the_page_gives_the_corrected_rate_that_its_agreement_has():
    found = report(60)
    hero = found.to_html().partition('<section class="hero"')[2].partition("</section>")[0]
    assert f"This is the rate of the verdicts: {NOTE}." in hero
    estimate = found.agreement.report.find("true pass rate (PPI++)")
    assert 0.5 < estimate.value < 0.7
    assert estimate.sentence.split(",")[0] in hero


def test_the_page_says_why_there_is_no_corrected_rate():
    found = report(60, labelled=lambda at: at > 69)
    hero = found.to_html().partition('<section class="hero"')[2].partition("</section>")[0]
    assert "Human labels do not correct the pass rate: the verdict is PASS in 20 of the 30 items with a label" in hero


@pytest.mark.parametrize("found", [report(90), report(60, labelled=lambda at: False)], ids=["same rate", "no labels"])
def test_nothing_is_said_where_labels_pass_as_many_or_are_missing(found):
    assert "human labels     pass" not in terminal(found)
    assert " and human labels pass " not in found.to_markdown() + found.to_html()
