"""Operators that find no place in the cases of an audit, so that nothing is known of what they would show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from jury_adapters.audit.operators.material import Material
from jury_adapters.audit.operators.registry import operators_named
from jury_adapters.audit.probes import Probe, Sizes
from jury_adapters.core.formatting import counted


@dataclass(frozen=True, slots=True)
class Unplaced:
    """Operators that could change no answer of the cases.

    Attributes:
        errors: the names of those that make an answer wrong.
        forms: the names of those that leave it right.
        error_kinds: the number of kinds of error that were asked for.
        form_kinds: the number of other forms that were asked for.
        cases: the number of given answers.
        foreign: the number of these that are not read as English.
    """

    errors: tuple[str, ...] = ()
    forms: tuple[str, ...] = ()
    error_kinds: int = 0
    form_kinds: int = 0
    cases: int = 0
    foreign: int = 0

    @classmethod
    def of(cls, probes: Sequence[Probe], operators: Sequence[str] | None, sizes: Sizes | None) -> Unplaced:
        """Compare the operators that were asked for with the probes.

        Args:
            probes: the plan.
            operators: the names of the operators, as for :func:`~jury_adapters.audit.probes.plan_probes`.
            sizes: the numbers of probes, as for the same function.
        """
        if not (sizes or Sizes()).per_operator:
            return cls()
        asked_for = operators_named(operators)
        placed = {probe.name for probe in probes if probe.kind in ("wrong", "right")}

        def missing(effect: Literal["wrong", "right"]) -> tuple[str, ...]:
            return tuple(one.name for one in asked_for if one.effect == effect and one.name not in placed)

        kinds = [one.effect for one in asked_for]
        given = [probe.case for probe in probes if probe.kind == "original"]
        errors, forms = missing("wrong"), missing("right")
        foreign = sum(not Material(case).is_english for case in given) if errors or forms else 0
        return cls(errors, forms, kinds.count("wrong"), kinds.count("right"), len(given), foreign)

    @property
    def lack(self) -> str:
        """The reason why no answer could be made wrong, so that there is no kill rate; empty if there is none."""
        if not self.errors or len(self.errors) < self.error_kinds:
            return ""
        why = (
            f"{counted(self.foreign, 'answer')} {_NOT_ENGLISH[self.foreign > 1]}"
            if self.foreign
            else "no answer has a fact that can be changed so that it is certainly wrong"
        )
        return f"no wrong answer could be made of {counted(self.cases, 'case')}: {why}"

    @property
    def sentences(self) -> tuple[str, ...]:
        """Sentences about the operators without a place; that no answer could be made wrong is left to ``lack``."""
        found = []
        if self.errors and not self.lack:
            found.append(self._no_place(self.errors, f"{self.error_kinds} kinds of error"))
        if self.forms:
            found.append(self._no_place(self.forms, f"{self.form_kinds} other forms of right answers"))
        return tuple(found)

    def _no_place(self, names: Sequence[str], kinds: str) -> str:
        foreign = f" ({self.foreign:,} {_NOT_ENGLISH[self.foreign > 1]})" if self.foreign else ""
        return (
            f"nothing is known of {len(names)} of {kinds}, which found no place in the "
            f"{counted(self.cases, 'given answer')}{foreign}: {', '.join(names)}"
        )


_NOT_ENGLISH = (
    "does not read as English, which most changes need",
    "do not read as English, which most changes need",
)  # of one answer, and of several

NONE_UNPLACED = Unplaced()
"""No operator was asked for, or each found a place."""
