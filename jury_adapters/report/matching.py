"""Match the cases of two runs, and find what makes their pairs doubtful."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

from jury_adapters.core.case import EMPTY_KEY
from jury_adapters.core.formatting import counted
from jury_adapters.report.run_facts import RunFacts


class Matching(NamedTuple):
    """Cases of two runs, as pairs.

    Attributes:
        pairs: the positions of each case that is in both runs, in the order of the second; each case is used once.
        equal: for each pair, whether both cases have the same judged content.
        one_answer: for each pair, whether both answers are the same, whatever else differs, such as the contexts.
        why_unpaired: why cases are not pairs, although the runs may have common ones; empty if they are.
        other_questions: the number of pairs with different questions.
        other_contexts: the number of pairs without questions whose contexts differ.
        repeated_ids: the number of ids that occur more than once in a run, if ids match the cases.
        under_other_ids: the number of unpaired cases of each run whose question is that of one unpaired case of the
            other, if ids match the cases.
        contexts_under_other_ids: the same number for the contexts of cases without a question.
        ids: the id of each pair, if several pairs have one; else empty.
    """

    pairs: list[tuple[int, int]]
    equal: list[bool]
    one_answer: list[bool]
    why_unpaired: str = ""
    other_questions: int = 0
    other_contexts: int = 0
    repeated_ids: int = 0
    under_other_ids: int = 0
    contexts_under_other_ids: int = 0
    ids: Sequence[Hashable] = ()

    @property
    def same_answers(self) -> bool:
        """Whether every pair has the same judged content, so that two juries are compared."""
        return bool(self.equal) and all(self.equal)

    def warnings(self, group: str, *, by_id: bool = False) -> Iterator[str]:
        """Yield sentences about what makes the pairs doubtful.

        Args:
            group: the field that identifies the group of a case; empty for independent cases.
            by_id: whether the pairs of one id are a group.
        """
        if self.other_questions:
            has = "has" if self.other_questions == 1 else "have"
            yield (
                f"{self.other_questions:,} of {counted(len(self.pairs), 'pair')} {has} different questions under one "
                "id, so different cases are compared; check the ids of both runs."
            )
        if self.other_contexts:
            has = "has" if self.other_contexts == 1 else "have"
            yield (
                f"{self.other_contexts:,} of {counted(len(self.pairs), 'pair')} {has} no question and different "
                "contexts under one id, so different cases may be compared; check the ids of both runs."
            )
        left_out = "their cases are left out" if self.pairs else "their cases are not compared as pairs"
        if self.under_other_ids:
            yield (
                f"{counted(self.under_other_ids, 'question is', 'questions are')} in both runs under different ids, so "
                f"{left_out}; give both answers to a question the same id."
            )
        if self.contexts_under_other_ids:
            yield (
                f"the contexts of {counted(self.contexts_under_other_ids, 'case')} without a question are in both runs "
                f"under different ids, so {left_out}; give both answers to the same contexts the same id."
            )
        if self.repeated_ids and self.pairs:
            what = f"{counted(self.repeated_ids, 'id occurs', 'ids occur')} more than once in a run"
            together = " Pairs of one id, such as copies of a case, count as one group." if by_id and self.ids else ""
            yield (
                f"{what}; such cases are paired by equal content, then by equal question, then in order.{together} "
                f"Give each case its own id{'' if group else ', or name what belongs together as the group'}."
            )


def match(before: RunFacts, after: RunFacts) -> Matching:
    """Match cases by id if every case has one, else by question if each case has its own, else by content.

    Cases that share an id are paired by equal content, then by equal question, then in order. Verdicts without their
    cases are matched by line or position. If fewer than nearly all cases of the smaller run have an equal content in
    the other, equal contents do not make pairs: they would be a selection of the answers that two systems share.
    """
    by, old, new = _names(before, after)
    pairs = sorted(_pairs(before, after, old, new), key=lambda pair: pair[1])
    why = _why_unpaired(before, after, len(pairs)) if by == "content" else ""
    if why:
        return Matching([], [], [], why_unpaired=why)
    ids = [new[b] for _, b in pairs] if by == "item_id" else []
    asked = ((before.question[a], after.question[b]) for a, b in pairs)
    sources = ((before.source[a], after.source[b]) for a, b in pairs)
    return Matching(
        pairs,
        [_same_content(before, a, after, b) for a, b in pairs],
        [_same_answer(before, a, after, b) for a, b in pairs],
        other_questions=sum(None not in both and both[0] != both[1] for both in asked),
        other_contexts=sum(None not in both and both[0] != both[1] for both in sources),
        repeated_ids=len(_repeated(old) | _repeated(new)) if by == "item_id" else 0,
        under_other_ids=_under_other_ids(before.question, after.question, pairs) if by == "item_id" else 0,
        contexts_under_other_ids=_under_other_ids(before.source, after.source, pairs) if by == "item_id" else 0,
        ids=ids if len(set(ids)) < len(ids) else (),
    )


def _why_unpaired(before: RunFacts, after: RunFacts, equal: int) -> str:
    """Return why so many equal contents do not make pairs; empty if they do, or if the runs may have no common case."""
    smaller, known = min(len(before), len(after)), None not in before.question and None not in after.question
    if equal >= _NEARLY_ALL * smaller or (known and not set(before.question) & set(after.question)):
        return ""
    questions = "questions repeat" if known else "not every question is known"
    cases = f"only {equal:,} of {smaller:,} cases have" if equal else "no case has"
    return f"{questions}, not every case has an id, and {cases} equal content in both runs"


def _names(before: RunFacts, after: RunFacts) -> tuple[str, Sequence[Hashable], Sequence[Hashable]]:
    """Return the fact that matches the cases of both runs, and its values.

    Questions come before contents, because two systems that answer a question differently have different contents.
    """
    asked = before.question, after.question
    once = all(len(set(questions)) == len(questions) for questions in asked)
    for name in ("item_id", *(("question",) if once else ()), "content", "line"):
        old, new = getattr(before, name), getattr(after, name)
        if None not in old and None not in new:
            return name, old, new
    return "index", before.index, after.index


def _pairs(
    before: RunFacts, after: RunFacts, old: Sequence[Hashable], new: Sequence[Hashable]
) -> Iterator[tuple[int, int]]:
    """Yield the pairs of cases with the same name; where several have it, those with most in common first."""
    if len(set(old)) == len(old) and len(set(new)) == len(new):  # the most frequent case
        places = {name: a for a, name in enumerate(old)}
        yield from ((places[name], b) for b, name in enumerate(new) if name in places)
        return
    waiting: dict[Hashable, list[int]] = {}
    for a, name in enumerate(old):
        waiting.setdefault(name, []).append(a)
    arriving: dict[Hashable, list[int]] = {}
    for b, name in enumerate(new):
        if name in waiting:
            arriving.setdefault(name, []).append(b)
    for name, positions in arriving.items():
        yield from _pairs_of_one_name(before, after, waiting[name], positions)


def _pairs_of_one_name(
    before: RunFacts, after: RunFacts, left_a: Sequence[int], left_b: Sequence[int]
) -> Iterator[tuple[int, int]]:
    for old, new in ((before.key, after.key), (before.question, after.question)):
        if len(left_a) > 1 or len(left_b) > 1:
            found = _equal(left_a, left_b, old, new)
            used_a, used_b = {a for a, _ in found}, {b for _, b in found}
            left_a = [a for a in left_a if a not in used_a]
            left_b = [b for b in left_b if b not in used_b]
            yield from found
    yield from zip(left_a, left_b, strict=False)


def _equal(
    left_a: Sequence[int], left_b: Sequence[int], old: Sequence[Hashable], new: Sequence[Hashable]
) -> list[tuple[int, int]]:
    """Return pairs of positions with an equal value; a value that is not known equals no other."""
    waiting: dict[Hashable, list[int]] = {}
    for a in reversed(left_a):
        waiting.setdefault(old[a], []).append(a)
    return [(waiting[new[b]].pop(), b) for b in left_b if new[b] is not None and waiting.get(new[b])]


def _under_other_ids(
    before: Sequence[int | None], after: Sequence[int | None], pairs: Sequence[tuple[int, int]]
) -> int:
    """Return the number of questions, or of contexts, that each run has once, in a case without a partner."""
    used = {a for a, _ in pairs}, {b for _, b in pairs}
    alone: list[set[int]] = []
    for run, paired in zip((before, after), used, strict=True):
        times = Counter(run)
        alone.append({
            asked
            for position, asked in enumerate(run)
            if asked is not None and times[asked] == 1 and position not in paired
        })  # fmt: skip
    return len(alone[0] & alone[1])


def _same_content(before: RunFacts, a: int, after: RunFacts, b: int) -> bool:
    """Whether two cases have the same content, with that of the metadata which a judge reads.

    Where a case has nothing to judge but its metadata, all of its metadata must be equal.
    """
    if before.key[a] != after.key[b] or before.key[a] in (None, EMPTY_KEY):
        return False
    if before.retrieved[a] != after.retrieved[b]:
        return False
    return bool(before.has_content[a] or after.has_content[b]) or before.metadata[a] == after.metadata[b]


def _same_answer(before: RunFacts, a: int, after: RunFacts, b: int) -> bool:
    """Whether two cases have the same answer, so that a human label of the one is a label of the other, too."""
    if before.key[a] == after.key[b] and before.key[a] not in (None, EMPTY_KEY):
        return True
    return before.answer[a] is not None and before.answer[a] == after.answer[b]


def _repeated(names: Sequence[Hashable]) -> set[Hashable]:
    return {name for name, times in Counter(names).items() if times > 1}


_NEARLY_ALL = 0.95  # share of the smaller run
