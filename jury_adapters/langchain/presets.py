"""Evaluator functions for the usual questions.

Each one takes models, or an existing jury, and returns a plain function; see :func:`jury_evaluator`. Models are
names (``"openai:gpt-4o-mini"``), LangChain chat models, or anything else that a :class:`Critic` accepts; several models
form a panel that votes. A :class:`Critic` is used as a juror unchanged::

    evaluate = faithfulness_evaluator("openai:gpt-4o-mini", "anthropic:claude-haiku-4-5")
    evaluate(inputs={"question": ...}, outputs={"answer": ..., "context": documents})["score"]

For an asynchronous function, or LangSmith results per juror, pass the underlying jury, ``panel("faithfulness", ...)``
of :mod:`jury_adapters.judges.presets`, to :func:`async_jury_evaluator` or :class:`JuryRunEvaluator`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypedDict, Unpack

from jury_adapters.core.budget import Budget
from jury_adapters.core.cache import StoreLike
from jury_adapters.core.evidence import EvidenceTools
from jury_adapters.core.judge import Judge
from jury_adapters.core.voting import Voting
from jury_adapters.core.voting.base import ErrorPolicy
from jury_adapters.judges import llm
from jury_adapters.judges.presets import JurorLike, panel
from jury_adapters.langchain.fields import Part
from jury_adapters.langchain.functions import EvaluatorFunction, jury_evaluator


class PresetOptions(TypedDict, total=False):
    """Options of all preset evaluators.

    Attributes:
        name: the key of the results; by default the question's name.
        inputs: where the question is; see :class:`Fields`.
        outputs: where the answer is.
        reference_outputs: where the reference is.
        voting: the voting rule for several models; by default the majority.
        errors: the policy for a model that fails; the default is that of :class:`jury_adapters.Ensemble`.
        evidence_tools: the tools whose outputs are contexts; see :func:`jury_evaluator`.
        trace: whether LangSmith may trace the requests to the models.
        store: where judgments are kept; see :func:`jury_evaluator`.
        budget: the budget for all judgments; see :func:`jury_evaluator`.
    """

    name: str
    inputs: Part | None
    outputs: Part | None
    reference_outputs: Part | None
    voting: Voting
    errors: ErrorPolicy | None
    evidence_tools: EvidenceTools
    trace: bool
    store: StoreLike | None
    budget: Budget | None


def faithfulness_evaluator(*judges: JurorLike, **options: Unpack[PresetOptions]) -> EvaluatorFunction:
    """Return an evaluator of whether the contexts support everything in the answer. Needs contexts and answer.

    Args:
        *judges: models, critics, or one complete jury.
        **options: see :class:`PresetOptions`.

    Raises:
        ConfigurationError: there is no judge, or a model cannot be used.
    """
    return _ready("faithfulness", llm.faithfulness, judges, options)


def relevance_evaluator(*judges: JurorLike, **options: Unpack[PresetOptions]) -> EvaluatorFunction:
    """Return an evaluator of whether the answer addresses the question, right or wrong. Needs question and answer.

    Arguments and errors are those of :func:`faithfulness_evaluator`.
    """
    return _ready("relevance", llm.answer_relevance, judges, options)


def hallucination_evaluator(*judges: JurorLike, **options: Unpack[PresetOptions]) -> EvaluatorFunction:
    """Return an evaluator of whether any claim in the answer is made up (1.0: none). Needs contexts and answer.

    Arguments and errors are those of :func:`faithfulness_evaluator`.
    """
    return _ready("hallucination", llm.hallucination, judges, options)


def correctness_evaluator(*judges: JurorLike, **options: Unpack[PresetOptions]) -> EvaluatorFunction:
    """Return an evaluator of whether the answer is right, by the reference or, without one, by the models' knowledge.

    Arguments and errors are those of :func:`faithfulness_evaluator`.
    """
    return _ready("correctness", llm.correctness, judges, options)


def trajectory_evaluator(*judges: JurorLike, **options: Unpack[PresetOptions]) -> EvaluatorFunction:
    """Return an evaluator of all steps of an agent, compared with a reference trajectory if there is one.

    ``outputs`` and ``reference_outputs`` are lists of messages (LangChain's, or OpenAI-style dictionaries), mappings
    with ``messages``, or the graph trajectories of agentevals. In a thread with several turns, all turns are judged.
    Arguments and errors are those of :func:`faithfulness_evaluator`.
    """
    return _ready("trajectory", llm.trajectory, judges, options, whole_thread=True)


def _ready(
    question: str,
    make: Callable[..., Judge],
    judges: tuple[JurorLike, ...],
    options: PresetOptions,
    *,
    whole_thread: bool = False,
) -> EvaluatorFunction:
    name = options.get("name", question)
    jury = panel(make, *judges, voting=options.get("voting", "majority"), errors=options.get("errors"), name=name)
    return jury_evaluator(
        jury,
        inputs=options.get("inputs"),
        outputs=options.get("outputs"),
        reference_outputs=options.get("reference_outputs"),
        name=name,
        whole_thread=whole_thread,
        evidence_tools=options.get("evidence_tools"),
        trace=options.get("trace", False),
        store=options.get("store"),
        budget=options.get("budget"),
    )
