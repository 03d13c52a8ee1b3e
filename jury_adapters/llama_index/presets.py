"""Evaluators for the usual questions, under the names that LlamaIndex users know.

All of them take the same arguments, and look for a judge in this order: the ``jury=`` argument; the models in ``llm=``
or ``llms=``; ``Settings.llm``, if it was set explicitly; the offline judge, if there is one. Otherwise, the error says
what to pass. No data go to a vendor that was not named.

    >>> from llama_index.core.evaluation import BatchEvalRunner
    >>> panel = ["openai:gpt-4o-mini", "anthropic:claude-haiku-4-5"]
    >>> runner = BatchEvalRunner({"faithful": JuryFaithfulnessEvaluator(llms=panel)}, workers=8)  # doctest: +SKIP
"""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections.abc import Sequence
from functools import partial
from typing import Any, Unpack, cast

from llama_index.core import Settings
from llama_index.core.llms import MockLLM

from jury_adapters.core.budget import Budget
from jury_adapters.core.errors import ConfigurationError, plain_repr
from jury_adapters.core.evidence import EvidenceTools
from jury_adapters.core.judge import Judge
from jury_adapters.core.judge_like import JudgeLike
from jury_adapters.core.scheduling import Schedule
from jury_adapters.core.voting import Voting
from jury_adapters.core.voting.base import ErrorPolicy
from jury_adapters.critic.asking import AskingJudge
from jury_adapters.critic.critic import Critic
from jury_adapters.critic.pairwise import PairwiseCritic
from jury_adapters.critic.rubric import Rubric
from jury_adapters.grounding.screen import ContextRelevance, grounding_screen
from jury_adapters.judges import llm as critics
from jury_adapters.judges.llm import ModelOptions
from jury_adapters.judges.presets import JurorLike, PanelOptions, one_or_panel
from jury_adapters.llama_index.evaluators import JuryEvaluator
from jury_adapters.llama_index.graded_rubrics import GRADED_CONTEXT_RELEVANCE, graded_correctness
from jury_adapters.llama_index.prompts import RELEVANCY
from jury_adapters.llama_index.replaced_arguments import check_options
from jury_adapters.models.registry import ModelLike


class PresetOptions(ModelOptions, total=False):
    """Keyword arguments of all preset evaluators."""

    llms: Sequence[JurorLike] | None
    jury: JudgeLike | None
    voting: Voting
    schedule: Schedule
    errors: ErrorPolicy | None
    budget: Budget | None
    evidence_tools: EvidenceTools


