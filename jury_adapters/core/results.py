"""Results files: one complete line of JSON per case, and a run that is continued where it ended."""

import gzip
import hashlib
import os
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self, cast

from pydantic import ValidationError

from jury_adapters.core.case import Case, CaseLike, refuse_one
from jury_adapters.core.files import check_regular, replacement
from jury_adapters.core.judge import JudgeLike, judge_of
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.values import ConfigurationError, Frozen, InputError, Text, problems_of

try:
    import fcntl
except ImportError:  # Windows, where nothing keeps two processes from writing one file
    fcntl = None  # type: ignore[assignment]


class Result(Frozen):
    """One line of a results file.

    Attributes:
        jury: the fingerprint of the jury.
        case: the case with its texts; None for a row that makes no case.
        judgment: the judgment.
        human_label: the label that a person gave.
        group: the group of the case, such as its document, within which cases are not independent.
    """

    jury: str
    case: Case | None
    judgment: Judgment
    human_label: Text | bool | int | float | None = None
    group: Text | None = None


def read_results(path: str | Path) -> Iterator[Result]:
    """Read a results file; every value is checked. A path that ends in ``.gz`` is unpacked.

    Raises:
        InputError: there is no such file, or a line is no result; the message names it.
    """
    try:
        check_regular(path)
        with gzip.open(path, "rb") if str(path).endswith(".gz") else Path(path).open("rb") as file:
            for number, line in enumerate(cast(BinaryIO, file), start=1):
                yield _result(path, number, line)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
    except (EOFError, zlib.error):
        raise InputError(f"{path}: the file is cut off or damaged") from None


def _result(path: str | Path, number: int, line: bytes) -> Result:
    try:
        return Result.model_validate_json(line)
    except ValidationError as error:
        if not line.endswith(b"\n") and line.startswith(_BEGINNING):
            raise InputError(
                f"{path}, line {number}, is cut off; a run that continues the file judges it again"
            ) from None
        raise InputError(f"{path}, line {number}: no result: {problems_of(error)}") from None


_BEGINNING = b'{"jury":"'  # of every line


class ResultsFile:
    """Results of one jury in a file that grows by one complete line per case.

    Opening an existing file continues it: cases that it has are not judged again, lines with an ERROR are taken out and
    judged again, and a last line that was cut off is dropped. One process writes a file at a time.

    Args:
        path: the file.
        jury: the jury whose results it holds.
        label: the key in the metadata of a case under which a person's label is, if any.
        group: the key in the metadata of a case under which its group is, if any.
        overwrite: begin anew.

    Raises:
        ConfigurationError: the file is of another jury, or another process writes it.
        InputError: a line of the file is no result.

    Example::

        with ResultsFile("results.jsonl", jury) as results:
            for result in results.judge(cases):
                print(result.judgment)
    """

    def __init__(
        self, path: str | Path, jury: JudgeLike, *, label: str = "", group: str = "", overwrite: bool = False
    ) -> None:
        self.path = Path(path).resolve()  # the file that a link names, which is replaced
        self.jury, self.label, self.group = judge_of(jury), label, group
        self._fingerprint = self.jury.fingerprint
        self._kept: Counter[str] = Counter()
        self._file = _locked(self.path)
        try:
            self._begin(overwrite)
        except BaseException:
            self._file.close()
            raise

    def _begin(self, overwrite: bool) -> None:
        """Write what is kept of the file beside it, and put it in its place at once."""
        try:
            if overwrite:
                self._refuse_others()
            with replacement(self.path) as new:
                new.writelines(() if overwrite else self._lines())
                new.flush()
                file = _locked(Path(new.name))
        except OSError as error:
            raise ConfigurationError(f"{self.path} cannot be written: {error.strerror}") from None
        self._file.close()
        self._file = file

    def _refuse_others(self) -> None:
        """Refuse to replace a file that holds no results."""
        with self.path.open("rb") as file:
            if file.read(len(_BEGINNING)) not in (b"", _BEGINNING):
                raise ConfigurationError(f"{self.path} is no results file; delete it, or choose another")

    def _lines(self) -> Iterator[bytes]:
        with self.path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                ours = _BEGINNING + self._fingerprint.encode() + b'"'
                if not line.endswith(b"\n") and (line.startswith(ours) or ours.startswith(line)):
                    return  # the process was killed while it wrote the line
                result = _result(self.path, number, line)
                if result.jury != self._fingerprint:
                    raise ConfigurationError(
                        f"{self.path}, line {number}, is of another jury; choose another file, or overwrite=True"
                    )
                if self._keep(result):
                    yield line

    def judge(self, cases: Iterable[CaseLike], **options: Any) -> Iterator[Result]:
        """Judge the cases that the file does not have, and yield each result when its line is written.

        Args:
            cases: cases, questions or mappings of fields. A line is that of a case if every field is the same, and so
                are label and group; equal cases are as many lines. A case with a workspace, whose files may have
                changed, is judged again.
            **options: those of :meth:`Judge.judge_many`.
        """
        refuse_one(cases)
        pairs = self.jury.judge_pairs(self._missing(cases), **options)
        return (self.write(case, judgment) for case, judgment in pairs)

    def write(self, case: Case | None, judgment: Judgment) -> Result:
        """Write the line of a case, with the label and the group that its metadata have, and return its result."""
        label, group = facts_of(case, self.label, self.group)
        result = Result(
            jury=self._fingerprint,
            case=case,
            judgment=judgment.but(case_metadata={}),
            human_label=label,
            group=group,
        )
        self._file.write(result.model_dump_json(exclude_defaults=True).encode() + b"\n")
        self._file.flush()
        self._keep(result)
        return result

    def _keep(self, result: Result) -> bool:
        """Note a case that is not to be judged again, and return whether this is one."""
        if result.case is None or result.case.workspace is not None or result.judgment.status is Status.ERROR:
            return False
        self._kept[identity_of(result.case, result.human_label, result.group)] += 1
        return True

    def _missing(self, cases: Iterable[CaseLike]) -> Iterator[CaseLike]:
        kept = Counter(self._kept)
        for row in cases:
            try:
                case: CaseLike = Case.of(row)
            except Exception:
                case = row  # the batch makes an ERROR of it
            key = identity_of(case, *facts_of(case, self.label, self.group)) if isinstance(case, Case) else ""
            if kept[key]:
                kept[key] -= 1
            else:
                yield case

    def close(self) -> None:
        """Close the file; another process may then write it."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def facts_of(case: Case | None, label: str, group: str) -> tuple[str | bool | float | None, str | None]:
    """Return the label and the group of a case, which are in its metadata under these keys."""
    metadata = case.metadata if case else {}
    said, shared = metadata.get(label), metadata.get(group)
    plain = said is None or isinstance(said, str | bool | int | float)
    return said if plain else str(said), None if shared is None else str(shared)


def identity_of(case: Case, label: object = None, group: str | None = None) -> str:
    """Return a hash of a case with all that it has, and of its label and group, by which a results file knows it."""
    said = f"{case.model_dump_json(exclude_defaults=True)}\n{label!r}\n{group!r}"
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()


def _locked(path: Path) -> BinaryIO:
    """Open a file for appending, and keep other processes from writing it."""
    try:
        check_regular(path)  # which must not be replaced
        file = path.open("ab")
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be written: {error.strerror}") from None
    if fcntl is not None:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            replaced = not os.path.samestat(path.stat(), os.fstat(file.fileno()))
        except OSError:
            replaced = True
        if replaced:
            file.close()
            raise ConfigurationError(f"{path} is being written by another process")
    return file
