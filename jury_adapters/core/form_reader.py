"""Forms of judgments in JSON values, which are read without building each judgment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import count
from operator import itemgetter
from typing import Any, Final, NamedTuple, TypeAlias

from jury_adapters.core.forms import COUNTED_METADATA, Form, form_of
from jury_adapters.core.serial import judgment_from_dict
from jury_adapters.core.usual_judgments import DERIVED
from jury_adapters.core.values import EMPTY, FrozenDict, freeze_mapping
from jury_adapters.core.verdict_facts import metadata_of_case

Look: TypeAlias = Callable[[Any], object]


class FormReader:
    """Reader of the forms of judgments, which takes a third of the time of reading the judgments.

    The first judgment of each form is read, which checks its values. Others are recognised by the values that belong to
    the form, and their texts, times and costs are not looked at.

    >>> reader = FormReader()
    >>> short, polite = ({"status": "PASS", "reasoning": why} for why in ("short", "polite"))
    >>> reader.read(short)[0] is reader.read(polite)[0]
    True
    """

    def __init__(self) -> None:
        self._looks: Mapping[str, Look] = {
            "tally": self._tally, "judgments": self._keys, "judgment": self._key, "tiers": self._keys,
            "ballots": tuple, "weights": tuple, "skipped": tuple,
            "metadata": _counted, "usage": _unknown_cost, "score": _is_none,
        }  # fmt: skip
        self._layouts: dict[tuple[str, ...], _Layout] = {}
        self._numbers = count()
        self._forms: dict[object, Form] = {}

    def read(self, data: Mapping[str, Any]) -> tuple[Form, FrozenDict]:
        """Return the form of a judgment, and the metadata of its case.

        Raises:
            InputError: it is the first judgment of its form, and a field is unknown or has an invalid value.
        """
        try:
            key = self._key(data)
            form = self._forms.get(key)
            metadata = _metadata_of_case(data)
        except (_Unusual, KeyError, TypeError, AttributeError, ValueError, RecursionError):
            judgment = judgment_from_dict(data)
            return form_of(judgment), metadata_of_case(judgment)
        if form is None:
            if len(self._forms) >= _MOST:
                self._forms.clear()
            form = self._forms[key] = form_of(judgment_from_dict(data))
        return form, metadata

    def _key(self, data: Any) -> object:
        """Return a value that is equal only for objects that are alike in all that belongs to the form."""
        names = tuple(data)
        layout = self._layouts.get(names)
        if layout is None:
            if len(self._layouts) >= _MOST:
                self._layouts.clear()
            layout = self._layouts[names] = _layout(names, self._looks, next(self._numbers))
        why = data["reasoning"] if layout.has_reason and data["status"] in _UNDECIDED else ""
        return layout.number, layout.own(data), why, *[look(data[name]) for name, look in layout.inside]

    def _tally(self, tally: Any) -> object:
        if tally.get("on") == "score":
            raise _Unusual  # each vote on scores has a form of its own
        return self._key(tally)

    def _keys(self, values: Any) -> object:
        return tuple(map(self._key, values))


class _Unusual(Exception):
    """Error for a value whose judgment must be read; it never leaves this module."""


class _Layout(NamedTuple):
    """Way to look at objects with certain names.

    Attributes:
        number: number of the names.
        own: returns the values that belong to the form as they are.
        inside: the names of others, each with a function that returns what of its value belongs to the form.
        has_reason: whether there is a reason, which belongs to the form where nothing was decided.
    """

    number: int
    own: Look
    inside: tuple[tuple[str, Look], ...]
    has_reason: bool


def _layout(names: tuple[str, ...], looks: Mapping[str, Look], number: int) -> _Layout:
    own = [name for name in names if name not in looks and name not in _LEFT_OUT]
    inside = tuple((name, looks[name]) for name in looks if name in names)  # the tally first, which may be unusual
    return _Layout(number, itemgetter(*own) if own else _nothing, inside, "reasoning" in names)


def _nothing(_: object) -> None:
    return None


def _is_none(value: object) -> bool:
    return value is None


def _counted(metadata: Any) -> object:
    return tuple([(name, metadata[name]) for name in COUNTED_METADATA if name in metadata])


def _unknown_cost(usage: Any) -> object:
    """Return what says whether the calls are not counted; see :attr:`jury_adapters.core.usage.Usage.uncounted`."""
    if "cost_complete" not in usage and "recorded" not in usage:
        return None
    recorded = usage.get("recorded")
    return usage.get("cost_complete"), bool(usage.get("calls")), recorded and _unknown_cost(recorded)


def _metadata_of_case(data: Mapping[str, Any]) -> FrozenDict:
    if "case_metadata" not in data:
        return EMPTY
    metadata = data["case_metadata"]
    if metadata.__class__ is not dict:
        raise _Unusual
    return freeze_mapping(metadata)


_MOST: Final = 1 << 10  # layouts and forms that are kept, because a file may have any number
_UNDECIDED: Final = ("ABSTAIN", "ERROR")
_LEFT_OUT: Final = frozenset({
    "confidence", "probabilities", "reasoning", "findings", "claims", "elapsed_s", "raw_response", "case_id",
    "case_metadata", "why", *DERIVED,
})  # fmt: skip
