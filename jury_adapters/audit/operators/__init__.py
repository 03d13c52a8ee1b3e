"""Operators that change an answer so that it becomes wrong, or stays right, by construction."""

from __future__ import annotations

from jury_adapters.audit.operators.registry import OPERATORS, Operator, operators_named

__all__ = ["OPERATORS", "Operator", "operators_named"]
