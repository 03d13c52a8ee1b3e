"""Comparison of two answers, asked in both orders, because models favour a position."""

from jury_adapters.core.case import Case
from jury_adapters.core.ensemble import Ensemble
from jury_adapters.core.judge import Judge, JudgeLike, ask, ask_together, judge, judge_of
from jury_adapters.core.judgment import NO_USAGE, Judgment, Status, Usage, abstain, broken, total_usage
from jury_adapters.core.values import ConfigurationError

_OTHER = {"A": "B", "B": "A"}


class PairwiseCritic(Judge):
    """Judge that has two candidates compared in both orders, and accepts only a preference that both orders share.

    The label is ``A`` (the first candidate), ``B`` or ``tie``. If the orders differ, the position decided and not the
    candidates: the label is ``tie`` and ``metadata["position_consistent"]`` is False. The two judgments are inside,
    ``A first`` and ``B first``; their labels follow the order of the case, and their reasoning has the letters that the
    model saw. If one order is ABSTAIN or ERROR, so is the comparison. Two candidates with one text are a tie, and
    nothing is asked. (Zheng et al. 2023, arXiv:2306.05685)

    Args:
        judge: a :class:`Critic` with the rubric ``pairwise``, or another judge or function whose labels are A, B and
            tie. A jury that is tied says ``tie``, whatever its rule for ties.
        name: the name in verdicts; by default that of the judge.

    Raises:
        ConfigurationError: the judge declares other labels.

    >>> from jury_adapters.core.judge import judge
    >>> longer = judge(lambda case: "A" if len(case.candidates[0]) > 9 else "B", labels=["A", "B", "tie"])
    >>> PairwiseCritic(longer).judge(question="Why?", candidates=["Because.", "As it is late."]).label
    'B'
    """

    labels = dict.fromkeys(("A", "B", "tie"), Status.LABEL)

    def __init__(self, judge: JudgeLike, *, name: str = "") -> None:
        self.judge_of_pairs = judge_of(judge)
        self.name = name or self.judge_of_pairs.name
        self.cost = 2 * self.judge_of_pairs.cost
        declared = self.judge_of_pairs.labels
        if declared is not None and not {"A", "B"} <= declared.keys():
            raise ConfigurationError(
                f"a judge of pairs has the labels A, B and tie, not {', '.join(declared) or 'none'}; the rubric "
                "'pairwise' has them, and @judge(labels=['A', 'B', 'tie']) declares them"
            )

    @property
    def members(self) -> tuple[Judge, ...]:
        """The judge, once for each order."""
        return self.judge_of_pairs, self.judge_of_pairs

    async def assess(self, case: Case) -> Judgment:
        """Ask in both orders at once."""
        if len(case.candidates) != 2:
            return abstain(f"nothing to compare: there are {len(case.candidates)} candidates, and it takes two")
        if case.candidates[0].strip() == case.candidates[1].strip():
            return Judgment(status=Status.LABEL, label="tie", reasoning="both candidates are the same text")
        swapped = case.model_copy(update={"candidates": case.candidates[::-1]})
        orders = ((case, "A first"), (swapped, "B first"))
        said = await ask_together(ask(self.judge_of_pairs, one, name) for one, name in orders)
        there, back = map(_without_broken_tie, said)
        if back.label in _OTHER:
            back = back.model_copy(update={"label": _OTHER[back.label]})
        both = (there, back)
        inside = {"judgments": both, "voting": "pairwise", "on": "label", "usage": total_usage(both)}
        return _outcome(there, back).model_copy(update=inside)

    def estimate(self, case: Case) -> Usage:
        """Estimate the largest usage of both orders."""
        return super().estimate(case) if len(case.candidates) == 2 else NO_USAGE


def in_both_orders(jury: JudgeLike) -> Judge:
    """Return a jury, or a function that says A, B or tie, so that it is asked in both orders, but not in four."""
    jurors = jury.members if isinstance(jury, Ensemble) else (jury,)
    if isinstance(jury, Judge) and all(isinstance(one, PairwiseCritic) for one in jurors):
        return jury
    return PairwiseCritic(jury if isinstance(jury, Judge) else judge(jury, labels=[*PairwiseCritic.labels]))


def _without_broken_tie(judgment: Judgment) -> Judgment:
    """Return the judgment of a jury that prefers a candidate only by its rule for ties as a tie."""
    return judgment.model_copy(update={"label": "tie"}) if judgment.tied and judgment.label in _OTHER else judgment


def _outcome(there: Judgment, back: Judgment) -> Judgment:
    """Return the judgment on the judgments of the two orders, of which the second has been turned back."""
    undecided = [one for one in (there, back) if not one.decided]
    if undecided:
        first = max(undecided, key=lambda one: one.status is Status.ERROR)
        said = f"{first.critic}: {first.reasoning or first.error}"
        return Judgment(status=first.status, reasoning=said, error=first.error)
    if strange := [one for one in (there, back) if one.label not in PairwiseCritic.labels]:
        return broken(f"{strange[0].critic}: the label {strange[0].ballot!r} is neither A nor B nor tie")
    same = there.label == back.label
    known = [one.confidence for one in (there, back) if one.confidence is not None]
    differ = f"the position decided: {there.label} with A first, {back.label} with B first"
    return Judgment(
        status=Status.LABEL,
        label=there.label if same else "tie",
        confidence=sum(known) / len(known) if known and same else None,
        reasoning=f"{there.label} in both orders: {there.reasoning}".removesuffix(": ") if same else differ,
        metadata={"position_consistent": same},
    )
