"""Checks of the files that an agent left in ``case.workspace``: no model, no program, nothing outside it.

They abstain without a workspace, or without anything to compare with. A link that leads out, a pipe or a device counts
as missing. A file that is too large or not text cannot be read. That is the fault of the agent, so it fails.
"""

from pathlib import Path
from typing import Literal

from jury_adapters.core.case import Case
from jury_adapters.core.judgment import Finding, Judgment, Status, abstain
from jury_adapters.core.text import visible
from jury_adapters.core.values import ROUNDING, Share, without_keys
from jury_adapters.judges.options import Flag, declared
from jury_adapters.judges.schema import matcher
from jury_adapters.workspace.diffs import difference
from jury_adapters.workspace.folder import Folder, InnerPath, Kind, Patterns, Unreadable, WorkspaceCheck, matches_any

_MOST_FINDINGS = 100
LEFT_OUT = (".git", "__pycache__")


@declared
class FileExists(WorkspaceCheck):
    """A file or folder exists in the workspace.

    Args:
        path: where it should be, relative to the workspace.
        kind: ``file`` (a regular one, or a link to one inside) or ``directory``.
        name: the name in verdicts.

    Raises:
        ConfigurationError: the path is absolute, or contains ``..``.

    >>> FileExists("report.md").judge(answer="Done.").reasoning
    'there is no workspace'
    """

    path: InnerPath
    kind: Kind = "file"

    def inspect(self, _: Case, folder: Folder) -> Judgment:
        try:
            folder.find(self.path, self.kind)
        except Unreadable as error:
            return Judgment(status=Status.FAIL, reasoning=str(error))
        return Judgment(status=Status.PASS, reasoning=f"{self.path!r} exists")


@declared
class FileContent(WorkspaceCheck):
    """A text file of the workspace, in UTF-8, has the expected content.

    Args:
        path: the file, relative to the workspace.
        expected: the text or the pattern; None takes the reference of the case, but never as a pattern.
        match: ``exact`` (every character), ``contains``, or ``regex``, which is found anywhere; the expressions are
            those of :class:`jury_adapters.checks.Matches`.
        name: the name in verdicts.

    Raises:
        ConfigurationError: the path leads out of the workspace, or the pattern is wrong or missing.

    >>> FileContent("answer.txt", "42", "contains").judge(workspace="/nowhere").status.value
    'ABSTAIN'
    """

    path: InnerPath
    expected: str | None = None
    match: Literal["exact", "contains", "regex"] = "exact"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.match != "exact" and self.expected == "":
            raise ValueError(f"match={self.match!r} needs expected= with a text")
        if self.match == "regex":
            if self.expected is None:
                raise ValueError("match='regex' needs the pattern as expected=")
            matcher(self.expected)

    def inspect(self, case: Case, folder: Folder) -> Judgment:
        expected = case.reference if self.expected is None else self.expected
        if expected is None or (not expected and self.match == "contains"):
            return abstain("nothing to compare with: give expected=, or a case with a reference")
        try:
            content = folder.read_text(self.path)
        except Unreadable as error:
            return Judgment(status=Status.FAIL, reasoning=str(error))
        if self.match == "regex":
            found = bool(matcher(expected).isinstance_python(content))
        else:
            found = content == expected if self.match == "exact" else expected in content
        how = {"exact": "has", "contains": "contains", "regex": "matches"}[self.match]
        said = f"{self.path!r} {how if found else f'is not the text that {how}'} {visible(expected, 80)!r}"
        return Judgment(status=Status.PASS if found else Status.FAIL, reasoning=said)


@declared
class FilesMatch(WorkspaceCheck):
    """The files of a reference folder are in the workspace, with equivalent content.

    Each file is compared by its type; see :func:`jury_adapters.workspace.diffs.difference`. The score is the share of
    files that match. There is one finding for each file, those that differ first, up to 100.

    Args:
        expected: the reference folder; None takes ``case.metadata["expected_dir"]``. The fingerprint of the check has
            its name, not its content.
        contents: whether the contents are compared; with False only the paths count.
        extra: whether files that only the workspace has are ignored (``ignore``) or fail (``fail``).
        include: only these files, as patterns: ``*.py`` matches any part of a path, ``docs/*.md`` a whole one.
        exclude: files and folders to leave out, as patterns.
        threshold: the lowest score that passes, 0..1; by default every file must match.
        name: the name in verdicts.

    Raises:
        ConfigurationError: an option is wrong.

    >>> FilesMatch("no/such/folder").judge(workspace=".").reasoning
    "the expected folder 'no/such/folder' does not exist"
    """

    expected: Path | None = None
    contents: Flag = True
    extra: Literal["ignore", "fail"] = "ignore"
    include: Patterns = ()
    exclude: Patterns = LEFT_OUT
    threshold: Share = 1.0

    @property
    def fingerprint(self) -> str:
        """Identity of the check, with the name of the reference folder, which may be elsewhere on another machine."""
        if self.expected is None or self.expected.name == str(self.expected):
            return super().fingerprint
        return self._with(expected=Path(self.expected.name)).fingerprint

    def inspect(self, case: Case, folder: Folder) -> Judgment:
        given = case.metadata.get("expected_dir") if self.expected is None else self.expected
        reference = Folder.at(given, "expected folder")
        wanted = self._files(reference)
        if not wanted:
            return abstain("nothing to compare with: the expected folder holds no such files")
        findings = [self._compared(path, folder, reference) for path in wanted]
        if self.extra == "fail":
            findings += self._unexpected(folder, {*wanted})
        findings.sort(key=lambda finding: bool(finding.passed))
        wrong = [finding.name for finding in findings if not finding.passed]
        score = (len(findings) - len(wrong)) / len(findings)
        said = f"{len(findings) - len(wrong)} of {len(findings)} files match"
        said += f"; not {', '.join(map(repr, wrong[:5]))}: {findings[0].detail}" if wrong else ""
        return Judgment(
            status=Status.PASS if score >= self.threshold - ROUNDING else Status.FAIL,
            score=score,
            reasoning=said,
            findings=tuple(findings[:_MOST_FINDINGS]),
        )

    def _files(self, folder: Folder) -> list[str]:
        return [path for path in folder.files(self.exclude) if not self.include or matches_any(path, self.include)]

    def _compared(self, path: str, folder: Folder, reference: Folder) -> Finding:
        wanted = reference.read(path) if self.contents else b""  # an unreadable reference is an ERROR
        try:
            folder.find(path)
            changed = difference(path, folder.read(path), wanted) if self.contents else ""
        except Unreadable as error:
            changed = str(error)
        return Finding(name=path, passed=not changed, detail=without_keys(changed))

    def _unexpected(self, folder: Folder, wanted: set[str]) -> list[Finding]:
        try:
            there = self._files(folder)
        except Unreadable as error:  # so that no file can be hidden
            return [Finding(name=".", passed=False, detail=str(error))]
        return [Finding(name=path, passed=False, detail="not expected") for path in there if path not in wanted]
