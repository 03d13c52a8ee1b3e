"""A panel of two vendors in a process that has imported only one of their SDKs."""

import os
import subprocess
import sys

import pytest
from support.vendor import VendorServer

SCRIPT = """
import sys
from importlib.util import find_spec

import openai  # as an application of LlamaIndex has done

from jury_adapters import panel

jury = panel("faithfulness", "openai:gpt-4o-mini", "anthropic:claude-haiku-4-5")
# openai 2 uses httpx2 with each request if it is in sys.modules, also while a thread imports it for anthropic.
print("httpx2" in sys.modules or find_spec("httpx2") is None)
verdict = jury.judge(question="How long?", answer="36 months.", contexts=["The warranty is 36 months."])
print([one.error for one in verdict.jurors()])
"""


@pytest.mark.slow
def test_the_first_judgment_has_the_votes_of_both(tmp_path):
    with VendorServer() as server:
        addresses = {"OPENAI_BASE_URL": server.openai, "ANTHROPIC_BASE_URL": server.anthropic}
        keys = {"OPENAI_API_KEY": "sk-test", "ANTHROPIC_API_KEY": "sk-ant-test"}
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True, cwd=tmp_path,
            env={**os.environ, **addresses, **keys},
        )  # fmt: skip
    assert done.stdout == "True\n[None, None]\n"
