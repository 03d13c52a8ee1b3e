"""Judges and models for tests: they give prepared judgments and replies, and nothing is sent."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from jury_adapters.core.case import Case
from jury_adapters.core.judge import Check, Returned
from jury_adapters.core.judgment import NO_USAGE, Status, Usage, abstain, labels_of
from jury_adapters.models.base import NO_OPTIONS, Options, Prompt, Reply, Schema


class ScriptedJudge(Check):
    """Judge with prepared outcomes, in the order in which it is asked, or by the id of the case.

    Args:
        outcomes: what a judge may return, or an exception, which it raises. A sequence is used in order, and its last
            outcome again and again; a mapping is used by the id of the case.
        name: the name in verdicts.
        labels: the labels among the outcomes.

    Attributes:
        cases: the cases that it was asked about.

    >>> judge = ScriptedJudge(["PASS", (0.2, "too long"), RuntimeError("down")])
    >>> [judgment.status.value for judgment in judge.judge_many(["a", "b", "c"])]
    ['PASS', 'FAIL', 'ERROR']
    """

    def __init__(
        self,
        outcomes: Sequence[Returned] | Mapping[str, Returned],
        *,
        name: str = "scripted",
        labels: Mapping[str, Status | str] | Sequence[str] = (),
    ) -> None:
        self.name, self.labels = name, labels_of(labels)
        self._outcomes = outcomes if isinstance(outcomes, Mapping) else [*outcomes]
        self._cases: list[Case] = []

    @property
    def cases(self) -> list[Case]:
        """The cases that it was asked about, in order."""
        return self._cases

    def check(self, case: Case) -> Returned:
        """Return the outcome of this case."""
        self._cases.append(case)
        outcome = (
            self._outcomes.get(case.id or "", abstain(f"no outcome is prepared for the case {case.id!r}"))
            if isinstance(self._outcomes, Mapping)
            else self._outcomes[min(len(self._cases), len(self._outcomes)) - 1]
        )
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome


Scripted = str | Reply | BaseException
"""What a scripted model answers: a text, a reply, or an exception, which it raises."""


class ScriptedModel:
    """Model with prepared replies, in the order in which it is asked, or by a function of the prompt.

    A text, and a reply without a usage, counts as one call with a token for every four characters.

    Args:
        replies: texts, replies or exceptions, which are used in order, and the last again and again; or a function of
            the prompt that returns one of these.
        model: the name of the model.
        usd_per_token: the price of a token; None if it is unknown.

    Attributes:
        prompts: the prompts that it was sent.
        schemas: the schema of each prompt.
        options: the options of each prompt.

    >>> from jury_adapters.critic.critic import Critic
    >>> model = ScriptedModel(["no idea", '{"reasoning": "2 + 2 = 4", "answer": "YES"}'])
    >>> Critic(model, "answer_relevance").judge(question="2 + 2?", answer="4").usage.calls
    2
    """

    def __init__(
        self,
        replies: Sequence[Scripted] | Callable[[Prompt], Scripted],
        *,
        model: str = "scripted",
        usd_per_token: float | None = 0.0,
    ) -> None:
        self.name, self.model, self.identity = f"test:{model}", model, f"test:{model}"
        self.usd_per_token = usd_per_token
        self.prompts: list[Prompt] = []
        self.schemas: list[Schema | None] = []
        self.options: list[Options] = []
        self._replies = replies if callable(replies) else [*replies]

    async def complete(self, prompt: Prompt, schema: Schema | None = None, options: Options = NO_OPTIONS) -> Reply:
        """Return the next reply."""
        self.prompts.append(prompt)
        self.schemas.append(schema)
        self.options.append(options)
        found = (
            self._replies(prompt)
            if callable(self._replies)
            else self._replies[min(len(self.prompts), len(self._replies)) - 1]
        )
        if isinstance(found, BaseException):
            raise found
        reply = found if isinstance(found, Reply) else Reply(found, model=self.model)
        return reply if reply.usage != NO_USAGE else replace(reply, usage=self._usage(prompt, reply))

    def price(self, input_tokens: int, output_tokens: int) -> float | None:
        """Return the cost of so many tokens in US dollars."""
        return None if self.usd_per_token is None else self.usd_per_token * (input_tokens + output_tokens)

    def _usage(self, prompt: Prompt, reply: Reply) -> Usage:
        sent = (len(prompt.system) + sum(len(turn.text) for turn in prompt.turns)) // 4
        received = len(reply.text) // 4
        cost = self.price(sent, received)
        return Usage(
            calls=1,
            input_tokens=sent,
            output_tokens=received,
            cost_usd=cost or 0.0,
            cost_complete=cost is not None,
        )
