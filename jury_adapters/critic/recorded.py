"""Jurors that repeat recorded votes of real judges, offline and at no cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Iterable, Mapping, Set
from pathlib import Path
from typing import Any, TypeAlias, Unpack

from jury_adapters.core.arguments import refuse_renamed
from jury_adapters.core.case import Case
from jury_adapters.core.ensemble import Ensemble, EnsembleOptions
from jury_adapters.core.errors import ConfigurationError, InputError, plain_repr
from jury_adapters.core.human_labels import no_opinion
from jury_adapters.core.judge import Judge, Outcome
from jury_adapters.core.judgment import ANY_OPINION, PASS_OR_FAIL, Judgment, OpinionStatuses, Status, abstain, evolve
from jury_adapters.core.model_families import family_of
from jury_adapters.core.row_files import read_whole_rows
from jury_adapters.core.serial import judgment_from_dict
from jury_adapters.core.tolerance import reaches
from jury_adapters.core.usage import NO_USAGE, Usage
from jury_adapters.core.values import unit_interval
from jury_adapters.core.verdict import Verdict
from jury_adapters.critic.answers import Labels, comparable
from jury_adapters.critic.arguments import explains_wrong_calls
from jury_adapters.critic.given_rubric import given_labels
from jury_adapters.critic.recording import Recording
from jury_adapters.store import is_url

Votes: TypeAlias = Mapping[str, object]
"""Votes on one item by judge: ``{"label": ...}`` with further keys, the bare label, or a judgment; None without one."""
RecordedLabels: TypeAlias = Labels | Mapping[str, Any] | Mapping[int, Any]

_EXAMPLE = "RecordedCritic('gpt-4o', 'votes.jsonl', labels={'valid': 'pass', 'invalid': 'fail'})"
_RENAMED = {"pass_labels": "labels", "abstain_labels": "labels"}
_MOST_NAMED = 5
_STATUS_WORDS = {str(status): status for status in (Status.PASS, Status.FAIL)}
_BOOLS = {"True": "PASS", "False": "FAIL"}
_MIDDLE = 0.5  # the default, which declares nothing of the scores of the votes


class RecordedCritic(Judge):
    """Judge that repeats its recorded votes. It abstains where no vote is recorded.

    A vote is ``{"label": ..., "score"?: 0..1, "confidence"?: 0..1, "model"?: ..., "reasoning"?: ...}``, or the bare
    label. True is the label PASS, and False FAIL.

    Args:
        judge: the name under which the votes were recorded.
        votes: per item, the votes by judge: a JSONL file, a store (``"runs.db"``), or the result of :func:`read_votes`.
            By default each case has its own votes in ``case.metadata["votes"]``, as the rows of a recorded file do.
        labels: the meaning of the labels: a mapping of each label to ``"pass"``, ``"fail"``, ``"abstain"`` or a score,
            which passes from 0.5. If a label passes or fails, all labels in ``votes`` need a meaning, and a vote of a
            case with another label abstains. If labels only abstain, such as the ``tie`` of a pairwise judge whose two
            orders disagree, the others have no PASS/FAIL meaning. By default, only the words PASS and FAIL have one, in
            any case; with ``votes`` only if the judge votes nothing else. A blank label, ABSTAIN and ERROR abstain.
        threshold: the lowest score that passes, for votes with only a score.
        name: the juror's name; the judge's by default.
        cost: the approximate price of a vote in US dollars. If given, each vote counts as one call at that price on
            record (``usage.recorded``): nothing is asked or paid for now.

    >>> critic = RecordedCritic("gpt-4o", labels={"valid": "pass", "invalid": "fail", "tie": "abstain"})
    >>> critic.judge(metadata={"votes": {"gpt-4o": {"label": "valid"}}}).passed
    True
    """

    @explains_wrong_calls(_EXAMPLE, _RENAMED)
    def __init__(
        self,
        judge: str,
        votes: str | Path | Mapping[str, Votes] | None = None,
        *,
        labels: RecordedLabels | None = None,
        threshold: float = _MIDDLE,
        name: str = "",
        cost: float = 0.0,
    ) -> None:
        self.name = name or judge
        self.cost = cost
        self._judge = judge
        self._names: tuple[str, ...] = (judge,)
        self._asked: Counter[bool] = Counter()
        self._unpriced: Counter[None] = Counter()  # not a number, which would identify the judge as its settings do
        self._usage = Usage(calls=1, cost_usd=cost).as_recorded() if cost else NO_USAGE
        self._votes = read_votes(votes) if isinstance(votes, str | Path) else votes
        self._meanings = _Meanings(labels, _labels_of(judge, self._votes))
        self._labels = self._meanings.plain  # a guarantee identifies a judge by its plain attributes
        self._threshold = unit_interval(threshold, "threshold")
        if self._votes is not None:
            _check_recorded(judge, self._votes, self._meanings)

    @property
    def opinion_statuses(self) -> OpinionStatuses:
        return self._meanings.opinion_statuses

    @property
    def pass_scores(self) -> frozenset[float]:
        return frozenset() if self._threshold == _MIDDLE else frozenset({self._threshold})

    @property
    def recorded_name(self) -> str:
        """Name under which the votes were recorded."""
        return self._judge

    @property
    def has_own_votes(self) -> bool:
        """Whether the votes were given as ``votes=``, and are not those in the metadata of the cases."""
        return self._votes is not None

    @property
    def served(self) -> int:
        """Number of requests for which a recorded vote was served."""
        return self._asked[True]

    @property
    def missed(self) -> int:
        """Number of requests for which the judge has no recorded vote."""
        return self._asked[False]

    @property
    def unpriced(self) -> int:
        """Number of bare votes served without a ``cost``: each is a call of the judge that no usage counts."""
        return self._unpriced[None]

    def has_vote(self, case: Case) -> bool:
        """Return whether a vote of the judge on a case is recorded."""
        return self._recorded(case) is not None

    def assess(self, case: Case) -> Outcome | Awaitable[Outcome]:
        return self.recorded_judgment(case)

    def recorded_judgment(self, case: Case) -> Judgment:
        """Return the judgment on a case; an abstention without a recorded vote.

        Raises:
            ConfigurationError: the recorded vote is invalid.
        """
        vote = self._recorded(case)
        self._asked[vote is not None] += 1
        if vote is None:
            return self._without_vote(None if self.has_own_votes else case.metadata.get("votes"))
        return self._judgment_of(vote)

    def _without_vote(self, own: object) -> Judgment:
        """Return the abstention on a case; ``own`` is what the case has in place of votes, if these are its own."""
        if own is None or isinstance(own, Mapping):
            return abstain(f"no vote of {self._judge} is recorded for this case")
        return abstain(
            f"no vote of {self._judge} is recorded: the votes of this case are not an object of votes by judge, as in "
            f'{{"{self._judge}": "PASS"}}; a table has it as JSON'
        )

    def _judgment_of(self, vote: Mapping[str, Any] | Judgment) -> Judgment:
        if isinstance(vote, Judgment):
            return self._served(vote)
        if "status" in vote:
            return self._served(_judgment_in(vote))
        self._unpriced[None] += self._usage == NO_USAGE
        label = self._meanings.word(vote.get("label"))
        score = vote.get("score")
        model = vote.get("model") or self._judge
        why = self._meanings.why_abstains(label) or ("recorded: None" if label is None and score is None else "")
        if why:
            return abstain(why, model=model, family=family_of(model), usage=self._usage)
        status = self._status(label, score)
        return Judgment(
            status,
            label=label,
            score=self._meanings.score(label) if score is None else score,
            confidence=vote.get("confidence"),
            reasoning=vote.get("reasoning") or (f"recorded: {label}" if status is Status.ABSTAIN else ""),
            model=model,
            family=family_of(model),
            usage=self._usage,
        )

    def _recorded(self, case: Case) -> Mapping[str, Any] | Judgment | None:
        cast: object
        if self._votes is None:
            cast = case.metadata.get("votes")
        else:
            item = case.metadata.get("item_id", case.metadata.get("id"))
            cast = self._votes.get(str(item)) or self._votes.get(
                case.content_hash
            )  # a store identifies cases by their keys
        if not isinstance(cast, Mapping):
            return None
        return next((vote for name in self._names if (vote := _vote_of(name, cast)) is not None), None)

    def _served(self, judgment: Judgment) -> Judgment:
        """Return a judgment from a store or a results file as this judge's own."""
        usage = self._usage if self._usage.recorded else judgment.usage.as_recorded()
        why = self._meanings.why_abstains(judgment.label, otherwise=judgment.status is None)
        if why:
            return abstain(why, model=judgment.model, family=judgment.family, usage=usage)
        if judgment.status is None:
            return evolve(judgment, status=self._status(judgment.label, judgment.score), usage=usage)
        return evolve(judgment, usage=usage)

    def _status(self, label: str | None, score: float | None) -> Status | None:
        if label is None:
            return Status.PASS if score is not None and reaches(score, self._threshold) else Status.FAIL
        return self._meanings.status(label)


