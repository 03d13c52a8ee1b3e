"""Several critics on one query."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

from jury_adapters.compat import verdict_measures
from jury_adapters.compat.cross_judge._asking import CallersJudge, verdicts_of
from jury_adapters.compat.cross_judge._bridge import as_jury_verdict, verdict_of
from jury_adapters.compat.cross_judge.core import Critic
from jury_adapters.compat.cross_judge.verdict import EnsembleVerdict, Verdict
from jury_adapters.compat.cross_judge.voting import VotingStrategy, get_voting_strategy
from jury_adapters.core.judge import Judge

VotingName = Literal["majority", "unanimous"]


@dataclass
class Ensemble:
    """Critics that judge the same query concurrently, and vote.

    Args:
        critics: critics, or objects with their ``judge(query, context=...)``.
        voting: ``"majority"``, ``"unanimous"``, or a function of the verdicts that returns the label and whether any
            differ.
        voting_kwargs: options of the vote, such as ``{"priority": ["REJECT", "KEEP"]}``.
    """

    critics: list[Critic]
    voting: str | VotingStrategy = "majority"
    voting_kwargs: dict[str, Any] = field(default_factory=dict)

    def judge(
        self,
        query: str,
        *,
        query_id: str | None = None,
        context: dict[str, Any] | None = None,
        meta: dict[str, Any] | None = None,
    ) -> EnsembleVerdict:
        """Ask all critics about a query, and vote. A critic that fails gives a verdict with an ``error``.

        Args:
            query: the query to judge.
            query_id: the id of the query; by default its first 80 characters.
            context: values for the templates' other placeholders.
            meta: kept with the result.

        Raises:
            KeyError: a template has a placeholder without a value, or the voting strategy is unknown; nothing has been
                sent.
            ConfigurationError: a vendor is unknown and there is no ``base_url``.
        """
        get_voting_strategy(self.voting)
        judges = [_judge_of(critic, query, context) for critic in self.critics]
        names = [str(getattr(critic, "name", "")) for critic in self.critics]
        verdicts = verdicts_of(judges, verdict_of, names)
        return self.aggregate_verdicts(verdicts, query_id=query_id or query[:80], meta=meta)

    def aggregate_verdicts(
        self, verdicts: list[Verdict], *, query_id: str, meta: dict[str, Any] | None = None
    ) -> EnsembleVerdict:
        """Vote over verdicts obtained elsewhere."""
        consensus, disagreement = get_voting_strategy(self.voting)(verdicts, **self.voting_kwargs)
        measured = as_jury_verdict(verdicts, consensus)
        name = self.voting if isinstance(self.voting, str) else getattr(self.voting, "__name__", "custom")
        return EnsembleVerdict(
            query_id=query_id,
            verdicts=verdicts,
            consensus=consensus,
            avg_confidence=verdict_measures.avg_confidence(measured),
            disagreement=disagreement,
            agreement_pct=verdict_measures.agreement_pct(measured),
            krippendorff_alpha=measured.krippendorff_alpha,
            voting=str(name),
            meta=meta or {},
        )


_ASKS = Critic.judge


def _judge_of(critic: Critic, query: str, context: dict[str, Any] | None) -> Judge:
    if getattr(critic.judge, "__func__", None) is _ASKS:
        return critic._asking(query, context)
    # Another class, a subclass with a `judge` of its own, or a replacement in a test.
    return CallersJudge(str(getattr(critic, "name", "")), partial(critic.judge, query, context=context))
