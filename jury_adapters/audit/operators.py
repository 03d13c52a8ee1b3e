"""Changes of a right answer: those of the example cases, which are data, and those that are made of other cases.

The changed answers of the examples were made by rules, and a person read half of them. Of other cases, only a few
kinds of error can be made so that the answer is certainly wrong. Sentences with a negation, a bound, a range, a
quantifier or a question are left alone.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import resources
from itertools import chain, islice
from random import Random
from typing import Any, NamedTuple

from jury_adapters.core.case import Case
from jury_adapters.grounding import NamesAndNumbers, looks_english


class Mutant(NamedTuple):
    """Changed answer, and the change in a few words."""

    answer: str
    change: str


@cache
def data(name: str) -> Any:
    """Return a file of JSON that comes with the package."""
    return json.loads(resources.files(__package__).joinpath(f"{name}.json").read_text("utf-8"))


@cache
def example_cases() -> tuple[Case, ...]:
    """Return the 60 cases that come with the package: invented facts, and right answers about them."""
    return tuple(map(Case.model_validate, data("cases")))


def example_mutants(operator: str) -> dict[str, list[Mutant]]:
    """Return the answers of the examples that an operator changed, by the id of the case."""
    answers = {case.id: case.answer or "" for case in example_cases()}
    found: dict[str, list[Mutant]] = {}
    for name, start, end, new, change in data("mutants")[operator]["mutants"]:
        found.setdefault(name, []).append(Mutant(answers[name][:start] + new + answers[name][end:], change))
    return found


_SENTENCE = re.compile(r"(?:[^.!?\n]|[.!?](?!\s|$))+[.!?]?")
_UNSAFE = re.compile(
    r"(?i)\b(?:no|not|never|none|nobody|nothing|neither|nor|without|cannot|\w+n't|only|least|most|up to|more than"
    r"|less than|fewer than|over|under|above|below|about|around|some|nearly|almost|approximately|roughly|between|from"
    r"|until|or|if|unless|except|all|every|each|any|both|always|half|either|may|might|could|should|would)\b|\?"
    r"|\d ?[-\u2013] ?\d"
)
_NUMBER = re.compile(r"(?<![\w.,:/-])\d{1,6}(?:\.\d+)?(?![\w:/-]|[.,]\d)")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{2,}(?: [A-Z][a-z]{2,})*")
_VERB = re.compile(r"\b(?:is|are|was|were|can|must|will)\b")


def _safe_sentences(answer: str) -> list[re.Match[str]]:
    return [found for found in _SENTENCE.finditer(answer) if found[0].strip() and not _UNSAFE.search(found[0])]


def _is_foreign(case: Case, answer: str) -> bool:
    """Whether an answer has a number or a name that the case does not have."""
    changed = {"answer": answer, "contexts": (*case.contexts, case.reference or "")}
    return bool(NamesAndNumbers().check(case.model_copy(update=changed)).findings)


def _replaced(case: Case, pattern: re.Pattern[str], others: Callable[[str], list[str]]) -> Iterator[Mutant]:
    """Yield the answers in which one place of a safe sentence, of what the sources say, has what no source has."""
    answer, sources = case.answer or "", " ".join((*case.contexts, case.reference or ""))
    for sentence in _safe_sentences(answer):
        for found in pattern.finditer(answer, sentence.start(), sentence.end()):
            start, end = found.span()
            changed = (
                Mutant(f"{answer[:start]}{new}{answer[end:]}", f"{found[0]} -> {new}") for new in others(found[0])
            )
            if re.search(rf"(?<!\w){re.escape(found[0])}(?!\w)", sources):
                yield from islice((one for one in changed if _is_foreign(case, one.answer)), 1)


def _number(case: Case, random: Random) -> Iterator[Mutant]:
    larger = random.sample(range(1, 60), 6)
    return _replaced(
        case, _NUMBER, lambda old: [f"{2 * float(old) + more:.{len(old.partition('.')[2])}f}" for more in larger]
    )


def _name(case: Case, random: Random) -> Iterator[Mutant]:
    names = sorted({found for one in example_cases() if one != case for found in _NAME.findall(one.answer or "")})
    random.shuffle(names)
    return _replaced(case, _NAME, lambda old: [one for one in names if one.count(" ") == old.count(" ")][:3])


def _negation(case: Case, _: Random) -> Iterator[Mutant]:
    answer = case.answer or ""
    for sentence in _safe_sentences(answer) if looks_english(answer) else ():
        if verb := _VERB.search(answer, sentence.start(), sentence.end()):
            yield Mutant(f"{answer[: verb.end()]} not{answer[verb.end() :]}", f"{verb[0]} -> {verb[0]} not")


def _foreign_sentence(case: Case, random: Random) -> Iterator[Mutant]:
    others = random.sample([one for one in example_cases() if one != case], 10)
    lines = chain(*(_safe_sentences(one.answer or "") for one in others))
    for line in (found[0].strip() for found in lines):
        if looks_english(case.answer or "") and _is_foreign(case, line):
            yield Mutant(f"{case.answer} {line}", f"added: {line}")


def _layout(case: Case, _: Random) -> Iterator[Mutant]:
    lines = [line for found in _SENTENCE.findall(case.answer or "") if (line := found.strip())]
    if len(lines) > 1 and "- " not in (case.answer or ""):
        yield Mutant("\n".join(f"- {line}" for line in lines), "as a list")


OWN: Mapping[str, Callable[[Case, Random], Iterator[Mutant]]] = {
    "number": _number,
    "name": _name,
    "negation": _negation,
    "foreign_sentence": _foreign_sentence,
    "layout": _layout,
}
"""The operators that can be made of any case; ``negation`` and ``foreign_sentence`` of answers in English."""
OPERATORS: dict[str, str] = {name: found["what"] for name, found in data("mutants").items()}
"""The operators by name, and what each changes. All can be made of the examples."""
