"""Judges that run a program in ``case.workspace``: a command, the project's tests, its build.

.. warning::
    A program runs with the rights of the user who runs the judge: it can read that user's files and reach the network,
    and tests and builds are code that the agent may have written. Keys do not reach it through the environment, and
    nothing that it starts outlives it, but only a ``sandbox`` isolates it from the rest of the machine::

        def no_network(argv, workspace):
            return ["bwrap", "--ro-bind", "/", "/", "--bind", str(workspace), str(workspace), "--unshare-net", *argv]

        TestsPass(sandbox=no_network)

Programs run on POSIX systems; elsewhere these judges abstain.
"""

from __future__ import annotations

import asyncio
import os
import re
import shlex
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import ClassVar, TypeAlias

from jury_adapters.core.case import Case
from jury_adapters.core.description import Traits
from jury_adapters.core.errors import ConfigurationError, plain_repr, unknown
from jury_adapters.core.judge import Judge
from jury_adapters.core.judgment import PASS_OR_FAIL, Finding, Judgment, abstain, broken
from jury_adapters.core.secrets import without_keys
from jury_adapters.core.values import FrozenDict, freeze_mapping, positive_timeout
from jury_adapters.workspace.folder import Folder, Missing, Unreadable, inside, listed, status_of
from jury_adapters.workspace.process import Ended, Job, clean_environment, run_job
from jury_adapters.workspace.toolchains import Purpose, command_for, tools_for

__all__ = ["BuildPasses", "Command", "TestsPass"]

TIMEOUT_S = 120.0
Sandbox: TypeAlias = Callable[[Sequence[str], Path], Sequence[str]]


@dataclass(frozen=True, repr=False)
class _Runs(Judge):
    """Base class of judges that run a program. A subclass chooses the program in :meth:`choose`."""

    opinion_statuses = PASS_OR_FAIL
    _: KW_ONLY
    cwd: str = "."
    env: Mapping[str, str] | None = field(default=None, hash=False)
    pass_env: Sequence[str] = ()
    timeout_s: float = TIMEOUT_S
    max_output: int = 20_000
    sandbox: Sandbox | None = None

    def __post_init__(self) -> None:
        kind = type(self).__name__
        inside(self.cwd, kind)
        if positive_timeout(self.timeout_s) is None:
            raise ConfigurationError(f"{kind}: timeout_s is a positive number of seconds, not None")
        if not isinstance(self.max_output, int) or self.max_output < 1:
            raise ConfigurationError(f"max_output is a positive number of bytes, not {plain_repr(self.max_output)}")
        if self.env is not None and not isinstance(self.env, Mapping):
            raise ConfigurationError(f"{kind}: env is a mapping such as {{'CI': '1'}}, not {type(self.env).__name__}")
        added = dict(self.env or {})
        if not all(isinstance(text, str) and "\0" not in text for pair in added.items() for text in pair):
            raise ConfigurationError(f"{kind}: env maps names to texts; numbers are written in quotes")
        if any(not name or "=" in name for name in added):
            raise ConfigurationError(f"{kind}: the name of a variable in env is not empty and has no '=' in it")
        if self.sandbox is not None and not callable(self.sandbox):
            raise ConfigurationError(f"{kind}: sandbox takes a function (argv, workspace) -> argv")
        object.__setattr__(self, "env", added)
        object.__setattr__(self, "pass_env", _texts(self.pass_env, kind, "pass_env"))

    @abstractmethod
    def choose(self, folder: Folder, environment: Mapping[str, str]) -> tuple[str, list[str]]:
        """Return the name of the check, and the command to run in this folder."""

    def expects(self, exit_code: int) -> bool:
        """Return whether this exit code means success."""
        return exit_code == 0

    def _traits(self) -> Traits:
        """Return the traits without environment variables, which may contain a key."""
        return {"cwd": "" if self.cwd == "." else self.cwd}

    async def assess(self, case: Case) -> Judgment:
        try:
            title, argv, job = await asyncio.to_thread(self._prepared, case)
        except (Missing, Unreadable) as reason:
            return abstain(str(reason))
        secrets = [value for name, value in job.environment.items() if _SECRET.search(name)]
        shown = [without_keys(text, secrets) for text in argv]
        try:
            ended = await run_job(job)
        except (OSError, ValueError) as error:
            message = without_keys(f"{_first(job.argv)!r} cannot be started: {error}", secrets)
            return broken(error, message, metadata=_metadata(shown, None))
        ended = Ended(ended.exit_code, without_keys(ended.output, secrets))
        return self._judgment(without_keys(title, secrets), shown, ended)

    def _prepared(self, case: Case) -> tuple[str, list[str], Job]:
        """Return the check's name, the command without the sandbox, and the job, whose command may be in a sandbox."""
        if os.name != "posix":
            raise Missing("programs are run on POSIX systems only")
        workspace = Folder.at(case.workspace, "workspace")
        folder = Folder(workspace.find(self.cwd, "directory"))
        environment = clean_environment(self.pass_env, self.env or {})
        title, argv = self.choose(folder, environment)
        wrapped = argv if self.sandbox is None else _in_sandbox(self.sandbox, argv, workspace.root)
        return title, argv, Job(wrapped, folder.root, environment, self.timeout_s, self.max_output)

    def _judgment(self, title: str, argv: Sequence[str], ended: Ended) -> Judgment:
        if ended.exit_code is None:
            reason = f"{title} was stopped after {self.timeout_s:g} s"
            return broken("timeout", reason, metadata=_metadata(argv, ended))
        passed = self.expects(ended.exit_code)
        last = next((line.strip() for line in reversed(ended.output.splitlines()) if line.strip()), "")
        reasoning = f"{title} ended with {ended.exit_code}" + (f": {last[:200]}" if last and not passed else "")
        finding = Finding(
            title, passed, f"exit code {ended.exit_code}", "" if passed else ended.output[-_MOST_EVIDENCE:]
        )
        return Judgment(status_of(passed), reasoning=reasoning, findings=(finding,), metadata=_metadata(argv, ended))


