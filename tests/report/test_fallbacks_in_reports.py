"""Votes of fallbacks are shown as such wherever a summary is."""

import html
import io
import json
import re

import pytest
from rich.console import Console
from typer.testing import CliRunner

from jury_adapters import CascadedJury, Case, Ensemble, Judge, Tier
from jury_adapters.cli.app import app
from jury_adapters.report import Report

CASES = [Case(question=f"q{at}", answer="x" * at, metadata={"item_id": f"i{at}"}) for at in range(6)]


def failing_from(length, name):
    """A juror that breaks on answers of this length and longer."""

    def look(case):
        if len(case.answer) >= length:
            raise ConnectionError("no line")
        return True

    return Judge.from_function(look, name=name)


def saying(answer, name):
    return Judge.from_function(lambda case: answer, name=name)


def printed(report):
    console = Console(file=io.StringIO(), width=160)
    report.summary(console)
    return console.file.getvalue()


def text_of(page):
    shown = page.split("<main>")[1].split('<section id="cases"')[0]
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", shown)))


def shown_everywhere(report):
    return printed(report), report.to_markdown(), text_of(report.to_html())


@pytest.mark.slow
def test_each_summary_says_how_many_votes_of_a_juror_a_fallback_gave():
    backed = failing_from(3, "gpt").with_fallbacks([saying(False, "claude-haiku")])
    report = Report.from_results(Ensemble([backed, saying(True, "other")]).judge_pairs(CASES))
    terminal, markdown, page = shown_everywhere(report)
    assert "gpt: 3 of 6 votes by a fallback: claude-haiku" in terminal
    assert "`gpt`: 3 of 6 votes by a fallback: `claude-haiku`" in markdown
    assert "gpt 3 of 6 votes by a fallback: claude-haiku" in page
    assert "other: " not in terminal
    assert report.figures.summary.to_dict()["fallbacks"] == [
        {"in": [], "juror": "gpt", "votes": 6, "by_fallback": {"claude-haiku": 3}}
    ]


def test_several_fallbacks_of_one_juror_are_counted_apart():
    second = failing_from(5, "second")
    backed = failing_from(2, "first").with_fallbacks([second, saying(True, "third")])
    report = Report.from_results(Ensemble([backed, saying(True, "other")]).judge_pairs(CASES))
    assert "first: 4 of 6 votes by a fallback: second 3, third 1" in printed(report)


@pytest.mark.slow
@pytest.mark.parametrize("build", [
    lambda backed: CascadedJury([Tier("panel", Ensemble([backed, saying(True, "b")]))]),
    lambda backed: CascadedJury([Tier("panel", backed)]),
    lambda backed: Ensemble([Ensemble([backed, saying(True, "b")], name="panel"), saying(True, "c")]),
])  # fmt: skip
def test_a_juror_of_a_tier_or_of_a_nested_jury_is_named_with_its_place(build):
    backed = failing_from(3, "gpt").with_fallbacks([saying(True, "claude-haiku")])
    for text in shown_everywhere(Report.from_results(build(backed).judge_pairs(CASES))):
        assert "3 of 6 votes by a fallback:" in text
    assert "panel / gpt: 3 of 6" in printed(Report.from_results(build(backed).judge_pairs(CASES)))


def test_the_jurors_of_a_jury_that_is_a_fallback_vote_for_another_juror():
    pair = Ensemble([saying(True, "a"), saying(True, "b")], name="pair")
    report = Report.from_results(
        Ensemble([failing_from(4, "gpt").with_fallbacks([pair]), saying(True, "c")]).judge_pairs(CASES)
    )
    text = printed(report)
    assert "gpt / a: 2 of 2 votes by a fallback: pair" in text
    assert "gpt / b: 2 of 2 votes by a fallback: pair" in text


@pytest.mark.slow
def test_a_single_judge_without_a_jury_has_fallbacks_as_well():
    backed = failing_from(3, "gpt").with_fallbacks([saying(True, "claude-haiku")])
    for text in shown_everywhere(Report.from_results(backed.judge_pairs(CASES))):
        assert "3 of 6 votes by a fallback:" in text


@pytest.mark.slow
def test_without_fallbacks_nothing_is_said():
    report = Report.from_results(Ensemble([failing_from(3, "gpt"), saying(True, "other")]).judge_pairs(CASES))
    assert not any("fallback" in text for text in shown_everywhere(report))
    assert report.figures.summary.to_dict()["fallbacks"] == []


def test_the_report_command_reads_them_from_results(tmp_path):
    backed = failing_from(3, "gpt").with_fallbacks([saying(False, "claude-haiku")])
    results = tmp_path / "results.jsonl"
    verdicts = Ensemble([backed, saying(True, "other")]).judge_many(CASES)
    results.write_text("".join(json.dumps({"verdict": one.to_dict()}) + "\n" for one in verdicts))
    outcome = CliRunner().invoke(app, ["report", str(results)])
    assert "gpt: 3 of 6 votes by a fallback: claude-haiku" in outcome.stdout


@pytest.mark.slow
def test_the_notes_of_a_case_name_its_fallbacks():
    backed = failing_from(5, "gpt").with_fallbacks([saying(False, "claude-haiku")])
    page = Report.from_results(Ensemble([backed, saying(True, "other")]).judge_pairs(CASES)).to_html()
    assert page.count("claude-haiku judged as the fallback of gpt") == 1


@pytest.mark.slow
def test_names_of_fallbacks_are_inert():
    backed = failing_from(0, "gpt").with_fallbacks([saying(True, "<b>`|\x1b[31m")])
    report = Report.from_results(Ensemble([backed, saying(True, "other")]).judge_pairs(CASES))
    assert "<b>`" not in report.to_html().split("<script")[0]
    assert "\x1b" not in printed(report) + report.to_markdown()
    assert "`<b>'\\|" in report.to_markdown()
