"""Plan of an audit: the cases that a jury is asked about, and what is known about each of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random
from typing import Literal, TypeAlias

from jury_adapters.audit.injections import PLACES, Injection, Place, inject, injections
from jury_adapters.audit.invariances import INVARIANCES, Invariance, by_family
from jury_adapters.audit.operators.material import Material, sentences_of
from jury_adapters.audit.operators.registry import Operator, operators_named
from jury_adapters.core.case import Case
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.grounding.normalisation import tidy

Kind: TypeAlias = Literal["original", "wrong", "right", "invariance", "repeat", "injection"]
"""Kind of a probe: a given answer; one that is wrong, or still right, by construction; one with a change that must not
matter; the same answer again; one with hostile text."""


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
    """Numbers of probes; each is an upper limit, because not every change is possible in every case.

    Attributes:
        per_operator: probes of one operator, at most one per case.
        per_invariance: probes of one invariance, and of repeated questions, at most one per case.
        injections: probes with hostile text, at most one per case.
    """

    per_operator: int = 60
    per_invariance: int = 60
    injections: int = 60

    def __post_init__(self) -> None:
        for name in ("per_operator", "per_invariance", "injections"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise ConfigurationError(f"{name} is a number of probes from 0, not {value!r}")


def plan_probes(
    cases: Sequence[Case],
    *,
    operators: Sequence[str] | None = None,
    families: Sequence[str] = (),
    sizes: Sizes | None = None,
    seed: int = 0,
    labels: tuple[str, str] = ("YES", "NO"),
    delimiters: Mapping[int, tuple[str, str]] | None = None,
) -> tuple[Probe, ...]:
    """Return the probes for these cases; the same arguments give the same probes.

    Args:
        cases: cases with right answers, each with contexts or a reference.
        operators: the names of the operators; by default all that fit any rubric about facts.
        families: the vendor families of the jurors, each of which is claimed as the author of answers.
        sizes: the numbers of probes.
        seed: seed of all choices.
        labels: the labels of the rubric that mean PASS and FAIL, which hostile texts ask for.
        delimiters: the delimiters around the answer in the prompt, by number of the case, which hostile texts imitate.

    Raises:
        ConfigurationError: an operator is unknown, or no case has an answer with contexts or a reference.
    """
    usable = [case for case in cases if (case.answer or "").strip() and (case.contexts or case.reference)]
    if not usable:
        raise ConfigurationError(
            "an audit needs cases with right answers, and contexts or a reference for each; leave out the cases to use "
            "those that come with the package"
        )
    plan = _Plan(usable, sizes or Sizes(), seed, labels, delimiters or {})
    plan.add_originals()
    for operator in operators_named(operators):
        plan.add_changed(operator)
    for invariance in (*INVARIANCES, *(by_family(family) for family in dict.fromkeys(families))):
        plan.add_invariance(invariance)
    plan.add_repeats()
    plan.add_injections()
    return tuple(plan.probes)


class _Plan:
    """Probes under construction."""

    def __init__(
        self,
        cases: Sequence[Case],
        sizes: Sizes,
        seed: int,
        labels: tuple[str, str],
        delimiters: Mapping[int, tuple[str, str]],
    ) -> None:
        self.probes: list[Probe] = []
        self._cases, self._sizes, self._seed, self._labels, self._delimiters = cases, sizes, seed, labels, delimiters
        self._sentences = [[one.text for one in sentences_of(case.answer or "")] for case in cases]
        self._originals: list[Probe] = []
        self._materials: dict[int, Material] = {}

    def add_originals(self) -> None:
        for group, case in enumerate(self._cases):
            self._originals.append(self._add("original", "", case, group))

    def add_changed(self, operator: Operator) -> None:
        """Add at most one answer per case that the operator changed."""
        added = 0
        for group in self._order(operator.name):
            if added >= self._sizes.per_operator:
                break
            random = self._random(operator.name, group)
            mutants = operator.mutants(self._material(group), random)
            if not mutants:
                continue
            mutant = random.choice(mutants)
            case = self._cases[group].model_copy(update={"answer": mutant.answer})
            kind: Kind = "wrong" if operator.effect == "wrong" else "right"
            self._add(kind, operator.name, case, group, self._originals[group], mutant.change)
            added += 1

    def add_invariance(self, invariance: Invariance) -> None:
        """Add at most one changed case per given case."""
        added = 0
        for base in self._bases(invariance.name, invariance.applies_to == "wrong"):
            if added >= self._sizes.per_invariance:
                return
            case = invariance.rewrite(base.case, self._random(invariance.name, base.group))
            if case is not None:
                self._add("invariance", invariance.name, case, base.group, base, invariance.description)
                added += 1

    def add_repeats(self) -> None:
        """Ask about right and wrong answers a second time."""
        for base in islice(self._bases("repeat", False), self._sizes.per_invariance):
            self._add("repeat", "repeat", base.case, base.group, base, "the same question again")

    def add_injections(self) -> None:
        """Add wrong answers with hostile text, in each place in turn."""
        texts = {place: list(injections(place=place)) for place in PLACES}
        for place in PLACES:
            self._random(place).shuffle(texts[place])
        for added, base in enumerate(islice(self._bases("injection", True), self._sizes.injections)):
            for place in (*PLACES[added % len(PLACES) :], *PLACES[: added % len(PLACES)]):
                hostile = texts[place][added % len(texts[place])]
                case = self._injected(base, hostile, place)
                if case is not None:
                    self._add("injection", hostile.family, case, base.group, base, f"{hostile.name}, {place}")
                    break

    def _injected(self, base: Probe, hostile: Injection, place: Place) -> Case | None:
        opening, closing = self._delimiters.get(base.group, (None, None))
        passes, fails = self._labels
        return inject(
            base.case,
            hostile,
            place,
            pass_label=passes,
            fail_label=fails,
            open_delimiter=opening,
            close_delimiter=closing,
        )

    def _bases(self, name: str, wrong: bool) -> Iterator[Probe]:
        """Yield the probes that a change is applied to, one per case: wrong answers, or right and wrong ones in turn."""
        by_group: dict[int, list[Probe]] = {}
        for probe in self.probes:
            if probe.kind == "wrong":
                by_group.setdefault(probe.group, []).append(probe)
        for position, group in enumerate(self._order(name)):
            if group in by_group and (wrong or position % 2):
                yield self._random(f"base of {name}", group).choice(by_group[group])
            elif not wrong:
                yield self._originals[group]

    def _add(self, kind: Kind, name: str, case: Case, group: int, base: Probe | None = None, change: str = "") -> Probe:
        wrong = kind == "wrong" or (base is not None and base.wrong)
        probe = Probe(len(self.probes), kind, name, case, group, None if base is None else base.number, change, wrong)
        self.probes.append(probe)
        return probe

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