def _judgment_in(vote: Mapping[str, Any]) -> Judgment:
    known = Verdict if vote.get("kind") == "verdict" else Judgment
    return judgment_from_dict(
        {key: value for key, value in vote.items() if key == "kind" or key in known.__dataclass_fields__}
    )


def _vote_of(judge: str, cast: Votes) -> Mapping[str, Any] | Judgment | None:
    vote = cast.get(judge)
    if isinstance(vote, Judgment):
        return vote
    if isinstance(vote, str | int | float):
        return {"label": vote}
    return vote if isinstance(vote, Mapping) else None


class _Meanings:
    """Meanings of the labels of recorded votes.

    Args:
        labels: the meanings, as the user gave them.
        used: the labels of the judge, as far as they are known.
    """

    def __init__(self, labels: RecordedLabels | None, used: Set[str] = frozenset()) -> None:
        if isinstance(labels, Mapping):  # ratings such as 4 are labels too
            labels = {str(name): meaning for name, meaning in labels.items()}
        self._known = {} if labels is None else given_labels(labels).by_key
        self._statuses = frozenset(label.meaning for label in self._known.values())
        plain = labels is None and all(label.upper() in _STATUS_WORDS for label in used - _BOOLS.keys())
        self._words = _STATUS_WORDS if plain else {}
        self.decides = not self._statuses.isdisjoint(PASS_OR_FAIL)

    @property
    def plain(self) -> tuple[tuple[str, Status | None, float | None], ...]:
        return tuple((label.name, label.meaning, label.score) for label in self._known.values())

    @property
    def opinion_statuses(self) -> OpinionStatuses:
        return PASS_OR_FAIL if self.decides and None not in self._statuses else ANY_OPINION

    def word(self, label: object) -> str | None:
        """Return a label as text: ratings such as 4 are labels too, and true is PASS unless it has another meaning."""
        if label is None:
            return None
        text = str(label)
        return _BOOLS[text] if isinstance(label, bool) and not self.has(text) else text

    def has(self, label: str) -> bool:
        return comparable(label) in self._known

    def status(self, label: str) -> Status | None:
        found = self._known.get(comparable(label))
        return self._words.get(label.upper()) if found is None else found.meaning

    def score(self, label: str | None) -> float | None:
        found = None if label is None else self._known.get(comparable(label))
        return None if found is None else found.score

    def why_abstains(self, label: str | None, *, otherwise: bool = True) -> str:
        """Return why a vote with a label abstains, or "".

        Args:
            label: the label.
            otherwise: whether a label without a meaning abstains if others pass or fail.
        """
        if label is None:
            return ""
        if self.status(label) is Status.ABSTAIN or (no_opinion(label) and not self.has(label)):
            return f"recorded: {label.strip() or 'nothing'}"
        if otherwise and self.decides and not self.has(label):
            return f"recorded: {label}, which has no meaning in labels="
        return ""


