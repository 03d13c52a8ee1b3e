"""Judge that asks another judge about every turn of a conversation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from jury_adapters.core.case import Case
from jury_adapters.core.case_parts import Message, Step
from jury_adapters.core.conversation import Conversation, role_of
from jury_adapters.core.evidence import DEFAULT_EVIDENCE
from jury_adapters.core.judge_like import JudgeLike
from jury_adapters.core.parts import EachPart, Part


class EachTurn(EachPart):
    """Judge of a conversation that asks another judge about every answer of the assistant, one at a time.

    A turn is one message of the user, or several in a row, with all that follows until the next one. The judge sees a
    case of that turn alone: its question is the last text of the user, its answer the last text of the assistant,
    its trajectory the steps in between, and its messages all that came before. Later turns are not shown. A critic
    shows its model the messages only if its rubric does: ``answer_relevance`` shows them, and ``faithfulness`` does
    not, so that nothing said before is evidence. The judgment has a finding for each turn: ``turn 1``, ``turn 2`` and
    so on. The score is the share of turns that pass.

    - The question and the answer of the case itself are the last turn; contexts, reference and images belong to it. An
      earlier turn has the results of its own tools as contexts, and no reference.
    - A message of the assistant before the first of the user is not a turn, and neither are messages of the user that
      have no answer. If the assistant only calls tools, there is no answer; an empty text is one.
    - A system message stays among the messages before each turn.

    A case without turns is ABSTAIN. If the judge abstains or breaks on a turn, the score is unknown, and the judgment
    is ABSTAIN, or ERROR if an error is the cause. To judge the conversation as a whole beside it, put both into a
    scorecard: ``Scorecard({"turns": EachTurn(...), "resolution": Critic(model, "resolution")})``.

    Args:
        judge: the judge of one turn, such as ``Critic(model, "answer_relevance")`` or a panel of critics.
        threshold: the least share of turns that must pass, from 0 to 1; by default all.
        at_once: how many turns are judged at a time; the next one begins as soon as one of them is judged.
        name: the judge's name in verdicts; by default ``"each turn: <judge>"``.

    Raises:
        ConfigurationError: an argument is invalid.

    >>> from jury_adapters import judge
    >>> @judge
    ... def is_short(case):
    ...     return len(case.answer) < 20
    >>> thread = [("user", "Hi"), ("assistant", "Hello!"), ("user", "2 + 2?"), ("assistant", "4")]
    >>> [(turn.name, turn.passed) for turn in EachTurn(is_short).judge(Case.from_messages(thread)).findings]
    [('turn 1', True), ('turn 2', True)]
    """

    noun = "turns"

    def __init__(self, judge: JudgeLike, *, threshold: float = 1.0, at_once: int = 5, name: str = "") -> None:
        super().__init__(judge, threshold, at_once)
        self.name = name or (f"each turn: {self.member.name}" if self.member.name else "each turn")

    @property
    def nothing(self) -> str:
        return "the conversation has no turn with an answer of the assistant"

    def parts_of(self, case: Case) -> Sequence[Part]:
        asked = case.question is not None or any(role_of(message) == "user" for message in case.messages)
        cases = [*_earlier_turns(case), *([case] if asked and case.answer is not None else [])]
        return [Part(f"turn {number}", one) for number, one in enumerate(cases, start=1)]

    def explanation(self, passed: Sequence[bool], score: float) -> str:
        failed = [str(number) for number, one in enumerate(passed, start=1) if not one]
        named = f"; turn{'s' if len(failed) > 1 else ''} {', '.join(failed[:_MOST_NAMED])} failed" if failed else ""
        more = f" and {len(failed) - _MOST_NAMED} more" if len(failed) > _MOST_NAMED else ""
        return f"{super().explanation(passed, score)}{named.replace(' failed', f'{more} failed')}"


def _earlier_turns(case: Case) -> Iterator[Case]:
    """Yield the case of each turn in the messages before the question."""
    apart = ("question", "answer", "messages", "trajectory", "contexts", "reference", "attachments", "candidates")
    blank = {name: Case.model_fields[name].default for name in apart}
    for start, end in _bounds(case.messages):
        given = case.messages[start:end]
        turn = Conversation.of(_raw_messages(given))
        if turn.question is None or turn.answer is None:
            continue
        steps = _with_echoes(turn.steps, given)
        found = {
            "question": turn.question,
            "answer": turn.answer,
            "messages": (*case.messages[:start], *turn.earlier),
            "trajectory": steps,
            "contexts": DEFAULT_EVIDENCE.contexts(steps),
        }
        yield case.model_copy(update={**blank, **found})


def _raw_messages(messages: Sequence[Message]) -> list[object]:
    """Return the messages of a turn with the calls of their steps, as a model wrote them."""
    raw: list[object] = []
    calls: list[dict[str, object]] | None = None
    for position, message in enumerate(messages):
        step = message.step
        if step is None or step.tool is None:
            following = messages[position + 1].step if position + 1 < len(messages) else None
            if following is None or role_of(message) != "assistant" or following.text != message.content:
                raw.append(message)  # else the text is that of a message with calls
            calls = calls if role_of(message) == "tool" else None
            continue
        if calls is None or not step.parallel:
            calls = []
            raw.append({"role": "assistant", "content": step.text or "", "tool_calls": calls})
        call_id = f"call_{position}"
        calls.append({"id": call_id, "name": step.tool, "args": step.arguments})
        if step.output is not None or step.error is not None:
            status = None if step.error is None else "error"
            raw.append({"role": "tool", "tool_call_id": call_id, "content": message.content, "status": status})
    return raw


def _with_echoes(steps: Sequence[Step], messages: Sequence[Message]) -> tuple[Step, ...]:
    """Return the steps of a turn; those that are echoes in its messages are echoes."""
    echoed = {(one.step.tool, one.step.output) for one in messages if one.step is not None and one.step.echo}
    marked = ((step, step.echo or (step.tool, step.output) in echoed) for step in steps)
    return tuple(step.model_copy(update={"echo": echo}) for step, echo in marked)


def _bounds(messages: Sequence[Message]) -> Iterator[tuple[int, int]]:
    """Yield where each turn begins and ends: at a message of the user that follows one of the assistant or a tool."""
    roles = [role_of(message) for message in messages]
    starts = []
    answered = True
    for position, role in enumerate(roles):
        if role == "user" and answered and not messages[position].beside_results:
            starts.append(position)
        if role in ("user", "assistant", "tool"):
            answered = role != "user"
    yield from pairwise([*starts, len(roles)])


_MOST_NAMED = 10
