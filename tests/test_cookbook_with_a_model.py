"""The recipes with one real model: they are run against a server that answers every question with its first choice."""

import os
import subprocess
import sys
from pathlib import Path
from shutil import copytree

import pytest
from support.vendor import VendorServer

COOKBOOK = Path(__file__).parent.parent / "cookbook"
RECIPES = [  # quick ones, without pictures
    "agents_from_traces", "align", "claims", "first_jury", "langchain_agent_middleware", "langchain_evaluation_loop",
    "langchain_rag_callback", "retrieval",
]  # fmt: skip

MISSING = 77
RUN = f"""
import ast, asyncio, inspect, json, sys

async def run(path):
    names = {{"__name__": "__main__"}}
    for number, cell in enumerate(json.load(open(path, encoding="utf-8"))["cells"]):
        if cell["cell_type"] == "code":
            code = compile("".join(cell["source"]), f"cell {{number}}", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
            awaited = eval(code, names)
            if inspect.isawaitable(awaited):
                await awaited

try:
    asyncio.run(run(sys.argv[1]))
except ModuleNotFoundError as error:
    print(error)
    sys.exit({MISSING})
"""


@pytest.mark.slow
@pytest.mark.parametrize("recipe", RECIPES)
def test_a_recipe_runs_with_one_model(recipe, tmp_path):
    copytree(COOKBOOK, tmp_path / "cookbook")
    with VendorServer() as server:
        environment = {
            **os.environ, "JURY_MODEL": "openai:gpt-4o-mini", "JURY_BASE_URL": server.openai,
            "OPENAI_API_KEY": "a-test-key",
        }  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-c", RUN, f"{recipe}.ipynb"],
            env=environment, cwd=tmp_path / "cookbook", capture_output=True, text=True, encoding="utf-8", check=False,
        )  # fmt: skip
    if done.returncode == MISSING:
        pytest.skip(done.stdout)
    assert done.returncode == 0, done.stderr
