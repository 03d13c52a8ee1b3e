"""The printed outputs of the recipes are those of the package as it is; figures are not drawn."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

COOKBOOK = Path(__file__).parent.parent / "cookbook"
VARYING = {
    "images": "needs drawn charts",
    "langchain_rag_callback": "judges a random part, and logs",
    "llama_index_query_engine": "has cells with await",
    "llama_index_watch_agent": "has cells with await",
    "local_models": "needs a local model",
}
RECIPES = [path.stem for path in sorted(COOKBOOK.glob("*.ipynb")) if path.stem not in VARYING]
MISSING = 7

RUN = f"""
import ast, contextlib, io, json, sys
from unittest.mock import MagicMock

def subplots(*counts, **options):
    axes = [MagicMock() for _ in range(counts[0] * counts[1] if len(counts) > 1 else 1)]
    return MagicMock(), axes if len(axes) > 1 else axes[0]

pyplot = MagicMock(subplots=subplots)
sys.modules.update({{"matplotlib": MagicMock(pyplot=pyplot), "matplotlib.pyplot": pyplot}})
names, told = {{"__name__": "__main__"}}, []
try:
    for cell in json.load(open(sys.argv[1], encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            source = "\\n".join(line for line in "".join(cell["source"]).splitlines() if not line.startswith("%"))
            with contextlib.redirect_stdout(io.StringIO()) as said:
                exec(compile(source, "cell", "exec"), names)
            told.append(said.getvalue())
except ModuleNotFoundError as error:
    print(error)
    sys.exit({MISSING})
print(json.dumps(told))
"""


def stored(recipe: str) -> list[str]:
    cells: list[dict[str, Any]] = json.loads((COOKBOOK / f"{recipe}.ipynb").read_text(encoding="utf-8"))["cells"]
    return [
        "".join("".join(output["text"]) for output in cell["outputs"] if output.get("name") == "stdout")
        for cell in cells
        if cell["cell_type"] == "code"
    ]


def rounded(text: str) -> str:
    return re.sub(r"\d+\.\d{6,}", lambda number: f"{float(number[0]):.6g}", text).strip()


@pytest.mark.slow
@pytest.mark.parametrize("recipe", RECIPES)
def test_a_recipe_shows_what_it_prints(recipe: str, tmp_path: Path) -> None:
    copytree(COOKBOOK, tmp_path / "cookbook")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("JURY_")}
    done = subprocess.run(
        [sys.executable, "-c", RUN, f"{recipe}.ipynb"],
        env=environment, cwd=tmp_path / "cookbook", capture_output=True, text=True, encoding="utf-8", check=False,
    )  # fmt: skip
    if done.returncode == MISSING:
        pytest.skip(done.stdout)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert list(map(rounded, told)) == list(map(rounded, stored(recipe)))


def test_the_recipes_that_are_not_compared_are_there() -> None:
    assert {path.stem for path in COOKBOOK.glob("*.ipynb")} >= set(VARYING)
