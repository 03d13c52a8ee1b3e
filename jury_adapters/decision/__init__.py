"""Decision models: one request for all criteria of a case, answered with probabilities instead of text.

Optional part: a decision model is asked by :class:`DecisionCritic`, a judge like any other.

>>> from jury_adapters.decision import DecisionCritic
"""

from jury_adapters.decision.critic import DecisionCritic

__all__ = ["DecisionCritic"]
