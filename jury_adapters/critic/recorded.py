"""Juror that repeats recorded votes, offline and at no cost."""

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import ValidationError

from jury_adapters.core.case import Case
from jury_adapters.core.judge import Check, Returned
from jury_adapters.core.judgment import Judgment, Status, abstain, labels_of
from jury_adapters.core.values import problems_of

_FIELDS = ("score", "confidence", "reasoning", "model")


class RecordedCritic(Check):
    """Judge that repeats the vote which ``case.metadata["votes"]`` has under its name.

    A vote is a label, True or False, a score in 0..1, a mapping with ``label`` and any of ``score``, ``confidence``,
    ``reasoning`` and ``model``, or the mapping of a :class:`Judgment`. Where there is none, or an empty text, the judge
    abstains with the reason *not recorded*. To repeat the judgments in a store instead, judge with the same jury and
    ``ReadOnly(store)``.

    Args:
        name: the name under which the votes were recorded, and that in verdicts.
        labels: the labels of the votes: a list of neutral ones, or a mapping of labels to ``"pass"``, ``"fail"``,
            ``"label"`` or ``"abstain"``. A label that is not declared is an ERROR. By default any label is a neutral
            one, but for PASS and FAIL.
        threshold: the score from which a vote that is only a score passes.

    Raises:
        ConfigurationError: a meaning of a label is wrong.

    >>> critic = RecordedCritic("gpt-4o", labels={"valid": "pass", "invalid": "fail"})
    >>> critic.judge(answer="...", metadata={"votes": {"gpt-4o": "invalid"}}).status.value
    'FAIL'
    """

    def __init__(
        self,
        name: str,
        *,
        labels: Mapping[str, Status | str] | Iterable[str] | None = None,
        threshold: float = 0.5,
    ) -> None:
        self.name, self.recorded_as, self.pass_mark = name, name, threshold
        self.labels = None if labels is None else labels_of(labels)

    def check(self, case: Case) -> Returned:
        """Return the recorded vote."""
        votes = case.metadata.get("votes")
        vote = votes.get(self.recorded_as) if isinstance(votes, Mapping) else None
        if vote in (None, ""):  # an empty cell is no vote
            return abstain(
                f"not recorded: the case has no vote of {self.recorded_as!r}", metadata={"cause": "not_recorded"}
            )
        if not isinstance(vote, Mapping):
            return self._outcome(vote)
        try:
            if "status" in vote:
                return Judgment.model_validate(dict(vote))
            return self._with_details(vote)
        except ValidationError as error:
            raise ValueError(f"the vote of {self.recorded_as!r} cannot be read: {problems_of(error)}") from None

    def _outcome(self, vote: Any) -> Returned:
        declared = self.labels is not None and isinstance(vote, bool | int) and str(vote) in self.labels
        return str(vote) if declared else vote

    def _with_details(self, vote: Mapping[str, Any]) -> Returned:
        details = {name: vote[name] for name in _FIELDS if vote.get(name) is not None}
        label = vote.get("label")
        if label is None and "score" not in details:
            raise ValueError(f"the vote of {self.recorded_as!r} has neither a label nor a score")
        if label is None:
            return self._outcome(details["score"]), details.get("reasoning")
        plain = None if str(label) in (self.labels or {}) else _PLAIN.get(str(label).upper())
        return Judgment(status=plain or Status.LABEL, label=None if plain else str(label), **details)


_PLAIN = {"PASS": Status.PASS, "FAIL": Status.FAIL, "TRUE": Status.PASS, "FALSE": Status.FAIL}
