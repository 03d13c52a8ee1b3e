"""Tests of juries with answers that are wrong by construction, changes that must not matter, and hostile texts."""

from jury_adapters.audit.auditing import Audit, Finding, audit
from jury_adapters.audit.operators import OPERATORS, OWN, example_cases
from jury_adapters.audit.probes import Probe, example_pairs, plan_probes

__all__ = [
    "OPERATORS",
    "OWN",
    "Audit",
    "Finding",
    "Probe",
    "audit",
    "example_cases",
    "example_pairs",
    "plan_probes",
]
