"""Audit of judges that compare two answers: do they find the right one, whichever is shown first?"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from os import PathLike
from random import Random
from typing import Literal, TypeAlias

from jury_adapters.audit.asking import Answers, Asking
from jury_adapters.audit.examples import example_cases
from jury_adapters.audit.figures import Groups
from jury_adapters.audit.findings import Finding, Standards
from jury_adapters.audit.probes import Probe, Sizes, plan_probes
from jury_adapters.audit.right_answers import right_answers
from jury_adapters.audit.tests_of_shares import holm, share_below
from jury_adapters.core.budget import Budget
from jury_adapters.core.cache import JudgmentCache
from jury_adapters.core.case import Case
from jury_adapters.core.clustered_shares import clustered_wilson, sign_flip_test
from jury_adapters.core.errors import ConfigurationError, plain_repr
from jury_adapters.core.formatting import percent
from jury_adapters.core.judge_like import JudgeLike, judge_of
from jury_adapters.core.judgment import Judgment
from jury_adapters.core.usage import Usage
from jury_adapters.core.values import JsonValue
from jury_adapters.core.verdict import Verdict

Choice: TypeAlias = Literal["A", "B", "tie"] | None
"""Chosen candidate, in the order of the case, however it was shown; None without a choice."""


@dataclass(frozen=True, slots=True)
class PositionFigures:
    """Choices of one judge between two answers, each pair shown in both orders.

    Attributes:
        name: the name of the judge.
        right: number of pairs in which it chose the right answer in both orders.
        wrong: number of pairs in which it chose the wrong answer in both orders.
        first: number of pairs in which it chose the answer that was shown first, both times.
        second: number of pairs in which it chose the answer that was shown second, both times.
        other: number of pairs with a tie in at least one order.
        undecided: number of further pairs without a choice in at least one order.
        by_case: for each case, the number of its pairs with the first choice minus those with the second.
        right_by_case: for each case, the number of its pairs with the right choice, and of all its pairs.
    """

    name: str
    right: int = 0
    wrong: int = 0
    first: int = 0
    second: int = 0
    other: int = 0
    undecided: int = 0
    by_case: tuple[int, ...] = field(default=(), repr=False)
    right_by_case: Groups = field(default=(), repr=False)

    @property
    def n(self) -> int:
        """Number of pairs that count."""
        return self.right + self.wrong + self.first + self.second + self.other

    @property
    def kill_rate(self) -> float | None:
        """Share of the pairs in which it chose the right answer in both orders; None without pairs."""
        return self.right / self.n if self.n else None

    @property
    def consistency(self) -> float | None:
        """Share of the pairs in which the order made no difference; ties in one order alone count as a difference."""
        return (self.right + self.wrong) / self.n if self.n else None

    @property
    def p(self) -> float:
        """Two-sided p value, by cases, of the hypothesis that both places are chosen equally often."""
        return sign_flip_test(self.by_case)

    @property
    def kill_rate_interval(self) -> tuple[float, float]:
        """The 95 % interval of the kill rate, which allows for several pairs of one case."""
        return clustered_wilson(self.right_by_case)

    def to_dict(self) -> dict[str, JsonValue]:
        """Return the figures as JSON values."""
        low, high = self.kill_rate_interval
        return {
            "name": self.name, "n": self.n, "right": self.right, "wrong": self.wrong, "first": self.first,
            "second": self.second, "other": self.other, "undecided": self.undecided, "kill_rate": self.kill_rate,
            "kill_rate_interval": [low, high], "consistency": self.consistency, "p": self.p,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class PairAudit:
    """Results of an audit of judges that compare answers.

    Attributes:
        subjects: the figures of the jury, and then of each juror.
        findings: ``prefers_first``, ``prefers_second`` and ``misses_wrong_answers``, as far as they are
            statistically significant.
        usage: the calls, tokens and costs.
    """

    subjects: tuple[PositionFigures, ...]
    findings: tuple[Finding, ...]
    usage: Usage

    def to_dict(self) -> dict[str, JsonValue]:
        """Return the results as JSON values."""
        return {
            "subjects": [one.to_dict() for one in self.subjects],
            "findings": [one.to_dict() for one in self.findings],
            "calls": self.usage.calls,
            "cost_usd": self.usage.cost_usd,
        }

    def __str__(self) -> str:
        rows = [
            f"{one.name}: right in both orders {percent(one.kill_rate)} of {one.n}; the first shown in {one.first} "
            f"pairs, the second in {one.second}"
            for one in self.subjects
        ]
        return "\n".join([*rows, *(f"! {one.subject} {one.sentence} (p {one.p:.2g})" for one in self.findings)])


def audit_pairs(
    jury: JudgeLike,
    cases: Iterable[Case | Mapping[str, object]] | None = None,
    *,
    pass_labels: Collection[str] = (),
    pairs: int = 100,
    operators: Sequence[str] | None = None,
    standards: Standards | None = None,
    seed: int = 0,
    store: JudgmentCache | str | PathLike[str] | None = None,
    budget: Budget | None = None,
) -> PairAudit:
    """Test a jury that compares two answers, with a right answer and one that is wrong by construction.

    Every pair is shown in both orders. Judges that ask in both orders themselves, as :class:`PairwiseCritic` does, are
    measured by their two answers.

    Args:
        jury: a jury or a judge whose labels are A, B and tie.
        cases: cases with right answers, as for :func:`audit`.
        pass_labels: the human labels that mean PASS, as for :func:`audit`.
        pairs: the largest number of pairs; every case is used once before one is used again.
        operators: the operators that make the wrong answers; by default as for :func:`audit`.
        standards: the standards of the findings.
        seed: seed of all choices.
        store: as in ``judge_many``.
        budget: as in ``judge_many``.

    Raises:
        ConfigurationError: an operator is unknown, or no case is usable.
    """
    if isinstance(pairs, bool) or not isinstance(pairs, int) or pairs < 1:
        raise ConfigurationError(f"pairs is a number of pairs from 1, not {plain_repr(pairs)}")
    judge, standards = judge_of(jury), standards or Standards()
    found = example_cases() if cases is None else right_answers(cases, pass_labels)
    probes = _both_orders(plan_probes(found, operators=operators, sizes=Sizes(len(found), 0, 0), seed=seed), pairs)
    asking = Asking(judge, store=store, budget=budget)
    asking.ask(probes)
    cases_of_pairs = [probe.group for probe in probes[::2]]
    named = [(judge.name or "jury", asking.verdicts), *((juror.name, juror.answers) for juror in asking.jurors)]
    subjects = [position_figures(name, _choices(answers, len(probes)), cases_of_pairs) for name, answers in named]
    findings = tuple(finding for one in subjects for finding in position_findings(one, standards))
    return PairAudit(tuple(subjects), findings, asking.usage)


def position_figures(
    name: str, choices: Sequence[tuple[Choice, Choice]], cases: Sequence[int] | None = None
) -> PositionFigures:
    """Return the figures of one judge.

    Args:
        name: the name of the judge.
        choices: for each pair the choice with A shown first, and with B shown first. A is the right answer.
        cases: for each pair the number of its case; by default every pair is a case of its own.

    >>> position_figures("gpt", [("A", "A"), ("A", "B"), ("tie", "A"), ("B", "B")])
    PositionFigures(name='gpt', right=1, wrong=1, first=1, second=0, other=1, undecided=0)
    """
    counts = dict.fromkeys(("right", "wrong", "first", "second", "other", "undecided"), 0)
    kinds: dict[tuple[Choice, Choice], str] = {
        ("A", "A"): "right",
        ("B", "B"): "wrong",
        ("A", "B"): "first",
        ("B", "A"): "second",
    }
    differences: dict[int, int] = {}
    right: dict[int, list[int]] = {}
    for place, pair in enumerate(choices):
        case = place if cases is None else cases[place]
        kind = "undecided" if None in pair else kinds.get(pair, "other")
        counts[kind] += 1
        if kind != "undecided":
            differences[case] = differences.get(case, 0) + (kind == "first") - (kind == "second")
            count = right.setdefault(case, [0, 0])
            count[0] += kind == "right"
            count[1] += 1
    by_case = tuple((hits, pairs) for hits, pairs in right.values())
    return PositionFigures(name, **counts, by_case=tuple(differences.values()), right_by_case=by_case)


def position_findings(figures: PositionFigures, standards: Standards) -> tuple[Finding, ...]:
    """Return the weaknesses of one judge: a preferred position, and wrong answers that it chooses or ties with.

    Both hypotheses are tested exactly, and corrected by Holm's method.
    """
    limit = standards.min_kill_rate
    position, misses = holm([figures.p, share_below(figures.right_by_case, limit)])
    preferred = "first" if figures.first >= figures.second else "second"
    large = figures.n > 0 and abs(figures.first - figures.second) >= standards.least_difference * figures.n
    found = []
    if misses <= standards.level:
        low, high = figures.kill_rate_interval
        said = f"{percent(figures.kill_rate)} of {figures.n} pairs ({percent(low)} to {percent(high)})"
        sentence = f"chooses the right answer in both orders in {said}; asked for at least {percent(limit)}"
        found.append(Finding(figures.name, "misses_wrong_answers", sentence, misses))
    if position <= standards.level and large:
        sentence = (
            f"prefers the answer that is shown {preferred}: of {figures.n} pairs in both orders, it chose the first "
            f"both times in {figures.first} and the second both times in {figures.second}"
        )
        found.append(Finding(figures.name, f"prefers_{preferred}", sentence, position))
    return tuple(found)


def _both_orders(probes: Sequence[Probe], limit: int) -> list[Probe]:
    """Return right and wrong answers as candidates, in both orders; every case once before one has a second turn."""
    wrong: dict[int, list[Probe]] = {}
    for probe in probes:
        if probe.kind == "wrong":
            wrong.setdefault(probe.group, []).append(probe)
    if not wrong:
        raise ConfigurationError(
            "no operator can make a wrong answer of these answers; give longer ones, with names and numbers that the "
            "contexts have, in English"
        )
    for group, found in wrong.items():
        Random(group).shuffle(found)
    turns = (
        found[turn] for turn in range(max(map(len, wrong.values()))) for found in wrong.values() if turn < len(found)
    )
    originals = {probe.group: probe for probe in probes if probe.kind == "original"}
    pairs: list[Probe] = []
    for probe in islice(turns, limit):
        answers = (originals[probe.group].case.answer or "", probe.case.answer or "")
        for candidates in (answers, answers[::-1]):
            case = probe.case.model_copy(update={"answer": None, "candidates": candidates})
            pairs.append(Probe(len(pairs), "wrong", probe.name, case, probe.group, None, probe.change, True))
    return pairs


def _choices(answers: Answers, n: int) -> list[tuple[Choice, Choice]]:
    """Return the choices of each pair in terms of the right answer, A, and the wrong one, B."""
    found: list[tuple[Choice, Choice]] = []
    for place in range(0, n, 2):
        first, second = answers.get(place), answers.get(place + 1)
        inner = {} if not isinstance(first, Verdict) else first.by_name
        if {"A first", "B first"} <= inner.keys():
            found.append((_choice(inner["A first"]), _choice(inner["B first"])))
        else:
            found.append((_choice(first), _turned(_choice(second))))
    return found


def _choice(judgment: Judgment | None) -> Choice:
    label = None if judgment is None else judgment.label
    return label if label in ("A", "B", "tie") else None  # type: ignore[return-value]


def _turned(choice: Choice) -> Choice:
    return "B" if choice == "A" else "A" if choice == "B" else choice
