"""Comparison of the labels that a prompt asks for with the answers that the rubric allows.

A prompt that says *Answer GOOD or BAD* with the labels YES and NO makes a critic that abstains on every case, because
no reply is one of its answers. :func:`check_asked_labels` finds such a prompt when the critic is made.

The check knows the common forms in several languages, not all forms. A prompt that it does not recognise makes a critic
that abstains. The reason of each abstention then names the label in the reply and the labels that the critic knows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from jury_adapters.core.errors import ConfigurationError
from jury_adapters.critic.answers import Labels, Unreadable
from jury_adapters.critic.label_lists import AskedLabels, defined_labels, listed_labels, listed_scales
from jury_adapters.critic.rubric import Rubric


@lru_cache(maxsize=256)
def check_asked_labels(rubric: Rubric) -> None:
    """Check that the rubric's prompts ask only for answers that the rubric allows.

    Only instructions to the judge that list the answers are checked, such as *Answer GOOD or BAD.*, *Rate it from 1 to
    5.* and a list of labels to choose from. Some prompts that ask for other answers are not recognised.

    Raises:
        ConfigurationError: a prompt asks for a label or a scale that the rubric does not have; the message says what
            to give instead.
    """
    texts = (rubric.system_prompt, rubric.criteria, rubric.user_prompt)
    for text in texts:
        for asked in (*listed_labels(text), *defined_labels(text)):
            if _is_other(asked, rubric, text):
                given = ", ".join(f'"{name}": "..."' for name in asked.names)
                raise ConfigurationError(
                    f"the prompt asks for {' or '.join(asked.names)}, but the answer must be "
                    f"{rubric.answers.instruction()}; give labels={{{given}}}, each with pass, fail, abstain or a score"
                )
    words = " ".join(texts)
    for low, high in (found for text in texts for found in listed_scales(text)):
        if _allows(rubric, low, high, words):
            continue
        raise ConfigurationError(
            f"the prompt asks for a rating from {low} to {high}, but the answer must be "
            f"{rubric.answers.instruction()}; give scale={{'minimum': {low}, 'maximum': {high}}}"
        )


def _is_other(asked: AskedLabels, rubric: Rubric, text: str) -> bool:
    """Return whether the labels that a text asks for are not answers of the rubric.

    A text that names two of the rubric's answers asks for those, so a list without any of them has another subject.
    """
    known = [not isinstance(rubric.answers.read(name), Unreadable) for name in asked.names]
    if any(known):
        return not all(known) and asked.is_complete
    return not isinstance(rubric.answers, Labels) or sum(_names(text, rubric.answers)) < 2


def _names(text: str, answers: Labels) -> Iterator[bool]:
    for label in answers.labels:
        yield re.search(rf"(?<!\w){re.escape(label.name)}(?!\w)", text) is not None


def _allows(rubric: Rubric, low: int, high: int, words: str) -> bool:
    """Return whether a rating from low to high is an answer, or only a step towards a label that the text names.

    A prompt may say *Rate it from 1 to 5. Answer YES from 4 on.*
    """
    answers = rubric.answers
    if not isinstance(answers, Labels):
        return (answers.minimum, answers.maximum) == (low, high)
    if not any(isinstance(answers.read(number), Unreadable) for number in (low, high)):
        return True
    return any(_names(words, answers))
