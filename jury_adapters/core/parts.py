"""Base class of judges that ask another judge about every part of a case, such as each passage or each turn."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import NamedTuple, Self

from jury_adapters.core.case import Case
from jury_adapters.core.errors import ConfigurationError, plain_repr
from jury_adapters.core.judge import Judge
from jury_adapters.core.judge_like import JudgeLike, judge_of
from jury_adapters.core.judgment import PASS_OR_FAIL, Finding, Judgment, OpinionStatuses, Status, abstain, total_usage
from jury_adapters.core.runner import run_judge
from jury_adapters.core.scheduling import Juror, ask_at_most
from jury_adapters.core.usage import NO_USAGE, Usage


class Part(NamedTuple):
    """Part of a case.

    Attributes:
        name: its name in the findings.
        case: the case that the judge is asked about, or a judgment for which it is not asked.
    """

    name: str
    case: Case | Judgment


class EachPart(Judge):
    """Judge that asks another judge about every part of a case.

    The judgment has a finding for each part. If the judge abstains or breaks on a part, the score is unknown, and the
    judgment is ABSTAIN, or ERROR if an error is the cause.

    Args:
        judge: the judge of one part.
        threshold: the lowest score that passes, from 0 to 1.
        at_once: how many parts are judged at a time; the next one begins as soon as one of them is judged.

    Raises:
        ConfigurationError: an argument is invalid.
    """

    noun: str
    """Name of the parts, in the plural."""

    def __init__(self, judge: JudgeLike, threshold: float, at_once: int) -> None:
        self.member = judge_of(judge)
        if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not 0 <= threshold <= 1:
            raise ConfigurationError(f"the threshold is a score from 0 to 1, not {plain_repr(threshold)}")
        if isinstance(at_once, bool) or not isinstance(at_once, int) or at_once < 1:
            raise ConfigurationError(f"at_once is a number of {self.noun} from 1, not {plain_repr(at_once)}")
        self.threshold = threshold
        self.at_once = at_once
        self.cost = self.member.cost

    @abstractmethod
    def parts_of(self, case: Case) -> Sequence[Part]:
        """Return the parts of a case in order."""

    def score_of(self, passed: Sequence[bool]) -> float:
        """Return the score, from whether each part has passed; by default the share of those that have."""
        return sum(passed) / len(passed)

    def explanation(self, passed: Sequence[bool], score: float) -> str:
        """Return the reason for a score."""
        return f"{sum(passed)} of {len(passed)} {self.noun} passed"

    @property
    @abstractmethod
    def nothing(self) -> str:
        """The reason for abstaining on a case without parts."""

    @property
    def members(self) -> tuple[Judge, ...]:
        return (self.member,)

    @property
    def pass_scores(self) -> frozenset[float]:
        return frozenset({float(self.threshold)})

    @property
    def inline(self) -> bool:
        return self.member.inline

    @property
    def size(self) -> int:
        return self.member.size

    @property
    def requests_at_once(self) -> int:
        return self.at_once * self.member.requests_at_once

    @property
    def opinion_statuses(self) -> OpinionStatuses:
        return PASS_OR_FAIL

    @property
    def estimated_whole(self) -> bool:
        return True

    def asking_everyone(self) -> Self:
        return self._with(member=self.member.asking_everyone())

    def estimate(self, case: Case) -> Usage:
        asked = [part.case for part in self.parts_of(case) if isinstance(part.case, Case)]
        return sum((self.member.estimate(one) for one in asked), NO_USAGE)

    async def assess(self, case: Case) -> Judgment:
        parts = self.parts_of(case)
        if not parts:
            return abstain(self.nothing)
        jurors = [Juror(_OnPart(self.member, part.case), part.name, None) for part in parts]
        return self.judgment_of(await ask_at_most(jurors, case, self.at_once))

    def judgment_of(self, judgments: Sequence[Judgment]) -> Judgment:
        """Return the judgment on the case, from those on its parts."""
        unjudged = [one for one in judgments if one.status not in (Status.PASS, Status.FAIL)]
        broken = next((one for one in unjudged if one.status is Status.ERROR), None)
        passed = [one.status is Status.PASS for one in judgments]
        score = None if unjudged else self.score_of(passed)
        if score is None:
            status = Status.ERROR if broken is not None else Status.ABSTAIN
        else:
            status = Status.PASS if score >= self.threshold else Status.FAIL
        return Judgment(
            status,
            score=score,
            reasoning=self._unknown(judgments, unjudged) if score is None else self._known(passed, score),
            error=None if broken is None else broken.error,
            findings=tuple(_finding(one) for one in judgments),
            usage=total_usage(judgments),
        )

    def _known(self, passed: Sequence[bool], score: float) -> str:
        least = f"; asked for at least {self.threshold:g}" if score < self.threshold else ""
        return self.explanation(passed, score) + least

    def _unknown(self, judgments: Sequence[Judgment], unjudged: Sequence[Judgment]) -> str:
        first = unjudged[0]
        why = first.error or first.reasoning or first.label or first.status
        return f"{len(unjudged)} of {len(judgments)} {self.noun} could not be judged; {first.critic}: {why}"


class _OnPart(Judge):
    """Judge that shows another judge one of the parts."""

    def __init__(self, judge: Judge, part: Case | Judgment) -> None:
        self.name = judge.name
        self.cost = judge.cost
        self._judge = judge
        self._part = part

    @property
    def members(self) -> tuple[Judge, ...]:
        return (self._judge,)

    @property
    def inline(self) -> bool:
        return self._judge.inline and self._judge.timeout is None

    async def assess(self, case: Case) -> Judgment:
        return self._part if isinstance(self._part, Judgment) else await run_judge(self._judge, self._part)


def _finding(judgment: Judgment) -> Finding:
    passed = {Status.PASS: True, Status.FAIL: False}.get(judgment.status) if judgment.status else None
    return Finding(judgment.critic, passed, judgment.reasoning, score=judgment.score)
