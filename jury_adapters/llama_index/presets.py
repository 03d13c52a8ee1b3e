"""Evaluators for the usual questions, under the names that users of LlamaIndex know."""

from collections.abc import Sequence
from typing import Any

from llama_index.core import Settings

from jury_adapters.core.budget import Budget
from jury_adapters.core.ensemble import Ensemble
from jury_adapters.core.judge import Judge, JudgeLike
from jury_adapters.core.store import Store
from jury_adapters.core.values import ConfigurationError
from jury_adapters.critic.critic import Critic
from jury_adapters.critic.pairwise import PairwiseCritic, in_both_orders
from jury_adapters.critic.rubric import Rubric
from jury_adapters.llama_index.evaluator import JuryEvaluator

_RELEVANCY = Rubric(
    name="relevancy",
    description="Is the answer in line with the question and with the contexts? LlamaIndex calls it relevancy.",
    source="LlamaIndex's RelevancyEvaluator (the same question)",
    criteria="""\
Does the answer respond to the question, and is it in line with the contexts?

YES: it addresses what was asked, and what it says is stated in the contexts or follows from them.
NO: it answers another question or evades this one, or it says something essential that the contexts contradict or do
not contain.
UNSURE: the question, the contexts or the answer cannot be understood well enough to tell.

- Decide first what the question asks for, then which contexts bear on it.
- Use the contexts alone. What you know from elsewhere counts neither for nor against the answer.
- An answer that says that the contexts do not contain the information is in line exactly when they do not.""",
    prompt="Question:\n{question}\n\nContexts:\n{contexts}\n\nAnswer to judge:\n{answer}",
    empty_answer="NO",
)


class _Preset(JuryEvaluator):
    """Base of the evaluators with a rubric of their own.

    Args:
        llm: the model: an LLM of LlamaIndex, a name such as ``openai:gpt-4o-mini``, or whatever a :class:`Critic`
            takes. Without a model and a jury, it is ``Settings.llm``, if that was set.
        llms: several models, which vote.
        jury: a jury to ask instead of models.
        voting: the rule by which several models vote; see :class:`Ensemble`.
        store: where judgments are kept.
        budget: the limit on spending.

    Raises:
        ConfigurationError: there is no model, or more than one of ``llm=``, ``llms=`` and ``jury=``.
    """

    rubric: Rubric | str = ""

    def __init__(
        self,
        llm: Any = None,
        *,
        llms: Sequence[Any] | None = None,
        jury: JudgeLike | None = None,
        voting: Any = "majority",
        store: Store | None = None,
        budget: Budget | None = None,
    ) -> None:
        if llm is None and llms is None and jury is None and getattr(Settings, "_llm", None) is not None:
            llm = Settings.llm  # reading one that was not set would make a model of OpenAI
        if sum(one is not None for one in (llm, llms, jury)) != 1:
            raise ConfigurationError(f"{type(self).__name__} takes one of llm=, llms=[...], jury= and Settings.llm")
        if jury is None:
            critics = [self._critic(one) for one in (llms if llms is not None else [llm])]
            jury = critics[0] if len(critics) == 1 else Ensemble(critics, voting=voting)
        super().__init__(self._fitting(jury), store=store, budget=budget)

    def _critic(self, model: Any) -> Judge:
        return Critic(model, self.rubric)

    def _fitting(self, jury: JudgeLike) -> JudgeLike:
        return jury


class JuryFaithfulnessEvaluator(_Preset):
    """Do the contexts support everything in the response? Needs response and contexts.

    The arguments are those of all presets: ``llm`` or ``llms=[...]``, or ``jury=``; ``voting=``, ``store=``,
    ``budget=``. Without a model it is ``Settings.llm``, if that was set.

    >>> JuryFaithfulnessEvaluator(llms=["openai:gpt-4o-mini", "anthropic:claude-haiku-4-5"])  # doctest: +SKIP
    """

    rubric = "faithfulness"


class JuryHallucinationEvaluator(_Preset):
    """Does the response make anything up? The model lists its claims one by one. Needs response and contexts.

    Passes, with the score 1.0, if nothing is made up. The claims are the findings of the judgment. The arguments are
    those of :class:`JuryFaithfulnessEvaluator`.
    """

    rubric = "hallucination"


class JuryRelevancyEvaluator(_Preset):
    """Does the response answer the query, in line with the contexts? Needs query, response and contexts.

    The arguments are those of :class:`JuryFaithfulnessEvaluator`.
    """

    rubric = _RELEVANCY


class JuryAnswerRelevancyEvaluator(_Preset):
    """Does the response address the query, right or wrong? Needs query and response.

    The arguments are those of :class:`JuryFaithfulnessEvaluator`.
    """

    rubric = "answer_relevance"


class JuryContextRelevancyEvaluator(_Preset):
    """Do the contexts hold what the query needs? Judges the retriever. Needs query and contexts.

    The arguments are those of :class:`JuryFaithfulnessEvaluator`.
    """

    rubric = "context_relevance"


class JuryCorrectnessEvaluator(_Preset):
    """Is the response right, by ``reference=``? Needs response and reference.

    The model rates from 1 to 5 and passes from 4, as that of LlamaIndex; the score is in 0..1. The arguments are those
    of :class:`JuryFaithfulnessEvaluator`.
    """

    rubric = "graded_correctness"


class JuryGuidelineEvaluator(_Preset):
    """Does the response follow guidelines? Needs the response.

    Args:
        llm: the model.
        guidelines: what the response must meet, in words.
        **options: ``llms=``, ``voting=``, ``store=`` and ``budget=`` as for :class:`JuryFaithfulnessEvaluator`; and
            ``jury=`` instead of guidelines.

    Raises:
        ConfigurationError: there are no guidelines and no jury, or both.

    >>> JuryGuidelineEvaluator(guidelines="The answer names its source.", llm="openai:gpt-4o-mini")  # doctest: +SKIP
    """

    def __init__(self, llm: Any = None, guidelines: str = "", **options: Any) -> None:
        if bool(guidelines) == (options.get("jury") is not None):
            raise ConfigurationError(f"{type(self).__name__} takes guidelines= or jury=")
        self.rubric = Rubric.from_criteria(guidelines, name="guidelines") if guidelines else ""
        super().__init__(llm, **options)


class JuryPairwiseEvaluator(_Preset):
    """Is the response better than ``second_response=``? Each model is asked in both orders. Needs both responses.

    ``score`` is 1.0 if the response is better, 0.0 if the second one is, and 0.5 for a tie, whose ``passing`` is None
    and ``pairwise_source`` is ``neither``. A preference that changes with the order is a tie. The arguments are those
    of :class:`JuryFaithfulnessEvaluator`; a ``jury=`` has the labels A, B and tie, or is a function of a case.
    """

    rubric = "pairwise"

    def _critic(self, model: Any) -> Judge:
        return PairwiseCritic(super()._critic(model))

    def _fitting(self, jury: JudgeLike) -> JudgeLike:
        return in_both_orders(jury)
