"""Detection of the tool that tests or builds the project in a workspace, by its files and its wrapper scripts."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from jury_adapters.workspace.folder import Folder, Missing, Unreadable

Purpose: TypeAlias = Literal["test", "build"]


@dataclass(frozen=True, slots=True)
class Tool:
    """Tool that tests or builds a project.

    Attributes:
        program: its program, looked for on the PATH.
        files: a project that has one of these uses it.
        arguments: its goals by purpose, with their options; it does not serve a purpose that is missing.
        flags: arguments before all goals.
        wrappers: scripts of the project that replace the program, tried first.
        applies: further check of a project that has one of the files.
    """

    program: str
    files: tuple[str, ...]
    arguments: Mapping[Purpose, tuple[str, ...]]
    flags: tuple[str, ...] = ()
    wrappers: tuple[str, ...] = ()
    applies: Callable[[Folder, Purpose], bool] = lambda folder, purpose: True


def command_for(
    folder: Folder,
    purpose: Purpose,
    name: str | None,
    environment: Mapping[str, str],
    *,
    goals: Sequence[str] | None = None,
    look: bool = True,
) -> tuple[str, list[str]]:
    """Return the tool for a project, and the command that runs it.

    Args:
        folder: the project.
        purpose: to test it or to build it.
        name: the tool to use; None to find out.
        environment: the variables, whose ``PATH`` is searched for the program.
        goals: goals that replace the tool's own ones for the purpose; None for these.
        look: whether the program must be installed here; not for a sandbox with its own programs.

    Raises:
        Missing: no tool fits the project, or its program is not installed.
    """
    name = name or _found(folder, purpose)
    if name is None:
        known = ", ".join(tools_for(purpose))
        raise Missing(f"nothing in the workspace says how to {purpose} it; known: {known}")
    tool = TOOLS[name]
    arguments = [*tool.flags, *(tool.arguments[purpose] if goals is None else goals)]
    wrapper = next((path for path in tool.wrappers if folder.has(path)), None)
    if wrapper is not None:
        path = folder.find(wrapper, "file")
        return name, [*([str(path)] if os.access(path, os.X_OK) else ["sh", str(path)]), *arguments]
    if not look or shutil.which(tool.program, path=environment.get("PATH")):
        return name, [tool.program, *arguments]
    if name == "pytest" and importlib.util.find_spec("pytest") is not None:  # installed, but not on the PATH
        return name, [sys.executable, "-m", "pytest", *arguments]
    raise Missing(f"{tool.program} is not installed")


def tools_for(purpose: Purpose) -> list[str]:
    """Return the names of the tools that have this purpose."""
    return [name for name, tool in TOOLS.items() if purpose in tool.arguments]


def _npm_script(folder: Folder, purpose: Purpose) -> bool:
    try:
        package = json.loads(_text(folder, "package.json"))
    except (ValueError, RecursionError):
        return False
    scripts = package.get("scripts") if isinstance(package, dict) else None
    return isinstance(scripts, dict) and purpose in scripts


def _pytest_project(folder: Folder, purpose: Purpose) -> bool:
    if folder.has("pytest.ini") or folder.has("conftest.py") or folder.has("tests/conftest.py"):
        return True
    if "[tool.pytest" in _text(folder, "pyproject.toml") or "[tool:pytest]" in _text(folder, "setup.cfg"):
        return True
    return any(
        re.fullmatch(r"(tests?/)?(.*/)?(test_[^/]*|[^/]*_test)\.py", path) for path in folder.files(("node_modules",))
    )


def _make_target(folder: Folder, purpose: Purpose) -> bool:
    if purpose == "build":
        return True
    return any(re.search(r"^test\s*:", _text(folder, name), re.MULTILINE) for name in _MAKEFILES)


def _text(folder: Folder, path: str) -> str:
    try:
        return folder.read_text(path)
    except Unreadable:
        return ""


def _found(folder: Folder, purpose: Purpose) -> str | None:
    for name in tools_for(purpose):
        tool = TOOLS[name]
        if (not tool.files or any(folder.has(file) for file in tool.files)) and tool.applies(folder, purpose):
            return name
    return None


_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_GRADLE = ("build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts")

# In this order: tools whose files are the most specific come first; `make`, which projects often have too, is last.
TOOLS: dict[str, Tool] = {
    "maven": Tool(
        "mvn",
        ("pom.xml",),
        {"test": ("test",), "build": ("-DskipTests", "package")},
        flags=("-B",),
        wrappers=("mvnw",),
    ),
    "gradle": Tool(
        "gradle",
        _GRADLE,
        {"test": ("test",), "build": ("assemble",)},
        flags=("--no-daemon",),
        wrappers=("gradlew",),
    ),
    "cargo": Tool("cargo", ("Cargo.toml",), {"test": ("test",), "build": ("build",)}),
    "npm": Tool("npm", ("package.json",), {"test": ("test",), "build": ("run", "build")}, applies=_npm_script),
    "pytest": Tool(
        "pytest",
        (),
        {"test": ("-q", "-p", "no:cacheprovider")},
        wrappers=(".venv/bin/pytest", "venv/bin/pytest"),
        applies=_pytest_project,
    ),
    "make": Tool("make", _MAKEFILES, {"test": ("test",), "build": ()}, applies=_make_target),
}
