"""Cases of a page as JSON in temporary files, so that the results are read once and the page takes little memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from tempfile import SpooledTemporaryFile
from typing import IO, TYPE_CHECKING

from jury_adapters.core.opinions import Path
from jury_adapters.report.embedded import Embedding, safe_json, shown
from jury_adapters.report.late_texts import LateTexts

if TYPE_CHECKING:
    from jury_adapters.core.label_reading import Reading
    from jury_adapters.report.comparison import Comparison
    from jury_adapters.report.entries import Entry

_IN_MEMORY = 1 << 22  # characters of a spool before it becomes a file
_PIECE = 1 << 18


class SpooledCases:
    """Rows and details of cases, added one by one before the figures of the run are known.

    Args:
        column: the entry of a case's metadata that holds its human label.
        compared: a comparison with an earlier run; its changed cases say so.
    """

    def __init__(self, column: str, compared: Comparison | None = None) -> None:
        self._late = LateTexts()
        self._embedding = Embedding(self._late, column, compared)
        self._rows = _spool()
        self._details = _spool()

    def noting(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        """Yield the entries, and add each."""
        for entry in entries:
            self._rows.write(f"{self._embedding.row(entry)}\n")
            self._details.write(f"{self._embedding.details(entry)}\n")
            yield entry

    def rows(self, names: Mapping[Path, str], reading: Reading) -> Iterator[str]:
        """Yield the rows as a JSON list, in pieces.

        Args:
            names: the names of the jurors.
            reading: the way in which verdicts are compared with human labels.
        """
        yield "["
        yield from _joined(self._rows, ",", self._finished(names, reading))
        yield "]"

    def details(self, names: Mapping[Path, str], reading: Reading) -> Iterator[str]:
        """Yield the details, one line each, in pieces; the arguments are those of :meth:`rows`."""
        yield from _joined(self._details, "\n", self._finished(names, reading))

    def close(self) -> None:
        """Delete the temporary files."""
        self._rows.close()
        self._details.close()

    def _finished(self, names: Mapping[Path, str], reading: Reading) -> Callable[[str], str]:
        return self._late.replacing(lambda text: safe_json(shown(text)), names, reading)


def _spool() -> IO[str]:
    return SpooledTemporaryFile(_IN_MEMORY, "w+", encoding="ascii", newline="\n")  # safe_json writes only ASCII


def _joined(spool: IO[str], separator: str, finished: Callable[[str], str]) -> Iterator[str]:
    """Yield the lines of a spool, joined by a separator, in pieces."""
    spool.seek(0)
    before = ""
    while lines := spool.readlines(_PIECE):
        yield before + finished("".join(lines)[:-1].replace("\n", separator))
        before = separator
