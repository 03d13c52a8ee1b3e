"""Arguments of LlamaIndex's own evaluators and of critics that the presets do not take, and their replacements."""

from __future__ import annotations

import inspect
from collections.abc import Collection
from typing import Any

from jury_adapters.core.errors import ConfigurationError, unknown
from jury_adapters.critic.critic import Critic


def check_options(evaluator: str, options: dict[str, Any], own: Collection[str]) -> None:
    """Check the options of an evaluator's critics, and remove arguments of other classes that do nothing.

    Args:
        evaluator: the name of the evaluator.
        options: the options of its critics.
        own: the names of the evaluator's own arguments, for the message.

    Raises:
        ConfigurationError: an argument of LlamaIndex's own evaluators, or the question of a critic, has a value other
            than None or False, and the message names the replacement; or critics do not take an option.
    """
    for name in _REPLACEMENTS.keys() & options.keys():
        value = options.pop(name)
        if value is not None and value is not False:
            raise ConfigurationError(f"{evaluator} takes no {name}=; {_REPLACEMENTS[name]}")
    of_critics = inspect.signature(Critic).parameters.keys() - _OF_THE_EVALUATOR
    for name in options.keys() - of_critics:
        raise ConfigurationError(f"{evaluator}: {unknown('argument', name, {*own, *of_critics})}")


_OF_THE_EVALUATOR = frozenset({"model", "rubric", "prompt"})
_RUBRIC = "give a critic with a rubric of your own: llm=Critic(..., Rubric(...))"
_PROMPT = "it has a rubric of its own; give a critic with a prompt of yours: llm=Critic(..., prompt=...)"
_PARSER = (
    "replies are read by the rubric's answers=; for a reply format of your own give a critic that reads it: "
    "llm=Critic(..., prompt=..., parse=...)"
)
_TEMPLATE = f"change the prompts of get_prompts() with update_prompts(), or {_RUBRIC}"
_REPLACEMENTS = {
    "rubric": f"it has one of its own; {_RUBRIC}",
    "prompt": _PROMPT,
    "eval_template": _TEMPLATE,
    "score_template": _TEMPLATE,
    "refine_template": "all contexts are judged in one prompt, so leave it out",
    "parser_function": _PARSER,
    "output_parser": _PARSER,
    "guidelines": "JuryGuidelineEvaluator(guidelines=...) judges by guidelines",
    "score_threshold": "its rubric has the ratings; threshold= is the lowest score that passes, from 0 to 1",
    "raise_error": "it never raises for an item, so read invalid_result and invalid_reason of the result",
    "multi_modal_llm": "give the model as llm=",
    "service_context": "give the model as llm=",
    "enforce_consensus": "swap= says whether both orders are asked",
}
