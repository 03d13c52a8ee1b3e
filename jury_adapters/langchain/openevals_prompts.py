"""Prompts of openevals that ask for a fault, so that TRUE is the verdict on a bad answer, or about a conversation."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from inspect import getclosurevars, isfunction
from typing import Final


def fault_scale(function: object) -> tuple[float, float] | None:
    """Return the scale (worst, best) of a judge of openevals that asks for a fault; None for any other evaluator.

    The judge is recognised by its prompt, which is one of openevals' own: ``TOXICITY_PROMPT``, ``PII_LEAKAGE_PROMPT``
    and the like. A changed prompt, or one of the application, may say either.
    """
    return (1.0, 0.0) if _has_prompt(function, _FAULTS) else None


def asks_about_conversation(function: object) -> bool:
    """Whether a judge of openevals has a prompt of openevals for which ``outputs`` is a whole conversation."""
    return _has_prompt(function, _CONVERSATIONS)


def has_variable(function: object, name: str) -> bool:
    """Whether the prompt of a judge of openevals has a variable of this name."""
    return f"{{{name}}}" in _prompt_of(function)


def _has_prompt(function: object, names: Iterable[str]) -> bool:
    prompt, prompts = _prompt_of(function), sys.modules.get("openevals.prompts")
    return bool(prompt) and any(prompt == getattr(prompts, name, None) for name in names)


def _prompt_of(function: object) -> str:
    """Return the prompt of a judge of openevals; empty for one that is not a text, and for any other evaluator."""
    function = getattr(function, "func", function)  # of functools.partial
    if not isfunction(function) or not (function.__module__ or "").startswith("openevals."):
        return ""
    prompt = getclosurevars(function).nonlocals.get("prompt")
    return prompt if isinstance(prompt, str) else ""


_FAULTS: Final = (
    "TOXICITY_PROMPT", "FAIRNESS_PROMPT", "PII_LEAKAGE_PROMPT", "CODE_INJECTION_PROMPT", "PROMPT_INJECTION_PROMPT",
    "LAZINESS_PROMPT", "PERCEIVED_ERROR_PROMPT", "EXPLICIT_CONTENT_PROMPT", "SENSITIVE_IMAGERY_PROMPT",
    "AUDIO_QUALITY_PROMPT",
)  # fmt: skip
_CONVERSATIONS: Final = (
    "PERCEIVED_ERROR_PROMPT", "WINS_PROMPT", "TASK_COMPLETION_PROMPT", "KNOWLEDGE_RETENTION_PROMPT",
    "USER_SATISFACTION_PROMPT", "AGENT_TONE_PROMPT", "LANGUAGE_DETECTION_PROMPT", "SUPPORT_INTENT_PROMPT",
    "TRAJECTORY_ACCURACY_PROMPT", "TRAJECTORY_ACCURACY_PROMPT_WITH_REFERENCE", "TOOL_SELECTION_PROMPT",
)  # fmt: skip
