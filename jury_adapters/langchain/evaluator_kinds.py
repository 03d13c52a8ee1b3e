"""Kinds of openevals and agentevals evaluators: those of texts, of conversations and of JSON values."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias

from jury_adapters.core.case import Case
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.judgment import Judgment, Status, abstain
from jury_adapters.judges.external import Call

Kind: TypeAlias = Literal["texts", "conversations", "JSON"]
Prepare: TypeAlias = Callable[[Case], Call | Judgment]


def kind_of(function: object) -> Kind:
    """Return what an evaluator compares, based on its package; texts for any other function.

    Raises:
        ConfigurationError: it compares graph trajectories, which a case cannot hold.
    """
    function = getattr(function, "func", function)  # of functools.partial
    module = getattr(function, "__module__", None) or ""
    package = ".".join(module.split(".")[:2])
    if package == "agentevals.graph_trajectory":
        raise ConfigurationError(
            "this evaluator of agentevals compares graph trajectories, and a case holds none; give arguments= with a "
            "function of a case that returns its inputs, outputs and reference_outputs"
        )
    return _KINDS.get(package, "texts")


def json_arguments(case: Case) -> dict[str, object]:
    """Return the JSON values that a case holds as text."""
    return {"inputs": case.question, "outputs": _value(case.answer), "reference_outputs": _value(case.reference)}


def of_json(prepare: Prepare) -> Prepare:
    """Return a function that prepares calls of an evaluator of JSON objects, or of lists of them.

    An answer that is neither, or that differs in kind from the reference, is FAIL with score 0. A reference that is
    neither is ABSTAIN.
    """

    def prepare_values(case: Case) -> Call | Judgment:
        if case.answer is None or case.reference is None:
            return prepare(case)
        wanted, given = _form(_value(case.reference)), _form(_value(case.answer))
        if wanted is None:
            return abstain(
                "the evaluator compares JSON objects, and the reference is not JSON text of one; to compare something "
                "else, give from_evaluator(arguments=...)"
            )
        if given != wanted:
            return Judgment(
                Status.FAIL, score=0.0, reasoning=f"the answer is not JSON text of {wanted}, as the reference is"
            )
        return prepare(case)

    return prepare_values


def _value(text: str | None) -> object:
    """Return the value of JSON text; None for other text."""
    try:
        return None if text is None else json.loads(text)
    except (ValueError, RecursionError):
        return None


def _form(value: object) -> str | None:
    if isinstance(value, Mapping):
        return "an object"
    is_list = isinstance(value, list) and all(isinstance(item, Mapping) for item in value)
    return "a list of objects" if is_list else None


_KINDS: Mapping[str, Kind] = {
    "agentevals.trajectory": "conversations", "openevals.trajectory": "conversations", "openevals.json": "JSON",
}  # fmt: skip
