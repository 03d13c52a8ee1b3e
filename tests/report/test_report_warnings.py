"""Warnings about the numbers: whom each is about, and each only once."""

import pytest

from jury_adapters import CascadedJury, Case, Ensemble, Judge, Tier
from jury_adapters.core.batch import stream
from jury_adapters.core.formatting import two_decimals
from jury_adapters.report import Report
from jury_adapters.report.analysis import Analysis


def report():
    """Two jurors over 40 cases of which people fail 5; the second answers 6 of them only."""
    first = Judge.from_function(lambda case: case.answer != "1", name="first")
    second = Judge.from_function(lambda case: int(case.question) % 8 != 0, name="second")
    cases = [
        Case(question=str(at), answer=str(at % 8), metadata={"gold": "FAIL" if at % 8 == 0 else "PASS"})
        for at in range(40)
    ]
    return Report.from_results(stream(Ensemble([first, second]), cases))


def test_each_warning_says_what_it_is_about():
    warnings = report().agreement.warnings
    assert warnings
    assert all(warning[0].isupper() and warning.endswith(")") for warning in warnings)
    (few,) = [warning for warning in warnings if "items only" in warning]
    assert few.startswith("It rests on 5 items only, so it can move a lot with the next few. (")
    assert "true-negative rate of first" in few


def test_those_that_differ_only_in_a_number_are_told_once():
    from jury_adapters.calibration.estimates import Estimate
    from jury_adapters.calibration.report import AgreementReport

    few = [
        Estimate("drift", 0.1, n, warnings=(f"it rests on {n} items only, so it can move",), subject=f"juror {n}")
        for n in (9, 1, 4, 7, 2, 4)
    ]
    groups = Estimate("alpha", 0.2, 50, warnings=("its items come from 3 groups only, so the interval is rough",))
    told = Analysis(AgreementReport(50, ("a", "b"), 100, 0.0, 0, {"Agreement": (groups, *few)})).warnings
    assert told == (
        "Its items come from 3 groups only, so the interval is rough. (alpha)",
        "It rests on 1 to 9 items only, so it can move. (drift of juror 9, drift of juror 1, drift of juror 4, "
        "drift of juror 7 and 1 more)",
    )


def test_without_a_report_there_is_nothing_to_warn_of():
    assert Analysis(None, "why").warnings == ()


@pytest.mark.slow
def test_where_there_is_nothing_to_agree_on_one_sentence_says_so():
    """A screening tier and one juror: every measure would have no number, and every cell of the matrix a dash."""
    jury = CascadedJury(
        [
            Tier("screen", lambda case: case.answer != "1", "reject_on_any_fail"),
            Tier("last", Judge.from_function(lambda case: case.answer == "2", name="last")),
        ]
    )
    report = Report.from_results(stream(jury, [Case(answer=str(at % 4), metadata={"id": at}) for at in range(40)]))
    html = report.to_html()
    assert html.count("There is nothing to agree on: no item has 2 votes.") == 1
    assert "There is no number to give" not in html
    assert "Who agrees with whom" not in html
    assert "label share" in html  # what has a number stays
    assert list(report.agreement.sections) == ["Labels", "Jurors"]


def test_of_one_juror_alone_one_sentence_is_said():
    html = Report.from_results(stream(Ensemble([lambda case: True]), [Case(answer="a")] * 3)).to_html()
    assert html.count("so there is no agreement to measure") == 1
    assert "Who agrees with whom" not in html


@pytest.mark.slow
def test_the_page_shows_them():
    found = report()
    html = found.to_html()
    assert html.count("Where these numbers mislead") == 1
    assert all(warning.split("(")[0].strip() in html for warning in found.agreement.warnings if "'" not in warning)


def test_a_small_negative_number_is_no_negative_zero():
    assert [two_decimals(value) for value in (-0.004, 0.0, -0.0, -0.006, 0.994)] == [
        "0.00", "0.00", "0.00", "-0.01", "0.99",
    ]  # fmt: skip
