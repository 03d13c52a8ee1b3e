"""The recipes as they are stored: whole, run from top to bottom, fit to be shown. CI runs them anew with nbmake."""

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest

COOKBOOK = Path(__file__).parent.parent / "cookbook"
NOTEBOOKS = sorted(COOKBOOK.glob("*.ipynb"))
PAGES = sorted(COOKBOOK.glob("*.md"))
INDEX = (COOKBOOK / "README.md").read_text(encoding="utf-8")

PATHS = re.compile(r"(?<![\w:/.])/(?:home|root|tmp|work|var|usr|opt|Users|private|mnt)/|[A-Z]:\\")
KEYS = re.compile(r"\b(?:sk|pk|lsv2|hf|ghp|xox[bp]|AIza)[-_][A-Za-z0-9_-]{12,}|\bAKIA[A-Z0-9]{16}\b")
UNSTABLE = re.compile(r" at 0x[0-9a-f]{6,}|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
PROGRESS = re.compile(r"\r|\d+it \[|it/s\]|\d%\|")
PYTHON_WARNING = re.compile(r"\w+Warning\b")  # not the warnings of a calibration about its figures
LINK = re.compile(r"\]\(([^)#]+)\)")

each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def cells(path: Path, kind: str) -> list[dict[str, Any]]:
    return [cell for cell in read(path)["cells"] if cell["cell_type"] == kind]


def read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def text(value: str | list[str]) -> str:
    return value if isinstance(value, str) else "".join(value)


def prose(path: Path) -> str:
    return "\n\n".join(text(cell["source"]) for cell in cells(path, "markdown"))


def outputs(path: Path) -> list[dict[str, Any]]:
    return [output for cell in cells(path, "code") for output in cell["outputs"]]


def shown(output: dict[str, Any]) -> str:
    """Text of an output. Pictures are left out, because base64 may hold any letters."""
    data = [text(value) for kind, value in output.get("data", {}).items() if kind.startswith("text/")]
    return "\n".join([text(output.get("text", "")), *data])


def test_every_recipe_is_there():
    assert len(NOTEBOOKS) >= 8


@each_notebook
def test_it_is_a_notebook_of_the_current_format(path):
    notebook = read(path)

    assert (notebook["nbformat"], notebook["nbformat_minor"] >= 5) == (4, True)
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    assert {cell["cell_type"] for cell in notebook["cells"]} == {"markdown", "code"}
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(set(ids)) == len(ids)
    assert all("source" in cell and "metadata" in cell for cell in notebook["cells"])


@each_notebook
def test_its_code_is_python(path):
    for cell in cells(path, "code"):
        plain = "\n".join(line for line in text(cell["source"]).splitlines() if not line.startswith("%"))
        compile(plain, path.name, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


@each_notebook
def test_it_was_run_from_top_to_bottom_and_shows_what_came_out(path):
    counts = [cell["execution_count"] for cell in cells(path, "code")]

    assert counts == list(range(1, len(counts) + 1))
    assert len(outputs(path)) >= 3


@each_notebook
def test_no_error_no_warning_and_no_progress_bar_is_left_in_it(path):
    for output in outputs(path):
        assert output["output_type"] != "error"
        assert output.get("name") != "stderr"
        assert not PYTHON_WARNING.search(shown(output))
        assert not PROGRESS.search(shown(output))
        assert "was stopped after" not in shown(output)  # a program that was too slow decides nothing


@each_notebook
def test_no_path_of_a_machine_and_no_key_is_in_it(path):
    everything = [text(cell["source"]) for cell in read(path)["cells"]] + [shown(output) for output in outputs(path)]

    for said in everything:
        assert not PATHS.search(said)
        assert not KEYS.search(said)


@each_notebook
def test_its_outputs_are_the_same_the_next_time(path):
    for output in outputs(path):
        assert not UNSTABLE.search(shown(output))


@each_notebook
def test_it_says_what_it_needs_and_how_to_use_real_models_and_where_to_go_next(path):
    said = prose(path)

    assert said.startswith("# ")
    assert "At the end" in said.split("## ")[0]
    for wanted in ("**Needs:**", "pip install", "No key, no network", "**With ", "JURY_MODEL", "## Where to go next"):
        assert wanted in said, wanted
    assert 'os.environ.get("JURY_MODEL"' in text(cells(path, "code")[0]["source"])


@pytest.mark.parametrize("path", [*NOTEBOOKS, *PAGES], ids=lambda path: path.name)
def test_it_stands_in_the_index(path):
    assert path.name == "README.md" or f"[{path.name}]({path.name})" in INDEX


@pytest.mark.parametrize("path", [*NOTEBOOKS, *PAGES], ids=lambda path: path.name)
def test_links_lead_somewhere(path):
    said = prose(path) if path.suffix == ".ipynb" else path.read_text(encoding="utf-8")

    for target in LINK.findall(said):
        assert target.startswith("https://") or (COOKBOOK / target).exists(), target


@each_notebook
def test_it_stays_small(path):
    assert path.stat().st_size < 300_000


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (PATHS, "see /home/ann/x"), (PATHS, "'/tmp/a'"), (PATHS, r"C:\Users"), (KEYS, "sk-abcdefghijklmnop"),
        (UNSTABLE, "<object at 0x7f00deadbeef>"), (PROGRESS, "6it [00:01,  5.1it/s]"),
    ],
)  # fmt: skip
def test_what_these_tests_look_for_would_be_found(pattern, text):
    assert pattern.search(text)
