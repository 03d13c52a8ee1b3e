"""Texts in the JSON of cases that are known only at the end: names of jurors, and relations to human labels."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping
from typing import TypeAlias
from uuid import uuid4

from jury_adapters.core.label_reading import Opinion, Reading
from jury_adapters.core.opinions import Path

Relation: TypeAlias = tuple[str, Opinion | None]
"""Human label of a case, and the opinion of its verdict."""


class LateTexts:
    """Marks in JSON, which are replaced by texts at the end."""

    def __init__(self) -> None:
        mark = uuid4().hex  # no text of the page has it
        self._mark = mark
        self._pattern = re.compile(f',"human":"{mark}([0-9]+);"|{mark}([0-9]+);')
        self._known: dict[tuple[str, Hashable], str] = {}
        self._names: dict[int, tuple[Path, str]] = {}
        self._relations: dict[int, Relation] = {}

    def name(self, path: Path, ending: str = "") -> str:
        """Return the mark of the name of a juror, followed by another text."""
        key = ("name", (path, ending))
        mark = self._known.get(key)
        if mark is None:
            mark = self._new(key)
            self._names[len(self._known) - 1] = path, ending
        return mark

    def relation(self, relation: Relation) -> str:
        """Return the mark of the relation of a verdict to the human label, which is the value of ``"human"``."""
        key = ("relation", relation)
        mark = self._known.get(key)
        if mark is None:
            mark = self._new(key)
            self._relations[len(self._known) - 1] = relation
        return mark

    def replacing(
        self, encode: Callable[[str], str], names: Mapping[Path, str], reading: Reading
    ) -> Callable[[str], str]:
        """Return a function that replaces the marks in JSON.

        Args:
            encode: converts a text to JSON, with its quotation marks.
            names: the names of the jurors.
            reading: the way in which verdicts are compared with human labels.
        """
        texts = {str(at): encode(names[path] + ending)[1:-1] for at, (path, ending) in self._names.items()}
        for at, (truth, said) in self._relations.items():
            relation = beside_label(truth, said, reading)
            texts[str(at)] = f',"human":{encode(relation)}' if relation else ""
        return lambda text: self._pattern.sub(lambda found: texts[found[1] or found[2]], text)

    def _new(self, key: tuple[str, Hashable]) -> str:
        mark = self._known[key] = f"{self._mark}{len(self._known)};"
        return mark


def beside_label(truth: str, said: Opinion | None, reading: Reading) -> str:
    """Return how an opinion compares with a human label; empty if the two cannot be compared."""
    if reading.problem:
        return ""
    opinion, true = reading.opinion(said), reading.truth(truth)
    if opinion is None:
        return "not decided"
    if opinion == true:
        return "agrees"
    return f"false {opinion.lower()}" if reading.pass_fail else "differs"
