"""Cases that ``jury review`` asks about, and their order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Literal, TypeAlias

from jury_adapters.core.errors import ConfigurationError

if TYPE_CHECKING:
    from jury_adapters.report.entries import Entry

Which: TypeAlias = Literal["escalated", "contested", "all"]


@dataclass(frozen=True, slots=True)
class Selection:
    """Choice of the cases to ask about.

    Attributes:
        only: the kind of cases.
        sample: the number of cases to draw at random; None for all of the kind.
    """

    only: Which
    sample: int | None = None

    @classmethod
    def of(cls, only: Which | None, sample: int | None) -> Selection:
        """Return the selection of the options; a sample is one of all cases.

        Raises:
            ConfigurationError: the sample is to be one of selected cases.
        """
        if sample is not None and only not in (None, "all"):
            raise ConfigurationError(f"--sample draws from all cases, not from those of --only {only}; use --limit")
        return cls(only or ("contested" if sample is None else "all"), sample)

    def __str__(self) -> str:
        return f"--only {self.only}" + ("" if self.sample is None else f" --sample {self.sample}")

    def choose(self, entries: Sequence[Entry]) -> list[Entry]:
        """Return the cases to ask about, in order.

        With ``all``, the order is random and always the same. The cases labelled first are therefore a fair sample,
        which calibration needs. Other selections begin with the most contested cases.
        """
        from jury_adapters.report.figures import contest

        if self.only == "all":
            return _in_random_order(entries)[: self.sample]
        contested = self.only == "contested"
        weight = {id(entry): contest(entry.judgment)[0] for entry in entries}
        taken = [entry for entry in entries if entry.judgment.needs_review or (contested and weight[id(entry)])]
        return sorted(taken, key=lambda entry: -weight[id(entry)])


def _in_random_order(entries: Sequence[Entry]) -> list[Entry]:
    """Return the cases in a random order that does not depend on their answers.

    The place of a case follows from what ``jury compare`` matches it by: its id, else its question. So the answers of
    two systems to the same questions come in the same order. Cases that share an id have a place each.
    """
    times: Counter[tuple[str, str]] = Counter()
    places: dict[int, bytes] = {}
    for entry in entries:
        name = _name(entry)
        times[name] += 1
        places[id(entry)] = sha256(repr((*name, times[name])).encode()).digest()
    return sorted(entries, key=lambda entry: places[id(entry)])


def _name(entry: Entry) -> tuple[str, str]:
    if entry.item_id is not None:
        return "id", entry.item_id
    if entry.case is not None and entry.case.question:
        return "question", entry.case.question
    return "content", "" if entry.case is None else entry.case.content_hash
