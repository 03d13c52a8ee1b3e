"""Judging in batches, at half the price, for work that can wait a day.

OpenAI has batches, Anthropic has message batches. ``model.py`` is what a critic is given; ``desk.py`` is the thread
that does the work for one folder; ``lane.py`` collects, sends, watches and delivers; ``ledger.py`` remembers on disk
what was sent; ``vendors.py`` speaks to the two vendors; ``rows.py`` reads what comes back.
"""

from jury_adapters.models.batches.model import BatchModel

__all__ = ["BatchModel"]
