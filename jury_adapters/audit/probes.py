"""Plan of an audit: the cases that a jury is asked about, and what is known about each of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count, islice
from random import Random
from typing import Literal, TypeAlias, TypedDict, Unpack

from jury_adapters.audit.hostile_texts import PLACES, Place, delimiters_of, inject, injections
from jury_adapters.audit.invariances import INVARIANCES, Invariance, by_family
from jury_adapters.audit.operators.material import Material, Mutant, sentences_of
from jury_adapters.audit.operators.registry import Operator, operators_named
from jury_adapters.audit.right_answers import with_sources
from jury_adapters.core.case import Case
from jury_adapters.core.errors import ConfigurationError, plain_repr
from jury_adapters.critic.answers import comparable
from jury_adapters.grounding.normalisation import tidy

Kind: TypeAlias = Literal["original", "wrong", "right", "invariance", "repeat", "injection"]
"""Kind of a probe: a given answer; one that is wrong, or still right, by construction; one with a change that must not
matter; the same answer again; one with hostile text."""


LABEL_ORDER = "label_order"
"""Name of the probes in which the critics list the labels of their rubrics in the opposite order."""


@dataclass(frozen=True, slots=True)
class Probe:
    """One question to the jury.

    Attributes:
        number: its position in the plan.
        kind: its kind.
        name: the operator, the invariance, or the family of the hostile text; empty for an original.
        case: the case to judge.
        group: the number of the case that it was made from; probes of one group are not independent.
        base: the number of the probe whose verdict it is compared with; None for an original.
        change: the change, for readers.
        wrong: whether the answer is wrong by construction.
    """

    number: int
    kind: Kind
    name: str
    case: Case
    group: int
    base: int | None = None
    change: str = ""
    wrong: bool = False


@dataclass(frozen=True, slots=True)
class Sizes:
    """Numbers of probes. Each is an upper limit, because not every change is possible in every case.

    Every case is used once before a case is used a second time.

    Attributes:
        per_operator: probes of one operator.
        per_invariance: probes of one invariance, and of repeated questions.
        injections: probes with hostile text.
    """

    per_operator: int = 60
    per_invariance: int = 60
    injections: int = 60

    def __post_init__(self) -> None:
        for name in ("per_operator", "per_invariance", "injections"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise ConfigurationError(f"{name} is a number of probes from 0, not {plain_repr(value)}")


def plan_probes(
    cases: Sequence[Case],
    *,
    operators: Sequence[str] | None = None,
    families: Sequence[str] = (),
    sizes: Sizes | None = None,
    seed: int = 0,
    labels: tuple[str, str] = ("YES", "NO"),
    places: Sequence[Place] = PLACES,
    label_order: bool = False,
) -> tuple[Probe, ...]:
    """Return the probes for these cases; the same arguments give the same probes.

    Args:
        cases: cases with right answers, each with contexts or a reference; the log counts the others. Copies of a
            case are left out.
        operators: the names of the operators; by default all that fit any rubric about facts.
        families: the vendor families of the jurors, each of which is claimed as the author of answers.
        sizes: the numbers of probes.
        seed: seed of all choices.
        labels: the labels of the rubric that mean PASS and FAIL, which hostile texts ask for.
        places: the places for hostile texts that the jury sees.
        label_order: whether to ask also with the labels of the rubrics in the opposite order.

    Raises:
        ConfigurationError: an operator is unknown, or no case has an answer with contexts or a reference.
    """
    if sizes is not None and not isinstance(sizes, Sizes):
        raise ConfigurationError(f"sizes is given as Sizes(per_operator=...), not {plain_repr(sizes)}")
    usable = with_sources(cases)
    plan = _Plan(list({_content(case): case for case in reversed(usable)}.values())[::-1], sizes or Sizes(), seed)
    plan.add_originals()
    for operator in operators_named(operators):
        plan.add_changed(operator)
    for invariance in (*INVARIANCES, *(by_family(family) for family in dict.fromkeys(families))):
        plan.add_invariance(invariance)
    if label_order:
        plan.add_same_cases("invariance", LABEL_ORDER, "the labels of the rubric in the opposite order")
    plan.add_same_cases("repeat", "repeat", "the same question again")
    plan.add_injections(labels, places)
    return tuple(plan.probes)


def _content(case: Case) -> tuple[str, ...]:
    """Return what makes a case another one; copies of a case would count as independent of it."""
    texts = (case.question or "", case.answer or "", case.reference or "", *case.contexts)
    return tuple(map(comparable, texts))


class _Made(TypedDict, total=False):
    """Probe that another one was made from, and the change."""

    base: Probe
    change: str


class _Plan:
    """Probes under construction."""

    def __init__(self, cases: Sequence[Case], sizes: Sizes, seed: int) -> None:
        self.probes: list[Probe] = []
        self._cases, self._sizes, self._seed = cases, sizes, seed
        self._sentences = [[one.text for one in sentences_of(case.answer or "")] for case in cases]
        self._originals: list[Probe] = []
        self._materials: dict[int, Material] = {}

    def add_originals(self) -> None:
        for group, case in enumerate(self._cases):
            self._originals.append(self._add("original", "", case, group))

    def add_changed(self, operator: Operator) -> None:
        """Add answers that the operator changed."""
        kind: Kind = "wrong" if operator.effect == "wrong" else "right"
        for group, mutant in islice(self._mutants(operator), self._sizes.per_operator):
            case = self._cases[group].model_copy(update={"answer": mutant.answer})
            self._add(kind, operator.name, case, group, base=self._originals[group], change=mutant.change)

    def add_invariance(self, invariance: Invariance) -> None:
        """Add changed cases."""
        added = 0
        for base in self._bases(invariance.name, invariance.applies_to == "wrong"):
            if added >= self._sizes.per_invariance:
                return
            case = invariance.rewrite(base.case, self._random(invariance.name, base.group))
            if case is not None:
                self._add("invariance", invariance.name, case, base.group, base=base, change=invariance.description)
                added += 1

    def add_same_cases(self, kind: Kind, name: str, change: str) -> None:
        """Ask about right and wrong answers in another way."""
        for base in islice(self._bases(name, False), self._sizes.per_invariance):
            self._add(kind, name, base.case, base.group, base=base, change=change)

    def add_injections(self, labels: tuple[str, str], places: Sequence[Place]) -> None:
        """Add wrong answers with hostile text, in each place in turn."""
        texts = {place: list(injections(place=place)) for place in places}
        for place in places:
            self._random(place).shuffle(texts[place])
        bases = islice(self._bases("injection", True), self._sizes.injections if places else 0)
        for added, base in enumerate(bases):
            start = added % len(places)
            for place in (*places[start:], *places[:start]):
                hostile = texts[place][added % len(texts[place])]
                case = inject(
                    base.case, hostile, place, pass_label=labels[0], fail_label=labels[1],
                    delimiters=delimiters_of(base.case),
                )  # fmt: skip
                if case is not None:
                    change = f"{hostile.name}, {place}"
                    self._add("injection", hostile.family, case, base.group, base=base, change=change)
                    break

    def _bases(self, name: str, wrong: bool) -> Iterator[Probe]:
        """Yield the probes that a change is applied to: wrong ones, or right and wrong ones in turn.

        Every case has its turn before a case has a second one.
        """
        by_group: dict[int, list[Probe]] = {}
        for probe in self.probes:
            if probe.kind == "wrong":
                by_group.setdefault(probe.group, []).append(probe)
        for group, found in by_group.items():
            self._random(f"bases of {name}", group).shuffle(found)
        order = self._order(name)
        for turn in range(max(map(len, by_group.values()), default=1)):
            for position, group in enumerate(order):
                mutants = by_group.get(group, [])
                if wrong or (position + turn) % 2:
                    yield from mutants[turn : turn + 1]
                elif turn < 2:
                    yield self._originals[group]

    def _add(self, kind: Kind, name: str, case: Case, group: int, **made: Unpack[_Made]) -> Probe:
        base = made.get("base")
        wrong = kind == "wrong" or (base is not None and base.wrong)
        number = None if base is None else base.number
        probe = Probe(len(self.probes), kind, name, case, group, number, made.get("change", ""), wrong)
        self.probes.append(probe)
        return probe

    def _mutants(self, operator: Operator) -> Iterator[tuple[int, Mutant]]:
        """Yield one mutant of each case, then a second one, and so on. A case that is not reached costs nothing."""
        mutants: dict[int, list[Mutant]] = {}
        order = self._order(operator.name)
        for turn in count():
            for group in order:
                if turn == 0:
                    random = self._random(operator.name, group)
                    mutants[group] = operator.mutants(self._material(group), random)
                    random.shuffle(mutants[group])
                if turn < len(mutants[group]):
                    yield group, mutants[group][turn]
            order = [group for group in order if turn + 1 < len(mutants[group])]
            if not order:
                return

    def _material(self, group: int) -> Material:
        if group not in self._materials:
            others = [one for number, found in enumerate(self._sentences) if number != group for one in found]
            reference = self._cases[group].reference
            case = self._cases[group]
            if reference:
                case = case.model_copy(update={"contexts": (*case.contexts, tidy(reference))})
            self._materials[group] = Material(case, self._random("foreign", group).sample(others, min(40, len(others))))
        return self._materials[group]

    def _order(self, name: str) -> list[int]:
        groups = list(range(len(self._cases)))
        self._random(name).shuffle(groups)
        return groups

    def _random(self, name: str, group: int = -1) -> Random:
        return Random(f"{self._seed}|{name}|{group}")
