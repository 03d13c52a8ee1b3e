"""The recipes for servers, as the pages have them, under a real uvicorn that SIGTERM ends."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from pathlib import Path

import pytest
from doc_pages import ROOT

PAGES = {
    "LangChain": ("docs/how_to/langchain_callbacks.md", 'return "2018" in', 'time.sleep(0.04); return "2018" in'),
    "LlamaIndex": ("docs/how_to/llama_index_watching.md", "def alert(judged: JudgedRun) -> None:", (
        "def alert(judged: JudgedRun) -> None:\n    time.sleep(0.04)"
    )),
}  # fmt: skip
RUNS = 50  # of at least 40 ms each, one after the other; uvicorn stops in a fraction of that


def application(framework: str) -> str:
    """The page's first block and its recipe, in one module; judging takes some time."""
    path, text, slowly = PAGES[framework]
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / path).read_text(encoding="utf-8"), flags=re.DOTALL)
    first, recipe = blocks[0], next(block for block in blocks if "Starlette(" in block)
    assert text in first
    return (
        "import time\n"
        + first.replace(text, slowly)
        + recipe.replace("on_verdict=alert", "on_verdict=alert, max_concurrency=1")
    )


def alerts_after_sigterm(folder: Path, source: str) -> int:
    """Number of judged runs when the server ends right after the last run."""
    (folder / "served.py").write_text(source, encoding="utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "uvicorn", "served:app", "--port", str(port), "--log-level", "warning"]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{folder}", "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        try:
            wait_for(port, server)
            for number in range(RUNS):
                asked = urllib.parse.quote(f"When did ferry {number} stop?")
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/answer?question={asked}", timeout=30) as answer:
                    assert b"2019" in answer.read()
            server.send_signal(signal.SIGTERM)
            output, errors = server.communicate(timeout=60)
        finally:
            server.kill()
    assert server.returncode in (0, -signal.SIGTERM), errors
    assert "Traceback" not in errors, errors
    return (
        output.count("ALERT") - source.count("flush(") - source.count("with judge_runs(")
    )  # of the page's first block


def wait_for(port: int, server: subprocess.Popen[str]) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        assert server.poll() is None, server.communicate()[1]
        with socket.socket() as attempt:
            if attempt.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError("the server does not listen")


@pytest.mark.slow
@pytest.mark.parametrize("framework", PAGES)
def test_a_server_that_ends_by_sigterm_has_judged_every_run(tmp_path, framework):
    assert alerts_after_sigterm(tmp_path, application(framework)) == RUNS


@pytest.mark.slow
def test_without_the_recipe_runs_are_lost_as_the_page_says(tmp_path):
    source = application("LangChain")
    assert "await handler.aclose(timeout=20)" in source
    lost = source.replace("    await handler.aclose(timeout=20)\n", "")
    assert alerts_after_sigterm(tmp_path, lost) < RUNS
