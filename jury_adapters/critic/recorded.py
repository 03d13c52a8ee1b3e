"""Jurors whose votes were cast before: real judges, offline and free."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, Unpack

from jury_adapters.core.case import Case
from jury_adapters.core.ensemble import Ensemble, EnsembleOptions
from jury_adapters.core.errors import ConfigurationError, InputError
from jury_adapters.core.families import family_of
from jury_adapters.core.judge import PlainJudge
from jury_adapters.core.judgment import NO_USAGE, Judgment, Status, Usage, abstain
from jury_adapters.core.rows import read_whole_rows
from jury_adapters.core.values import unit_interval
from jury_adapters.store import Entry, existing_store, is_url

Votes: TypeAlias = Mapping[str, object]
"""The votes on one item by judge: ``{"label": ...}`` and more, or the bare label; None where there is none."""

_FINGERPRINT_SHOWN = 8  # characters


class RecordedCritic(PlainJudge):
    """A judge that repeats the votes it once cast. A missing vote abstains.

    A vote is ``{"label": ..., "score"?: 0..1, "confidence"?: 0..1, "model"?: ..., "reasoning"?: ...}``, or the bare
    label.

    Args:
        judge: the name under which the votes were recorded.
        votes: per item, the votes by judge: a JSONL file, a store (``"runs.db"``), or what :func:`read_votes` returned.
            Without it each case brings its own, in ``case.metadata["votes"]``, as the rows of a recorded file do.
        pass_labels: labels that mean PASS; every other label then means FAIL. Without it a label has no PASS/FAIL
            meaning, and a vote with a score alone passes from ``threshold`` on.
        abstain_labels: labels that are no vote, such as the ``tie`` of a pairwise judge whose two orders disagree.
        threshold: where a vote has only a score, PASS from here on.
        name: the juror's name; the judge's by default.
        cost: US dollars one such vote costs, roughly; then each vote counts as one call at that price.

    >>> RecordedCritic("gpt-4o", pass_labels=["valid"]).judge(metadata={"votes": {"gpt-4o": {"label": "valid"}}}).passed
    True
    """

    def __init__(
        self,
        judge: str,
        votes: str | Path | Mapping[str, Votes] | None = None,
        *,
        pass_labels: Collection[str] = (),
        abstain_labels: Collection[str] = (),
        threshold: float = 0.5,
        name: str = "",
        cost: float = 0.0,
    ) -> None:
        for what, labels in (("pass_labels", pass_labels), ("abstain_labels", abstain_labels)):
            if isinstance(labels, str):
                raise ConfigurationError(f"{what} is a list of labels: [{labels!r}]")
        self.name = name or judge
        self.cost = cost
        self._judge = judge
        self._usage = Usage(calls=1, cost_usd=cost) if cost else NO_USAGE
        self._votes = read_votes(votes) if isinstance(votes, str | Path) else votes
        self._pass = frozenset(map(str, pass_labels))
        self._abstain = frozenset(map(str, abstain_labels))
        self._threshold = unit_interval(threshold, "threshold")
        if self._votes is not None:
            _check_recorded(judge, self._votes, self._pass)

    def examine(self, case: Case) -> Judgment:
        vote = self._recorded(case)
        if vote is None:
            return abstain(f"no vote of {self._judge} is recorded for this case")
        label = None if vote.get("label") is None else str(vote["label"])  # ratings such as 4 are labels too
        score = vote.get("score")
        model = vote.get("model") or self._judge
        nothing = label is None and score is None and vote.get("status") is None
        if label in self._abstain or nothing or vote.get("status") == Status.ABSTAIN:
            return abstain(f"recorded: {label}", model=model, family=family_of(model), usage=self._usage)
        return Judgment(
            self._status(label, score) if vote.get("status") is None else Status(vote["status"]),
            label=label,
            score=score,
            confidence=vote.get("confidence"),
            reasoning=vote.get("reasoning") or "",
            model=model,
            family=family_of(model),
            usage=self._usage,
        )

    def _recorded(self, case: Case) -> Mapping[str, Any] | None:
        cast: object
        if self._votes is None:
            cast = case.metadata.get("votes")
        else:
            item = case.metadata.get("item_id", case.metadata.get("id"))
            cast = self._votes.get(str(item)) or self._votes.get(case.key)  # a store knows cases by their key
        return _vote_of(self._judge, cast) if isinstance(cast, Mapping) else None

    def _status(self, label: str | None, score: float | None) -> Status | None:
        if label is None:
            return Status.PASS if score is not None and score >= self._threshold else Status.FAIL
        if not self._pass:
            return None
        return Status.PASS if label in self._pass else Status.FAIL


def _vote_of(judge: str, cast: Votes) -> Mapping[str, Any] | None:
    vote = cast.get(judge)
    if isinstance(vote, str | int | float):
        return {"label": vote}
    return vote if isinstance(vote, Mapping) else None


def _check_recorded(judge: str, votes: Mapping[str, Votes], pass_labels: frozenset[str]) -> None:
    """Refuse a judge that never voted, and pass labels that it never used: a misspelt one would fail everything."""
    found = (_vote_of(judge, cast) for cast in votes.values())
    labels = {str(vote.get("label")) for vote in found if vote is not None}
    if not labels:
        known = sorted({name for cast in votes.values() for name in cast})
        raise ConfigurationError(f"no vote of {judge!r} is recorded; there are votes of {', '.join(known) or 'nobody'}")
    if pass_labels and not labels & pass_labels and len(labels) > 1:
        raise ConfigurationError(
            f"{judge!r} never voted {' or '.join(sorted(pass_labels))}; its labels are {', '.join(sorted(labels))}"
        )


def read_votes(path: str | Path) -> dict[str, Votes]:
    """Read recorded votes: JSON lines with ``item_id`` and ``votes``; other columns are left alone.

    From a store (``.db``, ``.sqlite``) come the judgments of its critics, by the case's key. A critic goes by the name
    of its model; see :func:`named_judgments` for those with one name. Of repeated asks the first counts.

    Raises:
        InputError: an unreadable row, or one without item_id or votes; the message names the line.
    """
    if is_store(path):
        return _votes_of_store(path)
    votes: dict[str, Votes] = {}
    for line, row in read_whole_rows(path):
        item, cast = row.get("item_id"), row.get("votes")
        if item is None or not isinstance(cast, Mapping):
            raise InputError(f"{path}, line {line}: a recorded row needs item_id and votes")
        if str(item) in votes:
            raise InputError(f"{path}, line {line}: item_id {item!r} stands in an earlier line too")
        votes[str(item)] = cast
    return votes


def is_store(path: str | Path) -> bool:
    """Whether this is a store, by its name: ``.db``, ``.sqlite`` or ``.sqlite3``, or the URL of a database."""
    return is_url(path) or Path(path).suffix in (".db", ".sqlite", ".sqlite3")


def named_judgments(entries: Sequence[Entry]) -> Iterator[tuple[str, str, Judgment]]:
    """Yield the first asks of a store's judgments: the key of the case, the name of the critic, the judgment.

    A critic is named after its model: ``model/rubric`` where the model judged by several rubrics, and followed by
    ``@`` and its fingerprint where several critics would have one name, such as those of two servers.
    """
    first = [entry for entry in entries if "." not in entry.key.sample]
    rubrics = _groups((str(entry.judgment.model), _rubric_of(entry)) for entry in first)

    def name_of(entry: Entry) -> str:
        model = str(entry.judgment.model)
        return model if len(rubrics[model]) == 1 else f"{model}/{_rubric_of(entry)}"

    critics = _groups((name_of(entry), entry.key.critic) for entry in first)
    for entry in first:
        name = name_of(entry)
        full = name if len(critics[name]) == 1 else f"{name}@{entry.key.critic[:_FINGERPRINT_SHOWN]}"
        # A case's key may be followed by what else of its metadata the prompt showed.
        yield entry.key.case_key.partition("-")[0], full, entry.judgment


def cases_of_store(path: str | Path) -> list[Case]:
    """The cases of a store, each with the votes of its critics in ``metadata["votes"]``."""
    votes = read_votes(path)
    with existing_store(path) as store:
        cases = {case.key: case for _, case in store.cases()}
    return [case.model_copy(update={"metadata": {"votes": votes[key]}}) for key, case in cases.items() if key in votes]


def recorded_jury(
    path: str | Path,
    judges: Iterable[str] = (),
    *,
    pass_labels: Collection[str] = (),
    abstain_labels: Collection[str] = (),
    **options: Unpack[EnsembleOptions],
) -> Ensemble:
    """An ensemble of the judges whose votes a file holds.

    Args:
        path: the file of recorded votes.
        judges: which judges, in juror order; all of them, sorted by name, by default.
        pass_labels: as in :class:`RecordedCritic`.
        abstain_labels: as in :class:`RecordedCritic`.
        **options: options of :class:`Ensemble`.
    """
    votes = read_votes(path)
    names = list(judges) or sorted({name for cast in votes.values() for name in cast})
    critics = [RecordedCritic(n, votes, pass_labels=pass_labels, abstain_labels=abstain_labels) for n in names]
    return Ensemble(critics, **options)


def _votes_of_store(path: str | Path) -> dict[str, Votes]:
    with existing_store(path) as store:
        entries = tuple(store.entries())
    votes: dict[str, dict[str, Mapping[str, Any]]] = {}
    for case_key, name, judgment in named_judgments(entries):
        votes.setdefault(case_key, {}).setdefault(name, _recorded_form(judgment))
    return dict(votes)


def _rubric_of(entry: Entry) -> str:
    return str(entry.judgment.metadata.get("rubric", entry.key.rubric))


def _groups(pairs: Iterable[tuple[str, str]]) -> dict[str, set[str]]:
    groups: dict[str, set[str]] = {}
    for name, member in pairs:
        groups.setdefault(name, set()).add(member)
    return groups


def _recorded_form(judgment: Judgment) -> Mapping[str, Any]:
    fields = {name: getattr(judgment, name) for name in ("label", "score", "confidence", "model", "reasoning")}
    status = None if judgment.status is None else str(judgment.status)
    return {"status": status, **{name: value for name, value in fields.items() if value is not None}}
