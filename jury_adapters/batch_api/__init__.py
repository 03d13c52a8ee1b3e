"""Judging in batches, at half the price, for work that can wait a day.

OpenAI calls them batches, Anthropic message batches. ``model.py`` is the model that a critic gets. ``submitter.py`` is
the thread that does the work for one folder. ``model_queue.py`` collects requests, sends and polls batches, and
delivers results. ``ledger.py`` records on disk what was sent. ``vendors.py`` talks to the two vendors. ``rows.py``
reads the results.
"""

from jury_adapters.batch_api.model import BatchModel

__all__ = ["BatchModel"]
