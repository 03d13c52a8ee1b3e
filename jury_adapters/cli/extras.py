"""Installed parts of the package's extras, and whether their versions are supported."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, metadata, version

from jury_adapters.core.installation import PACKAGE, requirements_of

_CLAUSE = re.compile(r"(>=|<=|==|!=|~=|>|<)\s*([\w.*+!-]+)")
_COLLECTIONS = frozenset({"all", "test", "dev", "docs"})  # extras of extras, and those for development


@dataclass(frozen=True, slots=True)
class Part:
    """Distribution that an extra needs.

    Attributes:
        name: the name of the distribution.
        asked: the supported versions, such as ``>=13,<16``.
        installed: the installed version, or None.
    """

    name: str
    asked: str
    installed: str | None

    @property
    def fits(self) -> bool:
        """Whether it is installed in a supported version."""
        return self.installed is not None and within(self.installed, self.asked)


@dataclass(frozen=True, slots=True)
class Extra:
    """Extra of the package, such as ``openai``.

    Attributes:
        name: its name in the brackets of ``pip install '.[...]'``.
        parts: the distributions that it needs.
    """

    name: str
    parts: tuple[Part, ...]

    @property
    def state(self) -> str:
        """State: ``"ready"``, ``"other version"`` (some part is out of the supported range), or ``"not installed"``."""
        if all(part.fits for part in self.parts):
            return "ready"
        return "not installed" if any(part.installed is None for part in self.parts) else "other version"


def extras() -> list[Extra]:
    """Return the extras of the installed package; none if it runs from a folder and is not installed."""
    try:
        about = metadata(PACKAGE)
    except PackageNotFoundError:
        return []
    needs = about.get_all("Requires-Dist") or []
    names = sorted(set(about.get_all("Provides-Extra") or []) - _COLLECTIONS)
    found = ((name, {one.name: one.versions for one in requirements_of(name, needs)}) for name in names)
    return [Extra(name, tuple(_part(one, asked) for one, asked in parts.items())) for name, parts in found if parts]


def within(installed: str, asked: str) -> bool:
    """Return whether a version is in a range; only its numbers count, so a release candidate equals its release.

    >>> within("13.9.4", ">=13,<16"), within("16.0", ">=13,<16"), within("8.4.0", "!=8.4.0,<10")
    (True, False, False)
    """
    own = _numbers(installed)
    return all(_holds(own, sign, bound) for sign, bound in _CLAUSE.findall(asked))


def _part(name: str, asked: str) -> Part:
    try:
        return Part(name, asked, version(name))
    except PackageNotFoundError:
        return Part(name, asked, None)


def _numbers(text: str) -> tuple[int, ...]:
    found = re.match(r"\d+(?:\.\d+)*", text)
    numbers = [int(number) for number in found[0].split(".")] if found else []
    while numbers and not numbers[-1]:  # 1.0 is 1
        numbers.pop()
    return tuple(numbers)


def _holds(own: tuple[int, ...], sign: str, bound: str) -> bool:
    other = _numbers(bound)
    if sign in ("==", "!="):
        same = own[: len(other)] == other if bound.endswith(".*") else own == other
        return same is (sign == "==")
    if sign == "~=":
        given = [int(number) for number in re.findall(r"\d+", bound)]
        return own >= other and own[: len(given) - 1] == tuple(given[:-1])
    return {">=": own >= other, "<=": own <= other, ">": own > other, "<": own < other}[sign]
