"""Two runs over the same cases: what changed, how sure that is, and which jurors changed their minds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from jury_adapters.core.case import Case
from jury_adapters.core.case_groups import group_of_case
from jury_adapters.core.clustered_shares import PairCounts, clustered_paired_interval, sign_flip_test
from jury_adapters.core.errors import ConfigurationError, InputError
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.opinions import juror_names, opinions_of
from jury_adapters.core.render import counted, to_word, visible
from jury_adapters.core.values import JsonValue
from jury_adapters.report.entries import Entry


@dataclass(frozen=True, slots=True)
class Change:
    """A juror that said something else in the second run.

    Attributes:
        juror: its name.
        before: what it said in the first run; None when it was not asked.
        after: what it said in the second; None when it was not asked.
        reasoning: why, in its own words: of the second run, or of the first where it was not asked again.
    """

    juror: str
    before: str | None
    after: str | None
    reasoning: str


@dataclass(frozen=True, slots=True)
class Flip:
    """A case with another verdict than before.

    Attributes:
        where: the item's id, or its line.
        index: its position in the second run, from 0.
        before: the verdict of the first run.
        after: the verdict of the second.
        changes: the jurors that changed their minds.
        answer_changed: True when the judged content itself is another; None when that is not known.
        changed: which fields of the case are others (``"answer"``), where the texts of both runs are known.
    """

    where: str
    index: int
    before: str
    after: str
    changes: tuple[Change, ...]
    answer_changed: bool | None
    changed: tuple[str, ...] = ()

    @property
    def why(self) -> str:
        """One sentence: what lies behind the flip."""
        told = [f"{change.juror}: {change.before or 'not asked'} -> {change.after or 'not asked'}"
                for change in self.changes]  # fmt: skip
        if self.answer_changed:
            told.insert(0, f"the {' and the '.join(self.changed) or 'question, contexts or answer'} changed")
        return "; ".join(told) or "every juror said what it said before; the rule that counts the votes differs"


@dataclass(frozen=True, slots=True)
class Comparison:
    """What became of the same cases in two runs. As text: ``str(comparison)``.

    Attributes:
        before: the title of the first run.
        after: the title of the second.
        paired: cases that stand in both runs.
        only_before: cases of the first run alone.
        only_after: cases of the second run alone.
        decided: paired cases that are PASS or FAIL in both.
        passed_before: of the decided, how many passed in the first run.
        passed_after: of the decided, how many passed in the second.
        difference: pass rate after minus before over the decided, in -1..1; None without any.
        interval: the 95 % interval of the difference; None without any.
        groups: number of groups of the decided cases; None where cases do not come in groups.
        p_value: that of the hypothesis that a case (or all the cases of a group at once) is as likely to go either way;
            without groups the exact McNemar test, see :func:`jury_adapters.core.clustered_shares.sign_flip_test`. None
            without any decided case.
        flips: every paired case with another verdict, those between PASS and FAIL first.
    """

    before: str
    after: str
    paired: int
    only_before: int
    only_after: int
    decided: int
    passed_before: int
    passed_after: int
    difference: float | None
    interval: tuple[float, float] | None
    flips: tuple[Flip, ...]
    groups: int | None = None
    p_value: float | None = None

    @property
    def better(self) -> int:
        """Cases that failed before and pass now."""
        return sum((flip.before, flip.after) == ("FAIL", "PASS") for flip in self.flips)

    @property
    def worse(self) -> int:
        """Cases that passed before and fail now."""
        return sum((flip.before, flip.after) == ("PASS", "FAIL") for flip in self.flips)

    @property
    def sentence(self) -> str:
        """What the difference means, for a reader without statistics."""
        if self.difference is None or self.interval is None:
            return "No case was decided in both runs, so there is nothing to compare."
        low, high = self.interval
        words = "95 % interval" if self.groups is None else f"95 % interval, {counted(self.groups, 'group')}:"
        points = f"{100 * self.difference:+.1f} percentage points ({words} {100 * low:+.1f} to {100 * high:+.1f})"
        if low > 0:
            return f"The pass rate rose: {points}."
        if high < 0:
            return f"The pass rate fell: {points}."
        return f"The pass rate moved by {points}: no change that these {self.decided:,} cases could tell from chance."

    def to_dict(self) -> dict[str, JsonValue]:
        """JSON values."""
        return {
            "before": self.before, "after": self.after, "paired": self.paired, "only_before": self.only_before,
            "only_after": self.only_after, "decided": self.decided, "passed_before": self.passed_before,
            "passed_after": self.passed_after, "difference": self.difference,
            "interval": None if self.interval is None else list(self.interval),
            "groups": self.groups, "p_value": self.p_value,
            "flips": [
                {"where": flip.where, "before": flip.before, "after": flip.after, "why": flip.why}
                for flip in self.flips
            ],
        }  # fmt: skip

    def __str__(self) -> str:
        told = [f"{self.paired:,} cases in both runs; {self.better:,} better, {self.worse:,} worse", self.sentence]
        told += [visible(f"  {flip.where}: {flip.before} -> {flip.after} ({flip.why})") for flip in self.flips]
        return "\n".join(told)


def compare(
    before: Sequence[Entry],
    after: Sequence[Entry],
    *,
    titles: tuple[str, str] = ("before", "after"),
    group: str = "",
) -> Comparison:
    """Compare two runs case by case.

    Cases are matched by item id; without ids by their content; else by their line or position.

    Args:
        before: the first run.
        after: the second run.
        titles: what the runs are called.
        group: field that says which cases belong together; empty for independent cases. It is read from the second run,
            or from the first where the second does not know it.

    Raises:
        ConfigurationError: no case of the one stands in the other, or a case has no such group.
    """
    pairs = _matched(before, after)
    if not pairs:
        raise ConfigurationError("the two runs share no case: they are matched by item id, else content, else line")
    both = [(a, b) for a, b in pairs if _decided(a.judgment) and _decided(b.judgment)]
    by_group = _by_group(both, group)
    kept, lost, won, _ = (sum(numbers) for numbers in zip((0, 0, 0, 0), *by_group, strict=True))
    flips = [_flip(a, b) for a, b in pairs if to_word(a.judgment) != to_word(b.judgment)]
    return Comparison(
        *titles,
        paired=len(pairs),
        only_before=len(before) - len(pairs),
        only_after=len(after) - len(pairs),
        decided=len(both),
        passed_before=kept + lost,
        passed_after=kept + won,
        difference=(won - lost) / len(both) if both else None,
        interval=clustered_paired_interval(by_group) if both else None,
        flips=tuple(sorted(flips, key=lambda flip: {flip.before, flip.after} != {"PASS", "FAIL"})),
        groups=len(by_group) if group else None,
        p_value=sign_flip_test(counts[2] - counts[1] for counts in by_group) if both else None,
    )


def _by_group(pairs: Sequence[tuple[Entry, Entry]], group: str) -> list[PairCounts]:
    """Return the outcomes of each group of decided cases; without groups each case is one of its own."""
    found: dict[Hashable, Counter[tuple[bool, bool]]] = {}
    for position, (before, after) in enumerate(pairs):
        name = position if not group else _group(before, after, group)
        found.setdefault(name, Counter())[_passed(before), _passed(after)] += 1
    return [(one[True, True], one[True, False], one[False, True], one[False, False]) for one in found.values()]


def _passed(entry: Entry) -> bool:
    return entry.judgment.status is Status.PASS


def _group(before: Entry, after: Entry, group: str) -> Hashable:
    try:
        return group_of_case(after.case, after.judgment, group, after.place)
    except InputError:
        return group_of_case(before.case, before.judgment, group, before.place)


def _matched(before: Sequence[Entry], after: Sequence[Entry]) -> list[tuple[Entry, Entry]]:
    """The cases of both, in the order of the second run; each is used once."""
    by = _shared_name(before, after)
    waiting: dict[object, list[Entry]] = {}
    for entry in reversed(before):
        waiting.setdefault(getattr(entry, by), []).append(entry)
    return [(waiting[name].pop(), entry) for entry in after if waiting.get(name := getattr(entry, by))]


def _shared_name(before: Sequence[Entry], after: Sequence[Entry]) -> str:
    """What tells the cases of both runs apart: ids where every case has one, else contents, else lines or positions."""
    entries = [*before, *after]
    known = ("item_id", "key", "line")
    return next((name for name in known if all(getattr(entry, name) is not None for entry in entries)), "index")


def _flip(before: Entry, after: Entry) -> Flip:
    old, new = _named(before.judgment), _named(after.judgment)
    changes = [
        Change(name, _said(old.get(name)), _said(new.get(name)), (new[name] if name in new else old[name]).reasoning)
        for name in dict.fromkeys((*old, *new))
        if _said(old.get(name)) != _said(new.get(name))
    ]
    same = None if before.key is None or after.key is None else before.key != after.key
    return Flip(
        after.where, after.index, to_word(before.judgment), to_word(after.judgment), tuple(changes), same,
        _changed(before.case, after.case),
    )  # fmt: skip


def _changed(before: Case | None, after: Case | None) -> tuple[str, ...]:
    """The fields that a judge may look at and that are others now."""
    if before is None or after is None:
        return ()
    fields = (name for name in Case.model_fields if name != "metadata")
    return tuple(name for name in fields if getattr(before, name) != getattr(after, name))


def _named(judgment: Judgment) -> dict[str, Judgment]:
    told = dict(opinions_of(judgment))
    names = juror_names(told)
    return {names[path]: vote for path, vote in told.items()}


def _said(judgment: Judgment | None) -> str | None:
    return None if judgment is None else to_word(judgment)


def _decided(judgment: Judgment) -> bool:
    return judgment.status in (Status.PASS, Status.FAIL)
