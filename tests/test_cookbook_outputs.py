"""The recipes print today what is stored in them; figures are left out, and so are recipes with a local model."""

import json
import re
import subprocess
import sys
from pathlib import Path
from shutil import copytree

import pytest

COOKBOOK = Path(__file__).parent.parent / "cookbook"
RECIPES = sorted(path.stem for path in COOKBOOK.glob("*.ipynb") if path.stem != "local_models")

MISSING = 77
RUN = f"""
import ast, asyncio, contextlib, inspect, io, json, sys

async def run(path):
    names, printed, out = {{"__name__": "__main__"}}, [], io.StringIO()  # loggers keep the stream of their cell
    with contextlib.suppress(ImportError):
        import pandas
        pandas.set_option("display.max_columns", 20, "display.width", 80)  # as in a notebook
    for cell in json.load(open(path, encoding="utf-8"))["cells"]:
        if cell["cell_type"] != "code":
            continue
        lines = "".join(cell["source"]).splitlines()
        tree = ast.parse("\\n".join(line for line in lines if not line.startswith("%")))
        last = ast.Expression(tree.body.pop().value) if isinstance(tree.body[-1], ast.Expr) else None
        start = out.tell()
        with contextlib.redirect_stdout(out):
            for code, mode in ((tree, "exec"), (last, "eval")):
                if code is not None:
                    value = eval(compile(code, "cell", mode, flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), names)
                    value = await value if inspect.isawaitable(value) else value
        shown = "" if last is None or value is None else repr(value)
        printed.append(out.getvalue()[start:] + shown)
    json.dump(printed, open(sys.argv[2], "w", encoding="utf-8"))

try:
    asyncio.run(run(sys.argv[1]))
except ModuleNotFoundError as error:
    print(error)
    sys.exit({MISSING})
"""


def stored(path):
    """Return the text that each cell printed when it was stored, without figures."""
    texts = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            parts = [one.get("text") or one["data"]["text/plain"] for one in cell["outputs"]]
            texts.append("".join("".join(part) for part in parts))
    return texts


def comparable(texts):
    """Return texts without figures and without the last digits of numbers, which differ between machines."""
    texts = [re.sub(r"<Figure[^>]*>", "", text) for text in texts]
    return [re.sub(r"(\d\.\d{10})\d+", r"\1", text).split() for text in texts]


@pytest.mark.slow
@pytest.mark.parametrize("recipe", RECIPES)
def test_a_recipe_prints_what_is_stored_in_it(recipe, tmp_path):
    copytree(COOKBOOK, tmp_path / "cookbook")
    done = subprocess.run(
        [sys.executable, "-c", RUN, f"{recipe}.ipynb", str(tmp_path / "printed.json")],
        cwd=tmp_path / "cookbook", capture_output=True, text=True, encoding="utf-8", check=False,
    )  # fmt: skip
    if done.returncode == MISSING:
        pytest.skip(done.stdout)
    assert done.returncode == 0, done.stderr
    printed = json.loads((tmp_path / "printed.json").read_text(encoding="utf-8"))
    assert comparable(printed) == comparable(stored(COOKBOOK / f"{recipe}.ipynb"))
