"""Checks that run a program in ``case.workspace``: a command, the project's tests, its build.

A program runs with the rights of the user who runs the check. It can read that user's files and reach the network, and
tests and builds are code that the agent may have written: run these checks in a container. Keys do not reach the
program through the environment. A process that moves to another session outlives it.
"""

import os
import re
import shlex
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from jury_adapters.core.case import Case
from jury_adapters.core.judge import Returned
from jury_adapters.core.judgment import Finding, Judgment, Status, abstain, broken
from jury_adapters.core.values import without_keys
from jury_adapters.judges.options import DeclaredCheck, declared
from jury_adapters.workspace.folder import Folder, InnerPath, Missing, Unreadable
from jury_adapters.workspace.process import Ended, environment, run

_MOST_EVIDENCE = 2000  # characters
_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL", re.IGNORECASE)  # in the name of a variable
Arguments = tuple[Annotated[str, Field(strict=True)], ...]
Seconds = Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False)]
_TESTS: dict[str, tuple[str, ...]] = {
    "cargo": ("cargo", "test"),
    "go": ("go", "test", "./..."),
    "gradle": ("gradle", "--no-daemon", "test"),
    "make": ("make", "test"),
    "maven": ("mvn", "-B", "test"),
    "npm": ("npm", "test"),
    "pytest": ("pytest", "-q", "-p", "no:cacheprovider"),
}
_BUILDS: dict[str, tuple[str, ...]] = {
    "cargo": ("cargo", "build"),
    "go": ("go", "build", "./..."),
    "gradle": ("gradle", "--no-daemon", "assemble"),
    "make": ("make",),
    "maven": ("mvn", "-B", "-DskipTests", "package"),
    "npm": ("npm", "run", "build"),
}


@declared
class _Runs(DeclaredCheck):
    """Base of checks that run a program."""

    runs_commands: ClassVar[bool] = True
    cwd: InnerPath = field(default=".", kw_only=True)
    env: Mapping[Annotated[str, Field(pattern=r"^[^=\x00]+$")], Annotated[str, Field(strict=True)]] = field(
        default_factory=dict, kw_only=True
    )
    pass_env: Arguments = field(default=(), kw_only=True)
    time_limit: Seconds = field(default=120.0, kw_only=True)

    @abstractmethod
    def command(self) -> tuple[str, ...]:
        """Return the program and its arguments."""

    def check(self, case: Case) -> Returned:
        raise NotImplementedError("it runs a program, which takes time; see assess")

    async def assess(self, case: Case) -> Returned:
        """Run the program in the workspace of a case."""
        if os.name != "posix":
            return abstain("programs are run on POSIX systems only")
        try:
            folder = Folder(Folder.at(case.workspace, "workspace").find(self.cwd, "directory"))
        except (Missing, Unreadable) as reason:
            return abstain(str(reason))
        variables = environment(self.pass_env, self.env)
        secrets = [value for name, value in variables.items() if _SECRET.search(name) and value]
        shown = _hidden(shlex.join(self.command()), secrets)
        try:
            ended = await run(self.command(), folder.root, variables, self.time_limit)
        except (OSError, ValueError) as error:
            return broken(_hidden(f"{shown} cannot be started: {error}", secrets), metadata={"command": shown})
        return self._judgment(shown, ended, _hidden(ended.output, secrets))

    def _judgment(self, shown: str, ended: Ended, output: str) -> Judgment:
        metadata: dict[str, Any] = {"command": shown, "exit_code": ended.exit_code, "output": output}
        if ended.why:
            return broken(ended.why, reasoning=f"{shown[:80]} was ended", metadata=metadata)
        passed = ended.exit_code == 0
        last = next((line.strip() for line in reversed(output.splitlines()) if line.strip()), "")
        said = f"{shown[:80]} ended with {ended.exit_code}" + (f": {last[:200]}" if last and not passed else "")
        finding = Finding(
            name=shown[:80], passed=passed, detail=f"exit code {ended.exit_code}",
            evidence="" if passed else output[-_MOST_EVIDENCE:],
        )  # fmt: skip
        status = Status.PASS if passed else Status.FAIL
        return Judgment(status=status, reasoning=said, findings=(finding,), metadata=metadata)


@declared
class Command(_Runs):
    """A program, run in the workspace, ends with the exit code 0.

    The metadata of the judgment have ``command``, ``exit_code`` and the end of the ``output``, without keys. A program
    that cannot be started, or takes too long, is ERROR. The process group of the program is killed when it ends, when
    its time is up, and when judging is cancelled.

    Args:
        argv: the program and its arguments. For a shell: ``["sh", "-c", "make check | tail"]``.
        cwd: where to run it, inside the workspace.
        env: variables to set.
        pass_env: the names of variables to pass on, beside harmless ones such as ``PATH``, ``HOME`` and ``LANG``;
            ``CI_*`` means all that begin so.
        time_limit: the seconds it may take.
        name: the name in verdicts.

    Raises:
        ConfigurationError: there is no program, or an option is wrong.

    >>> Command(["true"]).judge(workspace=".").status.value
    'PASS'
    """

    argv: Annotated[Arguments, Field(min_length=1)]

    def command(self) -> tuple[str, ...]:
        return self.argv


@declared
class TestsPass(_Runs):
    """The tests of the project pass.

    The exit code of the tool decides. A project without tests fails if the tool says so, as pytest does. An agent that
    may change the tests, or the configuration of the tool, can make them pass: copy your own tests over the workspace
    before you judge it.

    Args:
        tool: the tool that runs them: ``cargo``, ``go``, ``gradle``, ``make``, ``maven``, ``npm`` or ``pytest``.
        args: further arguments for it.
        cwd: where the project is, inside the workspace.
        env: variables to set.
        pass_env: the names of variables to pass on; see :class:`Command`.
        time_limit: the seconds they may take.
        name: the name in verdicts.

    Raises:
        ConfigurationError: the tool is unknown, or an option is wrong.

    >>> TestsPass("pytest").judge(answer="Fixed.").reasoning
    'there is no workspace'
    """

    __test__ = False  # so that pytest does not collect it

    tool: Literal["cargo", "go", "gradle", "make", "maven", "npm", "pytest"]
    args: Arguments = ()

    def command(self) -> tuple[str, ...]:
        return (*_TESTS[self.tool], *self.args)


@declared
class BuildPasses(_Runs):
    """The project builds.

    Args:
        tool: the tool that builds it: ``cargo``, ``go``, ``gradle``, ``make``, ``maven`` or ``npm``.
        args: further arguments for it.
        cwd: where the project is, inside the workspace.
        env: variables to set.
        pass_env: the names of variables to pass on; see :class:`Command`.
        time_limit: the seconds it may take.
        name: the name in verdicts.

    Raises:
        ConfigurationError: the tool is unknown, or an option is wrong.

    >>> BuildPasses("make", ["all"]).judge(answer="Fixed.").status.value
    'ABSTAIN'
    """

    tool: Literal["cargo", "go", "gradle", "make", "maven", "npm"]
    args: Arguments = ()

    def command(self) -> tuple[str, ...]:
        return (*_BUILDS[self.tool], *self.args)


def _hidden(text: str, secrets: list[str]) -> str:
    """Return a text without keys and without the values of secret variables, the longest first."""
    for value in sorted(secrets, key=len, reverse=True):
        text = text.replace(value, "[key]")
    return without_keys(text)