@dataclass(frozen=True, repr=False)
class Command(_Runs):
    """A program, run in the workspace, ends with an expected exit code.

    The judgment's metadata has ``command``, ``exit_code`` (128 + n after signal n) and ``output`` (standard output and
    standard error together), with keys redacted: what looks like one, and the values of passed variables whose names
    say that they are secret. A program that cannot be started, or takes too long, is ERROR. All processes that it
    started are killed when it ends, when its time is up, and when judging is cancelled. A process that moves to another
    session *and* clears its environment escapes; on systems without ``/proc``, the first of the two is enough.

    Args:
        argv: the program and its arguments, as a list; as one text only with ``shell``.
        exit_code: the exit codes that mean PASS; a number, or several.
        shell: pass the text to ``/bin/sh``.
        cwd: where to run it, inside the workspace.
        env: variables to set.
        pass_env: names of variables of this process to pass on, in addition to harmless ones such as ``PATH``, ``HOME``
            and ``LANG``; ``CI_*`` means all that begin so.
        timeout_s: seconds it may take, 120 by default; then the judgment is ERROR ``timeout``.
        max_output: bytes of output to keep: the first half, and the last.
        sandbox: a function that takes the command and the workspace, and returns the command to run instead.
        name: the check's name in verdicts.

    Raises:
        ConfigurationError: there is no program, ``argv`` does not fit ``shell``, or an option is outside its range.

    >>> Command(["true"]).judge(workspace=".").status
    <Status.PASS: 'PASS'>
    """

    argv: Sequence[str] | str
    exit_code: int | Sequence[int] = 0
    shell: bool = False
    name: str = "Command"

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.argv, str) is not self.shell or not self.argv:
            raise ConfigurationError(
                "Command takes a list such as ['make', 'check'], or with shell=True one text; "
                f"not {plain_repr(self.argv)} with shell={plain_repr(self.shell)}"
            )
        if not self.shell:
            object.__setattr__(self, "argv", _texts(self.argv, "Command", "argv"))
            if not self.argv[0]:
                raise ConfigurationError("Command: the first text of argv is the program; it is empty")
        codes = (self.exit_code,) if isinstance(self.exit_code, int) else listed(self.exit_code)
        if not codes or not all(isinstance(code, int) and 0 <= code <= 255 for code in codes):
            raise ConfigurationError(
                f"exit_code is one or more numbers from 0 to 255, not {plain_repr(self.exit_code)}"
            )
        object.__setattr__(self, "exit_code", codes)

    def choose(self, folder: Folder, environment: Mapping[str, str]) -> tuple[str, list[str]]:
        argv = ["/bin/sh", "-c", str(self.argv)] if self.shell else list(self.argv)
        return (argv[-1] if self.shell else shlex.join(argv))[:80], argv

    def _traits(self) -> Traits:
        return {"argv": self.argv if isinstance(self.argv, str) else shlex.join(self.argv), **super()._traits()}

    def expects(self, exit_code: int) -> bool:
        assert not isinstance(self.exit_code, int)
        return exit_code in self.exit_code


@dataclass(frozen=True, repr=False)
class _ProjectRuns(_Runs):
    """Base class of judges that run a tool that the project's own files indicate."""

    tool: str | None = None
    args: Sequence[str] = ()
    purpose: ClassVar[Purpose]

    def __post_init__(self) -> None:
        super().__post_init__()
        kind = type(self).__name__
        if self.tool is not None and self.tool not in tools_for(self.purpose):
            raise ConfigurationError(unknown("tool", self.tool, tools_for(self.purpose)))
        object.__setattr__(self, "args", _texts(self.args, kind, "args"))

    @property
    def _goals(self) -> Sequence[str] | None:
        """Arguments of the tool that replace its default goals."""
        return None

    def choose(self, folder: Folder, environment: Mapping[str, str]) -> tuple[str, list[str]]:
        look = self.sandbox is None
        tool, argv = command_for(folder, self.purpose, self.tool, environment, goals=self._goals, look=look)
        return f"{tool} {self.purpose}", [*argv, *self.args]

    def _traits(self) -> Traits:
        return {"tool": self.tool or "", **super()._traits()}


