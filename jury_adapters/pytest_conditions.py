"""Marks and conditions of tests with a jury, and the messages for their authors."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

if TYPE_CHECKING:
    from jury_adapters.core.gates import GateOptions, GateResult
    from jury_adapters.core.judgment import Judgment

_ONE_JURY = (
    "@pytest.mark.jury takes one jury, first and without a name, and then conditions: "
    "@pytest.mark.jury('jury.yaml', min_agreement=0.8); several judges make a jury: Ensemble([...])"
)


def marked(test: pytest.Item) -> tuple[object, dict[str, Any]]:
    """Return the jury and the conditions of a test's marks.

    The closest mark that names a jury, or sets a condition, counts: that of a set of parameters comes before those of
    the test, its class and its module.
    """
    __tracebackhide__ = True
    of_parameters = [getattr(mark, "mark", mark) for mark in getattr(getattr(test, "callspec", None), "marks", ())]
    named: object = None
    conditions: dict[str, Any] = {}
    for mark in (*(mark for mark in of_parameters if mark.name == "jury"), *test.iter_markers("jury")):
        if len(mark.args) > 1 or mark.kwargs.keys() & {"judge", "jury"}:
            misused(_ONE_JURY)
        if named is None and mark.args:
            named = mark.args[0]
        conditions = {**mark.kwargs, **conditions}
    check_conditions(conditions)
    return named, conditions


def misused(message: str) -> NoReturn:
    """Fail the test with a message for its author, without a traceback of this package."""
    __tracebackhide__ = True
    raise pytest.fail.Exception(message, pytrace=False) from None


def is_marked_in_place_of_a_test(obj: object) -> bool:
    """Whether a function or a class of judges has a mark without arguments, as one that was the mark's argument has."""
    if not (inspect.isfunction(obj) or inspect.isclass(obj)):
        return False
    marks = vars(obj).get("pytestmark", ())
    if not isinstance(marks, list) or not any(one.name == "jury" and not (one.args or one.kwargs) for one in marks):
        return False
    from jury_adapters.core.judge import Judge

    return inspect.isfunction(obj) or issubclass(obj, Judge)


@contextmanager
def misuse_of_a_judge() -> Iterator[None]:
    """Fail the test with the message of a configuration error alone, such as that of a budget without prices."""
    from jury_adapters.core.errors import ConfigurationError

    __tracebackhide__ = True
    try:
        yield
    except ConfigurationError as error:
        misused(str(error))


def condition_names() -> frozenset[str]:
    """Return the names of the conditions of :meth:`Verdict.require`."""
    from jury_adapters.core.gates import GateOptions

    return frozenset(GateOptions.__annotations__)


def split(conditions: GateOptions | None, fields: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the conditions of a call, and the fields of its case."""
    __tracebackhide__ = True
    names = condition_names()
    if conditions is not None and not isinstance(conditions, Mapping):
        misused(f"conditions= is a mapping such as {{'min_votes': 3}}, not {type(conditions).__name__}")
    asked = {**(conditions or {}), **{name: value for name, value in fields.items() if name in names}}
    check_conditions(asked)
    return asked, {name: value for name, value in fields.items() if name not in asked}


def check_conditions(conditions: Iterable[str]) -> None:
    """Fail the test if one of these is not the name of a condition."""
    from jury_adapters.core import gates
    from jury_adapters.core.errors import ConfigurationError

    try:
        gates.check_conditions(conditions)
    except ConfigurationError as error:
        misused(str(error))


def checked(judgment: Judgment, conditions: Mapping[str, Any]) -> tuple[GateResult, ...]:
    """Return the result of each condition on a judgment; those of a jury do not apply to a single judge."""
    from jury_adapters.core.errors import ConfigurationError
    from jury_adapters.core.gates import GateResult, check_gates
    from jury_adapters.core.verdict import Verdict

    if judgment.passed is None and conditions.get("passed") is not None:
        note = f"the label {judgment.label!r} has no PASS/FAIL meaning: use jury.judge(...) and compare the label"
        return (GateResult("passed", "failed", note),)
    if not isinstance(judgment, Verdict):
        unknown = sorted(conditions.keys() - {"passed", "decided", "needs_review", "undefined"})
        if unknown:
            misused(f"{', '.join(unknown)}: only a jury's verdicts have that; this judge is a single one")
        judgment = Verdict(judgment.status, label=judgment.label, error=judgment.error, reasoning=judgment.reasoning)
    try:
        return check_gates(judgment, **conditions)
    except ConfigurationError as error:  # an invalid value of a condition
        misused(str(error))
