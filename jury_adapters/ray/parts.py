"""Results on disk: Parquet parts, each written completely or not at all."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from jury_adapters.core.case import Case
from jury_adapters.core.judgment import Judgment
from jury_adapters.core.serial import canonical_json
from jury_adapters.core.whole_file import whole_file
from jury_adapters.ray.counts import Counts

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.fs import FileSystem

_COUNTS = b"jury_adapters.counts"
_SUFFIX = ".parquet"


def schema() -> pa.Schema:
    """Return the columns of the results: the row's position, the verdict, and the case."""
    import pyarrow as pa

    text, number, whole, yes = pa.string(), pa.float64(), pa.int64(), pa.bool_()
    columns: dict[str, pa.DataType] = {
        "position": text, "row_id": text, "key": text,
        "status": text, "score": number, "label": text, "confidence": number, "agreement": number,
        "escalated": yes, "error": text,
        "cost_usd": number, "cost_complete": yes, "calls": whole, "input_tokens": whole, "output_tokens": whole,
        "canonical_json": text,
        "question": text, "answer": text, "contexts": pa.list_(text), "reference": text, "candidates": pa.list_(text),
        "messages": text, "trajectory": text, "attachments": text, "workspace": text, "generator": text,
        "metadata": text,
    }  # fmt: skip
    return pa.schema(list(columns.items()))


def row_id(content: Case | str) -> str:
    """Return the identity of a row: a hash of its whole case, including the metadata, or of an invalid row's text.

    ``case.content_hash`` leaves the metadata out. Recorded votes are in the metadata, so many of their rows have
    one hash.
    """
    if isinstance(content, Case):
        described = content.model_dump(mode="json", exclude_defaults=True)
        content = json.dumps(described, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()[:32]


def record(position: str, identity: str, case: Case | None, judgment: Judgment) -> dict[str, object]:
    """Return one row of the results."""
    usage = judgment.usage
    verdict: dict[str, object] = {
        "position": position,
        "row_id": identity,
        "key": None if case is None else case.content_hash,
        "status": None if judgment.status is None else str(judgment.status),
        "score": judgment.score,
        "label": judgment.label,
        "confidence": judgment.confidence,
        "agreement": getattr(judgment, "agreement", None),
        "escalated": judgment.needs_review,
        "error": judgment.error,
        "cost_usd": usage.cost_usd,
        "cost_complete": usage.cost_complete,
        "calls": usage.calls,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "canonical_json": canonical_json(judgment),
    }
    return verdict | ({} if case is None else _case_columns(case))


def _case_columns(case: Case) -> dict[str, object]:
    content = case.model_dump(mode="json")
    for name in ("messages", "trajectory", "attachments", "metadata"):  # whose structure differs from case to case
        content[name] = json.dumps(content[name], ensure_ascii=False) if content[name] else None
    return content


def table_of(records: Sequence[Mapping[str, object]]) -> pa.Table:
    """Return rows of the results as a table of that schema."""
    import pyarrow as pa

    return pa.Table.from_pylist(list(records), schema=schema())


class Folder:
    """Folder of the results; the same for all workers.

    Args:
        where: a local or shared folder, or an address that pyarrow can open, such as ``s3://bucket/results``. A
            relative path is relative to this program's working directory. Workers, which may run elsewhere, get the
            absolute path.
    """

    def __init__(self, where: str | Path) -> None:
        from pyarrow.fs import FileSystem, LocalFileSystem

        self.where = str(where)
        self._files: FileSystem
        if "://" in self.where:
            self._files, self._root = FileSystem.from_uri(self.where)
        else:
            self._files, self._root = LocalFileSystem(), str(Path(where).absolute())
        self._local = isinstance(self._files, LocalFileSystem)

    def create(self) -> None:
        """Create the folder if it does not exist."""
        self._files.create_dir(self._root, recursive=True)

    def parts(self) -> list[str]:
        """Return the names of the complete parts, in order."""
        from pyarrow.fs import FileSelector

        found = self._files.get_file_info(FileSelector(self._root, allow_not_found=True))
        return sorted(file.base_name for file in found if _is_part(file.base_name))

    def counts(self, name: str) -> Counts | None:
        """Return the counts in the footer of a part; None if there is no such part."""
        import pyarrow.parquet as pq

        try:
            metadata = pq.read_schema(self._path(name), filesystem=self._files).metadata or {}
        except FileNotFoundError:
            return None
        return Counts.from_json(metadata[_COUNTS]) if _COUNTS in metadata else None

    def write(self, name: str, records: Sequence[Mapping[str, object]], counts: Counts) -> None:
        """Write one part. It appears under its name when it is completely on disk."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        buffer = pa.BufferOutputStream()
        pq.write_table(table_of(records).replace_schema_metadata({_COUNTS: counts.to_json()}), buffer)
        self._write_whole(name, buffer.getvalue())

    def row_ids(self, names: Sequence[str]) -> Iterator[list[str]]:
        """Yield the identities of the rows in these parts, part by part."""
        import pyarrow.parquet as pq

        for name in names:
            table = pq.read_table(self._path(name), columns=["row_id"], filesystem=self._files, partitioning=None)
            yield table.column("row_id").to_pylist()

    def note(self, name: str) -> str | None:
        """Return the note that :meth:`leave_note` wrote, or None."""
        try:
            with self._files.open_input_stream(self._path(name)) as stream:
                return bytes(stream.read()).decode()
        except FileNotFoundError:
            return None

    def leave_note(self, name: str, text: str) -> None:
        """Write a small file into the folder, as completely as a part. It replaces an earlier one."""
        self._write_whole(name, text.encode())

    def paths(self) -> list[str]:
        """Return the paths of the parts for Ray."""
        return [
            f"{self.where.rstrip('/')}/{name}" if "://" in self.where else self._path(name) for name in self.parts()
        ]

    def __reduce__(self) -> tuple[type[Folder], tuple[str]]:
        return (Folder, (self.where if "://" in self.where else self._root,))

    def _write_whole(self, name: str, content: pa.Buffer | bytes) -> None:
        if self._local:
            with whole_file(self._path(name)) as file:
                file.write(content)
        else:  # an object store shows an object only when it is complete
            with self._files.open_output_stream(self._path(name)) as stream:
                stream.write(content)

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}"


def _is_part(name: str) -> bool:
    return name.endswith(_SUFFIX) and not name.startswith((".", "_"))