@dataclass(frozen=True, repr=False)
class TestsPass(_ProjectRuns):
    """The project's tests pass.

    The tools are Maven, Gradle, Cargo, npm (a script ``test``), pytest and make (a target ``test``). The first one that
    the files of the workspace indicate is used. Wrappers (``mvnw``, ``gradlew``, ``.venv/bin/pytest``) are preferred to
    installed programs. Abstains if no tool fits, or the tool is not installed. The exit code of the tool decides: a
    project without tests fails if the tool reports that as a failure, as pytest does, and one that skips all its tests,
    or ends the tool with ``os._exit(0)``, passes.

    Args:
        tool: ``"maven"``, ``"gradle"``, ``"cargo"``, ``"npm"``, ``"pytest"`` or ``"make"``; None (default) to find out.
        args: further arguments for it.
        cwd: where the project is, inside the workspace.
        env: variables to set.
        pass_env: names of variables to pass on; see :class:`Command`.
        timeout_s: seconds it may take, 120 by default; then the judgment is ERROR ``timeout``.
        max_output: bytes of output to keep.
        sandbox: wraps the command; see :class:`Command`.
        name: the check's name in verdicts.

    Raises:
        ConfigurationError: the tool is unknown, or an option is outside its range.

    >>> TestsPass("pytest", timeout_s=60).judge(question="Fix the bug.").reasoning
    'there is no workspace'
    """

    __test__ = False  # keeps pytest from collecting the class because of its name

    name: str = "TestsPass"
    purpose: ClassVar[Purpose] = "test"


@dataclass(frozen=True, repr=False)
class BuildPasses(_ProjectRuns):
    """The project builds. The goals are ``package``, ``assemble``, ``build``, or make's first target.

    The tool is found as in :class:`TestsPass`.

    Args:
        tool: ``"maven"``, ``"gradle"``, ``"cargo"``, ``"npm"`` or ``"make"``; None (default) to find out.
        goals: goals that replace the tool's default goals, such as ``["clean", "verify"]`` for Maven.
        args: further arguments for it.
        cwd: where the project is, inside the workspace.
        env: variables to set.
        pass_env: names of variables to pass on; see :class:`Command`.
        timeout_s: seconds it may take, 120 by default; then the judgment is ERROR ``timeout``.
        max_output: bytes of output to keep.
        sandbox: wraps the command; see :class:`Command`.
        name: the check's name in verdicts.

    Raises:
        ConfigurationError: the tool is unknown, or an option is outside its range.

    >>> BuildPasses("make", goals=["all"]).judge(question="Fix the bug.").status
    <Status.ABSTAIN: 'ABSTAIN'>
    """

    goals: Sequence[str] | None = None
    name: str = "BuildPasses"
    purpose: ClassVar[Purpose] = "build"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.goals is not None:
            object.__setattr__(self, "goals", _texts(self.goals, "BuildPasses", "goals"))

    @property
    def _goals(self) -> Sequence[str] | None:
        return self.goals


_MOST_EVIDENCE = 2000  # characters
_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL", re.IGNORECASE)  # in the name of a variable that is passed


def _metadata(argv: Sequence[str], ended: Ended | None) -> FrozenDict:
    outcome = {} if ended is None else {"exit_code": ended.exit_code, "output": ended.output}
    return freeze_mapping({"command": shlex.join(argv), **outcome})


def _in_sandbox(sandbox: Sandbox, argv: Sequence[str], workspace: Path) -> list[str]:
    """Return the command that runs another one in a sandbox.

    Raises:
        TypeError: the function for the sandbox returned something else.
    """
    given: object = sandbox(tuple(argv), workspace)
    found = None if isinstance(given, str) else listed(given)
    if not found or not all(isinstance(text, str) for text in found):
        raise TypeError(f"sandbox returns the command to run, as a list of texts; not {plain_repr(given)}")
    return list(found)


def _first(argv: Sequence[str]) -> str:
    return argv[0] if argv else ""


def _texts(given: str | Sequence[str], judge: str, option: str) -> tuple[str, ...]:
    found = listed(given)
    if found is None or not all(isinstance(text, str) and "\0" not in text for text in found):
        raise ConfigurationError(
            f"{judge}: {option} takes texts; numbers are written in quotes; not {plain_repr(given)}"
        )
    return found
