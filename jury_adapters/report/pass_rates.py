"""Pass rates of the cases with each value of a field, such as the language or the ward."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jury_adapters.core.case_groups import group_of_case
from jury_adapters.core.errors import ConfigurationError, InputError, plain_repr
from jury_adapters.core.formatting import counted, percent, percent_span, visible
from jury_adapters.core.values import JsonValue
from jury_adapters.report.summary import Summary

if TYPE_CHECKING:
    from jury_adapters.report.report import Report

NO_VALUE = "(no value)"
MOST_VALUES = 200
_PURPOSE = "the field by which pass rates are shown, and no other case has it"
_NOTE = "Each interval is for its own row. The highest and the lowest rate of many rows differ by chance, too."


@dataclass(frozen=True, slots=True)
class PassRates:
    """Pass rate of the cases with each value of a field; it prints as a table.

    Attributes:
        field: the field.
        group: the field that identifies the group of a case, which the intervals take into account; empty for
            independent cases.
        by_value: the figures of the cases with each value, from the value with the most cases to that with the fewest.
            Cases without the field are under :data:`NO_VALUE`.
    """

    field: str
    group: str
    by_value: dict[str, Summary]

    def to_dict(self) -> dict[str, JsonValue]:
        """Return the figures as JSON values."""
        return {
            "field": self.field,
            "group": self.group or None,
            "rows": [
                {
                    "value": value, "cases": one.cases, "passed": one.passed, "decided": one.decided,
                    "pass_rate": one.pass_rate,
                    "pass_rate_interval": None if one.pass_interval is None else list(one.pass_interval),
                    "groups": one.groups, "needs_review": one.review, "pass_rate_warning": one.pass_rate_warning,
                }
                for value, one in self.by_value.items()
            ],
        }  # fmt: skip

    def to_markdown(self) -> str:
        """Return a table and its notes as Markdown."""
        from jury_adapters.report.markdown import code

        head, *rows = self._cells()
        lines = [" | ".join(head), " | ".join(["---", *["---:"] * (len(head) - 1)])]
        lines += [" | ".join([code(value, 60), *cells]) for value, *cells in rows]
        return "\n".join([*(f"| {line} |" for line in lines), "", *self._notes(), ""])

    def __str__(self) -> str:
        table = [[visible(cell)[:60] for cell in row] for row in self._cells()]
        widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
        lines = [
            "  ".join([row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True))])
            for row in table
        ]
        lines.insert(1, "-" * len(lines[0]))
        return "\n".join([*lines, "", *self._notes()])

    def _cells(self) -> Iterator[list[str]]:
        groups = ["groups"] if self.group else []
        yield [self.field, "cases", "passed", "decided", "pass rate", "95 % interval", *groups, "needs review"]
        for value, one in self.by_value.items():
            counts = [f"{number:,}" for number in (one.cases, one.passed, one.decided)]
            of_groups = [f"{one.groups:,}"] if self.group else []
            yield [
                value, *counts, percent(one.pass_rate), percent_span(one.pass_interval), *of_groups, f"{one.review:,}",
            ]  # fmt: skip

    def _notes(self) -> Iterator[str]:
        for value, one in self.by_value.items():
            if one.pass_rate_warning:
                yield f"Warning: of {visible(value)}, {one.pass_rate_warning}"
        yield _NOTE


def pass_rates_by(report: Report, field: str) -> PassRates:
    """Return the pass rate of the cases with each value of a field.

    The rates and intervals are those of a report of these cases alone. If the report has groups, the intervals take
    them into account. The field is a category, such as a language or a department. Cases that belong together, such as
    those about one document, are groups: see ``group=`` of :class:`Report`.

    Args:
        report: the report.
        field: an entry of the cases' metadata, a path such as ``"meta.ward"``, or a field of the case.

    Raises:
        ConfigurationError: there are more than :data:`MOST_VALUES` values.
        InputError: no case has the field.

    >>> from jury_adapters import Case, Judgment
    >>> from jury_adapters.report import Report
    >>> wards = ["north"] * 3 + ["south"] * 2
    >>> pairs = [(Case(answer=str(n), metadata={"ward": ward}), Judgment("PASS" if n else "FAIL"))
    ...          for n, ward in enumerate(wards)]
    >>> rates = pass_rates_by(Report.from_results(pairs), "ward")
    >>> {value: (one.passed, one.decided) for value, one in rates.by_value.items()}
    {'north': (2, 3), 'south': (2, 2)}
    """
    found: dict[str, Summary] = {}
    missing: InputError | None = None
    for entry in report:
        try:
            value = str(group_of_case(entry.case, entry.judgment, field, entry.place, _PURPOSE))
        except InputError as error:
            missing, value = missing or error, NO_VALUE
        one = found.get(value)
        if one is None:
            if len(found) == MOST_VALUES:
                raise ConfigurationError(
                    f"{plain_repr(field)} has more than {counted(MOST_VALUES, 'value')}, so it is not a category"
                )
            one = found[value] = Summary(look_first=1, pass_labels=report.pass_labels, group=report.group)
            one.decision = report.decision
        one.add(entry.case, entry.judgment, entry.place, key=entry.key)
    if missing is not None and set(found) == {NO_VALUE}:
        raise missing
    ordered = sorted(found.items(), key=lambda item: (item[0] == NO_VALUE, -item[1].cases))
    return PassRates(field, report.group, dict(ordered))
