"""Jurors that judge an answer of their own vendor family: yes, no, or unknown."""

import io
import json

import pytest
from rich.console import Console

from jury_adapters import CascadedJury, Case, Ensemble, Judge, Judgment, Scorecard, Tier, Verdict
from jury_adapters.core.gates import check_gates
from jury_adapters.report import Report
from jury_adapters.voting import all_of


def asked(model, status="PASS"):
    """A juror whose judgment comes from this model; None for a plain function."""
    return Judge.from_function(lambda case: Judgment(status, model=model), name=str(model))


UNKNOWN_JUROR = (asked("claude-sonnet-4-5"), asked("my-finetune"))
KNOWN = (asked("claude-sonnet-4-5"), asked("gemini-2.5-pro"), asked(None))


@pytest.mark.parametrize(
    ("jurors", "generator", "found"),
    [
        (KNOWN, "gpt-4o", False),
        (KNOWN, "claude-3-5-haiku", True),
        (KNOWN, "my-finetune", None),  # the author's family is not known
        (KNOWN, None, None),  # the case does not name its author
        (UNKNOWN_JUROR, "gpt-4o", None),  # one juror's family is not known
        (UNKNOWN_JUROR, "claude-3-5-haiku", True),  # another juror decides it
        ((asked(None),), "gpt-4o", False),  # no juror asks a model
    ],
)
@pytest.mark.parametrize(
    "build",
    [
        Ensemble,
        lambda jurors: Ensemble([Ensemble(jurors), asked(None)]),
        lambda jurors: CascadedJury([Tier("panel", Ensemble(jurors))]),
        lambda jurors: Scorecard({juror.name: juror for juror in jurors}),
        lambda jurors: all_of(*jurors),
    ],
    ids=["ensemble", "nested", "cascade", "scorecard", "chain"],
)
def test_unknown_is_neither_true_nor_false(build, jurors, generator, found):
    verdict = build(jurors).judge(question="?", answer="!", generator=generator)
    assert verdict.same_family is found
    assert Verdict.from_json(verdict.to_json()).same_family is found


def test_a_verdict_made_by_hand_does_not_know():
    assert Verdict("PASS").same_family is None


@pytest.mark.parametrize(("generator", "result"), [(None, "skipped"), ("claude-3", "failed"), ("gpt-4o", "passed")])
def test_the_gate_is_undefined_where_it_is_unknown(generator, result):
    verdict = Ensemble(KNOWN).judge(question="?", answer="!", generator=generator)
    (gate,) = check_gates(verdict, same_family=False)
    assert gate.result == result
    assert ("unknown" in gate.note) is (result == "skipped")
    (gate,) = check_gates(verdict, same_family=False, undefined="fail")
    assert gate.result == ("passed" if result == "passed" else "failed")


def test_the_gate_of_the_warning_is_undefined_only_if_agreement_is_low():
    split = Ensemble([asked("claude-3"), asked("gemini-2.5-pro", "FAIL"), asked(None)])
    for jury, generator, result in (
        (split, None, "skipped"),
        (split, "claude-3", "failed"),
        (split, "gpt-4o", "passed"),
        (Ensemble(KNOWN), None, "passed"),  # high agreement: there is no warning, whoever wrote the answer
    ):
        (gate,) = check_gates(jury.judge(question="?", answer="!", generator=generator), bias_warning=False)
        assert gate.result == result


def shown(report):
    console = Console(file=io.StringIO(), width=160)
    report.summary(console)
    return console.file.getvalue(), report.to_markdown(), report.to_html()


@pytest.mark.slow
def test_the_summary_counts_answers_of_which_it_is_unknown():
    writers = ["claude-3", "gpt-4o", "my-finetune", "our-model"]
    cases = [Case(question="?", answer=f"a{at}", generator=writer) for at, writer in enumerate(writers)]
    report = Report.from_results(Ensemble(KNOWN).judge_pairs(cases))
    for text in shown(report):
        assert "1 answer by a model of a juror's own vendor family; unknown for 2 of 4" in text.replace("&#39;", "'")
    found = json.loads(json.dumps(report.figures.summary.to_dict()))
    assert (found["same_family"], found["same_family_unknown"]) == (1, 2)


def test_the_summary_says_nothing_where_no_case_names_its_author():
    report = Report.from_results(Ensemble(KNOWN).judge_pairs([Case(question="?", answer="!")]))
    assert not any("vendor family" in text for text in shown(report))


def test_a_jury_that_asks_no_model_says_nothing_about_vendor_families():
    cases = [Case(answer=f"a{at}", generator=name) for at, name in enumerate(("gpt-4o", "our own model"))]
    summary = Report.from_results(Ensemble([lambda case: True, lambda case: True]).judge_pairs(cases)).figures.summary
    assert summary.same_family_note == ""
