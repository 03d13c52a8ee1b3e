"""Run applications, rows and guarded agents on version 0.2 and on 1.0, and print where they differ.

Usage, from ``v1/tests/langchain``: ``python compare_02.py`` starts itself once for each version. 0.2 is imported
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
    for lines in (watched(), evaluated(), guarded()):
        for line in lines:
            print(json.dumps(line), flush=True)


def watched():
    """Yield what a handler shows its jury of each application, way of calling it, and planted answer."""
    from langchain_support import APPS, FAULTS, HONEST, WAYS, reviewed

    from jury_adapters.langchain import JuryCallbackHandler

    for app, (make, _) in APPS.items():
        for way, do in WAYS.items():
            for fault, answer in {"honest": HONEST, **FAULTS}.items():
                seen = []
                handler = JuryCallbackHandler(reviewed, on_verdict=seen.append)
                do(*make(answer), {"callbacks": [handler]})
                handler.close()
                found = {"runs": len(seen)}
                for one in seen[:1]:
                    found |= {"status": str(one.judgment.status and one.judgment.status.value), **fields(one.case)}
                yield app, way, fault, found


def fields(case):
    steps = getattr(case, "steps", None) or getattr(case, "trajectory", ())
    return {
        "question": case and case.question,
        "answer": case and case.answer,
        "contexts": case and list(case.contexts),
        "steps": [step.tool for step in steps if step.tool],
        "generator": case and case.generator,
    }


def evaluated():
    """Yield what an evaluator shows its jury of each shape of a row, and its result."""
    from langchain_support import FAULTS, HONEST, SHAPES, breaks, reviewed

    from jury_adapters.langchain import JuryEvaluator

    for shape, make in SHAPES.items():
        for fault, answer in {"honest": HONEST, **FAULTS}.items():
            cases = []
            jury = lambda case, cases=cases: cases.append(case) or reviewed(case)  # noqa: E731
            result = JuryEvaluator(jury, key="k")(**make(answer))
            found = {"score": result["score"], "keys": sorted(result)}
            yield f"row of {shape}", "call", fault, {**found, **(fields(cases[0]) if cases else {})}
        yield (
            f"row of {shape}",
            "call",
            "broken juror",
            {"score": JuryEvaluator(breaks, key="k")(**make(HONEST))["score"]},
        )


def guarded():
    """Yield what the user gets of a guarded agent, and what the jury is shown of each draft."""
    from langchain.agents import create_agent
    from langchain_support import ASKED, FAULTS, HONEST, breaks, call, model, pages, remember, reviewed

    from jury_adapters.langchain import JuryMiddleware

    for on_fail in ("retry", "block", "annotate"):
        for fault, answer in {"honest": HONEST, **FAULTS}.items():
            for jury in (reviewed, breaks):
                drafts = []
                guard = JuryMiddleware(jury, on_fail=on_fail, on_verdict=drafts.append)
                app = create_agent(
                    model(call("pages", query="ferry"), answer, HONEST), [pages, remember], middleware=[guard]
                )
                state = app.invoke(ASKED)
                said = state["messages"][-1]
                withheld = said.additional_kwargs.get("jury", {}).get("kind") == "blocked"
                found = {
                    "answer": "withheld" if withheld else said.text,
                    "status": state["jury_verdict"]["status"],
                    "messages": len(state["messages"]),
                    "drafts": [fields(one.case) for one in drafts],
                }
                yield f"agent with {on_fail}", jury.__name__, fault, found


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
        old, new = both["0.2"], both["1.0"]
        for name in sorted(old.keys() | new.keys()):
            if old.get(name) != new.get(name):
                differing.setdefault((app, name, str(old.get(name)), str(new.get(name))), []).append(f"{way}/{fault}")
    for (app, name, old, new), where in differing.items():
        print(f"{app}: {name}: 0.2 {old} | 1.0 {new} | {len(where)} runs, such as {where[0]}")
    print(f"{len(found)} runs compared, {len(differing)} kinds of differences")


if __name__ == "__main__":
    shown() if os.environ.get("COMPARE") == "shown" else main()
