"""Coverage-guided fuzzing: ``python tests/fuzz/fuzz_nightly.py --seconds 600 [target ...]``.

Needs ``atheris`` (``pip install atheris``; Linux, x86-64). Each target runs in a process of its own for so many
seconds, begins with ``tests/fuzz/corpus/<target>``, and stops at the first finding: the input stands in the folder of
findings, to be turned into a test. Inputs take at most 10 seconds and 2 GB.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

NAMES = ("reply", "rubric", "jury", "prompt", "results", "rows")


def main() -> None:
    """Fuzz the targets one after the other; the exit code is the number of targets with a finding."""
    if sys.argv[1:2] == ["--inside"]:
        fuzz(sys.argv[2], sys.argv[3:])
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", default=[], metavar="target", help=f"of {', '.join(NAMES)}; default: all")
    parser.add_argument("--seconds", type=float, default=600, help="for each target")
    parser.add_argument("--seed", type=int, default=0, help="of the fuzzer; 0 for another one each time")
    parser.add_argument("--findings", type=Path, default=Path("fuzz-findings"), help="where inputs that fail are kept")
    options = parser.parse_args()
    unknown = sorted(set(options.targets) - set(NAMES))
    if unknown:
        parser.error(f"no such target: {', '.join(unknown)}; there are {', '.join(NAMES)}")
    failed = [name for name in options.targets or NAMES if not apart(name, options)]
    print(f"findings in {', '.join(failed)}; see {options.findings}/" if failed else "no findings", flush=True)
    sys.exit(len(failed))


def apart(name: str, options: argparse.Namespace) -> bool:
    """Fuzz one target in a process of its own; whether it found nothing."""
    options.findings.mkdir(parents=True, exist_ok=True)
    print(f"--- {name}", flush=True)
    with tempfile.TemporaryDirectory() as found:  # what libFuzzer adds to the corpus; the seeds stay as they are
        command = [
            sys.executable, __file__, "--inside", name,
            found, str(HERE / "corpus" / name),
            f"-max_total_time={max(1, round(options.seconds))}", "-timeout=10", "-rss_limit_mb=2048", "-max_len=4096",
            f"-artifact_prefix={options.findings}/{name}-", f"-dict={HERE / 'words.dict'}", "-print_final_stats=1",
        ]  # fmt: skip
        if options.seed:
            command.append(f"-seed={options.seed}")
        told = subprocess.run(command, stderr=subprocess.PIPE, text=True, errors="replace", check=False)
    lines = told.stderr.splitlines()
    stats = [line for line in lines if any(name in line for name in ("number_of_executed", "slowest_unit", "peak_rss"))]
    covered = [line for line in lines if " cov: " in line][-1:]
    print("\n".join([*covered, *stats] if told.returncode == 0 else lines[-60:]), flush=True)
    return told.returncode == 0


def fuzz(name: str, further: list[str]) -> None:
    """Hand one target to atheris, with the package instrumented, for ever or until the time is over."""
    import atheris

    with atheris.instrument_imports(include=["jury_adapters", "yaml", "json", "targets"]):
        from targets import TARGETS

    atheris.Setup([sys.argv[0], *further], TARGETS[name])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
