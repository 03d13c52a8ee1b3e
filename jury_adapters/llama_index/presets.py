"""Evaluators for the usual questions, under the names that LlamaIndex users know.

All of them take the same arguments, and look for a judge in this order: the ``jury=`` argument; the models in ``llm=``
or ``llms=``; ``Settings.llm``, if it was set explicitly, and not to a ``MockLLM``, which only repeats its prompt; the
offline judge, if there is one. Otherwise, the error says what to pass. No data go to a vendor that was not named, so
LlamaIndex's own default model is refused, too.

    >>> from llama_index.core.evaluation import BatchEvalRunner
    >>> panel = ["openai:gpt-4o-mini", "anthropic:claude-haiku-4-5"]
    >>> runner = BatchEvalRunner({"faithful": JuryFaithfulnessEvaluator(llms=panel)}, workers=8)  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from jury_adapters.core.case import Case
from jury_adapters.core.errors import ConfigurationError, plain_repr
from jury_adapters.core.judge import Judge
from jury_adapters.core.judgment import Judgment, abstain
from jury_adapters.critic.asking import AskingJudge
from jury_adapters.critic.critic import Critic
from jury_adapters.critic.pairwise import PairwiseCritic, in_both_orders
from jury_adapters.critic.rubric import Rubric
from jury_adapters.grounding.screen import ContextRelevance, grounding_screen
from jury_adapters.judges import llm as critics
from jury_adapters.judges.llm import ModelOptions
from jury_adapters.judges.presets import JurorLike
from jury_adapters.llama_index.graded_rubrics import GRADED_CONTEXT_RELEVANCE, graded_correctness
from jury_adapters.llama_index.preset_evaluator import PresetEvaluator, PresetOptions, with_shared_arguments
from jury_adapters.llama_index.prompts import RELEVANCY
from jury_adapters.models.registry import ModelLike


@with_shared_arguments
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


@with_shared_arguments
class JuryHallucinationEvaluator(PresetEvaluator):
    """Evaluate claim by claim whether the response makes anything up; passes (score 1.0) if it does not.

    Each claim is one of the findings of a model's judgment, with the quoted evidence: ``result.jurors[0].findings``.
    The evidence is not verified; the rubric ``faithfulness_claims`` does that. A model that passes a response although
    it calls a claim unsupported is asked again, and its judgment is an ERROR if it does so again. Needs response and
    contexts. If there is neither a model nor ``Settings.llm``, the :func:`jury_adapters.grounding_screen` judges. The
    arguments are those of :class:`PresetEvaluator`.
    """

    _subject = "hallucination"

    def _critic(self, model: ModelLike, options: ModelOptions) -> Judge:
        return critics.hallucination(model, **options)

    def _offline(self, options: ModelOptions) -> Judge:
        self._refuse(options, "give llm=, or leave it out")
        return grounding_screen()


@with_shared_arguments
class JuryRelevancyEvaluator(PresetEvaluator):
    """Evaluate whether the response answers the query in line with the contexts. Needs query, response, contexts.

    The arguments are those of :class:`PresetEvaluator`.
    """

    _subject = "relevancy"

    def _critic(self, model: ModelLike, options: ModelOptions) -> Judge:
        return Critic(model, RELEVANCY, **options).named("relevancy")


@with_shared_arguments
class JuryAnswerRelevancyEvaluator(PresetEvaluator):
    """Evaluate whether the response addresses the query, right or wrong. Needs query and response.

    The arguments are those of :class:`PresetEvaluator`.
    """

    _subject = "answer_relevancy"

    def _critic(self, model: ModelLike, options: ModelOptions) -> Judge:
        return critics.answer_relevance(model, **options)


@with_shared_arguments
class JuryContextRelevancyEvaluator(PresetEvaluator):
    """Evaluate the retriever: whether the contexts hold what the query needs. Needs query and contexts only.

    A model rates the contexts by the two questions of LlamaIndex's own evaluator, with up to four points. The score is
    their share, from 0 to 1, and three points pass. Several models in ``llms=`` vote PASS or FAIL, and the score is 1.0
    or 0.0; with ``voting="average"`` it is the mean share, and passes from three points too. If there is neither a
    model nor ``Settings.llm``, :class:`jury_adapters.checks.ContextRelevance` judges. Its score is the share of the
    query's content words that the contexts contain; it passes from ``threshold=`` (0..1, by default 0.5) upwards. The
    other arguments are those of :class:`PresetEvaluator`.

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

    def _own_options(self) -> Sequence[str]:
        return () if self._graded else ("graded",)

    def _offline(self, options: ModelOptions) -> Judge:
        rest: ModelOptions = {**options}
        threshold = rest.pop("threshold", None)
        self._refuse(rest, "give llm=, or leave it out")
        return ContextRelevance(threshold=0.5 if threshold is None else threshold)


