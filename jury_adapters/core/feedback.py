"""Feedback of a verdict: the reasons for its outcome, the jurors that broke, and the dissenting jurors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from jury_adapters.core.judgment import BROKE, Judgment, Status, reason_with_label
from jury_adapters.core.verdict import SCORECARD, Verdict, is_pairwise_opinion


def feedback_of(judgment: Judgment, *, errors: bool = True) -> str:
    """Return the reasons for the outcome of a judgment in one line, on which a model or a user can act.

    The reasons are those of the jurors that voted for the outcome. If no such juror gives a reason, as in a FAIL caused
    by jurors that broke, it is the jury's own reason. Jurors that broke, voted otherwise or abstained are named.

    Args:
        judgment: the judgment.
        errors: whether to quote the errors of jurors that broke. A model that wrote an answer has no use for them.

    >>> from jury_adapters import Ensemble
    >>> jury = Ensemble({"a": lambda case: (True, "fine"), "b": lambda case: (False, "late"), "c": lambda case: 1 / 0})
    >>> feedback_of(jury.judge(answer="!"))
    'late; 1 juror could not judge: c (ZeroDivisionError: division by zero); a voted PASS'
    """
    notes = list(notes_of(judgment, errors=errors))
    reasons = reasons_beside(notes, judgment, errors=errors)
    if not any(reason_of(juror) for _, juror in agreeing_jurors(judgment)):
        reasons = [without_errors(reason_of(judgment), judgment, quoted_in=notes if errors else None)]
    return "; ".join([*filter(None, reasons), *notes])


def reasons_beside(notes: Sequence[str], judgment: Judgment, *, errors: bool = True) -> list[str]:
    """Return the different reasons of the jurors that agree with their jury, without what notes on them already say.

    Args:
        notes: the notes; see :func:`notes_of`.
        judgment: the judgment.
        errors: whether the notes quote the errors of jurors that broke. No reason has an error that they quote; if they
            quote none, no reason has any.
    """
    quoted = notes if errors else None
    found = dict.fromkeys(without_errors(reason, judgment, quoted_in=quoted) for _, reason in reasons_of(judgment))
    if not _broke(judgment) or not notes:
        return list(found)
    return [reason for reason in found if reason != BROKE and not any(reason in note for note in notes)]


def without_errors(text: str, judgment: Judgment, *, quoted_in: Iterable[str] | None = None) -> str:
    """Return a text without the errors of a judgment and of its jurors, which its reasoning may quote.

    Args:
        text: the text.
        judgment: the judgment.
        quoted_in: notes; only the errors that these quote are left out. None leaves out all errors.

    >>> from jury_adapters import Ensemble
    >>> verdict = Ensemble({"a": lambda case: (False, "late"), "b": lambda case: 1 / 0}).judge(answer="!")
    >>> verdict.reasoning, without_errors(verdict.reasoning, verdict)
    ('late; b broke: ZeroDivisionError: division by zero', 'late; b broke')
    """
    notes = None if quoted_in is None else "\n".join(quoted_in)
    for error in sorted(set(_errors_in(judgment)), key=len, reverse=True):  # an error may be a part of another
        if notes is None or _clipped(error) in notes:
            text = text.replace(f": {error}", "").replace(f" ({error})", "")
    return text


def reasons_of(judgment: Judgment) -> Iterator[tuple[str, str]]:
    """Yield the names and reasons of the jurors that agree with their jury; for a single judge its own.

    For a scorecard they are those of the criteria that have its outcome.
    """
    for name, juror in agreeing_jurors(judgment):
        if reason := reason_of(juror):
            yield name, reason


def agreeing_jurors(judgment: Judgment) -> Iterator[tuple[str, Judgment]]:
    """Yield the names and judgments of the jurors that agree with their jury; for a single judge its own.

    For a scorecard they are those of the criteria that have its outcome.
    """
    for criterion in _criteria(judgment):
        if _agrees(criterion, judgment):
            yield from agreeing_jurors(criterion)
    yield from ((name, juror) for name, juror in _jurors(judgment) if _agrees(juror, judgment))


def notes_of(judgment: Judgment, *, errors: bool = True) -> Iterator[str]:
    """Yield a sentence about the jurors that broke, and one for each that dissented or abstained.

    With ``errors``, the first one quotes the errors.

    If one objection is enough, as in a screening tier, the other votes are not dissent and are left out.
    """
    for criterion in _criteria(judgment):
        if _agrees(criterion, judgment) or not criterion.valid:
            yield from notes_of(criterion, errors=errors)
    jurors = _jurors(judgment) if _has_jurors(judgment) else ()
    jurors += tuple(
        (criterion.critic, criterion)
        for criterion in _criteria(judgment)
        if _broke(criterion) and not _has_jurors(criterion)
    )
    broken = [f"{name} ({_why_broken(juror)})" if errors else name for name, juror in jurors if _broke(juror)]
    if broken:
        yield f"{len(broken)} juror{'s' if len(broken) > 1 else ''} could not judge: {', '.join(broken)}"
    for name, juror in jurors:
        if _broke(juror) or _agrees(juror, judgment) or (juror.valid and _by_rule(judgment)):
            continue
        said = "abstained" if juror.opinion is None else f"voted {juror.opinion}"
        reason = "" if juror.status is Status.PASS else reason_of(juror)  # a reason for PASS is not actionable
        yield f"{name} {said}: {reason}" if reason else f"{name} {said}"


def _errors_in(judgment: Judgment) -> Iterator[str]:
    """Yield the errors of a judgment and of all that it was made of."""
    if _broke(judgment) and judgment.error:
        yield judgment.error
    for part in judgment.judgments if isinstance(judgment, Verdict) else ():
        yield from _errors_in(part)


def _criteria(judgment: Judgment) -> tuple[Judgment, ...]:
    """Return the criteria of a scorecard, also if it is the last tier of a cascade; empty for another judgment."""
    while isinstance(judgment, Verdict) and judgment.tiers:
        judgment = judgment.tiers[-1].judgment
    scores = isinstance(judgment, Verdict) and judgment.voting == SCORECARD
    return judgment.judgments if isinstance(judgment, Verdict) and scores else ()


def _jurors(judgment: Judgment) -> tuple[tuple[str, Judgment], ...]:
    """Return the names and judgments of the single jurors; empty for a scorecard, whose criteria have them.

    A pairwise juror counts once. One that is asked alone has a vote for each order if these do not agree.
    """
    if _criteria(judgment):
        return ()
    if is_pairwise_opinion(judgment) and judgment.metadata["position_consistent"] is not True:
        return tuple((_order_name(judgment, vote), vote) for vote in judgment.judgments)
    named = () if is_pairwise_opinion(judgment) else tuple(_named_jurors(judgment))
    return named or ((judgment.critic, judgment),)


def _order_name(asked: Judgment, vote: Judgment) -> str:
    return " with ".join(filter(None, (vote.model or asked.critic, vote.critic)))


def _named_jurors(judgment: Judgment) -> Iterator[tuple[str, Judgment]]:
    for juror in judgment.judgments if isinstance(judgment, Verdict) else ():
        if isinstance(juror, Verdict) and juror.judgments and not is_pairwise_opinion(juror):
            yield from _named_jurors(juror)
        else:
            yield juror.critic, juror


def _has_jurors(judgment: Judgment) -> bool:
    return isinstance(judgment, Verdict) and bool(judgment.judgments)


def _by_rule(judgment: Judgment) -> bool:
    return isinstance(judgment, Verdict) and judgment.by_rule


def _agrees(juror: Judgment, judgment: Judgment) -> bool:
    return juror.opinion == judgment.opinion if judgment.valid else juror.status is judgment.status


def reason_of(juror: Judgment) -> str:
    """Return the reason of a juror, and its error if the reason does not mention it."""
    reason, error = reason_with_label(juror), juror.error
    return f"{reason} ({error})" if reason and error and error not in reason else reason or error or ""


def _broke(juror: Judgment) -> bool:
    return juror.status is Status.ERROR


def _why_broken(juror: Judgment) -> str:
    """Return the error of a juror that broke, and what its reason adds to it."""
    error = _clipped(juror.error or "no reason")
    if error != _TIMEOUT or not juror.reasoning or _TIMEOUT in juror.reasoning:
        return error
    return f"{error}: {_clipped(juror.reasoning)}"


def _clipped(text: str) -> str:
    return text if len(text) <= _LONGEST_ERROR else f"{text[:_LONGEST_ERROR]}..."


_TIMEOUT: Final = "timeout"  # the error of a juror that took longer than it may, which does not say why
_LONGEST_ERROR: Final = 200
