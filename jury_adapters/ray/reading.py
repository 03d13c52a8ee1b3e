"""Conversion of the user's input (a Ray Dataset or files) to batches of rows with positions."""

from __future__ import annotations

import hashlib
import json
import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa
import ray
import ray.data

from jury_adapters.core.case import Case
from jury_adapters.core.case_files import case_of, columns_in
from jury_adapters.core.errors import InputError
from jury_adapters.core.formatting import counted
from jury_adapters.core.judgment import Judgment, broken, evolve
from jury_adapters.core.row_files import has_readable_name, read_rows
from jury_adapters.ray.parts import row_id

if TYPE_CHECKING:
    from ray.data import Dataset

Cases: TypeAlias = "Dataset | str | Path"

_log = logging.getLogger(__name__)

_POSITION, _ROW, _PROBLEM, _FOLDER = "jury:position", "jury:row", "jury:problem", "jury:folder"
_ROWS_PER_TABLE = 4096
_PARQUET = ".parquet"
_MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class PlacedRow:
    """Row of the input, as a case or as the failure to read one.

    Attributes:
        position: its position in the input; unique in this run, and the same if the batch is run again.
        identity: see :func:`jury_adapters.ray.parts.row_id`.
        case: the case, or None for an invalid row.
        failure: the ERROR judgment of an invalid row.
    """

    position: str
    identity: str
    case: Case | None
    failure: Judgment | None = None


def read_cases(cases: Cases) -> Dataset:
    """Return a dataset of rows with their positions. Files are read when it is executed.

    Raises:
        InputError: no file matches the path or pattern, or a file is of another kind.
    """
    if not isinstance(cases, str | Path):
        return _add_positions(cases)
    paths = _files(str(cases))
    if all(map(_is_parquet, paths)):
        return _add_positions(ray.data.read_parquet([str(path) for path in paths]))
    files = ray.data.from_items([{"path": str(path)} for path in paths], override_num_blocks=len(paths))
    return files.map_batches(_read_files, batch_format="pyarrow", batch_size=1)


def placed_rows(batch: pa.Table) -> list[PlacedRow]:
    """Return the rows of a batch of :func:`read_cases`, converted to cases where they are valid."""
    positions = batch.column(_POSITION).to_pylist()
    if _ROW in batch.column_names:
        columns = [batch.column(name).to_pylist() for name in (_ROW, _PROBLEM, _FOLDER)]
        return [_row_of_text(*row) for row in zip(positions, *columns, strict=True)]
    rows = batch.drop_columns([_POSITION]).to_pylist()
    return [_row_of_values(position, _without_nulls(row)) for position, row in zip(positions, rows, strict=True)]


def batch_token(rows: Sequence[PlacedRow]) -> str:
    """Return a name for a batch, derived from the positions of its rows."""
    positions = "\n".join(row.position for row in rows)
    return hashlib.sha256(positions.encode()).hexdigest()[:20]


def _files(pattern: str) -> list[Path]:
    """Return the files of a path, a folder or a pattern such as ``rows/*.jsonl``.

    Other files of a folder, such as the images of its rows, are left out, and named in the log.

    Raises:
        InputError: there is no such file, a file cannot be read, or some are Parquet files and others are not.
    """
    path = Path(pattern)
    if path.is_dir():
        found = _readable(sorted(path.iterdir()), pattern)
    else:
        matching = Path(path.anchor).glob(str(path.relative_to(path.anchor)))
        found = [path] if path.is_file() else sorted(file for file in matching if file.is_file())
    if not found:
        raise InputError(f"{pattern}: there is no such file")
    parquet = [file for file in found if _is_parquet(file)]
    for file in found if not parquet else ():
        if not has_readable_name(file):
            next(read_rows(file), None)  # says which kinds of files are read
    if parquet and len(parquet) < len(found):
        other = next(file for file in found if not _is_parquet(file))
        raise InputError(f"{pattern}: {parquet[0].name} is a Parquet file, and {other.name} is not; judge them apart")
    return [file.absolute() for file in found]


