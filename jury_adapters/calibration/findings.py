"""What an analysis found: a number, how sure it is, and what it means in plain words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from jury_adapters.core.render import counted
from jury_adapters.core.values import JsonValue

Interval = tuple[float, float]

FEW_ITEMS = 30
TOO_FEW = "too few items to tell that from chance"


@dataclass(frozen=True, slots=True)
class Finding:
    """One result of an analysis.

    Attributes:
        name: what was measured, in the field's term: ``"krippendorff alpha (nominal)"``.
        value: the number; None when it is undefined, and then ``reason`` says why.
        n: how many items it rests on.
        interval: the 95 % interval, or None when there is none.
        sentence: what it means, for a reader without statistics.
        warnings: sentences on where the number misleads.
        reason: why there is no value; empty otherwise.
        subject: whom it is about, such as a juror's name; empty for the panel.
        details: further numbers, as JSON values; each function says which.
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
        """JSON values, without the fields that hold nothing; an undefined value stays, as null."""
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
        told = [self.sentence or self.reason, *(f"Warning: {warning}." for warning in self.warnings)]
        return "\n".join([head, *(f"  {line}" for line in told if line)])


def undefined(name: str, n: int, reason: str, *, subject: str = "", warnings: Sequence[str] = ()) -> Finding:
    """A finding without a value, and why."""
    sentence = f"There is no number to give: {reason}."
    return Finding(name, None, n, sentence=sentence, reason=reason, subject=subject, warnings=tuple(warnings))


def number(value: float | None) -> str:
    """Return a number with three decimals and without the sign of a zero, and ``none`` where there is none."""
    return "none" if value is None else f"{round(value, 3) + 0.0:.3f}"


def signed(value: float | None) -> str:
    """Return a difference with three decimals and its sign, and ``none`` where there is none."""
    return "none" if value is None else f"{round(value, 3) + 0.0:+.3f}"


def span(interval: Interval | None) -> str:
    """An interval for reading, after the number it belongs to."""
    return "" if interval is None else f" [{interval[0]:.3f}, {interval[1]:.3f}]"


class FewItems(str):
    """The warning that a number rests on few items; it knows on how many.

    >>> FewItems.of(3)
    'it rests on 3 items only, so it can move a lot with the next few'
    """

    __slots__ = ("items",)

    items: int

    @classmethod
    def of(cls, items: int) -> Self:
        """The warning of so many items."""
        warning = cls(f"it rests on {counted(items, 'item')} only, so it can move a lot with the next few")
        warning.items = items
        return warning


def few(items: int, groups: int | None = None) -> tuple[str, ...]:
    """The warning that an analysis rests on little; empty when it does not."""
    if items < FEW_ITEMS:
        return (FewItems.of(items),)
    if groups is not None and groups < FEW_ITEMS:
        return (f"its items come from {counted(groups, 'group')} only, so the interval is rough",)
    return ()
