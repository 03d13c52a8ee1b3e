"""From items as they are read to the matrix of votes: one scale of labels, one order of jurors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite, nan

import numpy as np

from jury_adapters.calibration.votes import MISSING, Ints, Raw, Value, Votes
from jury_adapters.core.errors import ConfigurationError, unknown
from jury_adapters.core.judgment import Judgment, Status

_BINARY = 2


@dataclass(frozen=True, slots=True)
class ItemVotes:
    """One item as it is read: the votes by juror, what is known of the item, and the jury's verdict if there is one."""

    item: str
    votes: Mapping[str, Raw]
    gold: Raw = None
    group: object = None
    generator: str | None = None
    length: float | None = None
    models: Mapping[str, str | None] = field(default_factory=dict)
    orders: Mapping[str, tuple[Raw, Raw]] = field(default_factory=dict)
    verdict: Judgment | None = None


def assemble(
    items: Iterable[ItemVotes],
    *,
    jurors: tuple[str, ...] = (),
    labels: Sequence[Value] = (),
    pass_label: str | None = None,
    sort_jurors: bool = False,
) -> Votes:
    """Make the matrix of what was read; jurors stand in the order of their first vote unless told otherwise."""
    found, pass_label = _in_jurors_words(list(items), pass_label)
    names = tuple(dict.fromkeys(name for item in found for name in item.votes))
    if jurors:
        absent = next((name for name in jurors if name not in names), None)
        if absent is not None and found:
            raise ConfigurationError(unknown("juror", absent, names))
        names = jurors
    elif sort_jurors:
        names = tuple(sorted(names))
    if len(set(names)) != len(names):
        raise ConfigurationError("every juror needs a name of its own")
    scale = _Scale(found, names, labels)
    if pass_label is None and "PASS" in scale.labels:
        pass_label = "PASS"
    if pass_label is not None and pass_label not in scale.labels and found:
        raise ConfigurationError(unknown("pass_label", pass_label, map(str, scale.labels)))
    models = {name: model for item in found for name, model in item.models.items() if model}
    group_of: dict[object, int] = {}
    keys = [("item", row) if item.group is None else ("group", item.group) for row, item in enumerate(found)]
    return Votes(
        codes=_matrix([[scale.code(item.votes.get(name)) for name in names] for item in found], len(names)),
        labels=scale.labels,
        jurors=names,
        items=tuple(item.item for item in found),
        gold=_gold(found, scale),
        groups=np.array([group_of.setdefault(key, len(group_of)) for key in keys], dtype=np.int64),
        ordered=bool(labels) or not any(isinstance(label, str) for label in scale.labels),
        pass_label=pass_label,
        generators=tuple(item.generator for item in found),
        lengths=np.array([nan if item.length is None else item.length for item in found], dtype=np.float64),
        models=tuple(models.get(name) for name in names),
        orders=_orders(found, names, scale),
        verdicts=_verdicts(found, pass_label),
    )


class _Scale:
    """The labels of a batch, and the position of each."""

    def __init__(self, items: Sequence[ItemVotes], jurors: Sequence[str], labels: Sequence[Value]) -> None:
        votes = {plain(item.votes.get(name)) for item in items for name in jurors}
        votes |= {plain(vote) for item in items for pair in item.orders.values() for vote in pair}
        gold = {plain(item.gold) for item in items}
        given = tuple(plain(label) for label in labels)
        self._words = any(isinstance(value, str) for value in votes.union(gold, given))
        # A number that people gave and no juror can (a mean of ratings) is no point of the jurors' scale.
        occurring = {self._read(value) for value in (votes | gold if self._words else votes) if value is not None}
        self.labels = tuple(self._read(label) for label in given if label is not None)
        if not self.labels:
            self.labels = tuple(sorted(occurring, key=lambda value: (isinstance(value, str), value)))
        elif occurring - set(self.labels):
            raise ConfigurationError(f"{min(map(str, occurring - set(self.labels)))!r} is none of the labels given")
        if not given:
            self._check_gold(
                {self._read(value) for value in votes if value is not None},
                {self._read(value) for value in gold if value is not None},
            )
        self._code = {label: code for code, label in enumerate(self.labels)}

    def _check_gold(self, votes: set[Value], gold: set[Value]) -> None:
        """Refuse labels of people that no juror uses, such as good and bad beside PASS and FAIL."""
        if self._words and votes and gold and votes.isdisjoint(gold) and len(votes | gold) > _BINARY:
            raise ConfigurationError(
                f"people say {_few(gold)}, but jurors vote {_few(votes)}; say which of people's labels means PASS "
                "(pass_label=, --pass-label), or read other votes (on='label', on='status')"
            )

    def code(self, vote: Raw) -> int:
        value = plain(vote)
        return MISSING if value is None else self._code.get(self._read(value), MISSING)

    def _read(self, value: Value) -> Value:
        """In a scale of words a number is a word too."""
        return f"{value:g}" if self._words and not isinstance(value, str) else value


