"""Claims of an answer, each with its evidence and a verdict, and how a jury combines those of its jurors.

**Matching.** Two jurors word the same claim differently, so claims are compared by their words, without case and
punctuation. Their similarity is the number of shared words / the number of all words of both (Jaccard). Two claims
match if the similarity is at least :data:`MATCHING`, both contain the same numbers, and both or neither contain a
negation of :mod:`jury_adapters.core.negations`. In scripts without spaces between words, only equal claims match.

Each claim of the first juror begins a group. The claims of each further juror join the groups one to one: the most
similar pair first, and of equally similar pairs the earlier group, then the earlier claim. A claim is compared with the
first claim of the group. Claims that match none begin further groups, in order. So equal judgments in equal order
always give equal groups.

**Voting.** Within a group each juror that lists the claim has one vote, ``supported`` or ``unsupported``, whatever its
weight; ``unclear`` is an abstention, and a juror that does not list the claim has no vote. The majority decides. After
a tie, and without votes, the claim is ``unclear``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, Literal, TypeAlias

from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.negations import find_negation
from jury_adapters.core.values import EMPTY, FrozenDict, check_word, clean_text, freeze_mapping

ClaimVerdict: TypeAlias = Literal["supported", "unsupported", "unclear"]
CLAIM_VERDICTS: Final = ("supported", "unsupported", "unclear")
MATCHING: Final = 0.5
"""Lowest similarity of two claims that match."""


@dataclass(frozen=True, slots=True)
class Claim:
    """Claim of an answer, with the passage that decides it.

    Attributes:
        text: the claim, in words that can be understood without the others.
        verdict: ``"supported"``, ``"unsupported"`` (contradicted claims included), or ``"unclear"`` if it could not be
            decided.
        sentence: the words of the answer that make the claim; "" if they are unknown.
        evidence: the words of the passage that decide the claim; "" if there are none.
        passage: the number of that passage among the contexts, from 1; None without evidence.
        reasoning: the reason for the verdict.
        votes: in the verdict of a jury, the verdict of each juror that lists the claim, by juror name.
    """

    text: str
    verdict: ClaimVerdict
    sentence: str = ""
    evidence: str = ""
    passage: int | None = None
    reasoning: str = ""
    votes: FrozenDict = field(default=EMPTY, hash=False)

    def __post_init__(self) -> None:
        for name in ("text", "sentence", "evidence", "reasoning"):
            value = getattr(self, name)
            if not isinstance(value, str):
                raise ConfigurationError(f"Claim.{name} is text, not {type(value).__name__}")
            object.__setattr__(self, name, clean_text(value))
        check_word(self.verdict, CLAIM_VERDICTS, "Claim.verdict")
        if self.passage is not None and (self.passage.__class__ is not int or self.passage < 1):
            raise ConfigurationError("Claim.passage is the number of a passage, from 1, or None")
        if self.votes.__class__ is not FrozenDict:
            object.__setattr__(self, "votes", freeze_mapping(self.votes))
        for vote in self.votes.values():
            check_word(vote, CLAIM_VERDICTS, "vote of Claim.votes")


def supported_share(claims: Iterable[Claim]) -> float | None:
    """Return supported claims / decided claims; unclear claims do not count. None if no claim is decided.

    >>> supported_share([Claim("a", "supported"), Claim("b", "unsupported"), Claim("c", "unclear")])
    0.5
    """
    verdicts = [claim.verdict for claim in claims if claim.verdict != "unclear"]
    return verdicts.count("supported") / len(verdicts) if verdicts else None


def combine_claims(by_juror: Sequence[tuple[str, Sequence[Claim]]]) -> tuple[Claim, ...]:
    """Return the claims of a jury, each with the votes of its jurors and the verdict of their majority.

    Text and sentence are those of the first claim of a group. Evidence, passage and reasoning are those of the
    first juror whose vote is the combined verdict.

    Args:
        by_juror: the name of each juror, with its claims.

    >>> one, two = Claim("It costs 12 euros", "supported"), Claim("The ticket costs 12 euros", "unsupported")
    >>> [(claim.text, claim.verdict, dict(claim.votes)) for claim in combine_claims([("a", [one]), ("b", [two])])]
    [('It costs 12 euros', 'unclear', {'a': 'supported', 'b': 'unsupported'})]
    """
    groups: list[_Group] = []
    for juror, claims in by_juror:
        worded = [_Words(claim.text) for claim in claims]
        places = _matches(groups, worded)
        new = []
        for position, claim in enumerate(claims):
            if position in places:
                groups[places[position]].members[juror] = claim
            else:
                new.append(_Group(worded[position], {juror: claim}))
        groups += new
    return tuple(_combined(group.members) for group in groups)


class _Words:
    """Words of a claim, for comparison."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.words = frozenset(_WORD.findall(text.casefold().replace("\u2019", "'")))

    @cached_property
    def marks(self) -> tuple[frozenset[str], bool]:
        """The numbers, and whether there is a negation."""
        numbers = frozenset(word for word in self.words if any(char.isdigit() for char in word))
        return numbers, bool(find_negation(self.text))

    def similarity(self, other: _Words) -> float:
        shared = len(self.words & other.words)
        every = len(self.words) + len(other.words) - shared
        return shared / every if every and self.marks == other.marks else 0.0


@dataclass(slots=True)
class _Group:
    first: _Words
    members: dict[str, Claim]


def _matches(groups: Sequence[_Group], claims: Sequence[_Words]) -> dict[int, int]:
    """Return the group of each claim of one juror that matches one, by their positions."""
    pairs = []
    for place, group in enumerate(groups):
        for position, claim in enumerate(claims):
            similarity = group.first.similarity(claim)
            if similarity >= MATCHING:
                pairs.append((-similarity, place, position))
    found: dict[int, int] = {}
    taken: set[int] = set()
    for _, place, position in sorted(pairs):
        if place not in taken and position not in found:
            found[position] = place
            taken.add(place)
    return found


def _combined(members: dict[str, Claim]) -> Claim:
    votes = {juror: claim.verdict for juror, claim in members.items()}
    given = list(votes.values())
    ahead = given.count("supported") - given.count("unsupported")
    verdict: ClaimVerdict = "supported" if ahead > 0 else "unsupported" if ahead < 0 else "unclear"
    first, *_ = members.values()
    sources = [claim for claim in members.values() if claim.verdict == verdict]
    source = next((claim for claim in sources if claim.evidence), sources[0] if sources else _TIED)
    return replace(source, text=first.text, sentence=first.sentence or source.sentence, votes=FrozenDict(votes))


_TIED = Claim("", "unclear", reasoning="the votes are tied")
_WORD = re.compile(r"\d+(?:[.,:/-]\d+)*|[\w]+(?:'\w+)*")
