"""One judge over HTTP, asked by packages that do the same: CPU, time under faults, lost judgments, start-up, memory.

Each way judges whether an answer is faithful to a passage, with one request per judgment, 64 at once, in an environment
and a process of its own. The servers are those of ``servers.py``, and answer in the form that a request asks for. A
judgment that is an exception, or nothing, is lost. Rounds are interleaved, and medians count.

    python benchmarks/bench_peers.py FOLDER [ROUNDS]

The folder has an environment for each package: ``autoevals``, ``deepeval``, ``llama_index`` (llama-index-core,
llama-index-llms-openai), ``openevals`` (with langchain-openai), ``ours`` (jury-adapters[openai]), ``pydantic_evals``
(with pydantic-ai-slim[openai]), ``ragas``. One that is missing is left out.
"""

import asyncio
import json
import resource
import statistics
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from servers import says, serving

CASES = {"fast": 600, "faults": 600}
IN_FLIGHT = 64
PASSAGE = "The ferry between the islands stopped running in 2018, after forty years. " * 30
RUBRIC = "The answer says only what the context says."
MODEL = "gpt-4o-mini"

Judge = Callable[[int], Awaitable[Any]]


def example(schema: dict[str, Any], definitions: dict[str, Any]) -> Any:
    """Return a value that follows a JSON schema."""
    schema = definitions.get(str(schema.get("$ref", "")).rpartition("/")[2], schema)
    if "enum" in schema:
        return next((word for word in ("A", "YES", "pass", "yes") if word in schema["enum"]), schema["enum"][0])
    if "anyOf" in schema:
        return example(schema["anyOf"][0], definitions)
    kind = schema.get("type", "object")
    if kind == "object":
        return {name: example(part, definitions) for name, part in schema.get("properties", {}).items()}
    return {"string": "The passage says so.", "boolean": True, "array": [], "null": None}.get(str(kind), 1)


def reply_to(body: bytes) -> dict[str, Any]:
    """Return the message that a request asks for: a call of its tool, an object of its schema, or text."""
    asked = json.loads(body)
    if tools := asked.get("tools"):
        function = tools[0]["function"]
        arguments = example(function["parameters"], function["parameters"].get("$defs", {}))
        call = {
            "id": "c",
            "type": "function",
            "function": {"name": function["name"], "arguments": json.dumps(arguments)},
        }
        return {"role": "assistant", "content": None, "tool_calls": [call]}
    schema = asked.get("response_format", {}).get("json_schema", {}).get("schema")
    told = (
        "YES"
        if "YES or NO" in asked["messages"][-1]["content"]
        else '{"reason": "It says so.", "score": 10, "value": "pass"}'
    )
    return says(json.dumps(example(schema, schema.get("$defs", {}))) if schema else told)


def question(number: int) -> str:
    return f"Question {number}: when?"


def autoevals(url: str) -> Judge:
    """Autoevals' closed question, which has no context of its own."""
    import openai
    from autoevals import Factuality

    judge = Factuality(client=openai.AsyncOpenAI(api_key="k", base_url=url), model=MODEL)

    async def ask(number: int) -> Any:
        return (await judge.eval_async("In 2018.", PASSAGE, input=question(number))).score

    return ask


def deepeval(url: str) -> Judge:
    """DeepEval's GEval with given steps, which makes one request."""
    from deepeval.metrics import GEval
    from deepeval.models import OpenAIModel
    from deepeval.test_case import LLMTestCase, SingleTurnParams

    model = OpenAIModel(model=MODEL, api_key="k", base_url=url)
    parts = [SingleTurnParams.INPUT, SingleTurnParams.ACTUAL_OUTPUT, SingleTurnParams.CONTEXT]

    async def ask(number: int) -> Any:
        judge = GEval(name="faithful", evaluation_steps=[RUBRIC], evaluation_params=parts, model=model)
        case = LLMTestCase(input=question(number), actual_output="In 2018.", context=[PASSAGE])
        return await judge.a_measure(case, _show_indicator=False)

    return ask


def llama_index(url: str) -> Judge:
    """LlamaIndex's evaluator of faithfulness."""
    from llama_index.core.evaluation import FaithfulnessEvaluator
    from llama_index.llms.openai import OpenAI

    judge = FaithfulnessEvaluator(llm=OpenAI(model=MODEL, api_key="k", api_base=url))

    async def ask(number: int) -> Any:
        return (await judge.aevaluate(query=question(number), response="In 2018.", contexts=[PASSAGE])).score

    return ask