@with_shared_arguments
class JuryCorrectnessEvaluator(PresetEvaluator):
    """Evaluate whether the response is right, by an item's ``reference=`` or, without one, by the model's knowledge.

    Needs query and response. The model rates from 1 to 5, as in LlamaIndex's own evaluator; the score of the result
    is from 0 to 1: 0.5 for a 3. Several models in ``llms=`` vote PASS or FAIL, and the score is 1.0 or 0.0; with
    ``voting="average"`` it is the mean of the ratings. The other arguments are those of :class:`PresetEvaluator`.

    Args:
        score_threshold: the lowest rating that passes, from 1 to 5; also that of a vote on the ratings.
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
        if score_threshold is not None and options.get("threshold") is not None:
            raise ConfigurationError(
                "give score_threshold=, a rating from 1 to 5, or threshold=, from 0 to 1; not both"
            )
        own = (("score_threshold", score_threshold), ("graded", not graded), ("reference_required", reference_required))
        self._own = [name for name, given in own if given]
        self._reference = True if reference_required else None
        self._rubrics = graded_correctness(4.0 if score_threshold is None else score_threshold) if graded else None
        super().__init__(llm, **options)

    def _critic(self, model: ModelLike, options: ModelOptions) -> Judge:
        if self._rubrics is None:
            return critics.correctness(model, reference=self._reference, **options)
        if self._reference:
            return Critic(model, self._rubrics[0], **options).named("correctness")
        return critics.CorrectnessByCase(model, rubrics=self._rubrics, **options)

    def _own_options(self) -> Sequence[str]:
        return self._own


@with_shared_arguments
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
        if jury is None and not self._guidelines and not isinstance(llm, Judge):
            raise ConfigurationError("which guidelines? Give guidelines='The answer names its source.'")
        super().__init__(llm, **options)

    def _own_options(self) -> Sequence[str]:
        return ("guidelines",) if self._guidelines else ()

    def _critic(self, model: ModelLike, options: ModelOptions) -> Judge:
        rubric = Rubric.from_criteria(self._guidelines, name="guidelines")
        return Critic(model, rubric, **options).named("guidelines")


@with_shared_arguments
class JuryPairwiseEvaluator(PresetEvaluator):
    """Evaluate whether the response is better than ``second_response=``; asks in both orders against position bias.

    ``score`` is 1.0 if the response is better, 0.0 if the second one is, 0.5 for a tie; only 1.0 is ``passing``.
    ``pairwise_source`` is ``"original"`` if the result holds with the response shown first (and, asked in both orders,
    also with the second one first), ``"flipped"`` if an existing jury was asked only with the second one first, and
    ``"neither"`` if the orders disagree or the vote is tied: no preference won then, and the score is 0.5. The label of
    ``result.verdict`` is ``A``, ``B`` or ``tie`` accordingly. A judge that gives no decision in one order has no vote;
    without any vote the result is invalid. ``errors="fail"`` is refused, because no label means FAIL.

    Args:
        llm: the judge; see :class:`PresetEvaluator` for this and the other arguments. An existing Critic has the rubric
            ``pairwise``, or another whose labels are A, B and tie; any other judge or function has these labels.
        swap: whether to ask in both orders: models, and existing judges, juries and functions, which are wrapped if
            they do not do so themselves. With False, an existing jury is asked as it is.
    """

    _subject = "pairwise"

    def __init__(
        self,
        llm: JurorLike | None = None,
        *,
        swap: bool = True,
        **options: Unpack[PresetOptions],
    ) -> None:
        if options.get("errors") == "fail" and options.get("jury") is None:
            raise ConfigurationError(
                "JuryPairwiseEvaluator: errors='fail' is for PASS and FAIL, and a comparison has neither. Leave errors "
                "out, and the other judges decide without one that breaks; errors='propagate' makes the result invalid"
            )
        self._swap = swap
        super().__init__(llm, **options)

    def _critic(self, model: ModelLike, options: ModelOptions) -> Judge:
        return critics.pairwise(model, swap=self._swap, **options)

    def _seated(self, judge: Judge) -> Judge:
        if self._swap:
            return in_both_orders(judge)
        return PairwiseCritic(judge, swap=False) if isinstance(judge, AskingJudge) else judge

    @property
    def _compares(self) -> bool:
        return True

    @property
    def _prefers(self) -> bool:
        return True

    def _unfit(self, case: Case) -> Judgment | None:
        if case.candidates:
            return None
        missing = "second_response=" if case.answer else "response= and second_response="
        return abstain(f"nothing to compare: it takes two answers; give {missing}", critic=self.jury.name)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _guidelines(given: str | Sequence[str]) -> str:
    if isinstance(given, str):
        return given.strip()
    if not isinstance(given, Sequence) or not all(isinstance(line, str) for line in given):
        raise ConfigurationError("guidelines= is a text or a list of texts")
    lines = [line.strip() for line in given if line.strip()]
    if len(lines) < 2:
        return "".join(lines)
    return "The answer meets every one of these guidelines:\n" + "\n".join(f"- {line}" for line in lines)
