"""The core: cases, judgments, judges, votes and juries. It imports the standard library and pydantic only."""

# Both fill the makers of `judge`, whose methods return juries.
from jury_adapters.core import combinators, ensemble

__all__ = ["combinators", "ensemble"]
