"""Fields that rubrics require or criteria speak of, and that no case has, are named before anything is sent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jury_adapters import Critic, Ensemble, Scorecard
from jury_adapters.cli.empty_fields import report_empty_fields
from jury_adapters.cli.streams import Messages
from jury_adapters.core.case import Case
from jury_adapters.critic import rubric
from jury_adapters.critic.rubric import Rubric


def said(criterion: str, cases: list[Case], capsys: pytest.CaptureFixture[str]) -> str:
    async def answer(prompt: str) -> str:
        return json.dumps({"verdict": "PASS"})

    critic = Critic(answer, Rubric.from_criteria(criterion))
    report_empty_fields(Ensemble([critic]), cases, Path("a.jsonl"), Messages())
    return " ".join(capsys.readouterr().err.split())


def test_a_rubric_says_by_itself_what_it_requires(capsys: pytest.CaptureFixture[str]) -> None:
    """Rubrics that show earlier messages where there are any say nothing of them where there are none."""
    names = {path.stem for path in Path(rubric.__file__).parent.glob("rubrics/*.yaml")} - {"criteria", "pairwise"}
    for name in names:
        critic = Critic("openai:gpt-4o-mini", name, api_key="none")
        report_empty_fields(critic, [Case(question="When?", answer="At nine.")], Path("a.jsonl"), Messages())
        said = capsys.readouterr().err
        lacking = [field for field in critic.rubric.requires if field not in ("question", "answer")]
        assert all(f"no case has {field}, which the rubric {name} requires" in said for field in lacking)
        assert said.count("a.jsonl: ") == len(lacking)


def test_a_field_that_a_rubric_requires_and_no_case_has_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    jury = Ensemble([Critic(f"openai:{name}", "faithfulness", api_key="none") for name in ("gpt-4o-mini", "gpt-4.1")])
    bare, whole = Case(answer="Yes."), Case(answer="Yes.", contexts=["It is so."])
    report_empty_fields(jury, [bare, bare], Path("a.jsonl"), Messages())
    said = " ".join(capsys.readouterr().err.split())
    assert said == (
        "a.jsonl: no case has contexts, which the rubric faithfulness requires, so its critics abstain on every case "
        "without asking; give --map contexts=COLUMN"
    )
    report_empty_fields(jury, [bare, whole], Path("a.jsonl"), Messages())
    report_empty_fields(jury, [], Path("a.jsonl"), Messages())
    assert capsys.readouterr().err == ""


def test_fields_that_no_case_has_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    bare, whole = Case(answer="Yes."), Case(answer="Yes.", contexts=["It is so."])
    shown = said("Every claim is in the contexts.", [bare, bare], capsys)
    assert "a.jsonl: no case has contexts, of which a criterion speaks ('Every claim is in the contexts.')" in shown
    assert "--map contexts=COLUMN" in shown
    assert said("Every claim is in the contexts.", [whole, whole], capsys) == ""
    assert said("The answer is polite.", [bare], capsys) == ""
    assert said("Every claim is in the contexts.", [], capsys) == ""


def test_cases_without_a_field_that_others_have_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    """As after a merge that failed for most rows."""
    bare, whole = Case(answer="Yes."), Case(answer="Yes.", contexts=["It is so."])
    assert said("Every claim is in the contexts.", [whole, bare, bare], capsys) == (
        "a.jsonl: 2 of 3 cases have no contexts, of which a criterion speaks ('Every claim is in the contexts.'); the "
        "critic judges them without and does not abstain. A rubric that requires it abstains"
    )
    assert "1 of 2 cases has no contexts, of which" in said("Every claim is in the contexts.", [whole, bare], capsys)


def test_contexts_that_no_critic_is_shown_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    whole = Case(answer="A complaint.", contexts=["I complain about the noise."])
    shown = said("The summary says nothing that the letter does not say.", [whole, whole], capsys)
    assert shown == (
        "a.jsonl: the cases have contexts, and no critic is shown them, because no criterion speaks of them ('The "
        "summary says nothing that the letter does not say.'). Where they matter, let it say contexts, "
        "sources, passages or documents"
    )
    assert said("The summary says nothing that the document does not say.", [whole], capsys) == ""
    faithful = Critic("openai:gpt-4o-mini", "faithfulness", api_key="none")
    polite = Critic("openai:gpt-4o-mini", Rubric.from_criteria("The answer is polite."), api_key="none")
    report_empty_fields(Scorecard({"faithful": faithful, "polite": polite}), [whole], Path("a.jsonl"), Messages())
    report_empty_fields(
        Critic("openai:gpt-4o-mini", "answer_relevance", api_key="none"), [whole], Path("a.jsonl"), Messages()
    )
    assert capsys.readouterr().err.count("no critic is shown") == 0
