"""Arguments that are accepted where a judge is expected."""

from pathlib import Path

import pytest

from jury_adapters import (
    CascadedJury,
    ConfigurationError,
    Ensemble,
    Judge,
    Judgment,
    Scorecard,
    Tier,
    grounding_screen,
    judge,
    load_jury,
    panel,
    rag_jury,
)
from jury_adapters.checks import NotEmpty
from jury_adapters.core.judge_like import judge_of


def brief(case):
    return len(case.answer) < 20, "below 20 characters"


class Sometimes:
    def __call__(self, case):
        return 0.7


def test_a_judge_is_taken_as_it_is():
    given = NotEmpty()
    assert judge_of(given) is given


@pytest.mark.parametrize("given", [brief, lambda case: True, Sometimes()])
def test_a_function_of_a_case_becomes_a_judge(given):
    assert judge_of(given).judge(answer="Yes.").passed


def test_a_function_keeps_its_name():
    assert judge_of(brief).name == "brief"


@pytest.mark.parametrize(
    ("given", "fix"),
    [
        ("jury.yaml", r"load_jury\('jury.yaml'\)"),
        (Path("jury.yml"), r"load_jury\('jury.yml'\)"),
        ("openai:gpt-4o-mini", r"load_jury\(path\).*Critic\(model, \.\.\."),
        (NotEmpty, r"the class NotEmpty; a judge is NotEmpty\(\)"),
        ([NotEmpty()], r"Ensemble\(\[\.\.\.\]\)"),
        ((NotEmpty(), brief), r"Ensemble\(\[\.\.\.\]\)"),
        (None, "not NoneType"),
        (3, "not int"),
    ],
)
def test_anything_else_is_refused_with_the_way_to_do_it(given, fix):
    with pytest.raises(ConfigurationError, match=fix):
        judge_of(given)


def test_a_key_in_what_was_given_is_not_repeated():
    with pytest.raises(ConfigurationError) as refused:
        judge_of({"api_key": "sk-secret"})
    assert "secret" not in str(refused.value)
    with pytest.raises(ConfigurationError) as refused:
        judge_of("sk-secret")
    assert "secret" not in str(refused.value)


def test_the_message_about_a_juror_of_another_jury_names_its_judge():
    panel = Ensemble([judge(name="first")(lambda case: True), judge(name="second")(lambda case: True)])
    with pytest.raises(ConfigurationError, match=r"not a Juror; its judge is \.judge"):
        Ensemble(panel.jurors[:1])
    assert Ensemble([juror.judge for juror in panel.jurors[:1]]).judge(answer="Yes.").passed


def house(strict: bool = True) -> Ensemble:
    return Ensemble([NotEmpty(), brief])


def of_text(path="rules.yaml"):
    return Ensemble([NotEmpty(), brief])


@pytest.mark.parametrize(
    ("maker", "call"),
    [
        (grounding_screen, r"grounding_screen\(\)"),
        (house, r"house\(\)"),
        (rag_jury, r"rag_jury\(\)"),
        (panel, r"panel\(\.\.\.\)"),
        (load_jury, r"load_jury\(\.\.\.\)"),
    ],
)
def test_a_function_that_makes_a_judge_is_refused_with_its_call(maker, call):
    for given in (
        judge_of,
        lambda made: Ensemble([NotEmpty(), made]),
        lambda made: CascadedJury([Tier("final", made)]),
        lambda made: Scorecard({"rules": made}),
        Judge.from_function,
    ):
        with pytest.raises(ConfigurationError, match=f"makes a judge: give {call}"):
            given(maker)


def test_a_function_without_annotations_that_makes_a_judge_says_so_when_it_is_asked():
    found = judge_of(of_text).judge(answer="Yes.")
    assert "the function makes a judge instead of judging: give of_text()" in found.error


@pytest.mark.parametrize("returned", [bool, float, "bool", "Judgment", Judgment, "Nowhere", None])
def test_other_annotations_are_allowed(returned):
    def rated(anything):
        return True

    rated.__annotations__ = {"anything": str, "return": returned}
    assert judge_of(rated).judge(answer="Yes.").passed