def _readable(files: Sequence[Path], folder: str) -> list[Path]:
    """Return the files of a folder that can be read, and name the others in the log."""
    shown = [file for file in files if file.is_file() and not file.name.startswith((".", "_"))]
    found = [file for file in shown if _is_parquet(file) or has_readable_name(file)]
    others = [file.name for file in shown if file not in found]
    if others:
        more = f" and {len(others) - _MOST_NAMED} more" if len(others) > _MOST_NAMED else ""
        named = f"{', '.join(others[:_MOST_NAMED])}{more}"
        _log.warning("%s: %s left out, because rows are not read from such files: %s", folder,
                     counted(len(others), "file"), named)  # fmt: skip
    return found


def _is_parquet(file: Path) -> bool:
    return file.suffix.lower() == _PARQUET


def _read_files(batch: pa.Table) -> Iterator[pa.Table]:
    """Read files as ``jury judge`` does, so that equal rows give equal cases."""
    for path in batch.column("path").to_pylist():
        folder = str(Path(path).parent)
        columns: dict[str, list[str | None]] = {_POSITION: [], _ROW: [], _PROBLEM: [], _FOLDER: []}
        for row in read_rows(path):
            columns[_POSITION].append(f"{path}:{row.line}")
            columns[_ROW].append(None if row.values is None else json.dumps(columns_in(row)))
            columns[_PROBLEM].append(row.error or None)
            columns[_FOLDER].append(folder)
            if len(columns[_POSITION]) == _ROWS_PER_TABLE:
                yield _text_table(columns)
                columns = {name: [] for name in columns}
        yield _text_table(columns)


def _text_table(columns: Mapping[str, Sequence[str | None]]) -> pa.Table:
    return pa.table({name: pa.array(values, pa.string()) for name, values in columns.items()})


def _add_positions(dataset: Dataset) -> Dataset:
    return dataset.map_batches(_number_rows, batch_format="pyarrow", batch_size=None)


# Number of rows that each task of this process has numbered so far. A task that is retried runs in a new process.
_ROWS_NUMBERED: Counter[str] = Counter()


def _number_rows(block: pa.Table) -> pa.Table:
    """Number the rows within the task that reads them. A retried task has the same id and the same rows."""
    task = ray.get_runtime_context().get_task_id() or ""
    first = _ROWS_NUMBERED[task]
    _ROWS_NUMBERED[task] += block.num_rows
    positions = [f"{task}:{number}" for number in range(first, first + block.num_rows)]
    return block.append_column(_POSITION, pa.array(positions, pa.string()))


def _row_of_text(position: str, text: str | None, problem: str | None, folder: str) -> PlacedRow:
    if text is None:
        return _invalid_row(position, f"{position} {problem}", problem or "unreadable")
    return _row_of_values(position, json.loads(text), Path(folder))


def _row_of_values(position: str, row: Mapping[str, object], image_folder: Path | None = None) -> PlacedRow:
    try:
        case = case_of(row, image_folder=image_folder)
    except Exception as error:  # an invalid row must not stop the others
        return _invalid_row(position, json.dumps(row, sort_keys=True, default=str), str(error))
    return PlacedRow(position, row_id(case), case)


def _invalid_row(position: str, content: str, problem: str) -> PlacedRow:
    failure = evolve(broken("InputError"), reasoning=f"this row is not a case: {problem[:500]}")
    return PlacedRow(position, row_id(content), None, failure)


def _without_nulls(value: dict[str, object]) -> dict[str, object]:
    """Remove the null fields. Arrow adds a null for each field that a row lacks and another row has."""
    return {name: _clean(item) for name, item in value.items() if item is not None}


def _clean(value: object) -> object:
    if isinstance(value, dict):
        return _without_nulls(value)
    return [_clean(item) for item in value] if isinstance(value, list) else value
