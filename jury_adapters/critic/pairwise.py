"""Comparison of two answers, asked in both orders, because models favour a position."""

from __future__ import annotations

from collections.abc import Iterator

from jury_adapters.core.case import Case
from jury_adapters.core.ensemble import Ensemble
from jury_adapters.core.errors import ConfigurationError, plain_repr
from jury_adapters.core.fallbacks import without_fallbacks
from jury_adapters.core.judge import Judge
from jury_adapters.core.judge_like import JudgeLike, judge_of
from jury_adapters.core.judgment import LABEL_ONLY, Judgment, OpinionStatuses, Status, evolve
from jury_adapters.core.jury import Jury
from jury_adapters.core.runner import run_judge
from jury_adapters.core.usage import NO_USAGE, Usage
from jury_adapters.core.values import FrozenDict, freeze_mapping
from jury_adapters.core.verdict import Verdict
from jury_adapters.critic.answers import Labels
from jury_adapters.critic.arguments import checked_flag, checked_name
from jury_adapters.critic.asking import AskingJudge
from jury_adapters.critic.rubric import Rubric

_OTHER = {"A": "B", "B": "A"}
_LABELS = ["A", "B", "tie"]


class PairwiseCritic(Jury):
    """Judge that compares two candidates in both orders, and accepts only a preference that both orders share.

    The case has two ``candidates``. The verdict's label is ``A`` (the first), ``B`` or ``tie``; its status is None.
    When both orders agree, the verdict has that label and the mean of the confidences. When they differ, the order
    decided and not the candidates: the label is ``tie``, ``metadata["position_consistent"]`` is False, and there is no
    confidence. Both opinions are kept as ``judgments``, ``"A first"`` and ``"B first"``, in terms of the case's own
    order. The reasoning stays as the model wrote it, with the letters that the model saw. When one order gave no
    opinion, the verdict is ABSTAIN, or ERROR if an error is the cause. Any other label is an ERROR, because it does not
    say which candidate is meant. A jury whose vote is tied in an order says ``tie`` in it. Two candidates with the same
    text are a tie, and nothing is asked.

    Args:
        critic: the judge to ask; a :class:`Critic` with the rubric ``pairwise`` or another whose labels are A, B and
            tie, or any other judge with these labels, such as a jury.
        swap: whether to ask in both orders (default). Without it, the verdict depends on one order alone.
        name: the critic's name in verdicts; by default the name of the judge that it asks.

    Raises:
        ConfigurationError: the rubric of the critic, or that of every critic in a jury, has other labels than A, B and
            tie.

    >>> critic = PairwiseCritic(Critic("openai:gpt-4o-mini", "pairwise", name="better"))  # doctest: +SKIP
    >>> critic.judge(question="2 + 2?", candidates=["4", "5"]).label  # doctest: +SKIP
    'A'
    """

    def __init__(self, critic: Judge, *, swap: bool = True, name: str = "") -> None:
        if not isinstance(critic, Judge):
            raise ConfigurationError(
                f"PairwiseCritic asks a judge, such as Critic(model, 'pairwise'); not {plain_repr(critic)}"
            )
        _check(critic)
        self.critic = critic
        self.swap = checked_flag(swap, "swap")
        self.name = checked_name(name) or critic.name
        self._both = _both_orders(critic, self.swap)
        self.cost = self._both.cost

    @property
    def members(self) -> tuple[Judge, ...]:
        return self._both.members

    @property
    def required_fields(self) -> tuple[str, ...]:
        return ("candidates",)

    @property
    def asks_one_judge(self) -> bool:
        asked = without_fallbacks(self.critic)
        return not isinstance(asked, Jury) or asked.asks_one_judge

    @property
    def inline(self) -> bool:
        return self._both.inline

    @property
    def size(self) -> int:
        return self._both.size

    @property
    def opinion_statuses(self) -> OpinionStatuses:
        return LABEL_ONLY

    def asking_everyone(self) -> PairwiseCritic:
        asked = self.critic.asking_everyone()
        return self if asked is self.critic else self._with(critic=asked, _both=_both_orders(asked, self.swap))

    def estimate(self, case: Case) -> Usage:
        return self._both.estimate(case) if len(case.candidates) == 2 and not _are_equal(case) else NO_USAGE

    async def assess(self, case: Case) -> Verdict:
        if len(case.candidates) != 2:
            number = len(case.candidates) or "none"
            return Verdict(Status.ABSTAIN, reasoning=f"nothing to compare: it takes two candidates, there are {number}")
        if _are_equal(case):
            return Verdict(None, label="tie", reasoning="a tie, because both candidates are the same text")
        both = await self._both.assess(case)
        if any(map(_is_tied, both.judgments)):
            both = self._both.aggregate(map(_with_tie, both.judgments), generator=case.generator)
        return self._read(both)

    def _read(self, both: Verdict) -> Verdict:
        """Return the verdict on the two opinions. The ensemble's own vote does not consider the order."""
        valid = [judgment for judgment in both.judgments if judgment.valid]
        if len(valid) < len(both.judgments):
            return self._unheard(both)
        labels = [judgment.label for judgment in valid]
        if not all(label in _LABELS for label in labels):
            return self._unknown_label(both, next(label for label in labels if label not in _LABELS))
        confidences = [judgment.confidence for judgment in valid if judgment.confidence is not None]
        mean = sum(confidences) / len(confidences) if confidences else None
        if not self.swap:
            reason = valid[0].reasoning or f"in the one order that was asked: {labels[0]}"
            return self._verdict(both, labels[0], mean, reason, None)
        if labels[0] == labels[1]:
            reason = f"the same in both orders: {labels[0]}. {valid[0].reasoning}".strip()
            return self._verdict(both, labels[0], mean, reason, True)
        reason = f"the order decided: {labels[0]} with A first, {labels[1]} with B first; that is not a preference"
        return self._verdict(both, "tie", None, reason, False)

    def _verdict(
        self, both: Verdict, label: str | None, confidence: float | None, reasoning: str, consistent: bool | None
    ) -> Verdict:
        return evolve(
            both, status=None, score=None, label=label, confidence=confidence, reasoning=reasoning, error=None,
            metadata=freeze_mapping({"position_consistent": consistent}),
        )  # fmt: skip

    def _unknown_label(self, both: Verdict, label: str | None) -> Verdict:
        """Return the error of a judge with other answers, which cannot be turned with the order of the candidates."""
        answered = "" if label is None else f"answered {plain_repr(label)}, and "  # None: it answered PASS or FAIL
        return evolve(
            both, status=Status.ERROR, score=None, label=None, confidence=None, error="no_label",
            reasoning=f"the judge {answered}named neither A nor B nor tie; ask one with the rubric 'pairwise'",
            metadata=freeze_mapping({"position_consistent": None}),
        )  # fmt: skip

    def _unheard(self, both: Verdict) -> Verdict:
        """Return a verdict without an opinion, because the only opinion left depends on the order."""
        errors = [judgment for judgment in both.judgments if judgment.status is Status.ERROR]
        first = errors[0] if errors else next(judgment for judgment in both.judgments if not judgment.valid)
        return evolve(
            both, status=first.status, score=None, label=None, confidence=None, error=first.error,
            reasoning=f"no opinion with {first.critic}: {first.reasoning}",
            metadata=freeze_mapping({"position_consistent": None}),
        )  # fmt: skip


