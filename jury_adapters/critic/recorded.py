"""Jurors whose votes were cast before: real judges, offline and free."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias, Unpack

from jury_adapters.core.case import Case
from jury_adapters.core.ensemble import Ensemble, EnsembleOptions
from jury_adapters.core.errors import ConfigurationError, InputError
from jury_adapters.core.families import family_of
from jury_adapters.core.judge import PlainJudge
from jury_adapters.core.judgment import NO_USAGE, Judgment, Status, Usage, abstain
from jury_adapters.core.rows import read_rows
from jury_adapters.core.values import unit_interval

Votes: TypeAlias = Mapping[str, Mapping[str, Any]]


class RecordedCritic(PlainJudge):
    """A judge that repeats the votes it once cast. A missing vote abstains.

    A vote is ``{"label": ..., "score"?: 0..1, "confidence"?: 0..1, "model"?: ..., "reasoning"?: ...}``.

    Args:
        judge: the name under which the votes were recorded.
        votes: per item, the votes by judge: a JSONL file, or what :func:`read_votes` returned. Without it each case
            brings its own, in ``case.metadata["votes"]``, as the rows of a recorded file do.
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
        if self._votes is None:
            cast = case.metadata.get("votes")
        else:
            item = case.metadata.get("item_id", case.metadata.get("id"))
            cast = self._votes.get(str(item))
        vote = cast.get(self._judge) if isinstance(cast, Mapping) else None
        return vote if isinstance(vote, Mapping) else None

    def _status(self, label: str | None, score: float | None) -> Status | None:
        if label is None:
            return Status.PASS if score is not None and score >= self._threshold else Status.FAIL
        if not self._pass:
            return None
        return Status.PASS if label in self._pass else Status.FAIL


def _check_recorded(judge: str, votes: Mapping[str, Votes], pass_labels: frozenset[str]) -> None:
    """Refuse a judge that never voted, and pass labels that it never used: a misspelt one would fail everything."""
    labels = {str(cast[judge].get("label")) for cast in votes.values() if isinstance(cast.get(judge), Mapping)}
    if not labels:
        known = sorted({name for cast in votes.values() for name in cast})
        raise ConfigurationError(f"no vote of {judge!r} is recorded; there are votes of {', '.join(known) or 'nobody'}")
    if pass_labels and not labels & pass_labels and len(labels) > 1:
        raise ConfigurationError(
            f"{judge!r} never voted {' or '.join(sorted(pass_labels))}; its labels are {', '.join(sorted(labels))}"
        )


def read_votes(path: str | Path) -> dict[str, Votes]:
    """Read recorded votes: JSON lines with ``item_id`` and ``votes``; other columns are left alone.

    Raises:
        InputError: an unreadable row, or one without item_id or votes; the message names the line.
    """
    votes: dict[str, Votes] = {}
    for row in read_rows(path):
        if row.values is None:
            raise InputError(f"{path}, line {row.line}: {row.error}")
        item, cast = row.values.get("item_id"), row.values.get("votes")
        if item is None or not isinstance(cast, Mapping):
            raise InputError(f"{path}, line {row.line}: a recorded row needs item_id and votes")
        if str(item) in votes:
            raise InputError(f"{path}, line {row.line}: item_id {item!r} stands in an earlier line too")
        votes[str(item)] = cast
    return votes


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
