"""Check every name of another package in docs/comparison.md against the package itself, without installing it.

    python tests/compat/comparison_nightly.py

It downloads the wheels in the versions that the page names, and searches their source code. Needs a package registry.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

sys.path.insert(0, str(Path(__file__).parents[1]))
from support.comparison import VERSIONS, names_of, undefined


def sources(wheels: Path) -> Iterator[str]:
    """Yield the Python files of all wheels in a folder."""
    for wheel in sorted(wheels.glob("*.whl")):
        with ZipFile(wheel) as archive:
            for name in archive.namelist():
                if name.endswith(".py"):
                    yield archive.read(name).decode("utf-8", errors="replace")


def main() -> int:
    """Print the names that are missing, and return 1 if there are any."""
    failed = False
    for column, distributions in VERSIONS.items():
        with TemporaryDirectory() as folder:
            download = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:"]
            subprocess.run([*download, "-d", folder, *distributions], check=True)
            names = names_of(column)
            missing = undefined(names, sources(Path(folder)))
        print(f"{column}: {len(names) - len(missing)} of {len(names)} names", *missing, sep="\n  missing: ")
        failed = failed or bool(missing) or not names
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
