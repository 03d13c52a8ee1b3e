"""Check the packages beside this interpreter: their licences, and what pip-audit wrote about them.

Usage: python dependencies.py AUDIT.json
"""

import json
import re
import sys
from importlib.metadata import Distribution, distributions
from pathlib import Path

# Permissive licences, and those that ask for changes of their own files only, as packages write them.
ALLOWED = """
0BSD, Academic Free License AFL, Apache Software License, Apache-2.0, BSD License, BSD-2-Clause, BSD-3-Clause, CC0-1.0,
CNRI-Python, ISC, ISC License ISCL, MIT, MIT License, MIT-CMU, MPL-2.0, Mozilla Public License 2.0 MPL 2.0, PSF-2.0,
Python Software Foundation License, Zlib
"""
BY_PACKAGE = {"psycopg": "LGPL-3.0-only", "psycopg-binary": "LGPL-3.0-only"}  # of the extra that says so


def licences(package: Distribution) -> set[str]:
    """Return the names of all licences of a package: of its expression, its classifiers, or its text."""
    facts = package.metadata
    kinds = [name.rsplit(" :: ", 1)[1] for name in facts.get_all("Classifier", []) if name.startswith("License ::")]
    text = "; ".join(facts.get_all("License-Expression", []) or kinds) or "".join(facts.get_all("License", []))
    return set(re.split(r" (?:AND|OR|WITH) |; ", re.sub(r"[()]", "", text or "none").splitlines()[0]))


def main(audit: Path) -> int:
    """Print what is wrong, and return the exit code."""
    allowed, packages = set(re.split(r",\s", ALLOWED.strip())), [*distributions()]
    found = {one.name: licences(one) - allowed - {BY_PACKAGE.get(one.name)} for one in packages}
    strange = {name: names for name, names in found.items() if names}
    print(f"licences of {len(packages)} packages; not allowed: {strange or 'none'}")
    audited = json.loads(audit.read_text() or '{"dependencies": []}')["dependencies"]
    known = [one for one in audited if "vulns" in one]
    hurt = {one["name"]: [found["id"] for found in one["vulns"]] for one in known if one["vulns"]}
    reached = f"advisories of {len(known)} packages; known vulnerabilities: {hurt or 'none'}"
    print(reached if known else "advisories of no package: their service cannot be reached, so nothing is known")
    return 1 if strange or hurt else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
