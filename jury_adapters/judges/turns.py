"""EachTurn, a judge of conversations that asks another judge about every turn."""

from collections.abc import Iterator
from math import ceil

from jury_adapters.core.case import Case
from jury_adapters.core.ensemble import Scorecard
from jury_adapters.core.judge import Judge, JudgeLike, ask, ask_together, judge_of
from jury_adapters.core.judgment import NO_USAGE, Judgment, Usage, abstain
from jury_adapters.core.values import ROUNDING, ConfigurationError
from jury_adapters.inputs.evidence import evidence_in
from jury_adapters.inputs.messages import read_messages


class EachTurn(Judge):
    """Judge of a conversation that asks another judge about every answer of the assistant.

    A turn is a message of the user with all that follows until the next one. The judge sees that turn alone: its
    question, its answer, its steps and what its tools found as contexts, and the messages before it; never later turns.
    The question and the answer of the case itself are the last turn, to which its contexts, its reference and its
    images belong. A greeting before the first message of the user is no turn, and neither is a message without an
    answer. The verdict is that of a scorecard with a criterion for each turn; a case without turns is ABSTAIN.

    Args:
        judge: the judge of a turn, or a function, such as ``Critic(model, "answer_relevance")``.
        threshold: the least share of turns that must pass, above 0 up to 1.
        name: the name in verdicts; by default ``each turn: <judge>``.

    Raises:
        ConfigurationError: the threshold is out of range.

    >>> thread = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello! How can I help?"}]
    >>> verdict = EachTurn(lambda case: "?" not in case.answer).judge(messages=thread, question="2 + 2?", answer="4")
    >>> [(one.critic, one.status.value) for one in verdict.judgments]
    [('turn 1', 'FAIL'), ('turn 2', 'PASS')]
    """

    def __init__(self, judge: JudgeLike, *, threshold: float = 1.0, name: str = "") -> None:
        if isinstance(threshold, bool) or not 0 < threshold <= 1:
            raise ConfigurationError(f"threshold= is a share of turns, above 0 up to 1, not {threshold!r}")
        self.inner = judge_of(judge)
        self.cost, self.pass_mark = self.inner.cost, threshold
        self.name = name or f"each turn: {self.inner.name}".removesuffix(": ")

    @property
    def members(self) -> tuple[Judge, ...]:
        """The judge of a turn."""
        return (self.inner,)

    def estimate(self, case: Case) -> Usage:
        """Estimate the largest usage of judging all turns."""
        return sum(map(self.inner.estimate, turns_of(case)), NO_USAGE)

    async def assess(self, case: Case) -> Judgment:
        """Ask about all turns at once."""
        turns = {f"turn {number}": turn for number, turn in enumerate(turns_of(case), start=1)}
        if not turns:
            return abstain("the conversation has no turn with an answer of the assistant")
        said = await ask_together(ask(self.inner, turn, name) for name, turn in turns.items())
        card = Scorecard(dict.fromkeys(turns, self.inner), pass_when=ceil(self.pass_mark * len(turns) - ROUNDING))
        return card.verdict(said)


def turns_of(case: Case) -> Iterator[Case]:
    """Yield the case of each turn of a conversation that has an answer."""
    places = [place for place, one in enumerate(case.messages) if one.role == "user"]
    for start, end in zip(places, [*places, len(case.messages)][1:], strict=True):
        turn = read_messages(case.messages[start:end])
        if turn.answer is not None:
            steps = case.messages[start].steps or turn.steps
            yield Case(
                question=turn.question,
                answer=turn.answer,
                contexts=[found for step in steps if (found := evidence_in(step, turn.answer))],
                messages=case.messages[:start],
                steps=steps,
                generator=case.generator,
                id=case.id,
                metadata=case.metadata,
            )
    if case.answer is not None and (case.question is not None or places):
        yield case
