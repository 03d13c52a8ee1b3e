"""Every command of the pages runs, in order, and prints what stands below it."""

import re
import shlex
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

from command import Command, environment

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.DOTALL | re.MULTILINE)


def has(text: str, wanted: str) -> bool:
    """Whether the lines occur in this order; `...` stands for anything."""
    left = iter(line.rstrip() for line in text.splitlines())
    for line in wanted.splitlines():
        pattern = line.replace("[", "[[]").replace("...", "*")
        if line != "..." and not any(fnmatch(one, pattern) for one in left):
            return False
    return True


def test_the_page_of_the_command_line_runs(run: Command) -> None:
    shown, ran = "", 0
    for kind, title, content in BLOCK.findall((DOCS / "cli.md").read_text()):
        if title:
            (run.folder / title).write_text(content)
        for line in content.splitlines() if kind == "sh" else ():
            if "needs a terminal" in line:
                continue
            done = run(*shlex.split(line.removeprefix("jury "), comments=True))
            assert done.code == int("exits with 1" in line), (line, done.err)
            shown, ran = done.out + done.err, ran + 1
        if kind == "console":
            assert has(shown, content), shown
    assert ran >= 12


def test_the_page_of_pytest_runs(run: Command) -> None:
    for kind, title, content in BLOCK.findall((DOCS / "pytest.md").read_text()):
        if title:
            (run.folder / title).write_text(content)
        elif kind == "sh":
            _, module, tool, *rest = shlex.split(content, comments=True)
            command = [
                sys.executable,
                module,
                tool,
                "-p",
                "jury_adapters.pytest_plugin",
                "-p",
                "no:cacheprovider",
                *rest,
            ]
            env = environment(PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
            done = subprocess.run(command, check=False, cwd=run.folder, env=env, capture_output=True, text=True)
            assert done.returncode == int("exits with 1" in content), done.stdout + done.stderr
        else:
            assert has(done.stdout, content), done.stdout
