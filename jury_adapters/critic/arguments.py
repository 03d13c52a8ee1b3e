"""Checks of the arguments of critics. The error of each check names the argument and says what to write instead."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from math import inf
from os import PathLike
from pathlib import Path
from typing import ParamSpec

from jury_adapters.core import arguments
from jury_adapters.core.cache import JudgmentCache, open_cache
from jury_adapters.core.errors import ConfigurationError, plain_repr
from jury_adapters.core.values import unit_interval
from jury_adapters.critic.answers import Labels
from jury_adapters.critic.rubric import Rubric, bundled_rubrics
from jury_adapters.models.base import Named
from jury_adapters.models.registry import split_name
from jury_adapters.models.settings import MAX_TOKENS, TEMPERATURE
from jury_adapters.models.wrapped import WrappedModel

P = ParamSpec("P")

_log = logging.getLogger(__name__)


def checked_name(name: object) -> str:
    """Return the name. An empty name means the default."""
    if isinstance(name, str) and (not name or name.strip()):
        return name
    raise ConfigurationError(
        f"name is text, such as 'truth', or left out for '<rubric> <model>'; not {plain_repr(name)}"
    )


def checked_prompt(text: object, what: str) -> str | None:
    """Return the text of a prompt, or None if there is none."""
    if text is None or isinstance(text, str):
        return text
    raise ConfigurationError(f"{what}: it is text, not {plain_repr(text)}")


def checked_whole(number: object, what: str) -> int:
    """Return a whole number from 1."""
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise ConfigurationError(f"{what} is a whole number from 1, not {plain_repr(number)}")
    return number


def checked_temperature(temperature: object) -> float | None:
    """Return a finite number from 0, or None for the vendor's default."""
    if temperature is None:
        return None
    if isinstance(temperature, int | float) and not isinstance(temperature, bool) and 0 <= temperature < inf:
        return temperature
    raise ConfigurationError(
        f"temperature is a number from 0 (the most likely answer), or None for the vendor's own; "
        f"not {plain_repr(temperature)}"
    )


def checked_threshold(threshold: float | None) -> float | None:
    """Return a score from 0 to 1, or None for the rubric's own rule."""
    if threshold is None:
        return None
    if isinstance(threshold, bool):
        raise ConfigurationError(f"threshold is a score from 0 to 1, such as 0.7; not {plain_repr(threshold)}")
    return unit_interval(threshold, "threshold")


def check_own_settings(
    model: object, temperature: float | None, max_tokens: int | None, *, defaults: bool = False
) -> None:
    """Check that a critic does not ask for a setting that its model object decides itself.

    A temperature or a limit that the user has set on a model object of LangChain or LlamaIndex takes precedence, so
    another value would have no effect.

    Args:
        model: the model, as a critic holds it.
        temperature: the temperature of the critic.
        max_tokens: the limit of the critic.
        defaults: whether the user may have given a value that is the default of critics.

    Raises:
        ConfigurationError: a setting is neither that of the object nor the default.
    """
    if not isinstance(model, WrappedModel):
        return
    for name, value, default in (("temperature", temperature, TEMPERATURE), ("max_tokens", max_tokens, MAX_TOKENS)):
        own = model.own_setting(name)
        if own is not None and value not in (None, own, None if defaults else default):
            raise ConfigurationError(
                f"{name}={value:g} has no effect, because {model.name} has {name}={own:g} of its own; set it there, or "
                "leave it out here"
            )


def warn_of_equal_samples(model: Named, temperature: float | None, samples: int) -> None:
    """Log that several samples of a model hardly differ, because its most likely answer is asked for each time.

    Model objects of LangChain and LlamaIndex, and functions, may have a temperature of their own.

    Args:
        model: the model, as a critic holds it.
        temperature: the temperature of the critic.
        samples: the number of requests per case.
    """
    if samples > 1 and temperature == 0 and not isinstance(model, WrappedModel):
        _log.warning(
            "%s: samples=%d asks for the most likely answer each time, because the temperature is 0, so that a "
            "majority adds little; give a temperature too: 1, say, or None (in a file null) for the vendor's own",
            model.name,
            samples,
        )


def warn_of_unused_threshold(rubric: Rubric, threshold: float | None, *, logprobs: bool) -> None:
    """Log that a threshold has no effect, because no answer by the rubric has a score.

    Args:
        rubric: the rubric of a critic without a parser of its own.
        threshold: the lowest score that passes, or None.
        logprobs: whether the probabilities of the answer's tokens are its score.
    """
    answers = rubric.answers
    if threshold is None or logprobs or rubric.claims == "verified" or not isinstance(answers, Labels):
        return
    if all(label.score is None for label in answers.labels):
        names = ", ".join(label.name for label in answers.labels)
        _log.warning(
            "%s: threshold=%g has no effect, because its labels (%s) have no scores; give them scores, or the critic "
            "logprobs=True where the vendor has token probabilities",
            rubric.name, threshold, names,
        )  # fmt: skip


def checked_flag(flag: object, what: str) -> bool:
    """Return True or False. Values that are only truthy or falsy are refused."""
    if isinstance(flag, bool):
        return flag
    raise ConfigurationError(f"{what} is True or False, not {plain_repr(flag)}")


def checked_store(store: JudgmentCache | str | PathLike[str] | None) -> JudgmentCache | None:
    """Return the store, opened if a path is given."""
    if store is None or isinstance(store, str | PathLike | JudgmentCache):
        return open_cache(store)
    raise ConfigurationError(f"store is a Store, or the path of one, such as 'runs.db'; not {plain_repr(store)}")


def check_model_first(model: object, rubric: object, example: str) -> None:
    """Check that the model, which comes first, is not missing, and that it is not the rubric.

    Args:
        model: the first argument of a critic.
        rubric: the second one.
        example: a right call.

    Raises:
        ConfigurationError: the model is missing, or the arguments are in another order.
    """
    if not model:
        raise ConfigurationError(f"a critic needs a model: {example}")
    if isinstance(model, str) and model in bundled_rubrics():
        raise ConfigurationError(f"{plain_repr(model)} is a rubric, not a model; the model comes first: {example}")
    if isinstance(model, str) and rubric is not None and not isinstance(rubric, str | Path | Rubric | Sequence):
        kind = type(rubric).__name__
        raise ConfigurationError(
            f"a rubric is a Rubric, the name of one or a YAML file, not {kind}; the model comes first: {example}"
        )
    if isinstance(rubric, str) and split_name(rubric)[0] is not None:
        raise ConfigurationError(f"{plain_repr(rubric)} is a model, not a rubric; the model comes first: {example}")


def explains_wrong_calls(example: str, renamed: Mapping[str, str]) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """Return a decorator of a critic's constructor; see :func:`jury_adapters.core.arguments.explains_wrong_calls`."""
    return arguments.explains_wrong_calls(
        example,
        renamed,
        order="the model comes first, the rubric second, and all else by name",
        needs="a critic needs a model and a rubric",
    )