def _in_jurors_words(items: list[ItemVotes], pass_label: str | None) -> tuple[list[ItemVotes], str | None]:
    """Where jurors say PASS and FAIL and people have words of their own: what people said, as PASS and FAIL."""
    votes = {vote for item in items for vote in map(plain, item.votes.values()) if vote is not None}
    if pass_label in (None, "PASS") or not votes or not votes <= {"PASS", "FAIL"}:
        return items, pass_label
    said = {truth for item in items if (truth := plain(item.gold)) is not None}
    if pass_label not in said:
        if pass_label not in votes and said:
            raise ConfigurationError(unknown("pass_label", pass_label, sorted(map(str, said | votes))))
        return items, pass_label
    told = [None if plain(item.gold) is None else plain(item.gold) == pass_label for item in items]
    return [replace(item, gold=truth) for item, truth in zip(items, told, strict=True)], "PASS"


def _few(values: set[Value]) -> str:
    return ", ".join(sorted(map(str, values))[:4])


def plain(vote: Raw) -> Value | None:
    """A vote as text or number; None when it is missing (None, NaN).

    Raises:
        ConfigurationError: something that is no vote, such as a list.
    """
    if vote is None:
        return None
    if isinstance(vote, bool | np.bool_):
        return "PASS" if vote else "FAIL"
    if isinstance(vote, str):
        return str(vote)  # a Status is its own kind of text
    if isinstance(vote, int | float | np.integer | np.floating):
        number = float(vote)
        if number != number:  # noqa: PLR0124  only NaN differs from itself
            return None
        if isfinite(number):
            return number
    raise ConfigurationError(f"a vote is a label or a finite number, not {vote!r}")


def _orders(items: Sequence[ItemVotes], jurors: Sequence[str], scale: _Scale) -> Ints | None:
    if not any(item.orders for item in items):
        return None
    unasked = (None, None)
    first, second = (
        [[scale.code(item.orders.get(name, unasked)[side]) for name in jurors] for item in items] for side in (0, 1)
    )
    return np.array([first, second], dtype=np.int64)


def _gold(items: Sequence[ItemVotes], scale: _Scale) -> Ints:
    """What people said; nothing at all when some of it is off the scale: the rest would be a biased part of it."""
    codes = np.array([scale.code(item.gold) for item in items], dtype=np.int64)
    told = np.array([plain(item.gold) is not None for item in items], dtype=np.bool_)
    return np.full_like(codes, MISSING) if (codes[told] == MISSING).any() else codes


def _verdicts(items: Sequence[ItemVotes], pass_label: str | None) -> Ints:
    """Per item whether the jury passes it; empty where no jury gave a verdict."""
    said = [item.verdict for item in items if item.verdict is not None]
    return np.array(
        [_passes(verdict, pass_label) for verdict in said] if len(said) == len(items) else [], dtype=np.int64
    )


def _passes(verdict: Judgment, pass_label: str | None) -> int:
    if verdict.status is not None:
        return {Status.PASS: 1, Status.FAIL: 0}.get(verdict.status, MISSING)
    return MISSING if pass_label is None else int(verdict.label == pass_label)


def _matrix(rows: list[list[int]], width: int) -> Ints:
    return np.array(rows, dtype=np.int64).reshape(len(rows), width)
