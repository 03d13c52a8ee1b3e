"""Several reviewers on one item."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

from jury_adapters.compat.cross_judge._asking import CallersJudge, verdicts_of
from jury_adapters.compat.cross_judge._bridge import legacy_verdict_of
from jury_adapters.compat.cross_judge.aggregation import AggregationStrategy, avg_confidence, get_strategy, weighted
from jury_adapters.compat.cross_judge.reviewer import Reviewer
from jury_adapters.compat.cross_judge.schema import EnsembleResult, Verdict
from jury_adapters.core.judge import Judge


@dataclass
class JudgePanel:
    """Reviewers that judge the same item concurrently, and vote.

    Args:
        reviewers: reviewers, or objects with their ``ask(user_prompt)``.
        strategy: ``"majority"``, ``"unanimous"``, ``"weighted"``, ``"first_disagreement"``, or a function of the
            verdicts that returns the label and whether any differ. ``"weighted"`` uses the reviewers' weights.
        strategy_kwargs: options of the strategy.
    """

    reviewers: list[Reviewer]
    strategy: str | AggregationStrategy = "majority"
    strategy_kwargs: dict[str, Any] = field(default_factory=dict)

    def ask(self, item_id: str, user_prompt: str, *, meta: dict[str, Any] | None = None) -> EnsembleResult:
        """Ask all reviewers with a complete prompt, and vote. A reviewer that fails gives a verdict with an ``error``.

        Args:
            item_id: the id of the item.
            user_prompt: the prompt.
            meta: kept with the result.

        Raises:
            KeyError: the strategy is unknown, or a vendor is unknown and there is no ``base_url``; nothing has been
                sent.
            RuntimeError: a reviewer has no key; nothing has been sent.
        """
        get_strategy(self.strategy)
        judges = [_judge_of(reviewer, user_prompt) for reviewer in self.reviewers]
        names = [str(getattr(reviewer, "reviewer_id", "")) for reviewer in self.reviewers]
        return self.aggregate_verdicts(item_id, verdicts_of(judges, legacy_verdict_of, names), meta=meta)

    def aggregate_verdicts(
        self, item_id: str, verdicts: list[Verdict], *, meta: dict[str, Any] | None = None
    ) -> EnsembleResult:
        """Vote over verdicts obtained elsewhere."""
        strategy = get_strategy(self.strategy)
        consensus, disagreement = strategy(verdicts, **self._options(strategy))
        name = self.strategy if isinstance(self.strategy, str) else getattr(self.strategy, "__name__", "custom")
        return EnsembleResult(
            item_id=item_id,
            verdicts=verdicts,
            consensus=consensus,
            avg_confidence=avg_confidence(verdicts),
            disagreement=disagreement,
            strategy=str(name),
            meta=meta or {},
        )

    def _options(self, strategy: AggregationStrategy) -> dict[str, Any]:
        if strategy is not weighted or self.strategy_kwargs.get("weights") is not None:
            return self.strategy_kwargs
        weights = {reviewer.reviewer_id: reviewer.weight for reviewer in self.reviewers}
        return {**self.strategy_kwargs, "weights": weights}


_ASKS = Reviewer.ask


def _judge_of(reviewer: Reviewer, user_prompt: str) -> Judge:
    if getattr(reviewer.ask, "__func__", None) is _ASKS:
        return reviewer._asking(user_prompt)
    # Another class, a subclass with an `ask` of its own, or a replacement in a test.
    return CallersJudge(str(getattr(reviewer, "reviewer_id", "")), partial(reviewer.ask, user_prompt))