def _cast_by(judge: str, votes: Mapping[str, Votes]) -> list[Mapping[str, Any] | Judgment]:
    return [vote for votes_of_item in votes.values() if (vote := _vote_of(judge, votes_of_item)) is not None]


def _labels_of(judge: str, votes: Mapping[str, Votes] | None) -> set[str]:
    """Return the labels of a judge's votes that have no status of their own."""
    labelled = [vote for vote in _cast_by(judge, votes or {}) if isinstance(vote, Mapping) and "status" not in vote]
    return {str(label) for vote in labelled if (label := vote.get("label")) is not None and not no_opinion(label)}


def _check_recorded(judge: str, votes: Mapping[str, Votes], meanings: _Meanings) -> None:
    """Refuse a judge without votes, and votes whose label has no meaning although other labels have one."""
    if not _cast_by(judge, votes):
        known = sorted({name for cast in votes.values() for name in cast})
        raise ConfigurationError(
            f"no vote of {plain_repr(judge)} is recorded; there are votes of {', '.join(known) or 'no judge'}"
        )
    without = sorted(label for label in _labels_of(judge, votes) if not meanings.has(label)) if meanings.decides else []
    if without:
        raise ConfigurationError(
            f"labels= has no meaning for {', '.join(map(repr, without[:_MOST_NAMED]))}, which {judge!r} voted; add "
            f"{plain_repr(without[0])}: 'pass', 'fail', 'abstain' or a score"
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
            raise InputError(f"{path}, line {line}: item_id {plain_repr(item)} is in an earlier line too")
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
    return [
        case.model_copy(update={"metadata": {**case.metadata, "votes": votes.get(case.content_hash, {})}})
        for case in cases
    ]


def recorded_jury(
    path: str | Path,
    judges: Iterable[str] = (),
    *,
    labels: RecordedLabels | None = None,
    **options: Unpack[EnsembleOptions],
) -> Ensemble:
    """Return an ensemble of the judges whose votes a file contains.

    Args:
        path: the file of recorded votes.
        judges: the names of the judges, in juror order; by default all of them, sorted by name.
        labels: the meaning of the labels of all judges, as in :class:`RecordedCritic`.
        **options: options of :class:`Ensemble`.
    """
    refuse_renamed(options, _RENAMED, "recorded_jury('votes.jsonl', labels={'valid': 'pass', 'invalid': 'fail'})")
    votes = read_votes(path)
    names = list(judges) or sorted({name for cast in votes.values() for name in cast})
    return Ensemble([RecordedCritic(name, votes, labels=labels) for name in names], **options)


def _votes_in(recording: Recording) -> dict[str, Votes]:
    votes: dict[str, dict[str, Mapping[str, Any]]] = {}
    for case_key, name, judgment in recording.first_asks():
        votes.setdefault(case_key, {}).setdefault(name, judgment.to_dict())
    return dict(votes)
