"""All operators by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal, TypeAlias

from jury_adapters.audit.operators import (
    changed_names,
    changed_quantities,
    changed_sentences,
    changed_words,
    paraphrases,
)
from jury_adapters.audit.operators.material import Material, Mutant
from jury_adapters.core.errors import ConfigurationError, plain_repr, unknown

Change: TypeAlias = Callable[[Material, Random], Iterator[Mutant]]


@dataclass(frozen=True, slots=True)
class Operator:
    """Operator that changes a right answer.

    Attributes:
        name: its name in reports.
        effect: ``"wrong"`` if a changed answer is wrong by construction, ``"right"`` if it is still right.
        description: the change in a few words.
        change: the function that yields the changed answers of a case.
        default: whether it is used unless operators are named.
    """

    name: str
    effect: Literal["wrong", "right"]
    description: str
    change: Change
    default: bool = True

    def mutants(self, material: Material, random: Random) -> list[Mutant]:
        """Return all changed answers of a case; empty if the operator finds nothing that it can change safely."""
        found = self.change(material, random)
        return [mutant for mutant in found if mutant.answer.strip() and mutant.answer != material.answer]


OPERATORS: tuple[Operator, ...] = (
    Operator("number", "wrong", "a number is another one", changed_quantities.change_number),
    Operator("date", "wrong", "a date, year, day or hour is another one", changed_quantities.change_date),
    Operator("unit", "wrong", "a quantity has another unit", changed_quantities.change_unit),
    Operator("name", "wrong", "a name is one of another case", changed_names.change_name),
    Operator("swap", "wrong", "two names or numbers changed places", changed_names.swap_pair),
    Operator("negation", "wrong", "a statement is negated", changed_words.change_negation),
    Operator("quantifier", "wrong", "all became none, at least became at most", changed_words.change_quantifier),
    Operator("comparison", "wrong", "a comparison or an order is reversed", changed_words.change_comparison),
    Operator("condition", "wrong", "a condition or an exception is left out", changed_words.drop_condition),
    Operator(
        "foreign_sentence", "wrong", "a sentence of another case is added", changed_sentences.add_foreign_sentence
    ),
    Operator("contradiction", "wrong", "the opposite of a statement is added", changed_sentences.add_contradiction),
    Operator("citation", "wrong", "a mark such as [1] names another passage", changed_sentences.change_citation),
    Operator("omission", "wrong", "a sentence is left out", changed_sentences.leave_out_sentence, default=False),
    Operator("number_notation", "right", "numbers in another notation", paraphrases.rewrite_numbers),
    Operator("date_notation", "right", "dates in another notation", paraphrases.rewrite_dates),
    Operator("unit_conversion", "right", "a quantity in another unit, converted", paraphrases.convert_units),
    Operator("function_words", "right", "other function words", paraphrases.rewrite_function_words),
    Operator("sentence_order", "right", "sentences in another order", paraphrases.reorder_sentences),
    Operator("layout", "right", "another layout", paraphrases.reformat),
)
"""The operators, in the order of reports. ``omission`` is not a default, because it is wrong only for a rubric that
asks for complete answers."""


def operators_named(names: Sequence[str] | None) -> tuple[Operator, ...]:
    """Return operators by name; the default ones for None.

    Raises:
        ConfigurationError: there is no operator of that name.
    """
    if names is None:
        return tuple(one for one in OPERATORS if one.default)
    if isinstance(names, str):
        raise ConfigurationError(f"operators is a list of names, such as [{plain_repr(names)}]")
    known = {one.name: one for one in OPERATORS}
    for name in names:
        if name not in known:
            raise ConfigurationError(unknown("operator", name, list(known)))
    return tuple(known[name] for name in dict.fromkeys(names))