class PresetEvaluator(JuryEvaluator):
    """Base of the preset evaluators: builds a jury from models.

    Args:
        llm: the judge: a LlamaIndex LLM, ``"vendor:model"``, any other model that a :class:`jury_adapters.Critic`
            takes, or an existing Critic or other judge.
        llms: several judges, which vote; preferably models of different vendors. An empty list is refused: if a panel
            is built from the environment and found no models, another judge must not silently replace it.
        jury: an existing jury, another judge or a function of a case, instead of models.
        voting: the voting rule for several models; see :class:`jury_adapters.Ensemble`.
        schedule: the order in which they are asked; ``"early_stop"`` stops asking when the vote is settled.
        errors: the policy for a juror that fails. The default is that of :class:`jury_adapters.Ensemble`: it counts as
            FAIL, and the result is invalid if all jurors fail.
        budget: a :class:`jury_adapters.Budget` for everything that this evaluator judges; a juror whose call does not
            fit abstains with ``budget_exhausted``.
        evidence_tools: the tools of an agent whose outputs are contexts; see :class:`JuryEvaluator`.
        **options: ``store=``, as for :class:`JuryEvaluator`; and options of the critics built here, such as
            ``threshold=`` or ``limits=``.

    Raises:
        ConfigurationError: there is no judge, a model cannot be used, arguments are incompatible, or an argument of
            LlamaIndex's own evaluators has another name here, which the message gives.
    """

    _subject: str  # the judged property, which names the jury

    def __init__(
        self,
        llm: JurorLike | None = None,
        *,
        llms: Sequence[JurorLike] | None = None,
        jury: JudgeLike | None = None,
        voting: Voting = "majority",
        schedule: Schedule = "parallel",
        errors: ErrorPolicy | None = None,
        budget: Budget | None = None,
        evidence_tools: EvidenceTools = None,
        **options: Unpack[ModelOptions],
    ) -> None:
        given = _given(llm, llms, jury)
        own = {*inspect.signature(type(self)).parameters, *PresetOptions.__annotations__} - {"options"}
        check_options(type(self).__name__, cast(dict[str, Any], options), own)
        store = options.pop("store", None)  # an option of the evaluator, so it also applies to an existing jury
        if jury is not None:
            self._refuse(options, "a ready jury has options of its own")
            if errors is not None:
                raise ConfigurationError(f"{type(self).__name__}: errors= is for models; a ready jury has its own")
            found = jury
        else:
            found = self._judge_of(given, options, voting=voting, schedule=schedule, errors=errors)
        super().__init__(found, store=store, budget=budget, evidence_tools=evidence_tools)

    def _judge_of(self, given: tuple[JurorLike, ...], options: ModelOptions, **vote: Unpack[PanelOptions]) -> Judge:
        """Return one judge made of the given models and judges."""
        if not given:
            configured = _configured_llm()
            offline = self._offline(options) if configured is None else None
            if offline is not None:
                return offline
            if configured is None:
                raise ConfigurationError(
                    f"{type(self).__name__} needs a judge: give llm= (a LlamaIndex LLM or 'vendor:model'), "
                    "llms=[...] or jury=, or set Settings.llm to a real LLM"
                )
            given = (configured,)
        if options and all(isinstance(juror, Judge) for juror in given):
            self._refuse(options, "ready judges have options of their own")
        seated = [self._seated(juror) if isinstance(juror, Judge) else juror for juror in given]
        make = partial(self._critic, options=options)
        return one_or_panel(make, *seated, name=self._subject, **vote)

    @abstractmethod
    def _critic(self, model: ModelLike, options: ModelOptions) -> Judge:
        """Return the critic that asks a model this evaluator's question."""

    def _offline(self, options: ModelOptions) -> Judge | None:
        """Return the judge that needs no model; None if there is none."""
        return None

    def _seated(self, judge: Judge) -> Judge:
        """Return an existing judge as a juror."""
        return judge

    def _refuse(self, options: ModelOptions, why: str) -> None:
        if options:
            raise ConfigurationError(f"{type(self).__name__}: {', '.join(options)} belongs to a model; {why}")


class JuryFaithfulnessEvaluator(PresetEvaluator):
    """Evaluate whether the contexts support everything in the response. Needs response and contexts.

    With ``jury=grounding_screen()``, and if there is neither a model nor ``Settings.llm``, no model is called: the
    :func:`jury_adapters.grounding_screen` rejects names and numbers that no context has, accepts text that is nearly
    verbatim in the contexts, and abstains on all other responses (``invalid_result``). The arguments are those
    of :class:`PresetEvaluator`.

    >>> JuryFaithfulnessEvaluator(jury=grounding_screen()).evaluate(
    ...     query="When did Ann leave?", response="Ann left in 2019.", contexts=["Ann left in 2018."]
    ... ).passing
    False
    """

    _subject = "faithfulness"

    def _critic(self, model: ModelLike, options: ModelOptions) -> Judge:
        return critics.faithfulness(model, **options)

    def _offline(self, options: ModelOptions) -> Judge:
        self._refuse(options, "give llm=, or leave it out")
        return grounding_screen()


class JuryHallucinationEvaluator(PresetEvaluator):
    """Evaluate claim by claim whether the response makes anything up; passes (score 1.0) if it does not.

    Each claim is a check of the verdict, with the quoted evidence. Needs response and contexts. If there is neither a
    model nor ``Settings.llm``, the :func:`jury_adapters.grounding_screen` judges. The arguments are those of
    :class:`PresetEvaluator`.
    """

    _subject = "hallucination"

    def _critic(self, model: ModelLike, options: ModelOptions) -> Judge:
        return critics.hallucination(model, **options)

    def _offline(self, options: ModelOptions) -> Judge:
        self._refuse(options, "give llm=, or leave it out")
        return grounding_screen()


class JuryRelevancyEvaluator(PresetEvaluator):
    """Evaluate whether the response answers the query in line with the contexts. Needs query, response, contexts.

    The arguments are those of :class:`PresetEvaluator`.
    """

    _subject = "relevancy"

    def _critic(self, model: ModelLike, options: ModelOptions) -> Judge:
        return Critic(model, RELEVANCY, **options).named("relevancy")


