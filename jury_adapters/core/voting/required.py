"""Required jurors: a verdict without the vote of one is ABSTAIN, or FAIL if it broke and errors count as FAIL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from jury_adapters.core.errors import ConfigurationError, plain_repr, unknown
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.voting.base import ErrorPolicy, VoteResult


def positions_of(required: Sequence[str | int], names: Sequence[str]) -> tuple[int, ...]:
    """Return the positions of required jurors, which are given by name or position.

    Raises:
        ConfigurationError: there is no such juror, or ``required`` is not a list.
    """
    if isinstance(required, str | int) or not isinstance(required, Sequence):
        raise ConfigurationError(f"required is a list of jurors; for one write required=[{plain_repr(required)}]")
    found = set()
    for juror in required:
        if isinstance(juror, int) and not isinstance(juror, bool) and 0 <= juror < len(names):
            found.add(juror)
        elif isinstance(juror, str) and juror in names:
            found.add(names.index(juror))
        else:
            raise ConfigurationError(unknown("juror in required", juror, names))
    return tuple(sorted(found))


def with_required(
    result: VoteResult, judgments: Sequence[Judgment], required: Sequence[int], errors: ErrorPolicy | None
) -> VoteResult:
    """Return the result of a vote in which the jurors at these positions must have voted.

    If one of them broke and errors count as FAIL, the result is FAIL, so that an outage never becomes an abstention
    that a screening tier lets through. Otherwise the result is ABSTAIN if one of them abstained, broke, or had no
    ballot. An ERROR is returned unchanged, and so is a FAIL for which the other jurors voted.

    Args:
        result: the result of the vote.
        judgments: judgments in juror order; a position beyond them is a juror without a judgment.
        required: the positions of the required jurors.
        errors: the error policy of the vote. An error counts as FAIL under ``"fail"`` or None in a vote on statuses or
            scores.
    """
    missing = [position for position in required if not _voted(result, position)]
    if not missing or result.status is Status.ERROR:
        return result
    given = [judgments[position] for position in missing if position < len(judgments)]
    broke = any(judgment.status is Status.ERROR for judgment in given)
    fails = broke and errors in (None, "fail") and result.tally.on != "label"
    if fails and result.status is Status.FAIL and not result.tally.errors_decided:
        return result  # the other jurors voted for FAIL
    said = [f"{judgment.critic} {_why(judgment)}" for judgment in given] or ["it was not asked"]
    return replace(
        result, status=Status.FAIL if fails else Status.ABSTAIN, label=None, score=None, confidence=None,
        reasoning=f"a required juror did not vote: {'; '.join(said)}",
        tally=replace(result.tally, errors_decided=broke),
    )  # fmt: skip


def _voted(result: VoteResult, position: int) -> bool:
    ballots = result.tally.ballots
    return position < len(ballots) and ballots[position] is not None


def _why(judgment: Judgment) -> str:
    if judgment.status is Status.ERROR:
        return f"broke ({judgment.error})"
    if judgment.status is Status.ABSTAIN:
        return f"abstained ({judgment.reasoning})" if judgment.reasoning else "abstained"
    return "had nothing to vote with"
