"""Grounding: checks of an answer against its contexts, made without a model.

Optional part: the checks are judges like any other. :func:`grounding_screen` makes a cascade of them, which decides the
clear cases at no cost and leaves the others to a jury.

>>> from jury_adapters.grounding import grounding_screen
>>> from jury_adapters import Case
>>> grounding_screen().judge(Case(answer="It opened in 1999.", contexts=["The bridge opened in 1998."])).passed
False
"""

from jury_adapters.grounding.screen import (
    ContextRelevance,
    NamesAndNumbers,
    SentenceAlignment,
    SentenceSupport,
    Undecided,
    grounding_screen,
)

__all__ = [
    "ContextRelevance",
    "NamesAndNumbers",
    "SentenceAlignment",
    "SentenceSupport",
    "Undecided",
    "grounding_screen",
]
