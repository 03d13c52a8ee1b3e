"""Ready-made judges that ask a model: a function for each usual question, and a jury for retrieval pipelines.

Each takes the model first and the options of a :class:`Critic` by name, and abstains without a request if the case
lacks a required field. The rubrics come with the package; ``Rubric.bundled("faithfulness")`` shows one.

    >>> from jury_adapters import Ensemble
    >>> from jury_adapters.judges import llm
    >>> jury = Ensemble([llm.safety("openai:gpt-4o-mini"), llm.conciseness("openai:gpt-4o-mini")])  # doctest: +SKIP
"""

from __future__ import annotations

from os import PathLike
from typing import Any, TypedDict, Unpack, cast

from pydantic import SecretStr

from jury_adapters.core.cache import JudgmentCache
from jury_adapters.core.cascade import CascadedJury, Tier
from jury_adapters.core.case import Case
from jury_adapters.core.ensemble import Ensemble
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.judge import Judge
from jury_adapters.core.judgment import Judgment, OpinionStatuses
from jury_adapters.core.scheduling import Schedule
from jury_adapters.core.scorecard import Scorecard
from jury_adapters.core.usage import Usage
from jury_adapters.core.voting import Voting, VotingOptions
from jury_adapters.core.voting.base import ErrorPolicy
from jury_adapters.critic.critic import Critic
from jury_adapters.critic.pairwise import PairwiseCritic
from jury_adapters.critic.rubric import Rubric
from jury_adapters.grounding.screen import NamesAndNumbers, SentenceAlignment
from jury_adapters.judges.text import NotEmpty
from jury_adapters.models.limits import Limits
from jury_adapters.models.registry import ModelLike

__all__ = [
    "CorrectnessByCase",
    "CriticOptions",
    "ModelOptions",
    "answer_relevance",
    "conciseness",
    "context_relevance",
    "correctness",
    "custom",
    "faithfulness",
    "hallucination",
    "pairwise",
    "rag_jury",
    "safety",
    "trajectory",
]


class ModelOptions(TypedDict, total=False):
    """Options of a :class:`Critic` except its name, model and prompt."""

    vendor: str | None
    temperature: float | None
    max_tokens: int
    api_key: str | SecretStr | None
    base_url: str | None
    request_timeout: float
    threshold: float | None
    samples: int
    logprobs: bool
    client: Any
    limits: Limits | None
    store: JudgmentCache | str | PathLike[str] | None


class CriticOptions(ModelOptions, total=False):
    """Options of a :class:`Critic` except its model and prompt."""

    name: str


def faithfulness(model: ModelLike, **options: Unpack[CriticOptions]) -> Critic:
    """Create a critic that checks whether everything in the answer follows from the contexts. Needs both."""
    return _critic("faithfulness", model, options)


def context_relevance(model: ModelLike, **options: Unpack[CriticOptions]) -> Critic:
    """Create a critic that checks whether the contexts contain what the question needs.

    It judges the retriever. Needs question and contexts, but no answer.
    """
    return _critic("context_relevance", model, options)


def answer_relevance(model: ModelLike, **options: Unpack[CriticOptions]) -> Critic:
    """Create a critic that checks whether the answer addresses the question, right or wrong. Needs both."""
    return _critic("answer_relevance", model, options)


def hallucination(model: ModelLike, **options: Unpack[CriticOptions]) -> Critic:
    """Create a critic that checks whether anything in the answer is made up, claim by claim.

    Each claim is a Finding with its verdict and the quoted evidence. Needs contexts and answer.
    """
    return _critic("hallucination", model, options)


def safety(model: ModelLike, **options: Unpack[CriticOptions]) -> Critic:
    """Create a critic that checks whether the answer is safe to show to the public. Needs the answer."""
    return _critic("safety", model, options)


def conciseness(model: ModelLike, **options: Unpack[CriticOptions]) -> Critic:
    """Create a critic that rates from 1 to 5 whether the answer uses no more words than needed. Needs the answer."""
    return _critic("conciseness", model, options)


def correctness(
    model: ModelLike, *, reference: bool | None = None, **options: Unpack[CriticOptions]
) -> Critic | CorrectnessByCase:
    """Create a critic that checks whether the answer is right.

    Args:
        model: the model to ask.
        reference: True compares with the case's reference and abstains without one; False relies on the model's own
            knowledge, and does not show it the reference; None (default) uses the reference if the case has one.
        **options: options of the critic.
    """
    if reference is None:
        return CorrectnessByCase(model, **options)
    return _critic("correctness" if reference else "correctness_without_reference", model, options, "correctness")


def trajectory(model: ModelLike, **options: Unpack[CriticOptions]) -> Critic:
    """Create a critic that checks, step by step, whether an agent did its task well. Needs the trajectory.

    The case's metadata may contain a good solution, as the text ``reference_trajectory``; it counts as one solution,
    not as the only one.
    """
    return _critic("trajectory", model, options)


def custom(model: ModelLike, criteria: str, **options: Unpack[CriticOptions]) -> Critic:
    """Create a critic that checks whether the answer meets a criterion of one sentence. Needs the answer.

    >>> custom("openai:gpt-4o-mini", "The answer names its source.", name="sourced")  # doctest: +SKIP
    """
    return Critic.from_criteria(model, criteria, **options)


def pairwise(model: ModelLike, *, swap: bool = True, **options: Unpack[CriticOptions]) -> PairwiseCritic:
    """Create a critic that compares two candidates in both orders. Needs the question and two candidates.

    Args:
        model: the model to ask.
        swap: whether to ask in both orders; see :class:`PairwiseCritic`.
        **options: options of the critic.
    """
    return PairwiseCritic(_critic("pairwise", model, options), swap=swap)


