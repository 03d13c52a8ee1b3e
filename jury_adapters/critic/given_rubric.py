"""Rubric of a critic, made from the arguments that describe it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias, TypedDict

from pydantic import ValidationError

from jury_adapters.core.errors import ConfigurationError, plain_repr, unknown
from jury_adapters.critic.answers import Labels, Scale
from jury_adapters.critic.arguments import checked_prompt
from jury_adapters.critic.asking import find_rubric
from jury_adapters.critic.rubric import PLACEHOLDERS, Rubric
from jury_adapters.critic.template import Template

RubricLike: TypeAlias = Rubric | str | Path
LabelsLike: TypeAlias = Labels | Mapping[str, Any]
ScaleLike: TypeAlias = Scale | Mapping[str, float] | tuple[float, float]


class AnswerOptions(TypedDict, total=False):
    """Arguments that replace the answers of a rubric."""

    labels: LabelsLike | None
    scale: ScaleLike | None


def given_rubric(
    rubric: RubricLike | None,
    *,
    name: str = "",
    prompt: str | None = None,
    system_prompt: str | None = None,
    labels: LabelsLike | None = None,
    scale: ScaleLike | None = None,
) -> Rubric:
    """Return the rubric that a critic's arguments describe; see :class:`Critic` for each of them.

    Raises:
        ConfigurationError: no argument says what to judge, two arguments contradict each other, or one of them is
            invalid.
    """
    template = checked_prompt(prompt, "prompt")
    system = checked_prompt(system_prompt, "system_prompt")
    changes: dict[str, Any] = {} if system is None else {"system_prompt": system}
    changes |= _answers(labels, scale)
    if template is not None:
        if rubric is not None:
            raise ConfigurationError("give a rubric or prompt=, not both; a rubric has a user_prompt of its own")
        with _problems_in("prompt"):
            return Rubric(name=name or "prompt", user_prompt=_checked_template(template), **changes)
    if rubric is None:
        raise ConfigurationError(
            "what shall the critic judge? Give a rubric after the model: Critic(model, 'faithfulness'); or give prompt="
        )
    found = find_rubric(rubric)
    if not changes:
        return found
    with _problems_in("system_prompt" if "answers" not in changes else "labels" if labels is not None else "scale"):
        return found.model_copy(update=changes)


def _answers(labels: LabelsLike | None, scale: ScaleLike | None) -> dict[str, Labels | Scale]:
    if labels is not None and scale is not None:
        raise ConfigurationError("give labels= or scale=, not both: an answer is a label or a rating")
    if labels is not None:
        return {"answers": given_labels(labels)}
    return {} if scale is None else {"answers": _scale(scale)}


def given_labels(given: LabelsLike) -> Labels:
    """Return the labels of a mapping of each label to its meaning or score.

    Raises:
        ConfigurationError: it is not such a mapping; the message names the label.
    """
    if isinstance(given, Labels):
        return given
    if not isinstance(given, Mapping) or not given:
        raise ConfigurationError(
            f'labels is a mapping such as {{"POLITE": "pass", "RUDE": "fail"}}, not {plain_repr(given)}'
        )
    try:
        return Labels.model_validate({"labels": given})
    except ValidationError as error:
        names = list(given)
        problems = [
            (f"{plain_repr(names[where])}: " if isinstance(where, int) else "") + _plain(details["msg"])
            for details in error.errors()
            if details["type"] != "too_short"  # without the labels that are refused
            for where in [next((step for step in details["loc"] if isinstance(step, int)), None)]
        ]
        raise ConfigurationError(f"labels: {'; '.join(problems)}") from None


def _scale(given: ScaleLike) -> Scale:
    if isinstance(given, Scale):
        return given
    if isinstance(given, tuple | list) and len(given) == 2:
        given = dict(zip(("minimum", "maximum"), given, strict=True))
    if not isinstance(given, Mapping):
        raise ConfigurationError(
            "scale is the worst and the best rating, such as (1, 5), or a mapping such as "
            f'{{"minimum": 1, "maximum": 5}}, not {plain_repr(given)}'
        )
    with _problems_in("scale"):
        return Scale.model_validate(given)


def _checked_template(template: str) -> str:
    """Return the template if it has no unknown placeholder. The error says how to make a placeholder a variable."""
    names = Template(template).names
    for match in _LITERAL.finditer(template):
        name = match["doubled"] or match["looked_up"]
        if name in PLACEHOLDERS and name not in names:
            raise ConfigurationError(
                f"prompt: {match[0]} stays text, so the model would not see the {PLACEHOLDERS[name]}; write {{{name}}}"
            )
    own = [name for name in names if name not in (*PLACEHOLDERS, "criteria")]
    if own:
        raise ConfigurationError(
            f"prompt: {unknown('placeholder', own[0], PLACEHOLDERS)} For values of your own, which come with "
            f"each case: rubric=Rubric(name='...', user_prompt='...', variables={own!r}). To write it as text: "
            f"{{{{{own[0]}}}}}"
        )
    return template


# Placeholders of other template languages: {{answer}}, {answer!r}, {answer[0]}, {metadata.topic}, {answer:>10}.
_LITERAL = re.compile(r"\{\{\s*(?P<doubled>\w+)\s*\}\}|\{(?P<looked_up>\w+)[!.:\[][^{}\n]{0,60}\}")


@contextmanager
def _problems_in(argument: str) -> Iterator[None]:
    """Report a problem of a rubric as an error of the argument that caused it."""
    try:
        yield
    except ValidationError as error:
        said = "; ".join(_plain(details["msg"]) for details in error.errors())
        raise ConfigurationError(said if said.startswith(argument) else f"{argument}: {said}") from None


def _plain(message: str) -> str:
    return message.removeprefix("Value error, ")
