"""Results files: one complete line of JSON per case, and a run that is continued where it ended."""

import gzip
import hashlib
import os
import zlib
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Self, cast

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from jury_adapters.core.case import Case, CaseLike, refuse_one
from jury_adapters.core.files import check_regular, lines_of, replacement
from jury_adapters.core.judge import JudgeLike, judge_of
from jury_adapters.core.judgment import NO_USAGE, Judgment, Status, Usage
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
        InputError: there is no such file, or a line is no result or longer than 268 MB; the message names it.
    """
    try:
        check_regular(path)
        with gzip.open(path, "rb") if str(path).endswith(".gz") else Path(path).open("rb") as file:
            for number, line in _numbered(lines_of(cast(BinaryIO, file))):
                yield _result(path, number, line)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
    except (EOFError, zlib.error):
        raise InputError(f"{path}: the file is cut off or damaged") from None


def _numbered(lines: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    """Return lines with their numbers, without those that are blank because their cases were judged again."""
    return ((number, line) for number, line in enumerate(lines, start=1) if line.strip())


def _result(path: str | Path, number: int, line: bytes) -> Result:
    try:
        return Result.model_validate_json(line.removeprefix(b"\xef\xbb\xbf").rstrip())
    except ValidationError as error:
        why = problems_of(error).replace(" at line 1 column", " at column")
        if not line.endswith(b"\n") and line.startswith(_BEGINNING):
            raise InputError(
                f"{path}, line {number}, is cut off; a run that continues the file judges it again"
            ) from None
        raise InputError(f"{path}, line {number}: no result: {why}") from None


_BEGINNING = b'{"jury":"'  # of every line


class ResultsFile:
    """Results of one jury in a file that grows by one complete line per case.

    Opening an existing file continues it: cases that it has are not judged again, lines with an ERROR are, and a last
    line that was cut off is dropped. A new judgment takes the place of the old line when it is written, and its usage
    includes that of the old one. One process writes a file at a time.

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
        if self.path.suffix == ".gz":
            raise ConfigurationError(f"{path}: results are written as they come, not packed; pack the file afterwards")
        self.jury, self.label, self.group = judge_of(jury), label, group
        self._fingerprint = self.jury.fingerprint
        self._kept: Counter[str] = Counter()
        # Lines to judge again, by the id or content of their case: where they begin and end, and what they took.
        self._again: defaultdict[str, list[tuple[int, int, Usage]]] = defaultdict(list)
        self._file = _locked(self.path)
        try:
            if overwrite:
                self._refuse_others()
            self._replace(() if overwrite else self._lines())
        except BaseException:
            self._file.close()
            raise

    def _replace(self, lines: Iterable[bytes]) -> None:
        """Write lines beside the file, and put them in its place at once."""
        self._end, self._blank = 0, False
        try:
            with replacement(self.path) as new:
                new.writelines(lines)
                new.flush()
                file = _locked(Path(new.name))
        except OSError as error:
            raise ConfigurationError(f"{self.path} cannot be written: {error.strerror}") from None
        self._file.close()
        self._file = file

    def _refuse_others(self) -> None:
        """Refuse to replace a file that holds no results."""
        with self.path.open("rb") as file:
            if not next(filter(bytes.strip, file), _BEGINNING).startswith(_BEGINNING):
                raise ConfigurationError(f"{self.path} is no results file; delete it, or choose another")

    def _lines(self) -> Iterator[bytes]:
        with self.path.open("rb") as file:
            for number, line in _numbered(file):
                ours = _BEGINNING + self._fingerprint.encode() + b'"'
                if not line.endswith(b"\n") and (line.startswith(ours) or ours.startswith(line)):
                    return  # the process was killed while it wrote the line
                result = _result(self.path, number, line)
                if result.jury != self._fingerprint:
                    raise ConfigurationError(
                        f"{self.path}, line {number}, is of another jury; choose another file, or overwrite=True"
                    )
                if result.case is not None:
                    yield self._noted(result, line)

    def relabel(self, cases: Iterable[Case]) -> None:
        """Give the lines of these cases the labels and groups that they have now, so that they are not judged again.

        Args:
            cases: the cases. Lines of other cases stay as they are.
        """
        if not self._kept:
            return
        now, known = dict[str, Case](), set[str]()
        for case in cases:
            known.add(identity_of(case, *facts_of(case, self.label, self.group)))
            now[self._bare(case)] = case
        self._kept.clear()
        self._again.clear()
        self._replace(self._relabelled(now, known))

    def _relabelled(self, now: Mapping[str, Case], known: Container[str]) -> Iterator[bytes]:
        for result in read_results(self.path):
            new = now.get(self._bare(result.case)) if result.case else None
            changed = result.case and identity_of(result.case, result.human_label, result.group) not in known
            now_so = self._result(new, result.judgment) if new and changed else result
            yield self._noted(now_so, _bytes_of(now_so))

    def _noted(self, result: Result, line: bytes) -> bytes:
        """Note a line that is written at the end, and that of a case to judge again; return it."""
        if not self._keep(result) and result.case is not None:
            key, end = result.case.id or result.case.content_hash, self._end + len(line)
            self._again[key].append((self._end, end, result.judgment.usage))
        self._end += len(line)
        return line

    def _bare(self, case: Case) -> str:
        """Return a hash of a case without its label and its group."""
        left = {name: value for name, value in case.metadata.items() if name not in (self.label, self.group)}
        return identity_of(case.model_copy(update={"metadata": left}))

    def judge(self, cases: Iterable[CaseLike], **options: Any) -> Iterator[Result]:
        """Judge the cases that the file does not have, and yield each result when its line is written.

        Args:
            cases: cases, questions or mappings of fields. A line is that of a case if every field is the same, and so
                are label and group; equal cases are as many lines. A case with a workspace, whose files may have
                changed, is judged again.
            **options: those of :meth:`Judge.judge_many`. By default results are written and yielded as they finish, so
                that a slow case does not hold up others that are paid.
        """
        refuse_one(cases)
        pairs = self.jury.judge_pairs(self._missing(cases), **{"ordered": False, **options})
        return (self.write(case, judgment) for case, judgment in pairs)

    def write(self, case: Case | None, judgment: Judgment) -> Result:
        """Write the line of a case, with the label and the group that its metadata have, and return its result."""
        old = self._again.get(case.id or case.content_hash) if case else None
        start, end, took = old.pop(0) if old else (0, 0, NO_USAGE)
        result = self._result(case, judgment.but(usage=took + judgment.usage))
        self._file.write(_bytes_of(result))
        self._file.flush()
        self._keep(result)
        if end:
            self._blank = True
            with self.path.open("r+b") as file:
                file.seek(start)
                file.write(b" " * (end - start - 1))
        return result

    def _result(self, case: Case | None, judgment: Judgment) -> Result:
        label, group = facts_of(case, self.label, self.group)
        said = judgment.but(case_metadata={})
        return Result(jury=self._fingerprint, case=case, judgment=said, human_label=label, group=group)

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

    def __len__(self) -> int:
        """Return the number of lines that are not judged again."""
        return self._kept.total()

    def close(self) -> None:
        """Close the file, without the lines of cases that were judged again; another process may then write it."""
        try:
            if self._blank and not self._file.closed:
                with self.path.open("rb") as file:
                    self._replace(filter(bytes.strip, file))
        finally:
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def facts_of(case: Case | None, label: str, group: str) -> tuple[str | bool | float | None, str | None]:
    """Return the label and the group of a case, which are in its metadata under these keys."""
    metadata = case.metadata if case else {}
    said, shared = metadata.get(label), metadata.get(group)
    plain = said is None or isinstance(said, str | bool | int | float)
    return said if plain else str(said), None if shared is None else str(shared)


def identity_of(case: Case, label: object = None, group: str | None = None) -> str:
    """Return a hash of a case with all that it has, and of its label and group, by which a results file knows it."""
    said = f"{_json_of(case)}\n{label!r}\n{group!r}"
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()


def _bytes_of(result: Result) -> bytes:
    return _json_of(result).encode() + b"\n"


def _json_of(value: Case | Result) -> str:
    try:
        return value.model_dump_json(exclude_defaults=True)
    except PydanticSerializationError as error:  # all values are JSON; pydantic turns a Ctrl-C into this
        raise (KeyboardInterrupt if "KeyboardInterrupt" in str(error) else error) from None


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
