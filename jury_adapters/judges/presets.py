"""Ready-made panel: several models, one rubric, one vote. Both adapters use it for the juries of their evaluators."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from inspect import iscoroutinefunction
from pathlib import Path
from typing import TypeAlias, TypedDict, Unpack

from jury_adapters.core.arguments import explains_wrong_calls
from jury_adapters.core.ensemble import Ensemble
from jury_adapters.core.errors import ConfigurationError, plain_repr
from jury_adapters.core.judge import Judge
from jury_adapters.core.scheduling import Schedule, checked_schedule
from jury_adapters.core.voting import Voting, VotingOptions, resolve
from jury_adapters.core.voting.base import ErrorPolicy
from jury_adapters.critic.arguments import checked_name
from jury_adapters.critic.asking import AskingJudge
from jury_adapters.critic.critic import Critic
from jury_adapters.critic.rubric import Rubric, bundled_rubrics
from jury_adapters.models.base import ChatModel
from jury_adapters.models.registry import ModelLike, check_sdks, split_name

JurorLike: TypeAlias = ModelLike | Judge
_EXAMPLE = "panel('faithfulness', 'openai:gpt-4o-mini')"


class PanelOptions(TypedDict, total=False):
    """Options of :func:`panel` for the vote of several jurors."""

    voting: Voting
    schedule: Schedule
    errors: ErrorPolicy | None


@explains_wrong_calls(
    _EXAMPLE,
    {"strategy": "voting", "vote": "voting", "timeout": "juror_timeout"},
    needs="a panel needs a rubric and models",
    hint=" An option of the critics goes to each of them: panel(lambda model: Critic(model, rubric, labels=...), ...).",
)
def panel(
    rubric: str | Path | Rubric | Callable[[ModelLike], Judge],
    *jurors: JurorLike,
    voting: Voting = "majority",
    schedule: Schedule = "parallel",
    errors: ErrorPolicy | None = None,
    juror_timeout: float | None = None,
    name: str = "",
) -> Ensemble:
    """Create an ensemble of critics with one rubric.

    Args:
        rubric: the rubric for all models: a :class:`Rubric`, the name of one that comes with the package, or the path
            of a YAML file; or a function that makes a critic of a model.
        *jurors: models, critics or juries, at least one. A judge keeps its name; the critic of a model is called
            ``"<rubric> <model>"``.
        voting: the rule by which the jurors vote.
        schedule: the order in which the jurors are asked; ``"early_stop"`` stops asking when the vote is settled.
        errors: the effect of a juror that breaks; by default as for :class:`jury_adapters.Ensemble`.
        juror_timeout: time limit per juror in seconds, after which its judgment is ERROR ``timeout``; by default none
            but the limits of its model, which may try for minutes.
        name: the panel's name in verdicts.

    Raises:
        ConfigurationError: there is no juror, a model cannot be used, or an option is invalid.

    >>> panel("faithfulness", "openai:gpt-4o-mini", "anthropic:claude-haiku-4-5")  # doctest: +SKIP
    """
    name = checked_name(name)
    _check_rubric_first(rubric)
    if not jurors:
        raise ConfigurationError(f"{name or 'the panel'} needs a model or a jury: 'openai:gpt-4o-mini'")
    for juror in jurors:
        if isinstance(juror, str) and juror in bundled_rubrics():
            raise ConfigurationError(
                f"{plain_repr(juror)} is a rubric, not a model; a panel has one rubric: {_EXAMPLE}"
            )
    check_sdks(jurors)
    judges = [juror if isinstance(juror, Judge) else _critic(rubric, juror) for juror in jurors]
    options: VotingOptions = {} if errors is None else {"errors": errors}
    return Ensemble(judges, voting=voting, schedule=schedule, juror_timeout=juror_timeout, name=name, **options)


def one_or_panel(
    make: Callable[[ModelLike], Judge], *jurors: JurorLike, name: str = "", **vote: Unpack[PanelOptions]
) -> Judge:
    """Create a judge from models and judges: a single one is the result, without a vote; several become a panel.

    Args:
        make: makes a critic of a model.
        *jurors: as for :func:`panel`.
        name: the panel's name in verdicts.
        **vote: options of the vote. With ``errors``, a single juror is a panel, too.

    Raises:
        ConfigurationError: there is no juror, or a model cannot be used.
    """
    if len(jurors) == 1 and vote.get("errors") is None:
        (only,) = jurors
        check_vote(vote)
        return only if isinstance(only, Judge) else make(only)
    return panel(make, *jurors, name=name, **vote)


def check_vote(vote: PanelOptions) -> None:
    """Check the voting rule and the schedule of a panel, also where a single juror leaves nothing to vote about.

    Raises:
        ConfigurationError: one of them is unknown.
    """
    resolve(vote.get("voting", "majority"))
    checked_schedule(vote.get("schedule", "parallel"))


def _check_rubric_first(rubric: object) -> None:
    """Check that the rubric, which comes first in a panel, is not a model or a judge."""
    if isinstance(rubric, str):
        if split_name(rubric)[0] is not None:
            raise ConfigurationError(f"{plain_repr(rubric)} is a model; the rubric comes first: {_EXAMPLE}")
        return
    makes_critics = callable(rubric) and not isinstance(rubric, Judge | ChatModel) and not iscoroutinefunction(rubric)
    if not makes_critics and not isinstance(rubric, Path | Rubric):
        raise ConfigurationError(
            f"a rubric is a Rubric, the name of one or a YAML file, not {plain_repr(rubric)}; the rubric comes first, "
            f"then the models: {_EXAMPLE}"
        )


def _critic(rubric: str | Path | Rubric | Callable[[ModelLike], Judge], model: ModelLike) -> Judge:
    return _named_after_model(rubric(model)) if callable(rubric) else Critic(model, rubric)


def _named_after_model(juror: Judge) -> Judge:
    model = next(_models(juror), "")
    return juror if juror.name.endswith(model) else juror.named(f"{juror.name} {model}")


def _models(judge: Judge) -> Iterator[str]:
    if isinstance(judge, AskingJudge):
        yield judge.model.model
    for member in judge.members:
        yield from _models(member)