def openevals(url: str) -> Judge:
    """Openevals' judge of groundedness."""
    from langchain_openai import ChatOpenAI
    from openevals.llm import create_async_llm_as_judge
    from openevals.prompts import RAG_GROUNDEDNESS_PROMPT

    model = ChatOpenAI(model=MODEL, api_key="k", base_url=url)
    judge = create_async_llm_as_judge(prompt=RAG_GROUNDEDNESS_PROMPT, judge=model)

    async def ask(number: int) -> Any:
        return (await judge(inputs=question(number), outputs="In 2018.", context={"documents": [PASSAGE]}))["score"]

    return ask


def ours(url: str) -> Judge:
    """A critic of this package."""
    from jury_adapters import Critic, open_model

    judge = Critic(open_model(f"openai:{MODEL}", base_url=url, api_key="k"), "faithfulness")

    async def ask(number: int) -> Any:
        verdict = await judge.ajudge(question=question(number), answer="In 2018.", contexts=[PASSAGE])
        return verdict.number

    return ask


def pydantic_evals(url: str) -> Judge:
    """The judge of Pydantic Evals."""
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_evals.evaluators.llm_as_a_judge import judge_input_output

    model = OpenAIChatModel(MODEL, provider=OpenAIProvider(base_url=url, api_key="k"))

    async def ask(number: int) -> Any:
        return (await judge_input_output([question(number), PASSAGE], "In 2018.", RUBRIC, model)).score

    return ask


def ragas(url: str) -> Judge:
    """The discrete metric of ragas, which makes one request."""
    import openai
    from ragas.llms import llm_factory
    from ragas.metrics import DiscreteMetric

    model = llm_factory(MODEL, client=openai.AsyncOpenAI(api_key="k", base_url=url))
    prompt = RUBRIC + " Question: {question}\nContext: {context}\nAnswer: {answer}"
    judge = DiscreteMetric(name="faithful", prompt=prompt, allowed_values=["pass", "fail"])

    async def ask(number: int) -> Any:
        found = await judge.ascore(llm=model, question=question(number), context=PASSAGE, answer="In 2018.")
        return found.value

    return ask


WAYS = (ours, autoevals, openevals, pydantic_evals, deepeval, ragas, llama_index)


async def judged(judge: Judge, cases: int) -> int:
    """Judge cases, 64 at once, and return how many have no judgment."""
    left, lost = iter(range(cases)), 0

    async def worker() -> None:
        nonlocal lost
        for number in left:
            try:
                lost += await judge(number) is None
            except Exception:
                lost += 1

    await asyncio.gather(*(worker() for _ in range(IN_FLIGHT)))
    return lost


def work(way: str, url: str, cases: int) -> None:
    """Measure one way in this process, and print what was found."""
    start = process_time()
    judge = next(one for one in WAYS if one.__name__ == way)(url)
    started = process_time() - start

    async def measured() -> dict[str, float]:
        await judged(judge, 2 * IN_FLIGHT)
        cpu, wall = process_time(), perf_counter()
        lost = await judged(judge, cases)
        return {"lost": lost, "cpu": 1000 * (process_time() - cpu) / cases, "wall": perf_counter() - wall}

    found = asyncio.run(measured())
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print("\n" + json.dumps({**found, "start": started, "memory": memory}))


def main(folder: Path, rounds: int) -> None:
    """Measure all ways in turn on both servers, and print the medians."""
    pythons = {way.__name__: folder / way.__name__ / "bin" / "python" for way in WAYS}
    found: dict[str, dict[str, list[dict[str, float]]]] = {}
    for kind, cases in CASES.items():
        environment = {"OPENAI_API_KEY": "k", "PATH": "", "HOME": str(folder), "DEEPEVAL_TELEMETRY_OPT_OUT": "YES"}
        environment |= {"RAGAS_DO_NOT_TRACK": "true", "DEEPEVAL_DISABLE_PROGRESS_BAR": "1"}
        with serving(kind, reply_to) as url:
            for _ in range(rounds):
                for way in [name for name, python in pythons.items() if python.exists()]:
                    command = [str(pythons[way]), __file__, "work", way, url, str(cases)]
                    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment).stdout
                    measured = json.loads(output.splitlines()[-1])
                    found.setdefault(way, {}).setdefault(kind, []).append(measured)
    print(f"{'':16}{'CPU ms':>9}{'start s':>9}{'MiB':>7}{'faults s':>10}{'lost':>6}  of {CASES['faults']}")
    for way, kinds in found.items():
        middle = {
            (kind, key): statistics.median(one[key] for one in times)
            for kind, times in kinds.items()
            for key in times[0]
        }
        figures = f"{middle['fast', 'cpu']:9.2f}{middle['fast', 'start']:9.2f}{middle['fast', 'memory']:7.0f}"
        print(f"{way:16}{figures}{middle['faults', 'wall']:10.1f}{middle['faults', 'lost']:6.0f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["work"]:
        work(*sys.argv[2:4], int(sys.argv[4]))
    else:
        main(Path(sys.argv[1]).resolve(), int([*sys.argv, "3"][2]))
