"""Vendor-neutral core: cases, judges, votes, cascades and agreement.

The core imports only the standard library and pydantic, and each of its modules imports only lower-level ones. A few
methods of the basic classes (``Judge.judge_many``, ``Judgment.to_json``, ``Verdict.require``) need higher-level
modules; they import these names from here when they are called.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jury_adapters.core.batch import BatchOptions, astream, stream
    from jury_adapters.core.combinators import AllOf, AnyOf, all_of, any_of, with_samples
    from jury_adapters.core.cost_estimate import CostEstimate, estimate_cost_of
    from jury_adapters.core.ensemble import Ensemble
    from jury_adapters.core.fallbacks import FallbackJudge
    from jury_adapters.core.formatting import to_html, to_line, to_text
    from jury_adapters.core.function_judge import FunctionJudge
    from jury_adapters.core.gates import GateOptions, GateResult, require
    from jury_adapters.core.serial import canonical_json, from_json, to_dict

__all__ = [
    "AllOf",
    "AnyOf",
    "BatchOptions",
    "CostEstimate",
    "Ensemble",
    "FallbackJudge",
    "FunctionJudge",
    "GateOptions",
    "GateResult",
    "all_of",
    "any_of",
    "astream",
    "canonical_json",
    "estimate_cost_of",
    "from_json",
    "require",
    "stream",
    "to_dict",
    "to_html",
    "to_line",
    "to_text",
    "with_samples",
]

_HOMES = {
    "AllOf": "combinators",
    "AnyOf": "combinators",
    "BatchOptions": "batch",
    "Ensemble": "ensemble",
    "FallbackJudge": "fallbacks",
    "FunctionJudge": "function_judge",
    "GateOptions": "gates",
    "GateResult": "gates",
    "CostEstimate": "cost_estimate",
    "all_of": "combinators",
    "any_of": "combinators",
    "astream": "batch",
    "canonical_json": "serial",
    "from_json": "serial",
    "estimate_cost_of": "cost_estimate",
    "require": "gates",
    "stream": "batch",
    "to_dict": "serial",
    "to_html": "formatting",
    "to_line": "formatting",
    "to_text": "formatting",
    "with_samples": "combinators",
}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f"{__name__}.{home}"), name)
    return found
