"""Language models behind one interface. No other part of the package talks to vendors.

Prices are in USD per million tokens.

>>> from jury_adapters.models import family_of, set_price
>>> set_price("openai:my-model", input=0.5, output=2.0)  # doctest: +SKIP
>>> family_of("claude-haiku-4-5")
'anthropic'
"""

from jury_adapters.core.model_families import family_of
from jury_adapters.models.prices import set_price

__all__ = ["family_of", "set_price"]
