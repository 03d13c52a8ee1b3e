"""The offline screen on FaithBench and on the changed answers of the audit, beside the screen of version 0.2.

    .venv/bin/python benchmarks/screen.py DATA [PYTHON_OF_0_2]

DATA is the folder of ``faithbench_dev.jsonl.gz`` (CC BY-NC-SA: it is read there and copied nowhere). The second
argument is the interpreter of an environment with version 0.2; without it, the columns of 0.2 are left out.
"""

import gzip
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

_ASK = """
import json, sys
from jury_adapters.grounding import grounding_screen
screen = grounding_screen()
for line in sys.stdin:
    print(screen.judge(**json.loads(line)).status, flush=True)
"""
_FIELDS = ("question", "answer", "contexts")


def statuses(python: str, cases: list[dict[str, Any]]) -> list[str]:
    """Return what the screen of an environment says of cases."""
    lines = "".join(json.dumps({name: case.get(name) for name in _FIELDS}) + "\n" for case in cases)
    ran = subprocess.run([python, "-c", _ASK], input=lines, capture_output=True, text=True, check=True, cwd="/")
    return [line.rpartition(".")[2] for line in ran.stdout.split()]


def rates(cases: list[dict[str, Any]], said: list[str]) -> str:
    """Return the figures of FaithBench: an abstention counts as half right in the balanced accuracy."""
    wrong = [case["gold"] == "hallucinated" for case in cases]
    failed = [bad for bad, status in zip(wrong, said, strict=True) if status == "FAIL"]
    worth = {True: {"FAIL": 1.0, "ABSTAIN": 0.5}, False: {"PASS": 1.0, "ABSTAIN": 0.5}}
    sides = [
        [worth[side].get(status, 0.0) for bad, status in zip(wrong, said, strict=True) if bad is side]
        for side in (True, False)
    ]
    balanced = 50 * sum(sum(side) / len(side) for side in sides)
    return (
        f"fails {100 * len(failed) / len(said):.1f} %, of these right {100 * sum(failed) / max(1, len(failed)):.1f} %, "
        f"passes {said.count('PASS')}, balanced {balanced:.1f}"
    )


def main() -> None:
    """Print both tables."""
    from jury_adapters.audit import plan_probes
    from jury_adapters.grounding import grounding_screen

    pythons = {"1.0": sys.executable, **dict(zip(("0.2",), sys.argv[2:], strict=False))}
    with gzip.open(Path(sys.argv[1]) / "faithbench_dev.jsonl.gz", "rt", encoding="utf-8") as file:
        cases = [json.loads(line) for line in file]
    began = time.perf_counter()
    for case in cases:
        grounding_screen().judge(answer=case["answer"], contexts=case["contexts"])
    print(f"FaithBench, {len(cases)} answers; {1000 * (time.perf_counter() - began) / len(cases):.1f} ms a case")
    for version, python in pythons.items():
        print(f"  {version}: {rates(cases, statuses(python, cases))}")

    probes = [one for one in plan_probes(grounding_screen()) if one.kind in ("original", "wrong", "right")]
    said = {version: statuses(python, [one.case.model_dump() for one in probes]) for version, python in pythons.items()}
    print(f"FAIL among the audit's answers ({', '.join(said)})")
    for kind, operator in dict.fromkeys((one.kind, one.operator) for one in probes):
        places = [place for place, one in enumerate(probes) if (one.kind, one.operator) == (kind, operator)]
        failed = "  ".join(f"{sum(found[place] == 'FAIL' for place in places):3}" for found in said.values())
        print(f"  {kind:9} {operator:17} of {len(places):3}: {failed}")


if __name__ == "__main__":
    main()
