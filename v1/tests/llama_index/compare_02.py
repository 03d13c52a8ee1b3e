"""Run applications, texts and guarded engines on version 0.2 and on 1.0, and print where they differ.

Usage, from ``v1/tests/llama_index``: ``python compare_02.py`` starts itself once for each version. 0.2 is imported
from the root of the repository. Each line is one application with one planted answer.
"""

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

ROOT = Path(__file__).parents[3]


def shown():
    """Print, as JSON lines, what the jury of the version on the path is shown, and what it says."""
    warnings.simplefilter("ignore")
    sys.path.insert(0, str(Path(__file__).parent))
    for lines in (watched(), evaluated(), guarded(), filtered()):
        for line in lines:
            print(json.dumps(line), flush=True)


def answers():
    from llama_index_support import FAULTS, HONEST

    return {"honest": HONEST, **FAULTS}


def fields(case):
    steps = getattr(case, "steps", None) or getattr(case, "trajectory", ())
    return {
        "question": case and case.question,
        "answer": case and case.answer,
        "contexts": case and list(case.contexts),
        "steps": [step.tool for step in steps if step.tool],
        "generator": case and case.generator,
        "messages": [one.content for one in case.messages] if case else [],
    }


def watched():
    """Yield what a handler shows its jury of each application, way of calling it, and planted answer."""
    from llama_index_support import APPS, reviewed

    from jury_adapters.llama_index import judge_runs

    for app, (make, ways, _) in APPS.items():
        for way, do in ways.items():
            for fault, answer in answers().items():
                seen = []
                with judge_runs(reviewed, on_verdict=seen.append):
                    do(make(answer))
                found = {"runs": len(seen)}
                for one in seen[:1]:
                    found |= {"status": str(one.judgment.status and one.judgment.status.value), **fields(one.case)}
                yield app, way, fault, found


def evaluated():
    """Yield what an evaluator shows its jury of each response and text, and its result."""
    from llama_index_support import APPS, PAGE, QUESTION, breaks, reviewed

    from jury_adapters.llama_index import JuryEvaluator

    def told(result):
        return {"passing": result.passing, "score": result.score, "invalid": result.invalid_result}

    for app, (make, ways, _) in APPS.items():
        for fault, answer in answers().items():
            cases = []
            jury = lambda case, cases=cases: cases.append(case) or reviewed(case)  # noqa: E731
            response = next(iter(ways.values()))(make(answer))
            result = JuryEvaluator(jury).evaluate_response(query=QUESTION, response=response)
            yield f"response of {app}", "evaluate", fault, {**told(result), **(fields(cases[0]) if cases else {})}
    for fault, answer in answers().items():
        for name, jury in (("reviewed", reviewed), ("broken juror", breaks)):
            result = JuryEvaluator(jury).evaluate(query=QUESTION, response=answer, contexts=[PAGE])
            yield "texts", name, fault, {**told(result), "response": result.response, "contexts": result.contexts}


def guarded():
    """Yield what the user gets of a guarded engine, and what the jury is shown of each attempt."""
    from llama_index_support import HONEST, QUESTION, Pages, breaks, model, reviewed

    from jury_adapters.llama_index import JuryGuardQueryEngine

    from llama_index.core.query_engine import RetrieverQueryEngine  # isort: skip

    for on_fail in ("block", "annotate"):
        for streaming in (False, True):
            for fault, answer in answers().items():
                for jury in (reviewed, breaks):
                    seen, llm = [], model(answer, HONEST)
                    engine = RetrieverQueryEngine.from_args(Pages(), llm=llm, streaming=streaming)
                    guard = JuryGuardQueryEngine(engine, jury, on_fail=on_fail, max_retries=1, on_verdict=seen.append)
                    response = guard.query(QUESTION)
                    facts = response.metadata["jury"]
                    found = {
                        "text": "refusal" if facts["outcome"] == "blocked" else str(response),
                        "outcome": facts["outcome"],
                        "attempts": facts["attempts"],
                        "nodes": len(response.source_nodes),
                        "drafts": [fields(one.case) for one in seen],
                    }
                    yield f"guard with {on_fail}{', streaming' * streaming}", jury.__name__, fault, found


def filtered():
    """Yield the nodes that a filter keeps."""
    from llama_index_support import PAGE, QUESTION, breaks, node

    from jury_adapters.llama_index import JuryNodePostprocessor

    nodes = [node("Bananas grow."), node(PAGE)]
    for jury in (lambda case: "ferry" in case.contexts[0], breaks):
        for on_undecided in ("keep", "drop"):
            kept = JuryNodePostprocessor(jury, on_undecided=on_undecided).postprocess_nodes(nodes, query_str=QUESTION)
            yield "filter", jury.__name__, on_undecided, {"kept": [one.node.get_content() for one in kept]}


def main():
    found = {}
    for version, path in (("0.2", ROOT), ("1.0", ROOT / "v1")):
        environment = {**os.environ, "PYTHONPATH": str(path), "COMPARE": "shown"}
        run = subprocess.run(
            [sys.executable, __file__], capture_output=True, text=True, check=False, env=environment, cwd=path
        )
        lines = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("[")]
        print(f"{version}: {len(lines)} runs{run.stderr[-500:] if run.returncode else ''}")
        for app, way, fault, what in lines:
            found.setdefault((app, way, fault), {})[version] = what
    differing = {}
    for (app, way, fault), both in found.items():
        old, new = both.get("0.2", {}), both.get("1.0", {})
        for name in sorted(old.keys() | new.keys()):
            if old.get(name) != new.get(name):
                differing.setdefault((app, name, str(old.get(name)), str(new.get(name))), []).append(f"{way}/{fault}")
    for (app, name, old, new), where in differing.items():
        print(f"{app}: {name}: 0.2 {old} | 1.0 {new} | {len(where)} runs, such as {where[0]}")
    print(f"{len(found)} runs compared, {len(differing)} kinds of differences")


if __name__ == "__main__":
    shown() if os.environ.get("COMPARE") == "shown" else main()
