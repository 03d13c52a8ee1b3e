"""Comparison of two batches on the same cases: the difference of their pass rates, and the verdicts that changed."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from jury_adapters.core.results import Result
from jury_adapters.core.values import InputError
from jury_adapters.report.counting import (
    BY_ERRORS,
    CONTESTED,
    failed_by_errors,
    key_of,
    name_of,
    parts_of,
    word_of,
)
from jury_adapters.report.render import Item, Rendering, Table
from jury_adapters.report.report import Report, item_of
from jury_adapters.report.summary import Summary, percents, votes_of
from jury_adapters.stats import Figure, pass_rate
from jury_adapters.stats import compare as difference
from jury_adapters.stats.votes import Results, case_of, results_of

Names = tuple[str, str]
_MOST_ROWS = 15


@dataclass(repr=False)
class Comparison(Rendering):
    """Comparison of two batches, in the same forms as a :class:`Report`; made by :func:`compare`.

    Attributes:
        names: what the batches are called.
        figure: the pass rate of the second batch minus that of the first; see :func:`jury_adapters.stats.compare`. It
            has no value if verdicts are labels that neither pass nor fail.
        changed: pairs of results with different verdicts, those of PASS and FAIL first; at most 1,000.
    """

    names: Names
    figure: Figure
    changed: Sequence[tuple[Result, Result]]

    def items(self) -> Iterator[Item]:
        """Yield both results of the cases whose verdict changed."""
        for pair in self.changed:
            for name, item in zip(self.names, map(item_of, pair), strict=True):
                yield item._replace(name=f"{name}: {item.name}")

    def to_dict(self) -> dict[str, Any]:
        """Return the difference and the tables as JSON values."""
        return {"difference": asdict(self.figure), **super().to_dict()}


def compare(a: Results, b: Results, *, names: Names = ("a", "b"), pass_labels: Iterable[Any] = ()) -> Comparison:
    """Compare two batches on the cases that are in both. A case is known by its id; without one by its content.

    Args:
        a: the path of a results file, or results, judgments, or pairs of a case and its judgment.
        b: the other batch.
        names: what they are called.
        pass_labels: the human labels that mean PASS; see :meth:`Votes.of`.

    Raises:
        InputError: no case is in both, or a file or a human label cannot be read.

    >>> from jury_adapters import Case, judge
    >>> short = judge(lambda case: len(case.answer) < 9)
    >>> runs = [[(Case(id="1", answer=text), short.judge(answer=text))] for text in ("Yes.", "Yes, it is.")]
    >>> compare(*runs).changed[0][1].judgment.status.value
    'FAIL'
    """
    sources = [one if isinstance(one, str | Path) or iter(one) is not one else [*one] for one in (a, b)]
    labels = tuple(pass_labels)
    sides = [Report(one, pass_labels=labels).summary for one in sources]
    said = [_verdicts(one) for one in sides]
    moves = {key: (word, said[1][key]) for key, word in said[0].items() if key in said[1]}
    changed = sorted(
        (key for key in moves if len({*moves[key]}) > 1), key=lambda key: {*moves[key]} != {"PASS", "FAIL"}
    )
    alone = [[key for key in one if key not in moves] for one in said]
    wanted = {*changed[:CONTESTED], *(key for keys in alone for key in keys[:1])}
    picked = [{key: one for one in results_of(source) if (key := key_of(one)) in wanted} for source in sources]
    examples = ["".join(name_of(one[key]) for key in keys[:1]) for one, keys in zip(picked, alone, strict=True)]
    if not moves:
        has = " and ".join(f"{name} has {example!r}" for name, example in zip(names, examples, strict=True))
        raise InputError(f"no case is in both: {has}; cases are matched by id, and by content if they have none")
    pairs = [(picked[0][key], picked[1][key]) for key in changed[:CONTESTED]]
    figure, rates = _figures(sides, names, moves)
    rows = tuple((*move, n) for move, n in Counter(moves.values()).most_common(_MOST_ROWS))
    tables = (
        _headline(figure, names, len(moves)),
        _warnings(sides, names, [len(keys) for keys in alone], examples),
        *rates,
        Table("Verdicts", (*names, "#cases"), rows),
        _changes(pairs, names),
    )
    found = tuple(one for place, one in enumerate(tables) if one.rows or not place)
    files = tuple(Path(one) for one in sources if isinstance(one, str | Path))
    return Comparison(f"{names[1]} compared with {names[0]}", found, files, names, figure, pairs)


def _verdicts(summary: Summary) -> dict[int, str]:
    """Return the verdict on each case, by its hash; a case that is repeated has several."""
    words = [BY_ERRORS if one.by_errors else word_of(one.judgment) for one in summary.patterns]
    times, cases = Counter(summary.keys), zip(summary.keys, summary.places, strict=True)
    return {key: words[place] if times[key] == 1 else "several verdicts" for key, place in cases if key}


def _warnings(sides: Sequence[Summary], names: Names, alone: Sequence[int], examples: Sequence[str]) -> Table:
    """Return what a reader must know beside the difference."""
    missing = zip(names, alone, examples, strict=True)
    juries = [side.juries.keys() for side in sides]
    counts = {
        **{f"cases in {name} only, such as {one!r}: not counted": n for name, n, one in missing},
        **{
            f"FAIL of {name} only because judges broke: not counted": side.failed_by_errors
            for side, name in zip(sides, names, strict=True)
        },
        "juries that differ: the difference is not one of the answers alone": len(juries[0] | juries[1])
        if juries[0] != juries[1]
        else 0,
    }
    return Table("Warnings", ("warning", "#number"), tuple((text, n) for text, n in counts.items() if n))


def _figures(sides: Sequence[Summary], names: Names, both: Collection[int]) -> tuple[Figure, list[Table]]:
    """Return the difference of the pass rates, and the rates on the cases in both."""
    votes = [replace(votes_of(one), keys=np.array([str(key or "") for key in one.keys])) for one in sides]
    if not all(one.binary for one in votes):
        return Figure("difference of pass rates", None, 0, note="the verdicts neither pass nor fail"), []
    places = [[place for place, key in enumerate(side.keys) if key in both] for side in sides]
    rates = [pass_rate(one.take(chosen)) for one, chosen in zip(votes, places, strict=True)]
    rows = tuple((name, one.value, one.texts[1], one.n, one.note) for name, one in zip(names, rates, strict=True))
    columns = ("batch", "#pass rate", "#95 % interval", "#cases", "note")
    return difference(*votes), [Table("Pass rates on the cases in both", columns, rows)]


def _headline(figure: Figure, names: Names, both: int) -> Table:
    (a, b), (low, high), details = names, figure.interval or (0.0, 0.0), figure.details
    told = (
        f"{b} passes more" if low > 0 else f"{a} passes more" if high < 0 else "the cases do not tell which passes more"
    )
    title = (
        f"{b} minus {a}{', corrected by human labels' * ('true' in figure.name)}: {percents(figure, 'points')}, {told}"
        if figure.value is not None
        else figure.note
    )
    counts = {
        "cases in both": both,
        "cases that count": figure.n,
        f"only {b} passes": details.get("b_only"),
        f"only {a} passes": details.get("a_only"),
        "p value": details.get("p_value"),
        "cases with human labels of both": details.get("labelled"),
    }
    rows = tuple((name, count) for name, count in counts.items() if count is not None)
    return Table(title, ("figure", "#value"), rows, figure.note if figure.value is not None else "")


def _changes(pairs: Sequence[tuple[Result, Result]], names: Names) -> Table:
    """Return the first cases whose verdict changed, with the votes that differ."""
    rows = []
    for pair in pairs[:_MOST_ROWS]:
        old, new = ({path: word_of(part) for path, _, part in parts_of(one.judgment)} for one in pair)
        found = ["the case"] * (len({case_of(one).content_hash for one in pair}) - 1)
        found += [
            f"{' / '.join(path)}: {old.get(path, 'not asked')}, then {new.get(path, 'not asked')}"
            for path in {**old, **new}
            if old.get(path) != new.get(path)
        ]
        rows.append(
            (
                name_of(pair[1]),
                *(BY_ERRORS if failed_by_errors(one.judgment) else word_of(one.judgment) for one in pair),
                "; ".join(found),
            )
        )
    return Table("Changed verdicts", ("case", *names, "what differs"), tuple(rows))
