"""Judges for tests: they give prepared judgments and ask no model."""

from collections.abc import Mapping, Sequence
from typing import Any

from jury_adapters.core.case import Case
from jury_adapters.core.judge import Check, Outcome
from jury_adapters.core.judgment import Status, abstain, labels_of


class ScriptedJudge(Check):
    """Judge with prepared outcomes, in the order in which it is asked, or by the id of the case.

    Args:
        outcomes: what a judge may return, or an exception, which it raises. A sequence is used in order, and its last
            outcome again and again; a mapping is used by the id of the case.
        name: the name in verdicts.
        labels: the labels among the outcomes.

    Attributes:
        cases: the cases that it was asked about.

    >>> judge = ScriptedJudge(["PASS", (0.2, "too long"), RuntimeError("down")])
    >>> [judgment.status.value for judgment in judge.judge_many(["a", "b", "c"])]
    ['PASS', 'FAIL', 'ERROR']
    """

    def __init__(
        self,
        outcomes: Sequence[Outcome] | Mapping[str, Outcome],
        *,
        name: str = "scripted",
        labels: Mapping[str, Status | str] | Sequence[str] = (),
    ) -> None:
        self.name, self.labels = name, labels_of(labels)
        self._outcomes = outcomes if isinstance(outcomes, Mapping) else [*outcomes]
        self._cases: list[Case] = []

    @property
    def cases(self) -> list[Case]:
        """The cases that it was asked about, in order."""
        return self._cases

    def check(self, case: Case) -> Outcome:
        """Return the outcome of this case."""
        self._cases.append(case)
        if isinstance(self._outcomes, Mapping):
            missing: Any = abstain(f"no outcome is prepared for the case {case.id!r}")
            outcome = self._outcomes.get(case.id or "", missing)
        else:
            outcome = self._outcomes[min(len(self._cases), len(self._outcomes)) - 1]
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome
