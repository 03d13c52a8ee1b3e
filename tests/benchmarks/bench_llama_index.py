"""Cost of an evaluator in LlamaIndex's BatchEvalRunner: the built-in one, a minimal one, and our panel of three.

Run it from the repository: ``python tests/benchmarks/bench_llama_index.py``. Every job evaluates the same 256 answers
with the same asynchronous mock LLM, which answers after 0 or 50 ms. The jobs take turns in several rounds, each with
texts of its own; the median is reported. A *call* is one question to an LLM: the built-in evaluator asks once per
answer, the panel and the minimal evaluator beside it three times at once. CPU is that of this process.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import statistics
import warnings
from collections.abc import Callable
from time import perf_counter, process_time
from typing import Any

warnings.simplefilter("ignore")

from llama_index.core.evaluation import BatchEvalRunner, FaithfulnessEvaluator  # noqa: E402
from llama_index.core.evaluation.base import BaseEvaluator, EvaluationResult  # noqa: E402
from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata  # noqa: E402
from llama_index.core.llms.callbacks import llm_completion_callback  # noqa: E402

from jury_adapters import Limits  # noqa: E402
from jury_adapters.llama_index import JuryFaithfulnessEvaluator  # noqa: E402

ITEMS = 256
REPLY = "Answer: YES\nReasoning: the context says so."
ROOMY = Limits(max_concurrency=256)  # by default a model is called 64 times at once, and 64 workers would queue for it
CONTEXT = "Paris is the capital and largest city of France, with a population of over two million. " * 4


class Mock(CustomLLM):
    """Answers YES after a while, truly asynchronously."""

    name: str = "mock"
    delay: float = 0.0

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(context_window=8192, num_output=64, model_name=self.name)

    @llm_completion_callback()
    async def acomplete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        await asyncio.sleep(self.delay)
        return CompletionResponse(text=REPLY)

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        return CompletionResponse(text=REPLY)

    @llm_completion_callback()
    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        yield CompletionResponse(text=REPLY)


class Minimal(BaseEvaluator):
    """The least an evaluator can do: ask every LLM at once, and look for a word."""

    def __init__(self, *llms: CustomLLM) -> None:
        self._llms = llms

    def _get_prompts(self) -> dict[str, Any]:
        return {}

    def _update_prompts(self, prompts: dict[str, Any]) -> None:
        raise AssertionError("the benchmark changes no prompts")

    async def aevaluate(
        self, query: Any = None, response: Any = None, contexts: Any = None, **kwargs: Any
    ) -> EvaluationResult:
        prompt = f"{query}\n{contexts}\n{response}\nIs it so, YES or NO?"
        replies = await asyncio.gather(*(llm.acomplete(prompt) for llm in self._llms))
        votes = sum("YES" in reply.text for reply in replies)
        passing = votes * 2 > len(replies)
        return EvaluationResult(
            query=query, response=response, contexts=contexts, passing=passing, score=float(passing), feedback="so"
        )


def jobs(delay: float) -> dict[str, tuple[int, Callable[[], BaseEvaluator]]]:
    """Each job's calls per answer, and its evaluator."""
    first, *others = llms = [Mock(name=f"mock-{number}", delay=delay) for number in range(3)]
    assert len(others) == 2
    return {
        "built-in FaithfulnessEvaluator": (1, lambda: FaithfulnessEvaluator(llm=first)),
        "minimal evaluator, 1 call": (1, lambda: Minimal(first)),
        "minimal evaluator, 3 calls at once": (3, lambda: Minimal(*llms)),
        "JuryFaithfulnessEvaluator, 1 juror": (1, lambda: JuryFaithfulnessEvaluator(llm=first, limits=ROOMY)),
        "JuryFaithfulnessEvaluator, panel of 3": (3, lambda: JuryFaithfulnessEvaluator(llms=llms, limits=ROOMY)),
    }


async def evaluate(evaluator: BaseEvaluator, workers: int, salt: str) -> None:
    """Evaluate all answers in one batch."""
    results = await BatchEvalRunner({"faithful": evaluator}, workers=workers).aevaluate_response_strs(
        queries=[f"What is the capital of France? {salt} {number}" for number in range(ITEMS)],
        response_strs=[f"Paris is the capital, says number {number} of {salt}." for number in range(ITEMS)],
        contexts_list=[[f"{CONTEXT} {salt} {number}"] for number in range(ITEMS)],
    )
    assert [result.passing for result in results["faithful"]] == [True] * ITEMS


def measure(delay: float, workers: int, rounds: int) -> None:
    """Run every job with this latency and so many workers, and print the table."""
    found = {name: (calls, make()) for name, (calls, make) in jobs(delay).items()}
    cpu: dict[str, list[float]] = {name: [] for name in found}
    wall: dict[str, list[float]] = {name: [] for name in found}
    for round_number in range(rounds + 1):  # the first one warms up
        for name, (_, evaluator) in found.items():
            gc.collect()
            gc.freeze()  # LlamaIndex's 1,300 modules: no job shall pay for collecting them because its turn came
            started, began = process_time(), perf_counter()
            asyncio.run(evaluate(evaluator, workers, f"round {round_number}"))
            if round_number:
                cpu[name].append(process_time() - started)
                wall[name].append(perf_counter() - began)
    report(delay, workers, {name: calls for name, (calls, _) in found.items()}, cpu, wall)


def report(
    delay: float, workers: int, calls: dict[str, int], cpu: dict[str, list[float]], wall: dict[str, list[float]]
) -> None:
    """Print one table: medians, and each job's ratio to the job it is compared with."""
    built_in, _, minimal, *_ = calls
    seconds = {name: statistics.median(taken) for name, taken in wall.items()}
    each = {name: statistics.median(taken) / ITEMS / calls[name] * 1e6 for name, taken in cpu.items()}
    print(f"\n{delay * 1000:.0f} ms latency, {workers} workers, {ITEMS} answers")
    print(
        f"{'':40}{'CPU us / answer':>16}{'CPU us / call':>14}{'built-in / it':>14}{'answers / s':>12}{'x minimal':>10}"
    )
    for name, count in calls.items():
        against = seconds[name] / seconds[minimal] if count == calls[minimal] else None
        print(
            f"{name:40}{each[name] * count:16.0f}{each[name]:14.0f}{each[built_in] / each[name]:14.1f}"
            f"{ITEMS / seconds[name]:12.0f}{'' if against is None else f'{against:.2f}':>10}"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="counted rounds per job (5)")
    parser.add_argument("--latency", type=float, nargs="*", default=[0.0, 0.05], help="seconds (0 0.05)")
    parser.add_argument("--workers", type=int, nargs="*", default=[8, 64], help="workers of the runner (8 64)")
    arguments = parser.parse_args()
    for latency in arguments.latency:
        for number_of_workers in arguments.workers:
            measure(latency, number_of_workers, arguments.rounds)
