"""Final label of each case that several reviewers labelled, and the cases on which they contradict each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from jury_adapters.cli.label_file import UNSURE, Said, said_of
from jury_adapters.core.case import Case
from jury_adapters.core.duplicates import Identity
from jury_adapters.core.formatting import counted, visible

_MOST_CONTRADICTIONS = 3


def latest(said: Iterable[Said]) -> dict[tuple[Identity, str], Said]:
    """Return the last label of each reviewer for each case."""
    return {(one.identity, one.by): one for one in said}


def final_labels(said: Iterable[Said]) -> dict[Identity, str | None]:
    """Return the final label of each case: that of most reviewers; None if they are split, or if all are unsure."""
    ballots: dict[Identity, Counter[str]] = {}
    for (identity, _), one in latest(said).items():
        votes = ballots.setdefault(identity, Counter())
        if one.said != UNSURE:
            votes[one.said] += 1
    return {identity: _most(votes) for identity, votes in ballots.items()}


def contradictions(said: Iterable[Said]) -> dict[Identity, list[Said]]:
    """Return the cases on which reviewers are split, each with the last label of every reviewer who was sure."""
    reviews = list(said)
    agreed = final_labels(reviews)
    sure: dict[Identity, list[Said]] = {}
    for (identity, _), one in latest(reviews).items():
        if agreed[identity] is None and one.said != UNSURE:
            sure.setdefault(identity, []).append(one)
    return sure


def describe_contradictions(split: Mapping[Identity, Sequence[Said]]) -> str:
    """Return how many cases have contradicting labels, and the first of them with the label of each reviewer."""
    shown = [
        f"{_name(said[0])}: {', '.join(f'{visible(one.by)} {visible(one.said)}' for one in said)}"
        for said in islice(split.values(), _MOST_CONTRADICTIONS)
    ]
    more = [f"{len(split) - len(shown):,} more"] if len(split) > len(shown) else []
    have = "has" if len(split) == 1 else "have"
    return f"{counted(len(split), 'case')} {have} contradicting labels ({'; '.join([*shown, *more])})"


def describe_left_out(split: Mapping[Identity, Sequence[Said]]) -> str:
    """Return the message that these cases are left out, with the command that settles them."""
    return (
        f"{describe_contradictions(split)} and {'is' if len(split) == 1 else 'are'} left out; one more reviewer "
        "settles it: jury review RESULTS --only all --by NAME"
    )


def one_per_case(cases: Iterable[Case]) -> Iterator[Case]:
    """Yield the cases of a file of labels once each, with their final labels; other cases are unchanged.

    Otherwise, a case with labels of three reviewers would count as three independent cases.
    """
    read = [(case, said_of(case.metadata)) for case in cases]
    agreed = final_labels(said for _, said in read if said is not None)
    done: set[Identity] = set()
    for case, said in read:
        if said is None:
            yield case
        elif said.identity not in done:
            done.add(said.identity)
            rest = {name: value for name, value in case.metadata.items() if name != "gold"}
            truth = agreed[said.identity]
            yield case.model_copy(update={"metadata": rest if truth is None else {**rest, "gold": truth}})


def _most(votes: Counter[str]) -> str | None:
    first, second = (*votes.most_common(2), ("", 0), ("", 0))[:2]
    return first[0] if first[1] > second[1] else None


def _name(said: Said) -> str:
    """Return the name of a case: its own id, else its line."""
    return f"line {said.line}" if said.identity[1] is None else visible(said.identity[1])
