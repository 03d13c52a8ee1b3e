"""Python scripts that tests run in a process of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any

import jury_adapters

_TESTS = Path(__file__).parents[1]
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "NETRC")


@dataclass(frozen=True)
class Ran:
    """Output of a script, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def result(self) -> Any:
        """The last line of the output, as JSON."""
        assert self.code == 0, self.err
        return json.loads(self.out.splitlines()[-1])


def run_script(
    script: str, *arguments: str, env: Mapping[str, str] = {}, options: tuple[str, ...] = (), timeout: float = 180.0
) -> Ran:
    """Run a script in an environment without proxies, certificates and addresses of its own.

    Args:
        script: the source; it is dedented.
        *arguments: its ``sys.argv[1:]``.
        env: further environment variables.
        options: options of the interpreter.
        timeout: seconds after which the script is killed and the test fails.
    """
    dropped = {name for proxy in _PROXIES for name in (proxy, proxy.lower())}
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in dropped and not name.startswith(("OPENAI_", "ANTHROPIC_", "PYTHONWARNINGS"))
    }
    # The package under test is the one of this process, wherever that has it from.
    kept["PYTHONPATH"] = os.pathsep.join(str(path) for path in (Path(jury_adapters.__file__).parents[1], _TESTS))
    done = subprocess.run(
        [sys.executable, "-P", *options, "-c", dedent(script), *arguments],
        env={**kept, **env}, capture_output=True, text=True, timeout=timeout, check=False,
    )  # fmt: skip
    return Ran(done.returncode, done.stdout, done.stderr)
