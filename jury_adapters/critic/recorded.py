"""Jurors that repeat recorded votes of real judges, offline and at no cost."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias, Unpack

from jury_adapters.core.case import Case
from jury_adapters.core.ensemble import Ensemble, EnsembleOptions
from jury_adapters.core.errors import ConfigurationError, InputError
from jury_adapters.core.judge import PlainJudge
from jury_adapters.core.judgment import ANY_OPINION, PASS_OR_FAIL, Judgment, OpinionStatuses, Status, abstain, evolve
from jury_adapters.core.model_families import family_of
from jury_adapters.core.rows import read_whole_rows
from jury_adapters.core.serial import judgment_from_dict
from jury_adapters.core.tolerance import reaches
from jury_adapters.core.usage import NO_USAGE, Usage
from jury_adapters.core.values import unit_interval
from jury_adapters.core.verdict import Verdict
from jury_adapters.critic.recording import Recording
from jury_adapters.store import is_url

Votes: TypeAlias = Mapping[str, object]
"""Votes on one item by judge: ``{"label": ...}`` with further keys, or the bare label; None if there is no vote."""


class RecordedCritic(PlainJudge):
    """Judge that repeats its recorded votes. It abstains where no vote is recorded.

    A vote is ``{"label": ..., "score"?: 0..1, "confidence"?: 0..1, "model"?: ..., "reasoning"?: ...}``, or the bare
    label.

    Args:
        judge: the name under which the votes were recorded.
        votes: per item, the votes by judge: a JSONL file, a store (``"runs.db"``), or the result of :func:`read_votes`.
            By default each case has its own votes in ``case.metadata["votes"]``, as the rows of a recorded file do.
        pass_labels: labels that mean PASS; every other label then means FAIL. By default, a label has no PASS/FAIL
            meaning, and a vote with only a score passes from ``threshold`` on.
        abstain_labels: labels that are not votes, such as the ``tie`` of a pairwise judge whose two orders disagree.
        threshold: the lowest score that passes, for votes with only a score.
        name: the juror's name; the judge's by default.
        cost: the approximate price of a vote in US dollars. If given, each vote counts as one call at that price.

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
        self._names: tuple[str, ...] = (judge,)
        self._usage = Usage(calls=1, cost_usd=cost) if cost else NO_USAGE
        self._votes = read_votes(votes) if isinstance(votes, str | Path) else votes
        self._pass = frozenset(map(str, pass_labels))
        self._abstain = frozenset(map(str, abstain_labels))
        self._threshold = unit_interval(threshold, "threshold")
        if self._votes is not None:
            _check_recorded(judge, self._votes, self._pass)

    @property
    def opinion_statuses(self) -> OpinionStatuses:
        return PASS_OR_FAIL if self._pass else ANY_OPINION

    def examine(self, case: Case) -> Judgment:
        vote = self._recorded(case)
        if vote is None:
            return abstain(f"no vote of {self._judge} is recorded for this case")
        if "status" in vote:
            return self._served(_judgment_in(vote))
        label = None if vote.get("label") is None else str(vote["label"])  # ratings such as 4 are labels too
        score = vote.get("score")
        model = vote.get("model") or self._judge
        if label in self._abstain or (label is None and score is None):
            return abstain(f"recorded: {label}", model=model, family=family_of(model), usage=self._usage)
        return Judgment(
            self._status(label, score),
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
            cast = self._votes.get(str(item)) or self._votes.get(case.key)  # a store identifies cases by their keys
        if not isinstance(cast, Mapping):
            return None
        return next((vote for name in self._names if (vote := _vote_of(name, cast)) is not None), None)

    def _served(self, judgment: Judgment) -> Judgment:
        """Return a judgment from a store or a results file as this judge's own."""
        usage = self._usage if self._usage.calls else judgment.usage.as_recorded()
        if judgment.label in self._abstain:
            return abstain(f"recorded: {judgment.label}", model=judgment.model, family=judgment.family, usage=usage)
        if judgment.status is None:
            return evolve(judgment, status=self._status(judgment.label, judgment.score), usage=usage)
        return evolve(judgment, usage=usage)

    def _status(self, label: str | None, score: float | None) -> Status | None:
        if label is None:
            return Status.PASS if score is not None and reaches(score, self._threshold) else Status.FAIL
        if not self._pass:
            return None
        return Status.PASS if label in self._pass else Status.FAIL


def _judgment_in(vote: Mapping[str, Any]) -> Judgment:
    known = Verdict if vote.get("kind") == "verdict" else Judgment
    return judgment_from_dict(
        {key: value for key, value in vote.items() if key == "kind" or key in known.__dataclass_fields__}
    )


def _vote_of(judge: str, cast: Votes) -> Mapping[str, Any] | None:
    vote = cast.get(judge)
    if isinstance(vote, str | int | float):
        return {"label": vote}
    return vote if isinstance(vote, Mapping) else None


def _check_recorded(judge: str, votes: Mapping[str, Votes], pass_labels: frozenset[str]) -> None:
    """Refuse a judge without votes, and pass labels that it never used: a misspelt label would fail every case."""
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
    """Read recorded votes from JSON lines with ``item_id`` and ``votes``. Other columns are ignored.

    A store (``.db``, ``.sqlite``) gives the judgments of its critics, by the case's key and the critic's name; see
    :meth:`Recording.full_name`. Of repeated requests, the first counts.

    Raises:
        InputError: a row is unreadable, or has no item_id or votes; the message names the line.
    """
    if is_store(path):
        return _votes_in(Recording.read(path))
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
    """Return whether the path names a store: it ends in ``.db``, ``.sqlite`` or ``.sqlite3``, or is a database URL."""
    return is_url(path) or Path(path).suffix in (".db", ".sqlite", ".sqlite3")


def cases_of_store(path: str | Path) -> list[Case]:
    """Return the cases of a store, each with the votes of its critics in ``metadata["votes"]``.

    Raises:
        InputError: there is no such store.
    """
    recording = Recording.read(path)
    return [case for case in with_votes(recording, recording.cases.values()) if case.metadata["votes"]]


def with_votes(recording: Recording, cases: Iterable[Case]) -> list[Case]:
    """Return cases, each with the votes of a store's critics in ``metadata["votes"]``, by their full names."""
    votes = _votes_in(recording)
    return [case.model_copy(update={"metadata": {**case.metadata, "votes": votes.get(case.key, {})}}) for case in cases]


def recorded_jury(
    path: str | Path,
    judges: Iterable[str] = (),
    *,
    pass_labels: Collection[str] = (),
    abstain_labels: Collection[str] = (),
    **options: Unpack[EnsembleOptions],
) -> Ensemble:
    """Return an ensemble of the judges whose votes a file contains.

    Args:
        path: the file of recorded votes.
        judges: the names of the judges, in juror order; by default all of them, sorted by name.
        pass_labels: as in :class:`RecordedCritic`.
        abstain_labels: as in :class:`RecordedCritic`.
        **options: options of :class:`Ensemble`.
    """
    votes = read_votes(path)
    names = list(judges) or sorted({name for cast in votes.values() for name in cast})
    critics = [RecordedCritic(n, votes, pass_labels=pass_labels, abstain_labels=abstain_labels) for n in names]
    return Ensemble(critics, **options)


def _votes_in(recording: Recording) -> dict[str, Votes]:
    votes: dict[str, dict[str, Mapping[str, Any]]] = {}
    for case_key, name, judgment in recording.first_asks():
        votes.setdefault(case_key, {}).setdefault(name, judgment.to_dict())
    return dict(votes)
