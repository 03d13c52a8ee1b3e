"""Cases of ``jury replay``, each with its recorded votes and its human label."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from pydantic import BaseModel

from jury_adapters.cli.case_columns import columns_of_case
from jury_adapters.cli.given_labels import GivenLabels
from jury_adapters.cli.streams import Messages
from jury_adapters.core.case import EMPTY_KEY, Case
from jury_adapters.core.case_files import CaseFile
from jury_adapters.core.errors import InputError, plain_repr
from jury_adapters.core.field_map import FieldMap
from jury_adapters.core.human_labels import GOLD, human_label
from jury_adapters.core.opinions import opinions_of
from jury_adapters.core.results_file import (
    cases_named_in,
    is_result,
    judgments_of_each_kind,
    may_have_juries_inside,
    read_results,
)
from jury_adapters.core.return_values import run_error_of
from jury_adapters.core.row_files import first_row
from jury_adapters.core.run_errors import RUN_ERROR
from jury_adapters.core.values import FrozenDict
from jury_adapters.critic.recorded import with_votes
from jury_adapters.critic.recording import Recording
from jury_adapters.critic.result_votes import ResultVotes

if TYPE_CHECKING:
    from jury_adapters.report.entries import Entry

NO_TEXTS = "texts_unknown"
"""Entry in the metadata of a case of which only the verdict is known: the hash of its content."""


class NamedCase(NamedTuple):
    """Case with its votes in the metadata.

    Attributes:
        item_id: its own id; None without one.
        line: its line in its file, from 1, if it is known.
        case: the case.
    """

    item_id: str | None
    line: int | None
    case: Case


@dataclass
class ReplayedCases:
    """Cases with their votes and labels. Those of a results file are read anew at each iteration.

    Attributes:
        named: the cases.
        column: the column of the human labels.
        limit: the number of cases to replay; None for all.
        labels: labels of a file, which replace those of the cases.
    """

    named: Iterable[NamedCase]
    column: str = GOLD
    limit: int | None = None
    labels: GivenLabels | None = None

    def __iter__(self) -> Iterator[Case]:
        return map(self._labelled, islice(self.named, self.limit))

    @property
    def complete(self) -> bool:
        """Whether the cases are those of a whole file, of which a limit only replays fewer."""
        return isinstance(self.named, _CasesOfResults)

    def check_labels(self, votes: Path, messages: Messages) -> None:
        """Check that some case has a label in the column, or one of the file of labels.

        Args:
            votes: the file of the votes, for messages.
            messages: prints the number of labels that belong to no case.

        Raises:
            InputError: no case has one.
        """
        if self.labels is not None:
            self.labels.match(((named.line, columns_of_case(named.case)) for named in self.named), votes)
            for named in self.named:
                self._label_of(self.labels, named)
            self.labels.check(votes, messages)
        elif self.column != GOLD and not any(human_label(one.case.metadata.get(self.column)) for one in self.named):
            raise InputError(
                f"{votes}: no case has a label in the column {plain_repr(self.column)}; name it with --label-column"
            )

    def _labelled(self, named: NamedCase) -> Case:
        if self.labels is None:
            return named.case
        label = self._label_of(self.labels, named)
        return _with_metadata(named.case, {**named.case.metadata, self.column: label})

    @staticmethod
    def _label_of(labels: GivenLabels, named: NamedCase) -> str | None:
        """Return the label of a case, if any; recorded votes may have no texts."""
        item_id, line, case = named
        recorded = case.metadata.get(NO_TEXTS)
        return labels.of(
            item_id=item_id,
            line=line,
            key=case.content_hash if recorded is None else str(recorded),
            answer=case.answer if recorded is not None or case.content_hash == EMPTY_KEY else case.answer or "",
            columns=columns_of_case(case),
        )


def cases_with_votes(
    votes: Path,
    source: Path | None,
    limit: int | None,
    messages: Messages,
    recording: Recording | None,
    *,
    field_map: FieldMap | None = None,
) -> Iterable[NamedCase]:
    """Return the cases, with their jurors' votes in the metadata.

    Args:
        votes: the file of the votes.
        source: the file of the cases.
        limit: the number of rows to read of a file of cases.
        messages: prints what is wrong with rows.
        recording: the votes of a store.
        field_map: the paths of fields in the rows of the cases of a store.

    Raises:
        InputError: the files cannot be read, or have no votes.
    """
    if recording is not None:
        cases = recording.cases.values() if source is None else _read(source, limit, messages, field_map)
        return _named(with_votes(recording, cases))
    if is_result(first_row(votes)):
        return _CasesOfResults(votes, source)
    if source is not None:
        raise InputError(
            f"{source}: recorded votes take no --cases; give human labels as --labels, or name their column with "
            "--label-column"
        )
    named = _named(_read(votes, limit, messages))
    if not any("votes" in one.case.metadata for one in named):
        raise InputError(f"{votes}: no row has recorded votes; a row is {{'item_id': ..., 'votes': {{'judge': ...}}}}")
    return named


class _CasesOfResults:
    """Cases of a run, read anew at each iteration, with their votes, and with their texts if these are known.

    Args:
        results: what `jury judge --out` wrote.
        source: the file of the cases; by default the one that the results name.

    Raises:
        InputError: there are no votes of jurors.
    """

    def __init__(self, results: Path, source: Path | None) -> None:
        from jury_adapters.report.entries import FileEntries

        self._entries = FileEntries(results, source or cases_named_in(results))
        self._votes = ResultVotes(judgments_of_each_kind(results) if may_have_juries_inside(results) else ())
        if not any(next(opinions_of(result.judgment), None) for result in read_results(results)):
            raise InputError(
                f"{results}: its verdicts hold no votes of jurors; judge with `jury judge --store runs.db`, and replay "
                "runs.db"
            )

    def __iter__(self) -> Iterator[NamedCase]:
        for entry in self._entries:
            case, known = (entry.case, entry.case.metadata) if entry.case is not None else (_NO_CASE, _known_of(entry))
            votes = _frozen(self._votes.of(entry.judgment))
            replayed = _with_metadata(case, {**known, "votes": votes})
            yield NamedCase(entry.item_id, entry.line, _with_run_error(replayed, run_error_of(entry.judgment)))


_NO_CASE = Case()
_ = _NO_CASE.content_hash  # computed once: its copies keep it


def _known_of(entry: Entry) -> dict[str, Any]:
    """Return the metadata of a case whose texts are unknown."""
    return {**entry.metadata, "item_id": entry.item_id, NO_TEXTS: entry.key or ""}


def _read(path: Path, limit: int | None, messages: Messages, field_map: FieldMap | None = None) -> list[Case]:
    file = CaseFile(path, messages.info, limit=limit, field_map=field_map)
    cases = list(file)
    if not cases:
        raise InputError(file.why_none())
    return cases


def _named(cases: Iterable[Case]) -> list[NamedCase]:
    return [NamedCase(case.item_id, None, case) for case in cases]


def _with_metadata(case: Case, metadata: dict[str, Any]) -> Case:
    return BaseModel.model_copy(case, update={"metadata": _frozen(metadata)})  # Case's own validates all fields again


def _with_run_error(case: Case, error: str | None) -> Case:
    """Return a case of which no juror is asked if its run failed, even if the run had returned a part of an answer."""
    if error is None:
        return case
    failed = _with_metadata(case, {**case.metadata, RUN_ERROR: error})
    if failed.run_error is None:
        return BaseModel.model_copy(failed, update={"answer": None, "candidates": (), "workspace": None})
    return failed


def _frozen(values: dict[str, Any]) -> FrozenDict:
    """Return values that a verdict takes as they are: it would otherwise convert every vote to JSON values."""
    return FrozenDict(cast(Any, values))
