"""A jury as a decision model of langchain-core 1.8: it answers typed questions with probabilities."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import ConfigDict, Field, PrivateAttr

from jury_adapters.core import event_loop
from jury_adapters.core.case import Case
from jury_adapters.core.context import judging
from jury_adapters.core.conversation import role_of, text_of_message
from jury_adapters.core.ensemble import Ensemble
from jury_adapters.core.errors import ConfigurationError, ModelError, plain_repr
from jury_adapters.core.judge import Judge
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.jury import Jury
from jury_adapters.core.usage import NO_USAGE, Usage
from jury_adapters.core.verdict import Verdict
from jury_adapters.critic.answers import Labels, Scale
from jury_adapters.critic.critic import Critic
from jury_adapters.critic.rubric import Rubric
from jury_adapters.models.langchain_binding import unheard
from jury_adapters.models.registry import LimitedModel, ModelLike, resolve_model

try:
    from langchain_core.decisions import BaseDecisionModel, Choice, ClassifierResponse, Noul, Question, Score, State
except ImportError as missing:
    raise ConfigurationError(
        "JuryDecisionModel needs langchain-core 1.8 or newer: pip install -U 'langchain-core>=1.8'"
    ) from missing


class JuryDecisionModel(BaseDecisionModel):  # type: ignore[misc, unused-ignore]  # older langchain-core: no such class
    """Decision model that asks a jury, for LangChain's tool approval, model routing and grading.

    Every juror answers every question, and the shares of the votes are the probabilities: two yes of three are 0.67.
    The confidence of a choice or a score is the winner's share. Jurors that abstain or fail do not count. If none is
    left, the model raises an error, because there is no probability without an answer.

    Args:
        jurors: language models, each asked the question as a critic (named as in :class:`Critic`, or as objects);
            judges, which get the instructions as the question, the state as the answer, and ``kind`` and ``criteria``
            in the metadata; a mix of both; or one complete jury. A judge answers a ``Noul`` with its status, a
            ``Choice`` with its label, and a ``Score`` with its score 0..1 over the levels.
        name: the name in traces.

    Raises:
        ConfigurationError: there is no juror, or a juror is neither a model nor a judge.

    >>> panel = JuryDecisionModel(["openai:gpt-4o-mini", "anthropic:claude-3-5-haiku"])  # doctest: +SKIP
    >>> AutoModeMiddleware(tools=["delete_file"], classifier=panel)  # doctest: +SKIP
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, hide_input_in_errors=True)

    model: str = "jury"
    jurors: tuple[Judge | LimitedModel, ...] = Field(exclude=True, repr=False)
    _panels: dict[str, Jury] = PrivateAttr(default_factory=dict)

    def __init__(self, jurors: Judge | Sequence[ModelLike | Judge], *, name: str = "jury") -> None:
        if not isinstance(jurors, Judge | Iterable):
            raise ConfigurationError(
                f"JuryDecisionModel takes language models and judges in a list, or one judge; not {plain_repr(jurors)}"
            )
        members = [jurors] if isinstance(jurors, Judge | str) else list(jurors)
        if not members:
            raise ConfigurationError("a jury needs at least one juror: JuryDecisionModel(['openai:gpt-4o-mini', ...])")
        seated = tuple(one if isinstance(one, Judge) else resolve_model(one) for one in members)
        super().__init__(model=name, jurors=seated)

    @property
    def _provider(self) -> str:
        return "jury_adapters"

    def _classify(self, state: State, questions: dict[str, Question]) -> ClassifierResponse:
        return event_loop.run(self._aclassify, state, questions)

    async def _aclassify(self, state: State, questions: dict[str, Question]) -> ClassifierResponse:
        text = state if isinstance(state, str) else json.dumps(_plain(state), ensure_ascii=False)
        panels = [self._panel(question) for question in questions.values()]
        with judging(), unheard():
            asked = zip(panels, questions.values(), strict=True)
            judgments = await asyncio.gather(*(panel.ajudge(_case(text, question)) for panel, question in asked))
        answers = {
            name: _answer(name, question, judgment)
            for (name, question), judgment in zip(questions.items(), judgments, strict=True)
        }
        used = sum((judgment.usage for judgment in judgments), NO_USAGE)
        return ClassifierResponse(model=self.model, answers=answers, usage=_tokens(used))

    def _panel(self, question: Question) -> Judge:
        """Return the jury for a question, from the cache if possible; a single judge is itself the jury."""
        if len(self.jurors) == 1 and isinstance(self.jurors[0], Judge):
            return self.jurors[0]
        key = question.model_dump_json()
        found = self._panels.get(key)
        if found is None:
            rubric = None if all(isinstance(one, Judge) for one in self.jurors) else _rubric(question)
            members = [one if isinstance(one, Judge) else Critic(one, rubric) for one in self.jurors]
            while len(self._panels) >= _MOST_PANELS:
                self._panels.pop(next(iter(self._panels)), None)
            found = self._panels[key] = Ensemble(members)
        return found


