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
    for pattern in (_LISTED, _ONE_OF):
        for match in pattern.finditer(text):
            names = [_bare(name) for name in _SEPARATOR.split(match["labels"])]
            if len(names) > 1 and not _FORMATS.intersection(names):
                yield names
    for match in _OTHERWISE.finditer(text):
        yield [_bare(match["first"]), _bare(match["second"])]


def _bare(name: str) -> str:
    return name.strip("\"'`*\u201c\u201d. ")


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


_WORDS = (
    "yes|no|true|false|correct|incorrect|right|wrong|good|bad|pass|fail|passed|failed|valid|invalid|safe|unsafe|"
    "relevant|irrelevant|supported|unsupported|accept|reject|acceptable|unacceptable"
)
_QUOTED = r"\"[^\"\n]{1,30}\"|'[^'\n]{1,30}'|`[^`\n]{1,30}`|\u201c[^\u201d\n]{1,30}\u201d"
# Other words than these count only in capitals: a criterion may say "Answer English or French".
_LABEL = rf"\**(?:{_QUOTED}|N/A|[A-Z][A-Z0-9_]*(?![a-z0-9_])|(?i:{_WORDS})(?!\w))\**"
_OR = r"(?:,\s*(?:or\s)?|\s+or\s+|\s*/\s*|\s*\|\s*)"
_VERB = "(?i:answer|reply|respond|output|choose|return|write|say|label it|classify it)"
_BEGINS = r"(?:^|[.!?:;,]\s|\b(?:please|then|only|just)\s)\s*(?i:(?:please|then|only|just)\s)?"
_FILLER = r"(?i:\s+(?:only|just|with|exactly|either|one of|one word|the word|the words|by))*\s*:?\s*"
_MUST_BE = r"(?i:\byour (?:verdict|answer|reply|response|label|decision) (?:must|should|can|may|has to)(?: only)? be)"
_LISTED = re.compile(
    rf"(?:{_BEGINS}{_VERB}{_FILLER}|{_MUST_BE}{_FILLER}|^\s*(?i:label|verdict|answer)\s*:\s*"
    r"|[\"'](?:answer|verdict|label)[\"']\s*:\s*)"
    rf"(?P<labels>{_LABEL}(?:{_OR}{_LABEL})+)",
    re.MULTILINE,
)
_ONE_OF = re.compile(
    rf"{_BEGINS}(?i:answer|reply|respond|output|choose|label|classify)\b[^.!?:\n]{{0,60}}\b(?i:one of)"
    r"(?i:\s+(?:the following|these)(?:\s+(?:labels|words|answers))?)?\s*:\s*"
    r"(?P<labels>[\w/\"'`-]+(?:(?:,\s*(?:or\s)?|\s+or\s+)[\w/\"'`-]+)+)",
    re.MULTILINE,
)
_SPOKEN = rf"(?:{_QUOTED}|[A-Z][A-Z0-9_]+|\d|(?i:{_WORDS}))(?!\w)"
_OTHERWISE = re.compile(
    rf"\b{_VERB}(?i:\s+(?:only|just|with))*\s+(?P<first>{_SPOKEN})[^\n]{{0,200}}?\b(?i:otherwise|else),?\s+"
    rf"(?:{_VERB}(?i:\s+(?:only|just|with))*\s+)?(?P<second>{_SPOKEN})"
)
_SEPARATOR = re.compile(r",\s*(?:or\s)?|\s+or\s+|\s*(?<!\bN)/(?!A\b)\s*|\s*\|\s*", re.IGNORECASE)
_FORMATS = frozenset({"JSON", "XML", "YAML", "HTML", "CSV", "TOML", "SQL", "PDF", "TEXT", "MARKDOWN"})
_RATING = re.compile(
    r"(?:^|[.!?:;]\s)\s*(?:please\s)?(?:rate|score|grade|give|answer|reply|respond)\b[^.!?\n]{0,80}?"
    r"(?:from\s+|between\s+|scale of\s+)(?P<low>\d{1,3})\s*(?:to|and|-|\u2013)\s*(?P<high>\d{1,3})\b",
    re.MULTILINE | re.IGNORECASE,
)
