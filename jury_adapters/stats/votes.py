"""Votes, a batch of cases as a matrix, which all figures read; and the reader of labels."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from math import isfinite, nan
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from jury_adapters.core.cascade import SCREENING
from jury_adapters.core.case import Case
from jury_adapters.core.judgment import Judgment
from jury_adapters.core.results import Result, facts_of, read_results
from jury_adapters.core.text import visible
from jury_adapters.core.values import ConfigurationError, InputError
from jury_adapters.stats.figures import Bools, Floats, Ints, Texts

MISSING = -1
JURY, PEOPLE = "the jury", "human labels"
Entry = Result | Judgment | tuple[Case | None, Judgment]
Results = str | Path | Iterable[Entry]

MEANINGS = {"pass": "PASS", "true": "PASS", "yes": "PASS", "fail": "FAIL", "false": "FAIL", "no": "FAIL"}
"""The words, without capitals, that mean PASS or FAIL among labels."""

_SCALE = ("FAIL", "PASS")
_MOST_LABELS = 1000
_NO_PANEL = ("", "scorecard", "all_of", "any_of", "pairwise")  # one judge, or several that answer different questions
NOTHING = Case().content_hash


@dataclass(frozen=True, eq=False, slots=True)
class Votes:
    """Votes of jurors on a batch of cases, beside the verdicts of the jury and the labels of people.

    A *voter* is a juror, or the jury itself, which is the last one. Rows that repeat an id or a content are one group.
    An abstention, an error and an empty cell are no votes.

    Attributes:
        labels: the labels; ``("FAIL", "PASS")`` where votes have these meanings.
        jurors: the names of the jurors; in a cascade ``tier / juror``. The judges of a screening tier and the criteria
            of a scorecard are no jurors.
        models: per voter, the model that was asked; empty if unknown.
        selected: the jurors that were asked only where earlier votes were open: those of later tiers, and those that
            early stopping skips. They enter no agreement.
        codes: cases x voters: the vote, as a place in ``labels``; -1 for none.
        asked: cases x voters: whether the voter was asked. Of a failed run of the application nobody is asked, and the
            jury says FAIL.
        confidences: cases x voters: the confidence of the vote, 0..1; NaN for none.
        scores: cases x voters: the score; NaN for none.
        orders: cases x voters x 2: the votes of pairwise judges with A shown first, and with B shown first.
        gold: per case, the human label, as a place in ``labels``; -1 for none.
        grades: per case, the human label if it is a number; else NaN.
        groups: per case, the number of its group; all are different if cases are independent.
        contents: per case, a hash of its content; 0 if it is unknown.
        keys: per case, its id, else a hash of its content, else nothing; pairs the cases of two batches.
        lengths: per case, the characters of the answer; NaN if unknown.
        generators: per case, the model that wrote the answer; empty if unknown.
    """

    labels: tuple[str, ...]
    jurors: tuple[str, ...]
    models: tuple[str, ...]
    selected: frozenset[str]
    codes: Ints
    asked: Bools
    confidences: Floats
    scores: Floats
    orders: Ints
    gold: Ints
    grades: Floats
    groups: Ints
    contents: Ints
    keys: Texts
    lengths: Floats
    generators: Texts

    @classmethod
    def of(cls, results: Results, *, label: str = "", group: str = "", pass_labels: Iterable[Any] = ()) -> Self:
        """Read the votes of a results file, of results, of judgments, or of pairs of a case and its judgment.

        Args:
            results: the path of a results file, or the objects, which are read once and not kept.
            label: the entry of the metadata of a case that is its human label; by default that of the result, and
                ``human_label`` of a judgment or a pair.
            group: the entry that is its group; by default that of the result.
            pass_labels: the labels that mean PASS, beside true, pass and yes. If there are any, every other label means
                FAIL. Without any, human labels other than these three and false, fail and no are refused. Capitals
                do not matter. A number is a grade, and a label only if there are pass labels. An empty label, NaN, NA,
                N/A and #N/A are no labels.

        Raises:
            ConfigurationError: ``pass_labels`` is one text.
            InputError: the file or a label cannot be read, a pass label does not occur, or two copies of a case have
                different human labels.

        >>> from jury_adapters import Ensemble
        >>> jury = Ensemble({"short": lambda case: len(case.answer) < 9, "polite": lambda case: "!" not in case.answer})
        >>> votes = Votes.of(jury.judge_pairs([{"answer": "Yes."}, {"answer": "No!"}]))
        >>> votes.voters, votes.codes.tolist()
        (('short', 'polite', 'the jury'), [[1, 1, 1], [1, 0, 0]])
        """
        return cls._make([_read(one, label, group) for one in results_of(results)], (), pass_labels)

    @classmethod
    def from_rows(
        cls,
        rows: Iterable[Sequence[Any]],
        *,
        jurors: Iterable[str] = (),
        verdicts: Iterable[Any] | None = None,
        human_labels: Iterable[Any] | None = None,
        groups: Iterable[Any] | None = None,
        ids: Iterable[Any] | None = None,
        confidences: Iterable[Sequence[float | None] | None] | None = None,
        pass_labels: Iterable[Any] = (),
    ) -> Self:
        """Take votes from tables with a row per case and a column per juror.

        Args:
            rows: the votes. Words and booleans are labels, numbers are scores, also 0 and 1; None, NaN, NA and ``""``
                are no votes. The labels mean PASS and FAIL if all are true, pass, yes, false, fail or no, or if there
                are pass labels.
            jurors: the names of the jurors; ``juror 1`` and so on by default.
            verdicts: the verdict of the jury on each case; the vote, if there is one juror.
            human_labels: the human label of each case.
            groups: the group of each case; None for a case of its own.
            ids: the id of each case. Rows of one id are one group.
            confidences: the confidence of each vote, 0..1; None for a case without any.
            pass_labels: as in :meth:`of`.

        Raises:
            ConfigurationError: a row or a column has another length, two jurors have one name, or ``pass_labels`` is
                one text.
            InputError: a label cannot be read, or a pass label does not occur.

        >>> votes = Votes.from_rows([["yes", "no"], ["yes", None]], human_labels=[True, False])
        >>> votes.labels, votes.codes.tolist(), votes.gold.tolist()
        (('FAIL', 'PASS'), [[1, 0, -1], [1, -1, -1]], [1, 0])
        """
        table = [list(row) for row in rows]
        names = [*jurors] or [f"juror {number + 1}" for number in range(len(table[0]) if table else 0)]
        verdicts = [vote for row in table for vote in row[:1]] if verdicts is None and len(names) == 1 else verdicts
        beside = (verdicts, human_labels, groups, ids, confidences)
        columns = [[None] * len(table) if given is None else [*given] for given in beside]
        widths = {len(row) for row in (*table, *columns[-1]) if row is not None}
        if not widths <= {len(names)} or {*map(len, columns)} != {len(table)} or len(set(names)) < len(names):
            raise ConfigurationError(f"a row, a column or a name does not fit {len(table)} rows of {len(names)} jurors")
        found = []
        for row, verdict, label, group, key, sure in zip(table, *columns, strict=True):
            stated = [None] * len(names) if sure is None else sure
            said = {name: _cell(value, confidence) for name, value, confidence in zip(names, row, stated, strict=True)}
            if verdicts is not None:
                said[JURY] = _cell(verdict, stated[0] if len(names) == 1 else None)
            found.append(_Row(said, label, group, _word(key) or ""))
        return cls._make(found, names, pass_labels)

    @classmethod
    def _make(cls, rows: "Sequence[_Row]", names: Iterable[str], pass_labels: Iterable[Any]) -> Self:
        """Make the matrices of rows."""
        _refuse_contradictions(rows)
        models = dict.fromkeys(names, "")
        for row in rows:
            models |= {name: models.get(name) or vote.model for name, vote in row.said.items() if name != JURY}
        reader, nobody = _Labels.of(rows, pass_labels), _Vote(None, asked=False)
        contents = np.array([int(row.content[:15] or "0", 16) for row in rows], dtype=np.int64)
        grid = [row.said.get(name, nobody) for row in rows for name in (*models, JURY)]

        def matrix(cell: Callable[[_Vote], Any], kind: Any = np.float64, *inside: int) -> Any:
            return np.array([cell(vote) for vote in grid], dtype=kind).reshape(len(rows), len(models) + 1, *inside)

        return cls(
            labels=reader.labels,
            jurors=tuple(models),
            models=(*models.values(), ""),
            selected=frozenset().union(*(row.selected for row in rows)),
            codes=matrix(lambda vote: reader.code(vote.word, vote.meaning), np.int64),
            asked=matrix(lambda vote: vote.asked, np.bool_),
            confidences=matrix(lambda vote: vote.confidence if vote.word else nan),
            scores=matrix(lambda vote: vote.score),
            orders=matrix(lambda vote: [reader.code(word) for word in vote.orders], np.int64, 2),
            gold=np.array([reader.code(label_of(row.label)) for row in rows], dtype=np.int64),
            grades=np.array([_number(row.label) for row in rows], dtype=np.float64),
            contents=contents,
            groups=group_numbers(
                np.array([hash(row.key.strip()) for row in rows], dtype=np.int64),
                contents,
                np.array([hash(_word(row.group) or "") for row in rows], dtype=np.int64),
            ),
            keys=np.array([row.key for row in rows], dtype=np.str_),
            lengths=np.array([row.length for row in rows], dtype=np.float64),
            generators=np.array([row.generator for row in rows], dtype=np.str_),
        )

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def voters(self) -> tuple[str, ...]:
        """The jurors, and the jury."""
        return (*self.jurors, JURY)

    @property
    def binary(self) -> bool:
        """Whether votes mean PASS or FAIL."""
        return self.labels == _SCALE

    @property
    def failed(self) -> Bools:
        """Per case, whether the application failed."""
        return np.asarray(~self.asked[:, -1] & (self.codes[:, -1] != MISSING), dtype=np.bool_)

    @property
    def panel(self) -> list[int]:
        """The columns of the jurors that were asked about every case."""
        return [place for place, name in enumerate(self.jurors) if name not in self.selected]

    def column(self, voter: str) -> int:
        """Return the column of a voter.

        Raises:
            ConfigurationError: there is no such voter.
        """
        if voter not in self.voters:
            raise ConfigurationError(f"{voter!r} is no voter; the voters are {', '.join(self.voters)}")
        return self.voters.index(voter)

    def said(self, voter: str) -> Ints:
        """Return the votes of a voter, or the human labels, one code per case.

        Raises:
            ConfigurationError: there is no such voter.
        """
        return self.gold if voter == PEOPLE else self.codes[:, self.column(voter)]

    def take(self, cases: Any) -> Self:
        """Return the votes on some of the cases.

        Args:
            cases: the places of the cases, or a mask.
        """
        parts = ((one.name, getattr(self, one.name)) for one in fields(self))
        return replace(self, **{name: part[cases] for name, part in parts if isinstance(part, np.ndarray)})


class _Vote(NamedTuple):
    """What a voter said: a word, PASS or FAIL if it means one, and the words of both orders of a pair."""

    word: str | None
    meaning: str | None = None
    score: float = nan
    confidence: float = nan
    orders: tuple[str | None, ...] = (None, None)
    model: str = ""
    asked: bool = True


class _Row(NamedTuple):
    """Row of a case; ``key`` is its id, or the hash of its content."""

    said: Mapping[str, _Vote]
    label: Any = None
    group: Any = None
    key: str = ""
    content: str = ""
    length: float = nan
    generator: str = ""
    selected: frozenset[str] = frozenset()


def results_of(source: Results) -> Iterator[Result]:
    """Return the results of a file, or of objects: results, judgments, or pairs of a case and its judgment."""
    return read_results(source) if isinstance(source, str | Path) else map(result_of, source)


def result_of(entry: Entry) -> Result:
    """Return an entry as a result; the human label of a case is the entry ``human_label`` of its metadata."""
    if isinstance(entry, Result):
        return entry
    case, judgment = (None, entry) if isinstance(entry, Judgment) else entry
    return Result(
        jury="",
        case=case,
        judgment=judgment,
        human_label=facts_of(case or Case(metadata=judgment.case_metadata), "human_label", "")[0],
    )


def case_of(result: Result) -> Case:
    """Return the case of a result; one that has only its id and its generator if there is none."""
    return result.case or Case(id=result.judgment.case_id, generator=result.judgment.generator)


def _read(one: Result, label: str, group: str) -> _Row:
    """Read a result."""
    judgment, metadata = one.judgment, one.judgment.case_metadata if one.case is None else one.case.metadata
    case = case_of(one)
    content = "" if case.content_hash == NOTHING else case.content_hash
    failed, selected = case.error is not None and not case.answer, set[str]()
    said = {JURY: _vote(judgment, judgment.on)._replace(asked=not failed)}
    for prefix, later, panel in _panels(judgment):
        single = panel.voting in ("cascade", *_NO_PANEL)
        votes = {f"{prefix}{vote.critic}": _vote(vote, panel.on) for vote in ((panel,) if single else panel.judgments)}
        said |= votes
        selected |= {*votes} if later else set() if single else {f"{prefix}{name}" for name in panel.skipped}
    return _Row(
        said=said,
        label=metadata.get(label) if label else one.human_label,
        group=metadata.get(group) if group else one.group,
        key=case.id or content,
        content="" if failed else content,  # what failed alike is no copy
        length=nan if case.answer is None else float(len(case.answer)),
        generator=case.generator or "",
        selected=frozenset(selected),
    )


def _panels(judgment: Judgment) -> list[tuple[str, bool, Judgment]]:
    """Return the parts of a judgment whose jurors answer its question: the prefix, whether it is later, the part."""
    if judgment.voting != "cascade":
        return [] if judgment.voting in _NO_PANEL else [("", False, judgment)]
    tiers = [tier for tier in judgment.judgments if not tier.by_rule and tier.why not in SCREENING.values()]
    return [(f"{tier.tier} / ", place > 0, tier) for place, tier in enumerate(tiers)]


def _vote(one: Judgment, on: str) -> _Vote:
    """Read a judgment, of which the status or the label is counted; of a judge by itself, either."""
    meaning = None if one.passed is None or (on == "label" and one.label) else one.status.value
    score, sure = (nan if number is None else number for number in (one.score, one.confidence))
    pair = one.voting == "pairwise" and len(one.judgments) == 2
    orders = tuple(order.ballot for order in one.judgments) if pair else (None, None)
    return _Vote(meaning if on == "status" else one.ballot, meaning, score, sure, orders, one.model or "")


def _cell(value: Any, confidence: float | None) -> _Vote:
    """Read a cell of a table: a number is a score."""
    number = _number(value)
    word = None if isfinite(number) else label_of(value)
    return _Vote(word, MEANINGS.get((word or "").casefold()), number, nan if confidence is None else confidence)


class _Labels(NamedTuple):
    """The labels of a batch, and the place of each word among them."""

    labels: tuple[str, ...]
    places: Mapping[str, int]

    @classmethod
    def of(cls, rows: Sequence[_Row], pass_labels: Iterable[Any]) -> Self:
        """Read the labels of votes and of people; for the errors see :meth:`Votes.of`."""
        if isinstance(pass_labels, str):
            raise ConfigurationError(f"pass_labels= is a list of labels, not {pass_labels!r}")
        passing = {word.casefold() for word in map(_word, pass_labels) if word}
        votes = [vote for row in rows for vote in row.said.values() if vote.word]
        said = {word for vote in votes for word in (vote.word, *vote.orders) if word}
        people = {
            word for row in rows if (word := label_of(row.label)) and (passing or not isfinite(_number(row.label)))
        }
        if absent := passing - {word.casefold() for word in said | people}:
            raise InputError(
                f"no case has the label {min(absent)!r} of pass_labels=; the human labels are "
                f"{visible(', '.join(sorted(people)) or 'none')}, and votes that are numbers are scores"
            )
        others = "FAIL" if passing else None
        meanings = {
            word: "PASS" if word.casefold() in passing else MEANINGS.get(word.casefold(), others)
            for word in (*said, *people, *_SCALE)
        }
        unknown = [word for word in people if not meanings[word]]
        if passing or (all(vote.meaning for vote in votes) and (votes or not unknown)):
            if unknown:
                raise InputError(
                    f"human labels are pass (true, yes) and fail (false, no), not "
                    f"{visible(', '.join(sorted(unknown)))}; pass_labels= names those that mean PASS, and then all "
                    "others mean FAIL"
                )
            return cls(_SCALE, {word: _SCALE.index(one) for word, one in meanings.items() if one})
        if (said and people and not said & people) or len(said | people) > _MOST_LABELS:
            raise InputError(
                f"the human labels are {visible(', '.join(sorted(people)))}, and the jurors give others: "
                f"{visible(', '.join(sorted(said)))}"
            )
        labels = sorted(said | people)
        return cls(tuple(labels), {word: place for place, word in enumerate(labels)})

    def code(self, word: str | None, meaning: str | None = None) -> int:
        """Return the place of a vote, or of a human label."""
        found = meaning if meaning and self.labels == _SCALE else word
        return self.places.get(found or "", MISSING)


def _refuse_contradictions(rows: Sequence[_Row]) -> None:
    """Refuse copies of a case that people labelled differently."""
    labels: dict[tuple[str, str], str] = {}
    for row in rows:
        word = label_of(row.label)
        if row.content and word and (first := labels.setdefault((row.key, row.content), word)) != word:
            raise InputError(f"the case {visible(row.key)} has two human labels, {visible(first)} and {visible(word)}")


def group_numbers(*names: Ints) -> Ints:
    """Return the number of the group of each case: cases that share a name, such as an id, are together.

    Args:
        *names: of each kind of name, per case a hash; 0 for none, as that of an empty text.
    """
    n = len(names[0])
    links = [
        np.stack([np.flatnonzero(kind), start * n + np.unique(kind[kind != 0], return_inverse=True)[1]])
        for start, kind in enumerate(names, start=1)
    ]
    cases, nodes = np.hstack(links).astype(np.int32)  # SciPy 1.11 takes no others
    if len(np.unique(nodes)) == len(nodes):
        return np.arange(n)
    from scipy.sparse import coo_array, csgraph  # 10 MiB, which most batches do not need

    graph = coo_array((np.ones(len(nodes)), (cases, nodes)), shape=((len(names) + 1) * n,) * 2)
    return np.asarray(csgraph.connected_components(graph, directed=False)[1][:n], dtype=np.int64)


def _word(value: Any) -> str | None:
    """Return a name as a word; None for none, such as the NaN and NA of tables."""
    if isinstance(value, Real) and not isinstance(value, bool):
        return f"{float(value):g}" if isfinite(value) else None
    word = "" if value is None else str(value).strip()
    return None if word.casefold() in ("", "nan", "<na>") else word


def label_of(value: Any) -> str | None:
    """Return a label as a word; None for none, which also NA, N/A and #N/A are; a country may be called NA."""
    word = _word(value)
    return None if word and word.casefold() in ("na", "n/a", "#n/a") else word


def _number(value: Any) -> float:
    """Return a label that is a number; NaN for any other."""
    return float(value) if isinstance(value, Real) and not isinstance(value, bool) else nan