class JuryAnswerRelevancyEvaluator(PresetEvaluator):
    """Evaluate whether the response addresses the query, right or wrong. Needs query and response.

    The arguments are those of :class:`PresetEvaluator`.
    """

    _subject = "answer_relevancy"

    def _critic(self, model: ModelLike, options: ModelOptions) -> Judge:
        return critics.answer_relevance(model, **options)


class JuryContextRelevancyEvaluator(PresetEvaluator):
    """Evaluate the retriever: whether the contexts hold what the query needs. Needs query and contexts only.

    A model rates the contexts by the two questions of LlamaIndex's own evaluator, with up to four points. The score is
    their share, from 0 to 1, and three points pass. If there is neither a model nor ``Settings.llm``,
    :class:`jury_adapters.checks.ContextRelevance` judges. Its score is the share of the query's content words that the
    contexts contain; it passes from ``threshold=`` (0..1, by default 0.5) upwards. The other arguments are those of
    :class:`PresetEvaluator`.

    Args:
        graded: True for a rating; False for a model that answers YES or NO.

    >>> JuryContextRelevancyEvaluator(jury=ContextRelevance(threshold=0.5)).evaluate(
    ...     query="When did Ann leave?", contexts=["Ann left. Leaving hurt."]
    ... ).passing
    True
    """

    _subject = "context_relevancy"

    def __init__(
        self,
        llm: JurorLike | None = None,
        *,
        graded: bool = True,
        **options: Unpack[PresetOptions],
    ) -> None:
        self._graded = graded
        super().__init__(llm, **options)

    def _critic(self, model: ModelLike, options: ModelOptions) -> Judge:
        if not self._graded:
            return critics.context_relevance(model, **options)
        return Critic(model, GRADED_CONTEXT_RELEVANCE, **options).named("context_relevance")

    def _offline(self, options: ModelOptions) -> Judge:
        rest: ModelOptions = {**options}
        threshold = rest.pop("threshold", None)
        self._refuse(rest, "give llm=, or leave it out")
        return ContextRelevance(threshold=0.5 if threshold is None else threshold)


class JuryCorrectnessEvaluator(PresetEvaluator):
    """Evaluate whether the response is right, by an item's ``reference=`` or, without one, by the model's knowledge.

    Needs query and response. The model rates from 1 to 5, as in LlamaIndex's own evaluator; the score of the result
    is from 0 to 1. The other arguments are those of :class:`PresetEvaluator`.

    Args:
        score_threshold: the lowest rating that passes, from 1 to 5.
        graded: True for a rating; False for a model that answers YES or NO.
        reference_required: whether an item without a reference is invalid, instead of judged by the model's knowledge.
    """

    _subject = "correctness"

    def __init__(
        self,
        llm: JurorLike | None = None,
        *,
        score_threshold: float | None = None,
        graded: bool = True,
        reference_required: bool = False,
        **options: Unpack[PresetOptions],
    ) -> None:
        if score_threshold is not None and not graded:
            raise ConfigurationError("score_threshold= is for ratings; leave it out, or leave out graded=False")
        if score_threshold is not None and not (_is_number(score_threshold) and 1 <= score_threshold <= 5):
            raise ConfigurationError(f"score_threshold is a rating from 1 to 5, not {plain_repr(score_threshold)}")
        self._reference = True if reference_required else None
        self._rubrics = graded_correctness(4.0 if score_threshold is None else score_threshold) if graded else None
        super().__init__(llm, **options)

    def _critic(self, model: ModelLike, options: ModelOptions) -> Judge:
        if self._rubrics is None:
            return critics.correctness(model, reference=self._reference, **options)
        if self._reference:
            return Critic(model, self._rubrics[0], **options).named("correctness")
        return critics.CorrectnessByCase(model, rubrics=self._rubrics, **options)


