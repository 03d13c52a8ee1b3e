"""Result of an analysis: a number, its interval, and its meaning in plain words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from jury_adapters.core.formatting import counted
from jury_adapters.core.values import JsonValue

Interval = tuple[float, float]

FEW_ITEMS = 30
TOO_FEW = "too few items to tell that from chance"


@dataclass(frozen=True, slots=True)
class Estimate:
    """One result of an analysis.

    Attributes:
        name: the measure, in the field's term: ``"krippendorff alpha (nominal)"``.
        value: the number; None if it is undefined, and then ``reason`` says why.
        n: the number of items behind it.
        interval: the 95 % interval, or None if there is none.
        sentence: the meaning, for a reader without statistics.
        warnings: sentences on how the number may mislead.
        reason: why there is no value; empty otherwise.
        subject: the subject, such as a juror's name; empty for the panel.
        details: further numbers, as JSON values; the docstring of each function lists them.
    """

    name: str
    value: float | None
    n: int
    interval: Interval | None = None
    sentence: str = ""
    warnings: tuple[str, ...] = ()
    reason: str = ""
    subject: str = ""
    details: Mapping[str, JsonValue] = field(default_factory=dict)

    def to_dict(self) -> dict[str, JsonValue]:
        """Return JSON values without the empty fields; an undefined value is included as null."""
        data: dict[str, JsonValue] = {"name": self.name, "value": self.value, "n": self.n}
        rest: dict[str, JsonValue] = {
            "subject": self.subject,
            "interval": None if self.interval is None else list(self.interval),
            "sentence": self.sentence,
            "warnings": list(self.warnings),
            "reason": self.reason,
            "details": dict(self.details),
        }
        return data | {name: value for name, value in rest.items() if value not in (None, "", [], {})}

    def __str__(self) -> str:
        who = f"{self.subject}: " if self.subject else ""
        head = f"{who}{self.name} = {number(self.value)}{span(self.interval)} (n = {self.n:,})"
        notes = [self.sentence or self.reason, *(f"Warning: {warning}." for warning in self.warnings)]
        return "\n".join([head, *(f"  {line}" for line in notes if line)])


def undefined(name: str, n: int, reason: str, *, subject: str = "", warnings: Sequence[str] = ()) -> Estimate:
    """Return an estimate without a value, with the reason."""
    sentence = f"There is no number to give: {reason}."
    return Estimate(name, None, n, sentence=sentence, reason=reason, subject=subject, warnings=tuple(warnings))


def number(value: float | None) -> str:
    """Return a number with three decimals and without the sign of a zero; ``none`` for None."""
    return "none" if value is None else f"{round(value, 3) + 0.0:.3f}"


def signed(value: float | None) -> str:
    """Return a difference with three decimals and its sign; ``none`` for None."""
    return "none" if value is None else f"{round(value, 3) + 0.0:+.3f}"


def span(interval: Interval | None) -> str:
    """Return an interval as text, to follow its number."""
    return "" if interval is None else f" [{interval[0]:.3f}, {interval[1]:.3f}]"


class FewItems(str):
    """Warning that a number is based on few items, with their number.

    >>> FewItems.of(3)
    'it rests on 3 items only, so it can move a lot with the next few'
    """

    __slots__ = ("items",)

    items: int

    @classmethod
    def of(cls, items: int) -> Self:
        """Return the warning for this number of items."""
        warning = cls(f"it rests on {counted(items, 'item')} only, so it can move a lot with the next few")
        warning.items = items
        return warning


def few(items: int, groups: int | None = None) -> tuple[str, ...]:
    """Return the warning that an analysis is based on few items or groups; empty if it is not."""
    if items < FEW_ITEMS:
        return (FewItems.of(items),)
    if groups is not None and groups < FEW_ITEMS:
        return (f"its items come from {counted(groups, 'group')} only, so the interval is rough",)
    return ()