def in_both_orders(given: JudgeLike) -> Judge:
    """Return a judge of two candidates that is asked in both orders: a judge that does so itself, or a wrapped one.

    Raises:
        ConfigurationError: ``given`` is not a judge, or its rubric, or those of all its critics, have labels other than
            A, B and tie.

    >>> in_both_orders(lambda case: Judgment(None, label="A")).judge(candidates=["4", "5"]).label
    'tie'
    """
    judge = judge_of(given)
    return judge if _asks_both_orders(judge) else PairwiseCritic(judge)


def _asks_both_orders(judge: Judge) -> bool:
    if isinstance(judge, PairwiseCritic):
        return judge.swap
    return bool(judge.members) and all(_asks_both_orders(member) for member in judge.members)


class _Swapped(Judge):
    """Judge that shows the candidates to another judge in reverse order, and maps its answer back."""

    def __init__(self, judge: Judge) -> None:
        self.name = "B first"
        self.cost = judge.cost
        self.timeout = judge.timeout
        self._judge = judge

    @property
    def members(self) -> tuple[Judge, ...]:
        return (self._judge,)

    @property
    def inline(self) -> bool:
        return self._judge.inline

    @property
    def size(self) -> int:
        return self._judge.size

    def estimate(self, case: Case) -> Usage:
        return self._judge.estimate(_swapped(case))

    async def assess(self, case: Case) -> Judgment:
        judgment = await run_judge(self._judge, _swapped(case))
        known = judgment.probabilities
        probabilities = None if known is None else FrozenDict({_turned(name): share for name, share in known.items()})
        label = None if judgment.label is None else _turned(judgment.label)
        metadata = freeze_mapping({**judgment.metadata, "shown_order": ["B", "A"]})
        return evolve(judgment, label=label, probabilities=probabilities, metadata=metadata)


def _both_orders(critic: Judge, swap: bool) -> Ensemble:
    return Ensemble([critic.named("A first"), *([_Swapped(critic)] if swap else [])], voting="majority", on="label")


def _swapped(case: Case) -> Case:
    return case.model_copy(update={"candidates": case.candidates[::-1]}) if case.candidates else case


def _are_equal(case: Case) -> bool:
    first, second = case.candidates
    return first.strip() == second.strip()


def _is_tied(judgment: Judgment) -> bool:
    """Whether a jury prefers a candidate only by its rule for ties, such as the vote of its first juror."""
    return isinstance(judgment, Verdict) and judgment.tally.tied and judgment.label in _OTHER


def _with_tie(judgment: Judgment) -> Judgment:
    return evolve(judgment, label="tie") if _is_tied(judgment) else judgment


def _turned(label: str) -> str:
    return _OTHER.get(label, label)


def _check(judge: Judge) -> None:
    """Refuse a judge that consists of critics with other labels only; one judge that may answer A, B or tie is enough.

    Raises:
        ConfigurationError: no judge inside can answer A, B or tie.
    """
    others: list[Rubric] = []
    for one in _asked(judge):
        rubrics = one.rubrics if isinstance(one, AskingJudge) else ()
        if all(map(_is_pairwise, rubrics)):  # a judge without rubrics may have any labels
            return
        others += rubrics
    answers = others[0].answers
    labels = [label.name for label in answers.labels] if isinstance(answers, Labels) else ["a scale"]
    whose = "" if isinstance(judge, AskingJudge) else f" (rubric {others[0].name!r} in the jury)"
    raise ConfigurationError(
        f"a pairwise rubric has the labels A, B and tie, not {', '.join(labels)}{whose}; rubric='pairwise' does"
    )


def _asked(judge: Judge) -> Iterator[Judge]:
    """Yield the judges that answer: the judge itself, or those inside it, at any depth."""
    if not judge.members:
        yield judge
    for member in judge.members:
        yield from _asked(member)


def _is_pairwise(rubric: Rubric) -> bool:
    return isinstance(rubric.answers, Labels) and sorted(label.name for label in rubric.answers.labels) == _LABELS
