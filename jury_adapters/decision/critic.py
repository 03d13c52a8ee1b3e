"""Judge that asks a decision model: one request for all criteria, answered with probabilities instead of text."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from functools import lru_cache, partial
from os import PathLike
from pathlib import Path
from typing import Self

from pydantic import SecretStr

from jury_adapters.core.budget import BudgetExhausted
from jury_adapters.core.cache import JudgmentCache
from jury_adapters.core.case import Case
from jury_adapters.core.combinators import always_pass
from jury_adapters.core.context import run_context
from jury_adapters.core.ensemble import Ensemble
from jury_adapters.core.errors import ConfigurationError, ModelError, plain_repr
from jury_adapters.core.judgment import Judgment, OpinionStatuses, abstain, evolve
from jury_adapters.core.jury import unique_names
from jury_adapters.core.pass_scores import with_threshold_of_jurors
from jury_adapters.core.usage import NO_USAGE, Usage
from jury_adapters.core.verdict import Verdict
from jury_adapters.core.voting import Voting
from jury_adapters.critic.arguments import (
    check_model_first,
    checked_name,
    checked_store,
    checked_threshold,
    explains_wrong_calls,
)
from jury_adapters.critic.asking import (
    AskingJudge,
    case_key_of,
    default_name,
    find_rubric,
    pass_scores_of,
    rubric_statuses,
    variables_of,
    within_budget,
)
from jury_adapters.critic.prompt import MATERIAL, user_text
from jury_adapters.critic.rubric import Rubric
from jury_adapters.critic.shown_images import obstacle_of_images
from jury_adapters.decision.questions import judgment_of, question_for
from jury_adapters.decision.registry import Decided, LimitedDecisionModel, estimated_decision, resolve_decision_model
from jury_adapters.models.base import DecisionModel, Question
from jury_adapters.models.fingerprint import digest, fingerprint_of
from jury_adapters.models.limits import Limits
from jury_adapters.models.settings import TIMEOUT_S

RubricLike = Rubric | str | Path
_EXAMPLE = "DecisionCritic('openai:<model>', ['safety', 'answer_relevance'])"


class DecisionCritic(AskingJudge):
    """Judge that asks a decision model, which is fast and cheap and answers with probabilities, without reasoning.

    All rubrics of a case are sent in one request. Labels become a choice, or a yes-or-no question if there is exactly
    one passing and one failing label. A scale becomes a list of its levels. The judgment is made from the probabilities
    in the response. Its label is the most probable one. Its score is the probability of all passing labels together, or
    the expectation over the scale. Its confidence is the model's own, else the highest probability. A question that the
    model refuses to answer gives ABSTAIN ``refused``. Examples and claims of a rubric are left out, because the request
    has no turns for examples and the response has no text for claims.

    With one rubric, the result is a plain Judgment. With several, it is a Verdict whose judgments are named after the
    rubrics. The verdict, not its judgments, has the usage of the one request. A rubric whose fields the case lacks
    abstains and is left out of the request. If all rubrics abstain, no request is sent.

    As the first tier of a cascade, it goes well with ``escalate_below``.

    Args:
        model: ``"openai:<model>"``; a name with ``base_url=``; a LangChain decision model; or any
            :class:`DecisionModel`.
        rubric: a :class:`Rubric`, the name of one that comes with the package, or the path of a YAML file; or a list of
            several.
        name: the critic's name in verdicts; ``"<rubric> <model>"`` by default, with ``+`` between several rubrics.
        threshold: the lowest score (0..1) that passes; by default 0.5 for labels, and the rubric's own pass mark for a
            scale.
        voting: the strategy that turns the rubrics' judgments into one verdict, or its name; by default all must pass.
        request_timeout: the maximum duration of one request, in seconds.
        base_url: the address of a server with OpenAI's decision endpoint; by default that in ``OPENAI_BASE_URL``, else
            OpenAI's own.
        api_key: the key; from ``OPENAI_API_KEY`` by default.
        limits: the limits on calls of the model; see :class:`Limits`.
        store: the store to keep judgments in and to read them from; a :class:`Store` or its path.

    Raises:
        ConfigurationError: the model, the key or the rubrics are missing; the message says what to do.

    >>> critic = DecisionCritic("openai:decider", ["safety", "answer_relevance"], name="guard")  # doctest: +SKIP
    >>> critic.judge(question=..., answer=...).by_name["safety"].probabilities  # doctest: +SKIP
    """

    model: LimitedDecisionModel

    @explains_wrong_calls(_EXAMPLE, {"timeout": "request_timeout", "rubrics": "rubric"})
    def __init__(
        self,
        model: str | DecisionModel | object,
        rubric: RubricLike | Sequence[RubricLike],
        *,
        name: str = "",
        threshold: float | None = None,
        voting: Voting = "unanimous",
        request_timeout: float = TIMEOUT_S,
        base_url: str | None = None,
        api_key: str | SecretStr | None = None,
        limits: Limits | None = None,
        store: JudgmentCache | str | PathLike[str] | None = None,
    ) -> None:
        check_model_first(model, rubric, _EXAMPLE)
        found = _find_rubrics(rubric)
        self.model = resolve_decision_model(
            model, base_url=base_url, api_key=api_key, request_timeout=request_timeout, limits=limits
        )
        self._given_name = checked_name(name)
        self.threshold = checked_threshold(threshold)
        self.store = checked_store(store)
        self._fingerprint = fingerprint_of(self.model.inner, "decision", self.threshold, name=name)
        if self.store is not None:
            self.check_store()
        self._voting = voting
        self._take(found)
        self.name = self._own_name

    @property
    def rubrics(self) -> tuple[Rubric, ...]:
        return self._rubrics

    def with_rubrics(self, *rubrics: RubricLike) -> Self:
        """Return this critic with other rubrics and the same name, model, threshold, voting, store and limits.

        Args:
            *rubrics: each a :class:`Rubric`, the name of one that comes with the package, or the path of a YAML file.

        Raises:
            ConfigurationError: no rubric is given, or no bundled rubric has that name.
            InputError: the file is not a rubric.
        """
        other = self._with()
        other._take(_find_rubrics(rubrics))
        if self.name == self._own_name:
            other.name = other._own_name
        return other

    @property
    def _own_name(self) -> str:
        return self._given_name or default_name(self.rubrics, self.model.model)

    def _take(self, rubrics: tuple[Rubric, ...]) -> None:
        self._rubrics = rubrics
        self._names = unique_names([rubric.name for rubric in rubrics])
        prints = [rubric.fingerprint for rubric in rubrics]
        self._rubrics_fingerprint = prints[0] if len(prints) == 1 else digest([*prints, *self._names])
        # This ensemble only counts votes. Its judges give the rubrics their names and are never asked.
        scores = [
            (name, pass_scores_of(one, self.threshold, continuous=True))
            for name, one in zip(self._names, rubrics, strict=True)
        ]
        vote = with_threshold_of_jurors(self._voting, {}, scores)
        self._vote = Ensemble([always_pass(name=own) for own in self._names], voting=self._voting, **vote)
        self.cost = self._price(Usage(1000, 20 * len(rubrics))).cost_usd

    @property
    def _rubric_fingerprint(self) -> str:
        return self._rubrics_fingerprint

    @property
    def size(self) -> int:
        return len(self.rubrics)

    @property
    def opinion_statuses(self) -> OpinionStatuses:
        single = frozenset().union(*(rubric_statuses(rubric, self.threshold) for rubric in self.rubrics))
        return single if len(self.rubrics) == 1 else self._vote.strategy.opinion_statuses(single)

    @property
    def pass_scores(self) -> frozenset[float]:
        if len(self.rubrics) == 1:
            return pass_scores_of(self.rubrics[0], self.threshold, continuous=True)
        return self._vote.pass_scores

    def estimate(self, case: Case) -> Usage:
        asked = [rubric for rubric in self.rubrics if self._unasked(rubric, case, self.threshold) is None]
        if case.attachments and self._image_obstacle(case):
            return NO_USAGE
        return self._price(estimated_decision(*self._request(tuple(asked), case))) if asked else NO_USAGE

    async def assess(self, case: Case) -> Judgment:
        unasked = [self._unasked(rubric, case, self.threshold) for rubric in self.rubrics]
        if None not in unasked:
            return self._built([judgment for judgment in unasked if judgment is not None], NO_USAGE, case)
        if case.attachments and (obstacle := self._image_obstacle(case)):
            return self._built([abstain(obstacle)] * len(self.rubrics), NO_USAGE, case)
        keys = sorted({case_key_of(rubric, case) for rubric in self.rubrics})
        found = await self._once("+".join(keys), case, partial(self._asked, case, unasked))
        if len(self.rubrics) == 1:
            return found
        if isinstance(found, Verdict):  # from a store, perhaps, whose verdict was voted on under another rule
            return self._built(found.judgments, found.usage, case)
        return Verdict(
            found.status, reasoning=found.reasoning, error=found.error, usage=found.usage, model=found.model,
            family=found.family, metadata=found.metadata,
        )  # fmt: skip

    def failure(self, error: BaseException | str, reasoning: str = "") -> Judgment:
        plain = super().failure(error, reasoning)
        return plain if len(self.rubrics) == 1 else Verdict(plain.status, error=plain.error, reasoning=plain.reasoning)

    async def _asked(self, case: Case, unasked: Sequence[Judgment | None]) -> Judgment:
        """Ask all applicable rubrics in one request. A failure of the request applies to all of them."""
        asked = tuple(rubric for rubric, known in zip(self.rubrics, unasked, strict=True) if known is None)
        text, questions = self._request(asked, case)
        try:
            answers, spent = await self._decided(text, questions)
            if len(answers) != len(questions):
                raise ModelError(f"{self.model.name}: not one answer per question", "malformed")
        except BudgetExhausted as refusal:
            return self._unaffordable(refusal, NO_USAGE)
        except ModelError as error:
            return self._failed(error, NO_USAGE)
        given = iter(answers)
        judgments = [
            judgment_of(next(given), rubric, self.threshold) if known is None else known
            for rubric, known in zip(self.rubrics, unasked, strict=True)
        ]
        return self._built(judgments, spent, case)

    def _decided(self, text: str, questions: Sequence[Question]) -> Awaitable[Decided]:
        budget = run_context().budget
        call = partial(self.model.decide, text, questions)
        if budget is None:
            return call()
        estimated = self._price(estimated_decision(text, questions))
        return within_budget(budget, estimated, call, lambda decided: decided[1])

    def _built(self, judgments: Sequence[Judgment], spent: Usage, case: Case) -> Judgment:
        """Return the only judgment, or the verdict on several."""
        if len(self.rubrics) == 1:
            return self._stamped(judgments[0], spent)
        named = [
            evolve(self._stamped(judgment, NO_USAGE), critic=name)
            for judgment, name in zip(judgments, self._names, strict=True)
        ]
        return self._stamped(self._vote.aggregate(named, generator=case.generator), spent)

    def _request(self, rubrics: tuple[Rubric, ...], case: Case) -> tuple[str, list[Question]]:
        shown = _merged(rubrics)
        text = f"{MATERIAL}\n\n{user_text(shown, case, variables_of(shown, case))}"
        return text, [question_for(rubric) for rubric in rubrics]

    def _image_obstacle(self, case: Case) -> str:
        """Return the reason why the model cannot judge a case with images: it decides about one text."""
        found = (obstacle_of_images(rubric, case, self.model.inner, addresses=False) for rubric in self.rubrics)
        return next(filter(None, found), "")

    def __repr__(self) -> str:
        names = ", ".join(rubric.name for rubric in self.rubrics)
        return f"DecisionCritic({self.model.name!r}, [{names}], name={self.name!r})"


@lru_cache(maxsize=64)
def _merged(rubrics: tuple[Rubric, ...]) -> Rubric:
    """Return one rubric that shows the material of all of them, with each paragraph of their user prompts once."""
    if len(rubrics) == 1:
        return rubrics[0]
    paragraphs = dict.fromkeys(part.strip() for rubric in rubrics for part in rubric.user_prompt.split("\n\n"))
    return Rubric(
        name="+".join(rubric.name for rubric in rubrics),
        user_prompt="\n\n".join(part for part in paragraphs if part),
        criteria="\n\n".join(rubric.criteria.strip() for rubric in rubrics),
        variables=tuple(dict.fromkeys(name for rubric in rubrics for name in rubric.variables)),
    )


def _find_rubrics(given: RubricLike | Sequence[RubricLike]) -> tuple[Rubric, ...]:
    rubrics = (given,) if isinstance(given, str | Path | Rubric) else given
    if not isinstance(rubrics, Sequence):
        raise ConfigurationError(
            f"a rubric is a Rubric, the name of one or a YAML file, or a list; not {plain_repr(given)}"
        )
    if not rubrics:
        raise ConfigurationError("what shall the critic judge? Give a rubric such as 'safety', or a list of them")
    return tuple(find_rubric(rubric) for rubric in rubrics)
