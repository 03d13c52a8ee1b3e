"""Find the votes, opinions and criteria inside a judgment, and the tiers that decide by rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TypeGuard

from jury_adapters.core.forms import by_form
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.last_result import last_result
from jury_adapters.core.return_values import is_failed_run
from jury_adapters.core.run_errors import RUN_ERROR
from jury_adapters.core.tier_policies import is_screening_policy
from jury_adapters.core.unasked import is_unasked
from jury_adapters.core.verdict import SCORECARD, TierResult, Verdict, is_pairwise_opinion

Path = tuple[str, ...]
"""Path of a juror: the names of the tiers and juries that contain it, then its own name."""

ABSTAINED = "abstained"
"""Name of the last tier of a calibrated cascade, which abstains on cases that the other tiers leave open."""

_NO_NAME = "(the jury itself)"


def votes_in(judgment: Judgment, path: Path = ()) -> Iterator[tuple[Path, Judgment]]:
    """Yield each vote in a judgment with its path; a juror that was asked in both orders has two votes."""
    if not path:
        return iter(_all_votes(judgment))
    found: list[tuple[Path, Judgment]] = []
    _collect(judgment, path, found, orders=True)
    return iter(found)


def opinions_of(judgment: Judgment) -> Iterator[tuple[Path, Judgment]]:
    """Yield the opinion of each juror with its path; nothing for a judgment without jurors.

    A pairwise juror has one opinion, whether it was asked in one order or in both. A juror that was not asked because
    the run of the application failed has none.
    """
    return iter(_all_opinions(judgment))


def asked_jurors(judgment: Judgment) -> dict[str, Judgment]:
    """Return the judgment of each juror that was asked, by its name, also in tiers before the one that decided.

    Of jurors of one name in several tiers, the last one counts. A juror without a name has its number.
    """
    if not isinstance(judgment, Verdict):
        return {}
    if not judgment.tiers:
        return {juror.critic or str(number): juror for number, juror in enumerate(judgment.judgments, start=1)}
    found: dict[str, Judgment] = {}
    for tier in judgment.tiers:
        if isinstance(tier.judgment, Verdict):
            found |= asked_jurors(tier.judgment)
        elif not is_placeholder(tier):
            found[tier.judgment.critic or tier.name] = tier.judgment
    return found


def is_placeholder(tier: TierResult) -> bool:
    """Whether a tier is the last one of a calibrated cascade, which abstains without asking a juror."""
    judgment = tier.judgment
    return tier.name == judgment.critic == ABSTAINED and judgment.status is Status.ABSTAIN and judgment.model is None


def criteria_of(judgment: Judgment, path: Path = ()) -> Iterator[tuple[Path, Judgment]]:
    """Yield the result of each criterion of a scorecard with its path, then those of a scorecard inside the criterion.

    Votes on different criteria answer different questions and are not compared.
    """
    if not isinstance(judgment, Verdict):
        return
    for tier in judgment.tiers:
        yield from criteria_of(tier.judgment, (*path, tier.name))
    for juror in judgment.judgments if not judgment.tiers else ():
        if judgment.voting == SCORECARD:
            yield (*path, juror.critic), juror
        yield from criteria_of(juror, (*path, juror.critic))


def screening_tiers_in(judgment: Judgment, path: Path = ()) -> Iterator[Path]:
    """Yield the paths of the tiers in a verdict that decide by rule; a vote in them is not an opinion on the case."""
    if not isinstance(judgment, Verdict):
        return
    for tier in judgment.tiers:
        if is_screening_policy(tier.policy):
            yield (*path, tier.name)
        else:
            yield from screening_tiers_in(tier.judgment, (*path, tier.name))
    for juror in judgment.judgments if not judgment.tiers else ():
        if isinstance(juror, Verdict):
            yield from screening_tiers_in(juror, (*path, juror.critic))


def fallbacks_in(judgment: Judgment, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Yield the path of each juror, jury or tier that a fallback replaced, with the name of the fallback.

    All votes inside such a path were cast by the fallback.
    """
    if judgment.fallback_used is not None:
        yield path, judgment.fallback_used
    elif isinstance(judgment, Verdict) and judgment.tiers:
        for tier in judgment.tiers:
            yield from fallbacks_in(tier.judgment, (*path, tier.name))
    elif isinstance(judgment, Verdict):
        for juror in judgment.judgments:
            yield from fallbacks_in(juror, (*path, juror.critic))


def comparable_opinions_of(judgment: Judgment) -> Iterator[tuple[Path, Judgment]]:
    """Yield the opinions that answer the question of the verdict.

    Opinions in screening tiers and of the criteria of a scorecard are left out, because they answer another question.
    So are those of critics on an empty answer, about which no model was asked.
    """
    return iter(_all_comparable(judgment))


def is_inside(path: Path, places: Iterable[Path]) -> bool:
    """Whether a path leads to one of these places, or into one of them."""
    return any(path[: len(place)] == place for place in places)


