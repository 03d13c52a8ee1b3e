"""Known vulnerabilities of what is installed: ``python tests/security/audit.py FOLDER_OF_SITE_PACKAGES``.

Runs ``pip-audit`` and reads its answer more strictly than its exit code does: behind a mirror that has packages and no
vulnerability data, pip-audit says "No known vulnerabilities found", although it could look up nothing. So this says
how many packages were looked up. Findings fail. A service that cannot be reached is said aloud, and fails with
``--require``.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path


def main() -> None:
    """Exit code 1: a vulnerability is known. 2: ``--require``, and not every package could be looked up."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("site_packages", type=Path)
    parser.add_argument("--require", action="store_true", help="fail when packages could not be looked up")
    options = parser.parse_args()
    command = [sys.executable, "-m", "pip_audit", "--format", "json", "--progress-spinner", "off"]
    told = subprocess.run(
        [*command, "--path", str(options.site_packages)], capture_output=True, text=True, timeout=600, check=False
    )
    try:
        packages = json.loads(told.stdout)["dependencies"]
    except (ValueError, KeyError):
        print(f"AUDIT NOT MADE: {told.stderr.strip().splitlines()[-1:] or 'no answer'}")
        sys.exit(2 if options.require else 0)
    sys.exit(judge(packages, require=options.require))


def judge(packages: list[dict[str, object]], *, require: bool) -> int:
    """Say what was found, and the exit code."""
    looked_up = [package for package in packages if "vulns" in package]
    findings = [package for package in looked_up if package["vulns"]]
    for package in findings:
        print(f"VULNERABLE {package['name']} {package.get('version')}: {json.dumps(package['vulns'])[:500]}")
    missed = sorted(str(package["name"]) for package in packages if "vulns" not in package)
    print(f"{len(looked_up)} of {len(packages)} packages looked up, {len(findings)} with known vulnerabilities")
    if missed:
        heading = "AUDIT NOT MADE, no package could be looked up" if not looked_up else "not looked up"
        print(f"{heading}: {', '.join(missed[:20])}{' ...' if len(missed) > 20 else ''}")
    return 1 if findings else 2 if missed and require else 0


if __name__ == "__main__":
    main()
