"""Ready-made judges."""

from jury_adapters.judges.factual_overlap import FactualOverlap
from jury_adapters.judges.turns import EachTurn

__all__ = ["EachTurn", "FactualOverlap"]
