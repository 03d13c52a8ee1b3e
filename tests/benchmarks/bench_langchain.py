"""Overhead of judging beside the peers, with a model that costs nothing; prints a Markdown table.

    python tests/benchmarks/bench_langchain.py [--calls N] [--rounds N]

All ways ask the same fake chat model, without network or latency, so that only overhead remains. The numbers are
microseconds of CPU of this process per call of a juror, from the best round of each way. The rounds take turns, so that
a busy machine affects all ways alike. No row is repeated before 500 others. The first lines are the time of the model
itself. Structured answers are compared with openevals and text with langchain_classic, each synchronous and
asynchronous. The last lines are ours with a model that is not a LangChain model, beside openevals.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import sys
import time
import uuid
import warnings
from collections.abc import Callable, Iterator
from importlib.metadata import version
from itertools import count, cycle
from pathlib import Path
from statistics import median
from typing import Literal

from langchain_core.messages import HumanMessage
from langsmith.schemas import Example, Run

sys.path.insert(0, str(Path(__file__).parents[1]))
from support.judge_model import YES, TextJudgeModel, judge_model

from jury_adapters import Critic, Ensemble, Usage
from jury_adapters.langchain import JuryEvaluator
from jury_adapters.models.base import Options, Prompt, Reply, Schema

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from langchain_classic.evaluation import CriteriaEvalChain
    from openevals import create_async_llm_as_judge, create_llm_as_judge

NUMBERS = count()
SCHEMA = {
    "title": "verdict", "description": "the verdict", "type": "object",
    "properties": {"reasoning": {"type": "string"}, "score": {"type": "boolean"}}, "required": ["reasoning", "score"],
}  # fmt: skip
PROMPT = "Does the answer address the question?\n{inputs}\n{outputs}"

Round = Callable[[int], None]
Mode = Literal["structured", "text", "direct"]


def row() -> dict[str, dict[str, str]]:
    """A row like no other."""
    number = next(NUMBERS)
    return {"inputs": {"question": f"What is {number} + 1?"}, "outputs": {"answer": f"{number} + 1 is {number + 1}."}}


def strings() -> dict[str, str]:
    """A row as langchain_classic takes it."""
    found = row()
    return {"prediction": found["outputs"]["answer"], "input": found["inputs"]["question"]}


def runs_and_examples() -> Iterator[tuple[Run, Example]]:
    """Rows as langsmith hands them over, made beforehand, because making them is not part of judging."""
    made = []
    for found in (row() for _ in range(500)):
        run = Run.model_construct(id=uuid.uuid4(), inputs=found["inputs"], outputs=found["outputs"], error=None)
        made.append((run, Example.model_construct(id=uuid.uuid4(), inputs=found["inputs"], outputs={})))
    return cycle(made)


def sync_round(call: Callable[[], object]) -> Round:
    """Call it so many times."""

    def run(calls: int) -> None:
        for _ in range(calls):
            call()

    return run


def async_round(call: Callable[[], object]) -> Round:
    """Await it so many times, in one loop."""

    async def several(calls: int) -> None:
        for _ in range(calls):
            await call()

    return lambda calls: asyncio.run(several(calls))


def panel(size: int, mode: Mode) -> Critic | Ensemble:
    """One critic, or so many with a model each."""
    makes = {"structured": judge_model, "text": TextJudgeModel, "direct": PlainModel}
    models = [makes[mode](model_name=f"m{i}") for i in range(size)]
    critics = [Critic(model, "answer_relevance", name=f"c{i}") for i, model in enumerate(models)]
    return critics[0] if size == 1 else Ensemble(critics, name="panel")


def model_ways() -> dict[str, tuple[Round, int]]:
    """The model alone, in the ways in which judges call it."""
    text, called = judge_model("Y"), judge_model({"reasoning": "r", "score": True})
    bound = called.with_structured_output(SCHEMA)
    messages = [HumanMessage(PROMPT)]
    return {
        "the model: invoke": (sync_round(lambda: text.invoke(messages)), 1),
        "the model: ainvoke": (async_round(lambda: text.ainvoke(messages)), 1),
        "the model: structured, bound once": (sync_round(lambda: bound.invoke(messages)), 1),
        "the model: structured, bound once, ainvoke": (async_round(lambda: bound.ainvoke(messages)), 1),
    }


def peer_ways() -> dict[str, tuple[Round, int]]:
    """The peers."""
    judge = judge_model({"reasoning": "r", "score": True})
    sync_judge = create_llm_as_judge(prompt=PROMPT, judge=judge)
    async_judge = create_async_llm_as_judge(prompt=PROMPT, judge=judge)
    criteria = CriteriaEvalChain.from_llm(criteria="relevance", llm=judge_model("It does.\nY"))
    return {
        "openevals: create_llm_as_judge": (sync_round(lambda: sync_judge(**row())), 1),
        "openevals: create_async_llm_as_judge": (async_round(lambda: async_judge(**row())), 1),
        "langchain_classic: criteria": (sync_round(lambda: criteria.evaluate_strings(**strings())), 1),
        "langchain_classic: criteria, async": (async_round(lambda: criteria.aevaluate_strings(**strings())), 1),
    }


class PlainModel:
    """A model of our own kind that answers at once and remembers nothing."""

    vendor = "test"

    def __init__(self, model_name: str) -> None:
        self.model = model_name
        self.name = f"test:{model_name}"
        self._reply = Reply(json.dumps(YES), usage=Usage(100, 10, calls=1), model=model_name)

    async def complete(self, prompt: Prompt, schema: Schema | None = None, options: Options = Options()) -> Reply:
        return self._reply


def our_ways(size: int, mode: Mode) -> dict[str, tuple[Round, int]]:
    """Ours: one critic or a panel, in each form."""
    what = f"{mode}, one critic" if size == 1 else f"{mode}, panel of {size}"
    jury = panel(size, mode)
    evaluator = JuryEvaluator(jury)
    rows = runs_and_examples()
    return {
        f"ours: {what}, call": (sync_round(lambda: evaluator(**row())), size),
        f"ours: {what}, async call": (async_round(lambda: evaluator.acall(**row())), size),
        f"ours: {what}, JuryEvaluator": (sync_round(lambda: evaluator.evaluate_run(*next(rows))), size),
        f"ours: {what}, JuryEvaluator, async": (
            async_round(lambda: evaluator.aevaluate_run(*next(rows))),
            size,
        ),
    }


def measure(ways: dict[str, tuple[Round, int]], calls: int, rounds: int) -> dict[str, list[float]]:
    """Microseconds of CPU per juror call, round by round; each way is warmed up first."""
    for run, _ in ways.values():
        run(20)
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, (run, jurors) in ways.items():
            gc.collect()
            started = time.process_time()
            run(calls)
            taken[name].append((time.process_time() - started) / (calls * jurors) * 1e6)
    return taken


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    for name in os.environ:
        if name.startswith(("LANGSMITH", "LANGCHAIN")):
            del os.environ[name]
    ways = {**model_ways(), **peer_ways()}
    for mode in ("structured", "text", "direct"):
        ways |= {**our_ways(1, mode), **our_ways(3, mode)}
    taken = measure(ways, arguments.calls, arguments.rounds)
    names = ("langchain-core", "langchain-classic", "langsmith", "openevals")
    print(", ".join(f"{name} {version(name)}" for name in names), end="\n\n")
    print("| way | µs per juror call: best | median | times the peer |")
    print("| --- | ---: | ---: | ---: |")
    for name, times in taken.items():
        peer = peer_of(name)
        beside = f"{min(times) / min(taken[peer]):.2f}" if peer else ""
        print(f"| {name} | {min(times):.0f} | {median(times):.0f} | {beside} |")


def peer_of(name: str) -> str | None:
    """The peer who does the same as one of our ways."""
    if not name.startswith("ours"):
        return None
    sync = "async" not in name
    if "text" in name:
        return "langchain_classic: criteria" if sync else "langchain_classic: criteria, async"
    return "openevals: create_llm_as_judge" if sync else "openevals: create_async_llm_as_judge"


if __name__ == "__main__":
    main()
