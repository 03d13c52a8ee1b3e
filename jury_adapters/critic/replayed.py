"""Critics of a jury that is replayed: their votes are served from what was recorded, and no model is asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from jury_adapters.core.cascade import CascadedJury
from jury_adapters.core.case import Case
from jury_adapters.core.errors import InputError
from jury_adapters.core.judge import Judge
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.jury import Jury
from jury_adapters.core.opinions import Path, juror_names, opinions_of
from jury_adapters.core.render import counted, visible
from jury_adapters.core.stand_in import seated
from jury_adapters.core.verdict import Verdict
from jury_adapters.critic.recorded import RecordedCritic
from jury_adapters.critic.rubric import Rubric
from jury_adapters.critic.vocabulary import Choice

_MOST_NAMED = 12


class ReplayedCritic(RecordedCritic):
    """A critic whose votes are served from ``case.metadata["votes"]``, by its name in the jury.

    A bare label, or a vote without a status, means what it means in the critic's rubric.

    Args:
        name: the critic's name.
        rubric: the critic's rubric.
        threshold: the critic's threshold; None for the rubric's own rule.
        own_name: the name under which a store holds the critic's judgments.
        fingerprint: the fingerprint of the critic, so that a guarantee knows it; None where it is unknown.
        order_cost: the critic's estimate of a judgment in US dollars; early stopping asks the cheapest first.
    """

    def __init__(
        self,
        name: str,
        rubric: Rubric,
        *,
        threshold: float | None = None,
        own_name: str = "",
        fingerprint: str | None = None,
        order_cost: float = 0.0,
    ) -> None:
        super().__init__(name)
        self.cost = order_cost
        self._rubric = rubric
        self._mark = threshold
        self._own_name = own_name or name
        self._fingerprint = fingerprint
        self._asked: Counter[bool] = Counter()
        self.place((), name)

    @property
    def fingerprint(self) -> str | None:
        return self._fingerprint

    @property
    def served(self) -> int:
        """The number of cases for which a recorded vote was served."""
        return self._asked[True]

    @property
    def missed(self) -> int:
        """The number of cases about which the critic was asked and that have no recorded vote of it."""
        return self._asked[False]

    def examine(self, case: Case) -> Judgment:
        self._asked[self._recorded(case) is not None] += 1
        return super().examine(case)

    def place(self, path: Path, name: str) -> None:
        """Look votes up by this place in the jury, then by the juror's name in it, then by the critic's own name."""
        self._names = tuple(dict.fromkeys((" / ".join((*path, name)), name, self._own_name)))
        self._judge = name

    def _status(self, label: str | None, score: float | None) -> Status | None:
        read = None if label is None else self._rubric.answers.read(label)
        if isinstance(read, Choice):
            return read.status
        mark = 0.5 if self._mark is None else self._mark
        return None if score is None else Status.PASS if score >= mark else Status.FAIL


def place_critics(jury: Jury) -> None:
    """Give each replayed critic of a jury its place, by which votes are told apart that have one name.

    Raises:
        InputError: a juror asks a model and cannot be replayed; the message names it.
    """
    for path, name, juror in jurors_of(jury):
        if isinstance(juror, ReplayedCritic):
            juror.place(path, name)
        elif juror.requests_at_once:
            raise InputError(f"juror {visible(name)!r} asks a model and cannot be replayed; leave it out")


def check_votes(jury: Jury, cases: Iterable[Case], source: str) -> Iterator[str]:
    """Check that every critic that a replayed jury has asked had recorded votes.

    Args:
        jury: the jury, after it has judged the cases.
        cases: the cases with their votes.
        source: the name of the file of the votes, for the message.

    Yields:
        A sentence for each critic that lacked the votes of some cases.

    Raises:
        InputError: a critic had none at all; the message names it, and says what to do.
    """
    for _, name, juror in jurors_of(jury):
        if not isinstance(juror, ReplayedCritic) or not juror.missed:
            continue
        if not juror.served:
            known = Counter(voter for case in cases for voter in _voters_of(case))
            held = ", ".join(visible(one) for one, _ in known.most_common(_MOST_NAMED)) or "no juror"
            raise InputError(
                f"{source} holds no votes of {visible(name)!r}, and a replay asks no model; it holds votes of {held}. "
                "Judge the cases with this jury first (`jury judge CASES --jury JURY --out RESULTS`), or give the "
                "juror the `name:` of one that has votes"
            )
        yield f"{visible(name)} has no recorded vote for {counted(juror.missed, 'case')} that reached it, and abstained"


def jurors_of(judge: Judge, path: Path = (), name: str = "") -> Iterator[tuple[Path, str, Judge]]:
    """Yield every single juror of a jury with its path, as in its verdicts, and its name; without stand-ins."""
    judge = seated(judge)
    if isinstance(judge, CascadedJury):
        for tier in judge.tiers:
            inside = seated(tier.judge)
            whole = isinstance(inside, Jury)
            yield from jurors_of(inside, (*path, tier.name), "" if whole else inside.name or tier.name)
        return
    seats = getattr(judge, "seats", ())
    if not seats:
        yield path, name or judge.name, judge
    for seat in seats:
        inside = seated(seat.judge)
        around = (*path, seat.name) if isinstance(inside, Jury) else path
        yield from jurors_of(inside, around, seat.name)


def votes_of_results(judgments: Sequence[Judgment]) -> list[dict[str, object]]:
    """Return the votes in verdicts by juror name, each as :class:`RecordedCritic` reads it.

    A juror goes by its own name, and by its whole path where several have one name. A juror that was asked several
    times has its vote under its name, and its single answers behind that.
    """
    opinions = [dict(opinions_of(judgment)) for judgment in judgments]
    names = juror_names(path for one in opinions for path in one)
    owners = {name: path for path, name in names.items()}
    found = []
    for judgment, one in zip(judgments, opinions, strict=True):
        votes: dict[str, object] = {names[path]: vote.to_dict() for path, vote in one.items()}
        for around, inside, part in _juries_in(judgment, ()):
            owner = owners.get(part.critic)
            vote = part.to_dict()
            votes[" / ".join((*around, part.critic))] = vote
            if owner is None or owner[: len(inside)] == inside:  # no juror elsewhere has the name
                votes[part.critic] = vote
        found.append(votes)
    return found


def _juries_in(judgment: Judgment, path: Path) -> Iterator[tuple[Path, Path, Verdict]]:
    """Yield the verdicts inside a verdict, each with the path to it and the path that its jurors have."""
    if not isinstance(judgment, Verdict):
        return
    tiers = [((*path, tier.name), (*path, tier.name), tier.judgment) for tier in judgment.tiers]
    for around, inside, part in tiers or [(path, (*path, juror.critic), juror) for juror in judgment.judgments]:
        if isinstance(part, Verdict):
            yield around, inside, part
            yield from _juries_in(part, inside)


def _voters_of(case: Case) -> Iterable[str]:
    votes = case.metadata.get("votes")
    return votes if isinstance(votes, Mapping) else ()
