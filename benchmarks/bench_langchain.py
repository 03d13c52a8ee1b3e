"""What a handler costs: processor time of a RAG chain and of an agent, beside version 0.2, in one run.

Each round runs both versions in turn, in processes of their own. In a process, each call is made without a handler,
with one that samples nothing, and with one that judges each run, in turn. Time is that of the processor in all threads,
which other processes hardly change; where runs are judged, it includes the judging in the background. Printed are
medians in microseconds, and the medians of the ratios of the rounds.

Usage: python benchmarks/bench_langchain.py FOLDER_OF_0.2 [ROUNDS] [CALLS]
"""

import json
import os
import statistics
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

HERE = Path(__file__).resolve()
KINDS = ("no handler", "not sampled", "judged")


def applications() -> dict[str, Callable[[dict[str, Any]], Any]]:
    """Return a RAG chain and an agent with one call of a tool, whose models answer at once."""
    tests = HERE.parents[1] / "tests"
    sys.path[:0] = [str(tests / "langchain"), str(tests)]
    import langchain_support as support
    from scripted import HONEST

    chain, question = support.rag(HONEST)
    chat = support.model("unused")
    chat.reply = lambda messages: HONEST if len(messages) > 1 else support.call("pages", query="ferry")
    agent = support.create_agent(chat, [support.pages])
    chain.steps[2].calls = Forgets()
    chat.calls = Forgets()
    return {
        "RAG chain": lambda config: chain.invoke(question, config),
        "agent": lambda config: agent.invoke(support.ASKED, config),
    }


async def passes(case: Any) -> bool:
    """Judge nothing, on the event loop, so that the handler is measured and not the judge."""
    return True


class Forgets(list[Any]):
    """List that keeps nothing, so that the scripted model does not fill the memory."""

    def append(self, _: Any) -> None:
        """Keep nothing."""


def measure(calls: int) -> dict[str, float]:
    """Return the median microseconds of the processor for a call, by application and kind of handler."""
    warnings.simplefilter("ignore")
    from jury_adapters.langchain import JuryCallbackHandler

    found = {}
    for name, run in applications().items():
        handlers = {"not sampled": JuryCallbackHandler(passes, sample=0.0), "judged": JuryCallbackHandler(passes)}
        times: dict[str, list[float]] = {kind: [] for kind in KINDS}
        for number in range(calls + 20):
            for kind in KINDS:
                config = {"callbacks": [handlers[kind]]} if kind in handlers else {}
                start = process_time()
                run(config)
                handlers["judged"].flush(30)
                if number >= 20:  # the first calls warm up
                    times[kind].append(process_time() - start)
        found |= {f"{name}, {kind}": statistics.median(each) * 1e6 for kind, each in times.items()}
        handlers["judged"].close()
    return found


def main(old: str, rounds: int, calls: int) -> None:
    """Run both versions in turn, and print medians and ratios."""
    results: dict[str, list[dict[str, float]]] = {"0.2": [], "1.0": []}
    for _ in range(rounds):
        for version, path in (("0.2", old), ("1.0", str(HERE.parents[1]))):
            command = [sys.executable, str(HERE), "measure", str(calls)]
            environment = {**os.environ, "PYTHONPATH": path}
            run = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, cwd=path)
            results[version].append(json.loads(run.stdout.splitlines()[-1]))
    print(f"{'':24}{'0.2':>8}{'1.0':>8}   {rounds} rounds of {calls} calls, median microseconds")
    for name in results["1.0"][0]:
        old_time, new_time = (statistics.median(one[name] for one in results[version]) for version in results)
        print(f"{name:24}{old_time:8.0f}{new_time:8.0f}")
    for application in ("RAG chain", "agent"):
        for kind in KINDS[1:]:
            ratios = {
                version: [one[f"{application}, {kind}"] / one[f"{application}, no handler"] for one in each]
                for version, each in results.items()
            }
            said = ", ".join(
                f"{version} {statistics.median(each):.2f} ({min(each):.2f} to {max(each):.2f})"
                for version, each in ratios.items()
            )
            print(f"{application}, {kind}, as a multiple of no handler: {said}")


if __name__ == "__main__":
    if sys.argv[1] == "measure":
        print(json.dumps(measure(int(sys.argv[2]))))
    else:
        main(sys.argv[1], *(int(one) for one in (*sys.argv[2:], *("5", "200")[len(sys.argv) - 2 :])))
