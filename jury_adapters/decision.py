"""Decision models as jurors: they answer a typed question with probabilities, quickly, cheaply and without reasons.

>>> async def decide(text, question, answers):
...     return {"YES": 0.9, "NO": 0.1, "UNSURE": 0.0}
>>> critic = DecisionCritic(decide, "answer_relevance")
>>> critic.judge(question="2 + 2?", answer="4").score
0.9
"""

import json
from collections.abc import Mapping
from importlib import import_module
from math import exp, fsum, log
from pathlib import Path
from typing import Any

from jury_adapters.core.case import Case
from jury_adapters.core.judgment import Judgment, Status, Usage, abstain
from jury_adapters.core.loop import in_thread
from jury_adapters.core.store import Store
from jury_adapters.core.values import ROUNDING, ConfigurationError
from jury_adapters.critic.answers import Unreadable
from jury_adapters.critic.critic import Critic
from jury_adapters.critic.prompt import build_prompt
from jury_adapters.critic.rubric import Rubric
from jury_adapters.models.base import ModelError, Prompt, Reply, Schema, Token
from jury_adapters.models.limits import Limits
from jury_adapters.models.objects import FunctionModel, ObjectModel
from jury_adapters.models.prices import usage_of

# By package: the fields of the text, of choices, of levels and of a probability, and the class of yes-or-no questions.
_FORMS = {
    "langchain_core.decisions": ("state", "Noul", "criteria", "criteria", "noul"),
    "langchain_openai.decisions": ("input", "Predicate", "choices", "levels", "probability"),
}


class DecisionCritic(Critic):
    """Judge that asks a decision model, which answers with the probabilities of the allowed answers.

    Two labels are a yes-or-no question, more are a choice, and a scale of whole numbers is a score. The score of the
    judgment is the expectation over the answers that have a value: PASS and FAIL count as 1 and 0. It passes if the
    score reaches the rubric's pass mark, so that all labels that pass count together. The confidence is the probability
    of the most likely answer, and ``metadata["probabilities"]`` has all of them. If the most likely answer means
    ``abstain``, it abstains. Examples and claims of a rubric are left out.

    Args:
        model: a decision model of LangChain (``BaseDecisionModel`` or ``OpenAIDecisions``), or an asynchronous function
            of the text, the question and the allowed answers, which returns the probability of each.
        rubric: a :class:`Rubric`, the name of one that comes with the package, or the path of a YAML file.
        name: the name in verdicts.
        threshold: the lowest score that passes, 0..1, instead of the rubric's own.
        limits: the limits on calls of the model.
        store: where judgments are kept, if the batch has no store.

    Raises:
        ConfigurationError: the model is none of these, or the rubric has a scale that is not of few whole numbers.
    """

    def __init__(
        self,
        model: Any,
        rubric: Rubric | str | Path,
        *,
        name: str = "",
        threshold: float | None = None,
        limits: Limits | None = None,
        store: Store | None = None,
    ) -> None:
        super().__init__(
            _model_of(model), rubric, name=name, threshold=threshold, logprobs=True, limits=limits, store=store
        )
        if self.rubric.claims_of or "enum" not in self.rubric.answers.schema_part:
            raise ConfigurationError(
                f"a decision model chooses among answers: labels, or at most 21 whole numbers; not the claims or the "
                f"scale of the rubric {self.rubric.name!r}"
            )

    def _prompt(self, case: Case) -> Prompt:
        return build_prompt(self.rubric, case, own_format=True)

    def _read(self, reply: Reply, case: Case, material: str) -> Judgment | Unreadable:
        """Return the judgment that the probabilities give."""
        if reply.finish != "stop" or not reply.logprobs:
            return super()._read(reply, case, material)
        shares = {name: exp(share) for name, share in reply.logprobs[0].alternatives}
        top = max(shares, key=lambda name: shares[name])
        choice, values = self.rubric.answers.read(top), self.rubric.answers.values
        if isinstance(choice, Unreadable):
            return choice
        details: dict[str, Any] = {"confidence": min(1.0, shares[top]), "metadata": {"probabilities": shares}}
        if choice.status is Status.ABSTAIN:
            return abstain(f"the model answered {top}", **details)
        if choice.status is Status.LABEL and top not in values:
            return Judgment(status=choice.status, label=choice.label, **details)
        weight = fsum(share for name, share in shares.items() if name in values)
        score = min(1.0, fsum(values[name] * share for name, share in shares.items() if name in values) / weight)
        status = Status.PASS if score >= self.rubric.pass_mark - ROUNDING else Status.FAIL
        status = choice.status if choice.status is Status.LABEL else status
        label = choice.label if choice.status is status else None
        return Judgment(status=status, score=score, label=label, **details)


