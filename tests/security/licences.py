"""The licences of everything that an installation brings: ``python tests/security/licences.py --extra all``.

Reads the metadata of what is installed, follows the requirements of the package and the named extras, and asks no
network. Permissive licences are allowed, and the Mozilla Public License, which binds only changes to its own files.
Anything else, or a package that does not say, fails; add it here only after somebody has read its licence.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PACKAGE = "jury-adapters"
ALLOWED = frozenset(
    {
        "0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "CNRI-Python", "ISC", "MIT", "MIT-0",
        "MIT-CMU", "MPL-2.0", "PSF-2.0", "Python-2.0", "Unlicense", "Zlib",
    }
)  # fmt: skip
_SAME: dict[str, str] = {
    "academic free license (afl)": "AFL-3.0",
    "apache": "Apache-2.0",
    "apache 2.0": "Apache-2.0",
    "apache license": "Apache-2.0",
    "apache license 2.0": "Apache-2.0",
    "apache license, version 2.0": "Apache-2.0",
    "apache software license": "Apache-2.0",
    "apache software license 2.0": "Apache-2.0",
    "bsd": "BSD-3-Clause",
    "bsd 2-clause license": "BSD-2-Clause",
    "bsd license": "BSD-3-Clause",
    "isc license": "ISC",
    "isc license (iscl)": "ISC",
    "mit license": "MIT",
    "mozilla public license 2.0 (mpl 2.0)": "MPL-2.0",
    "psfl": "PSF-2.0",
    "python software foundation license": "PSF-2.0",
    "the unlicense (unlicense)": "Unlicense",
}


def licence_of(found: Distribution) -> str:
    """Licence that a package declares, as an SPDX expression where possible; empty if it declares none.

    The expression takes precedence over the short text of ``License``, and that text over the classifiers. Of several
    classifiers any may be chosen, as their authors mean them.
    """
    metadata = found.metadata
    expression = metadata.get("License-Expression")
    if expression:
        return str(expression)
    text = (metadata.get("License") or "").strip()
    title = text.split("\n", 1)[0].strip()
    if title and (title == text or title.lower() in _SAME) and len(title) < 80:
        return _SAME.get(title.lower(), title)
    named = [line.rsplit(" :: ", 1)[-1] for line in metadata.get_all("Classifier") or [] if line.startswith("License")]
    return " OR ".join(_SAME.get(name.lower(), name) for name in named)


def allowed(expression: str) -> bool:
    """Whether an SPDX expression can be met with allowed licences alone.

    >>> allowed("MPL-2.0 AND (GPL-3.0-or-later OR MIT)"), allowed("MIT AND GPL-3.0-only"), allowed("")
    (True, False, False)
    """
    words = re.findall(r"\(|\)|[^\s()]+", expression)
    if not words:
        return False
    meant, left = _either(words)
    return meant and not left


def _either(words: list[str]) -> tuple[bool, list[str]]:
    meant, words = _all(words)
    while words[:1] and words[0].upper() == "OR":
        other, words = _all(words[1:])
        meant = meant or other
    return meant, words


def _all(words: list[str]) -> tuple[bool, list[str]]:
    meant, words = _one(words)
    while words[:1] and words[0].upper() == "AND":
        other, words = _one(words[1:])
        meant = meant and other
    return meant, words


def _one(words: list[str]) -> tuple[bool, list[str]]:
    if not words:
        return False, []
    if words[0] == "(":
        meant, left = _either(words[1:])
        return (meant, left[1:]) if left[:1] == [")"] else (False, left)
    left = words[1:]
    if left[:1] and left[0].upper() == "WITH":  # an exception only ever allows more
        left = left[2:]
    return words[0] in ALLOWED, left


def installed(package: str, extras: Iterable[str]) -> dict[str, Distribution]:
    """The package and everything it requires with these extras, as far as it is installed here."""
    found: dict[str, Distribution] = {}
    waiting: list[tuple[str, frozenset[str]]] = [(package, frozenset(extras))]
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        name, wanted = waiting.pop()
        if (name, wanted) in seen:
            continue
        seen.add((name, wanted))
        try:
            found[name] = distribution(name)
        except PackageNotFoundError:  # a requirement of another platform
            continue
        for line in found[name].requires or []:
            required = Requirement(line)
            if required.marker is None or any(required.marker.evaluate({"extra": extra}) for extra in {*wanted, ""}):
                waiting.append((str(canonicalize_name(required.name)), frozenset(required.extras)))
    return found


def main() -> None:
    """Print one line per package; the exit code is 1 when any licence is not allowed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--extra", action="append", default=[], help="of this package; may be given again")
    options = parser.parse_args()
    found = installed(PACKAGE, options.extra)
    if set(found) <= {PACKAGE}:
        sys.exit(f"nothing is installed that {PACKAGE} requires; install it first")
    licences = {name: licence_of(one) for name, one in sorted(found.items())}
    for name, expression in licences.items():
        print(f"{'ok ' if allowed(expression) else 'NOT'} {name} {found[name].version}: {expression or 'says nothing'}")
    refused = [name for name, expression in licences.items() if not allowed(expression)]
    print(f"{len(licences)} packages, {len(refused)} to look at" + (f": {', '.join(refused)}" if refused else ""))
    sys.exit(1 if refused else 0)


if __name__ == "__main__":
    main()
