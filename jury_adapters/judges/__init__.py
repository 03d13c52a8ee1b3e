"""Ready-made judges.

Importing this package loads none of them: each name is loaded when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jury_adapters.judges.factual_overlap import FactualOverlap
    from jury_adapters.judges.turns import EachTurn

__all__ = ["EachTurn", "FactualOverlap"]

_HOMES = {"EachTurn": "turns", "FactualOverlap": "factual_overlap"}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
