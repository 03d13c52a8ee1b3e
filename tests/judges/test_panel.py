"""panel: an ensemble of critics with one rubric."""

import asyncio
from pathlib import Path

import pytest

from jury_adapters import Case, ConfigurationError, Critic, Ensemble, Judge, Rubric, judge, panel
from jury_adapters.judges.presets import one_or_panel
from jury_adapters.testing import ScriptedModel, a_case


def model(answer: str, name: str) -> ScriptedModel:
    return ScriptedModel([answer], model=name)


def test_a_panel_is_an_ensemble_of_critics_named_after_rubric_and_model() -> None:
    jury = panel("faithfulness", model("YES", "one"), model("NO", "two"), model("YES", "three"), name="faithful")
    assert isinstance(jury, Ensemble)
    assert (jury.name, jury.names) == ("faithful", ("faithfulness one", "faithfulness two", "faithfulness three"))
    verdict = jury.judge(a_case())
    assert (verdict.status, verdict.tally.passed, verdict.tally.eligible) == ("PASS", 2, 3)


def test_a_panel_of_one_model_is_an_ensemble_too() -> None:
    jury = panel("faithfulness", model("YES", "one"))
    assert isinstance(jury, Ensemble)
    assert jury.names == ("faithfulness one",)


def test_a_panel_takes_judges_and_the_options_of_the_vote() -> None:
    ready = Critic(model("NO", "two"), "faithfulness", name="mine")
    short = judge(lambda case: True, name="short")
    jury = panel("faithfulness", model("YES", "one"), ready, short, voting="unanimous")
    assert jury.names == ("faithfulness one", "mine", "short")
    assert jury.judge(a_case()).status == "FAIL"


def test_a_juror_of_a_panel_has_a_time_limit() -> None:
    @judge
    async def hangs(case: Case) -> bool:
        await asyncio.sleep(60)
        return True

    verdict = panel("faithfulness", model("YES", "one"), hangs, juror_timeout=0.2).judge(a_case())
    assert [one.error for one in verdict.judgments] == [None, "timeout"]
    with pytest.raises(ConfigurationError, match="timeout= is called juror_timeout="):
        panel("faithfulness", hangs, timeout=3)  # type: ignore[call-arg]
    with pytest.raises(ConfigurationError, match="positive number of seconds"):
        panel("faithfulness", hangs, juror_timeout=0)


def test_the_rubric_may_be_of_ones_own(tmp_path: Path) -> None:
    own = Rubric.from_criteria("The answer is polite.", name="polite")
    file = tmp_path / "tone.yaml"
    file.write_text("criteria: The answer is polite.\n")
    for rubric, name in ((own, "polite"), (file, "tone"), (str(file), "tone")):
        assert panel(rubric, model("YES", "one")).names == (f"{name} one",)


async def asked(prompt):
    return "YES"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: panel("faithfulness"), "needs a model or a jury: 'openai:gpt-4o-mini'"),
        (
            lambda: panel("openai:gpt-4o-mini", "anthropic:claude-haiku-4-5"),
            "'openai:gpt-4o-mini' is a model; the rubric comes first: panel.'faithfulness', 'openai:gpt-4o-mini'.",
        ),
        (lambda: panel("faithfullness", model("YES", "one")), "Did you mean 'faithfulness'"),
        (lambda: panel("faithfulness", "safety"), "'safety' is a rubric, not a model; a panel has one rubric: panel"),
        (
            lambda: panel(model("YES", "one"), "faithfulness"),
            "not ScriptedModel; the rubric comes first, then the models",
        ),
        (lambda: panel(model("YES", "one")), "not ScriptedModel; the rubric comes first, then the models: panel"),
        (lambda: panel("faithfulness", "openai:m", labels={"A": "pass"}), r"unknown argument 'labels'.*labels=\.\.\."),
        (lambda: panel("faithfulness", "openai:m", shedule="parallel"), "Did you mean 'schedule'"),
        (lambda: panel("faithfulness", "openai:m", strategy="quorum"), "strategy= is called voting= here"),
        (lambda: panel(voting="quorum"), "a panel needs a rubric and models"),
        (lambda: panel(asked, "faithfulness"), "the rubric comes first, then the models: panel"),
        (lambda: panel(judge(lambda case: True, name="short"), "faithfulness"), "the rubric comes first"),
        (lambda: panel("The answer is polite.", model("YES", "one")), "your own is written .*Rubric.from_criteria"),
    ],
)
def test_a_wrong_panel_says_what_to_write(call, message) -> None:
    with pytest.raises(ConfigurationError, match=message):
        call()


def test_one_juror_of_an_adapter_is_no_panel() -> None:
    only = one_or_panel(lambda given: Critic(given, "safety"), model("YES", "one"))
    assert isinstance(only, Critic)
    assert isinstance(one_or_panel(lambda given: Critic(given, "safety"), model("YES", "one"), errors="fail"), Ensemble)


def test_judge_takes_a_function_and_options_in_one_call() -> None:
    made = judge(lambda case: 0.6, name="length", threshold=0.7, cost=0.01)
    assert isinstance(made, Judge)
    assert (made.name, made.cost, made.judge(answer="x").status) == ("length", 0.01, "FAIL")


def test_a_function_that_makes_critics_gives_them_the_names_of_a_panel() -> None:
    def with_options(asked: object) -> Critic:
        return Critic(asked, "faithfulness", samples=1)

    def with_a_name(asked: object) -> Critic:
        return Critic(asked, "faithfulness", name="truth")

    models = model("YES", "one"), model("NO", "two")
    assert panel(with_options, *models).names == panel("faithfulness", *models).names
    assert panel(with_a_name, *models).names == ("truth one", "truth two")
