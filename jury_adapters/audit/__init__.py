"""Tests of juries: answers that are wrong by construction, changes that should not matter, and injected instructions.

>>> from jury_adapters import grounding_screen
>>> from jury_adapters.audit import Sizes, audit
>>> report = audit(grounding_screen(), sizes=Sizes(per_operator=10, per_invariance=5, injections=5))
>>> report.jury.kill_rate.n > 0
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jury_adapters.core.lazy import load

if TYPE_CHECKING:
    from jury_adapters.audit.auditing import Audit, AuditPlan, audit, plan_audit
    from jury_adapters.audit.comparison import JurorComparison
    from jury_adapters.audit.examples import example_cases
    from jury_adapters.audit.figures import Flips, Share, SubjectFigures
    from jury_adapters.audit.findings import Finding, Standards
    from jury_adapters.audit.hostile_texts import Injection, inject, injections
    from jury_adapters.audit.operators.registry import OPERATORS, Operator
    from jury_adapters.audit.pairs import PairAudit, PositionFigures, audit_pairs
    from jury_adapters.audit.probes import Probe, Sizes
    from jury_adapters.audit.unplaced import Unplaced

__all__ = [
    "OPERATORS",
    "Audit",
    "AuditPlan",
    "Finding",
    "Flips",
    "Injection",
    "JurorComparison",
    "Operator",
    "PairAudit",
    "PositionFigures",
    "Probe",
    "Share",
    "Sizes",
    "Standards",
    "SubjectFigures",
    "Unplaced",
    "audit",
    "audit_pairs",
    "example_cases",
    "inject",
    "injections",
    "plan_audit",
]

_HOMES = {
    "auditing": ("Audit", "AuditPlan", "audit", "plan_audit"),
    "comparison": ("JurorComparison",),
    "examples": ("example_cases",),
    "figures": ("Flips", "Share", "SubjectFigures"),
    "findings": ("Finding", "Standards"),
    "hostile_texts": ("Injection", "inject", "injections"),
    "operators.registry": ("OPERATORS", "Operator"),
    "pairs": ("PairAudit", "PositionFigures", "audit_pairs"),
    "probes": ("Probe", "Sizes"),
    "unplaced": ("Unplaced",),
}
_HOME_OF = {name: f"{__name__}.{module}" for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = load(home, name, {})
    return value


def __dir__() -> list[str]:
    return list(__all__)
