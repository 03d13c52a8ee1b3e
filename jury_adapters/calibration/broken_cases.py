"""Labelled cases on which a juror broke: they show nothing about the jury, so a calibration leaves them out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from logging import getLogger

from jury_adapters.core.formatting import clip, visible
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.verdict import Verdict


@dataclass(frozen=True, slots=True)
class BrokenCases:
    """Cases on which at least one juror broke.

    A juror that breaks counts as FAIL by default. If a server is down, such votes agree with human FAIL labels by
    chance, and disagree with the others.

    Attributes:
        positions: the positions of these cases, in order.
        jurors: for each juror that broke, its name, the number of these cases, and its first error.
    """

    positions: tuple[int, ...] = ()
    jurors: tuple[tuple[str, int, str], ...] = ()

    @classmethod
    def among(cls, judgments: Iterable[Sequence[Judgment]]) -> BrokenCases:
        """Find the cases on which a juror broke.

        Args:
            judgments: for each case, all judgments of it, in the order of the cases.

        >>> from jury_adapters import Ensemble
        >>> jury = Ensemble({"a": lambda case: True, "b": lambda case: 1 / len(case.answer)})
        >>> BrokenCases.among([jury.judge(answer=text)] for text in ("", "yes")).jurors
        (('b', 1, 'ZeroDivisionError: division by zero'),)
        """
        positions = []
        found: dict[str, tuple[int, str]] = {}
        for position, of_case in enumerate(judgments):
            errors = {name: error for one in of_case for name, error in _errors_of(one)}
            if errors:
                positions.append(position)
            for name, error in errors.items():
                times, first = found.get(name, (0, error))
                found[name] = (times + 1, first)
        return cls(tuple(positions), tuple((name, times, first) for name, (times, first) in found.items()))

    def warn(self) -> None:
        """Log a warning if there are such cases."""
        if self.positions:
            _log.warning("calibrating: %s", self.sentence)

    @property
    def sentence(self) -> str:
        """Sentence that says how many cases are left out, and which jurors broke; empty if none did.

        >>> BrokenCases((3, 5), (("b", 2, "TimeoutError"),)).sentence
        '2 labelled cases are left out, because a juror broke on them (b on 2: TimeoutError)'
        """
        if not self.positions:
            return ""
        who = "; ".join(
            f"{visible(name)} on {times:,}: {clip(error or 'no reason', _LONGEST_ERROR)}"
            for name, times, error in self.jurors
        )
        left_out, it = ("case is", "it") if len(self.positions) == 1 else ("cases are", "them")
        return f"{len(self.positions):,} labelled {left_out} left out, because a juror broke on {it} ({who})"


def broken_sentence(number: int) -> str:
    """Return a sentence about the labelled cases on which a juror broke.

    >>> broken_sentence(2)
    '2 more labelled cases are left out, because a juror broke on them; the guarantee does not cover such cases.'
    """
    left_out, it = ("case is", "it") if number == 1 else ("cases are", "them")
    return (
        f"{number:,} more labelled {left_out} left out, because a juror broke on {it}; the guarantee does not cover "
        "such cases."
    )


def _errors_of(judgment: Judgment) -> Iterator[tuple[str, str]]:
    """Yield the name and the error of each juror that broke, in any tier; of the judge itself if it has no jurors."""
    if isinstance(judgment, Verdict) and judgment.tiers:
        for tier in judgment.tiers:
            yield from _errors_of(tier.judgment)
        return
    jurors = judgment.jurors() if isinstance(judgment, Verdict) else ()
    for one in jurors or (judgment,):
        if one.status is Status.ERROR:
            yield one.critic or "judge", one.error or ""


_LONGEST_ERROR = 120
_log = getLogger(__name__)
