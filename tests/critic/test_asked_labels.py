"""Prompts that ask for other labels than their critic has: which are refused, and what the others lead to.

``tests/data/asked_labels.yaml`` has the prompts.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from jury_adapters import ConfigurationError, Critic, Status
from jury_adapters.testing import ScriptedModel

PROMPTS = yaml.safe_load((Path(__file__).parents[1] / "data/asked_labels.yaml").read_text(encoding="utf-8"))
FINE = [entry for half in PROMPTS.values() for entry in half["fine"]]


def critic(*replies: str, prompt: str = "Judge this.\n{answer}", **options: Any) -> Critic:
    return Critic(ScriptedModel(replies or ["hm"]), name="tone", prompt=prompt, **options)


def is_refused(entry: dict[str, Any]) -> bool:
    try:
        critic(**entry)
    except ConfigurationError as error:
        return "the prompt asks for" in str(error)
    return False


@pytest.mark.parametrize("entry", FINE, ids=lambda entry: entry["prompt"][:60])
def test_a_prompt_that_asks_for_its_own_labels_is_not_refused(entry: dict[str, Any]) -> None:
    assert not is_refused(entry)


def test_there_are_as_many_prompts_in_both_halves() -> None:
    assert {half: len(kinds["other"]) for half, kinds in PROMPTS.items()} == {"worked_on": 15, "held_out": 15}
    assert len(PROMPTS["held_out"]["fine"]) == 15


@pytest.mark.parametrize(("half", "refused"), [("worked_on", 14), ("held_out", 11)])
def test_most_prompts_that_ask_for_other_labels_are_refused(half: str, refused: int) -> None:
    """The counts are exact, so that the documented share stays true; a better check raises them."""
    assert sum(map(is_refused, PROMPTS[half]["other"])) == refused


# --- at run time ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "label", "option"),
    [
        ("GOOD", "GOOD", "labels="),
        ("**good**.", "good", "labels="),
        ("Verdict: not_helpful", "not_helpful", "labels="),
        ("<answer>HIT</answer>", "HIT", "labels="),
        ('"partly correct"', "partly correct", "labels="),
        ('{"reasoning": "r", "answer": "GOOD"}', "GOOD", "labels="),
        ('Fine.\n```json\n{"verdict": "GOOD"}\n```', "GOOD", "labels="),
        ("是", "是", "labels="),
        ("4", "4", "scale="),
        ("Score: 4/5", "4/5", "scale="),
    ],
)
def test_an_abstention_names_the_label_that_the_critic_does_not_have(reply: str, label: str, option: str) -> None:
    judgment = critic(reply, reply).judge(answer="Thanks!")
    assert (judgment.status, judgment.error) == (Status.ABSTAIN, "parse_fail")
    assert judgment.reasoning == (
        f'the model answered {label!r}, but the answer must be exactly one of "YES", "NO", "UNSURE"; if the prompt '
        f"asks for {label!r}, give the critic {option}"
    )


@pytest.mark.parametrize(("reply", "option"), [("7", "scale="), ("7/10", "scale="), ("GOOD", "labels=")])
def test_an_abstention_of_a_scale_names_the_rating(reply: str, option: str) -> None:
    judgment = critic(reply, reply, scale={"minimum": 1, "maximum": 5}).judge(answer="Thanks!")
    assert judgment.reasoning == (
        f"the model answered {reply!r}, but the answer must be a whole number from 1 (worst) to 5 (best); if the "
        f"prompt asks for {reply!r}, give the critic {option}"
    )


@pytest.mark.parametrize("reply", ["It depends on what you call polite.", "YES, NO", '{"reasoning": "r"}', "hm " * 300])
def test_other_unreadable_replies_are_no_labels(reply: str) -> None:
    judgment = critic(reply, reply).judge(answer="Thanks!")
    assert judgment.reasoning.startswith("the reply could not be read: ")


def test_the_model_is_not_asked_for_arguments_of_the_critic() -> None:
    model = ScriptedModel(["GOOD", "YES"])
    assert Critic(model, name="tone", prompt="{answer}").judge(answer="Thanks!").passed
    repair = model.calls[1].prompt.turns[-1].text
    assert "labels=" not in repair
    assert '"YES", "NO", "UNSURE"' in repair


@pytest.mark.slow
@pytest.mark.parametrize("text", ["Answer " * 4000, "\n" * 20_000, "said " * 4000 + "Answer A or B, " * 800])
def test_a_long_prompt_does_not_hold_up_the_check(text: str) -> None:
    """Patterns that try every split of such a text would take minutes."""
    assert not is_refused({"prompt": f"{text}\n\nIs it kind?\n{{answer}}"})