class JuryGuidelineEvaluator(PresetEvaluator):
    """Evaluate whether the response follows your guidelines. Needs the response.

    Args:
        llm: the judge; see :class:`PresetEvaluator` for this and the other arguments.
        guidelines: the requirements for the response, in words; a response must meet every item of a list.

    >>> JuryGuidelineEvaluator(llm="openai:gpt-4o-mini", guidelines="The answer names its source.")  # doctest: +SKIP
    """

    _subject = "guidelines"

    def __init__(
        self,
        llm: JurorLike | None = None,
        guidelines: str | Sequence[str] = "",
        **options: Unpack[PresetOptions],
    ) -> None:
        self._guidelines = _guidelines(guidelines)
        jury = options.get("jury")
        if jury is not None and self._guidelines:
            raise ConfigurationError("give guidelines= or jury=, not both: a ready jury has its own rubrics")
        if jury is None and not self._guidelines:
            raise ConfigurationError("which guidelines? Give guidelines='The answer names its source.'")
        super().__init__(llm, **options)

    def _critic(self, model: ModelLike, options: ModelOptions) -> Judge:
        rubric = Rubric.from_criteria(self._guidelines, name="guidelines")
        return Critic(model, rubric, **options).named("guidelines")


class JuryPairwiseEvaluator(PresetEvaluator):
    """Evaluate whether the response is better than ``second_response=``; asks in both orders against position bias.

    ``score`` is 1.0 if the response is better, 0.0 if the second one is, 0.5 for a tie; only 1.0 is ``passing``.
    ``pairwise_source`` is ``"original"`` if the result holds with the response shown first (and, asked in both orders,
    also with the second one first), ``"flipped"`` if an existing jury was asked only with the second one first, and
    ``"neither"`` if the orders disagree or the vote is tied: the order decided then, and the score is 0.5. If one order
    gives no decision, the result is invalid.

    Args:
        llm: the judge; see :class:`PresetEvaluator` for this and the other arguments. An existing Critic has the rubric
            ``pairwise``, or another whose labels are A, B and tie.
        swap: whether to ask in both orders.
    """

    _subject = "pairwise"

    def __init__(
        self,
        llm: JurorLike | None = None,
        *,
        swap: bool = True,
        **options: Unpack[PresetOptions],
    ) -> None:
        self._swap = swap
        super().__init__(llm, **options)

    def _critic(self, model: ModelLike, options: ModelOptions) -> Judge:
        return critics.pairwise(model, swap=self._swap, **options)

    def _seated(self, judge: Judge) -> Judge:
        return PairwiseCritic(judge, swap=self._swap) if isinstance(judge, AskingJudge) else judge


def _given(llm: JurorLike | None, llms: Sequence[JurorLike] | None, jury: object | None) -> tuple[JurorLike, ...]:
    if isinstance(llms, str) or not isinstance(llms, Sequence | None):
        single = plain_repr(llms) if isinstance(llms, str) else "..."
        raise ConfigurationError(
            f"llms= is a list of models, not {type(llms).__name__}; for a single one write llm={single}"
        )
    if llms is not None and not llms:
        raise ConfigurationError(
            "llms= is empty: name at least one model, or leave it out. A judge that asks no model is given as jury=, "
            "such as jury=grounding_screen()"
        )
    if isinstance(llm, list | tuple):
        raise ConfigurationError("llm= is one model; for several write llms=[...]")
    named = [name for name, value in (("llm", llm), ("llms", llms), ("jury", jury)) if value is not None]
    if len(named) > 1:
        raise ConfigurationError(f"give one of llm=, llms= and jury=, not {' and '.join(named)}")
    return tuple(llms or ()) if llm is None else (llm,)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _configured_llm() -> object | None:
    """Return ``Settings.llm`` if it was set explicitly.

    The property itself must not be read first: if it is unset, it creates an OpenAI model, or fails without that
    package, and evaluation would use a vendor that was not named. Only the private attribute shows the difference. If a
    later release renames it, no model is assumed, and one must be named. ``Settings.llm = None`` sets a plain MockLLM,
    which echoes its prompt: the model is then disabled, and must not judge.
    """
    if getattr(Settings, "_llm", None) is None or type(Settings.llm) is MockLLM:
        return None
    return Settings.llm


def _guidelines(given: str | Sequence[str]) -> str:
    if isinstance(given, str):
        return given.strip()
    if not isinstance(given, Sequence) or not all(isinstance(line, str) for line in given):
        raise ConfigurationError("guidelines= is a text or a list of texts")
    lines = [line.strip() for line in given if line.strip()]
    if len(lines) < 2:
        return "".join(lines)
    return "The answer meets every one of these guidelines:\n" + "\n".join(f"- {line}" for line in lines)