def first_vote(judgment: Judgment) -> Verdict | None:
    """Return the verdict of the first vote: for a cascade, that of its first tier with a vote; None without a vote.

    A panel in a cascade that escalates split votes decides a case only if its jurors agree, so the agreement of the
    deciding votes is 1.0 by construction. The agreement of the first vote is not.
    """
    if not isinstance(judgment, Verdict):
        return None
    for tier in judgment.tiers:
        if not is_screening_policy(tier.policy) and (found := first_vote(tier.judgment)) is not None:
            return found
    return None if judgment.tiers else judgment


def is_escalated(judgment: Judgment) -> bool:
    """Whether a later tier judged the case after the first vote, so that the two may differ."""
    first, last = first_vote(judgment), judgment
    while isinstance(last, Verdict) and last.tiers:
        last = last.tiers[-1].judgment
    return first is not None and first is not last


def has_selected_jurors(judgment: Judgment) -> bool:
    """Whether some votes decided which other jurors voted: by escalation to a later tier, or by an early stop."""
    if not isinstance(judgment, Verdict):
        return False
    if judgment.partial or sum(not is_screening_policy(tier.policy) for tier in judgment.tiers) > 1:
        return True
    return any(map(has_selected_jurors, (*judgment.judgments, *(tier.judgment for tier in judgment.tiers))))


def deciding_votes(judgment: Judgment) -> list[Judgment]:
    """Return the votes that decided a judgment; for a cascade, those of the tier at which it stopped."""
    if isinstance(judgment, Verdict) and judgment.tiers:
        return deciding_votes(judgment.tiers[-1].judgment)
    return [vote for _, vote in votes_in(judgment)]


def juror_names(paths: Iterable[Path]) -> dict[Path, str]:
    """Return a unique name for each juror: its own name if that is unique, otherwise its whole path.

    Args:
        paths: the paths of the jurors; duplicates are allowed.
    """
    unique = dict.fromkeys(paths)
    times = Counter(path[-1] for path in unique)
    names: dict[Path, str] = {}
    taken: set[str] = set()
    for path in unique:
        name = (path[-1] or _NO_NAME) if times[path[-1]] == 1 else " / ".join(path)
        while name in taken:  # a juror may have the path of another as its name
            name = f"{name}'"
        taken.add(name)
        names[path] = name
    return names


@last_result
def _all_votes(judgment: Judgment) -> tuple[tuple[Path, Judgment], ...]:
    found: list[tuple[Path, Judgment]] = []
    _collect(judgment, (), found, orders=True)
    return tuple(found)


@last_result
def _all_opinions(judgment: Judgment) -> tuple[tuple[Path, Judgment], ...]:
    if _is_plain_panel(judgment):  # the most frequent case
        return tuple([((juror.critic,), juror) for juror in judgment.judgments])
    found: list[tuple[Path, Judgment]] = []
    if isinstance(judgment, Verdict) and (judgment.judgments or judgment.tiers):
        _collect(judgment, (), found, orders=False)
    return tuple((path, vote) for path, vote in found if not is_failed_run(vote))


def _is_plain_panel(judgment: Judgment) -> TypeGuard[Verdict]:
    """Whether a judgment is the verdict of single judges, each of which judged a run that did not fail."""
    if not isinstance(judgment, Verdict) or judgment.tiers or is_pairwise_opinion(judgment):
        return False
    return all(juror.__class__ is Judgment and RUN_ERROR not in juror.metadata for juror in judgment.judgments)


@last_result
def _all_comparable(judgment: Judgment) -> tuple[tuple[Path, Judgment], ...]:
    found, places = _all_opinions(judgment), _comparable_places(judgment)
    return found if len(found) == len(places) else tuple(found[place] for place in places)


@by_form
def _comparable_places(judgment: Judgment) -> tuple[int, ...]:
    """Return the places of the opinions that answer the question of the verdict, among all opinions."""
    apart = (*screening_tiers_in(judgment), *(path for path, _ in criteria_of(judgment)))
    opinions = enumerate(_all_opinions(judgment))
    return tuple(place for place, (path, vote) in opinions if not is_unasked(vote) and not is_inside(path, apart))


def _collect(judgment: Judgment, path: Path, found: list[tuple[Path, Judgment]], *, orders: bool) -> None:
    """Add the opinions in a judgment to a list, with their paths."""
    if not isinstance(judgment, Verdict) or (is_pairwise_opinion(judgment) and not orders):
        found.append(((*path, judgment.critic), judgment))
    elif judgment.tiers:
        for tier in judgment.tiers:
            if not is_placeholder(tier):
                _collect(tier.judgment, (*path, tier.name), found, orders=orders)
    elif judgment.judgments:
        for juror in judgment.judgments:
            if juror.__class__ is Judgment:  # the most frequent case
                found.append(((*path, juror.critic), juror))
                continue
            below = (*path, juror.critic) if _has_parts(juror, orders=orders) else path
            _collect(juror, below, found, orders=orders)
    else:
        found.append(((*path, judgment.critic), judgment))


def _has_parts(judgment: Judgment, *, orders: bool) -> bool:
    """Return whether the opinions in a judgment are those of others."""
    if not isinstance(judgment, Verdict) or (is_pairwise_opinion(judgment) and not orders):
        return False
    return bool(judgment.judgments) if not judgment.tiers else not all(map(is_placeholder, judgment.tiers))
