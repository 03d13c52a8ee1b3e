"""Tools with which users of the package test."""

import asyncio

import pytest

from jury_adapters import ConfigurationError, Critic, Ensemble
from jury_adapters.models.base import Prompt, Reply
from jury_adapters.testing import ScriptedModel, a_case


def said(model: ScriptedModel, times: int) -> list[str]:
    return [asyncio.run(model.complete(Prompt.of("?"))).text for _ in range(times)]


def test_a_script_is_said_line_by_line_and_its_last_line_for_ever():
    assert said(ScriptedModel(["YES", Reply("NO")]), 3) == ["YES", "NO", "NO"]


@pytest.mark.parametrize("answer", ["Answer: YES", Reply("Answer: YES")])
def test_one_answer_alone_is_given_for_ever(answer):
    assert said(ScriptedModel(answer), 2) == ["Answer: YES", "Answer: YES"]
    panel = Ensemble([Critic(ScriptedModel(answer), "faithfulness", name=name) for name in "ab"])
    assert panel.judge(a_case()).agreement == 1.0


def test_a_function_answers_each_prompt():
    assert said(ScriptedModel(lambda prompt: prompt.turns[0].text), 1) == ["?"]


def test_an_exception_is_raised():
    with pytest.raises(OSError, match="down"):
        said(ScriptedModel(OSError("down")), 1)


def test_an_empty_script_is_refused():
    with pytest.raises(ConfigurationError, match="at least one line"):
        ScriptedModel([])
