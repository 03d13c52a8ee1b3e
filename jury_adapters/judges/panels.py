"""Juries ready made: several models with one rubric, and a cascade for retrieval pipelines."""

from pathlib import Path
from typing import Any

from jury_adapters.core.cascade import CascadedJury, Tier
from jury_adapters.core.ensemble import Ensemble, Scorecard
from jury_adapters.core.judge import Judge
from jury_adapters.critic.critic import Critic
from jury_adapters.critic.rubric import Rubric
from jury_adapters.grounding import NamesAndNumbers
from jury_adapters.judges.text import NotEmpty
from jury_adapters.models.names import model_of


def panel(rubric: Rubric | str | Path, *models: Any, **ensemble_options: Any) -> Ensemble:
    """Return an ensemble of critics with one rubric.

    Args:
        rubric: the rubric: a :class:`Rubric`, the name of one that comes with the package, or the path of a YAML file.
        *models: models, as for :class:`Critic`, at least one; and judges of the same question, which vote with them.
        **ensemble_options: options of :class:`Ensemble`, such as ``voting="unanimous"``, and ``name=``.

    Raises:
        ConfigurationError: there is no model, or one cannot be used, or an option is wrong.

    >>> from jury_adapters.testing import ScriptedModel
    >>> yes = ScriptedModel(['{"reasoning": "It is so.", "answer": "YES"}'])
    >>> panel("answer_relevance", yes, yes, voting="unanimous").judge(question="2 + 2?", answer="4").agreement
    1.0
    """
    return Ensemble([one if isinstance(one, Judge) else Critic(one, rubric) for one in models], **ensemble_options)


def rag_jury(*models: Any, name: str = "rag_jury", **ensemble_options: Any) -> CascadedJury:
    """Return a jury for the answers of a retrieval pipeline: free checks come first, the models last.

    The tiers, in order: ``screen`` rejects a blank answer, and one with names or numbers that the contexts do not have
    (see :class:`NamesAndNumbers`). ``relevance`` asks the first model whether the contexts have what the question
    needs, and a NO rejects. ``criteria`` is a scorecard of faithfulness, hallucination and relevance of the answer, in
    which all models vote on each: a refusal is faithful, and not relevant.

    Args:
        *models: models, as for :class:`Critic`, at least one; preferably of different vendors.
        name: the name in verdicts.
        **ensemble_options: options of the :class:`Ensemble` of each criterion; ``voting="unanimous"`` by default.

    Raises:
        ConfigurationError: there is no model, or one cannot be used, or an option is wrong.

    >>> rag_jury("openai:gpt-4o-mini", "anthropic:claude-haiku-4-5")  # doctest: +SKIP
    """
    opened = [model_of(model) for model in models]  # once, so that the critics of a model share its limits
    criteria = {
        rubric: panel(rubric, *opened, **{"voting": "unanimous"} | ensemble_options)
        for rubric in ("faithfulness", "hallucination", "answer_relevance")
    }
    return CascadedJury(
        [
            Tier("screen", Ensemble([NotEmpty(), NamesAndNumbers()]), "reject_on_any_fail"),
            Tier("relevance", Critic(opened[0], "context_relevance"), "reject_on_any_fail"),
            Tier("criteria", Scorecard(criteria)),
        ],
        name=name,
    )
