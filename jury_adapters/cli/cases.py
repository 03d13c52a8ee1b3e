"""The file of cases that is judged: its rows as cases, what is wrong with it, and which results belong to it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from jury_adapters.cli.labels import COLUMN
from jury_adapters.core.case import Case
from jury_adapters.core.judge import Judge
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.results import Result, facts_of, identity_of
from jury_adapters.core.text import visible
from jury_adapters.core.values import ConfigurationError, InputError
from jury_adapters.inputs.files import Row, read_rows
from jury_adapters.inputs.rows import case_of_row
from jury_adapters.inputs.run import Run, default_case, listed, missing
from jury_adapters.inputs.traces import is_trace, read_traces


@dataclass(frozen=True)
class CaseFile:
    """Rows of a file as cases.

    Attributes:
        path: the file.
        field_map: columns by field, of ``--map``.
        label: the column with the label of a person.
        group: the column with the group; empty for none.
        limit: how many rows are read.
    """

    path: Path
    field_map: Mapping[str, str]
    label: str
    group: str
    limit: int | None

    def __iter__(self) -> Iterator[Case | InputError]:
        """Yield cases, and an error, with its line, for each row that makes none."""
        return (self._read(row)[0] for row in self._rows())

    def cases(self) -> Iterator[Case]:
        """Yield the cases alone."""
        return (one for one in self if isinstance(one, Case))

    def survey(self) -> "Survey":
        """Read the file once, before anything is sent.

        Raises:
            InputError: no row makes a case, or a row has no value in the column of the groups.
        """
        found = Survey()
        for row in self._rows():
            case, given = self._read(row)
            found.columns |= dict.fromkeys(given)
            if isinstance(case, InputError):
                found.unread.append(str(case))
                continue
            found.cases[identity_of(case, *facts_of(case, self.label, self.group))] += 1
            found.answered += case.answer is not None or bool(case.candidates or case.error)
            if not missing(label := case.metadata.get(self.label)):
                found.labels[str(label)] = label
            if self.group and missing(case.metadata.get(self.group)):
                raise InputError(
                    f"{self.path}, line {row.line}: no value in the column '{visible(self.group, 40)}' of --group; "
                    f"the columns are {listed(given)}"
                )
        if not found.cases:
            raise InputError(
                f"{self.path}: none of {len(found.unread):,} rows is a case"
                f"{'; the first: '.join(['', *found.unread[:1]])}"
            )
        return found

    def _rows(self) -> Iterator[Row]:
        first = next(read_rows(self.path), None)
        if first is None or not is_trace(first.values):
            return islice(read_rows(self.path), self.limit)
        runs = islice(read_traces(row.values for row in read_rows(self.path)), self.limit)
        return (Row(n, {"trace": run}, run if isinstance(run, InputError) else None) for n, run in enumerate(runs, 1))

    def _read(self, row: Row) -> tuple[Case | InputError, Mapping[str, Any]]:
        try:
            if row.error is not None:
                raise row.error
            run = row.values.get("trace")
            case = default_case(run) if isinstance(run, Run) else case_of_row(row.values, self.field_map)
            for folder in filter(None, (case.workspace, case.metadata.get("expected_dir"))):
                if not Path(str(folder)).resolve().is_relative_to(self.path.resolve().parent):
                    raise InputError(f"the folder {visible(str(folder), 100)} is not in that of the file of cases")
        except (InputError, OSError, ValueError, RuntimeError) as error:  # of a path that no system has
            return InputError(f"line {row.line}: {error}"), row.values
        given = {**case.metadata, **row.values}
        more = {
            name: given[name]
            for name in (self.label, self.group)
            if name and name not in case.metadata and not missing(given.get(name)) and str(given[name]).strip()
        }
        return case.but(metadata={**case.metadata, **more}) if more else case, given


@dataclass
class Survey:
    """What a file of cases has.

    Attributes:
        cases: how often each case occurs, with its label and group.
        unread: why rows make no case.
        answered: the number of cases with an answer, candidates, or the error of a run.
        labels: the different labels of people.
        columns: the columns of all rows.
    """

    cases: Counter[str] = field(default_factory=Counter)
    unread: list[str] = field(default_factory=list)
    answered: int = 0
    labels: dict[str, Any] = field(default_factory=dict)
    columns: dict[str, None] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.cases.total() + len(self.unread)

    def remarks(self) -> Iterator[str]:
        """Yield the rows that cannot be read, and what else is worth knowing before the run."""
        yield from self.unread[:20]
        if len(self.unread) > 20:
            yield f"and {len(self.unread) - 20:,} more rows that cannot be read"
        if not self.answered:
            yield f"no case has an answer; the columns are {listed(self.columns)}"

    def check_labels(self, jury: Judge, column: str, pass_labels: Iterable[str]) -> None:
        """Refuse labels of people that mean nothing beside the verdicts of the jury, before these are paid for.

        Raises:
            InputError: statistics cannot read them.
        """
        if not self.labels:
            if pass_labels or column != COLUMN:
                raise InputError(f"no case has a label in the column '{visible(column, 40)}' of --label-column")
            return
        from jury_adapters.stats.votes import Votes, label_of  # needs NumPy

        said = [
            Judgment(status=Status.LABEL, label=label)
            for label, meaning in (jury.labels or {}).items()
            if meaning is Status.LABEL
        ] or [Judgment(status=Status.PASS), Judgment(status=Status.FAIL)]
        if jury.labels is not None:
            Votes.of(
                [
                    *(
                        Result(jury="", case=None, judgment=said[0], human_label=label_of(one))  # a number is no grade
                        for one in self.labels.values()
                    ),
                    *said,
                ],
                pass_labels=pass_labels,
            )

    def of_this_run(self, results: Iterable[Result], strange: Counter[str]) -> Iterator[Result]:
        """Yield the results of these cases, and count the others of the file."""
        left: Counter[Any] = Counter(self.cases)
        for result in results:
            key = result.case and identity_of(result.case, result.human_label, result.group)
            if key is None or left[key]:
                left[key] -= 1
                yield result
            else:
                strange["of other cases"] += 1


def parse_map(given: Iterable[str]) -> dict[str, str]:
    """Return columns by field.

    Raises:
        ConfigurationError: an item is not ``FIELD=COLUMN``, or a field has two columns.

    >>> parse_map(["answer=outputs.reply"])
    {'answer': 'outputs.reply'}
    """
    pairs = [one.partition("=") for one in given]
    found = {field_: column for field_, _, column in pairs}
    for field_, sign, column in pairs:
        if not (field_ and sign and column) or column != found[field_]:
            raise ConfigurationError(
                f"--map takes FIELD=COLUMN, such as answer=reply, once for each field; not '{visible(field_, 40)}'"
            )
    return found
