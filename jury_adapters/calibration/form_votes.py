"""Votes in the forms of judgments: what the judgments of a batch that have the same form have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from jury_adapters.calibration.repetitions import repeated_by_place
from jury_adapters.calibration.slim_judgments import Part, StatedNumbers, parts_in
from jury_adapters.calibration.stated_numbers import is_jury
from jury_adapters.calibration.types import Answer, On, Raw
from jury_adapters.core.errors import ConfigurationError, unknown
from jury_adapters.core.judgment import Judgment
from jury_adapters.core.opinions import Path as Place
from jury_adapters.core.opinions import is_placeholder, juror_names
from jury_adapters.core.tier_policies import is_screening_policy
from jury_adapters.core.unasked import is_unasked
from jury_adapters.core.verdict import SCORECARD, Verdict, is_pairwise_opinion

_BALLOTS: dict[str, Callable[[Judgment], Raw]] = {
    "label": lambda judgment: judgment.ballot,
    "status": lambda judgment: judgment.opinion,
    "score": lambda judgment: judgment.numeric_score,
}
_PAIR = 2
K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class FormVotes:
    """Votes in one form of judgments.

    Attributes:
        form: the form.
        parts: the position of each opinion among the parts of the form, by juror; that of the form is under None.
        votes: the votes by juror; for a vote on scores, those of opinions without a score.
        models: the model of each juror.
        orders: the labels of each pairwise juror that was asked in both orders.
        repeated: for each juror that was asked several times, the position and the vote of each answer.
        jury: the vote of the form itself; None for a single judge.
        on_scores: whether votes are scores.
    """

    form: Judgment
    parts: Mapping[str | None, int]
    votes: Mapping[str, Raw]
    models: Mapping[str, str | None]
    orders: Mapping[str, tuple[Raw, Raw]]
    repeated: Mapping[str, tuple[tuple[int, Raw], ...]]
    jury: Raw
    on_scores: bool

    def votes_with(self, numbers: StatedNumbers) -> Mapping[str, Raw]:
        """Return the votes by juror in a judgment with these numbers."""
        if not self.on_scores:
            return self.votes
        return {name: numbers.score(self.parts[name], vote) for name, vote in self.votes.items()}

    def jury_with(self, numbers: StatedNumbers) -> Raw:
        """Return the vote of the jury in a judgment with these numbers."""
        return numbers.score(0, self.jury) if self.on_scores and is_jury(self.form) else self.jury

    def answers_with(self, numbers: StatedNumbers) -> dict[str, tuple[Answer, ...]]:
        """Return the answers of each juror that was asked several times in a judgment with these numbers."""
        return {
            name: tuple(
                Answer(numbers.score(at, vote) if self.on_scores else vote, numbers.at(at)) for at, vote in answers
            )
            for name, answers in self.repeated.items()
        }


def votes_of_forms(forms: Sequence[Judgment], on: On | None, *, screening_tiers: bool) -> list[FormVotes]:
    """Return the votes in each form, with the same names for the jurors in all of them.

    Args:
        forms: the forms of the judgments of a batch.
        on: what of a judgment is its vote; None for what the jury voted on.
        screening_tiers: whether opinions in screening tiers are votes.

    Raises:
        ConfigurationError: ``on`` is unknown, the juries voted on different things, or only screening tiers judged.
    """
    voted_on = _voted_on(on, forms)
    shared = _Shared()
    opinions = [_opinions((0, form), screening_tiers=screening_tiers) for form in forms]
    repeated = [repeated_by_place(form) for form in forms]
    names = juror_names(path for found in opinions for path in found)
    names |= juror_names(path for found in repeated for path in found if path not in names)
    votes = [
        _votes_of(form, _named(said, names), _named(answers, names), voted_on, shared)
        for form, said, answers in zip(forms, opinions, repeated, strict=True)
    ]
    if votes and not any(one.votes for one in votes):
        raise ConfigurationError(
            "only screening tiers judged these cases, and to let a case through is not an opinion of it; to compare "
            "their judges all the same, name them as jurors (in Python: screening_tiers=True)"
        )
    return votes


class _Shared:
    """Mappings; equal ones in the same order are one object."""

    def __init__(self) -> None:
        self._known: dict[Any, Any] = {}

    def mapping(self, values: Mapping[K, V]) -> Mapping[K, V]:
        """Return an equal mapping that was seen before, or this one."""
        return self._known.setdefault(tuple(values.items()), values)  # type: ignore[no-any-return]


def _named(found: Mapping[Place, V], names: Mapping[Place, str]) -> dict[str, V]:
    return {names[path]: one for path, one in found.items()}


def _votes_of(
    form: Judgment, opinions: Mapping[str, Part], repeated: Mapping[str, Part], on: str, shared: _Shared
) -> FormVotes:
    ballot = _BALLOTS[on]
    orders = {name: pair for name, (_, one) in opinions.items() if (pair := _both_orders(one)) is not None}
    return FormVotes(
        form,
        shared.mapping({None: 0, **{name: at for name, (at, _) in opinions.items()}}),
        {name: ballot(opinion) for name, (_, opinion) in opinions.items()},
        shared.mapping({name: opinion.model for name, (_, opinion) in opinions.items()}),
        shared.mapping(orders),
        {name: tuple((at, ballot(one)) for at, one in parts_in(part)[0]) for name, part in repeated.items()},
        ballot(form) if is_jury(form) else None,
        on == "score",
    )


def _voted_on(on: On | None, forms: Sequence[Judgment]) -> str:
    """Return what of a judgment is its vote: ``on``, or what the juries themselves counted."""
    if on is not None:
        if on not in _BALLOTS:
            raise ConfigurationError(unknown("on", on, _BALLOTS))
        return on
    counted: set[str] = {form.tally.on for form in forms if isinstance(form, Verdict) and form.tally.eligible}
    if len(counted) > 1:
        raise ConfigurationError(f"these verdicts were voted on {' and on '.join(sorted(counted))}; say which with on=")
    return counted.pop() if counted else "label"


def _opinions(part: Part, *, screening_tiers: bool, path: Place = ()) -> dict[Place, Part]:
    """Return the opinions in one verdict by place; for a cascade, those of every tier that ran.

    A nested jury is one voter here, because it had one vote. A scorecard is also one voter: its criteria ask different
    questions, so their agreement means nothing. Screening tiers are included only on request. Critics have no opinion
    of an empty answer, about which their models were not asked.
    """
    _, judgment = part
    if is_unasked(judgment):
        return {}
    if not isinstance(judgment, Verdict) or is_pairwise_opinion(judgment) or judgment.voting == SCORECARD:
        return {(*path, judgment.critic or _unnamed(judgment)): part}
    found: dict[Place, Part] = {}
    jurors, of_tiers = parts_in(part)
    for tier, inside in zip(judgment.tiers, of_tiers, strict=True):
        if (screening_tiers or not is_screening_policy(tier.policy)) and not is_placeholder(tier):
            found.update(_opinions(inside, screening_tiers=screening_tiers, path=(*path, tier.name)))
    if judgment.tiers:
        return found
    if not jurors:
        return {(*path, judgment.critic or "judge"): part}
    return {(*path, juror.critic): (at, juror) for at, juror in jurors if not is_unasked(juror)}


def _unnamed(judgment: Judgment) -> str:
    """Return the name of a voter without one."""
    return "all criteria" if isinstance(judgment, Verdict) and judgment.voting == SCORECARD else "judge"


def _both_orders(judgment: Judgment) -> tuple[Raw, Raw] | None:
    """Return the labels of a pairwise judge with A first and with B first."""
    if not isinstance(judgment, Verdict) or judgment.metadata.get("position_consistent") is None:
        return None
    if len(judgment.judgments) != _PAIR:  # the contents of a file are not trusted
        return None
    first, second = judgment.judgments
    return first.label, second.label
