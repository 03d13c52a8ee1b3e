"""The path from ``judge_many`` to the HTTP request, as ``docs/design.md`` prints it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
DESIGN = TESTS.parent / "docs/design.md"


@pytest.fixture(scope="module")
def trace():
    """The trace of a new process, where nothing is cached."""
    command = [sys.executable, "-m", "tools.traced_path"]
    return subprocess.run(command, cwd=TESTS, capture_output=True, text=True, check=True, timeout=120).stdout


@pytest.mark.slow
def test_no_function_of_the_path_only_forwards(trace):
    assert "core/runner.py run_judge" in trace
    assert "only forwards" not in trace


@pytest.mark.slow
def test_the_design_page_prints_the_functions_that_wait_for_the_request(trace):
    waiting = [line.strip() for line in trace.split("awaited:")[1].splitlines() if line.strip()]
    section = DESIGN.read_text(encoding="utf-8").split("## From `judge_many` to the request")[1].split("## ")[0]
    printed = re.findall(r"^\d+\. `(.+)` in `(.+)`$", section, re.MULTILINE)
    assert [f"{file} {function}" for function, file in printed] == waiting


def test_a_function_that_only_forwards_is_found(tmp_path):
    code = tmp_path / "code.py"
    code.write_text(
        "def forwards(a, *, b):\n    '''Call work.'''\n    return work(a, b=b)\n"
        "def adds(a):\n    return work(a, 1)\n"
        "class Cache:\n    def get(self, key):\n        return self._entries.get(key)\n"
        "async def waits(a):\n    return await work(a)\n"
    )
    names = {}
    exec(compile(code.read_text(), str(code), "exec"), names)
    sys.path.insert(0, str(TESTS))
    from tools.traced_path import only_forwards

    functions = [names["forwards"], names["adds"], names["Cache"].get, names["waits"]]
    assert [only_forwards(function.__code__) for function in functions] == [True, False, False, True]
