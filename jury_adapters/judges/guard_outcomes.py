"""Outcomes of the guards inside a run, as metadata of the run."""

from __future__ import annotations

from collections.abc import Sequence


def guard_facts(outcomes: Sequence[str]) -> dict[str, object]:
    """Return the metadata of a run about the guards in it: the gravest outcome, and all, if there are several.

    >>> guard_facts(["passed", "unjudged"])
    {'guard': 'unjudged', 'guards': ('passed', 'unjudged')}
    """
    facts: dict[str, object] = {"guard": min(outcomes, key=_GUARD_OUTCOMES.index)} if outcomes else {}
    return {**facts, "guards": tuple(outcomes)} if len(outcomes) > 1 else facts


_GUARD_OUTCOMES = ("blocked", "unjudged", "best", "annotated", "passed")
"""Outcomes of a guard, beginning with the one that matters most."""
