"""Judges of the files that an agent left in ``case.workspace``: no model, no network, nothing outside the workspace.

Each abstains without a workspace, or without anything to compare with. A path that leads out of the workspace is
refused when the judge is built. A link or a file that turns out to lead out, a pipe or a device counts as missing. A
file that is too large, binary or in another encoding exists but cannot be read. That is the agent's fault, so it fails.

``FileContent(match="regex")`` needs the extra ``checks``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from jury_adapters.core.case import Case
from jury_adapters.core.errors import ConfigurationError, plain_repr, unknown
from jury_adapters.core.judgment import Finding, Judgment, Status, abstain, broken
from jury_adapters.core.tolerance import reaches
from jury_adapters.core.values import unit_interval
from jury_adapters.judges.patterns import check_pattern_timeout, compile_pattern
from jury_adapters.workspace.diffs import compare_files, compare_text
from jury_adapters.workspace.folder import (
    MOST_BYTES,
    Folder,
    Kind,
    Missing,
    Unreadable,
    WorkspaceJudge,
    inside,
    matches_any,
    patterns,
    status_of,
)

if TYPE_CHECKING:
    import regex

__all__ = ["DirectorySuperset", "FileContent", "FileExists", "FilesMatch"]

LEFT_OUT = (".git", "__pycache__")
"""Default of the patterns that comparisons of folders leave out."""


@dataclass(frozen=True)
class FileExists(WorkspaceJudge):
    """A file or folder exists in the workspace; one check, ``file_exists``.

    Args:
        path: where it should be, relative to the workspace.
        kind: ``"file"`` (default; a regular one, or a link to one inside) or ``"directory"``.
        name: the check's name in verdicts.

    Raises:
        ConfigurationError: the path is absolute or contains ``..``, or the kind is unknown.

    >>> FileExists("report.md").judge(question="Write a report.").reasoning
    'there is no workspace'
    """

    path: str
    kind: Kind = "file"
    name: str = "FileExists"

    def __post_init__(self) -> None:
        inside(self.path, "FileExists")
        if self.kind not in ("file", "directory"):
            raise ConfigurationError(unknown("kind", self.kind, ("file", "directory")))

    def inspect(self, case: Case, folder: Folder) -> Judgment:
        try:
            folder.find(self.path, self.kind)
        except Unreadable as error:
            return _unreadable(error)
        return Judgment(Status.PASS, reasoning=f"{self.path!r} exists", findings=(Finding("file_exists", True),))


@dataclass(frozen=True)
class FileContent(WorkspaceJudge):
    r"""A file of the workspace has the expected content.

    There are three checks, each made only when the one before passed: ``file_exists``, ``file_readable``,
    ``content_match``.

    Args:
        path: the file, relative to the workspace.
        expected: the text, or the pattern; None (default) takes ``case.reference``, but never as a pattern.
        match: ``"exact"`` (default; every character the same), ``"contains"``, or ``"regex"`` (found anywhere).
        encoding: the encoding of the file.
        max_bytes: a larger file fails.
        timeout_s: seconds a pattern may take, 60 at most; then the judgment is ERROR ``timeout``.
        name: the check's name in verdicts.

    Raises:
        ConfigurationError: the path leads out of the workspace, ``match`` or the encoding is unknown, ``expected`` is
            not text, the pattern is invalid, a limit is not positive, or ``regex`` is needed and not installed.

    >>> FileContent("answer.txt", "42", match="contains").judge(workspace="/nowhere").status
    <Status.ABSTAIN: 'ABSTAIN'>
    """

    path: str
    expected: str | None = None
    match: Literal["exact", "contains", "regex"] = "exact"
    encoding: str = "utf-8"
    max_bytes: int = MOST_BYTES
    timeout_s: float = 1.0
    name: str = "FileContent"
    _compiled: regex.Pattern[str] | None = field(init=False, repr=False, compare=False, default=None)

    def __post_init__(self) -> None:
        inside(self.path, "FileContent")
        check_pattern_timeout(self.timeout_s)
        _positive_bytes(self.max_bytes)
        if self.match not in ("exact", "contains", "regex"):
            raise ConfigurationError(unknown("match", self.match, ("exact", "contains", "regex")))
        if self.expected is not None and not isinstance(self.expected, str):
            raise ConfigurationError(f"FileContent: expected is text, not {plain_repr(self.expected)}")
        if self.expected == "" and self.match == "contains":
            raise ConfigurationError("FileContent: every file contains the empty text; give expected= with a text")
        try:
            "x".encode(self.encoding)
        except (LookupError, TypeError, ValueError):
            raise ConfigurationError(
                f"unknown encoding {plain_repr(self.encoding)}; take 'utf-8' or 'latin-1', say"
            ) from None
        if self.match == "regex":
            if self.expected is None:
                raise ConfigurationError("FileContent(match='regex') needs the pattern as expected=")
            object.__setattr__(self, "_compiled", compile_pattern(self.expected, "FileContent"))

    def inspect(self, case: Case, folder: Folder) -> Judgment:
        expected = case.reference if self.expected is None else self.expected
        if expected is None:
            return abstain("nothing to compare with: give expected=, or a case with a reference")
        if not expected and self.match == "contains":
            return abstain("nothing to look for: the reference is empty, and every file contains the empty text")
        try:
            content = folder.read_text(self.path, self.max_bytes, self.encoding)
        except Unreadable as error:
            return _unreadable(error)
        try:
            evidence = self._found(content, expected)
        except TimeoutError:
            return broken("timeout", f"the pattern exceeded its time limit, {self.timeout_s:g} s")
        detail = "" if evidence is not None else self._difference(content, expected)
        finding = Finding("content_match", evidence is not None, detail, evidence or "")
        reasoning = f"{self.path!r} {_MATCHED[self.match] if evidence is not None else _UNMATCHED[self.match]}"
        findings = (Finding("file_exists", True), Finding("file_readable", True), finding)
        return Judgment(status_of(evidence is not None), reasoning=reasoning, findings=findings)

    def _found(self, content: str, expected: str) -> str | None:
        """Return the matching part of the content, shortened; None if nothing matches."""
        if self._compiled is not None:
            match = self._compiled.search(content, timeout=self.timeout_s)
            return match[0][:_MOST_EVIDENCE] if match else None
        found = content == expected if self.match == "exact" else expected in content
        return expected[:_MOST_EVIDENCE] if found else None

    def _difference(self, content: str, expected: str) -> str:
        if self.match != "exact":
            return f"looked for {expected[:_MOST_EVIDENCE]!r}"
        by_lines = compare_text(content.encode(errors="replace"), expected.encode(errors="replace"))
        return by_lines or "only white space differs"


@dataclass(frozen=True)
class DirectorySuperset(WorkspaceJudge):
    """Every file of an expected folder is in the workspace, with the same content; further files are allowed.

    The score is the share of the expected files that are unchanged. There is one check for each other file, up to 100.
    :class:`FilesMatch` compares files by their types instead of byte by byte.

    Args:
        expected: the expected folder; None (default) takes ``case.metadata["expected_dir"]``.
        exclude: files of the expected folder to leave out: ``"*.log"`` or ``"node_modules"`` match any part of a
            path, ``"docs/*.md"`` a whole one; by default ``.git`` and ``__pycache__``.
        threshold: the lowest score that passes; by default every file must be there.
        contents: whether a file must have the same content, byte by byte; with False, only its path counts.
        max_bytes: a larger file is not read, and counts as not comparable, which fails.
        name: the check's name in verdicts.

    Raises:
        ConfigurationError: an option is outside its range, or a pattern is invalid.

    >>> DirectorySuperset().judge(workspace=".").status
    <Status.ABSTAIN: 'ABSTAIN'>
    """

    expected: str | Path | None = None
    exclude: str | Sequence[str] = LEFT_OUT
    threshold: float = 1.0
    contents: bool = True
    max_bytes: int = MOST_BYTES
    name: str = "DirectorySuperset"

    def __post_init__(self) -> None:
        unit_interval(self.threshold, "threshold")
        _check_expected(self.expected, "DirectorySuperset")
        _positive_bytes(self.max_bytes)
        if not isinstance(self.contents, bool):
            raise ConfigurationError(f"DirectorySuperset: contents is True or False, not {plain_repr(self.contents)}")
        object.__setattr__(self, "exclude", patterns(self.exclude, "DirectorySuperset", "exclude"))

    @property
    def pass_scores(self) -> frozenset[float]:
        return frozenset({float(self.threshold)})

    def inspect(self, case: Case, folder: Folder) -> Judgment:
        reference = _expected(self.expected, case)
        wanted = list(reference.files(self.exclude))
        if not wanted:
            return abstain("nothing to compare with: the expected folder holds no files")
        states = {path: self._state(path, reference, folder) for path in wanted}
        lost = [(path, what) for what in _LOST for path, state in states.items() if state == what]
        score = 1 - len(lost) / len(wanted)
        reasoning = f"{len(wanted) - len(lost)} of {len(wanted)} expected files are there"
        for what in _LOST:
            paths = [path for path, state in lost if state == what]
            reasoning += f"; {what}: {_some(paths)}" if paths else ""
        findings = tuple(Finding(path, False, what) for path, what in lost[:_MOST_FINDINGS])
        return Judgment(status_of(reaches(score, self.threshold)), score=score, reasoning=reasoning, findings=findings)

    def _state(self, path: str, reference: Folder, folder: Folder) -> str:
        """Return what is wrong with a file, as in ``_LOST``; "" if nothing is."""
        if not folder.has(path):
            return "missing"
        if not self.contents:
            return ""
        try:
            same = reference.read(path, self.max_bytes) == folder.read(path, self.max_bytes)
        except Unreadable:
            return "not comparable"
        return "" if same else "changed"


@dataclass(frozen=True)
class FilesMatch(WorkspaceJudge):
    """The files of the workspace are equivalent to those of a reference folder, each compared by its type.

    Text: white space normalised, with a short diff. JSON, YAML, TOML: by value. XML: canonically. Python: by syntax
    tree, so that comments and formatting do not count. Files above 4 MB (both together) are compared as text, binary
    ones byte by byte. :func:`jury_adapters.workspace.diffs.compares` registers further types. The score is the share of
    files that match. There is one check for each file, those that differ first, up to 100.

    Args:
        expected: the reference folder; None (default) takes ``case.metadata["expected_dir"]``.
        include: only these files, as patterns; by default all.
        exclude: files to leave out, as patterns; by default ``.git`` and ``__pycache__``.
        extra: whether files that only the workspace has, and links and pipes, are ignored (``"ignore"``, default) or
            fail (``"fail"``); so does a workspace whose files cannot be listed.
        threshold: the lowest score that passes; by default every file must match.
        max_bytes: a larger file is not read, and does not match. A larger expected file is ERROR.
        name: the check's name in verdicts.

    Raises:
        ConfigurationError: an option is outside its range.

    >>> FilesMatch("no/such/folder").judge(workspace=".").reasoning
    'the expected folder no/such/folder does not exist'
    """

    expected: str | Path | None = None
    include: str | Sequence[str] = ()
    exclude: str | Sequence[str] = LEFT_OUT
    extra: Literal["ignore", "fail"] = "ignore"
    threshold: float = 1.0
    max_bytes: int = MOST_BYTES
    name: str = "FilesMatch"

    def __post_init__(self) -> None:
        unit_interval(self.threshold, "threshold")
        _check_expected(self.expected, "FilesMatch")
        _positive_bytes(self.max_bytes)
        if self.extra not in ("ignore", "fail"):
            raise ConfigurationError(unknown("extra", self.extra, ("ignore", "fail")))
        for option in ("include", "exclude"):
            object.__setattr__(self, option, patterns(getattr(self, option), "FilesMatch", option))

    @property
    def pass_scores(self) -> frozenset[float]:
        return frozenset({float(self.threshold)})

    def inspect(self, case: Case, folder: Folder) -> Judgment:
        reference = _expected(self.expected, case)
        wanted = self._files(reference)
        if not wanted:
            return abstain("nothing to compare with: the expected folder holds no such files")
        findings = [self._compared(path, folder, reference) for path in wanted]
        if self.extra == "fail":
            findings += self._unexpected(folder, reference)
        findings.sort(key=lambda finding: bool(finding.passed))
        differing = [finding.name for finding in findings if not finding.passed]
        score = 1 - len(differing) / len(findings)
        reasoning = f"{len(findings) - len(differing)} of {len(findings)} files match"
        if differing:
            reasoning += f"; not: {_some(differing)}: {findings[0].detail.partition(chr(10))[0]}"
        return Judgment(
            status_of(reaches(score, self.threshold)),
            score=score,
            reasoning=reasoning,
            findings=tuple(findings[:_MOST_FINDINGS]),
        )

    def _unexpected(self, folder: Folder, reference: Folder) -> list[Finding]:
        known = set(self._files(reference, others=True))
        try:
            there = self._files(folder, others=True)  # a program may follow a link that no file is read through
        except Unreadable as error:  # an agent must not be able to hide files behind one
            return [Finding(".", False, str(error))]
        return [Finding(path, False, "not expected") for path in there if path not in known]

    def _files(self, folder: Folder, *, others: bool = False) -> list[str]:
        paths = folder.files(self.exclude, others=others)
        return [path for path in paths if not self.include or matches_any(path, self.include)]

    def _compared(self, path: str, folder: Folder, reference: Folder) -> Finding:
        expected = reference.read(path, self.max_bytes)  # an unreadable reference is not the agent's fault: ERROR
        try:
            difference = compare_files(path, folder.read(path, self.max_bytes), expected)
        except Unreadable as error:
            difference = str(error)
        return Finding(path, not difference, difference)


_LOST = ("missing", "changed", "not comparable")  # the last one: too large, or not to be opened
_MOST_FINDINGS = 100
_MOST_EVIDENCE = 300  # characters
_MATCHED = {
    "exact": "has the expected content",
    "contains": "contains the text",
    "regex": "matches the pattern",
}
_UNMATCHED = {
    "exact": "has other content",
    "contains": "does not contain the text",
    "regex": "does not match the pattern",
}


def _unreadable(error: Unreadable) -> Judgment:
    reason = str(error)
    exists = Finding("file_exists", error.exists, "" if error.exists else reason)
    findings = (exists, Finding("file_readable", False, reason)) if error.exists else (exists,)
    return Judgment(Status.FAIL, reasoning=reason, findings=findings)


def _expected(given: str | Path | None, case: Case) -> Folder:
    path = case.metadata.get("expected_dir") if given is None else given
    if path is None:
        raise Missing("nothing to compare with: give expected=, or a case with metadata['expected_dir']")
    if not isinstance(path, str | Path):
        raise Missing(f"metadata['expected_dir'] is the path of a folder, not {plain_repr(path)}")
    return Folder.at(path, "expected folder")


def _check_expected(given: object, judge: str) -> None:
    if given is not None and not isinstance(given, str | Path):
        raise ConfigurationError(f"{judge}: expected is the path of a folder, not {plain_repr(given)}")


def _positive_bytes(number: int) -> None:
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise ConfigurationError(f"max_bytes is a positive number of bytes, not {plain_repr(number)}")


def _some(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - 5} more" if len(paths) > 5 else ""
    return ", ".join(map(repr, paths[:5])) + more