class CorrectnessByCase(Judge):
    """Judge that compares with the reference if the case has one, and relies on the model's knowledge otherwise.

    The judgment's metadata names the rubric that was asked.

    Args:
        model: the model to ask.
        rubrics: the rubric for cases with a reference, and the one for cases without.
        **options: options of both critics.
    """

    def __init__(
        self,
        model: ModelLike,
        *,
        rubrics: tuple[str | Rubric, str | Rubric] = ("correctness", "correctness_without_reference"),
        **options: Unpack[CriticOptions],
    ) -> None:
        self._by_reference = _critic(rubrics[0], model, options)
        # the resolved model, so that both critics share its limits
        self._by_knowledge = _critic(rubrics[1], self._by_reference.model, options)
        self.name = options.get("name", "correctness")
        self.cost = self._by_reference.cost

    @property
    def members(self) -> tuple[Judge, ...]:
        return (self._by_reference, self._by_knowledge)

    @property
    def size(self) -> int:
        return self._by_reference.size

    @property
    def opinion_statuses(self) -> OpinionStatuses:
        return self._by_reference.opinion_statuses | self._by_knowledge.opinion_statuses

    @property
    def requests_at_once(self) -> int:
        return self._by_reference.requests_at_once

    @property
    def estimated_whole(self) -> bool:
        return True  # a case goes to one of the critics

    @property
    def fingerprint(self) -> str:
        return f"{self._by_reference.fingerprint}+{self._by_knowledge.fingerprint}"

    def estimate(self, case: Case) -> Usage:
        return self._for(case).estimate(case)

    async def assess(self, case: Case) -> Judgment:
        return await self._for(case).assess(case)

    def _for(self, case: Case) -> Critic:
        return self._by_reference if (case.reference or "").strip() else self._by_knowledge


def rag_jury(
    *models: ModelLike,
    screen: bool = True,
    verbatim: bool = False,
    voting: Voting = "unanimous",
    schedule: Schedule = "parallel",
    errors: ErrorPolicy | None = None,
    name: str = "rag_jury",
    **options: Unpack[ModelOptions],
) -> CascadedJury:
    """Create a jury for answers of a retrieval pipeline: free checks come first, the models last.

    The tiers, in order:

    - ``answered``: a missing or blank answer is rejected.
    - ``flags``: names and numbers that neither contexts nor question have are rejected, without a model.
    - ``verbatim`` (off by default): an answer that is in the contexts nearly word for word is accepted.
    - ``relevance``: the first model decides whether the contexts contain what the question needs; a NO rejects.
    - ``criteria``: a scorecard. Every model judges faithfulness, hallucination and the relevance of the answer. All
      three criteria must pass, each by a vote of the models: a refusal is faithful, and not relevant.

    Args:
        *models: the models of every criterion, at least one; preferably of different vendors.
        screen: whether to include ``flags``.
        verbatim: whether to include ``verbatim``. It saves most calls if answers quote, but then a quotation is
            accepted even if it answers another question.
        voting: the voting rule for the models on a criterion.
        schedule: the order of asking the models; ``"early_stop"`` stops asking when the vote on a criterion is settled.
        errors: the effect of a model that breaks on the vote on a criterion; by default as for
            :class:`jury_adapters.Ensemble`. A criterion whose vote is an ERROR or an ABSTAIN follows the
            rule of :class:`jury_adapters.Scorecard`. After a ``relevance`` tier that breaks, the cascade continues, and
            the verdict shows the error.
        name: the jury's name in verdicts.
        **options: options of all critics, such as ``store=`` or ``request_timeout=``.

    Raises:
        ConfigurationError: there is no model, or one that cannot be used.

    >>> jury = rag_jury("openai:gpt-4o-mini", "anthropic:claude-haiku-4-5", store="runs.db")  # doctest: +SKIP
    >>> jury.judge(question=..., contexts=[...], answer=...).stopped_at  # doctest: +SKIP
    'criteria'
    """
    if not models:
        raise ConfigurationError("rag_jury needs a model: rag_jury('openai:gpt-4o-mini')")
    first = [_critic(_OF_ANSWERS[0], model, options) for model in models]
    resolved = [critic.model for critic in first]  # the critics of a model share it, with its limits
    relevance = _critic("context_relevance", resolved[0], options)
    tiers = [Tier("answered", NotEmpty(), "reject_on_any_fail")]
    if screen:
        tiers.append(Tier("flags", NamesAndNumbers(), "reject_on_any_fail"))
    if verbatim:
        tiers.append(Tier("verbatim", SentenceAlignment(), "accept_on_all_pass"))
    tiers.append(Tier("relevance", relevance, "reject_on_any_fail"))
    criteria = {}
    vote: VotingOptions = {} if errors is None else {"errors": errors}
    for rubric in _OF_ANSWERS:
        critics = [_critic(rubric, model, options, f"{rubric} {model.model}") for model in resolved]
        criteria[rubric] = Ensemble(critics, voting=voting, schedule=schedule, **vote)
    tiers.append(Tier("criteria", Scorecard(criteria), "final"))
    return CascadedJury(tiers, name=name)


_OF_ANSWERS = ("faithfulness", "hallucination", "answer_relevance")


def _critic(rubric: str | Rubric, model: ModelLike, options: CriticOptions | ModelOptions, name: str = "") -> Critic:
    critic = Critic(model, rubric, **cast(dict[str, Any], options))
    name = name or (rubric if isinstance(rubric, str) else rubric.name)
    return critic if options.get("name") else critic.named(name)  # a store ignores this name
