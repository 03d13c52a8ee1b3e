"""Summary, the tables of a batch. Every number with an interval comes from the statistics; the others are counts."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from jury_adapters.calibrate.guarantee import ABSTAINED
from jury_adapters.core.case import Case
from jury_adapters.core.judgment import Status
from jury_adapters.core.results import Result
from jury_adapters.report.counting import BY_ERRORS, Counting, Path, name_of, parts_of, reasons_of, word_of
from jury_adapters.report.render import Cell, Table
from jury_adapters.stats import (
    Figure,
    Votes,
    against_labels,
    alpha,
    effective_votes,
    gwet_ac1,
    pass_rate,
    raw_agreement,
    true_pass_rate,
)
from jury_adapters.stats.figures import share
from jury_adapters.stats.votes import JURY, MISSING, group_numbers

_STATUSES = ("PASS", "FAIL", "ABSTAIN", "ERROR")
_MOST_WORDS, _MOST_JURORS, _MOST_ROWS = 12, 14, 10
REASONS = {
    "low_agreement": "the judges are split",
    "abstained": "the jury abstained",
    "error": "it could not be judged",
    "undecided_tier": "a tier did not do its work",
    "few_votes": "most judges did not vote",
    "failed_by_errors": BY_ERRORS,
}


class Summary(Counting):
    """Counts of a batch, and the tables that every form shows.

    Args:
        pass_labels: the human labels that mean PASS, beside true, pass and yes; see :meth:`Votes.of`.

    Raises:
        ConfigurationError: ``pass_labels`` is one text.

    >>> from jury_adapters import Judgment
    >>> summary = Summary()
    >>> for status in ("PASS", "PASS", "FAIL"):
    ...     summary.add(Judgment(status=status))
    >>> summary.tables()[0].title, summary.unmet(fail_under=0.5)
    ('3 cases, 3 decided: 66.7 % pass (95 % interval 20.8 to 93.9)', [])
    """

    def tables(self) -> tuple[Table, ...]:
        """Return all figures as tables.

        Raises:
            InputError: a human label cannot be read as PASS or FAIL.
        """
        return tuple(_tables(self))


def votes_of(summary: Counting) -> Votes:
    """Return the votes as statistics read them, without scores, confidences and keys.

    Human labels of copies of a case that contradict each other are left out.
    """
    places, copies = np.array(summary.places, dtype=np.int64), np.array(summary.copies, dtype=np.int64)
    read = Votes.of(
        (
            Result(
                jury="",
                case=Case(id=str(number), error="failed" if one.failed else None),
                judgment=one.judgment,
                human_label=one.label,
            )
            for number, one in enumerate(summary.patterns)
        ),
        pass_labels=summary.pass_labels,
    )
    n, gold, none = len(places), read.gold[places], np.broadcast_to(np.nan, (len(places), len(read.voters)))
    pairs = np.unique(np.column_stack([copies, gold])[(gold != MISSING) & (copies != 0)], axis=0)
    labelled, times = np.unique(pairs[:, 0], return_counts=True)
    return replace(
        read,
        codes=read.codes[places],
        asked=read.asked[places],
        gold=np.where(np.isin(copies, labelled[times > 1]), MISSING, gold),
        groups=group_numbers(
            *(np.array(names, dtype=np.int64) for names in (summary.keys, summary.contents, summary.groups))
        ),
        confidences=none,
        scores=none,
        grades=none[:, 0],
        lengths=none[:, 0],
        orders=np.broadcast_to(np.int64(MISSING), (*none.shape, 2)),
        contents=np.array(summary.contents, dtype=np.int64),
        keys=np.broadcast_to("", n),
        generators=np.broadcast_to("", n),
    )


def rate_of(summary: Counting, votes: Votes) -> Figure | None:
    """Return the share of the decided cases that pass; None if verdicts are labels that neither pass nor fail."""
    return pass_rate(votes) if votes.binary and not summary.statuses[Status.LABEL] else None


def _tables(summary: Counting) -> Iterator[Table]:
    """Yield the tables of a summary; those without content are left out."""
    votes = votes_of(summary)
    times = np.bincount(summary.places, minlength=len(summary.patterns)).tolist() if summary.cases else []
    yield _headline(summary, votes, times)
    found = [
        _warnings(summary, votes, times),
        *(_against_labels(votes) if (votes.gold != MISSING).any() else ()),
        _tiers(summary, times),
        _criteria(summary, votes, times),
        _jurors(summary, votes, times),
        *(_agreement(votes) if len(votes.panel) > 1 else ()),
        _contested(summary),
        _costs(summary),
    ]
    yield from (table for table in found if table.rows)


def percents(found: Figure, unit: str) -> str:
    """Return a share, or a difference of shares, in hundredths with its unit and its interval."""
    value, *ends = (f"{100 * one + 0.0:.1f}" for one in (found.value or 0.0, *(found.interval or ())))
    span = f" (95 % interval {' to '.join(ends)})" if ends else ""
    return "-" if found.value is None else f"{value} {unit}{span}"


def _headline(summary: Counting, votes: Votes, times: Sequence[int]) -> Table:
    """Return the verdicts, with the pass rate in the title."""
    rate, groups, patterns = rate_of(summary, votes), len(np.unique(votes.groups)), summary.patterns
    true = true_pass_rate(votes) if rate is not None and (votes.gold != MISSING).any() else None
    notes = [
        f"{rate.note[0].upper()}{rate.note[1:]}." if rate and rate.value is not None and rate.note else "",
        f"Cases of one id, content or group depend on each other: intervals are of {groups:,} groups."
        * (groups < summary.cases),
        f"Corrected by the human labels, {percents(true, '% of all cases pass')}."
        if true and true.value is not None
        else "",
        f"On the corrected rate: {true.note}." if true and true.note else "",
    ]
    said = [BY_ERRORS if one.by_errors else word_of(one.judgment) for one in patterns]
    tally, pairs = _tally(said, times), [*zip(patterns, times, strict=True)]
    counts = {word: tally[word] for word in _columns([tally])}
    counts["failed runs of the application"] = int(votes.failed.sum())
    counts["needs review"] = sum(n for one, n in pairs if one.reasons)
    counts |= {f"review: {text}": sum(n for one, n in pairs if name in one.reasons) for name, text in REASONS.items()}
    rows = tuple((name, n, f"{100 * n / summary.cases:.1f} %") for name, n in counts.items() if n)
    title = (
        f"{summary.cases:,} case{'s' * (summary.cases != 1)}, {int((votes.codes[:, -1] != MISSING).sum()):,} decided"
    )
    title += f": {percents(rate, '% pass')}" if rate is not None and rate.value is not None else ""
    return Table(title, ("verdict", "#cases", "#of all"), rows, " ".join(filter(None, notes)))


def _tally(words: Iterable[str], times: Iterable[int]) -> Counter[str]:
    """Return how many cases have each word; an empty one is none."""
    pairs = [*zip(words, times, strict=True)]
    kinds = dict.fromkeys(word for word, _ in pairs if word)
    return Counter({kind: sum(n for word, n in pairs if word == kind) for kind in kinds})


def _columns(tallies: Collection[Counter[str]]) -> list[str]:
    """Return the words that are columns: statuses, and labels by their frequency; rare labels become one word."""
    total = sum(tallies, Counter[str]())
    labels = [word for word, _ in total.most_common() if word not in _STATUSES]
    for tally in tallies:
        tally["other labels"] = sum(tally.pop(word, 0) for word in labels[_MOST_WORDS:])
    order = (*_STATUSES[:2], *labels[:_MOST_WORDS], "other labels", *_STATUSES[2:])
    return [word for word in order if any(tally[word] for tally in tallies)]


def _warnings(summary: Counting, votes: Votes, times: Sequence[int]) -> Table:
    """Return what a reader must know before the figures."""
    undecided, pairs = Counter[str](), [*zip(summary.patterns, times, strict=True)]
    for one, n in pairs:
        for path, kind, part in parts_of(one.judgment):
            if kind == "tier" and path[-1] != ABSTAINED and not any(said.decided for said in part.judgments or (part,)):
                undecided[" / ".join(path)] += n
    left_out = sum(n for one, n in pairs if one.label is not None) - int((votes.gold != MISSING).sum())
    counts = {f"tier {tier}: all its judges abstained or broke": n for tier, n in undecided.items()} | {
        f"{BY_ERRORS}: in no rate, and not passed": summary.failed_by_errors,
        "the application failed: FAIL in the pass rate, and in no figure of a judge": int(votes.failed.sum()),
        "human labels that contradict another one of the same case: left out": left_out,
        "jurors that agree little, one of the vendor family of the model that wrote the answer": summary.biased,
        "calls of an unknown cost: the sum is a lower bound": summary.usage["unknown"],
        "juries that judged these results, which are counted together": len(summary.juries)
        if len(summary.juries) > 1
        else 0,
    }
    counts |= {f"judgments that broke: {error}": n for error, n in summary.errors.most_common(5)}
    return Table("Warnings", ("warning", "#number"), tuple((text, n) for text, n in counts.items() if n))


def _figures(title: str, figures: Sequence[Figure]) -> Table:
    """Return figures as a table; a note that all have is below it."""
    common = {one.note for one in figures}
    width, note = (5, "") if len(common) > 1 else (4, "".join(common))
    rows = tuple((one.name, one.value, one.texts[1], one.n, one.note)[:width] for one in figures)
    return Table(title, ("figure", "#value", "#95 % interval", "#cases", "note")[:width], rows, note)


def _against_labels(votes: Votes) -> Iterator[Table]:
    """Yield how well the jury, and each juror, match human labels."""
    figures, names = against_labels(votes), ("accuracy", "balanced accuracy", "Cohen's kappa")
    yield _figures("The jury against human labels", [one for one in figures if one.of in (JURY, "")])
    found = {(one.of, one.name): one for one in figures if one.name in names}
    jurors = [name for name in votes.jurors if (name, names[0]) in found]
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (juror, *(" ".join(found[juror, name].texts) for name in names), found[juror, names[0]].n) for juror in jurors
    )
    picked = ", ".join(name for name in jurors if name in votes.selected)
    yield Table(
        "Jurors against human labels",
        ("juror", *(f"#{name}" for name in names), "#cases"),
        rows,
        f"{picked and 'Asked only about some cases: '}{picked}",
    )


def _said(summary: Counting, kind: str) -> dict[Path, list[str]]:
    """Return what the parts of a kind said in each pattern; nothing where they were not asked."""
    found: dict[Path, list[str]] = {}
    parts = ((number, part) for number, one in enumerate(summary.patterns) for part in parts_of(one.judgment))
    for number, (path, what, judgment) in parts:
        if what == kind:
            found.setdefault(path, [""] * len(summary.patterns))[number] = word_of(judgment)
    return found


def _counted(
    title: str,
    head: str,
    said: Mapping[Path, Sequence[str]],
    times: Sequence[int],
    more: Mapping[str, Mapping[Path, Cell]],
) -> Table:
    """Return a table of counts with a row per path, and further columns."""
    tallies = {path: _tally(words, times) for path, words in said.items()}
    words = _columns(tallies.values())
    rows = tuple(
        (" / ".join(path), *(tally[word] for word in words), *(column.get(path) for column in more.values()))
        for path, tally in tallies.items()
    )
    return Table(title, (head, *(f"#{name}" for name in (*words, *more))), rows, "", "bars", tuple(words))


def _tiers(summary: Counting, times: Sequence[int]) -> Table:
    """Return where cascades stopped, and with what."""
    reached = {path: words for path, words in _said(summary, "tier").items() if not path[1:]}
    stopped = {
        path: [word_of(one.judgment) * (one.judgment.stopped_at == path[0]) for one in summary.patterns]
        for path in reached
    }
    more: dict[str, dict[Path, Cell]] = {
        name: {path: _tally(words, times).total() for path, words in said.items()}
        for name, said in (("reached", reached), ("stopped", stopped))
    }
    return _counted("Tiers: where the cascade stopped", "tier", stopped, times, more)


def _criteria(summary: Counting, votes: Votes, times: Sequence[int]) -> Table:
    """Return the results of each criterion, with its pass rate."""
    said = _said(summary, "criterion")
    given = {path: np.array(words, dtype=np.str_)[summary.places] for path, words in said.items()}
    rates = {
        path: share("pass rate", one == "PASS", np.isin(one, _STATUSES[:2]), votes.groups)
        for path, one in given.items()
    }
    values: dict[Path, Cell] = {path: one.value for path, one in rates.items()}
    intervals: dict[Path, Cell] = {path: one.texts[1] for path, one in rates.items()}
    return replace(
        _counted("Criteria", "criterion", said, times, {"pass rate": values, "95 % interval": intervals}), picture=""
    )


def _jurors(summary: Counting, votes: Votes, times: Sequence[int]) -> Table:
    """Return what each judge said, and how often a juror differs from the verdict."""
    said, verdict = _said(summary, "juror"), votes.codes[:, -1:]
    both = (votes.codes != MISSING) & (verdict != MISSING)
    apart = (both & (votes.codes != verdict)).sum(axis=0)
    columns = {path: votes.column(name) for path in said if (name := " / ".join(path)) in votes.jurors}
    texts: dict[Path, Cell] = {path: f"{apart[n]:,} of {both[:, n].sum():,}" for path, n in columns.items()}
    return _counted("Jurors", "juror", said, times, {"differs from the verdict": texts} if texts else {})


def _agreement(votes: Votes) -> Iterator[Table]:
    """Yield how far the jurors agree, all together and in pairs."""
    figures = [measure(votes) for measure in (raw_agreement, alpha, gwet_ac1, effective_votes)]
    yield _figures("Agreement of the jurors", [one for one in figures if one.n])
    panel, codes = votes.panel[:_MOST_JURORS], votes.codes
    shares = {
        (a, b): share("", codes[:, a] == codes[:, b], (codes[:, [a, b]] != MISSING).min(axis=1), votes.groups).value
        for a, b in combinations(panel, 2)
    }
    names = tuple(votes.jurors[place] for place in panel)
    rows = tuple((votes.jurors[a], *(shares.get((min(a, b), max(a, b))) for b in panel)) for a in panel)
    yield Table(
        "Agreement of pairs",
        ("juror", *(f"#{name}" for name in names)),
        rows,
        "The share of the cases on which both voted alike.",
        "heat",
        names,
    )


def _contested(summary: Counting) -> Table:
    """Return the first cases to look at."""
    rows = tuple(
        (
            name_of(one),
            word_of(one.judgment),
            ", ".join(REASONS[name] for name in reasons_of(one.judgment)),
            "; ".join(f"{word_of(part)} {path[-1]}" for path, kind, part in parts_of(one.judgment) if kind != "tier")
            or one.judgment.reasoning,
        )
        for one in summary.contested[:_MOST_ROWS]
        if reasons_of(one.judgment)
    )
    return Table("First cases to look at", ("case", "verdict", "why", "votes"), rows)


def cost_of(spent: Mapping[str, float]) -> str:
    """Return a cost in US dollars; an unknown one is never 0.

    >>> cost_of({"cost_usd": 0.5, "unknown": 1}), cost_of({"cost_usd": 0.0, "unknown": 1})
    ('$0.5000 or more', 'unknown')
    """
    known = f"${spent['cost_usd']:,.4f}"
    return known if not spent["unknown"] else f"{known} or more" if spent["cost_usd"] else "unknown"


def _costs(summary: Counting) -> Table:
    """Return calls, tokens and costs by judge and model, if a call was made or its cost is unknown."""
    named = [(" / ".join(path), model, one) for (path, model), one in summary.spent.items()]
    used = [row for row in named if row[2]["calls"] or row[2]["recorded_calls"] or row[2]["unknown"]]
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (name, model, one["calls"], one["input_tokens"], one["output_tokens"], cost_of(one), one["recorded_calls"])
        for name, model, one in [*used, *([("all", "", summary.usage)] if used else [])]
    )
    columns = ("judge", "model", "#calls", "#input tokens", "#output tokens", "#cost", "#calls from a store")
    return Table("Costs", columns, rows)
