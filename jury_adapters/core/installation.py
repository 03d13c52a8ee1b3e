"""Commands that install a missing extra into the environment at hand, whichever way the package was installed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import Distribution

PACKAGE = "jury-adapters"
_REQUIREMENT = re.compile(r"^\s*([\w.-]+)\s*(?:\[([^\]]*)\])?\s*\(?([^;)]*)\)?\s*(?:;(.*))?$")
_EXTRA = re.compile(r"""extra\s*==\s*["']([^"']+)["']""")


@dataclass(frozen=True, slots=True)
class Requirement:
    """Package that an extra needs.

    Attributes:
        name: the name of the package.
        extras: the extras of that package, such as ``binary``.
        versions: the supported versions, such as ``>=13,<16``.
    """

    name: str
    extras: str
    versions: str

    def __str__(self) -> str:
        return self.name + (f"[{self.extras}]" if self.extras else "") + self.versions


def needs_extra(what: str, part: str, extra: str, *packages: str) -> str:
    """Return the message about a missing extra: what needs it, its name, and the command that installs it.

    Args:
        what: the feature that cannot be used.
        part: the missing part, such as ``NumPy``.
        extra: the extra of this package that installs the part.
        packages: further requirements of the feature.
    """
    return f"{what} needs {part}, of the extra {extra}: {install_command(extra, *packages)}"


def install_command(extra: str, *packages: str, distribution: Distribution | None = None) -> str:
    """Return the command that installs an extra.

    The command names the folder or the file from which the package was installed, if it still exists. Otherwise it
    names the packages that the extra needs, because the name of this package may be on no registry.

    Args:
        extra: the name of the extra, or several with commas between them.
        packages: further requirements to install.
        distribution: the installed package; by default the one that Python finds.

    >>> install_command("stats")  # doctest: +SKIP
    "pip install -e '/home/ann/jury_adapters[stats]'"
    """
    wanted = _wanted(distribution or _installed(), extra)
    return " ".join(["pip install", *wanted, *(quote(package) for package in packages)])


def requirements_of(extra: str, declared: Iterable[str]) -> Iterator[Requirement]:
    """Yield the requirements of an extra, including those of the extras in it.

    Args:
        extra: the name of the extra.
        declared: all requirements of the package, as its metadata declare them.

    >>> declared = ["numpy>=1.26; extra == 'stats'", "jury-adapters[stats]; extra == 'report'"]
    >>> [str(requirement) for requirement in requirements_of("report", declared)]
    ['numpy>=1.26']
    """
    declared = list(declared)
    for text in declared:
        found = _REQUIREMENT.match(text)
        if found is None or extra not in _EXTRA.findall(found[4] or ""):
            continue
        if found[1].lower().replace("_", "-") == PACKAGE:
            for inner in (found[2] or "").split(","):
                yield from requirements_of(inner.strip(), declared)
        else:
            yield Requirement(found[1], found[2] or "", found[3].strip())


def _installed() -> Distribution | None:
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import distribution as installed

    try:
        return installed(PACKAGE)
    except PackageNotFoundError:
        return None


def _wanted(distribution: Distribution | None, extra: str) -> list[str]:
    """Return the arguments of ``pip install`` for an extra."""
    if distribution is not None:
        origin = _origin(distribution)
        if origin is not None:
            return [*origin[0], quote(f"{origin[1]}[{extra}]")]
        declared = distribution.requires or []
        names = dict.fromkeys(str(found) for one in extra.split(",") for found in requirements_of(one, declared))
        if names:
            return [quote(name) for name in names]
    folder = Path(__file__).parents[2]  # the package runs from a folder, or is newer than what is installed
    return ["-e", quote(f"{folder if _is_project(folder) else '.'}[{extra}]")]


def _origin(distribution: Distribution) -> tuple[list[str], Path] | None:
    """Return the folder or file that a package was installed from with pip's options for it; None if it is gone.

    See https://packaging.python.org/en/latest/specifications/direct-url/.
    """
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    try:
        said = json.loads(distribution.read_text("direct_url.json") or "{}")
        url = urlsplit(said.get("url", ""))
        if url.scheme != "file":
            return None
        path = Path(url2pathname(url.path))
        if "dir_info" in said:
            editable = ["-e"] if said["dir_info"].get("editable") else []
            return (editable, path) if _is_project(path) else None
        return ([], path) if "archive_info" in said and path.is_file() else None
    except (OSError, ValueError, TypeError, AttributeError):
        return None  # nothing that an installer wrote


def _is_project(folder: Path) -> bool:
    return (folder / "pyproject.toml").is_file()
