"""Results file of a report, for runs in Python that a later command or report reads again."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import IO

from jury_adapters.core.answer_facts import AnswerFacts
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.file_lock import is_in_use
from jury_adapters.core.judgment import Judgment, Status, evolve
from jury_adapters.core.results_file import Result
from jury_adapters.core.tally import Tally
from jury_adapters.core.values import JsonValue, freeze_mapping
from jury_adapters.core.verdict import Verdict
from jury_adapters.core.whole_file import whole_file
from jury_adapters.report.entries import Entry


def write_results_file(
    entries: Iterable[Entry],
    path: str | Path,
    cases: str | Path | None,
    pass_labels: tuple[str, ...],
    *,
    group: str = "",
    planned: int | None = None,
    force: bool,
) -> None:
    """Write a line per entry, as ``jury judge --out`` does, and the texts of the cases to a second file.

    Args:
        entries: the judged cases.
        path: the file of results.
        cases: the file of the texts; None to write none.
        pass_labels: the human labels that mean PASS.
        group: the field that identifies the group of a case.
        planned: number of cases that the run was to judge; None if it is unknown.
        force: whether existing files may be replaced.

    Raises:
        ConfigurationError: a name does not end in ``.jsonl``, both names are the same, or a file exists already
            or is written by another process.
        OSError: a file cannot be written.
    """
    _check_places([Path(path)] if cases is None else [Path(path), Path(cases)], force=force)
    source = "" if cases is None else os.path.relpath(Path(cases).absolute(), Path(path).absolute().parent)
    with ExitStack() as files:
        results = files.enter_context(whole_file(path))
        texts = None if cases is None else files.enter_context(whole_file(cases))
        line = 0
        for entry in entries:
            written = texts is not None and entry.case is not None
            line += written
            result = Result(
                _with_metadata(entry), line=line if written else None, item_id=entry.item_id, key=entry.key,
                cases=source, unmet=entry.unmet or None, pass_labels=pass_labels, group=group,
                planned=planned, answer=entry.answer if entry.case is None else AnswerFacts.of_case(entry.case),
            )  # fmt: skip
            _write(results, result.to_row())
            if texts is not None and entry.case is not None:
                _write(texts, entry.case.model_dump(mode="json", exclude_defaults=True))


def _with_metadata(entry: Entry) -> Verdict:
    """Return the verdict with the id and the metadata of its case, which human labels and groups are read from.

    The judgment of a single judge has no place for them. It becomes that of a jury of one, as in ``jury judge``.
    """
    verdict = entry.judgment if isinstance(entry.judgment, Verdict) else _verdict_of_one(entry.judgment)
    if entry.case is None:
        return verdict
    known = freeze_mapping({**entry.case.metadata, **verdict.case_metadata})
    return evolve(verdict, case_id=verdict.case_id or entry.case.item_id, case_metadata=known)


def _verdict_of_one(judgment: Judgment) -> Verdict:
    """Return the verdict of a jury with a single juror, which has the outcome of that juror."""
    status = judgment.status
    tally = Tally(
        on="label" if status is None else "status", eligible=int(judgment.valid), passed=int(status is Status.PASS),
        failed=int(status is Status.FAIL), abstained=int(status is Status.ABSTAIN), errors=int(status is Status.ERROR),
        ballots=(judgment.opinion,),
    )  # fmt: skip
    return Verdict(
        status, score=judgment.score, label=judgment.label, confidence=judgment.confidence,
        reasoning=judgment.reasoning, findings=judgment.findings, claims=judgment.claims, critic=judgment.critic,
        usage=judgment.usage, elapsed_s=judgment.elapsed_s, error=judgment.error, metadata=judgment.metadata,
        judgments=(judgment,), voting="majority", tally=tally,
    )  # fmt: skip


def _write(file: IO[bytes], row: dict[str, JsonValue]) -> None:
    file.write(json.dumps(row, allow_nan=False).encode("ascii") + b"\n")


def _check_places(places: list[Path], *, force: bool) -> None:
    if len({os.path.realpath(place) for place in places}) < len(places):
        raise ConfigurationError(f"results and cases need two files, and both are {places[0]}")
    for place in places:
        if place.suffix.lower() != ".jsonl":
            raise ConfigurationError(f"{place}: the file has JSON lines, so give a name that ends in .jsonl")
        if is_in_use(place):
            raise ConfigurationError(f"{place}: a `jury judge` that still runs writes this file; give another name")
        if place.exists() and not force:
            raise ConfigurationError(f"{place} exists already; give another name, or force=True to replace it")
