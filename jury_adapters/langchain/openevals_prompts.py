"""Prompts of openevals that ask for a fault, so that TRUE is the verdict on a bad answer."""

from __future__ import annotations

import sys
from inspect import getclosurevars, isfunction
from typing import Final


def fault_scale(function: object) -> tuple[float, float] | None:
    """Return the scale (worst, best) of a judge of openevals that asks for a fault; None for any other evaluator.

    The judge is recognised by its prompt, which is one of openevals' own: ``TOXICITY_PROMPT``, ``PII_LEAKAGE_PROMPT``
    and the like. A changed prompt, or one of the application, may say either.
    """
    function = getattr(function, "func", function)  # of functools.partial
    prompts = sys.modules.get("openevals.prompts")
    if prompts is None or not isfunction(function) or not (function.__module__ or "").startswith("openevals."):
        return None
    prompt = getclosurevars(function).nonlocals.get("prompt")
    asks = isinstance(prompt, str) and any(prompt == getattr(prompts, name, None) for name in _FAULTS)
    return (1.0, 0.0) if asks else None


_FAULTS: Final = (
    "TOXICITY_PROMPT", "FAIRNESS_PROMPT", "PII_LEAKAGE_PROMPT", "CODE_INJECTION_PROMPT", "PROMPT_INJECTION_PROMPT",
    "LAZINESS_PROMPT", "PERCEIVED_ERROR_PROMPT", "EXPLICIT_CONTENT_PROMPT", "SENSITIVE_IMAGERY_PROMPT",
)  # fmt: skip
