"""Arguments of LlamaIndex's own evaluators, and what takes their place here."""

from __future__ import annotations

from typing import Any

from jury_adapters.core.errors import ConfigurationError


def without_replaced(evaluator: str, options: dict[str, Any]) -> None:
    """Take the arguments of LlamaIndex's own evaluators out of the options; those that do nothing are accepted.

    Raises:
        ConfigurationError: one of them asks for something; the message names the replacement.
    """
    for name in _REPLACEMENTS.keys() & options.keys():
        value = options.pop(name)
        if value is not None and value is not False:
            raise ConfigurationError(f"{evaluator} takes no {name}=; {_REPLACEMENTS[name]}")


_RUBRIC = "give a critic with a rubric of your own: llm=Critic(model=..., rubric=Rubric(...))"
_REPLACEMENTS = {
    "eval_template": f"change the prompts of get_prompts() with update_prompts(), or {_RUBRIC}",
    "refine_template": "all contexts are judged in one prompt, so leave it out",
    "parser_function": f"replies are read by the rubric's answers=, so {_RUBRIC}",
    "output_parser": f"replies are read by the rubric's answers=, so {_RUBRIC}",
    "score_threshold": "threshold= is the lowest score that passes, from 0 to 1",
    "raise_error": "it never raises for an item, so read invalid_result and invalid_reason of the result",
    "service_context": "give the model as llm=",
    "enforce_consensus": "swap= says whether both orders are asked",
}
