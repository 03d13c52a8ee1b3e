"""``Juries``: the API of agent-judge and similar packages, based on :class:`Ensemble` and :func:`combine`."""

from __future__ import annotations

from typing import Unpack

from jury_adapters.core.ensemble import Ensemble, EnsembleOptions
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.judge import Judge
from jury_adapters.core.judge_like import JudgeLike
from jury_adapters.core.jury import Jury
from jury_adapters.core.voting import Voting
from jury_adapters.core.voting.base import VotingStrategy


class Juries:
    """Functions that make a jury, under familiar names."""

    @staticmethod
    def from_judges(voting: Voting, /, *judges: JudgeLike, **options: Unpack[EnsembleOptions]) -> Ensemble:
        """Return a jury of these judges: ``Ensemble(judges, voting=voting)``.

        Unnamed judges are called ``Judge#1``, ``Judge#2``; equal names get ``-2``, ``-3``.

        Raises:
            ConfigurationError: there are no judges, or a judge is given instead of the voting strategy.

        >>> from jury_adapters.checks import NotEmpty
        >>> Juries.from_judges("majority", NotEmpty(), lambda case: True).judge(answer="x").passed
        True
        """
        if isinstance(voting, Judge):
            raise ConfigurationError("the voting strategy comes first: Juries.from_judges('majority', judge, ...)")
        options["voting"] = voting
        return Ensemble(judges, **options)

    @staticmethod
    def combine(
        first: Jury, second: Jury, voting: Voting = "majority", /, **options: Unpack[EnsembleOptions]
    ) -> Ensemble:
        """Return a jury of two juries; each keeps its own vote. See :func:`combine`."""
        options["voting"] = voting
        return combine(first, second, **options)

    @staticmethod
    def all_of(voting: Voting, /, *juries: Jury, **options: Unpack[EnsembleOptions]) -> Ensemble:
        """Return a jury of several juries that votes over their verdicts.

        It asks all of them. :func:`jury_adapters.voting.all_of` stops at the first one that does not pass.
        """
        if isinstance(voting, Judge):
            raise ConfigurationError("the voting strategy comes first: Juries.all_of('majority', jury, ...)")
        options["voting"] = voting
        return combine(*juries, **options)


def combine(*juries: Jury, **options: Unpack[EnsembleOptions]) -> Ensemble:
    """Return a jury of juries that votes over their verdicts, by majority by default.

    An ERROR of a member propagates unless ``errors=`` is given, because the failure of a whole jury is not dissent.
    """
    if options.get("errors") is None and not isinstance(options.get("voting"), VotingStrategy):
        options["errors"] = "propagate"
    return Ensemble(juries, **options)
