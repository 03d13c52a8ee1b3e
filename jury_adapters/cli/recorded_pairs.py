"""Recorded votes on the pairs of LLMBar: a jury, its jurors and a constant answer against human labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any

from jury_adapters.core.cascade import CascadedJury, Tier
from jury_adapters.core.case import Case
from jury_adapters.core.ensemble import Ensemble
from jury_adapters.core.human_labels import GOLD
from jury_adapters.core.judge import Judge
from jury_adapters.core.judgment import Judgment
from jury_adapters.core.label_scores import Kind, LabelScore
from jury_adapters.core.statistics import Score, paired_interval
from jury_adapters.core.values import JsonValue
from jury_adapters.critic.recorded import RecordedCritic

# Panel and prompt are chosen on the adversarial pairs, by tests/tools/demo_votes.py.
SMALL = ("PaLM2", "LLaMA2", "Falcon")
PROMPT = "Metrics_Reference"
OTHER_PROMPTS = ("Vanilla", "Vanilla_NoRules", "CoT", "Metrics", "Reference", "Swap", "Swap_CoT")
LARGE = "GPT-4"
SMALL_TIER, LARGE_TIER = "small models agree", f"{LARGE} decides"
# The source recorded no prices; these are assumed, in US dollars per vote. A vote is several requests: for the metrics,
# the reference and each order of the answers.
SMALL_COST, LARGE_COST = 0.005, 0.100


def pair_juror(model: str, prompt: str = PROMPT) -> RecordedCritic:
    """Return a model's recorded votes; it abstains where its preference depends on the order of the answers.

    Args:
        model: the name of the model.
        prompt: the name of the prompt with which it was asked.
    """
    cost = LARGE_COST if model == LARGE else SMALL_COST
    return RecordedCritic(f"{model}/{prompt}", labels={"tie": "abstain"}, name=model, cost=cost)


def pair_jury(prompt: str = PROMPT) -> CascadedJury:
    """Return a jury in which three small models vote and a large one decides unless they agree.

    Args:
        prompt: the name of the prompt with which the models were asked.
    """
    small = Ensemble([pair_juror(model, prompt) for model in SMALL], min_votes=2)
    return CascadedJury(
        [Tier(SMALL_TIER, small, "escalate_on_split"), Tier(LARGE_TIER, pair_juror(LARGE, prompt))],
        name="small-to-large cascade",
    )


@dataclass(frozen=True, slots=True)
class PairScore:
    """Preferences of one judge in pairs of answers, beside those of humans.

    Attributes:
        name: its name.
        truths: the human label of each pair.
        said: its own label of each pair; None without a decision.
        costs: the cost of its votes on each pair, in US dollars; empty if there are none.
        kind: whether it is the jury, a juror, or a constant answer.
    """

    name: str
    truths: tuple[str, ...]
    said: tuple[str | None, ...]
    costs: tuple[float, ...] = ()
    kind: Kind = "juror"

    @classmethod
    def of_judgments(cls, name: str, cases: Sequence[Case], judgments: Sequence[Judgment], kind: Kind) -> PairScore:
        """Return the score of judgments on these cases."""
        costs = tuple(judgment.usage.total.cost_usd or 0.0 for judgment in judgments)
        return cls(name, _truths(cases), tuple(judgment.label for judgment in judgments), costs, kind)

    @classmethod
    def of_judge(cls, judge: Judge, cases: Sequence[Case]) -> PairScore:
        """Return the score of a judge that is asked about these cases alone."""
        return cls.of_judgments(judge.name, cases, list(judge.judge_many(cases)), "juror")

    @classmethod
    def of_constant(cls, cases: Sequence[Case]) -> PairScore:
        """Return the score of the constant answer that is right most often."""
        truths = _truths(cases)
        answer, _ = Counter(truths).most_common(1)[0]
        name = {"A": "always the first", "B": "always the second"}[answer]
        return cls(name, truths, (answer,) * len(truths), kind="constant")

    def only(self, name: str, keep: Sequence[bool]) -> PairScore:
        """Return the score on some of the pairs, under another name, with the cost of these pairs.

        Args:
            name: the name.
            keep: whether each pair is one of them.
        """
        return PairScore(
            name,
            tuple(compress(self.truths, keep)),
            tuple(compress(self.said, keep)),
            tuple(compress(self.costs, keep)),
            self.kind,
        )

    @property
    def pairs(self) -> int:
        """Number of pairs."""
        return len(self.said)

    @property
    def cost_usd(self) -> float:
        """The cost of its votes, in US dollars."""
        return sum(self.costs)

    @property
    def right(self) -> int:
        """Number of pairs in which it agrees with the human label."""
        return self.against_labels.score.right

    @property
    def undecided(self) -> int:
        """Number of pairs without a decision."""
        return self.said.count(None)

    @property
    def wrong(self) -> int:
        """Number of pairs in which it prefers the other answer."""
        return self.pairs - self.right - self.undecided

    @property
    def against_labels(self) -> LabelScore:
        """The figures against human labels, in which a pair without a decision counts as not right."""
        score = Score()
        for truth, said in zip(self.truths, self.said, strict=True):
            score.add(truth, said or "undecided")
        return LabelScore(self.name, self.kind, score, pass_fail=False)

    def minus(self, other: PairScore) -> tuple[float, tuple[float, float]]:
        """Return how much larger its share of right pairs is than another's, with the 95 % interval."""
        mine, theirs = self._hits(), other._hits()
        counts = Counter(zip(theirs, mine, strict=True))
        interval = paired_interval(*(counts[pair] for pair in _OUTCOMES))
        return (sum(mine) - sum(theirs)) / self.pairs, interval

    def to_dict(self) -> dict[str, JsonValue]:
        """Return JSON values."""
        interval = self.against_labels.balanced_interval
        return {
            "name": self.name,
            "pairs": self.pairs,
            "right": self.right,
            "wrong": self.wrong,
            "undecided": self.undecided,
            "balanced_accuracy": self.against_labels.balanced_accuracy,
            "balanced_accuracy_interval": None if interval is None else list(interval),
            "cost_usd": round(self.cost_usd, 6),
        }

    def _hits(self) -> list[bool]:
        return [truth == said for truth, said in zip(self.truths, self.said, strict=True)]


def is_adversarial(case: Case) -> bool:
    """Whether a pair was written to fool judges."""
    meta: Any = case.metadata["meta"]
    return bool(meta["subset"] == "Adversarial")


_OUTCOMES = ((True, True), (True, False), (False, True), (False, False))  # right first, and right second


def _truths(cases: Sequence[Case]) -> tuple[str, ...]:
    return tuple(str(case.metadata[GOLD]) for case in cases)
