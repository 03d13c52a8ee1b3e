from __future__ import annotations

import io
import json

import pytest
from rich.console import Console

from jury_adapters import CascadedJury, Case, Ensemble, Judgment, Status, Tier, Usage, abstain, grounding_screen
from jury_adapters.core.judge import Judge
from jury_adapters.report.summary import Summary
from jury_adapters.report.terminal import print_summary


def saying(answer: bool | Status | Judgment, name: str) -> Judge:
    return Judge.from_function(lambda case: answer, name=name)


def printed(summary: Summary, **options: str | float) -> str:
    stream = io.StringIO()
    print_summary(Console(file=stream, width=120, highlight=False), summary, **options)
    return stream.getvalue()


def test_a_summary_counts_and_prints_what_it_was_given():
    jury = CascadedJury([
        Tier("screen", saying(True, "screen"), "reject_on_any_fail"),
        Tier("panel", Ensemble([saying(True, "a"), saying(True, "b"), saying(False, "c")])),
    ])  # fmt: skip
    summary = Summary()
    for line in (1, 2):
        summary.add(Case(question="?"), jury.judge("?"), f"line {line}")
    text = printed(summary, jury="my jury", seconds=0.25)
    assert "2 cases judged by my jury in 0.2 s" in text
    assert "2 of 2 decided: 100.0 % (95 % interval 34.2 to 100.0 %)" in text
    assert "needs review     2, 100.0 % of all" in text
    for row in (
        "panel    final",
        "screen   reject_on_any_fail",
        "line 1   PASS",
        "PASS: a, b; FAIL: c",
        "100.0 % of 2",
    ):
        assert row in text
    assert summary.jurors["panel", "c"].dissent == 1.0


def test_labels_without_meaning_get_shares_and_no_pass_rate():
    summary = Summary()
    for label in ("A", "B", "A"):
        summary.add(None, Ensemble([saying(Judgment(None, label=label), "a")]).judge("?"), "x")
    assert summary.pass_rate is None
    text = printed(summary)
    assert "label A          2 of 3 labelled: 66.7 %" in text
    assert "passed" not in text


def test_undecided_and_errors_stand_apart():
    summary = Summary()
    for judgment in (Judgment("PASS"), abstain("?"), Judgment("ERROR", error="KeyError: 'x'"), Judgment("FAIL")):
        summary.add(None, judgment, "x")
    text = printed(summary)
    assert summary.pass_rate == 0.5
    assert "1 of 2 decided: 50.0 %" in text
    assert "abstained        1, 25.0 % of all" in text
    assert "errors           1 (1 x KeyError: 'x')" in text
    assert "needs review     2, 50.0 % of all" in text
    assert summary.to_dict()["needs_review"] == summary.look_first.total == 2


def test_nothing_at_all_can_be_printed():
    summary = Summary()
    assert "0 cases judged" in printed(summary)
    assert "nothing decided" in printed(summary)
    assert json.loads(json.dumps(summary.to_dict()))["pass_rate"] is None


def test_calls_cost_and_savings():
    summary = Summary()
    summary.add(None, Judgment("PASS", usage=Usage(calls=2, cost_usd=0.5, cost_complete=False)), "x")
    assert "model calls      2, $0.5000 or more (the cost of a call is unknown)" in printed(summary)
    summary.add(None, grounding_screen().judge(answer="Ann left in 2019.", contexts="Ann left in 2018."), "y")
    assert "calls saved      1 juror call was not needed" in printed(summary)


def test_text_of_others_is_shown_and_not_obeyed():
    evil = "[bold]\x1b[31mred\u202e :smile: [/nothing]"
    summary = Summary()
    for _ in range(2):
        summary.add(None, Ensemble([saying(abstain(evil), evil)], name=evil).judge("?"), evil)
        summary.add(None, Ensemble([saying(Judgment(None, label=evil), evil)], name=evil).judge("?"), evil)
        summary.add(None, Judgment("ERROR", error=evil), evil)
    summary.add(None, CascadedJury([Tier(evil, saying(True, evil))]).judge("?"), evil)
    stream = io.StringIO()
    print_summary(
        Console(file=stream, width=300, force_terminal=True, color_system=None), summary, heading=evil, jury=evil
    )
    text = stream.getvalue()
    assert "[bold]\\x1b[31mred" in text
    assert ":smile: [/nothing]" in text
    assert "\x1b[31m" not in text
    assert "\u202e" not in text


def test_the_summary_as_json_has_everything_and_is_json():
    summary = Summary()
    summary.add(None, grounding_screen().judge(answer="Ann left in 2019.", contexts="Ann left in 2018."), "y")
    data = json.loads(json.dumps(summary.to_dict(), allow_nan=False))
    assert data["cases"] == data["failed"] == 1
    assert data["pass_rate"] == 0.0
    assert data["tiers"][0] == {
        "tier": "flags", "policy": "reject_on_any_fail", "reached": 1, "stopped": {"FAIL": 1}, "decided": 1,
        "broken": 0,
    }  # fmt: skip
    assert data["tiers"][2]["reached"] == 0
    assert data["jurors"][0]["votes"] == {"FAIL": 1}


@pytest.mark.parametrize("width", [40, 50, 60])
def test_on_a_narrow_terminal_names_give_way_and_no_count_is_lost(width: int):
    jury = CascadedJury([
        Tier("checks of the house", saying(True, "a check with a name"), "reject_on_any_fail"),
        Tier("panel", Ensemble([saying(True, "a long name"), saying(True, "b"), saying(False, "another long name")])),
    ])  # fmt: skip
    summary = Summary()
    for line in range(37):
        summary.add(Case(question="?"), jury.judge("?"), f"line {line}")
    stream = io.StringIO()
    print_summary(Console(file=stream, width=width, highlight=False), summary)
    jurors = stream.getvalue().split("Jurors")[1].split("Cases to look")[0]
    assert jurors.count("37") >= 4
    assert {"PASS", "FAIL"} <= set(jurors.split())
    assert "\u2026" not in jurors


def test_a_summary_is_printed_in_words():
    summary = Summary()
    assert str(summary) == "0 cases: 0 of 0 decided passed (-)"
    for status in ("PASS", "PASS", "FAIL"):
        summary.add(None, Judgment(status), "x")
    summary.add(None, abstain("unsure"), "x")
    summary.add(None, Judgment("ERROR", error="down"), "x")
    assert str(summary) == "5 cases: 2 of 3 decided passed (66.7 %), 1 abstained, 1 error"
    assert repr(summary) == f"<Summary of {summary}>"
    labelled = Summary()
    for label in ("polite", "polite", "rude"):
        labelled.add(None, Judgment(None, label=label), "x")
    assert str(labelled) == "3 cases: 2 polite, 1 rude"
