"""Estimate of costs as a command prints it."""

from __future__ import annotations

from dataclasses import asdict
from json import dumps

from jury_adapters.core.cost_estimate import CostEstimate

_AMOUNTS = ("calls", "input_tokens", "output_tokens", "cost_usd", "cost_complete")


def estimate_text(estimate: CostEstimate, *, as_json: bool, **counts: int) -> str:
    """Return an estimate as a table or as JSON.

    Args:
        estimate: the estimate.
        as_json: whether to return JSON.
        **counts: numbers to show before it, such as ``probes=1100``.
    """
    if as_json:
        total = {name: getattr(estimate, name) for name in _AMOUNTS}
        return dumps({**counts, **total, "rows": [asdict(row) for row in estimate.rows]}, indent=2) + "\n"
    return "".join(f"{count:,} {name}\n" for name, count in counts.items()) + f"{estimate}\n"
