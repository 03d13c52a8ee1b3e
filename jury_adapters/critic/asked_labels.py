"""Labels that the words of a prompt ask for, compared with the answers that the rubric allows.

A prompt that says *Answer GOOD or BAD* beside the labels YES and NO gives a critic that abstains on every case, because
no reply is one of its answers. :func:`check_asked_labels` finds such a prompt when the critic is made.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from jury_adapters.core.errors import ConfigurationError
from jury_adapters.critic.rubric import Rubric
from jury_adapters.critic.vocabulary import Labels, Unreadable


@lru_cache(maxsize=256)
def check_asked_labels(rubric: Rubric) -> None:
    """Check that the rubric's prompts ask for no other answers than the rubric allows.

    Only sentences that plainly list the answers count, such as *Answer GOOD or BAD.* and *Rate it from 1 to 5.*

    Raises:
        ConfigurationError: a prompt asks for a label or a scale that the rubric does not have; the message says what
            to give instead.
    """
    texts = (rubric.system_prompt, rubric.criteria, rubric.user_prompt)
    for text in texts:
        for names in _listed_labels(text):
            if any(isinstance(rubric.answers.read(name), Unreadable) for name in names):
                given = ", ".join(f'"{name}": "..."' for name in names)
                raise ConfigurationError(
                    f"the prompt asks for {' or '.join(names)}, but the answer must be {rubric.answers.instruction()}; "
                    f"give labels={{{given}}}, each with pass, fail, abstain or a score"
                )
    words = " ".join(texts)
    for low, high in (found for text in texts for found in _listed_scales(text)):
        if _allows(rubric, low, high, words):
            continue
        raise ConfigurationError(
            f"the prompt asks for a rating from {low} to {high}, but the answer must be "
            f"{rubric.answers.instruction()}; give scale={{'minimum': {low}, 'maximum': {high}}}"
        )


def _listed_labels(text: str) -> Iterator[list[str]]:
    """Yield the labels of each sentence that lists them, without those that are names of formats."""
    for match in _LISTED.finditer(text):
        names = [name.strip("\"'`*\u201c\u201d. ") for name in _SEPARATOR.split(match["labels"])]
        if len(names) > 1 and not _FORMATS.intersection(names):
            yield names


def _listed_scales(text: str) -> Iterator[tuple[int, int]]:
    for match in _RATING.finditer(text):
        low, high = int(match["low"]), int(match["high"])
        if low < high:
            yield low, high


def _allows(rubric: Rubric, low: int, high: int, words: str) -> bool:
    """Return whether a rating from low to high is an answer, or only a step on the way to a label that the text names.

    A prompt may say *Rate it from 1 to 5. Answer YES from 4 on.*
    """
    answers = rubric.answers
    if not isinstance(answers, Labels):
        return (answers.minimum, answers.maximum) == (low, high)
    if not any(isinstance(answers.read(number), Unreadable) for number in (low, high)):
        return True
    return any(re.search(rf"(?<!\w){re.escape(label.name)}(?!\w)", words) for label in answers.labels)


# Words with a capital letter count only when they are verdicts: a criterion may say "Answer English or French".
_WORDS = (
    "Yes|No|True|False|Correct|Incorrect|Right|Wrong|Good|Bad|Pass|Fail|Passed|Failed|Valid|Invalid|Safe|Unsafe|"
    "Relevant|Irrelevant|Supported|Unsupported|Accept|Reject|Acceptable|Unacceptable"
)
_QUOTED = r"\"[^\"\n]{1,30}\"|'[^'\n]{1,30}'|`[^`\n]{1,30}`|\u201c[^\u201d\n]{1,30}\u201d"
_LABEL = rf"(?:{_QUOTED}|N/A|[A-Z][A-Z0-9_]+|(?:{_WORDS})\b)"
_OR = r"(?:,\s*(?:or\s)?|\s+or\s+|\s*/\s*|\s*\|\s*)"
_LISTED = re.compile(
    r"(?:(?:^|[.!?:;]\s|\b(?:please|then|only|just)\s)\s*(?i:(?:please|then|only|just)\s)?"
    r"(?i:answer|reply|respond|output|choose|label it|classify it|say)"
    r"(?i:\s+(?:only|just|with|exactly|either|one of|one word|the word|the words|by))*\s*:?\s*"
    r"|[\"'](?:answer|verdict|label)[\"']\s*:\s*)"
    rf"(?P<labels>\**{_LABEL}\**(?:{_OR}\**{_LABEL}\**)+)",
    re.MULTILINE,
)
_SEPARATOR = re.compile(r",\s*(?:or\s)?|\s+or\s+|\s*(?<!\bN)/(?!A\b)\s*|\s*\|\s*", re.IGNORECASE)
_FORMATS = frozenset({"JSON", "XML", "YAML", "HTML", "CSV", "TOML", "SQL", "PDF", "TEXT", "MARKDOWN"})
_RATING = re.compile(
    r"(?:^|[.!?:;]\s)\s*(?:please\s)?(?:rate|score|grade|give|answer|reply|respond)\b[^.!?\n]{0,80}?"
    r"(?:from\s+|between\s+|scale of\s+)(?P<low>\d{1,3})\s*(?:to|and|-|\u2013)\s*(?P<high>\d{1,3})\b",
    re.MULTILINE | re.IGNORECASE,
)
