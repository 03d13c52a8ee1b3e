"""Common scale of the labels of a batch, and the votes as positions on it."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence

import numpy as np

from jury_adapters.calibration.items import DECIMAL, ItemVotes, different_votes, plain
from jury_adapters.calibration.types import MISSING, Ints, Raw, Value
from jury_adapters.core.errors import ConfigurationError, plain_repr
from jury_adapters.core.judgment import Judgment, Status

_BINARY = 2
_MOST_KNOWN = 1 << 12


class Scale:
    """Labels of a batch, and the position of each.

    Args:
        items: the items.
        jurors: the jurors whose votes are read.
        labels: all labels in their order; empty for those that occur.
        listed: whether it is known which labels mean PASS, so that human labels which are numbers are grades and no
            measurements.
    """

    def __init__(
        self, items: Sequence[ItemVotes], jurors: Sequence[str], labels: Sequence[Value], *, listed: bool = False
    ) -> None:
        votes = {plain(cast.get(name)) for cast in different_votes(items) for name in jurors}
        orders = {id(item.orders): item.orders for item in items}
        votes |= {plain(vote) for by_juror in orders.values() for pair in by_juror.values() for vote in pair}
        gold = {plain(item.gold) for item in items}
        given = tuple(plain(label) for label in labels)
        self._words = any(isinstance(value, str) for value in votes.union(gold, given))
        # A number that human labels have and jurors cannot give (a mean of ratings) is not on the jurors' scale.
        named = votes | gold if self._words or listed else votes
        occurring = {self._read(value) for value in named if value is not None}
        self.labels = tuple(self._read(label) for label in given if label is not None)
        if not self.labels:
            self.labels = tuple(sorted(occurring, key=lambda value: (isinstance(value, str), value)))
        elif occurring - set(self.labels):
            raise ConfigurationError(
                f"{plain_repr(min(map(str, occurring - set(self.labels))))} is none of the labels given"
            )
        if not given:
            self._check_gold(
                {self._read(value) for value in votes if value is not None},
                {self._read(value) for value in gold if value is not None},
            )
        self._code = {label: code for code, label in enumerate(self.labels)}

    def _check_gold(self, votes: set[Value], gold: set[Value]) -> None:
        """Refuse human labels that no juror uses, such as good and bad together with PASS and FAIL."""
        if self._words and votes and gold and votes.isdisjoint(gold) and len(votes | gold) > _BINARY:
            grades = all(not isinstance(label, str) or DECIMAL.fullmatch(label) for label in gold)
            other = "compare them with scores (on='score', --on score)" if grades else "read other votes (on='label')"
            raise ConfigurationError(
                f"human labels are {_few(gold)}, but jurors vote {_few(votes)}; say which human label means PASS "
                f"(pass_label=, --pass-label), or {other}"
            )

    def code(self, vote: Raw) -> int:
        value = plain(vote)
        return MISSING if value is None else self._code.get(self._read(value), MISSING)

    def _read(self, value: Value) -> Value:
        """Return a value on this scale; in a scale of words, a number is a word too."""
        return f"{value:g}" if self._words and not isinstance(value, str) else value


def vote_codes(items: Sequence[ItemVotes], jurors: Sequence[str], scale: Scale) -> Ints:
    """Return items x jurors: the codes of the votes."""
    codes = np.empty((len(items), len(jurors)), dtype=np.int64)
    known: dict[int, Ints] = {}  # many items share their votes
    for position, item in enumerate(items):
        row = known.get(id(item.votes))
        if row is None:
            row = np.array([scale.code(item.votes.get(name)) for name in jurors], dtype=np.int64)
            if len(known) < _MOST_KNOWN:
                known[id(item.votes)] = row
        codes[position] = row
    return codes


def codes_by_order(items: Sequence[ItemVotes], jurors: Sequence[str], scale: Scale) -> Ints | None:
    """Return 2 x items x jurors: the votes of pairwise jurors in each order; None if none was asked in both."""
    if not any(item.orders for item in items):
        return None
    unasked = (None, None)
    first, second = (
        [[scale.code(item.orders.get(name, unasked)[side]) for name in jurors] for item in items] for side in (0, 1)
    )
    return np.array([first, second], dtype=np.int64)


def gold_codes(items: Sequence[ItemVotes], scale: Scale) -> Ints:
    """Return the codes of human labels; all are missing if one is off the scale, since the rest would be biased."""
    codes = np.fromiter((scale.code(item.gold) for item in items), np.int64, len(items))
    labelled = np.fromiter((plain(item.gold) is not None for item in items), np.bool_, len(items))
    return np.full_like(codes, MISSING) if (codes[labelled] == MISSING).any() else codes


def group_numbers(items: Sequence[ItemVotes]) -> Ints:
    """Return the number of the group of each item; an item without a group is a group of its own."""
    numbers = np.empty(len(items), dtype=np.int64)
    number_of: dict[Hashable, int] = {}
    following = 0
    for position, item in enumerate(items):
        number = following if item.group is None else number_of.setdefault(item.group, following)
        following += number == following
        numbers[position] = number
    return numbers


def passed_by_jury(items: Sequence[ItemVotes], pass_labels: Collection[str]) -> Ints:
    """Return, per item, whether the jury passes it; empty if there are no verdicts."""
    said = [item.verdict for item in items if item.verdict is not None]
    return np.array(
        [_passes(verdict, pass_labels) for verdict in said] if len(said) == len(items) else [], dtype=np.int64
    )


def _few(values: set[Value]) -> str:
    """Return the first values, and the number of the others."""
    names = sorted(map(str, values))
    return ", ".join(names[:_MOST_NAMED]) + (f" and {len(names) - _MOST_NAMED} more" if names[_MOST_NAMED:] else "")


_MOST_NAMED = 5


def _passes(verdict: Judgment, pass_labels: Collection[str]) -> int:
    if verdict.status is not None:
        return {Status.PASS: 1, Status.FAIL: 0}.get(verdict.status, MISSING)
    return int(verdict.label in pass_labels) if pass_labels else MISSING
