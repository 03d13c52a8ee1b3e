"""Statistics of votes: agreement, jurors against human labels, biases, pass rates with few labels, and planning.

:class:`Votes` reads a results file; every analysis takes it and returns a :class:`Figure`, or several.
"""

try:
    from jury_adapters.stats.agreement import (
        alpha,
        alpha_of_scores,
        cohen_kappa,
        effective_votes,
        gwet_ac1,
        raw_agreement,
    )
    from jury_adapters.stats.bias import length_bias, position_bias, same_model, self_preference
    from jury_adapters.stats.confidence import confidence_quality, graded_agreement
    from jury_adapters.stats.figures import Figure, table
    from jury_adapters.stats.gate import SequentialGate
    from jury_adapters.stats.jurors import Reliabilities, against_labels, dawid_skene, reliabilities
    from jury_adapters.stats.planning import cases_for_difference, labels_for_guarantee, labels_for_interval
    from jury_adapters.stats.rates import compare, pass_rate, true_pass_rate
    from jury_adapters.stats.votes import Votes
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"statistics need NumPy and SciPy: pip install 'jury-adapters[stats]' ({error})", name=error.name
    ) from None

__all__ = [
    "Figure",
    "Reliabilities",
    "SequentialGate",
    "Votes",
    "against_labels",
    "alpha",
    "alpha_of_scores",
    "cases_for_difference",
    "cohen_kappa",
    "compare",
    "confidence_quality",
    "dawid_skene",
    "effective_votes",
    "graded_agreement",
    "gwet_ac1",
    "labels_for_guarantee",
    "labels_for_interval",
    "length_bias",
    "pass_rate",
    "position_bias",
    "raw_agreement",
    "reliabilities",
    "same_model",
    "self_preference",
    "table",
    "true_pass_rate",
]
