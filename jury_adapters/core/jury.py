"""Jury, the base class of all judges that consist of judges and return verdicts."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, Unpack, cast

from jury_adapters.core.case import Case
from jury_adapters.core.errors import ConfigurationError, plain_repr
from jury_adapters.core.fallbacks import without_fallbacks
from jury_adapters.core.gates import GateOptions, check_gates
from jury_adapters.core.judge import CaseLike, Judge
from jury_adapters.core.judge_like import JudgeLike, judge_of
from jury_adapters.core.judgment import Judgment, Status, broken
from jury_adapters.core.model_families import family_of
from jury_adapters.core.values import EMPTY, freeze_mapping
from jury_adapters.core.verdict import Verdict

if TYPE_CHECKING:
    from jury_adapters.core.batch import BatchOptions


class Jury(Judge):
    """Base class of judges that consist of judges. Their judgments are verdicts, also if the jury itself breaks.

    Attributes:
        gates: the conditions that its verdicts should meet, as in ``verdict.require(...)``. They are set by
            :meth:`with_gates` or by ``gates:`` in a jury file, and are empty by default. Judging ignores them; the
            consumers of verdicts check them (``jury judge``, the pytest plugin, ``verdict.require(**jury.gates)``).
    """

    name = ""
    gates: GateOptions = cast(GateOptions, EMPTY)

    @property
    def asks_one_judge(self) -> bool:
        """Whether it asks a single judge several times. If it breaks, one juror broke, and not a whole jury."""
        return False

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the members in a verdict, in order."""
        return unique_names([member.name for member in self.members])

    def with_gates(self, **conditions: Unpack[GateOptions]) -> Self:
        """Return the same jury with these conditions for its verdicts; they replace existing ones.

        Args:
            **conditions: as in ``verdict.require(...)``; see :func:`jury_adapters.core.gates.check_gates`.

        Raises:
            ConfigurationError: a condition is unknown, or has an invalid value.

        >>> from jury_adapters import Ensemble
        >>> from jury_adapters.checks import NotEmpty
        >>> jury = Ensemble([NotEmpty(), NotEmpty()]).with_gates(passed=True, min_agreement=0.8)
        >>> [result.result for result in jury.judge(answer="Yes.").require(**jury.gates)]
        ['passed', 'passed']
        """
        check_gates(Verdict(Status.PASS), **conditions)  # only to validate the conditions
        return self._with(gates=freeze_mapping(conditions))

    def judge(self, case: CaseLike | None = None, /, **fields: Any) -> Verdict:
        return cast(Verdict, super().judge(case, **fields))

    async def ajudge(self, case: CaseLike | None = None, /, **fields: Any) -> Verdict:
        return cast(Verdict, await super().ajudge(case, **fields))

    def judge_many(self, cases: Iterable[CaseLike], **options: Unpack[BatchOptions]) -> Iterator[Verdict]:
        return cast(Iterator[Verdict], super().judge_many(cases, **options))

    def ajudge_many(
        self, cases: Iterable[CaseLike] | AsyncIterable[CaseLike], **options: Unpack[BatchOptions]
    ) -> AsyncIterator[Verdict]:
        return cast(AsyncIterator[Verdict], super().ajudge_many(cases, **options))

    def judge_pairs(
        self, cases: Iterable[CaseLike], **options: Unpack[BatchOptions]
    ) -> Iterator[tuple[Case | None, Verdict]]:
        return cast(Iterator[tuple[Case | None, Verdict]], super().judge_pairs(cases, **options))

    def ajudge_pairs(
        self, cases: Iterable[CaseLike] | AsyncIterable[CaseLike], **options: Unpack[BatchOptions]
    ) -> AsyncIterator[tuple[Case | None, Verdict]]:
        return cast(AsyncIterator[tuple[Case | None, Verdict]], super().ajudge_pairs(cases, **options))

    def failure(self, error: BaseException | str, reasoning: str = "") -> Verdict:
        plain = broken(error, reasoning)
        return Verdict(Status.ERROR, error=plain.error, reasoning=plain.reasoning)


def members_of(judges: Iterable[JudgeLike], what: str) -> tuple[Judge, ...]:
    """Return the judges of a jury; functions are converted to judges.

    Raises:
        ConfigurationError: there are no judges, or one is neither a judge nor a function.
    """
    if isinstance(judges, Judge | str) or callable(judges):
        raise ConfigurationError(f"{what} takes a list of judges; for one judge write {what}([judge])")
    members = tuple(judge_of(member) for member in judges)
    if not members:
        raise ConfigurationError(f"{what} needs at least one judge")
    return members


def named_members(
    judges: Iterable[JudgeLike] | Mapping[str, JudgeLike], what: str
) -> tuple[tuple[Judge, ...], tuple[str, ...]]:
    """Return the judges of a jury and their names in it: the keys of a mapping, or the judges' own names made unique.

    Raises:
        ConfigurationError: there are no judges, one is neither a judge nor a function, or a name is not a text.
    """
    if not isinstance(judges, Mapping):
        members = members_of(judges, what)
        return members, unique_names([member.name for member in members])
    for name in judges:
        if not isinstance(name, str) or not name.strip():
            raise ConfigurationError(f"{what} takes a mapping from names to judges; {plain_repr(name)} is not a name")
    return members_of(judges.values(), what), tuple(judges)


def unique_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return unique names: an empty name becomes ``Judge#<position>``, and duplicates get ``-2``, ``-3``."""
    taken: set[str] = set()
    repeats: dict[str, int] = {}
    unique = []
    reserved = set(names)
    for position, name in enumerate(names, start=1):
        base = candidate = name or f"Judge#{position}"
        while candidate in taken or (candidate != base and candidate in reserved):
            repeats[base] = repeats.get(base, 1) + 1
            candidate = f"{base}-{repeats[base]}"
        taken.add(candidate)
        unique.append(candidate)
    return tuple(unique)


def sample_numbers(members: Sequence[Judge]) -> tuple[int, ...]:
    """Return for each juror the number of earlier jurors that are the same judge; 0 for the first.

    Fallbacks are ignored.
    """
    seen: dict[object, int] = {}
    numbers = []
    for member in members:
        juror = without_fallbacks(member)
        who = juror.fingerprint or id(juror)
        numbers.append(seen.get(who, 0))
        seen[who] = seen.get(who, 0) + 1
    return tuple(numbers)


def judges_own_family(judgments: Iterable[Judgment], generator: str | None) -> bool | None:
    """Whether a juror's model is of the same vendor family as the model that wrote the answer; None if unknown.

    It is unknown if the family of that model is, or if a juror asked a model of unknown family and no other juror is of
    the same family. Jurors without a model do not count.
    """
    family = family_of(generator)
    if family is None:
        return None
    found: bool | None = False
    for judgment in judgments:
        if isinstance(judgment, Verdict) and judgment.judgments:
            same = judges_own_family(judgment.judgments, generator)
        else:
            own = judgment.family or family_of(judgment.model)
            same = own == family if own is not None or judgment.model is None else None
        if same:
            return True
        if same is None:
            found = None
    return found
