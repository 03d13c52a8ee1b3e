"""Ready-made panel: several models, one question, one vote. Both adapters use it for the juries of their evaluators."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias, TypedDict

from jury_adapters.core.ensemble import Ensemble
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.judge import Judge
from jury_adapters.core.scheduling import Schedule
from jury_adapters.core.voting import Voting, VotingOptions
from jury_adapters.core.voting.base import ErrorPolicy
from jury_adapters.critic.critic import Critic
from jury_adapters.critic.decision import DecisionCritic
from jury_adapters.critic.rubric import Rubric
from jury_adapters.models.registry import ModelLike

JurorLike: TypeAlias = ModelLike | Judge


class PanelOptions(TypedDict, total=False):
    """Options of :func:`panel` for the vote of several jurors."""

    voting: Voting
    schedule: Schedule
    errors: ErrorPolicy | None


def panel(
    rubric: str | Rubric | Callable[[ModelLike], Judge],
    *jurors: JurorLike,
    voting: Voting = "majority",
    schedule: Schedule = "parallel",
    errors: ErrorPolicy | None = None,
    name: str = "",
) -> Judge:
    """Create a judge from models and judges. Several become an :class:`jury_adapters.Ensemble`.

    Args:
        rubric: the rubric for all models, or its name; or a function that makes a critic of a model.
        *jurors: models, critics or juries. A judge keeps its name; the critic of one of several models is called
            ``"<rubric> <model>"``. A single juror is the result, without a vote, unless ``errors`` is given.
        voting: the rule by which several jurors vote.
        schedule: the order in which several jurors are asked; ``"early_stop"`` stops asking when the vote is settled.
        errors: the effect of a juror that breaks, also of a single one; by default as for
            :class:`jury_adapters.Ensemble`.
        name: the panel's name in verdicts.

    Raises:
        ConfigurationError: there is no juror, or a model cannot be used.

    >>> panel("faithfulness", "openai:gpt-4o-mini", "anthropic:claude-haiku-4-5")  # doctest: +SKIP
    """
    if not jurors:
        raise ConfigurationError(f"{name or 'the panel'} needs a model or a jury: 'openai:gpt-4o-mini'")
    make = rubric if callable(rubric) else _critics_with(rubric)
    if len(jurors) == 1 and errors is None:
        (only,) = jurors
        return only if isinstance(only, Judge) else make(only)
    judges = [juror if isinstance(juror, Judge) else _named_after_model(make(juror)) for juror in jurors]
    options: VotingOptions = {} if errors is None else {"errors": errors}
    return Ensemble(judges, voting=voting, schedule=schedule, name=name, **options)


def _critics_with(rubric: str | Rubric) -> Callable[[ModelLike], Judge]:
    name = rubric if isinstance(rubric, str) else rubric.name
    return lambda model: Critic(model=model, rubric=rubric).named(name)


def _named_after_model(juror: Judge) -> Judge:
    return juror.named(f"{juror.name} {next(_models(juror), '')}".strip())


def _models(judge: Judge) -> Iterator[str]:
    if isinstance(judge, Critic | DecisionCritic):
        yield judge.model.model
    for member in judge.members:
        yield from _models(member)
