"""Evaluators for the usual questions, ready to be handed to an evaluation loop.

Each takes models, or a jury that is there already, and gives a plain function; see :func:`jury_evaluator`. Models are
names (``"openai:gpt-4o-mini"``), LangChain chat models, or whatever else a :class:`Critic` takes; several make a panel
that votes. A :class:`Critic` of your own is a juror as it is::

    evaluate = faithfulness_evaluator("openai:gpt-4o-mini", "anthropic:claude-haiku-4-5")
    evaluate(inputs={"question": ...}, outputs={"answer": ..., "context": documents})["score"]

For an asynchronous function, or LangSmith results per juror, hand the jury behind it, ``panel("faithfulness", ...)`` of
:mod:`jury_adapters.judges.presets`,
to :func:`async_jury_evaluator` or :class:`JuryRunEvaluator`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypedDict, Unpack

from jury_adapters.core.budget import Budget
from jury_adapters.core.evidence import EvidenceTools
from jury_adapters.core.journal import StoreLike
from jury_adapters.core.judge import Judge
from jury_adapters.core.voting import Voting
from jury_adapters.core.voting.base import ErrorPolicy
from jury_adapters.judges import llm
from jury_adapters.judges.presets import JurorLike, panel
from jury_adapters.langchain.fields import Part
from jury_adapters.langchain.functions import EvaluatorFunction, jury_evaluator


class ReadyOptions(TypedDict, total=False):
    """The options of all ready evaluators.

    Attributes:
        name: the key of the results; the question's name by default.
        inputs: where the question is; see :class:`Fields`.
        outputs: where the answer is.
        reference_outputs: where the reference is.
        voting: how several models vote; by majority.
        errors: what a model that breaks counts as; by default as for :class:`jury_adapters.Ensemble`.
        evidence_tools: the tools whose outputs are contexts; see :func:`jury_evaluator`.
        trace: whether LangSmith may trace what the models are asked.
        store: where judgments are kept; see :func:`jury_evaluator`.
        budget: what all judgments may take; see :func:`jury_evaluator`.
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


def faithfulness_evaluator(*judges: JurorLike, **options: Unpack[ReadyOptions]) -> EvaluatorFunction:
    """Does everything in the answer follow from the contexts? Needs contexts and answer.

    Args:
        *judges: models, critics, or one ready jury.
        **options: see :class:`ReadyOptions`.

    Raises:
        ConfigurationError: no judge, or a model that cannot be used.
    """
    return _ready("faithfulness", llm.faithfulness, judges, options)


def relevance_evaluator(*judges: JurorLike, **options: Unpack[ReadyOptions]) -> EvaluatorFunction:
    """Does the answer address the question, right or wrong? Needs question and answer; else as its neighbours."""
    return _ready("relevance", llm.answer_relevance, judges, options)


def hallucination_evaluator(*judges: JurorLike, **options: Unpack[ReadyOptions]) -> EvaluatorFunction:
    """Is anything in the answer made up? Claim by claim; needs contexts and answer. 1.0 means that nothing is."""
    return _ready("hallucination", llm.hallucination, judges, options)


def correctness_evaluator(*judges: JurorLike, **options: Unpack[ReadyOptions]) -> EvaluatorFunction:
    """Is the answer right? By the reference where there is one, else by what the models know."""
    return _ready("correctness", llm.correctness, judges, options)


def trajectory_evaluator(*judges: JurorLike, **options: Unpack[ReadyOptions]) -> EvaluatorFunction:
    """Did the agent go about its task well? Judges all its steps, beside a reference trajectory when given.

    ``outputs`` and ``reference_outputs`` are lists of messages (LangChain's, or OpenAI-style dictionaries), mappings
    with ``messages``, or the graph trajectories of agentevals. Of a thread with several turns all of them are judged.
    """
    return _ready("trajectory", llm.trajectory, judges, options, whole_thread=True)


def _ready(
    question: str,
    make: Callable[..., Judge],
    judges: tuple[JurorLike, ...],
    options: ReadyOptions,
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