class _Decisions(FunctionModel):
    """Function as a model, whose replies have the probabilities of all answers."""

    async def _ask(self, ready: Any, prompt: Prompt, schema: Schema | None) -> Reply:
        if any(turn.images for turn in prompt.turns):
            raise ModelError("a decision model takes no images", sent=False)
        answers = [*(schema or {})["properties"]["answer"]["enum"]]
        shares, usage = await self._decide(ready, prompt.turns[-1].text, prompt.system, answers)
        if shares is None:
            return Reply("", usage, self.model, "refusal")
        known = {str(one): float(shares.get(str(one), 0.0)) for one in answers}
        if not 0 < fsum(known.values()) < 1.1 or min(known.values()) < 0:
            raise ModelError(f"the probabilities of {', '.join(known)} are {[*known.values()]}", "bad_reply")
        logs = tuple((name, log(share)) for name, share in known.items() if share > 0)
        top = max(logs, key=lambda pair: pair[1])
        return Reply(json.dumps({"answer": top[0]}), usage, self.model, logprobs=(Token(*top, logs),))

    async def _decide(
        self, ready: Any, text: str, question: str, answers: list[Any]
    ) -> tuple[Mapping[str, float] | None, Usage]:
        """Return the probability of each answer, or None if the model refuses; and the usage."""
        found = await ready(text, question, [*map(str, answers)])
        return found, Usage(calls=1, cost_complete=self.price(0, 0) is not None)


class _LangChainDecisions(_Decisions):
    """Decision model of LangChain. It is called in a thread, without callbacks and traces."""

    def __init__(self, given: Any, package: str) -> None:
        plain = {name: one for name, one in vars(given).items() if isinstance(one, str | int | float | None)}
        ObjectModel.__init__(self, given, package.partition(".")[0].removeprefix("langchain_"), given.model, plain)
        self._package = package

    async def _decide(
        self, ready: Any, text: str, question: str, answers: list[Any]
    ) -> tuple[Mapping[str, float] | None, Usage]:
        from langsmith import tracing_context

        state, yes_no, choices, levels, probability = _FORMS[self._package]
        types, names = import_module(self._package), [*map(str, answers)]
        if not isinstance(answers[0], str):
            asked = types.Score(instructions=question, **{levels: names})
        elif len(answers) == 2:
            whole = f"{question}\n\nIs the right answer {names[0]!r}, and not {names[1]!r}?"
            asked = getattr(types, yes_no)(instructions=whole)
        else:
            asked = types.Choice(instructions=question, **{choices: dict.fromkeys(names)})
        with tracing_context(enabled=False):
            response = await in_thread(ready.invoke, {state: text, "questions": {"answer": asked}})
        answer, used = response.answers["answer"], dict(response.usage or {})
        counts = [used.get(name) for name in ("input_tokens", "output_tokens")]
        usage = usage_of(self.name, *counts)
        if answer.type == "refusal":
            return None, usage
        if (yes := getattr(answer, probability, None)) is not None:
            return dict(zip(names, (yes, 1 - yes), strict=True)), usage
        by_place = answer.type == "score"
        return {names[int(key)] if by_place else str(key): one for key, one in answer.probabilities.items()}, usage

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._given, self._package)


def _model_of(given: Any) -> _Decisions:
    """Return what was given as a model."""
    modules = " ".join(kind.__module__ for kind in type(given).__mro__)
    package = next((one for one in _FORMS if f"{one}." in modules), None)
    if package is None and (not callable(given) or isinstance(given, type)):
        raise ConfigurationError(
            f"a decision model is one of LangChain, or an asynchronous function of the text, the question and the "
            f"answers; not {type(given).__name__}"
        )
    return _Decisions(given) if package is None else _LangChainDecisions(given, package)
