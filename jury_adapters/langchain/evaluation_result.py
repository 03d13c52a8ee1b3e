"""Result of the evaluator: LangSmith's own result class with the whole verdict."""

from __future__ import annotations

from typing import Self

from langsmith.evaluation import EvaluationResult
from pydantic import PrivateAttr

from jury_adapters.core.judgment import Judgment


class JuryEvaluationResult(EvaluationResult):
    """``EvaluationResult`` of LangSmith with the judgment behind it, which stays in the process."""

    _verdict: Judgment | None = PrivateAttr(default=None)
    _is_part: bool = PrivateAttr(default=False)

    @property
    def verdict(self) -> Judgment | None:
        """The judgment of the judge; for a jury, a :class:`Verdict`. None for a result that was read from JSON."""
        return self._verdict

    @property
    def is_part(self) -> bool:
        """Whether it is the result of a juror or a criterion inside the verdict of another result."""
        return self._is_part

    def keep(self, judgment: Judgment, *, is_part: bool = False) -> Self:
        """Keep the judgment behind the result, and return the result."""
        self._verdict, self._is_part = judgment, is_part
        return self
