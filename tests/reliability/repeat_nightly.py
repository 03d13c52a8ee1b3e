"""Run the suite many times, and report each test that fails even once.

    python tests/reliability/repeat_nightly.py --runs 20

A test that fails in one run of twenty depends on luck. The exit code is 1 if there is one, or if a run ends without its
results, for example because it hangs.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the suite as often as asked, and print what failed; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--timeout", type=float, default=3600.0, help="seconds of one run")
    parser.add_argument("pytest", nargs="*", default=["tests"], help="arguments of pytest, behind --")
    given = parser.parse_args(arguments)
    failures: Counter[str] = Counter()
    for number in range(1, given.runs + 1):
        failed = failures_of_run(given.pytest, given.timeout)
        failures.update(failed)
        print(f"run {number} of {given.runs}: {len(failed)} failed", *sorted(failed), sep="\n  ", flush=True)
    if not failures:
        print(f"no test failed in {given.runs} runs")
        return 0
    print("\nfailed at least once:")
    for name, count in failures.most_common():
        print(f"  {count} of {given.runs}  {name}")
    return 1


def failures_of_run(arguments: Sequence[str], timeout: float) -> set[str]:
    """Run pytest once; return the tests that failed, or that the run had no results."""
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder, "results.xml")
        command = [sys.executable, "-m", "pytest", f"--junitxml={results}", "-p", "no:cacheprovider", *arguments]
        try:
            done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=timeout)
        except subprocess.TimeoutExpired:
            return {f"(the whole run: no end within {timeout:g} s)"}
        if not results.exists():
            return {f"(the whole run: exit code {done.returncode}: {done.stdout[-500:]}{done.stderr[-500:]})"}
        failed = failed_in(results.read_text(encoding="utf-8"))
    if done.returncode and not failed:
        return {f"(the whole run: exit code {done.returncode}: {done.stdout[-500:]}{done.stderr[-500:]})"}
    return failed


def failed_in(results: str) -> set[str]:
    """Return the names of the tests that failed, from pytest's JUnit report."""
    cases = ElementTree.fromstring(results).iter("testcase")
    return {
        f"{case.get('classname')}::{case.get('name')}"
        for case in cases
        if case.find("failure") is not None or case.find("error") is not None
    }


if __name__ == "__main__":
    sys.exit(main())