def _case(text: str, question: Question) -> Case:
    criteria = question.model_dump().get("criteria")
    return Case(
        question=_text(question.instructions), answer=text, metadata={"kind": question.type, "criteria": criteria}
    )


def _rubric(question: Question) -> Rubric:
    """Return the question as a rubric for critics."""
    asked = _text(question.instructions)
    answers: Labels | Scale
    if isinstance(question, Noul):
        if question.criteria is not None:
            meant = {"YES": question.criteria.true, "NO": question.criteria.false}
            asked += _listed({name: said for name, said in meant.items() if said is not None})
        answers = Labels.of(passing=["YES"], failing=["NO"])
    elif isinstance(question, Choice):
        asked += _listed(question.criteria)
        answers = Labels.of(neutral=list(question.criteria))
    elif isinstance(question, Score):
        asked += "\n\nAnswer with the number of the level that fits best." + _listed(dict(enumerate(question.criteria)))
        answers = Scale(minimum=0, maximum=len(question.criteria) - 1, integer=True)
    else:
        raise ConfigurationError(f"a jury reads text and answers Noul, Choice and Score, not {type(question).__name__}")
    return Rubric(name=question.type, criteria=asked, user_prompt="The material:\n{answer}\n", answers=answers)


def _answer(name: str, question: Question, judgment: Judgment) -> dict[str, Any]:
    """Return the votes as probabilities.

    Raises:
        ModelError: no juror voted.
    """
    jurors = judgment.judgments if isinstance(judgment, Verdict) and judgment.judgments else (judgment,)
    if isinstance(question, Noul):
        votes: list[Any] = [one.status is Status.PASS for one in jurors if one.status in (Status.PASS, Status.FAIL)]
    elif isinstance(question, Choice):
        votes = [one.label for one in jurors if one.valid and one.label in question.criteria]
    elif isinstance(question, Score):
        top = len(question.criteria) - 1
        votes = [round(score * top) for one in jurors if one.valid and (score := one.numeric_score) is not None]
    else:
        raise ConfigurationError(f"a jury reads text and answers Noul, Choice and Score, not {type(question).__name__}")
    if not votes:
        why = "; ".join(dict.fromkeys(one.error or one.reasoning or "no vote that fits" for one in jurors))
        raise ModelError(f"no juror of {name!r} gave an answer: {why}", "malformed")
    if isinstance(question, Noul):
        return {"type": "noul", "noul": votes.count(True) / len(votes)}
    options: list[str | int] = [*(question.criteria if isinstance(question, Choice) else range(len(question.criteria)))]
    shares = {option: votes.count(option) / len(votes) for option in options}
    best = max(options, key=lambda option: shares[option])
    given = {"type": question.type, "probabilities": shares, "confidence": shares[best]}
    if isinstance(question, Choice):
        return {**given, "choice": best}
    return {**given, "score": sum(votes) / len(votes), "legend": dict(enumerate(question.criteria))}


def _tokens(used: Usage) -> dict[str, int] | None:
    if not used.calls:
        return None
    total = used.input_tokens + used.output_tokens
    return {"input_tokens": used.input_tokens, "output_tokens": used.output_tokens, "total_tokens": total}


def _plain(value: Any) -> Any:
    """Return a state as JSON values, with messages at any depth as their role and text."""
    role = None if isinstance(value, Mapping) else role_of(value)
    if role is not None:
        calls = [{"name": call["name"], "args": call["args"]} for call in getattr(value, "tool_calls", None) or ()]
        said = {"role": role, "content": text_of_message(value)}
        return {**said, "tool_calls": calls} if calls else said
    if isinstance(value, Mapping):
        return {str(name): _plain(inner) for name, inner in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(inner) for inner in value]
    return value if value is None or isinstance(value, str | int | float) else str(value)


def _text(content: Any) -> str:
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)


def _listed(meanings: Mapping[Any, Any]) -> str:
    lines = [f"{name}: {_text(said)}" if said is not None else str(name) for name, said in meanings.items()]
    return "\n\n" + "\n".join(lines) if lines else ""


_MOST_PANELS = 128
